package simnet

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// deskHistory is a day of launches on a fresh chain, with what is said to have happened.
func deskHistory(t *testing.T, chainID uint64, blocks int) (*World, *LaunchDesk, []Truth, time.Time) {
	t.Helper()
	world := startVenues(t, chainID, 51, UsualVenues(chainID)...)
	desk := NewLaunchDesk(world, DeskOptions{Seed: 51})
	end := time.Unix(1760000000, 0).Add(22 * time.Hour)
	var truths []Truth
	err := world.History(t.Context(), NewTrader(world, 51), HistoryOptions{
		Span: 22 * time.Hour, Blocks: blocks, TxPerBlock: 1, End: end, Desk: desk,
		OnBlock: func(_ float64, told []Truth) { truths = append(truths, told...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return world, desk, truths, end
}

// The population of a chain's last day has launches in every state on each venue, and what the desk says of its
// transactions is what they did.
func TestDeskHistory(t *testing.T) {
	t.Parallel()
	for _, chainID := range []uint64{56, 8453} {
		world, desk, truths, end := deskHistory(t, chainID, 360)
		checkTruths(t, world, truths)
		states := make(map[string]map[string]int)
		tricks := make(map[Trick]bool)
		for _, r := range desk.running {
			if states[r.venue.ID] == nil {
				states[r.venue.ID] = make(map[string]int)
			}
			tricks[r.trick] = true
			for _, state := range statesOf(t, world, r, end) {
				states[r.venue.ID][state]++
			}
		}
		for _, venue := range world.Venues {
			wanted := []string{"new", "running", "graduated"}
			if venue.HasCurve() {
				wanted = append(wanted, "near")
			}
			if venue.Waits() {
				wanted = append(wanted, "completed")
			}
			for _, state := range wanted {
				if states[venue.ID][state] == 0 {
					t.Errorf("chain %d: none of %s is %s: %v", chainID, venue.ID, state, states[venue.ID])
				}
			}
		}
		for _, trick := range deskTricks {
			if !tricks[trick] {
				t.Errorf("chain %d: no token with %s", chainID, trick)
			}
		}
	}
}

// statesOf are those of the launch board that a launch is in. A live pool that has got far counts as graduated.
func statesOf(t *testing.T, world *World, r *run, end time.Time) []string {
	t.Helper()
	var states []string
	if end.Sub(r.start) < 10*time.Minute {
		states = append(states, "new")
	}
	holders := make(map[string]bool)
	for _, buyer := range r.buyers {
		holders[buyer] = read(t, world, r.launch.Token, "balanceOf(address)", buyer).Sign() > 0
	}
	count := 0
	for _, holds := range holders {
		if holds {
			count++
		}
	}
	if end.Sub(r.start) > 5*time.Minute && count >= 50 && r.trick == "" {
		states = append(states, "running")
	}
	if !r.launch.OnCurve() {
		return append(states, "graduated")
	}
	state, err := world.Curve(t.Context(), r.launch)
	if err != nil {
		t.Fatal(err)
	}
	switch sold := 1 - ratio(state.RealBase, r.launch.shape.saleBase); {
	case state.Completed:
		states = append(states, "completed")
	case sold >= 0.8:
		states = append(states, "near")
	}
	return states
}

// checkTruths compares what the receipts moved with what is said to have happened with launches.
func checkTruths(t *testing.T, world *World, truths []Truth) {
	t.Helper()
	hashes := make([]string, len(truths))
	for i, truth := range truths {
		hashes[i] = truth.TxHash
	}
	receipts, err := world.Node.Receipts(t.Context(), hashes)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[Kind]int)
	for i, truth := range truths {
		if truth.Venue == "" {
			continue
		}
		seen[truth.Kind]++
		if !receipts[i].Succeeded() {
			t.Errorf("reverted: %+v", truth)
			continue
		}
		checkTruth(t, world, truth, receipts[i])
		if truth.Kind == CurveBuy && moved(truth.TokenOut, truth.Trader, receipts[i]).Sign() <= 0 {
			t.Errorf("the buyer got nothing: %+v", truth)
		}
		if truth.Kind == CurveSell && new(big.Int).Neg(moved(truth.TokenIn, truth.Trader, receipts[i])).Cmp(truth.AmountIn) != 0 {
			t.Errorf("the seller gave something else: %+v", truth)
		}
	}
	for _, kind := range []Kind{LaunchToken, CurveBuy, CurveSell, GraduateToken, PlayTrick} {
		if seen[kind] == 0 {
			t.Errorf("no %q in %v", kind, seen)
		}
	}
}

// moved is by how much a transaction changed what somebody has of a token.
func moved(token, account string, receipt anvil.Receipt) *big.Int {
	net := new(big.Int)
	for _, log := range receipt.Logs {
		if log.Topics[0] != transferTopic || log.Address != token {
			continue
		}
		value := new(big.Int).SetBytes(anvil.FromHex(log.Data))
		if anvil.AddressAt(anvil.FromHex(log.Topics[1]), 0) == account {
			net.Sub(net, value)
		}
		if anvil.AddressAt(anvil.FromHex(log.Topics[2]), 0) == account {
			net.Add(net, value)
		}
	}
	return net
}

// The same seed makes the same blocks.
func TestDeskIsDeterministic(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		world, _, _, _ := deskHistory(t, 56, 90)
		latest, err := world.Node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, latest.Hash)
	}
	if heads[0] != heads[1] {
		t.Errorf("head %s, then %s", heads[0], heads[1])
	}
}

// Launches go from their first block to a pool in minutes, also when reorgs take some of it back.
func TestDeskGoesOnAfterReorgs(t *testing.T) {
	t.Parallel()
	world := startVenues(t, 8453, 52, BoardwalkCurve, PonsV2, ClankerV3)
	launched := 0
	desk := NewLaunchDesk(world, DeskOptions{Seed: 52, Every: 30 * time.Second, OnLaunch: func(*Launch) { launched++ }})
	latest, err := world.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := latest.Timestamp
	for block := 1; block <= 150; block++ {
		at = at.Add(5 * time.Second)
		if _, err := desk.Step(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if err := world.Node.MineAt(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if block%20 == 0 {
			if err := world.Node.Rollback(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
		}
		if block == 110 { // takes launches and graduations back
			if err := world.Node.Reorg(t.Context(), 25); err != nil {
				t.Fatal(err)
			}
		}
	}
	graduated := 0
	for _, l := range desk.Launches() {
		if l.Curve != "" {
			if _, err := world.Curve(t.Context(), l); err != nil {
				t.Errorf("the desk keeps a launch that is gone: %v", err)
			}
		}
		if l.Venue.HasCurve() && !l.OnCurve() {
			graduated++
			if state := poolNow(t, world, l.Pool); state.empty() {
				t.Errorf("%s: its pool is empty: %+v", l.Symbol, l.Pool)
			}
		}
	}
	if launched < 15 || graduated == 0 {
		t.Errorf("%d launched, %d of them graduated, in 12 minutes", launched, graduated)
	}
}

// A live world goes on with launches.
func TestDeskWhileLive(t *testing.T) {
	t.Parallel()
	world := startVenues(t, 56, 53, BoardwalkCurve, Flap)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	venues := make(map[string]bool)
	var traded bool
	err := world.Live(ctx, NewTrader(world, 53), LiveOptions{
		BlockTime: time.Second, TxPerBlock: 1, Seed: 53,
		Desk: NewLaunchDesk(world, DeskOptions{Seed: 53, Every: time.Second, OnLaunch: func(l *Launch) { venues[l.Venue.ID] = true }}),
		OnBlock: func(truths []Truth) {
			for _, truth := range truths {
				traded = traded || truth.Kind == CurveBuy
			}
			if traded && len(venues) == 2 {
				stop()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !traded || len(venues) != 2 {
		t.Errorf("launched on %v, traded %t", venues, traded)
	}
}

// What tokens say of themselves can be read, but for what is broken on purpose, and says nothing of the outside world.
func TestLore(t *testing.T) {
	t.Parallel()
	l := &lore{rng: rand.New(rand.NewPCG(1, 2))}
	var silent, broken, pictures, clones int
	names := make(map[string]int)
	for range 400 {
		o := l.order(Venue{Protocol: BoardwalkCurve})
		if len(o.Name) > 128 || len(o.Symbol) > 32 || len(o.Metadata) > 8192 || o.Name == "" || o.Symbol == "" {
			t.Errorf("the own family doesn't take %+v", o)
		}
		names[strings.ToLower(o.Symbol)]++
		encoded, isData := strings.CutPrefix(o.Metadata, "data:application/json;base64,")
		if !isData {
			silent++
			continue
		}
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if json.Unmarshal(content, &said) != nil {
			broken++
			continue
		}
		for _, key := range []string{"website", "twitter", "telegram"} {
			if link := said[key]; link != "" && !strings.Contains(link, "example") {
				t.Errorf("%s is %s", key, link)
			}
		}
		picture, _ := strings.CutPrefix(said["image"], "data:image/png;base64,")
		decoded, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(picture)))
		if err != nil || decoded.Bounds().Dx() != pictureSize {
			t.Errorf("picture: %v", err)
		}
		pictures++
	}
	for _, count := range names {
		clones += count - 1
	}
	if silent == 0 || broken == 0 || pictures < 200 || clones < 10 {
		t.Errorf("%d say nothing, %d are broken, %d have pictures, %d are clones", silent, broken, pictures, clones)
	}
}

// The curve's model, which the desk relies on, is never better for the trader than the exact product.
func TestCurveModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range venueKinds {
		if kind.saleBase == 0 {
			continue
		}
		world := &World{Native: Native{USD: 3000}}
		shape := world.shapeOf(kind)
		state, held := shape.fresh(), new(big.Int)
		for range 500 {
			var fill Fill
			var after CurveState
			var err error
			if rng.IntN(3) == 0 {
				if fill, after, err = shape.sell(state, portion(held, rng.Float64())); err == nil {
					held.Sub(held, fill.Base)
				}
			} else if fill, after, err = shape.buy(state, portion(shape.target(), 0.02*rng.Float64())); err == nil {
				held.Add(held, fill.Base)
			}
			if err != nil {
				continue
			}
			state = after
			product := new(big.Int).Mul(state.VirtualBase, state.VirtualQuote)
			if product.Cmp(shape.product()) < 0 {
				t.Fatalf("%s: the product fell", kind.id)
			}
			if left := new(big.Int).Sub(shape.saleBase, held); left.Cmp(state.RealBase) != 0 {
				t.Fatalf("%s: %s left, %s are held", kind.id, state.RealBase, held)
			}
			if state.Completed {
				break
			}
		}
		if state.RealQuote.Sign() < 0 || state.Completed && state.RealQuote.Cmp(shape.target()) != 0 {
			t.Errorf("%s: raised %s of %s", kind.id, state.RealQuote, shape.target())
		}
		fill, full, err := shape.buy(shape.fresh(), units(1e6, 18))
		if err != nil || !full.Completed || fill.Base.Cmp(shape.saleBase) != 0 || fill.Net.Cmp(shape.target()) != 0 {
			t.Errorf("%s: one buy of all is %+v, %v", kind.id, fill, err)
		}
	}
}
