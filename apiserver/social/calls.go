package social

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// texts says whether calls are told with their texts. An event of the stream goes to thousands of readers, and a text is up to 16 KiB long.
type texts bool

const withTexts, withoutTexts texts = true, false

// shownCalls are calls in their wire form. newest is the time of the newest data in them; unix seconds, 0 without any.
type shownCalls struct {
	calls  []contract.Call
	newest int64
	stale  bool
	// first is the place of the first call that is told. The calls before it are left out, since all texts together are too long.
	first int
}

// longestTexts bounds the texts of an answer's calls together, in bytes. The newest call is told whatever its length.
const longestTexts = 256 << 10

// firstTold is the place of the first call that is told.
func firstTold(list []stream.Call, calls map[int64]member.Call, texts texts) int {
	if texts == withoutTexts {
		return 0
	}
	length := 0
	for i := range slices.Backward(list) {
		if length += len(calls[list[i].Call].Text); length > longestTexts && i < len(list)-1 {
			return i + 1
		}
	}
	return 0
}

// showCalls gives the wire form of calls, in their order. It leaves out deleted calls, calls of members who left, and calls on chains that aren't declared.
func (h *Handlers) showCalls(ctx context.Context, seen *read.Snapshot, list []stream.Call, texts texts) (out shownCalls, err error) {
	out.calls, out.stale = make([]contract.Call, 0, len(list)), seen.Failing()
	if len(list) == 0 {
		return out, nil
	}
	calls, err := h.Readers.Stream.Calls(ctx, list)
	if err != nil {
		return out, err
	}
	var mints []market.Address
	for i := range list {
		mints = append(mints, calls[list[i].Call].Mint)
	}
	out.first = firstTold(list, calls, texts)
	slices.SortFunc(mints, market.Address.Compare)
	tokens, err := h.Readers.Tokens.TokensAt(ctx, slices.Compact(mints))
	if err != nil {
		return out, err
	}
	for i := out.first; i < len(list); i++ {
		c, ok := calls[list[i].Call]
		by, isMember := seen.Members.Member(c.Member)
		if !ok || !isMember || c.DeletedAt > 0 || seen.Catalog.Chain(c.Chain) == nil {
			continue
		}
		token := onChain(tokens[c.Mint], c.Chain)
		shown := showCall(&c, by.Handle, token)
		shown.ID = list[i].Number
		if texts == withTexts && c.Text != "" {
			shown.Text, shown.Rich = c.Text, h.rich.ofCall(seen, &c)
		}
		out.calls, out.newest = append(out.calls, shown), max(out.newest, list[i].Time)
		if token != nil {
			out.newest = max(out.newest, token.Changed.At)
		}
	}
	return out, nil
}

// onChain finds the token of a chain in a list; nil where there is none.
func onChain(list []figures.Token, chain string) *figures.Token {
	i := slices.IndexFunc(list, func(t figures.Token) bool { return t.Chain == chain })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// showCall is a call without its number in the stream and its text. token is nil where a reorg took the token.
func showCall(c *member.Call, handle string, token *figures.Token) contract.Call {
	out := contract.Call{
		Handle: handle, Mint: c.Mint.String(), Chain: c.Chain, CalledAt: wire.Timestamp(c.CalledAt), PriceAtCallUSD: wire.Rounded(c.Price.USD),
		Outcome: contract.CallOutcome(c.Outcome), UnknownReasons: contract.UnknownReasons{},
	}
	why := wire.EmptyNotes()
	if c.PeakUSD > 0 {
		peak := c.PeakUSD / c.Price.USD
		out.PeakMultiple = wire.Number(&peak)
	}
	if token != nil {
		out.Symbol = token.Token.Symbol
		if price := token.Figures().Price; price != nil {
			now := *price / c.Price.USD
			out.MultipleNow = wire.Number(&now)
		}
	}
	why.Note("peak_multiple", out.PeakMultiple != nil, "")
	why.Note("multiple_now", out.MultipleNow != nil, "")
	out.UnknownReasons = why.Unknown
	return out
}
