package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
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
	// A check may ask for lastSales of a token's newest sales. They are looked for among its newest amongTrades trades with a known worth in USD, which are no older than
	// withinSeconds.
	lastSales, amongTrades, withinSeconds = 3, 200, 7 * 86_400
)

// Knowledge is what the index has of a chain's tokens, for the checks.
type Knowledge struct {
	cfg    *chainconfig.Chain
	index  func() string
	store  *store.Store
	quotes []market.Address // declared ones, the wrapped coin among them
}

// NewKnowledge makes the knowledge of the index that index names, from its rows in a store.
func NewKnowledge(cfg *chainconfig.Chain, index func() string, st *store.Store) *Knowledge {
	k := &Knowledge{cfg: cfg, index: index, store: st}
	for _, q := range cfg.Quotes {
		k.quotes = append(k.quotes, q.Address)
	}
	return k
}

// Known gathers what is indexed of a token.
func (k *Knowledge) Known(ctx context.Context, mint market.Address) (out trust.Known, ok bool, err error) {
	tokens, err := k.store.Tokens.Now(ctx, []market.Address{mint})
	if err != nil {
		return out, false, err
	}
	i := slices.IndexFunc(tokens, func(t store.TokenNow) bool { return t.Chain == k.index() })
	if i < 0 {
		return out, false, nil
	}
	out.Token = tokens[i].Token
	out.Block = market.Header{Number: tokens[i].Block, Hash: tokens[i].Hash, Time: tokens[i].Time}
	if err := k.pools(ctx, mint, &out); err != nil {
		return out, false, err
	}
	holders, err := k.store.Balances.Top(ctx, k.index(), mint, knownHolders)
	if err != nil {
		return out, false, err
	}
	for _, h := range holders {
		out.Holders = append(out.Holders, trust.Holding{Account: h.Account, Amount: h.Amount})
	}
	if first, has, err := k.store.Facts.FirstOfToken(ctx, k.index(), mint); err != nil {
		return out, false, err
	} else if has {
		out.First = &first
	}
	out.LastSales = func(ctx context.Context, pool market.Address) ([]market.TxID, error) {
		return k.lastSales(ctx, mint, pool, out.Block.Time-withinSeconds)
	}
	return out, true, k.launch(ctx, mint, &out)
}

// lastSales finds the transactions of a token's newest sales in a pool, with a time of at least since.
func (k *Knowledge) lastSales(ctx context.Context, mint, pool market.Address, since int64) (out []market.TxID, err error) {
	trades, err := k.store.Trades.FlowsOf(ctx, k.index(), mint, []market.Address{pool}, since, amongTrades)
	for _, t := range slices.Backward(trades) { // the oldest comes first
		if t.Sell && len(out) < lastSales && !slices.Contains(out, t.Tx) {
			out = append(out, t.Tx)
		}
	}
	return out, err
}

// pools finds the token's own and those in which what they take can be had for the native coin.
func (k *Knowledge) pools(ctx context.Context, mint market.Address, out *trust.Known) error {
	found, err := k.store.Pools.Now(ctx, append([]market.Address{mint}, k.quotes...))
	if err != nil {
		return err
	}
	out.USD = map[market.Address]float64{}
	for i := range found {
		p := &found[i]
		switch {
		case p.Chain != k.index():
		case p.Base == mint:
			out.Pools = append(out.Pools, p.Pool)
		default:
			out.NativePools = append(out.NativePools, p.Pool)
		}
	}
	quotes, err := k.store.Pools.Quotes(ctx)
	for _, q := range quotes[k.index()] {
		if q.USD > 0 {
			out.USD[q.Asset] = q.USD
		}
	}
	return err
}

// launch adds what follows from the token's launch, if a venue launched it.
func (k *Knowledge) launch(ctx context.Context, mint market.Address, out *trust.Known) error {
	launches, err := k.store.Launches.At(ctx, []market.Address{mint})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(launches, func(l store.LaunchNow) bool { return l.Chain == k.index() })
	if i < 0 {
		return nil
	}
	l := &launches[i].Launch
	out.Launch = l
	if out.CreatorLaunches, out.CreatorGraduated, err = k.store.Launches.CurvesBefore(ctx, k.index(), l); err != nil {
		return err
	}
	if out.Siblings, err = k.store.Launches.Siblings(ctx, k.index(), l, siblings); err != nil {
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
	trades, err := k.store.Trades.Of(ctx, k.index(), pool, l.CreatedAt, l.CreatedAt+1, enough)
	for i := range trades {
		if trades[i].Block == l.Block {
			out.FirstTrades = append(out.FirstTrades, trades[i])
		}
	}
	return err
}

// Sweep checks launched tokens that are traded, one after the other, and keeps the reports: the board holds them against
// its gate, and the API answers with them while no check can be made. It shares the checker's cache and not its caps, which are for others.
type Sweep struct {
	SweepOptions

	// failed is the token whose last check failed: others have their turn before it is tried again.
	failed market.Address
}

// SweepOptions are what a sweep works with.
type SweepOptions struct {
	Checker *trust.Checker
	Reports store.Trust
	// Pause is the time between two tokens; 0 is 10 s.
	Pause time.Duration
	Now   func() time.Time
	Log   *slog.Logger
}

// NewSweep makes a sweep.
func NewSweep(o SweepOptions) *Sweep {
	o.Pause = cmp.Or(o.Pause, sweepPause)
	return &Sweep{SweepOptions: o}
}

// Run checks one token after the other until ctx ends.
func (s *Sweep) Run(ctx context.Context, l *store.Lease) {
	failing := false
	for wait.For(ctx, s.Pause) {
		err := s.next(ctx, l)
		if err != nil && ctx.Err() == nil && !failing {
			s.Log.WarnContext(ctx, "launched tokens not checked", "err", err.Error())
		}
		failing = err != nil
	}
}

// next checks the token that has waited longest.
func (s *Sweep) next(ctx context.Context, l *store.Lease) error {
	if s.Checker.GivenUp() {
		return nil
	}
	now := s.Now()
	volume := *uint256.NewInt(sweptUSD * 1e9)
	due, err := s.Reports.Due(ctx, l.Chain, now.Add(-recheckAfter).Unix(), now.Add(-tradedWithin).Unix(), volume, 2)
	if err != nil || len(due) == 0 {
		return err
	}
	if len(due) == 2 && due[0] == s.failed {
		due = due[1:]
	}
	s.failed = market.Address{}
	r, err := s.Checker.CheckUnasked(ctx, due[0])
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
		former, ok, err := s.Reports.At(ctx, l.Chain, due[0])
		if err != nil {
			return err
		}
		if ok && former.Critical && !row.Critical && r.Inconclusive() {
			row.Critical, row.Verdict, row.Report = true, former.Verdict, former.Report
		}
	}
	return s.Reports.Save(ctx, l, []store.TrustRow{row})
}
