package view

import (
	"context"
	"maps"
	"slices"
	"unique"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// What the board keeps, in seconds; see keeps.
const (
	launchAge   = 30 * 24 * 3600
	quietAge    = 7 * 24 * 3600
	untradedAge = 2 * 24 * 3600
	cutoffStep  = 3600
)

// pruneEvery is in how many rankings each tape gives back the memory of those who were silent: it changes nothing else.
const pruneEvery = 16

// book is what is known of one chain's tokens that were launched or that trade: what the live list and the launch board are
// ranked from. There is one tape per token for both. One goroutine at a time has it.
type book struct {
	chain         string
	seen, rewinds int64
	// lapsed says that the database has taken back what was read: by a reorg, or since it is another one, which knows less.
	lapsed     bool
	status     store.ChainStatus
	stale      bool
	usd        map[market.Address]market.QuotePrice
	usdNo      int64  // counts the changes of usd
	nextTrades uint64 // the first block whose trades are not on the tapes
	entries    map[market.Address]*entry
	unread     []*entry // those whose token, and launch if it is an older one, have still to be read
	touched    []*entry // those that changed since they were last placed
	turn       uint8    // of the ranking; see entry

	shelving
}

// entry is one token of a book.
type entry struct {
	mint    market.Address
	tape    *traction.Tape // nil without a trade within the window of the score
	flowAt  int64          // when the newest trade on the tape was; unix seconds
	facts   *facts         // nil while the token isn't known
	launch  *Launched      // nil for a token that the board doesn't keep
	meta    *Metadata      // nil while none was fetched
	checked bool           // a trust check of critical severity failed
	// turn is in which ranking of pruneEvery the tape is pruned.
	turn uint8
	// isTouched says that it is among touched, isUnread that it is among unread, mayReturn that its launch is to be read, too.
	isTouched, isUnread, mayReturn bool

	// What was measured last.
	worth worth
	score float64

	standing
}

// Launched is what the board keeps of a launch. It is never changed.
type Launched struct {
	Mint, Creator market.Address
	Venue         string
	// Name and Symbol are those of the announcement, empty where it has none.
	Name, Symbol string
	block        uint64
	logIndex     uint32
	CreatedAt    int64 // unix seconds
	// HasCurve is false for a live pool; then so is HasProgress.
	HasCurve    bool
	curve       market.Address
	State       market.LaunchState
	GraduatedAt int64          // unix seconds; 0 before
	Pool        market.Address // none while unknown
	Basis       market.ProgressBasis
	Progress    float64 // in percent
	HasProgress bool
	// Raised and Target are in the smallest unit of what the curve takes; Target is 0 while unknown.
	Raised, Target market.Amount
}

// NewLaunched takes what the board keeps.
func NewLaunched(l *market.Launch) *Launched {
	return &Launched{
		Mint: l.Mint, Creator: l.Creator, Venue: one(l.Venue), Name: l.Name, Symbol: l.Symbol, block: l.Block, logIndex: l.LogIndex,
		CreatedAt: l.CreatedAt, HasCurve: !l.Curve.IsNone(), curve: l.Curve, State: market.LaunchState(one(string(l.State))),
		GraduatedAt: l.GraduatedAt, Pool: l.Pool, Basis: market.ProgressBasis(one(string(l.Rules.Basis))),
		Progress: l.Progress, HasProgress: l.HasProgress, Raised: l.Reserves.RealQuote, Target: l.TargetQuote,
	}
}

// one gives equal texts the same memory: a hundred thousand rows have a few.
func one(s string) string { return unique.Make(s).Value() }

// onCurve reports whether the token is on a bonding curve still, full or not.
func (l *Launched) onCurve() bool {
	return l.State == market.LaunchOnCurve || l.State == market.LaunchCompleted
}

// Metadata is what a token's own description says; a text is empty where it says nothing.
type Metadata struct{ ImageURL, Website, X, Telegram string }

func newMetadata(m *store.TokenMetadata) *Metadata {
	return &Metadata{ImageURL: m.ImageURL, Website: m.Website, X: m.X, Telegram: m.Telegram}
}

func newBook(chain string, rewinds int64) *book {
	return &book{chain: chain, rewinds: rewinds, entries: make(map[market.Address]*entry), shelving: newShelving()}
}

// keeps says whether the board keeps a launch: one that is younger than 30 days, or was traded within the last 7 days in its
// curve or a trusted pool; one that never was, for 2 days. All count from the last full hour, so that launches go together.
func (b *book) keeps(l *Launched, tradedAt int64) bool {
	now := b.hour()
	if tradedAt == 0 {
		return l.CreatedAt > now-untradedAge
	}
	return l.CreatedAt > now-launchAge || tradedAt > now-quietAge
}

// hour is the last full hour of the chain's time.
func (b *book) hour() int64 { return b.status.Last.Time - b.status.Last.Time%cutoffStep }

// touch has an entry measured and placed anew.
func (b *book) touch(e *entry) {
	if !e.isTouched {
		e.isTouched = true
		b.touched = append(b.touched, e)
	}
}

// want has an entry's token read.
func (b *book) want(e *entry) {
	if !e.isUnread {
		e.isUnread = true
		b.unread = append(b.unread, e)
	}
}

// at is the entry of a token, made if there is none.
func (b *book) at(mint market.Address) *entry {
	e := b.entries[mint]
	if e == nil {
		e = &entry{mint: mint, turn: uint8(len(b.entries) % pruneEvery)}
		b.entries[mint] = e
		b.want(e)
	}
	return e
}

// read takes in what a chain's commits changed. When it fails, what it read is kept, and read again the next time but for
// the trades of whole blocks.
func (b *book) read(ctx context.Context, v *View, status store.ChainStatus) error {
	limit := refreshTime
	if b.seen == 0 {
		limit = firstTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	was := b.status
	b.status = status
	steps := []func(context.Context, *View) error{b.readLaunches, b.readFlows, b.readChanged, b.readTokens, b.readQuotes, b.readBeside}
	for _, step := range steps {
		if err := step(ctx, v); err != nil {
			b.status = was
			return err
		}
	}
	b.seen = status.CommitNo
	return nil
}

// readLaunches takes in the launches that changed, at first all that the board keeps. Whether it keeps an older one that
// changed hangs on its trades, which are read with its token.
func (b *book) readLaunches(ctx context.Context, v *View) error {
	list := v.looks.LaunchesSince(ctx, b.chain, b.seen)
	if b.seen == 0 {
		now := b.hour()
		list = v.looks.LaunchesOfLate(ctx, b.chain, store.OfLate{
			MadeAfter: now - launchAge, TradedAfter: now - quietAge, UntradedAfter: now - untradedAge,
		})
	}
	for l, err := range list {
		if err != nil {
			return err
		}
		launched := NewLaunched(&l)
		e := b.entries[l.Mint]
		switch {
		case b.seen == 0, b.keeps(launched, 0), e != nil && e.launch != nil:
			b.take(b.at(l.Mint), launched)
		default:
			e = b.at(l.Mint)
			e.mayReturn = true
			b.want(e)
		}
	}
	return nil
}

// take gives an entry its launch. Only a reorg, after which there is another book, gives a launch another venue.
func (b *book) take(e *entry, l *Launched) {
	if e.cell != nil {
		l.Venue = e.cell.venue
	}
	e.launch = l
	e.exclude()
	b.touch(e)
}

// exclude leaves those out of the count of wallets who have part in the launch.
func (e *entry) exclude() {
	if e.launch == nil || e.tape == nil {
		return
	}
	for _, who := range []market.Address{e.launch.Creator, e.launch.curve, e.launch.Pool} {
		if !who.IsNone() {
			e.tape.Exclude(who)
		}
	}
}

// readFlows puts new trades on the tapes, a whole block at a time.
func (b *book) readFlows(ctx context.Context, v *View) error {
	var block []store.Flow
	for f, err := range v.looks.Flows(ctx, b.chain, b.nextTrades, b.status.Last.Time-traction.Window) {
		if err != nil {
			return err
		}
		if len(block) > 0 && block[0].Block != f.Block {
			b.bookTrades(block)
			block = block[:0]
		}
		block = append(block, f)
	}
	b.bookTrades(block)
	return nil
}

func (b *book) bookTrades(block []store.Flow) {
	for i := range block {
		f := &block[i]
		b.nextTrades = f.Block + 1
		e := b.at(f.Base)
		if e.tape == nil {
			e.tape = &traction.Tape{}
			e.exclude()
		}
		e.tape.Add(traction.Flow{Wallet: f.Trader, Time: f.Time, Sell: f.Sell, USD: float64(f.NanoUSD) / 1e9, CloseUSD: f.CloseUSD})
		e.flowAt = max(e.flowAt, f.Time)
		b.touch(e)
	}
}

// readChanged notes which of the tokens have changed.
func (b *book) readChanged(ctx context.Context, v *View) error {
	if b.seen == 0 {
		return nil // all are unread
	}
	list, err := v.looks.ChangedTokens(ctx, b.chain, b.seen)
	if err != nil {
		return err
	}
	for _, mint := range list {
		if e := b.entries[mint]; e != nil {
			b.want(e)
		}
	}
	return nil
}

// readTokens reads the tokens that are new or have changed, with their pools, and the launches of those that came back by
// being traded.
func (b *book) readTokens(ctx context.Context, v *View) error {
	for len(b.unread) > 0 {
		part := b.unread[max(0, len(b.unread)-tokensAtOnce):]
		mints := make([]market.Address, len(part))
		var older []market.Address
		for i, e := range part {
			mints[i] = e.mint
			if e.launch == nil && (e.facts == nil || e.mayReturn) {
				older = append(older, e.mint)
			}
		}
		found, err := v.readTokens(ctx, v.looks, mints)
		if err != nil {
			return err
		}
		launches, err := v.looks.LaunchesAt(ctx, older)
		if err != nil {
			return err
		}
		for _, e := range part {
			e.facts = b.factsIn(found[e.mint])
			e.isUnread, e.mayReturn = false, false
			b.touch(e)
		}
		b.unread = b.unread[:len(b.unread)-len(part)]
		for i := range launches {
			if l := &launches[i]; l.Chain == b.chain {
				if err := b.comeBack(ctx, v, NewLaunched(&l.Launch)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// factsIn are those of the chain's own token among the tokens at one address; nil when there is none.
func (b *book) factsIn(tokens []Token) *facts {
	i := slices.IndexFunc(tokens, func(t Token) bool { return t.Chain == b.chain })
	if i < 0 {
		return nil
	}
	f := newFacts(&tokens[i])
	return &f
}

// comeBack takes an older launch in that is traded again, with what is read of others as it changes.
func (b *book) comeBack(ctx context.Context, v *View, l *Launched) error {
	e := b.at(l.Mint)
	if e.facts == nil || !b.keeps(l, e.facts.tradedAt) {
		return nil
	}
	b.take(e, l)
	if b.seen == 0 {
		return nil // all metadata and reports are still to be read
	}
	m, ok, err := v.looks.MetadataAt(ctx, b.chain, l.Mint)
	if err != nil {
		return err
	}
	if ok {
		e.meta = newMetadata(&m)
	}
	report, ok, err := v.looks.TrustAt(ctx, b.chain, l.Mint)
	e.checked = ok && report.Critical
	return err
}

// readQuotes takes over the prices of the quote assets. When one becomes known, or is known no more, everything is valued
// anew; else a price only moves what is shown.
func (b *book) readQuotes(ctx context.Context, v *View) error {
	all, err := v.quotes(ctx)
	if err != nil {
		return err
	}
	usd := all[b.chain]
	if maps.Equal(usd, b.usd) && b.usd != nil {
		return nil
	}
	same := len(usd) == len(b.usd)
	for asset, q := range usd {
		old, had := b.usd[asset]
		same = same && had && (old.USD > 0) == (q.USD > 0) && old.Pegged == q.Pegged
	}
	b.usd = usd
	b.usdNo++
	if !same {
		for _, e := range b.entries {
			b.touch(e)
		}
	}
	return nil
}

// readBeside takes in what is fetched and checked beside the chain.
func (b *book) readBeside(ctx context.Context, v *View) error {
	list, err := v.looks.MetadataSince(ctx, b.chain, b.seen)
	if err != nil {
		return err
	}
	for i := range list {
		if e := b.entries[list[i].Mint]; e != nil && e.launch != nil {
			e.meta = newMetadata(&list[i])
			b.touch(e)
		}
	}
	reports, err := v.looks.TrustSince(ctx, b.chain, b.seen)
	if err != nil {
		return err
	}
	for i := range reports {
		if e := b.entries[reports[i].Mint]; e != nil && e.launch != nil {
			e.checked = reports[i].Critical
			b.touch(e)
		}
	}
	return nil
}

// measure sets what an entry is worth and its score, and gives the parts of that. A token's market is as old as its launch.
func (b *book) measure(e *entry) (parts traction.Parts) {
	now := b.status.Last.Time
	e.worth = worth{}
	if e.facts != nil {
		e.worth = e.facts.worth(b.usd)
		parts.AgeS = float64(max(now-e.facts.firstSeenAt, 0))
	}
	if e.launch != nil {
		parts.AgeS = float64(max(now-e.launch.CreatedAt, 0))
	}
	parts.LiquidityUSD = e.worth.liquidity
	if e.tape != nil {
		e.tape.Measure(&parts, now)
	}
	e.score = traction.Score(parts)
	return parts
}

// tidy drops tapes on which nothing is left, launches that the board keeps no more, and then the entries that have neither.
func (b *book) tidy() {
	now := b.status.Last.Time
	b.turn = (b.turn + 1) % pruneEvery
	for mint, e := range b.entries {
		if e.tape != nil && (e.turn == b.turn || now-e.flowAt >= traction.Window) && e.tape.Prune(now) {
			e.tape = nil
			b.touch(e)
		}
		if e.launch != nil {
			tradedAt := int64(0)
			if e.facts != nil {
				tradedAt = e.facts.tradedAt
			}
			if !b.keeps(e.launch, tradedAt) {
				e.launch, e.meta, e.checked = nil, nil, false
				b.touch(e)
			}
		}
		if e.tape == nil && e.launch == nil && !e.isUnread {
			delete(b.entries, mint)
		}
	}
}
