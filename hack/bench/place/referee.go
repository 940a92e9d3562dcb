package place

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// rankS is the time between two rankings, in seconds.
const rankS = 15

// referee judges a chain's tokens as the product does: it derives the blocks by the indexer's rules, keeps the trades on the board's tapes, and holds
// each launch to the board's quality bar. What the product has in a database it has in memory.
type referee struct {
	formula *formula
	// blind leaves out where wallets' coins came from, as on a chain whose blocks don't tell.
	blind   bool
	machine *derive.Machine
	state   *derive.State
	gate    board.Gate
	// waiting are blocks that are not derived yet.
	waiting []market.Block
	entries map[market.Address]*entry
	poolsOf map[market.Address]map[market.Address]market.Pool
	usd     figures.Prices
	// minutes are the candles of a minute by when they open: they leave the window of a day, for which the indexer reads them again.
	minutes map[int64]map[market.CandleKey]market.Candle
	// changed is told of what each batch of blocks changed.
	changed func(*market.Changes, market.Header)
	err     error
}

// entry is a launched token as it is judged.
type entry struct {
	token   market.Token
	launch  *boards.Launched
	at      int64 // when it graduated
	facts   *figures.Facts
	tape    *traction.Tape
	hold    board.Hold
	changed bool
}

func newReferee(f *formula) *referee {
	doc := document()
	machine, err := derive.New(doc)
	return &referee{
		formula: f, machine: machine, state: derive.NewState(market.Beginning{}), gate: board.DefaultGate(), entries: make(map[market.Address]*entry),
		poolsOf: make(map[market.Address]map[market.Address]market.Pool),
		minutes: make(map[int64]map[market.CandleKey]market.Candle), changed: func(*market.Changes, market.Header) {}, err: err,
	}
}

// take gets a block.
func (r *referee) take(b *block) { r.waiting = append(r.waiting, b.Block) }

// derive brings everything up to a block.
func (r *referee) derive(until market.Header) error {
	if r.err != nil {
		return r.err
	}
	if err := r.apply(r.waiting, until); err != nil {
		r.err = err
		return err
	}
	r.waiting = r.waiting[:0]
	return nil
}

// cached is how many rows of a kind the state keeps: all, as there is no database to read them from again.
const cached = 1 << 40

func (r *referee) apply(blocks []market.Block, until market.Header) error {
	r.put(r.machine.LaunchKeys(r.state, blocks))
	r.put(r.machine.Keys(r.state, blocks, until))
	r.put(r.machine.MoreKeys(r.state, blocks, until))
	if err := r.machine.Apply(r.state, blocks, until); err != nil {
		return fmt.Errorf("a simulated block: %w", err)
	}
	changes := r.state.Flush(cached)
	r.book(&changes)
	r.changed(&changes, until)
	return nil
}

// put answers what the indexer wants of a database: candles that leave the window, and that nothing else is there which it hasn't.
func (r *referee) put(wanted market.Wanted) {
	var rows market.Rows
	if wanted.ExpireFrom <= wanted.ExpireTo {
		for open := wanted.ExpireFrom; open <= wanted.ExpireTo; open += 60 {
			keys := slices.SortedFunc(maps.Keys(r.minutes[open]), func(a, b market.CandleKey) int { return a.Pool.Compare(b.Pool) })
			for _, k := range keys {
				rows.Candles = append(rows.Candles, r.minutes[open][k])
			}
			delete(r.minutes, open)
		}
	}
	r.state.Put(wanted, rows)
}

// book takes in what changed.
func (r *referee) book(c *market.Changes) {
	for _, k := range c.Candles {
		if k.Key.Interval == 60 {
			if r.minutes[k.Key.Open] == nil {
				r.minutes[k.Key.Open] = make(map[market.CandleKey]market.Candle)
			}
			r.minutes[k.Key.Open][k.Key] = *k.After
		}
	}
	for _, q := range c.Quotes {
		r.usd.Set(*q.After)
	}
	for _, p := range c.Pools {
		if r.poolsOf[p.After.Base] == nil {
			r.poolsOf[p.After.Base] = make(map[market.Address]market.Pool)
		}
		r.poolsOf[p.After.Base][p.Key] = *p.After
		r.entry(p.After.Base).changed = true
	}
	for _, t := range c.Tokens {
		e := r.entry(t.Key)
		e.token, e.changed = *t.After, true
	}
	for _, l := range c.Launches {
		e := r.entry(l.Key)
		e.launch, e.at, e.changed = boards.NewLaunched(l.After), l.After.GraduatedAt, true
		e.exclude()
	}
	for i := range c.Trades {
		t := &c.Trades[i]
		e := r.entry(t.Base)
		if e.tape == nil {
			e.tape = &traction.Tape{}
			e.exclude()
		}
		if r.blind {
			t.Funding = market.Funding{}
		}
		e.tape.Add(traction.Flow{Wallet: t.Trader, Time: t.Time, Sell: t.Sell, USD: float64(t.NanoUSD) / 1e9, CloseUSD: t.CloseUSD, Funding: t.Funding})
	}
}

func (r *referee) entry(mint market.Address) *entry {
	e := r.entries[mint]
	if e == nil {
		e = &entry{}
		r.entries[mint] = e
	}
	return e
}

// exclude leaves those out who have part in the launch.
func (e *entry) exclude() {
	if e.launch == nil || e.tape == nil {
		return
	}
	for _, who := range e.launch.Excluded() {
		e.tape.Exclude(who)
	}
}

// standing is how a launch stands at a ranking.
type standing struct {
	mint  market.Address
	score float64
	parts traction.Parts
	fails board.Fails
	pass  bool
}

// judge is the standing of one launch; false while it is on no board.
func (r *referee) judge(mint market.Address) (standing, bool) {
	e := r.entries[mint]
	if e == nil || e.launch == nil {
		return standing{}, false
	}
	if e.changed {
		e.facts, e.changed = r.factsOf(e), false
	}
	s := boards.Subject{Chain: chainID, Mint: mint, Launch: e.launch, Facts: e.facts, Tape: e.tape, USD: r.usd, Now: r.state.Last().Time}
	m := s.Measure()
	if !m.Worth.Valued() {
		return standing{}, false
	}
	hour := s.Hour()
	out := standing{mint: mint, score: r.formula.of(m.Parts, e.tape, s.Now), parts: m.Parts}
	out.pass, out.fails = e.hold.Tick(r.gate.Fails(s.Candidate(&m, &hour)))
	return out, true
}

func (r *referee) factsOf(e *entry) *figures.Facts {
	pools := slices.SortedFunc(maps.Values(r.poolsOf[e.token.Mint]), func(a, b market.Pool) int { return a.ID.Compare(b.ID) })
	pools = slices.DeleteFunc(pools, func(p market.Pool) bool { return p.Unlisted })
	f := figures.NewFacts(&figures.Token{Chain: chainID, Token: e.token, Pools: pools, Launched: true, GraduatedAt: e.at, AsOf: r.state.Last().Time, USD: r.usd})
	return &f
}

// running are the launches that pass, best first.
func (r *referee) running() []standing {
	return slices.DeleteFunc(r.listed(), func(s standing) bool { return !s.pass })
}

// listed are all launches of the board, best first.
func (r *referee) listed() []standing {
	var out []standing
	for mint := range r.entries {
		if s, ok := r.judge(mint); ok {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(r.entries[a.mint].launch.CreatedAt, r.entries[b.mint].launch.CreatedAt), a.mint.Compare(b.mint))
	})
	return out
}
