package indexer

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Metrics are what the indexers of a process report. A nil one reports nothing.
type Metrics struct {
	heads, blocks, times *prometheus.GaugeVec
	budgets, inFlight    *prometheus.GaugeVec
	unitBudgets          *prometheus.GaugeVec
	calls, failures      *prometheus.CounterVec
	requests             *prometheus.CounterVec
	units                *prometheus.CounterVec
	givenUp, behind      *prometheus.GaugeVec
	lacking              *prometheus.GaugeVec
	trades, reorgs       *prometheus.CounterVec
	reorgDepth, commits  *prometheus.HistogramVec
	described, asides    *prometheus.CounterVec
	waiting              *prometheus.GaugeVec
	dropped              *prometheus.CounterVec
	watched, reading     *prometheus.GaugeVec
	entries              *prometheus.CounterVec
	fees                 *prometheus.CounterVec
}

// NewMetrics registers the indexers' metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"chain"})
		r.MustRegister(h)
		return h
	}
	return &Metrics{
		heads:   gauge("boardwalk_chain_head_block", "Newest block that the chain's nodes announced.", "chain"),
		blocks:  gauge("boardwalk_indexed_block", "Newest indexed block.", "chain"),
		times:   gauge("boardwalk_indexed_block_time_seconds", "Unix time of the newest indexed block.", "chain"),
		budgets: gauge("boardwalk_rpc_budget_calls", "Calls that an endpoint may be sent in a day (UTC); absent without a cap.", "chain", "endpoint"),
		unitBudgets: gauge("boardwalk_rpc_budget_units", "Compute units that an endpoint may be asked for in a day (UTC); absent without a cap.",
			"chain", "endpoint"),
		units:    counter("boardwalk_rpc_units_total", "Compute units of the JSON-RPC calls sent.", "chain", "endpoint"),
		inFlight: gauge("boardwalk_rpc_answer_bytes", "Bytes of nodes' answers that are being read or decoded.", "chain"),
		calls:    counter("boardwalk_rpc_calls_total", "JSON-RPC calls sent.", "chain", "endpoint"),
		requests: counter("boardwalk_rpc_requests_total", "Requests to an endpoint; each has one JSON-RPC call or several.", "chain", "endpoint"),
		failures: counter("boardwalk_rpc_failures_total", "Requests to an endpoint that failed.", "chain", "endpoint"),
		givenUp: gauge("boardwalk_given_up", "Whether nodes aren't asked for something (1), since what is left of the day wouldn't last.",
			"chain", "what"),
		lacking:   gauge("boardwalk_missing_blocks", "Blocks before which an index has waited for ten minutes, since no endpoint has them.", "chain"),
		behind:    gauge("boardwalk_behind_plan", "Whether the endpoints allow too little for the chain's blocks (1).", "chain"),
		trades:    counter("boardwalk_trades_total", "Trades committed.", "chain"),
		reorgs:    counter("boardwalk_reorgs_total", "Reorgs undone.", "chain"),
		described: counter("boardwalk_metadata_total", "Tokens whose metadata was fetched, or why not.", "chain", "outcome"),
		asides: counter("boardwalk_set_aside_total", "Tokens, pools, curves, contracts and blocks with a fault that indexing went on without, and trades of pools of which nobody told.",
			"chain", "kind", "reason"),
		waiting: gauge("boardwalk_waiting_trades", "Trades that wait until their pools' liquidity is known.", "chain"),
		dropped: counter("boardwalk_waiting_trades_dropped_total", "Trades that waited for their pools' liquidity in vain: there were too many of the pool or "+
			"of the chain, or they had waited for too long.", "chain", "reason"),
		watched: gauge("boardwalk_watched_wallets", "Members' wallets whose trades and transfers are kept.", "chain"),
		reading: gauge("boardwalk_wallet_pasts", "Members' wallets of which it is being read what they did before they were watched.", "chain"),
		entries: counter("boardwalk_wallet_entries_total", "Purchases, sales, receipts and sendings of members' wallets that were committed.", "chain"),
		fees: counter("boardwalk_platform_fees_total", "Payments of members in quote assets to recipients of the platform's fee: the declared share of what was traded, or "+
			"another amount.", "chain", "amount"),
		reorgDepth: histogram("boardwalk_reorg_depth_blocks", "Blocks undone by a reorg.", []float64{1, 2, 4, 8, 16, 32, 64, 128}),
		commits: histogram("boardwalk_commit_duration_seconds", "From a block at hand to its commit.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}),
	}
}

func (m *Metrics) rpc(chain string) func(endpoint string, spent budget.Spent, err error) {
	if m == nil {
		return nil
	}
	return func(endpoint string, spent budget.Spent, err error) {
		m.requests.WithLabelValues(chain, endpoint).Inc()
		m.calls.WithLabelValues(chain, endpoint).Add(float64(spent.Calls))
		m.units.WithLabelValues(chain, endpoint).Add(float64(spent.Units))
		if err != nil {
			m.failures.WithLabelValues(chain, endpoint).Inc()
		}
	}
}

func (m *Metrics) answers(chain string) func(bytes int64) {
	if m == nil {
		return nil
	}
	g := m.inFlight.WithLabelValues(chain)
	return func(bytes int64) { g.Set(float64(bytes)) }
}

func (m *Metrics) pasts(chain string) func(wallets int) {
	if m == nil {
		return func(int) {}
	}
	return func(wallets int) { m.reading.WithLabelValues(chain).Set(float64(wallets)) }
}

func (m *Metrics) metadata(chain string) func(metadata.Outcome) {
	if m == nil {
		return nil
	}
	return func(o metadata.Outcome) { m.described.WithLabelValues(chain, string(o)).Inc() }
}

func (m *Metrics) missing(chain string, blocks uint64) {
	if m != nil {
		m.lacking.WithLabelValues(chain).Set(float64(blocks))
	}
}

// budget tells the endpoints' daily caps.
func (m *Metrics) budget(c *chainconfig.Chain) {
	if m == nil {
		return
	}
	for i, e := range c.Endpoints {
		if e.RequestsPerDay > 0 {
			m.budgets.WithLabelValues(c.ID, rpc.EndpointName(i)).Set(float64(e.RequestsPerDay))
		}
		if e.ComputeUnitsPerDay > 0 {
			m.unitBudgets.WithLabelValues(c.ID, rpc.EndpointName(i)).Set(float64(e.ComputeUnitsPerDay))
		}
	}
}

// plan tells what is given up, and whether the chain can't keep up with its endpoints' plans.
func (m *Metrics) plan(chain string, behind bool, givesUp func(budget.Purpose) bool) {
	if m == nil {
		return
	}
	one := map[bool]float64{true: 1}
	m.behind.WithLabelValues(chain).Set(one[behind])
	for _, p := range budget.Purposes() {
		if p != budget.Blocks {
			m.givenUp.WithLabelValues(chain, p.String()).Set(one[givesUp(p)])
		}
	}
}

// forget takes away what an index reported that is no longer made under this name.
func (m *Metrics) forget(chain string) {
	if m == nil {
		return
	}
	of := prometheus.Labels{"chain": chain}
	for _, v := range []interface {
		DeletePartialMatch(labels prometheus.Labels) int
	}{
		m.heads, m.blocks, m.times, m.trades, m.reorgs, m.reorgDepth, m.commits, m.asides, m.waiting, m.dropped, m.watched, m.entries, m.fees, m.lacking,
	} {
		v.DeletePartialMatch(of)
	}
}

func (m *Metrics) head(chain string, number uint64) {
	if m != nil {
		m.heads.WithLabelValues(chain).Set(float64(number))
	}
}

func (m *Metrics) reorg(chain string, depth uint64) {
	if m != nil {
		m.reorgs.WithLabelValues(chain).Inc()
		m.reorgDepth.WithLabelValues(chain).Observe(float64(depth))
	}
}

func (m *Metrics) setAside(chain, kind, reason string) {
	if m != nil {
		m.asides.WithLabelValues(chain, kind, reason).Inc()
	}
}

// holds counts what a state holds after a commit.
type holds struct{ waitingTrades, watchedWallets int }

func (m *Metrics) commit(chain string, last market.Header, c *market.Changes, now holds, took time.Duration) {
	if m == nil {
		return
	}
	m.blocks.WithLabelValues(chain).Set(float64(last.Number))
	m.times.WithLabelValues(chain).Set(float64(last.Time))
	m.trades.WithLabelValues(chain).Add(float64(len(c.Trades)))
	m.commits.WithLabelValues(chain).Observe(took.Seconds())
	m.waiting.WithLabelValues(chain).Set(float64(now.waitingTrades))
	m.watched.WithLabelValues(chain).Set(float64(now.watchedWallets))
	m.entries.WithLabelValues(chain).Add(float64(len(c.Entries)))
	for i := range c.Fees {
		if !c.Fees[i].HasUSD {
			continue // a token that is no quote asset may say anything
		}
		amount := "other"
		if c.Fees[i].AsDeclared {
			amount = "declared"
		}
		m.fees.WithLabelValues(chain, amount).Inc()
	}
	for reason, n := range map[string]int{"pool": c.Dropped.OfPool, "chain": c.Dropped.OfChain, "age": c.Dropped.Aged} {
		m.dropped.WithLabelValues(chain, reason).Add(float64(n))
	}
}
