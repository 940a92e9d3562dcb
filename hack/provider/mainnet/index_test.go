package mainnet

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	_ "modernc.org/sqlite" // the index is read apart from its own code

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const samples = "../../../config/samples"

// standIn is a stand-in of a mainnet with one node, as a test uses it.
type standIn struct {
	*Mainnet
	node *node.Node
	cfg  *chainconfig.Chain
	// database is the file of the index.
	database string
	metrics  *prometheus.Registry
	// options are those of the indexer beside what run sets, and indexer the one that ran last.
	options indexer.Options
	indexer *indexer.Indexer
}

// start makes a stand-in whose index begins at its first block.
func start(t *testing.T, o Options, p profiles.Profile) *standIn {
	t.Helper()
	o.Samples, o.Seed = samples, 1
	m, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	n, err := node.Start(t.Context(), m.Chain, node.Options{Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	dir := t.TempDir()
	if _, err := m.WriteManifest(dir, []string{n.URL()}, int64(m.Chain.Genesis())); err != nil {
		t.Fatal(err)
	}
	manifests, err := files.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := manifests.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	cfg := declared.Running[0]
	cfg.Tracking, cfg.Retention = chainconfig.Tracking{Holders: chainconfig.HoldersDeclared}, chainconfig.Retention{}
	return &standIn{Mainnet: m, node: n, cfg: cfg, database: filepath.Join(t.TempDir(), "index.db"), metrics: prometheus.NewRegistry()}
}

// index runs the indexer until it has the head, and gives what it wrote.
func (s *standIn) index(t *testing.T) *store.Store {
	t.Helper()
	still := make(chan error, 1)
	still <- nil
	return s.indexUntil(t, still)
}

// indexUntil runs the indexer until the chain grows no more and the index has its head.
func (s *standIn) indexUntil(t *testing.T, still <-chan error) *store.Store {
	t.Helper()
	st, stop := s.run(t)
	if err := <-still; err != nil {
		t.Fatal(err)
	}
	s.await(t, st)
	stop()
	return st
}

// run starts the indexer; stop ends it.
func (s *standIn) run(t *testing.T) (st *store.Store, stop func()) {
	t.Helper()
	log := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		log = os.Stderr
	}
	st, err := store.Open(t.Context(), "sqlite:"+s.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	o := s.options
	o.VouchTime = time.Minute // a node on a busy machine may take longer than the default
	o.Log, o.Holder, o.Metrics = slog.New(slog.NewTextHandler(log, nil)), t.Name(), indexer.NewMetrics(s.metrics)
	if o.Now == nil {
		o.Now = time.Now
	}
	ix, err := indexer.New(s.cfg, st, o)
	if err != nil {
		t.Fatal(err)
	}
	s.indexer = ix
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ix.Run(ctx) }()
	return st, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

func (s *standIn) await(t *testing.T, st *store.Store) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		at, found, err := st.Chain(t.Context(), s.cfg.ID)
		if err != nil {
			t.Fatal(err)
		}
		head := s.Chain.Head()
		if found && at.Last.Number == head.Number && [32]byte(at.Last.Hash) == [32]byte(head.Hash) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index did not reach the head %d %s: %+v", head.Number, head.Hash, at)
		}
	}
}

// truth is what the program of that name writes.
type truth struct {
	Pools map[string]*struct {
		Token0, Token1, Reserve0, Reserve1, Factory string
		SqrtPrice                                   string `json:"sqrt_price"`
		Tick                                        int64
		Price                                       float64
		Decimals0, Decimals1                        int
		Swaps                                       []struct {
			Block, Index, Time uint64
			Amount0, Amount1   string
		}
		Candles []struct {
			Minute                 int64
			Open, High, Low, Close float64
			Volume0, Volume1       string
			Given0, Given1         int
		}
	}
}

func (s *standIn) truth(t *testing.T) *truth {
	t.Helper()
	// A node without limits: those of the index's node aren't what the truth is about.
	plain, err := node.Start(t.Context(), s.Chain, node.Options{Profile: profiles.Profile{Client: "Geth"}})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var factories []string
	for _, e := range s.cfg.Exchanges {
		factories = append(factories, e.Factory.String())
	}
	command := exec.CommandContext(t.Context(), "go", "run", "../truth", "--rpc", plain.URL(), "--factories", strings.Join(factories, ","),
		"--from", strconv.FormatUint(s.Chain.Genesis(), 10), "--to", strconv.FormatUint(s.Chain.Head().Number, 10))
	command.Stderr = os.Stderr
	raw, err := command.Output()
	if err != nil {
		t.Fatalf("truth: %v", err)
	}
	out := &truth{}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAnIndexOfTheStandInIsTheTruth indexes a stand-in of Base from its first block on, volume and a reorg included, and holds the rows
// against those of a program that shares nothing with the indexer.
func TestAnIndexOfTheStandInIsTheTruth(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Chain: "base", Txs: 60, Logs: 240, VolumeV2: 24, VolumeV3: 8, Past: 60}, profiles.Profile{Client: "Geth"})
	if err := s.Chain.Reorg(5); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Chain.Extend(time.Now()); err != nil {
		t.Fatal(err)
	}
	st := s.index(t)
	s.compare(t, st)
	if left := s.setAside(t); left["a header's hash by other rules"] > 0 {
		t.Errorf("the headers' hashes aren't those of their fields: %v", left)
	}
}

// TestAnIndexThatFollowsTheStandInIsTheTruth does the same with a stand-in of BNB Chain that grows meanwhile, with a reorg after every fifth
// block or so, behind Infura's limits but its rate: a node can't be asked less often than blocks of 100 ms want.
func TestAnIndexThatFollowsTheStandInIsTheTruth(t *testing.T) {
	t.Parallel()
	profile, err := profiles.Named("infura")
	if err != nil {
		t.Fatal(err)
	}
	profile.Latency, profile.Rate = profiles.Latency{}, profiles.Rate{}
	s := start(t, Options{Chain: "bsc", BlockTime: 100 * time.Millisecond, Txs: 20, Logs: 80, VolumeV2: 12, VolumeV3: 4, Past: 5, Reorgs: 0.2, ReorgDepth: 3}, profile)
	ctx, end := context.WithCancel(t.Context())
	lived := make(chan error, 1)
	go func() { lived <- s.Live(ctx) }()
	go func() {
		for wanted := s.Chain.Head().Number + 40; s.Chain.Head().Number < wanted && ctx.Err() == nil; {
			<-s.Chain.Grown()
		}
		end()
	}()
	st := s.indexUntil(t, lived)
	s.compare(t, st)
}

func (s *standIn) compare(t *testing.T, st *store.Store) {
	t.Helper()
	want := s.truth(t)
	trades, err := st.Inspect.Trades(t.Context(), s.cfg.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.compareTrades(t, trades, want)
	s.compareCandles(t, s.comparePools(t, want), want)
}

// rows runs a query on the index and calls each for every row.
func (s *standIn) rows(t *testing.T, query string, each func(scan func(...any) error) error) {
	t.Helper()
	db, err := sql.Open("sqlite", s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func (s *standIn) compareTrades(t *testing.T, trades []market.Trade, want *truth) {
	t.Helper()
	type at struct{ block, index uint64 }
	of := map[at]string{}
	for id, p := range want.Pools {
		for _, swap := range p.Swaps {
			amounts := []string{strings.TrimPrefix(swap.Amount0, "-"), strings.TrimPrefix(swap.Amount1, "-")}
			slices.Sort(amounts)
			of[at{swap.Block, swap.Index}] = id + " " + strings.Join(amounts, " ")
		}
	}
	if len(of) == 0 {
		t.Fatal("the truth has no swaps")
	}
	for _, row := range trades {
		amounts := []string{row.BaseAmount.Dec(), row.QuoteAmount.Dec()}
		slices.Sort(amounts)
		key := at{row.Block, row.LogIndex}
		if got := row.Pool.String() + " " + strings.Join(amounts, " "); got != of[key] {
			t.Errorf("block %d, log %d: %s, the truth is %q", row.Block, row.LogIndex, got, of[key])
		}
		delete(of, key)
	}
	t.Logf("%d trades compared", len(trades))
	// A pool without a quote asset has no trades.
	for key, swap := range of {
		id, _, _ := strings.Cut(swap, " ")
		if p := want.Pools[id]; s.quoted(p.Token0) || s.quoted(p.Token1) {
			t.Errorf("block %d, log %d: no trade, the truth is %s", key.block, key.index, swap)
		}
	}
}

// coin is what Uniswap V4 calls the chain's own coin.
const coin = "0x0000000000000000000000000000000000000000"

// quoted reports whether a token is declared as a quote asset.
func (s *standIn) quoted(token string) bool {
	return token == coin || slices.ContainsFunc(s.cfg.Quotes, func(q chainconfig.Quote) bool { return strings.EqualFold(q.Address.String(), token) })
}

// setAside is how often the indexer set something aside, by the reason.
func (s *standIn) setAside(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" {
					out[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}

// indexed is a pool as the index has it.
type indexed struct {
	base0 bool
	quote string
}

func (s *standIn) comparePools(t *testing.T, want *truth) map[string]indexed {
	t.Helper()
	out, byProtocol := map[string]indexed{}, map[string]int{}
	s.rows(t, "SELECT id, protocol, token0, token1, reserve0, reserve1, sqrt_price_x96, tick, base_is0, price FROM pools", func(scan func(...any) error) error {
		var id, token0, token1, reserve0, reserve1, sqrtPrice []byte
		var protocol string
		var tick int64
		var base0 bool
		var price float64
		if err := scan(&id, &protocol, &token0, &token1, &reserve0, &reserve1, &sqrtPrice, &tick, &base0, &price); err != nil {
			return err
		}
		name := hexOf(id)
		p := want.Pools[name]
		if p == nil {
			t.Errorf("pool %s isn't in the truth", name)
			return nil
		}
		byProtocol[protocol]++
		quote := p.Token1
		if !base0 {
			quote = p.Token0
		}
		out[name] = indexed{base0, quote}
		if p.SqrtPrice == "" && (p.Reserve0 != decimal(reserve0) || p.Reserve1 != decimal(reserve1)) {
			t.Errorf("%s pool %s has %s and %s, the truth is %s and %s", protocol, name, decimal(reserve0), decimal(reserve1), p.Reserve0, p.Reserve1)
		}
		if p.SqrtPrice != "" && (p.SqrtPrice != decimal(sqrtPrice) || p.Tick != tick) {
			t.Errorf("%s pool %s is at %s and tick %d, the truth is %s and %d", protocol, name, decimal(sqrtPrice), tick, p.SqrtPrice, p.Tick)
		}
		truly := p.Price
		if !base0 {
			truly = 1 / truly
		}
		if math.Abs(price-truly) > 1e-9*truly {
			t.Errorf("%s pool %s has the price %g, the truth is %g", protocol, name, price, truly)
		}
		return nil
	})
	for id, p := range want.Pools {
		if _, has := out[id]; !has && (s.quoted(p.Token0) || s.quoted(p.Token1)) && len(p.Swaps) > 0 {
			t.Errorf("pool %s with %d swaps isn't in the index", id, len(p.Swaps))
		}
	}
	protocols := []string{"UniswapV2", "UniswapV3", "UniswapV4", "PancakeSwapV3"}
	for _, x := range s.cfg.Exchanges {
		protocols = append(protocols, string(x.Protocol))
	}
	for _, protocol := range protocols {
		if byProtocol[protocol] == 0 {
			t.Errorf("no %s pool among %v", protocol, byProtocol)
		}
	}
	t.Logf("pools compared: %v", byProtocol)
	return out
}

// compareCandles holds every minute's volumes and numbers against the truth's, and its prices where the quote is the wrapped coin.
func (s *standIn) compareCandles(t *testing.T, pools map[string]indexed, want *truth) {
	t.Helper()
	type candle struct {
		volumeBase, volumeQuote  string
		buys, sells              int
		open, high, low, closing float64
	}
	of := map[string]candle{}
	for id, ix := range pools {
		for _, c := range want.Pools[id].Candles {
			one := candle{c.Volume0, c.Volume1, c.Given1, c.Given0, c.Open, c.High, c.Low, c.Close}
			if !ix.base0 {
				one = candle{c.Volume1, c.Volume0, c.Given0, c.Given1, 1 / c.Open, 1 / c.Low, 1 / c.High, 1 / c.Close}
			}
			of[fmt.Sprint(id, " ", c.Minute)] = one
		}
	}
	const query = "SELECT pool, open_at, volume_base, volume_quote, buys, sells, open_native, high_native, low_native, close_native FROM candles WHERE interval_s = 60"
	compared := 0
	s.rows(t, query, func(scan func(...any) error) error {
		var id, volumeBase, volumeQuote []byte
		var openAt int64
		var c candle
		if err := scan(&id, &openAt, &volumeBase, &volumeQuote, &c.buys, &c.sells, &c.open, &c.high, &c.low, &c.closing); err != nil {
			return err
		}
		c.volumeBase, c.volumeQuote = decimal(volumeBase), decimal(volumeQuote)
		key := fmt.Sprint(hexOf(id), " ", openAt)
		truly, has := of[key]
		delete(of, key)
		switch {
		case !has:
			t.Errorf("candle %s isn't in the truth", key)
		case c.volumeBase != truly.volumeBase || c.volumeQuote != truly.volumeQuote || c.buys != truly.buys || c.sells != truly.sells:
			t.Errorf("candle %s is %+v, the truth is %+v", key, c, truly)
		case strings.EqualFold(pools[hexOf(id)].quote, s.cfg.Native.Wrapped.String()) && !(near(c.open, truly.open) && near(c.high, truly.high) && near(c.low, truly.low) && near(c.closing, truly.closing)):
			t.Errorf("the prices of candle %s are %+v, the truth is %+v", key, c, truly)
		default:
			compared++
		}
		return nil
	})
	for key := range of {
		t.Errorf("candle %s isn't in the index", key)
	}
	t.Logf("%d candles compared", compared)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func hexOf(b []byte) string { return fmt.Sprintf("0x%x", b) }

func decimal(b []byte) string { return new(big.Int).SetBytes(b).String() }
