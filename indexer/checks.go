package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// sweepPause is the time between two tokens that are checked unasked: a check is some 40 calls. Tokens below sweptUSD of
	// volume in 24 hours are far from any gate.
	sweepPause = 10 * time.Second
	sweptUSD   = 2500
	// recheckAfter is the age at which a traded token's report is made anew; tradedWithin is how long ago a token may have
	// been traded last for anybody to want one.
	recheckAfter, tradedWithin = 15 * time.Minute, 30 * time.Minute
	// siblings is how many other tokens of a venue are looked at, among its newest.
	siblings = 4
	// knownHolders is how many of the largest holders a check knows.
	knownHolders = 32
)

// knowledge is what the index has of a chain's tokens, for the checks.
type knowledge struct {
	cfg    *chainconfig.Chain
	rows   *indexID
	store  *store.Store
	quotes []market.Address // declared ones, the wrapped coin among them
}

func newKnowledge(cfg *chainconfig.Chain, rows *indexID, st *store.Store) *knowledge {
	k := &knowledge{cfg: cfg, rows: rows, store: st}
	for _, q := range cfg.Quotes {
		k.quotes = append(k.quotes, q.Address)
	}
	return k
}

// Known gathers what is indexed of a token.
func (k *knowledge) Known(ctx context.Context, mint market.Address) (out trust.Known, ok bool, err error) {
	tokens, err := k.store.Tokens.Now(ctx, []market.Address{mint})
	if err != nil {
		return out, false, err
	}
	i := slices.IndexFunc(tokens, func(t store.TokenNow) bool { return t.Chain == k.rows.id() })
	if i < 0 {
		return out, false, nil
	}
	out.Token = tokens[i].Token
	out.Block = market.Header{Number: tokens[i].Block, Hash: tokens[i].Hash, Time: tokens[i].Time}
	if err := k.pools(ctx, mint, &out); err != nil {
		return out, false, err
	}
	holders, err := k.store.Balances.Top(ctx, k.rows.id(), mint, knownHolders)
	if err != nil {
		return out, false, err
	}
	for _, h := range holders {
		out.Holders = append(out.Holders, trust.Holding{Account: h.Account, Amount: h.Amount})
	}
	if first, has, err := k.store.Facts.FirstOfToken(ctx, k.rows.id(), mint); err != nil {
		return out, false, err
	} else if has {
		out.First = &first
	}
	return out, true, k.launch(ctx, mint, &out)
}

// pools finds the token's own and those in which what they take can be had for the native coin.
func (k *knowledge) pools(ctx context.Context, mint market.Address, out *trust.Known) error {
	found, err := k.store.Pools.Now(ctx, append([]market.Address{mint}, k.quotes...))
	if err != nil {
		return err
	}
	out.USD = map[market.Address]float64{}
	for i := range found {
		p := &found[i]
		switch {
		case p.Chain != k.rows.id():
		case p.Base == mint:
			out.Pools = append(out.Pools, p.Pool)
		default:
			out.NativePools = append(out.NativePools, p.Pool)
		}
	}
	quotes, err := k.store.Pools.Quotes(ctx)
	for _, q := range quotes[k.rows.id()] {
		if q.USD > 0 {
			out.USD[q.Asset] = q.USD
		}
	}
	return err
}

// launch adds what follows from the token's launch, if a venue launched it.
func (k *knowledge) launch(ctx context.Context, mint market.Address, out *trust.Known) error {
	launches, err := k.store.Launches.At(ctx, []market.Address{mint})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(launches, func(l store.LaunchNow) bool { return l.Chain == k.rows.id() })
	if i < 0 {
		return nil
	}
	l := &launches[i].Launch
	out.Launch = l
	if out.CreatorLaunches, out.CreatorGraduated, err = k.store.Launches.CurvesBefore(ctx, k.rows.id(), l); err != nil {
		return err
	}
	if out.Siblings, err = k.store.Launches.Siblings(ctx, k.rows.id(), l, siblings); err != nil {
		return err
	}
	keep := int64(time.Duration(k.cfg.Retention.Trades).Seconds())
	if out.HasFirstTrades = keep == 0 || out.Block.Time-l.CreatedAt < keep; !out.HasFirstTrades {
		return nil
	}
	pool := market.CurveID(mint)
	if l.Curve.IsNone() {
		pool = l.Pool
	}
	const enough = 1000
	trades, err := k.store.Trades.Of(ctx, k.rows.id(), pool, l.CreatedAt, l.CreatedAt+1, enough)
	for i := range trades {
		if trades[i].Block == l.Block {
			out.FirstTrades = append(out.FirstTrades, trades[i])
		}
	}
	return err
}

// Check is a token's trust report; the error is one of package trust's, or the context's.
func (ix *Indexer) Check(ctx context.Context, mint market.Address) (*report.Report, error) {
	return ix.checker.Check(ctx, mint)
}

// ChecksHandler answers GET /trust/{mint} with a token's trust report as JSON.
func (ix *Indexer) ChecksHandler() http.Handler { return ix.checker.Handler() }

// sweep checks launched tokens that are traded, one after the other, and keeps the reports: the board holds them against
// its gate, and the API answers with them while no check can be made. It shares the checker's cache and not its caps, which are for others.
type sweep struct {
	checker *trust.Checker
	store   *store.Store
	now     func() time.Time
	log     *slog.Logger
	pause   time.Duration
	// failed is the token whose last check failed: others have their turn before it is tried again.
	failed market.Address
}

func (s *sweep) run(ctx context.Context, l *store.Lease) {
	failing := false
	for wait.For(ctx, s.pause) {
		err := s.next(ctx, l)
		if err != nil && ctx.Err() == nil && !failing {
			s.log.WarnContext(ctx, "launched tokens not checked", "err", err.Error())
		}
		failing = err != nil
	}
}

// next checks the token that has waited longest.
func (s *sweep) next(ctx context.Context, l *store.Lease) error {
	if s.checker.GivenUp() {
		return nil
	}
	now := s.now()
	volume := *uint256.NewInt(sweptUSD * 1e9)
	due, err := s.store.Trust.Due(ctx, l.Chain, now.Add(-recheckAfter).Unix(), now.Add(-tradedWithin).Unix(), volume, 2)
	if err != nil || len(due) == 0 {
		return err
	}
	if len(due) == 2 && due[0] == s.failed {
		due = due[1:]
	}
	s.failed = market.Address{}
	r, err := s.checker.CheckUnasked(ctx, due[0])
	if errors.Is(err, trust.ErrBusy) {
		return nil // somebody asked for the same at this moment, and was refused
	}
	row := store.TrustRow{Mint: due[0], CheckedAt: now.Unix(), Verdict: string(report.VerdictUnknown), Report: []byte("null")}
	switch {
	case errors.Is(err, trust.ErrNotIndexed), errors.Is(err, trust.ErrNoCode):
		// Its report is that there is none, so that it isn't asked for again at once.
	case err != nil:
		s.failed = due[0]
		return err
	default:
		if row.Report, err = json.Marshal(r); err != nil {
			return err
		}
		row.CheckedAt, row.Critical, row.Verdict = r.CheckedAt.Unix(), r.Critical(), string(r.Verdict())
		former, ok, err := s.store.Trust.At(ctx, l.Chain, due[0])
		if err != nil {
			return err
		}
		if ok && former.Critical && !row.Critical && r.Inconclusive() {
			row.Critical, row.Verdict, row.Report = true, former.Verdict, former.Report
		}
	}
	return s.store.Trust.Save(ctx, l, []store.TrustRow{row})
}
