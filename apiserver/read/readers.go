package read

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/pairs"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/read/totals"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// Readers are what handlers read through.
type Readers struct {
	Snapshots Snapshots
	Tokens    Tokens
	Pairs     Pairs
	Series    Series
	Launches  Launches
	Profiles  Profiles
	Profit    Profit
	Stream    Stream
	Totals    Totals
}

// Snapshots has what is in memory: the catalogue and what is hot.
type Snapshots interface {
	Snapshot() *Snapshot
}

// Tokens finds tokens.
type Tokens interface {
	// Tokens lists the tokens at an address on all chains, declared or not, those with a launch record first, then by
	// liquidity, deepest first.
	Tokens(ctx context.Context, mint market.Address) ([]figures.Token, error)
	// TokensAt is Tokens for several addresses.
	TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]figures.Token, error)
	// TokensWithin is TokensAt for who is content with what was read up to an age ago.
	TokensWithin(ctx context.Context, mints []market.Address, age time.Duration) (map[market.Address][]figures.Token, error)
}

// Pairs finds pairs by a name, a ticker or an address on the chains of a catalogue.
type Pairs interface {
	// Ticker finds the token that has a ticker; ok is false unless exactly one token on the chains of a catalogue has it. It reads nothing.
	Ticker(in *declared.Catalog, ticker string) (t TokenAt, ok bool)
	// ChainsOf lists the chains of a catalogue on which a token has an address. It reads nothing.
	ChainsOf(in *declared.Catalog, mint market.Address) []string
	Search(ctx context.Context, in *declared.Catalog, query string) (*pairs.Found, error)
}

// Series makes series of a pool's prices.
type Series interface {
	// Bars gives a pool's bars in [from, to), and the newest bar before from; that bar's close is 0 if there is none.
	Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency) (
		bars []candle.Bar, before candle.Bar, err error)
	FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error)
}

// Launches reads what is known of launches.
type Launches interface {
	// LaunchesAt lists the launches of the tokens at an address on all chains, declared or not.
	LaunchesAt(ctx context.Context, mint market.Address) ([]boards.LaunchNow, error)
	BesideLaunch(ctx context.Context, l *boards.LaunchNow) (*boards.Beside, error)
	// BuyersOf tells who bought a token of late; nil where it wasn't launched.
	BuyersOf(ctx context.Context, t *figures.Token) (*boards.Buyers, error)
	// CardNow is the card of a launch; ok is false when its venue isn't declared. It reads nothing.
	CardNow(kept *boards.Board, in *declared.Catalog, l *boards.LaunchNow, t *figures.Token, beside *boards.Beside) (card boards.Shown, ok bool)
}

// Profiles reads what is shown beside figures.
type Profiles interface {
	// LastReport is a token's stored trust report; ok is false when there is none.
	LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error)
	// Picture is a token's picture, a PNG; nil when there is none.
	Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error)
	// WalletAt is what a wallet realised on some chains up to a moment (Unix seconds); nil without a trade on them.
	WalletAt(ctx context.Context, wallet market.Address, chains []string, now int64) (*Wallet, error)
}

// Profit reads what members realised, and which tokens they are in. stale says that it is an old answer, since there is no new one for now.
type Profit interface {
	Board(ctx context.Context, chains []profit.Chain, to int64, provedAlone bool) (b *profit.Board, stale bool, err error)
	Series(ctx context.Context, chains []profit.Chain, span profit.Span) (s *profit.Series, stale bool, err error)
	// FirstHour is when the first hour opens in which a member's wallet did anything; ok is false where none did.
	FirstHour(ctx context.Context, chains []profit.Chain) (open int64, ok bool, err error)
}

// Stream reads of the stream what no snapshot has.
type Stream interface {
	// Last is the highest number that was taken.
	Last(ctx context.Context) (int64, error)
	// OlderTrades lists trades with numbers below one, the newest first, of up to limit items; next is the number below which older ones are, 0 where there
	// are none. token, if it isn't none, asks for those of the token at an address.
	OlderTrades(ctx context.Context, below int64, token market.Address, limit int) (list []*stream.Trade, next int64, err error)
	OlderRunning(ctx context.Context, below int64, limit int) (list []stream.Launch, next int64, err error)
	// Calls reads how some calls stand, by the calls' own numbers. It leaves out calls that aren't there.
	Calls(ctx context.Context, list []stream.Call) (map[int64]member.Call, error)
	// Notes are the posts that are notes on some trades.
	Notes(ctx context.Context, trades []*stream.Trade) (map[*stream.Trade]*member.Post, error)
	// Critical says of which of some tokens a critical trust check failed.
	Critical(ctx context.Context, tokens []TokenAt) (map[TokenAt]bool, error)
	// Closes are the closes of some minutes in USD, as far as they are known; of one that hasn't ended the close before it. final is the time (unix seconds) before
	// which none changes any more.
	Closes(ctx context.Context, minutes []stream.Minute, ended func(stream.Minute) bool, final int64) (map[stream.Minute]float64, error)
}

// Totals counts what the indexes of some chains have together.
type Totals interface {
	Counts(ctx context.Context, chains []string) (totals.Counts, error)
}

// TokenAt names a token of a chain.
type TokenAt = store.TokenAt

// Readers are the interfaces through which handlers read what the view reads.
func (v *View) Readers() Readers {
	return Readers{Snapshots: v, Tokens: v.tokens, Pairs: v.pairs, Series: v.series, Launches: v.launches, Profiles: v, Profit: v.profit, Stream: v.older, Totals: v.totals}
}
