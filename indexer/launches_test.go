package indexer_test

import (
	"context"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// launchWorld is a world with every launch venue, and an index of it.
func launchWorld(t *testing.T, holders chainconfig.Holders) (*testWorld, *chainconfig.Chain, *store.Store) {
	t.Helper()
	w := newWorld(t, 30, venues.All...)
	cfg := w.config()
	cfg.Tracking.Holders = holders
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	t.Cleanup(stop)
	return w, cfg, st
}

func (w *testWorld) launch(t *testing.T, venue venues.Venue) *launch.Launch {
	t.Helper()
	l, err := launch.Start(t.Context(), w.World, venue.ID, launch.Order{
		Creator: w.Wallets[0], Name: "Paper Lantern", Symbol: "LAMP", Metadata: `{"description":"It glows."}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// indexed is what is derived of a launch once the head is indexed.
func (w *testWorld) indexed(t *testing.T, st *store.Store, l *launch.Launch) (market.Launch, store.TokenNow) {
	t.Helper()
	w.await(t, st)
	mint, err := market.ParseEVMAddress(l.Token)
	if err != nil {
		t.Fatal(err)
	}
	launches, err := st.Launches.At(t.Context(), []market.Address{mint})
	if err != nil || len(launches) != 1 {
		t.Fatalf("%s: %d launches of %s, error %v", l.Venue.ID, len(launches), l.Token, err)
	}
	tokens, err := st.Tokens.Now(t.Context(), []market.Address{mint})
	if err != nil || len(tokens) != 1 {
		t.Fatalf("%s: %d tokens at %s, error %v", l.Venue.ID, len(tokens), l.Token, err)
	}
	return launches[0].Launch, tokens[0]
}

// TestCurvesAreTheContracts: after any trade, what is derived of a curve is what its contract says, to the unit.
func TestCurvesAreTheContracts(t *testing.T) {
	t.Parallel()
	w, _, st := launchWorld(t, chainconfig.HoldersDeclared)
	var launches []*launch.Launch
	for _, v := range w.Venues {
		if v.HasCurve() {
			launches = append(launches, w.launch(t, v))
		}
	}
	hold := func() {
		for _, l := range launches {
			w.holdCurve(t, st, l)
		}
	}
	hold()
	for round, part := range []int64{20, 7, 3} {
		for i, l := range launches {
			value := new(big.Int).Div(l.Venue.Target(), big.NewInt(part))
			if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10+round], value); err != nil {
				t.Fatalf("%s: %v", l.Venue.ID, err)
			}
			has, err := w.BalanceOf(t.Context(), l.Token, w.Wallets[10+round])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := launch.Sell(t.Context(), w.World, l, w.Wallets[10+round], has.Div(has, big.NewInt(int64(2+i)))); err != nil {
				t.Fatalf("%s: %v", l.Venue.ID, err)
			}
		}
		hold()
	}
	for _, l := range launches {
		if _, err := launch.Complete(t.Context(), w.World, l, w.Wallets[20]); err != nil {
			t.Fatalf("%s: %v", l.Venue.ID, err)
		}
		w.holdFull(t, st, l)
	}
}

// holdCurve holds a launch's curve against its contract, as far as the venue's logs tell it, and its holders against balances.
func (w *testWorld) holdCurve(t *testing.T, st *store.Store, l *launch.Launch) {
	t.Helper()
	got, token := w.indexed(t, st, l)
	want, err := launch.Curve(t.Context(), w.World, l)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got *market.Amount, want *big.Int) {
		if got.ToBig().Cmp(want) != 0 {
			t.Errorf("%s: %s %s, its contract says %s", l.Venue.ID, what, got.Dec(), want)
		}
	}
	r := &got.Reserves
	if l.Venue.Protocol != venues.FourMemeV1 { // whose logs don't tell fees apart
		same("raised", &r.RealQuote, want.RealQuote)
	}
	switch got.Rules.Pricing {
	case market.PriceReserves:
		same("virtual base", &r.VirtualBase, want.VirtualBase)
		same("virtual quote", &r.VirtualQuote, want.VirtualQuote)
	case market.PricePosted:
		if got.Traded {
			same("price", &r.Price, want.Price())
		}
	case market.PriceExecuted: // no log tells the price after a trade
	}
	if got.Rules.Basis == market.TokensSold && !got.SaleBase.IsZero() {
		same("left for sale", &r.RealBase, want.RealBase)
	}
	if got.Quote.String() != strings.ToLower(w.Wrapped) { // whether its launch told or its contract was asked
		t.Errorf("%s: the curve takes %q, want the native coin", l.Venue.ID, got.Quote)
	}
	if got.State != market.LaunchOnCurve || got.Creator.String() != w.Wallets[0] || got.Venue != l.Venue.ID {
		t.Errorf("%s: %+v", l.Venue.ID, got)
	}
	mint, err := market.ParseEVMAddress(l.Token)
	if err != nil {
		t.Fatal(err)
	}
	balances, err := st.Balances.All(t.Context(), "base", mint)
	if err != nil {
		t.Fatal(err)
	}
	var holders int64
	for account, b := range balances {
		has, err := w.BalanceOf(t.Context(), l.Token, account.String())
		if err != nil {
			t.Fatal(err)
		}
		same("balance of "+account.String(), &b.Amount, has)
		if !b.IsPool {
			holders++
		}
	}
	if token.Holders.Status != market.HoldersCurrent || token.Holders.Count != holders {
		t.Errorf("%s: holders %+v, want %d", l.Venue.ID, token.Holders, holders)
	}
}

// holdFull holds a full curve, and the token's graduation.
func (w *testWorld) holdFull(t *testing.T, st *store.Store, l *launch.Launch) {
	t.Helper()
	got, _ := w.indexed(t, st, l)
	if l.Venue.Waits() {
		if l.Venue.Protocol != venues.FourMemeV1 && (got.State != market.LaunchCompleted || got.Progress != 100 || got.CompletedAt == 0) {
			t.Errorf("%s: a full curve is %s at %v %%", l.Venue.ID, got.State, got.Progress)
		}
		if _, err := launch.Graduate(t.Context(), w.World, l, w.Wallets[21]); err != nil {
			t.Fatalf("%s: %v", l.Venue.ID, err)
		}
	}
	got, token := w.indexed(t, st, l)
	pool := l.Pool.Address
	if l.Pool.Protocol == world.UniswapV4 {
		pool = l.Pool.ID
	}
	if got.State != market.LaunchGraduated || got.Pool.String() != pool || got.GraduatedAt == 0 || got.GraduatedTx.IsNone() {
		t.Errorf("%s: %s to %s, want graduated to %s", l.Venue.ID, got.State, got.Pool, pool)
	}
	if token.Pool.String() != pool {
		t.Errorf("%s: %s prices the graduated token, want %s", l.Venue.ID, token.Pool, pool)
	}
	trades, err := st.Trades.Of(t.Context(), "base", token.Pool, 0, 1<<40, 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[22], big.NewInt(1e17)); err != nil {
		t.Fatalf("%s: %v", l.Venue.ID, err)
	}
	w.await(t, st)
	after, err := st.Trades.Of(t.Context(), "base", token.Pool, 0, 1<<40, 10)
	if err != nil || len(after) != len(trades)+1 || after[len(trades)].Trader.String() != w.Wallets[22] {
		t.Errorf("%s: %d trades in the pool, then %+v, error %v", l.Venue.ID, len(trades), after, err)
	}
}

// TestLivePools: tokens without a curve are priced by their pool from the first block, hook or no hook.
func TestLivePools(t *testing.T) {
	t.Parallel()
	w, _, st := launchWorld(t, chainconfig.HoldersDeclared)
	for _, v := range w.Venues {
		if v.HasCurve() {
			continue
		}
		l := w.launch(t, v)
		if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10], big.NewInt(1e18)); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		got, token := w.indexed(t, st, l)
		if got.State != market.LaunchLive || got.HasProgress || got.Pool.IsNone() || token.Pool != got.Pool {
			t.Errorf("%s: %s in %s, priced by %s", v.ID, got.State, got.Pool, token.Pool)
		}
		pools, err := st.Pools.Now(t.Context(), []market.Address{token.Mint})
		if err != nil || len(pools) != 1 || pools[0].Price <= 0 || pools[0].Untrusted != market.Trusted {
			t.Errorf("%s: its pools are %+v, error %v", v.ID, pools, err)
		}
	}
}

// TestLaunchesThroughReorgs: launches and graduations on a branch that is lost leave nothing behind.
func TestLaunchesThroughReorgs(t *testing.T) {
	t.Parallel()
	w, cfg, st := launchWorld(t, chainconfig.HoldersAll)
	ctx := t.Context()
	stays := map[string]*launch.Launch{}
	for _, v := range w.Venues {
		stays[v.ID] = w.launch(t, v)
	}
	w.await(t, st)
	snapshot, err := w.node.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lost := map[market.Address]bool{}
	for _, v := range w.Venues {
		gone := w.launch(t, v)
		mint, err := market.ParseEVMAddress(gone.Token)
		if err != nil {
			t.Fatal(err)
		}
		lost[mint] = true
		if !v.HasCurve() {
			continue
		}
		copied := *stays[v.ID]
		if _, err := launch.Complete(ctx, w.World, &copied, w.Wallets[20]); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		if v.Waits() {
			if _, err := launch.Graduate(ctx, w.World, &copied, w.Wallets[21]); err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
		}
	}
	w.await(t, st)
	if err := w.node.Revert(ctx, snapshot); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 4)
	for _, v := range w.Venues {
		if _, err := launch.Buy(ctx, w.World, stays[v.ID], w.Wallets[30], big.NewInt(1e17)); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
	}
	w.trade(t, 24) // beyond the branch that is lost
	w.await(t, st)
	launches, err := st.Inspect.Launches(ctx, "base", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range launches {
		if lost[l.Mint] || l.State == market.LaunchGraduated || l.State == market.LaunchCompleted {
			t.Errorf("%s of the lost branch is %s", l.Mint, l.State)
		}
	}
	w.compare(t, st, cfg)
}

// TestUnaskedChecks: a launched token that is traded gets a trust report without anybody asking.
func TestUnaskedChecks(t *testing.T) {
	t.Parallel()
	w, _, st := launchWorld(t, chainconfig.HoldersDeclared)
	l := w.launch(t, w.Venues[0])
	value := new(big.Int).Div(l.Venue.Target(), big.NewInt(4)) // for more than is worth a check
	if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10], value); err != nil {
		t.Fatal(err)
	}
	_, token := w.indexed(t, st, l)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		row, ok, err := st.Trust.At(ctx, "base", token.Mint)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			if row.Critical || row.Verdict == "" || len(row.Report) == 0 {
				t.Errorf("the report of a plain token is %s: %s", row.Verdict, row.Report)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestPairBeforeTheLaunch: somebody makes a pair for the address of a launchpad's next token, where there is no contract yet. At
// its launch the token is asked what it is all the same.
func TestPairBeforeTheLaunch(t *testing.T) {
	t.Parallel()
	w, _, st := launchWorld(t, chainconfig.HoldersDeclared)
	venue := w.Venues[slices.IndexFunc(w.Venues, func(v venues.Venue) bool { return v.Protocol == venues.BoardwalkCurve })]
	factory := w.Exchanges()[slices.IndexFunc(w.Exchanges(), func(x world.Exchange) bool { return x.Protocol == world.UniswapV2 })]
	var nonce string
	if err := w.node.Call(t.Context(), &nonce, "eth_getTransactionCount", venue.Contracts[0], "latest"); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(nonce, 0, 7) // more would be another RLP
	if err != nil {
		t.Fatal(err)
	}
	creator, err := hex.DecodeString(strings.TrimPrefix(venue.Contracts[0], "0x"))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha3.NewLegacyKeccak256()
	_, _ = hash.Write(slices.Concat([]byte{0xd6, 0x94}, creator, []byte{byte(n)}))
	next := hex.EncodeToString(hash.Sum(nil)[12:])
	word := func(address string) string { return strings.Repeat("0", 24) + strings.TrimPrefix(address, "0x") }
	var sent string
	if err := w.node.Call(t.Context(), &sent, "eth_sendTransaction", map[string]string{
		"from": w.Wallets[5], "to": factory.Factory, "data": selector("createPair(address,address)") + word(next) + word(w.Wrapped),
		"gas": "0x5b8d80", "gasPrice": "0x0",
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	w.await(t, st)
	l := w.launch(t, venue)
	if got, token := w.indexed(t, st, l); !strings.EqualFold(l.Token, "0x"+next) || !token.HasDecimals || token.Symbol != "LAMP" ||
		token.FirstBlock >= got.Block || token.Holders.Status != market.HoldersCurrent {
		t.Errorf("0x%s was launched as %s, %+v", next, l.Token, token.Token)
	}
}

// TestQuoteWithoutPools: what a curve takes is asked for its decimals although no pool brings it up.
func TestQuoteWithoutPools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, venues.BoardwalkCurve, venues.FourMemeV2)
	cfg := w.config()
	cfg.Exchanges, cfg.Majors, cfg.Tracking.Holders = nil, nil, chainconfig.HoldersDeclared
	cfg.Quotes = []chainconfig.Quote{{Symbol: "WETH", Address: markettest.Address(w.Wrapped), PegUSD: 2000, PegBoundPct: 5}}
	st := storetest.Open(t, "sqlite")
	t.Cleanup(run(t, cfg, st, 0))
	for _, v := range w.Venues {
		l := w.launch(t, v)
		if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10], big.NewInt(1e17)); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		_, token := w.indexed(t, st, l)
		pools, err := st.Pools.Now(t.Context(), []market.Address{token.Mint})
		if err != nil || len(pools) != 1 || pools[0].Price <= 0 || token.Pool != pools[0].ID {
			t.Errorf("%s: %s prices the token, its pools are %+v, error %v", v.ID, token.Pool, pools, err)
		}
	}
}
