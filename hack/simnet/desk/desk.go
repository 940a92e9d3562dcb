package desk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Kinds of transactions with launch venues. Trades in the pools of launched tokens are of the kinds of
// other swaps.
const (
	LaunchToken   traffic.Kind = "launch"
	CurveBuy      traffic.Kind = "curve buy"
	CurveSell     traffic.Kind = "curve sell"
	GraduateToken traffic.Kind = "graduation"
	PlayTrick     traffic.Kind = "trick of a token"
)

// Options say what a Desk does.
type Options struct {
	Seed uint64
	// Every is about how often a token is launched, on each venue in turn. Default 40 s.
	Every time.Duration
	// OnLaunch, if set, hears of each new launch once it is mined.
	OnLaunch func(*launch.Launch)
}

// Desk acts for everybody who has to do with launches: creators, the wallets that trade on curves and in the
// pools that come of them, and whoever graduates a full curve. Every launch has a fate, which its price follows
// as wallets trade. It is not safe for concurrent use, and nobody else may trade on its launches.
type Desk struct {
	world *world.World
	rng   *rand.Rand
	texts *tokentext.Inventor
	every time.Duration
	told  func(*launch.Launch)

	plans   []plan    // of history, by time
	next    time.Time // of the next launch beyond them
	clock   time.Time // of the step before
	count   int
	tricks  int
	pending []*run // launched, but not seen mined yet
	running []*run
	washed  []*launch.Launch
}

// New makes a desk. The same options on the same chain do the same things.
func New(w *world.World, o Options) *Desk {
	if o.Every == 0 {
		o.Every = 40 * time.Second
	}
	return &Desk{
		world: w, rng: rand.New(rand.NewPCG(o.Seed, 29)), texts: tokentext.New(o.Seed),
		every: o.Every, told: o.OnLaunch,
	}
}

// Launches are those that the desk still trades on.
func (d *Desk) Launches() []*launch.Launch {
	launches := make([]*launch.Launch, len(d.running))
	for i, r := range d.running {
		launches[i] = r.launch
	}
	return launches
}

// WashTraded are the launches that a few wallets trade with themselves, many times over.
func (d *Desk) WashTraded() []*launch.Launch { return slices.Clone(d.washed) }

// run is a launch on its way.
type run struct {
	plan
	order launch.Order
	hash  string // of the launch's transaction
	token *attack.HostileToken
	// sprung tells that the token's trick has been played.
	sprung bool
	// launch is nil until it is mined.
	launch *launch.Launch
	last   time.Time // up to which it has traded
	buyers []string  // in order of their first purchase
	// full is when the curve was seen full, and asked when somebody was to graduate it.
	full, asked time.Time
	// low is the price of a live pool at first, quote per token in smallest units.
	low float64
	// gone says that a reorg took the launch back.
	gone bool
}

// Step submits what is due until a time, that of the block to come, without mining it.
func (d *Desk) Step(ctx context.Context, at time.Time) ([]traffic.Truth, error) {
	if err := d.adopt(ctx); err != nil {
		return nil, fmt.Errorf("simnet: launches: %w", err)
	}
	orders, err := d.launchDue(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("simnet: launches: %w", err)
	}
	seen, err := d.look(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("simnet: launches: %w", err)
	}
	for _, r := range d.running {
		d.trade(seen, r, at)
	}
	d.running = slices.DeleteFunc(d.running, func(r *run) bool { return r.over(at) })
	return d.submit(ctx, slices.Concat(orders, seen.acts))
}

// submit sends what everybody does, in order.
func (d *Desk) submit(ctx context.Context, acts []act) ([]traffic.Truth, error) {
	var transactions []anvil.Transaction
	for _, a := range acts {
		transactions = append(transactions, a.transactions...)
	}
	var hashes []string
	for chunk := range slices.Chunk(transactions, deskBatch) {
		sent, err := d.world.Node.Send(ctx, chunk)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, sent...)
	}
	truths := make([]traffic.Truth, len(acts))
	for i, a := range acts {
		last := len(a.transactions) - 1
		truths[i] = a.truth
		truths[i].TxHash, truths[i].Sender = hashes[last], a.transactions[last].From
		if a.launches != nil {
			a.launches.hash = hashes[last]
		}
		hashes = hashes[last+1:]
	}
	return truths, nil
}

// deskBatch is how many transactions are sent at once: of some 130 and more in a batch, anvil takes the last ones out of
// order, and the amounts of a curve's trades depend on it.
const deskBatch = 50

// act is what one wallet does: transactions, of which the last is what the truth is about, and the launch if it is one.
type act struct {
	transactions []anvil.Transaction
	truth        traffic.Truth
	launches     *run
}

// adopt takes up launches that are mined; what a reorg took back is forgotten.
func (d *Desk) adopt(ctx context.Context) error {
	if len(d.pending) == 0 {
		return nil
	}
	found := make([]*anvil.Receipt, len(d.pending))
	requests := make([]anvil.Request, len(d.pending))
	for i, r := range d.pending {
		requests[i] = anvil.Request{Method: "eth_getTransactionReceipt", Params: []any{r.hash}, Result: &found[i]}
	}
	if err := d.world.Node.Batch(ctx, requests); err != nil {
		return err
	}
	if err := anvil.FirstError(requests); err != nil {
		return err
	}
	for i, r := range d.pending {
		if found[i] == nil {
			continue
		}
		if !found[i].Succeeded() {
			return fmt.Errorf("%s took no launch of %q (%s)", r.venue.ID, r.order.Symbol, r.hash)
		}
		l, err := launch.FromReceipt(d.world, r.venue, r.order, *found[i])
		if err != nil {
			return err
		}
		r.launch = l
		if r.order.FirstBuy != nil {
			r.buyers = append(r.buyers, l.Creator)
		}
		d.running = append(d.running, r)
		if r.fate == fateWash {
			d.washed = append(d.washed, l)
		}
		if d.told != nil {
			d.told(l)
		}
	}
	d.pending = nil
	return nil
}

// mostAtOnce is about how many launches a block has at most that comes late.
const mostAtOnce = 5

// launchDue launches what is planned until a time.
func (d *Desk) launchDue(ctx context.Context, at time.Time) ([]act, error) {
	if len(d.world.Venues) == 0 {
		return nil, nil
	}
	if d.next.IsZero() {
		d.next = at
	}
	if back := d.clock.Sub(at); back > 0 && !d.clock.IsZero() { // a reorg turned the clock back
		d.next = d.next.Add(-back)
	}
	d.clock = at
	if at.Sub(d.next) > mostAtOnce*d.every { // nobody launches while a chain makes no blocks
		d.next = at
	}
	var due []plan
	for len(d.plans) > 0 && !d.plans[0].start.After(at) {
		due, d.plans = append(due, d.plans[0]), d.plans[1:]
	}
	for ; !d.next.After(at); d.next = d.next.Add(time.Duration(float64(d.every) * (0.7 + 0.6*d.rng.Float64()))) {
		due = append(due, d.usual(d.next))
	}
	acts := make([]act, 0, len(due))
	tricksters := make(map[string]bool) // who launch in this block: their next nonce is known only once a block
	for _, p := range due {
		if p.trick == "" {
			acts = append(acts, d.launch(p, at))
			continue
		}
		creator := d.world.Wallets[d.rng.IntN(tricksterCount)]
		for tricksters[creator] {
			creator = d.world.Wallets[d.rng.IntN(tricksterCount)]
		}
		tricksters[creator] = true
		a, err := d.launchTrick(ctx, p, creator, at)
		if err != nil {
			return nil, err
		}
		acts = append(acts, a)
	}
	return acts, nil
}

// launchTrick launches a token that its creator has made for it.
func (d *Desk) launchTrick(ctx context.Context, p plan, creator string, at time.Time) (act, error) {
	nonce, err := d.world.NextNonce(ctx, creator)
	if err != nil {
		return act{}, err
	}
	r := &run{plan: p, order: d.order(p.venue), last: at}
	r.start, r.order.Creator = at, creator
	var transactions []anvil.Transaction
	transactions, r.token = attack.AdoptCalls(d.world, p.venue, p.trick, &r.order, nonce)
	d.pending = append(d.pending, r)
	return act{transactions, traffic.Truth{Kind: LaunchToken, Trader: creator, Venue: p.venue.ID}, r}, nil
}

func (d *Desk) launch(p plan, at time.Time) act {
	r := &run{plan: p, order: d.order(p.venue), last: at}
	r.start = at // no earlier than it is mined
	r.order.Creator = d.world.Wallets[tricksterCount+d.rng.IntN(creatorCount-tricksterCount)]
	truth := traffic.Truth{Kind: LaunchToken, Trader: r.order.Creator, Venue: p.venue.ID}
	if p.venue.HasCurve() && p.venue.Protocol != venues.PonsV2 && p.fate != fateWash && d.rng.IntN(2) == 0 {
		part := 0.005 + 0.02*d.rng.Float64()
		if d.rng.IntN(8) == 0 {
			part *= 6 // a creator who keeps much for himself
		}
		r.order.FirstBuy = r.venue.Shape.ValueFor(r.venue.Shape.Fresh(), world.Portion(r.venue.Shape.SaleBase, part))
		truth.NativeIn, truth.TokenIn, truth.AmountIn = true, anvil.ZeroAddress, r.order.FirstBuy
	}
	d.pending = append(d.pending, r)
	return act{[]anvil.Transaction{launch.Call(p.venue, r.order)}, truth, r}
}

// order is what a launch on a venue is to be, without its creator.
func (d *Desk) order(venue venues.Venue) launch.Order {
	t := d.texts.Next(venue.Protocol == venues.ClankerV3 || venue.Protocol == venues.ClankerV4)
	return launch.Order{Name: t.Name, Symbol: t.Symbol, Metadata: t.Metadata, Image: t.Image}
}
