// Package trust checks whether tokens can be bought, sold and kept. It checks only tokens that the index knows,
// limits how many checks run at once and start per second, and keeps each report for a minute. The chain family
// decides how a token is checked (for EVM the folder evm); internal/trust turns the findings into results.
package trust

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const (
	// keep is how long a report stands, keepPartial one that lacks what a node would have told.
	keep        = 60 * time.Second
	keepPartial = 5 * time.Second
	// kept bounds the reports in memory.
	kept = 10_000
)

// The errors of Check.
var (
	// ErrNotIndexed: the index doesn't know the token.
	ErrNotIndexed = errors.New("the token isn't indexed")
	// ErrNoCode: there is no contract at the address.
	ErrNoCode = errors.New("there is no contract at the token's address")
	// ErrBusy: more checks were asked for than are allowed.
	ErrBusy = errors.New("too many checks")
	// ErrUnavailable: no check could be made.
	ErrUnavailable = errors.New("no check can be made")
)

// Looker looks at a token; each chain family has its own.
type Looker interface {
	// Look checks a token of which the index knows so much. Whole is false where a node would have told more. The error is ErrNoCode alone.
	Look(ctx context.Context, known *Known) (r *trust.Report, whole bool, err error)
}

// Index is what the checks need of what is indexed.
type Index interface {
	// Known is all that the index has of a token, and k.Token.Mint is mint; ok is false for a token that it doesn't have.
	Known(ctx context.Context, mint market.Address) (k Known, ok bool, err error)
}

// Known is a token as it is indexed.
type Known struct {
	Token market.Token
	// Block is the newest indexed block.
	Block market.Header
	// Launch is nil for a token that no declared venue launched.
	Launch *market.Launch
	// Pools are those whose base is the token, its curve among them.
	Pools []market.Pool
	// NativePools are those of the wrapped or native coin and another declared quote asset, whichever is the base. The
	// simulation gets in them what the token's own market takes.
	NativePools []market.Pool
	// USD is the price of the declared quote assets; one that has none is left out.
	USD map[market.Address]float64
	// Holders are the 32 largest of those that count as holders, the largest first.
	Holders []Holding
	// CreatorLaunches are the creator's launches on curves before this one; CreatorGraduated is how many of them left their curve.
	CreatorLaunches, CreatorGraduated int64
	// First is the oldest that is kept of what the token said of itself; nil when nothing is.
	First *market.TokenFact
	// FirstTrades are the trades of the launch's block, in the launch's curve or pool; HasFirstTrades is false when trades as
	// old are no longer kept.
	FirstTrades    []market.Trade
	HasFirstTrades bool
	// Siblings are up to four other tokens of the same venue, preferably by other creators.
	Siblings []market.Address
	// LastSales asks the index for the transactions of the newest sales of the token in a pool or on its curve, the newest first; nil where nobody can be asked.
	LastSales func(ctx context.Context, pool market.Address) ([]market.TxID, error)
}

// Holding is an account's balance.
type Holding struct {
	Account market.Address
	Amount  market.Amount
}

// Options are a checker's limits and dependencies. Zero values take the default.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// AtOnce and PerSecond cap the checks that are under way and begin.
	AtOnce    int
	PerSecond float64
	// Deadline bounds one check.
	Deadline time.Duration
	// GivenUp reports whether no check is made now, since what nodes may be asked for runs out; nil is never.
	GivenUp func() bool
}

// Checker checks the tokens of one chain.
type Checker struct {
	looker Looker
	index  Index
	o      Options

	limit  *rate.Limiter
	slots  chan struct{}
	flight singleflight.Group

	mu      sync.Mutex
	reports map[market.Address]entry
}

type entry struct {
	report *trust.Report
	until  time.Time
}

// New makes a checker. It asks nobody anything.
func New(looker Looker, index Index, o Options) *Checker {
	if o.AtOnce <= 0 {
		o.AtOnce = 4
	}
	if o.PerSecond <= 0 {
		o.PerSecond = 10
	}
	if o.Deadline <= 0 {
		o.Deadline = 5 * time.Second
	}
	return &Checker{
		looker: looker, index: index, o: o, reports: map[market.Address]entry{},
		limit: rate.NewLimiter(rate.Limit(o.PerSecond), max(o.AtOnce, int(o.PerSecond))), slots: make(chan struct{}, o.AtOnce),
	}
}

// GivenUp reports whether no check is made now.
func (c *Checker) GivenUp() bool { return c.o.GivenUp != nil && c.o.GivenUp() }

// Check is the token's report, at most a minute old. The error is one of the package's, or the context's.
func (c *Checker) Check(ctx context.Context, mint market.Address) (*trust.Report, error) {
	return c.ask(ctx, mint, c.guarded)
}

// CheckUnasked is Check for the indexer itself, which checks one token at a time: the caps are for what others ask, and must
// not keep it from its own.
func (c *Checker) CheckUnasked(ctx context.Context, mint market.Address) (*trust.Report, error) {
	return c.ask(ctx, mint, c.bounded)
}

// guarded makes a check if the caps allow one.
func (c *Checker) guarded(ctx context.Context, mint market.Address) (*trust.Report, error) {
	if !c.limit.AllowN(c.o.Now(), 1) {
		return nil, ErrBusy
	}
	select {
	case c.slots <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	defer func() { <-c.slots }()
	return c.bounded(ctx, mint)
}

func (c *Checker) bounded(ctx context.Context, mint market.Address) (*trust.Report, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Deadline)
	defer cancel()
	return c.check(ctx, mint)
}

func (c *Checker) ask(ctx context.Context, mint market.Address, check func(context.Context, market.Address) (*trust.Report, error),
) (*trust.Report, error) {
	if r := c.recall(mint); r != nil {
		return r, nil
	}
	// Whoever asked first may leave: the others still wait.
	done := c.flight.DoChan(mint.String(), func() (any, error) {
		if r := c.recall(mint); r != nil {
			return r, nil
		}
		if c.GivenUp() {
			return nil, ErrUnavailable
		}
		return check(ctx, mint)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		r, ok := res.Val.(*trust.Report)
		if !ok {
			return nil, ErrUnavailable
		}
		return r, nil
	}
}

func (c *Checker) recall(mint market.Address) *trust.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.reports[mint]; ok && c.o.Now().Before(e.until) {
		return e.report
	}
	return nil
}

func (c *Checker) remember(mint market.Address, r *trust.Report, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.o.Now()
	if len(c.reports) >= kept {
		for m, e := range c.reports {
			// What is left is whatever the map gives first.
			if !now.Before(e.until) || len(c.reports) >= kept {
				delete(c.reports, m)
			}
		}
	}
	until := now.Add(keep)
	if !whole {
		until = now.Add(keepPartial)
	}
	c.reports[mint] = entry{r, until}
}

func (c *Checker) check(ctx context.Context, mint market.Address) (*trust.Report, error) {
	ctx = rpc.For(ctx, budget.Trust)
	known, ok, err := c.index.Known(ctx, mint)
	if err != nil {
		c.o.Log.WarnContext(ctx, "token not checked", "mint", mint.String(), "err", err.Error())
		return nil, ErrUnavailable
	}
	if !ok {
		return nil, ErrNotIndexed
	}
	r, whole, err := c.looker.Look(ctx, &known)
	if err != nil {
		return nil, err
	}
	if s := r.Summary(); s.Unknown == len(r.Checks) {
		return nil, ErrUnavailable
	}
	c.remember(mint, r, whole)
	return r, nil
}

// Handler answers GET /trust/{mint} with the report as JSON. 400 is no address, 404 a token that isn't indexed or has no
// contract, 503 that no check can be made, or with Retry-After that too many are; the body of these is one word in the field
// "reason".
func (c *Checker) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /trust/{mint}", func(w http.ResponseWriter, req *http.Request) {
		mint, err := market.ParseEVMAddress(req.PathValue("mint"))
		if err != nil {
			answer(w, http.StatusBadRequest, "no_address")
			return
		}
		r, err := c.Check(req.Context(), mint)
		switch {
		case errors.Is(err, ErrNotIndexed):
			answer(w, http.StatusNotFound, "not_indexed")
		case errors.Is(err, ErrNoCode):
			answer(w, http.StatusNotFound, "no_code")
		case errors.Is(err, ErrBusy):
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusServiceUnavailable, "busy")
		case err != nil:
			answer(w, http.StatusServiceUnavailable, "unavailable")
		default:
			body, err := json.Marshal(r)
			if err != nil {
				answer(w, http.StatusInternalServerError, "internal")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	})
	return m
}

func answer(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"reason":"` + reason + `"}` + "\n"))
}
