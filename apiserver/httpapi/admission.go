package httpapi

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// admission lets a read of the database begin while fewer than so many are under way. Nobody waits: work that piles up
// would make all of it late. What is answered from memory, and the writing of answers, takes no place, so that neither a
// database that hangs nor slow clients keep others from what can be had.
type admission struct {
	LaunchReader

	tokens   TokenReader
	series   SeriesReader
	profiles ProfileReader
	places   chan struct{}
	// wallets are places within places.
	wallets chan struct{}
}

const (
	// maxWalletPlaces bounds what walletPlaces gives.
	maxWalletPlaces = 4
	// walletWait is how long others wait for that: most wallets take a few milliseconds, and a page shows many of them.
	walletWait = 2 * time.Second
)

// walletPlaces is how many wallets' trades are read at once on so many cores. One of many trades takes a core for a second: half of them
// are left to everybody else.
func walletPlaces(cores int) int { return min(max(cores/2, 1), maxWalletPlaces) }

func (g *admission) enter() error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
		return tooBusy()
	}
}

func (g *admission) leave() { <-g.places }

func (g *admission) Tokens(ctx context.Context, mint market.Address) ([]view.Token, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.tokens.Tokens(ctx, mint)
}

func (g *admission) TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]view.Token, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.tokens.TokensAt(ctx, mints)
}

func (g *admission) Search(ctx context.Context, in *view.Catalog, query string) (*view.Found, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.tokens.Search(ctx, in, query)
}

func (g *admission) Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency,
) (bars []candle.Bar, before candle.Bar, err error) {
	if err := g.enter(); err != nil {
		return nil, before, err
	}
	defer g.leave()
	return g.series.Bars(ctx, chain, pool, w, from, to, in)
}

func (g *admission) FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error) {
	if err := g.enter(); err != nil {
		return 0, false, err
	}
	defer g.leave()
	return g.series.FirstCandle(ctx, chain, pool)
}

func (g *admission) LaunchesAt(ctx context.Context, mint market.Address) ([]view.LaunchNow, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.LaunchReader.LaunchesAt(ctx, mint)
}

func (g *admission) BesideLaunch(ctx context.Context, l *view.LaunchNow) (*view.Beside, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.LaunchReader.BesideLaunch(ctx, l)
}

func (g *admission) LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error) {
	if err := g.enter(); err != nil {
		return nil, false, err
	}
	defer g.leave()
	return g.LaunchReader.LastReport(ctx, chain, mint)
}

func (g *admission) Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.profiles.Picture(ctx, chain, mint)
}

func (g *admission) WalletAt(ctx context.Context, wallet market.Address, chains []string, now int64) (*view.Wallet, error) {
	wait := time.NewTimer(walletWait)
	defer wait.Stop()
	select {
	case g.wallets <- struct{}{}:
		defer func() { <-g.wallets }()
	case <-wait.C:
		return nil, tooBusy()
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	return g.profiles.WalletAt(ctx, wallet, chains, now)
}
