package decode

import (
	"encoding/json"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// chains are the recorded chains: the wrapped native coin and the PoolManager where there is one. The factories are
// Uniswap's on Ethereum everywhere, since no recorded transaction creates a pool.
var chains = map[string]struct{ wrapped, poolManager string }{
	"ethereum": {"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0x000000000004444c5dc75cB358380D2e3dE08A90"},
	"base":     {"0x4200000000000000000000000000000000000006", "0x498581ff718922c3f8e6a244956af099b2652b2b"},
	"bsc":      {"0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", "0x28e2ea090877bf75740558f6bfb36a5ffee9e9df"},
	"arbitrum": {"0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", "0x360e68faccca8ca495c1b759fd9eee466db9fb32"},
	"polygon":  {"0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270", "0x67366782805870060151383f4bbff9dab53e5cd6"},
	"hyperevm": {"0x5555555555555555555555555555555555555555", ""},
}

func chainDocument(tb testing.TB, chain string) *chainconfig.Chain {
	tb.Helper()
	c, ok := chains[chain]
	if !ok {
		tb.Fatalf("recordings of a chain that this test does not know: %q", chain)
	}
	doc := &chainconfig.Chain{
		ID: chain, Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "N", Wrapped: markettest.Address(c.wrapped)},
		Exchanges: []chainconfig.Exchange{
			{Name: "v2", Protocol: market.UniswapV2, Factory: markettest.Address("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f")},
			{Name: "v3", Protocol: market.UniswapV3, Factory: markettest.Address("0x1F98431c8aD98523631AE4a59f267346ea31F984")},
			{Name: "pancake", Protocol: market.PancakeSwapV3, Factory: markettest.Address("0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865")},
			{Name: "solidly", Protocol: market.Solidly, Factory: markettest.Address("0x420DD381b31aEf6683db6B902084cB0FFECe40Da")},
			{Name: "slipstream", Protocol: market.Slipstream, Factory: markettest.Address("0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A")},
		},
	}
	if c.poolManager != "" {
		doc.Exchanges = append(doc.Exchanges,
			chainconfig.Exchange{Name: "v4", Protocol: market.UniswapV4, Factory: markettest.Address(c.poolManager)})
	}
	return doc
}

func testDecoder(tb testing.TB, chain string) *Decoder {
	tb.Helper()
	d, err := New(chainDocument(tb, chain))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// wantSwap is a swap as the recordings' own decoder saw it.
type wantSwap struct {
	LogIndex   uint64 `json:"log_index"`
	Kind       string `json:"kind"`
	Pool       string `json:"pool"`
	PoolID     string `json:"pool_id"`
	Sender     string `json:"sender"`
	Recipient  string `json:"recipient"`
	Amount0    string `json:"amount0"`
	Amount1    string `json:"amount1"`
	Amount0In  string `json:"amount0_in"`
	Amount1In  string `json:"amount1_in"`
	Amount0Out string `json:"amount0_out"`
	Amount1Out string `json:"amount1_out"`
	SqrtPrice  string `json:"sqrtPriceX96"`
	Liquidity  string `json:"liquidity"`
	Tick       *int32 `json:"tick"`
	Reserve0   string `json:"reserve0_after"`
	Reserve1   string `json:"reserve1_after"`
	Token0     string `json:"token0"`
	Token1     string `json:"token1"`
	TokenIn    string `json:"token_in"`
	TokenOut   string `json:"token_out"`
}

type wantTx struct {
	Chain    string `json:"chain"`
	Tx       string `json:"tx"`
	Block    uint64 `json:"block"`
	Time     int64  `json:"block_timestamp"`
	From     string `json:"from"`
	To       string `json:"to"`
	Computed struct {
		Swaps     []wantSwap                   `json:"swaps"`
		Net       map[string]map[string]string `json:"erc20_net_balance_delta_raw"`
		Transfers int                          `json:"erc20_transfer_count"`
		Other     map[string]int               `json:"other_events"`
	} `json:"computed_from_logs"`
}

func bigInt(t *testing.T, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return v
}

func signedBig(s market.SignedAmount) *big.Int {
	v := s.Abs.ToBig()
	if s.Neg {
		v.Neg(v)
	}
	return v
}

// amountsInto are a wanted swap's amounts from the pool's view.
func (w *wantSwap) amountsInto(t *testing.T) (a0, a1 *big.Int) {
	t.Helper()
	switch w.Kind {
	case "v2", "solidly":
		a0 = new(big.Int).Sub(bigInt(t, w.Amount0In), bigInt(t, w.Amount0Out))
		a1 = new(big.Int).Sub(bigInt(t, w.Amount1In), bigInt(t, w.Amount1Out))
	case "v3", "pcs3":
		a0, a1 = bigInt(t, w.Amount0), bigInt(t, w.Amount1)
	case "v4": // recorded as logged: from the swapper's view
		a0, a1 = new(big.Int).Neg(bigInt(t, w.Amount0)), new(big.Int).Neg(bigInt(t, w.Amount1))
	default:
		t.Fatalf("a kind of swap that this test does not know: %q", w.Kind)
	}
	return a0, a1
}

func compareSwap(t *testing.T, w *wantSwap, got market.Swap) {
	t.Helper()
	pool, recipient := w.Pool, w.Recipient
	if w.Kind == "v4" {
		pool, recipient = w.PoolID, w.Sender // the log names no recipient
	}
	same := func(what, want, got string) {
		t.Helper()
		if got != want {
			t.Errorf("log %d (%s): %s is %s, want %s", w.LogIndex, w.Kind, what, got, want)
		}
	}
	a0, a1 := w.amountsInto(t)
	same("pool", pool, got.Pool.String())
	same("sender", w.Sender, got.Sender.String())
	same("recipient", recipient, got.Recipient.String())
	same("amount0", a0.String(), signedBig(got.Amount0).String())
	same("amount1", a1.String(), signedBig(got.Amount1).String())
	if w.Tick == nil {
		if !got.SqrtPriceX96.IsZero() || !got.Liquidity.IsZero() || got.Tick != 0 {
			t.Errorf("log %d (%s) has a square root price, liquidity or tick", w.LogIndex, w.Kind)
		}
		return
	}
	same("sqrtPriceX96", w.SqrtPrice, got.SqrtPriceX96.Dec())
	same("liquidity", w.Liquidity, got.Liquidity.Dec())
	same("tick", strconv.Itoa(int(*w.Tick)), strconv.Itoa(int(got.Tick)))
}

// compareReserves holds the Sync before a V2 swap against the recording.
func compareReserves(t *testing.T, w *wantSwap, logs []market.Log) {
	t.Helper()
	if w.Reserve0 == "" {
		return
	}
	var last *market.Reserves
	for _, l := range logs {
		if r, ok := l.Event.(market.Reserves); ok && l.Index < w.LogIndex && r.Pool.String() == w.Pool {
			last = &r
		}
	}
	switch {
	case last == nil:
		t.Errorf("log %d: no reserves of %s before it", w.LogIndex, w.Pool)
	case last.Reserve0.Dec() != w.Reserve0 || last.Reserve1.Dec() != w.Reserve1:
		t.Errorf("log %d: reserves %s, %s; want %s, %s", w.LogIndex, last.Reserve0.Dec(), last.Reserve1.Dec(),
			w.Reserve0, w.Reserve1)
	}
}

func swapsOf(logs []market.Log) map[uint64]market.Swap {
	out := map[uint64]market.Swap{}
	for _, l := range logs {
		if s, ok := l.Event.(market.Swap); ok {
			out[l.Index] = s
		}
	}
	return out
}

func compareSwaps(t *testing.T, want []wantSwap, logs []market.Log) {
	t.Helper()
	got := swapsOf(logs)
	for i := range want {
		w := &want[i]
		s, ok := got[w.LogIndex]
		if !ok {
			t.Errorf("log %d: no swap, want one of %s (%s)", w.LogIndex, w.Pool, w.Kind)
			continue
		}
		compareSwap(t, w, s)
		compareReserves(t, w, logs)
		delete(got, w.LogIndex)
	}
	for i, s := range got {
		t.Errorf("log %d: a swap of %s that is none", i, s.Pool)
	}
}

// netByTransfers is each account's change of each token by Transfer events, without those that come to nought.
func netByTransfers(logs []market.Log) (net map[string]map[string]*big.Int, transfers int) {
	net = map[string]map[string]*big.Int{}
	add := func(token, account market.Address, v *big.Int) {
		if account.IsNone() {
			account = market.Native // the recordings name nobody by the zero address
		}
		byAccount := net[token.String()]
		if byAccount == nil {
			byAccount = map[string]*big.Int{}
			net[token.String()] = byAccount
		}
		sum := byAccount[account.String()]
		if sum == nil {
			sum = new(big.Int)
			byAccount[account.String()] = sum
		}
		sum.Add(sum, v)
	}
	for _, l := range logs {
		if e, ok := l.Event.(market.Transfer); ok {
			transfers++
			add(e.Token, e.From, new(big.Int).Neg(e.Amount.ToBig()))
			add(e.Token, e.To, e.Amount.ToBig())
		}
	}
	for token, byAccount := range net {
		for account, sum := range byAccount {
			if sum.Sign() == 0 {
				delete(byAccount, account)
			}
		}
		if len(byAccount) == 0 {
			delete(net, token)
		}
	}
	return net, transfers
}

func compareNet(t *testing.T, want map[string]map[string]string, logs []market.Log) {
	t.Helper()
	got, _ := netByTransfers(logs)
	for token, byAccount := range want {
		for account, sum := range byAccount {
			g := got[token][account]
			if g == nil {
				g = new(big.Int)
			}
			if g.String() != sum {
				t.Errorf("token %s: %s changed by %s, want %s", token, account, g, sum)
			}
		}
	}
	for token, byAccount := range got {
		for account, sum := range byAccount {
			if _, ok := want[token][account]; !ok {
				t.Errorf("token %s: %s changed by %s, want no change", token, account, sum)
			}
		}
	}
}

// compareWraps counts deposits and withdrawals. The recordings count them of any contract, and no other than the
// wrapped native coin logs any there.
func compareWraps(t *testing.T, want map[string]int, logs []market.Log) (wraps int) {
	t.Helper()
	var in, out int
	for _, l := range logs {
		if w, ok := l.Event.(market.Wrap); ok {
			if w.Unwrap {
				out++
			} else {
				in++
			}
		}
	}
	if in != want["WETH Deposit"] || out != want["WETH Withdrawal"] {
		t.Errorf("%d deposits and %d withdrawals, want %d and %d", in, out, want["WETH Deposit"], want["WETH Withdrawal"])
	}
	return in + out
}

// recordedTx decodes one recorded transaction the way the source does: the receipt's logs as a node's answer to
// eth_getLogs, read by the hand-written scanner, grouped and decoded.
func recordedTx(t *testing.T, dir string) (wantTx, []Log, market.Block) {
	t.Helper()
	var want wantTx
	readJSON(t, recorded.Path(t, dir, "expected.json"), &want)
	var receipt struct {
		Result struct {
			BlockHash string          `json:"blockHash"`
			Logs      json.RawMessage `json:"logs"`
		} `json:"result"`
	}
	readJSON(t, recorded.Path(t, dir, "eth_getTransactionReceipt.json"), &receipt)
	logs, err := ParseLogs([]byte(`{"jsonrpc":"2.0","id":1,"result":` + string(receipt.Result.Logs) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range logs {
		l := &logs[i]
		if l.Block != want.Block || l.BlockHash.String() != receipt.Result.BlockHash || l.TxHash.String() != want.Tx ||
			(l.BlockTime != 0 && l.BlockTime != want.Time) || l.Removed {
			t.Fatalf("log %d is of block %d %s, time %d, transaction %s", l.Index, l.Block, l.BlockHash, l.BlockTime, l.TxHash)
		}
	}
	b := testDecoder(t, want.Chain).Block(market.Header{Number: want.Block, Time: want.Time}, logs)
	if len(b.Txs) > 1 || (len(b.Txs) == 1 && b.Txs[0].ID.String() != want.Tx) {
		t.Fatalf("decoded into %d transactions", len(b.Txs))
	}
	return want, logs, b
}

type indexEntry struct {
	Path  string `json:"path"`
	Chain string `json:"chain"`
	Swaps int    `json:"n_swaps"`
}

func recordedIndex(t *testing.T, prefix string) (out []indexEntry) {
	t.Helper()
	var all []indexEntry
	readJSON(t, recorded.Path(t, "INDEX.json"), &all)
	for _, e := range all {
		if strings.HasPrefix(e.Path, prefix) {
			out = append(out, e)
		}
	}
	return out
}

func TestRecordedTransactions(t *testing.T) {
	t.Parallel()
	index := recordedIndex(t, "evm/")
	folders := 0
	err := filepath.WalkDir(recorded.Path(t, "evm"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "expected.json" {
			folders++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if folders != len(index) || folders < 93 {
		t.Fatalf("%d recorded transactions, the index lists %d: want all of them, and at least 93", folders, len(index))
	}
	kinds := map[string]int{}
	swaps, listed, transfers, wraps, reserves := 0, 0, 0, 0, 0
	for _, e := range index {
		listed += e.Swaps
		t.Run(e.Chain+"/"+filepath.Base(e.Path)[:12], func(t *testing.T) {
			want, _, b := recordedTx(t, e.Path)
			if len(want.Computed.Swaps) != e.Swaps {
				t.Errorf("the index lists %d swaps, the recording has %d", e.Swaps, len(want.Computed.Swaps))
			}
			var logs []market.Log
			if len(b.Txs) > 0 {
				logs = b.Txs[0].Logs
			}
			compareSwaps(t, want.Computed.Swaps, logs)
			compareNet(t, want.Computed.Net, logs)
			if _, n := netByTransfers(logs); n != want.Computed.Transfers {
				t.Errorf("%d transfers, want %d", n, want.Computed.Transfers)
			}
			wraps += compareWraps(t, want.Computed.Other, logs)
			transfers += want.Computed.Transfers
			for _, w := range want.Computed.Swaps {
				kinds[w.Kind]++
				swaps++
				if w.Reserve0 != "" {
					reserves++
				}
			}
		})
	}
	if swaps != listed {
		t.Errorf("%d swaps were compared, the index lists %d", swaps, listed)
	}
	atLeast := map[string]int{"v2": 47, "v3": 99, "pcs3": 10, "v4": 13, "solidly": 6}
	for kind, n := range atLeast {
		if kinds[kind] < n {
			t.Errorf("%d swaps of kind %s were compared, want at least %d", kinds[kind], kind, n)
		}
	}
	if transfers < 600 || wraps < 68 || reserves < 46 {
		t.Errorf("%d transfers, %d wraps and %d reserves were compared, want at least 600, 68 and 46", transfers, wraps, reserves)
	}
	t.Logf("%d transactions, %d swaps %v, %d transfers, %d wraps, %d reserves", folders, swaps, kinds, transfers, wraps, reserves)
}
