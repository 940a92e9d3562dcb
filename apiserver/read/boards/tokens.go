package boards

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// The board keeps launches and tokens for these times, in seconds; see keeps.
const (
	launchAge   = 30 * 24 * 3600
	quietAge    = 7 * 24 * 3600
	untradedAge = 2 * 24 * 3600
	cutoffStep  = 3600
)

// launchesPerChain is how many launches of one chain the board keeps: several times what a busy chain has, and a bound to what
// launching without end costs in memory, which is about 1.5 KB each.
const launchesPerChain = 50_000

// pruneEvery is in how many rankings each tape gives back the memory of those who were silent: it changes nothing else.
const pruneEvery = 16

// chainTokens has one chain's tokens that were launched or that trade. The live list and the launch board are ranked from it, and share a tape
// for each token. One goroutine at a time uses it.
type chainTokens struct {
	chain         string
	seen, rewinds int64
	// lapsed says that the chain has to be read anew: the database has taken back what was read, by a reorg or since it is another one, which knows less, or nobody tells
	// what changed since.
	lapsed     bool
	status     store.ChainStatus
	stale      bool
	usd        figures.Prices // in the order of the assets
	usdChanged map[market.Address]figures.Stamp
	// hourUSD is what the quote assets were worth before the hour that opens at hourOf, as far as that is known.
	hourUSD       map[market.Address]float64
	lastHoursOf   int64 // the open of the hour before which entries know their price
	hourOf        int64
	quoteDecimals map[market.Address]uint8
	wrapped       market.Address // the contract of the chain's own coin
	usdNo         int64          // counts the changes of usd and hourUSD
	nextTrades    uint64         // the first block whose trades are not on the tapes
	gapRead       int64          // until when the last gap was read that trades don't reach back over
	ranked        figures.Stamp  // the newest block when everything was ranked
	most          int            // how many launches are kept
	index         *boardIndex
	unread        []*entry // those whose token, and launch if it is an older one, have still to be read
	in            *tokenmembers.Index
	touched       []*entry // those that changed since they were last placed
	turn          uint8    // of the ranking; see entry

	boardState
	bestTokens
}

// entry is one token. There are very many, and most aren't traded.
type entry struct {
	mint market.Address
	// turn is in which ranking of pruneEvery the tape is pruned.
	turn uint8
	// isTouched says that it is among touched, isUnread that it is among unread, mayReturn that it has a launch which
	// the board doesn't keep, to be read with the token: it may have been traded.
	// isReread says that its token or its launch was read since it was named.
	isTouched, isUnread, mayReturn, isReread bool
	checked                                  bool           // a trust check of critical severity failed
	valued, pegged                           bool           // whether it is valued, and whether it is money, as of the last measurement
	flowAt                                   uint32         // when the newest trade on the tape was; unix seconds
	tape                                     *traction.Tape // nil without a trade within the window of the score
	facts                                    *figures.Facts // nil while the token isn't known
	launch                                   *Launched      // nil for a token that the board doesn't keep
	before                                   *lastHour      // nil unless it was traded within the hour

	score, worthUSD float64 // the score and the liquidity in USD of the last measurement

	boardPlace
}

func newChainTokens(chain string, rewinds int64, most int, in *tokenmembers.Index) *chainTokens {
	return &chainTokens{chain: chain, rewinds: rewinds, most: most, in: in, index: newBoardIndex(), boardState: newBoardState()}
}

// entry finds the entry of a token, or nil if there is none.
func (b *chainTokens) entry(mint market.Address) *entry { return b.index.entry(mint) }

// keeps says whether the board keeps a launch: one that is younger than 30 days, or was traded within the last 7 days in its
// curve or a trusted pool; one that never was, for 2 days. All count from the last full hour, so that launches go together.
func (b *chainTokens) keeps(l *Launched, tradedAt int64) bool {
	now := b.hour()
	if tradedAt == 0 {
		return l.CreatedAt > now-untradedAge
	}
	return l.CreatedAt > now-launchAge || tradedAt > now-quietAge
}

// hour is the last full hour of the chain's time.
func (b *chainTokens) hour() int64 { return b.status.Last.Time - b.status.Last.Time%cutoffStep }

// touch has an entry measured and placed anew.
func (b *chainTokens) touch(e *entry) {
	if !e.isTouched {
		e.isTouched = true
		b.touched = append(b.touched, e)
	}
}

// want has an entry's token read.
func (b *chainTokens) want(e *entry) {
	if !e.isUnread {
		e.isUnread = true
		b.unread = append(b.unread, e)
	}
}

// at is the entry of a token, made if there is none.
func (b *chainTokens) at(mint market.Address) *entry {
	e := b.entry(mint)
	if e == nil {
		e = &entry{mint: mint, turn: uint8(b.index.entries.Len() % pruneEvery)}
		b.index.add(e)
		b.want(e)
	}
	return e
}

// measure sets an entry's score.
func (b *chainTokens) measure(e *entry) Measured {
	s := b.subject(e)
	s.Members = b.in.Count(b.chain, e.mint)
	m := s.Measure()
	e.score, e.worthUSD, e.valued, e.pegged = traction.Score(m.Parts), m.Worth.Liquidity, m.Worth.Valued(), m.Worth.Pegged
	return m
}

// subject has everything from which an entry's score and its place on the board follow, except the members.
func (b *chainTokens) subject(e *entry) Subject {
	return Subject{
		Chain: b.chain, Mint: e.mint, Launch: e.launch, Facts: e.facts, Tape: e.tape, USD: b.usd, Checked: e.checked, Now: b.status.Last.Time, Stale: b.stale,
	}
}

// prune drops tapes on which nothing is left, launches that the board keeps no more, and then the entries that have neither.
func (b *chainTokens) prune() {
	now := b.status.Last.Time
	b.turn = (b.turn + 1) % pruneEvery
	kept := 0
	for e := range b.index.all() {
		if e.tape != nil && (e.turn == b.turn || now-int64(e.flowAt) >= traction.Window) && e.tape.Prune(now) {
			e.tape = nil
			b.touch(e)
		}
		if e.launch != nil && !b.keeps(e.launch, e.tradedAt()) {
			b.dropLaunch(e)
		}
		if e.launch != nil {
			kept++
		}
	}
	b.dropSurplus(kept - b.most)
	for e := range b.index.all() {
		if e.tape == nil && e.launch == nil && !e.isUnread {
			b.index.remove(e.mint)
		}
	}
}

// dropSurplus drops launches that are too many: first those that were never traded, the oldest first, then those that were traded the
// longest ago.
func (b *chainTokens) dropSurplus(n int) {
	if n <= 0 {
		return
	}
	var all []*entry
	for e := range b.index.all() {
		if e.launch != nil {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.tradedAt(), b.tradedAt()), a.launch.compare(b.launch))
	})
	for _, e := range all[:n] {
		b.dropLaunch(e)
	}
}

// dropLaunch has the board keep an entry's launch no more. It comes back when it is traded.
func (b *chainTokens) dropLaunch(e *entry) {
	e.launch, e.checked, e.mayReturn = nil, false, true
	b.touch(e)
}

// tradedAt is when the token was traded last in its curve or a trusted pool; unix seconds, 0 for never.
func (e *entry) tradedAt() int64 {
	if e.facts == nil {
		return 0
	}
	return e.facts.TradedAt
}
