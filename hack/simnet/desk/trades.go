package desk

import (
	"context"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// sight is what the desk sees before it acts, and what it does then.
type sight struct {
	curves   map[*run]venues.CurveState
	pools    map[*run]world.PoolState
	balances map[[2]string]*big.Int // by token and wallet
	sellers  map[*run][]string      // whose balances are known
	due      map[*run]int
	asked    map[*run]bool // whose curve or pool was read
	acts     []act
}

// look reads the curves and pools in which trades are due, and what those who may sell have.
func (d *Desk) look(ctx context.Context, at time.Time) (*sight, error) {
	s := &sight{
		curves: make(map[*run]venues.CurveState), pools: make(map[*run]world.PoolState), balances: make(map[[2]string]*big.Int),
		sellers: make(map[*run][]string), due: make(map[*run]int), asked: make(map[*run]bool),
	}
	answers := make([][2]anvil.HexBytes, len(d.running))
	balances := make(map[[2]string]*anvil.HexBytes)
	var requests []anvil.Request
	for i, r := range d.running {
		s.due[r] = d.tradesDue(r, at)
		if waits := r.launch.OnCurve() && !r.full.IsZero(); s.due[r] == 0 && !waits {
			continue
		}
		s.asked[r] = true
		if r.launch.OnCurve() {
			requests = append(requests, launch.CurveRequest(r.launch, &answers[i][0]))
		} else {
			requests = append(requests, world.StateRequests(r.launch.Pool, &answers[i][0], &answers[i][1])...)
		}
		for range min(s.due[r], len(r.buyers)) {
			key := [2]string{r.launch.Token, r.buyers[d.rng.IntN(len(r.buyers))]}
			if balances[key] == nil {
				balances[key] = new(anvil.HexBytes)
				s.sellers[r] = append(s.sellers[r], key[1])
				requests = append(requests, anvil.View(key[0], balances[key], "balanceOf(address)", key[1]))
			}
		}
	}
	if err := d.world.Node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	// A request fails where a reorg took a contract back: its answer is empty then.
	for i, r := range d.running {
		if r.launch.OnCurve() {
			if state, found := launch.ReadCurve(answers[i][0]); found {
				s.curves[r] = state
			}
		} else if len(answers[i][0]) > 0 {
			s.pools[r] = world.ReadState(r.launch.Pool, answers[i][0], answers[i][1])
		}
	}
	for key, answer := range balances {
		s.balances[key] = new(big.Int).SetBytes(*answer)
	}
	return s, nil
}

// trade does what is due on a launch. What a reorg took back is noticed here: a launch is gone, a graduation is to come
// again.
func (d *Desk) trade(s *sight, r *run, at time.Time) {
	asked := s.asked[r]
	r.last = at
	if r.launch.OnCurve() {
		state, found := s.curves[r]
		r.gone = asked && !found
		if found {
			d.tradeWithCurve(s, r, state, at)
		}
		return
	}
	state, found := s.pools[r]
	if found && state.Empty() && state.SqrtPrice != nil && !r.venue.HasCurve() {
		state = unboughtPool(state)
	}
	switch {
	case !asked:
	case found && !state.Empty():
		for range s.due[r] {
			d.tradeInPool(s, r, state)
		}
	case r.venue.HasCurve():
		r.launch.Pool = world.Pool{}
	default:
		r.gone = true
	}
}

func (d *Desk) tradeWithCurve(s *sight, r *run, state venues.CurveState, at time.Time) {
	launch.SettlePool(d.world, r.launch, state)
	if !r.launch.OnCurve() {
		return
	}
	if state.Completed {
		d.graduate(s, r, at)
		return
	}
	r.full = time.Time{}
	d.spring(s, r, at)
	for range s.due[r] {
		if !d.tradeOnCurve(s, r, at) {
			return
		}
	}
}

// unboughtPool is how a live pool looks that nobody has bought from: its price is just below its position.
func unboughtPool(state world.PoolState) world.PoolState {
	price := world.PriceOf(state.SqrtPrice)
	supply := world.Float(world.Units(launch.SupplyWhole, 18))
	state.Reserve0, state.Reserve1 = supply, supply*price
	return state
}

// spring plays a token's trick once its time has come. A blacklist stays a threat: a stopped token has no trades.
func (d *Desk) spring(s *sight, r *run, at time.Time) {
	if r.sprung || r.token == nil || at.Sub(r.start) < r.life || r.trick == attack.TrickBlacklist {
		return
	}
	r.sprung = true
	if calls := r.token.SpringCalls(); len(calls) > 0 {
		s.acts = append(s.acts, act{calls, traffic.Truth{Kind: PlayTrick, Trader: calls[0].From, TokenIn: r.launch.Token, Venue: r.venue.ID}, nil})
	}
}

// sellable tells whether people can sell the token still.
func (r *run) sellable() bool {
	return r.trick != attack.TrickHoneypot && (r.trick != attack.TrickUpgradeable || !r.sprung)
}

// graduate asks for it when the fate's time has come, again if a reorg took it back.
func (d *Desk) graduate(s *sight, r *run, at time.Time) {
	if r.full.IsZero() {
		r.full = at
	}
	if !r.venue.Waits() || at.Sub(r.full) < r.rest || at.Sub(r.asked) < 10*time.Second {
		return
	}
	r.asked = at
	wallet := d.anybody()
	truth := traffic.Truth{Kind: GraduateToken, Trader: wallet, TokenIn: r.launch.Token, Venue: r.venue.ID}
	s.acts = append(s.acts, act{[]anvil.Transaction{launch.GraduateCall(r.launch, wallet)}, truth, nil})
}

// anybody is a wallet that doesn't create tokens or trade with itself.
func (d *Desk) anybody() string {
	return d.world.Wallets[creatorCount+washCount+d.rng.IntN(launch.WalletCount-creatorCount-washCount)]
}

// tradeOnCurve makes one trade that brings the curve nearer to where it should be; false when it is full.
func (d *Desk) tradeOnCurve(s *sight, r *run, at time.Time) bool {
	state, shape := s.curves[r], r.launch.Shape
	if r.fate == fateWash {
		return d.wash(s, r, state)
	}
	sold := 1 - ratio(state.RealBase, shape.SaleBase)
	gap := r.wanted(at) - sold
	selling := 0.3
	if gap < -0.01 {
		selling = 0.65
	}
	if !r.sellable() {
		if gap < 0 {
			return true
		}
		selling = 0
	}
	if d.rng.Float64() < selling && sold > 0.02 {
		if d.sellOnCurve(s, r, min(0.015, 0.3*sold)) {
			return true
		}
	}
	part := 0.002 + 0.006*d.rng.Float64()
	if gap > 0 {
		part += min(0.04, gap*(0.15+0.5*d.rng.Float64()))
	}
	// A curve that isn't to be full yet never fills by accident.
	if limit := 0.985 - sold; r.goal < 1 && part > limit {
		return !r.sellable() || d.sellOnCurve(s, r, 0.02)
	}
	return d.buyOnCurve(s, r, d.buyer(r), shape.ValueFor(state, world.Portion(shape.SaleBase, part)))
}

// buyer is somebody who comes to a launch.
func (d *Desk) buyer(r *run) string {
	if r.crowd > 0 && len(r.buyers) >= r.crowd {
		return r.buyers[d.rng.IntN(len(r.buyers))]
	}
	wallet := d.anybody()
	for range 2 { // newcomers come more often
		if !slices.Contains(r.buyers, wallet) {
			break
		}
		wallet = d.anybody()
	}
	return wallet
}

func (d *Desk) buyOnCurve(s *sight, r *run, wallet string, value *big.Int) bool {
	fill, after, err := r.launch.Shape.Buy(s.curves[r], value)
	if err != nil {
		return false
	}
	s.curves[r] = after
	tx := launch.BuyCall(d.world, r.launch, wallet, value)
	tx.Gas = world.CreationGas
	r.remember(wallet)
	key := [2]string{r.launch.Token, wallet}
	if s.balances[key] != nil {
		s.balances[key].Add(s.balances[key], fill.Base)
	}
	s.acts = append(s.acts, act{[]anvil.Transaction{tx}, traffic.Truth{
		Kind: CurveBuy, Trader: wallet, TokenIn: anvil.ZeroAddress, TokenOut: r.launch.Token, NativeIn: true, AmountIn: fill.Paid(), Venue: r.venue.ID,
	}, nil})
	return !after.Completed
}

// sellOnCurve sells a part of what one of the buyers has, at most so much of what the curve sells in all.
func (d *Desk) sellOnCurve(s *sight, r *run, most float64) bool {
	wallet, amount := d.seller(s, r)
	if amount == nil {
		return false
	}
	if limit := world.Portion(r.launch.Shape.SaleBase, most); amount.Cmp(limit) > 0 {
		amount = limit
	}
	return d.sellThere(s, r, wallet, amount)
}

func (d *Desk) sellThere(s *sight, r *run, wallet string, amount *big.Int) bool {
	_, after, err := r.launch.Shape.Sell(s.curves[r], amount)
	if err != nil {
		return false
	}
	s.curves[r] = after
	key := [2]string{r.launch.Token, wallet}
	s.balances[key] = new(big.Int).Sub(s.balances[key], amount)
	s.acts = append(s.acts, act{launch.SellCalls(d.world, r.launch, wallet, amount), traffic.Truth{
		Kind: CurveSell, Trader: wallet, TokenIn: r.launch.Token, TokenOut: anvil.ZeroAddress, NativeOut: true, AmountIn: amount, Venue: r.venue.ID,
	}, nil})
	return true
}

// seller is a buyer whose balance was read and isn't nothing, with what he sells of it; nil if there is none.
func (d *Desk) seller(s *sight, r *run) (wallet string, amount *big.Int) {
	for range 3 {
		if len(s.sellers[r]) == 0 {
			break
		}
		wallet = s.sellers[r][d.rng.IntN(len(s.sellers[r]))]
		have := s.balances[[2]string{r.launch.Token, wallet}]
		switch {
		case have.Sign() == 0:
		case d.rng.IntN(5) == 0:
			return wallet, have
		default:
			return wallet, world.Portion(have, 0.2+0.6*d.rng.Float64())
		}
	}
	return "", nil
}

// wash lets a few wallets buy and sell the same amounts to and fro, once they have brought the curve to where it
// should be and given some away, so that the token has holders.
func (d *Desk) wash(s *sight, r *run, state venues.CurveState) bool {
	shape := r.launch.Shape
	wallet := d.world.Wallets[creatorCount+d.rng.IntN(washCount)]
	sold := 1 - ratio(state.RealBase, shape.SaleBase)
	part := 0.01 + 0.02*d.rng.Float64()
	if sold < r.goal {
		bought := d.buyOnCurve(s, r, wallet, shape.ValueFor(state, world.Portion(shape.SaleBase, part+0.01)))
		for range washGifts {
			d.give(s, r, wallet, world.Units(1000, 18))
		}
		return bought
	}
	key := [2]string{r.launch.Token, wallet}
	before := s.curves[r]
	if !d.buyOnCurve(s, r, wallet, shape.ValueFor(state, world.Portion(shape.SaleBase, part))) {
		return false
	}
	bought := new(big.Int).Sub(before.VirtualBase, s.curves[r].VirtualBase)
	if s.balances[key] == nil {
		s.balances[key] = new(big.Int).Set(bought) // at least
	}
	return d.sellThere(s, r, wallet, bought)
}

// give makes somebody a holder who never asked for it.
func (d *Desk) give(s *sight, r *run, wallet string, amount *big.Int) {
	to := traffic.Outsider(d.rng.IntN(traffic.Outsiders))
	s.acts = append(s.acts, act{[]anvil.Transaction{{
		From: wallet, To: r.launch.Token, Data: anvil.EncodeCall("transfer(address,uint256)", to, amount), Gas: world.TradeGas,
	}}, traffic.Truth{Kind: traffic.Transfer, Trader: wallet, TokenIn: r.launch.Token, To: to, Venue: r.venue.ID}, nil})
}

// tradeInPool buys or sells a small part of what the pool holds. Live pools have a way to go, graduated tokens
// go up and down.
func (d *Desk) tradeInPool(s *sight, r *run, state world.PoolState) {
	l := r.launch
	quote := l.Pool.Other(l.Token)
	price := state.ReserveOf(l.Pool, quote) / state.ReserveOf(l.Pool, l.Token)
	if r.low == 0 {
		r.low = price
	}
	selling := 0.45
	if up := math.Log(price / r.low); !l.Venue.HasCurve() && up < r.goal*liveRise {
		selling = 0.2
	} else if up < -0.7 {
		selling = 0.3
	}
	part := min(0.02, 0.004*math.Exp(0.7*d.rng.NormFloat64()))
	if !l.Venue.HasCurve() {
		part *= 3
	}
	if d.rng.Float64() < selling {
		wallet, amount := d.seller(s, r)
		if amount == nil {
			return
		}
		if limit, _ := big.NewFloat(part * state.ReserveOf(l.Pool, l.Token)).Int(nil); amount.Cmp(limit) > 0 {
			amount = limit
		}
		key := [2]string{l.Token, wallet}
		s.balances[key] = new(big.Int).Sub(s.balances[key], amount)
		s.acts = append(s.acts, act{launch.SellCalls(d.world, l, wallet, amount), traffic.Truth{
			Kind: poolKinds[l.Pool.Protocol], Trader: wallet, TokenIn: l.Token, TokenOut: quote,
			NativeOut: l.Pool.Protocol != world.UniswapV4 || quote == anvil.ZeroAddress, AmountIn: amount, Pools: []string{l.Pool.Key()}, Venue: r.venue.ID,
		}, nil})
		return
	}
	wallet := d.buyer(r)
	value, _ := big.NewFloat(part * state.ReserveOf(l.Pool, quote)).Int(nil)
	r.remember(wallet)
	s.acts = append(s.acts, act{[]anvil.Transaction{launch.BuyCall(d.world, l, wallet, value)}, traffic.Truth{
		Kind: poolKinds[l.Pool.Protocol], Trader: wallet, TokenIn: quote, TokenOut: l.Token,
		NativeIn: l.Pool.Protocol != world.UniswapV4 || quote == anvil.ZeroAddress, AmountIn: value, Pools: []string{l.Pool.Key()}, Venue: r.venue.ID,
	}, nil})
}

var poolKinds = map[world.Protocol]traffic.Kind{world.UniswapV2: traffic.SwapV2, world.UniswapV3: traffic.SwapV3, world.UniswapV4: traffic.SwapV4}

func (r *run) remember(wallet string) {
	if !slices.Contains(r.buyers, wallet) {
		r.buyers = append(r.buyers, wallet)
	}
}

// ratio of two amounts.
func ratio(a, b *big.Int) float64 { return world.Float(a) / world.Float(b) }
