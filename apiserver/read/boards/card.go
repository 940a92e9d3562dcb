package boards

import (
	"cmp"
	"sync"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// Card is a launch on the board, with the data for its JSON. It has nothing to do with share cards, which are
// pictures. It is never changed: a change makes another.
type Card struct {
	Launch *Launched
	// Metadata is nil while none was fetched.
	Metadata *figures.Metadata

	facts *figures.Facts
	verdict
}

// verdict is the stored part of a ranking. Most launches aren't traded and store nothing else; the rest of their standing follows from the
// launch and the time.
type verdict struct {
	traded    *traded // nil without a trade within the window of the score
	liquidity float64 // USD
	// judgedAt is when a launch that came between two rankings was judged, in the chain's time (unix seconds).
	judgedAt     uint32
	rank, clones int32
	fails        board.Fails
	pass         bool
	// listed is false while the launch isn't valued in USD; then it is on no board.
	listed bool
	// members is how many were in the token when it was measured last.
	members int32
}

// traded has the measured figures of a launch that trades.
type traded struct {
	parts traction.Parts
	score float64
	hour  traction.Hour
}

// Standing is the result of the last ranking for one card: score, gate, rank and clones.
type Standing struct {
	Parts traction.Parts
	Score float64
	Hour  traction.Hour
	// Listed is false while the launch isn't valued in USD; then it is on no board.
	Listed bool
	// Pass and Fails are what the quality bar says; a card that is held passes and fails nothing. Fails is shared and must not
	// be changed.
	Pass  bool
	Fails []string
	// Rank is its place in Running over all launchpads and chains, from 1; 0 when it isn't in.
	Rank int32
	// Clones is how many launches are folded into it.
	Clones int32
	// KnowsMembers is false where Parts have no members because nobody knows who is in the token.
	KnowsMembers bool
}

// standing gives a card's place in the ranking of its chain, which was made at rankedAt (unix seconds).
func (c *Card) standing(on *BoardChain, rankedAt int64) Standing {
	out := Standing{Listed: c.listed, Pass: c.pass, Fails: c.fails.Names(), Rank: c.rank, Clones: c.clones, KnowsMembers: on.KnowsMembers}
	if c.traded != nil {
		out.Parts, out.Score, out.Hour = c.traded.parts, c.traded.score, c.traded.hour
		return out
	}
	at := max(rankedAt, int64(c.judgedAt))
	if out.Parts = resting(c.Launch, c.liquidity, at); c.facts != nil {
		out.Parts.NewHolders = c.facts.NewHolders(at, on.Stale)
	}
	out.Parts.Members = float64(c.members)
	out.Score = traction.Score(out.Parts)
	return out
}

// resting are the inputs of the score of a launch without a trade within its window.
func resting(l *Launched, liquidity float64, now int64) traction.Parts {
	return traction.Parts{LiquidityUSD: liquidity, AgeS: float64(max(now-l.CreatedAt, 0))}
}

// Names are the launch's own, or else the token's.
func (c *Card) Names() (name, symbol string) { return namesOf(c.Launch, c.facts) }

// Figures are the token's at the prices of the chain.
func (c *Card) Figures(on *BoardChain) figures.Figures {
	if c.facts == nil {
		return figures.Figures{}
	}
	return c.facts.Figures(c.Launch.Mint, on.usd, on.Ranked.At)
}

// HourAgo is the price in USD one hour ago; 0 when unknown. For a launch without a trade in that hour, the price in
// its quote asset is the present one.
func (c *Shown) HourAgo() float64 {
	if c.facts == nil {
		return c.Hour.ReferenceUSD
	}
	if c.Launch.CreatedAt > c.On.Ranked.At-figures.HourS {
		return cmp.Or(c.Hour.ReferenceUSD, c.facts.Past.BeforeUSD)
	}
	return cmp.Or(c.facts.HourAgo(c.On.Ranked.At, c.On.hourUSD), c.Hour.ReferenceUSD)
}

// Changed is the newest block in which an input of the card's figures changed.
func (c *Card) Changed(on *BoardChain) figures.Stamp {
	if c.facts == nil {
		return figures.Stamp{}
	}
	return c.facts.ChangedWith(c.Launch.Mint, on.usdChanged)
}

// Holders is the count of holders; known is false while it isn't current, and status says how far it is.
func (c *Card) Holders(on *BoardChain) (count int64, known bool, status market.HolderStatus) {
	if c.facts == nil {
		return 0, false, market.HoldersNone
	}
	return c.facts.Holders, c.facts.Status == market.HoldersCurrent && !on.Stale, c.facts.Status
}

// Shown is a card with everything else that its answer needs: chain, venue and the result of the ranking.
type Shown struct {
	*Card
	Standing

	Chain  string
	On     *BoardChain
	Venue  declared.Venue
	in     *declared.Catalog
	bodies *cardBodies
}

// shown is a card as it is shown.
func (b *Board) shown(c *Card, on *BoardChain, v declared.Venue) Shown {
	return Shown{Card: c, Standing: c.standing(on, on.Ranked.At), Chain: on.ID, On: on, Venue: v, in: b.in, bodies: b.bodies}
}

// Encoded is the card's body, made by encode once for each change of what it follows from, the members that it names among it. It must not be changed.
func (c *Shown) Encoded(withClones bool, named string, encode func() ([]byte, error)) ([]byte, error) {
	key := bodyKey{c.Chain, c.Launch.Mint, withClones}
	made := cardBody{card: c.Card, named: named, usdNo: c.On.usdNo, stale: c.On.Stale, in: c.in}
	if body, ok := c.bodies.get(key, made); ok {
		return body, nil
	}
	body, err := encode()
	if err != nil {
		return nil, err
	}
	made.body = body
	c.bodies.put(key, made)
	return body, nil
}

// cardBodies keeps encoded cards from one ranking to the next, which changes them all, as far as there is room: the pages that are
// asked for are made of few cards, of which few change at a time.
type cardBodies struct {
	mu   sync.Mutex
	room int // bytes
	made map[bodyKey]cardBody
}

type bodyKey struct {
	chain      string
	mint       market.Address
	withClones bool
}

// cardBody is a card's body with what it was made of.
type cardBody struct {
	card *Card
	// named are the members that it names, and how many it counts.
	named string
	usdNo int64
	stale bool
	in    *declared.Catalog
	body  []byte
}

// bodyRoom bounds the encoded cards that are kept, in bytes: those of a hundred pages.
const bodyRoom = 8 << 20

func newCardBodies() *cardBodies {
	return &cardBodies{room: bodyRoom, made: make(map[bodyKey]cardBody)}
}

// get finds the body of what it would be made of.
func (k *cardBodies) get(key bodyKey, of cardBody) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, ok := k.made[key]
	if !ok || last.card != of.card || last.named != of.named || last.usdNo != of.usdNo || last.stale != of.stale || last.in != of.in {
		return nil, false
	}
	return last.body, true
}

// put keeps a body in the place of the one before, if there is room.
func (k *cardBodies) put(key bodyKey, c cardBody) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if room := k.room + len(k.made[key].body) - len(c.body); room >= 0 {
		k.room = room
		k.made[key] = c
	}
}
