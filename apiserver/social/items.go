package social

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// longestNote is the length of the longest note that an event tells, in bytes: an event goes to thousands of readers.
const longestNote = 500

// longestItems bounds the items of an answer together, in bytes: a note may have 16 KiB. One item is told whatever its length.
const longestItems = 1 << 20

// minute is how exactly the time of a private trade is told, in seconds.
const minute = 60

// shownTrade is a trade that may be shown, with whose it is.
type shownTrade struct {
	*stream.Trade

	on    *declared.Chain
	owner members.Wallet
}

// showTrade looks up whose a trade is; ok is false of one that isn't shown: of a chain that isn't declared, or of a wallet that isn't that member's any more.
func showTrade(seen *read.Snapshot, t *stream.Trade) (s *shownTrade, ok bool) {
	on := seen.Catalog.Chain(t.Chain)
	if on == nil {
		return nil, false
	}
	owner, ok := seen.Members.Owner(on.Family, t.Wallet, t.Chain)
	return &shownTrade{t, on, owner}, ok && owner.Number == t.Member
}

func (s *shownTrade) minute() stream.Minute {
	return stream.Minute{Chain: s.Chain, Pool: s.Pool, At: s.Time - s.Time%minute}
}

// item is what may be shown: a trade, or a launch with its card.
type item struct {
	trade  *shownTrade
	launch *stream.Launch
	card   boards.Shown
}

func (i *item) number() int64 {
	if i.launch != nil {
		return i.launch.Number
	}
	return i.trade.Number
}

func (i *item) token() read.TokenAt {
	if i.launch != nil {
		return read.TokenAt{Chain: i.launch.Chain, Mint: i.launch.Token}
	}
	return read.TokenAt{Chain: i.trade.Chain, Mint: i.trade.Token}
}

// encodeItems gives the bodies of items in their order; nil of one that isn't told. Without texts, long notes are left out. newest is when the newest data in them is of; unix seconds, 0 without any.
func (h *Handlers) encodeItems(ctx context.Context, seen *read.Snapshot, items []item, texts texts) (bodies [][]byte, newest int64, stale bool, err error) {
	var trades []*shownTrade
	for i := range items {
		if items[i].launch == nil {
			trades = append(trades, items[i].trade)
		} else {
			newest = max(newest, items[i].card.On.Ranked.At)
		}
	}
	with, err := h.readShownWith(ctx, seen, trades)
	if err != nil {
		return nil, 0, false, serve.Unavailable(err)
	}
	bodies = make([][]byte, len(items))
	for i := range items {
		if items[i].launch != nil {
			continue
		}
		var at int64
		if bodies[i], at, err = h.encodeTrade(seen, items[i].trade, &with, texts); err != nil {
			return nil, 0, false, err
		}
		newest = max(newest, at)
	}
	for i := range items {
		if items[i].launch == nil {
			continue
		}
		if bodies[i], err = h.encodeLaunch(seen, items[i].launch, &items[i].card, newest); err != nil { // its age is as of all that is told
			return nil, 0, false, err
		}
	}
	return bodies, newest, with.stale || seen.Failing(), nil
}

// within is how many of some bodies are told, in their order.
func within(bodies [][]byte) (told int) {
	length := 0
	for _, b := range bodies {
		if length += len(b); length > longestItems && told > 0 {
			return told
		}
		told++
	}
	return told
}

// shownWith is what items are shown with, read for all items of an answer at once.
type shownWith struct {
	tokens map[tokenAt]figures.Summary
	closes map[stream.Minute]float64
	notes  map[*stream.Trade]*member.Post
	stale  bool
}

// itemPriceAge is how old the prices of now beside items may be: the newest items are asked for all the time.
const itemPriceAge = time.Second

func (h *Handlers) readShownWith(ctx context.Context, seen *read.Snapshot, trades []*shownTrade) (l shownWith, err error) {
	var minutes []stream.Minute
	list := make([]*stream.Trade, len(trades))
	for i, t := range trades {
		list[i] = t.Trade
		if m := t.minute(); !t.owner.IsPublic && !slices.Contains(minutes, m) {
			minutes = append(minutes, m)
		}
	}
	if len(trades) == 0 {
		return l, nil
	}
	if l.tokens, l.stale, err = h.summaries(ctx, seen, trades); err != nil {
		return l, err
	}
	l.stale = l.stale || seen.TokenMembers.IsFailing()
	if l.notes, err = h.Readers.Stream.Notes(ctx, list); err != nil {
		return l, err
	}
	if len(minutes) > 0 {
		ended := func(m stream.Minute) bool { return seen.TimeOf(m.Chain) >= m.At+minute }
		l.closes, err = h.Readers.Stream.Closes(ctx, minutes, ended, seen.Final())
	}
	return l, err
}

// tokenAt is a token on a chain.
type tokenAt struct {
	chain string
	mint  market.Address
}

// summaries are the tokens of some trades. Tokens that were traded lately are in memory; the others are read. Where they can't be read, and all are in memory, they
// are told as they were, and stale is true.
func (h *Handlers) summaries(ctx context.Context, seen *read.Snapshot, trades []*shownTrade) (out map[tokenAt]figures.Summary, stale bool, err error) {
	out = make(map[tokenAt]figures.Summary, len(trades))
	var unread []tokenAt
	var mints []market.Address
	after := h.Now().Add(-itemPriceAge)
	for _, t := range trades {
		at := tokenAt{t.Chain, t.Token}
		if _, ok := out[at]; ok || slices.Contains(unread, at) {
			continue
		}
		if s, ok := seen.Summary(at.chain, at.mint, after); ok {
			out[at] = s
			continue
		}
		if unread = append(unread, at); !slices.Contains(mints, at.mint) {
			mints = append(mints, at.mint)
		}
	}
	if len(unread) == 0 {
		return out, false, nil
	}
	found, err := h.Readers.Tokens.TokensWithin(ctx, mints, itemPriceAge)
	for _, at := range unread {
		if err != nil {
			s, ok := seen.Summary(at.chain, at.mint, time.Time{})
			if !ok {
				return nil, false, err
			}
			out[at] = s
			continue
		}
		if i := slices.IndexFunc(found[at.mint], func(t figures.Token) bool { return t.Chain == at.chain }); i >= 0 {
			out[at] = found[at.mint][i].Summary()
		}
	}
	return out, err != nil, nil
}

// tradeBody is all that a trade's body follows from besides the trade.
type tradeBody struct {
	owner        members.Member
	rank         standings.Rank // of level 0 while unknown
	isPublic     bool
	name, symbol string
	image        string
	awaitsImage  bool
	paid         float64
	now          float64 // 0 while unknown
	// inCount is how many other members are in the token, and faces the first of all, as one text.
	inCount int
	faces   string
	// note is the note, encoded; empty without one, and where it is left out, as hasLongNote says.
	note        string
	hasLongNote bool
}

// encodeTrade gives the body of a trade, encoded once for each change of what it follows from; nil of a trade whose price nobody knows. at is when the newest data in
// it is of.
func (h *Handlers) encodeTrade(seen *read.Snapshot, s *shownTrade, l *shownWith, texts texts) (body []byte, at int64, err error) {
	token, ok := l.tokens[tokenAt{s.Chain, s.Token}]
	if !ok {
		return nil, 0, nil
	}
	paid := 0.0
	if whole := token.Whole(&s.Amount); whole > 0 {
		paid = float64(s.NanoUSD) / 1e9 / whole
	}
	if !s.owner.IsPublic {
		if paid = coarse(paid); l.closes[s.minute()] > 0 {
			paid = l.closes[s.minute()]
		}
	}
	if paid = wire.Rounded(paid); paid == 0 {
		return nil, 0, nil
	}
	in := seen.TokenMembers.In(s.Chain, s.Token, mostFaces+1) // one of them may be who trades
	of := tradeBody{
		owner: s.owner.Member, isPublic: s.owner.IsPublic, name: token.Name, symbol: token.Symbol, awaitsImage: token.AwaitsMetadata, paid: paid, inCount: in.Count,
	}
	of.rank, _ = seen.Standings.Rank(s.owner.Number)
	if seen.TokenMembers.Has(s.Chain, s.Token, s.owner.Member) {
		of.inCount--
	}
	for _, m := range in.First {
		of.faces += m.Handle + " " + m.AvatarURL + "\n"
	}
	if p := wire.Number(token.Price); p != nil {
		of.now = *p
	}
	if token.Metadata != nil {
		of.image = token.Metadata.ImageURL
	}
	note, err := h.note(seen, s, l, texts, &of)
	if err != nil {
		return nil, 0, err
	}
	body, err = s.Body.Get(of, func() ([]byte, error) { return serve.Marshal(s.encode(&of, in.First, note)) })
	return body, max(s.shownAt(), token.Changed.At), err
}

// note is the note on a trade; nil without one, and where it is left out.
func (h *Handlers) note(seen *read.Snapshot, s *shownTrade, l *shownWith, texts texts, of *tradeBody) (*contract.FeedNote, error) {
	post := l.notes[s.Trade]
	if post == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	if texts == withoutTexts && len(post.Text) > longestNote {
		of.hasLongNote = true
		return nil, nil //nolint:nilnil // it is left out
	}
	note := &contract.FeedNote{Text: post.Text, Rich: *h.rich.ofPost(seen, post)}
	encoded, err := serve.Marshal(note)
	if err != nil {
		return nil, fmt.Errorf("social: encode a note: %w", err)
	}
	of.note = string(encoded)
	return note, nil
}

// shownUSD is the trade's value in USD as it is told: filters go by it, since a more exact one would be told by them.
func (s *shownTrade) shownUSD() float64 {
	if usd := float64(s.NanoUSD) / 1e9; s.owner.IsPublic {
		return wire.Rounded(usd)
	} else {
		return coarse(usd)
	}
}

// shownAt is when the trade was, as far as that is told.
func (s *shownTrade) shownAt() int64 {
	if s.owner.IsPublic {
		return s.Time
	}
	return s.Time - s.Time%minute
}

// encode is the wire form of a trade. Of who keeps a wallet private amounts and times are less exact, since exact ones would tell the wallet.
func (s *shownTrade) encode(of *tradeBody, in []members.Member, note *contract.FeedNote) contract.FeedTrade {
	out := contract.FeedTrade{
		Kind: contract.FeedTradeKindTrade, ID: s.Number, Cursor: cursorOf(s.Number), At: wire.Timestamp(s.shownAt()), Handle: of.owner.Handle,
		Note: note, Side: contract.TradeSideBuy, AmountUSD: s.shownUSD(), PriceUSD: of.paid, OthersIn: othersIn(of.inCount, in, of.owner),
		Token: contract.FeedToken{Mint: s.Token.String(), Chain: s.Chain, Symbol: of.symbol, Name: of.name, UnknownReasons: contract.UnknownReasons{}},
		Now:   contract.FeedNow{UnknownReasons: contract.UnknownReasons{}},
		UnknownReasons: contract.UnknownReasons{
			"note": contract.UnknownReasonNotApplicable, "realised": contract.UnknownReasonNotApplicable,
		},
	}
	if of.rank.Level > 0 {
		out.Rank = new(wire.GameRank(of.rank))
	} else {
		out.UnknownReasons["rank"] = contract.UnknownReasonUnavailable
	}
	if of.owner.AvatarURL != "" {
		out.AvatarURL = &of.owner.AvatarURL
	} else {
		out.UnknownReasons["avatar_url"] = contract.UnknownReasonNotApplicable
	}
	if of.isPublic {
		out.Tx = new(s.Tx.String())
	} else {
		out.UnknownReasons["tx"] = contract.UnknownReasonNotApplicable
	}
	why := wire.EmptyNotes()
	var metadata *figures.Metadata
	if of.image != "" {
		metadata = &figures.Metadata{ImageURL: of.image}
	}
	out.Token.ImageURL, out.Token.UnknownReasons = why.Image(metadata, of.awaitsImage), why.Unknown
	if of.now > 0 {
		change := (of.now/of.paid - 1) * 100
		out.Now.PriceUSD, out.Now.ChangeSincePct = &of.now, wire.Number(&change)
	}
	why = wire.EmptyNotes()
	why.Note("price_usd", out.Now.PriceUSD != nil, "")
	why.Note("change_since_pct", out.Now.ChangeSincePct != nil, "")
	out.Now.UnknownReasons = why.Unknown
	if s.Sell {
		out.Side, out.Realised = contract.TradeSideSell, s.realised(of.isPublic)
		delete(out.UnknownReasons, "realised")
	}
	switch {
	case note != nil:
		delete(out.UnknownReasons, "note")
	case of.hasLongNote:
		out.UnknownReasons["note"] = contract.UnknownReasonUnavailable
	}
	return out
}

// realised is what a sale realised. It isn't told of who keeps a wallet private: few sales of a token realise the same, even to one digit, so that it would tell the wallet.
func (s *shownTrade) realised(isPublic bool) *contract.FeedRealised {
	out := &contract.FeedRealised{UnknownReasons: contract.UnknownReasons{}}
	gain := s.Proceeds.Sub(s.Cost)
	switch {
	case !isPublic || !s.Counts || s.Cost.Sign() == 0 && s.Proceeds.Sign() == 0:
		out.UnknownReasons["pnl_usd"], out.UnknownReasons["pnl_pct"] = contract.UnknownReasonNotApplicable, contract.UnknownReasonNotApplicable
		return out
	case s.Cost.Dollars() < 1:
		out.UnknownReasons["pnl_pct"] = contract.UnknownReasonNotApplicable
	default:
		out.PnlPct = new(wire.Rounded(100 * gain.Dollars() / s.Cost.Dollars()))
	}
	out.PnlUSD = new(wire.Rounded(gain.Dollars()))
	return out
}

// othersIn are the other members who are in a token than who trades. first are the first of all.
func othersIn(count int, first []members.Member, but members.Member) contract.TokenMembers {
	out := contract.TokenMembers{Count: &count, Faces: []contract.Face{}, UnknownReasons: contract.UnknownReasons{}}
	for _, m := range first {
		if m.Number != but.Number && len(out.Faces) < mostFaces {
			out.Faces = append(out.Faces, faceOf(m))
		}
	}
	return out
}

// encodeLaunch gives the body of a launch with its card, as of a time (unix seconds).
func (h *Handlers) encodeLaunch(seen *read.Snapshot, l *stream.Launch, c *boards.Shown, asOf int64) ([]byte, error) {
	card, err := h.launchCards.Append(nil, c, seen, asOf, false)
	if err != nil {
		return nil, err
	}
	return serve.Marshal(contract.FeedLaunch{
		Kind: contract.FeedLaunchKindLaunch, ID: l.Number, Cursor: cursorOf(l.Number), At: wire.Timestamp(l.Time), Card: card,
	})
}

// showLaunch looks up the card of a launch; ok is false of one that isn't on the board, as where its venue isn't declared.
func showLaunch(seen *read.Snapshot, l *stream.Launch) (c boards.Shown, ok bool) {
	if seen.Board == nil {
		return c, false
	}
	c, ok = seen.Board.Launched(l.Chain, l.Token)
	return c, ok && c.Listed
}

// freshLaunch is the age of a launch in the stream, in seconds, up to which the board may not have it yet: while it reads a chain anew after a reorg.
const freshLaunch = 10 * 60

// showNewLaunch is showLaunch for what is new. A launch that isn't on the board yet is read, so that nobody who follows the stream passes over it.
func (h *Handlers) showNewLaunch(ctx context.Context, seen *read.Snapshot, l *stream.Launch) (c boards.Shown, ok bool, err error) {
	if c, ok = showLaunch(seen, l); ok || seen.Catalog.Chain(l.Chain) == nil || seen.TimeOf(l.Chain)-l.Time > freshLaunch {
		return c, ok, nil
	}
	launches, err := h.Readers.Launches.LaunchesAt(ctx, l.Token)
	if err != nil {
		return c, false, err
	}
	tokens, err := h.Readers.Tokens.Tokens(ctx, l.Token)
	if err != nil {
		return c, false, err
	}
	at := slices.IndexFunc(launches, func(x boards.LaunchNow) bool { return x.Chain == l.Chain })
	of := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == l.Chain })
	if at < 0 || of < 0 {
		return c, false, nil
	}
	beside, err := h.Readers.Launches.BesideLaunch(ctx, &launches[at])
	if err != nil {
		return c, false, err
	}
	c, ok = h.Readers.Launches.CardNow(seen.Board, seen.Catalog, &launches[at], &tokens[of], beside)
	return c, ok && c.Listed, nil
}

// cursorVersion begins a cursor, so that a later form can be told from this one.
const cursorVersion = "v1|"

// cursorOf names an item by its number.
func cursorOf(number int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorVersion + strconv.FormatInt(number, 10)))
}

// parseCursor is the number that a cursor names.
func parseCursor(text string) (number int64, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	digits, ok := strings.CutPrefix(string(raw), cursorVersion)
	if !ok {
		return 0, false
	}
	number, err = strconv.ParseInt(digits, 10, 64)
	return number, err == nil && number >= 0 && number <= mostNumber && cursorOf(number) == text
}

// mostNumber is the highest number that every JavaScript number has room for.
const mostNumber = 1<<53 - 1
