package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// launchNames are invented; a launch combines one of each.
var launchNames = [2][]string{
	{"Salty", "Neon", "Foggy", "Lucky", "Rusty", "Golden", "Sleepy", "Electric", "Velvet", "Windy", "Sunken", "Tiny"},
	{"Otter", "Lighthouse", "Pretzel", "Seagull", "Buoy", "Clam", "Parasol", "Dolphin", "Kite", "Postcard", "Starfish", "Trolley"},
}

// launchesKept is how many launched tokens the traders care about; older ones are left alone, on the
// chain and out of the world's lists.
const launchesKept = 20

// launcher creates tokens while a world lives.
type launcher struct {
	world *world.World
	rng   *rand.Rand
	every time.Duration
	next  time.Time
	count int
	told  func(world.Token, world.Pool)

	kept    []world.Token
	token   world.Token // in the block to come
	pool    world.Pool
	pending bool
}

func newLauncher(w *world.World, o LiveOptions) *launcher {
	l := &launcher{world: w, rng: rand.New(rand.NewPCG(o.Seed, 19)), every: o.LaunchEvery, told: o.OnLaunch}
	l.next = time.Now().Add(l.wait() / 2)
	return l
}

// wait is between half and one and a half of the usual time.
func (l *launcher) wait() time.Duration {
	return time.Duration(float64(l.every) * (0.5 + l.rng.Float64()))
}

// send creates a token and its pool in the block to come, if it is time.
func (l *launcher) send(ctx context.Context, at time.Time) error {
	if l.every <= 0 || at.Before(l.next) {
		return nil
	}
	l.next = at.Add(l.wait())
	w := l.world
	nonces, err := w.Node.Nonces(ctx, []anvil.Transaction{{From: w.Deployer}})
	if err != nil {
		return err
	}
	// All of it is the deployer's at first: traders have to buy.
	const supply = 1e9
	l.token = world.Token{
		Address: anvil.CreateAddress(w.Deployer, nonces[w.Deployer]), Decimals: 18, Behaviour: world.Plain,
		USD: 0.00002 * world.Pow10(1.4*l.rng.Float64()), // a valuation of 20,000 to 500,000 dollars
	}
	first, second := launchNames[0][l.rng.IntN(len(launchNames[0]))], launchNames[1][l.rng.IntN(len(launchNames[1]))]
	l.token.Name, l.token.Symbol = first+" "+second, fmt.Sprintf("%.1s%.4s", first, second)
	d := world.NewDeployment(w, nonces[w.Deployer])
	d.Create("Token", "((string,string,uint8,uint256,address[],uint256,address[]))",
		anvil.Tuple{l.token.Name, l.token.Symbol, l.token.Decimals, world.Units(supply, 18), []string{}, 0, d.Operators()})

	type kind struct {
		protocol world.Protocol
		fee      int
		native   bool // the quote is the native currency itself
	}
	kinds := []kind{
		{protocol: world.UniswapV2},
		{protocol: world.UniswapV3, fee: 10000},
		{protocol: world.UniswapV4, fee: 3000, native: true},
		{protocol: world.PancakeSwapV3, fee: 2500},
	}
	kinds = slices.DeleteFunc(kinds, func(k kind) bool { return w.FactoryOf(k.protocol) == "" })
	next := kinds[l.count%len(kinds)]
	l.count++
	quote := w.Wrapped
	if next.native {
		quote = anvil.ZeroAddress
	}
	l.pool = w.NewPool(next.protocol, l.token.Address, quote, next.fee, "")
	with := world.Opening{USD0: w.Native.USD, USD1: w.Native.USD, DepthUSD: min(5000*world.Pow10(l.rng.Float64()), 0.5*supply*l.token.USD)}
	if l.pool.Token0 == l.token.Address {
		with.USD0 = l.token.USD
	} else {
		with.USD1 = l.token.USD
	}
	// The pool's amounts need the token's decimals.
	w.Tokens = append(w.Tokens, l.token)
	for _, tx := range w.OpenPool(l.pool, with) {
		d.Add(tx)
	}
	w.Tokens = w.Tokens[:len(w.Tokens)-1]
	_, err = w.Node.Send(ctx, d.Pending)
	l.pending = err == nil
	return err
}

// adopt lets the traders have what was launched, once it is mined.
func (l *launcher) adopt(ctx context.Context) error {
	if !l.pending {
		return nil
	}
	l.pending = false
	w := l.world
	found := []world.Pool{l.pool}
	if err := w.Locate(ctx, found); err != nil {
		return err
	}
	if found[0].Key() == "" { // taken back at once by a reorg
		return nil
	}
	w.Tokens, w.Pools, l.kept = append(w.Tokens, l.token), append(w.Pools, found[0]), append(l.kept, l.token)
	if len(l.kept) > launchesKept {
		oldest := l.kept[0].Address
		l.kept = l.kept[1:]
		w.Tokens = slices.DeleteFunc(w.Tokens, func(token world.Token) bool { return token.Address == oldest })
		w.Pools = slices.DeleteFunc(w.Pools, func(pool world.Pool) bool { return pool.Has(oldest) })
	}
	if l.told != nil {
		l.told(l.token, found[0])
	}
	return nil
}
