package read

import (
	"context"
	"errors"
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
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// ErrBusy means that as many reads are under way as may be.
var ErrBusy = errors.New("too many reads are under way")

// Admission limits how many database reads are under way at once. A read beyond the limit fails at once instead of
// waiting: a queue would make every answer late. Answers from memory, and the writing of answers, need no admission,
// so that neither a database that hangs nor slow clients block them.
type Admission struct {
	places chan struct{}
	// wallets are places within places.
	wallets chan struct{}
}

const (
	// maxWalletPlaces bounds what walletPlaces gives.
	maxWalletPlaces = 4
	// walletWait is how long others wait for that: most wallets take a few milliseconds, and a page shows many of them.
	walletWait = 2 * time.Second
)

// NewAdmission lets so many reads be under way at once, on a machine of so many cores.
func NewAdmission(places, cores int) *Admission {
	return &Admission{places: make(chan struct{}, places), wallets: make(chan struct{}, walletPlaces(cores))}
}

// walletPlaces is how many wallets' trades are read at once on so many cores. One of many trades takes a core for a second: half of them
// are left to everybody else.
func walletPlaces(cores int) int { return min(max(cores/2, 1), maxWalletPlaces) }

// Readers are readers that read by admission; the errors of those that aren't admitted are ErrBusy.
func (a *Admission) Readers(r Readers) Readers {
	return Readers{
		Snapshots: r.Snapshots, Tokens: admittedTokens{r.Tokens, a}, Pairs: admittedPairs{r.Pairs, a}, Series: admittedSeries{r.Series, a},
		Launches: admittedLaunches{r.Launches, a}, Profiles: admittedProfiles{r.Profiles, a},
		Profit: admittedProfit{r.Profit, a}, Stream: admittedStream{r.Stream, a}, Totals: admittedTotals{r.Totals, a},
	}
}

// enter takes a place, which leave gives back.
func (a *Admission) enter() error {
	select {
	case a.places <- struct{}{}:
		return nil
	default:
		return ErrBusy
	}
}

func (a *Admission) leave() { <-a.places }

// admit reads a value if there is a place for that.
func admit[T any](a *Admission, read func() (T, error)) (out T, err error) {
	if err = a.enter(); err != nil {
		return out, err
	}
	defer a.leave()
	return read()
}

type admittedTokens struct {
	of Tokens
	*Admission
}

func (a admittedTokens) Tokens(ctx context.Context, mint market.Address) ([]figures.Token, error) {
	return admit(a.Admission, func() ([]figures.Token, error) { return a.of.Tokens(ctx, mint) })
}

func (a admittedTokens) TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]figures.Token, error) {
	return admit(a.Admission, func() (map[market.Address][]figures.Token, error) { return a.of.TokensAt(ctx, mints) })
}

func (a admittedTokens) TokensWithin(ctx context.Context, mints []market.Address, age time.Duration) (map[market.Address][]figures.Token, error) {
	return admit(a.Admission, func() (map[market.Address][]figures.Token, error) { return a.of.TokensWithin(ctx, mints, age) })
}

type admittedPairs struct {
	of Pairs
	*Admission
}

func (a admittedPairs) Ticker(in *declared.Catalog, ticker string) (t TokenAt, ok bool) {
	return a.of.Ticker(in, ticker)
}

func (a admittedPairs) ChainsOf(in *declared.Catalog, mint market.Address) []string {
	return a.of.ChainsOf(in, mint)
}

func (a admittedPairs) Search(ctx context.Context, in *declared.Catalog, query string) (*pairs.Found, error) {
	return admit(a.Admission, func() (*pairs.Found, error) { return a.of.Search(ctx, in, query) })
}

type admittedSeries struct {
	of Series
	*Admission
}

func (a admittedSeries) Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency,
) (bars []candle.Bar, before candle.Bar, err error) {
	if err := a.enter(); err != nil {
		return nil, before, err
	}
	defer a.leave()
	return a.of.Bars(ctx, chain, pool, w, from, to, in)
}

func (a admittedSeries) FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error) {
	if err := a.enter(); err != nil {
		return 0, false, err
	}
	defer a.leave()
	return a.of.FirstCandle(ctx, chain, pool)
}

type admittedLaunches struct {
	Launches
	*Admission
}

func (a admittedLaunches) LaunchesAt(ctx context.Context, mint market.Address) ([]boards.LaunchNow, error) {
	return admit(a.Admission, func() ([]boards.LaunchNow, error) { return a.Launches.LaunchesAt(ctx, mint) })
}

func (a admittedLaunches) BesideLaunch(ctx context.Context, l *boards.LaunchNow) (*boards.Beside, error) {
	return admit(a.Admission, func() (*boards.Beside, error) { return a.Launches.BesideLaunch(ctx, l) })
}

func (a admittedLaunches) BuyersOf(ctx context.Context, t *figures.Token) (*boards.Buyers, error) {
	return admit(a.Admission, func() (*boards.Buyers, error) { return a.Launches.BuyersOf(ctx, t) })
}

type admittedProfit struct {
	of Profit
	*Admission
}

func (a admittedProfit) Board(ctx context.Context, chains []profit.Chain, to int64, provedAlone bool) (b *profit.Board, stale bool, err error) {
	if err := a.enter(); err != nil {
		return nil, false, err
	}
	defer a.leave()
	return a.of.Board(ctx, chains, to, provedAlone)
}

func (a admittedProfit) Series(ctx context.Context, chains []profit.Chain, span profit.Span) (s *profit.Series, stale bool, err error) {
	if err := a.enter(); err != nil {
		return nil, false, err
	}
	defer a.leave()
	return a.of.Series(ctx, chains, span)
}

func (a admittedProfit) FirstHour(ctx context.Context, chains []profit.Chain) (open int64, ok bool, err error) {
	if err := a.enter(); err != nil {
		return 0, false, err
	}
	defer a.leave()
	return a.of.FirstHour(ctx, chains)
}

type admittedStream struct {
	of Stream
	*Admission
}

func (a admittedStream) Last(ctx context.Context) (int64, error) {
	return admit(a.Admission, func() (int64, error) { return a.of.Last(ctx) })
}

func (a admittedStream) OlderTrades(ctx context.Context, below int64, token market.Address, limit int) (list []*stream.Trade, next int64, err error) {
	if err := a.enter(); err != nil {
		return nil, 0, err
	}
	defer a.leave()
	return a.of.OlderTrades(ctx, below, token, limit)
}

func (a admittedStream) OlderRunning(ctx context.Context, below int64, limit int) (list []stream.Launch, next int64, err error) {
	if err := a.enter(); err != nil {
		return nil, 0, err
	}
	defer a.leave()
	return a.of.OlderRunning(ctx, below, limit)
}

func (a admittedStream) Notes(ctx context.Context, trades []*stream.Trade) (map[*stream.Trade]*member.Post, error) {
	return admit(a.Admission, func() (map[*stream.Trade]*member.Post, error) { return a.of.Notes(ctx, trades) })
}

func (a admittedStream) Calls(ctx context.Context, list []stream.Call) (map[int64]member.Call, error) {
	return admit(a.Admission, func() (map[int64]member.Call, error) { return a.of.Calls(ctx, list) })
}

func (a admittedStream) Critical(ctx context.Context, tokens []TokenAt) (map[TokenAt]bool, error) {
	return admit(a.Admission, func() (map[TokenAt]bool, error) { return a.of.Critical(ctx, tokens) })
}

func (a admittedStream) Closes(ctx context.Context, minutes []stream.Minute, ended func(stream.Minute) bool, final int64) (map[stream.Minute]float64, error) {
	return admit(a.Admission, func() (map[stream.Minute]float64, error) { return a.of.Closes(ctx, minutes, ended, final) })
}

type admittedTotals struct {
	of Totals
	*Admission
}

func (a admittedTotals) Counts(ctx context.Context, chains []string) (totals.Counts, error) {
	return admit(a.Admission, func() (totals.Counts, error) { return a.of.Counts(ctx, chains) })
}

type admittedProfiles struct {
	of Profiles
	*Admission
}

func (a admittedProfiles) LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error) {
	if err := a.enter(); err != nil {
		return nil, false, err
	}
	defer a.leave()
	return a.of.LastReport(ctx, chain, mint)
}

func (a admittedProfiles) Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error) {
	return admit(a.Admission, func() ([]byte, error) { return a.of.Picture(ctx, chain, mint) })
}

// WalletAt waits for a wallet's place, and then takes one of all readers' places.
func (a admittedProfiles) WalletAt(ctx context.Context, wallet market.Address, chains []string, now int64) (*Wallet, error) {
	wait := time.NewTimer(walletWait)
	defer wait.Stop()
	select {
	case a.wallets <- struct{}{}:
		defer func() { <-a.wallets }()
	case <-wait.C:
		return nil, ErrBusy
	}
	return admit(a.Admission, func() (*Wallet, error) { return a.of.WalletAt(ctx, wallet, chains, now) })
}
