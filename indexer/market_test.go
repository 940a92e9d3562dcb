package indexer_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func keccak(b []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	return h.Sum(nil)
}

func selector(signature string) string {
	return "0x" + hex.EncodeToString(keccak([]byte(signature))[:4])
}

// TestDerivesARealChain indexes a chain of real contracts, on both databases, and holds what was derived against the
// contracts themselves and against a naive recomputation.
func TestDerivesARealChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	for _, kind := range storetest.Both {
		st := storetest.Open(t, kind)
		stop := run(t, w.config(), st, 0)
		for round := range 8 {
			w.await(t, st)
			t.Run(kind+" at head "+strconv.Itoa(round), func(t *testing.T) { w.checkPrices(t, st) })
			w.trade(t, 3)
		}
		w.await(t, st)
		w.awaitRebaseSeen(t, st)
		stop()
		t.Run(kind, func(t *testing.T) {
			t.Run("candles are those of the trades", func(t *testing.T) { checkCandles(t, st) })
			t.Run("windows are those of the trades", func(t *testing.T) { w.checkWindows(t, st) })
			t.Run("quote volume is the chain's to the unit", func(t *testing.T) { w.checkVolume(t, st) })
			t.Run("balances are the contracts'", func(t *testing.T) {
				if current, unavailable := w.checkBalances(t, st); current < 12 || unavailable != 1 {
					t.Errorf("%d tokens have holders and %d have not; want at least 12, and the rebasing one without", current, unavailable)
				}
			})
			t.Run("traders are found", func(t *testing.T) { w.checkTraders(t, st) })
		})
	}
}

// awaitRebaseSeen moves the rebasing token at blocks that are sampled until one has shown that its transfers don't tell its balances.
func (w *testWorld) awaitRebaseSeen(t *testing.T, st *store.Store) {
	t.Helper()
	token := w.TokensLike(world.Rebasing)[0].Address
	mint := mustAddress(t, token)
	for range 8 { // a minute of chain time each: the chain must not get far ahead of the clock
		if got := tokens(t, st)[mint].Holders; got.Status == market.HoldersUnavailable {
			if got.Reason != market.ReasonSample && got.Reason != market.ReasonNegative {
				t.Errorf("the rebasing token's holders are unavailable because of %q", got.Reason)
			}
			return
		}
		w.mineUntil(t, func(next uint64) bool { return next%sampled == 0 })
		w.transact(t, w.Deployer, token, selector("transfer(address,uint256)")+fmt.Sprintf("%064x%064x", 0xf00d, 1_000_000))
		w.await(t, st)
	}
	t.Error("after 8 samples the rebasing token's holders are still taken for known")
}

func all[V any](t *testing.T) func([]V, error) []V {
	t.Helper()
	return func(v []V, err error) []V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func pools(t *testing.T, st *store.Store) []market.Pool {
	t.Helper()
	return all[market.Pool](t)(st.Inspect.Pools(t.Context(), "base", 0))
}

func tokens(t *testing.T, st *store.Store) map[market.Address]market.Token {
	t.Helper()
	out := map[market.Address]market.Token{}
	for _, tok := range all[market.Token](t)(st.Inspect.Tokens(t.Context(), "base", 0)) {
		out[tok.Mint] = tok
	}
	return out
}

// checkPrices computes every pool's price from the contract's own state at the indexed block.
func (w *testWorld) checkPrices(t *testing.T, st *store.Store) {
	t.Helper()
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	toks := tokens(t, st)
	checked := map[market.Protocol]int{}
	for _, p := range pools(t, st) {
		base, quote := toks[p.Base], toks[p.Quote]
		if !base.HasDecimals || !quote.HasDecimals {
			t.Errorf("pool %s has tokens without decimals", p.ID)
			continue
		}
		raw := w.rawPrice(t, &p, status.Last.Number)
		if raw == nil {
			continue
		}
		if !p.BaseIs0 {
			raw.Quo(big.NewFloat(1), raw)
		}
		want, _ := raw.Float64()
		want *= math.Pow10(int(base.Decimals) - int(quote.Decimals))
		if math.Abs(p.Price/want-1) > 1e-9 {
			t.Errorf("%s pool %s at block %d: derived price %v, the contract's is %v", p.Protocol, p.ID, status.Last.Number, p.Price, want)
		}
		checked[p.Protocol]++
	}
	for _, protocol := range []market.Protocol{market.UniswapV2, market.UniswapV3, market.UniswapV4, market.PancakeSwapV3} {
		if checked[protocol] == 0 {
			t.Errorf("no pool of %s was checked", protocol)
		}
	}
}

// rawPrice is token0's price in raw token1; nil for a pool without any.
func (w *testWorld) rawPrice(t *testing.T, p *market.Pool, block uint64) *big.Float {
	t.Helper()
	word := func(b []byte, i int) *big.Int {
		if len(b) < 32*(i+1) {
			t.Fatalf("pool %s answered %d bytes", p.ID, len(b))
		}
		return new(big.Int).SetBytes(b[32*i : 32*(i+1)])
	}
	var sqrt *big.Int
	switch p.Protocol {
	case market.UniswapV2, market.Solidly:
		b := w.ethCall(t, p.ID.String(), selector("getReserves()"), block)
		if word(b, 0).Sign() == 0 {
			return nil
		}
		return new(big.Float).Quo(new(big.Float).SetInt(word(b, 1)), new(big.Float).SetInt(word(b, 0)))
	case market.UniswapV4:
		slot := keccak(append(p.ID.Bytes(), append(make([]byte, 31), 6)...)) // StateLibrary.POOLS_SLOT
		b := w.ethCall(t, p.Factory.String(), selector("extsload(bytes32)")+hex.EncodeToString(slot), block)
		mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))
		sqrt = new(big.Int).And(word(b, 0), mask)
	case market.BondingCurve, market.PumpSwap, market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2:
		t.Fatalf("pool %s is of %s, of which this world has none", p.ID, p.Protocol)
	case market.UniswapV3, market.PancakeSwapV3, market.Slipstream:
		sqrt = word(w.ethCall(t, p.ID.String(), selector("slot0()"), block), 0)
	}
	if sqrt.Sign() == 0 {
		return nil
	}
	s := new(big.Float).SetPrec(256).SetInt(sqrt)
	s.Quo(s, new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), 96)))
	return s.Mul(s, s)
}

func checkCandles(t *testing.T, st *store.Store) {
	t.Helper()
	type bucket struct {
		candle market.Candle
	}
	want := map[market.CandleKey]*bucket{}
	trades := all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0))
	for i := range trades {
		tr := &trades[i]
		for _, interval := range []int32{60, 300, 3600, 86400} {
			k := market.CandleKey{Pool: tr.Pool, Interval: interval, Open: tr.Time / int64(interval) * int64(interval)}
			b := want[k]
			if b == nil {
				b = &bucket{market.Candle{CandleKey: k, USD: ohlc(tr.CloseUSD), Native: ohlc(tr.CloseNative)}}
				want[k] = b
			}
			c := &b.candle
			extend(&c.USD, tr.CloseUSD)
			extend(&c.Native, tr.CloseNative)
			var nano market.Amount
			nano.SetUint64(uint64(tr.NanoUSD))
			c.VolumeUSD.Add(&c.VolumeUSD, &nano)
			c.VolumeQuote.Add(&c.VolumeQuote, &tr.QuoteAmount)
			c.VolumeBase.Add(&c.VolumeBase, &tr.BaseAmount)
			c.LastBlock = tr.Block
			if tr.Sell {
				c.Sells++
			} else {
				c.Buys++
			}
		}
	}
	n := 0
	for _, p := range pools(t, st) {
		for _, interval := range []int32{60, 300, 3600, 86400} {
			for _, got := range all[market.Candle](t)(st.Inspect.Candles(t.Context(), "base", p.ID, interval, 0, math.MaxInt64)) {
				n++
				if b := want[got.CandleKey]; b == nil || b.candle != got {
					t.Errorf("candle %+v is derived, the trades give %+v", got, b)
				}
			}
		}
	}
	if n != len(want) || n < 500 {
		t.Errorf("%d candles are derived, the trades give %d; want at least 500", n, len(want))
	}
}

func ohlc(p float64) market.OHLC { return market.OHLC{Open: p, High: p, Low: p, Close: p} }

func extend(o *market.OHLC, p float64) { o.High, o.Low, o.Close = max(o.High, p), min(o.Low, p), p }

func (w *testWorld) checkWindows(t *testing.T, st *store.Store) {
	t.Helper()
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	from := status.Last.Time/60*60 - 24*3600 + 60
	want, gone := map[market.Address]market.Window{}, map[market.Address]market.Trade{}
	outside := 0
	for _, tr := range all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0)) {
		win := want[tr.Pool]
		if tr.Time < from {
			outside++
			win.ReferenceUSD = tr.CloseUSD
			gone[tr.Pool] = tr
		} else {
			if win.ReferenceUSD == 0 {
				win.ReferenceUSD = tr.CloseUSD
			}
			var nano market.Amount
			nano.SetUint64(uint64(tr.NanoUSD))
			win.VolumeUSD.Add(&win.VolumeUSD, &nano)
			if tr.Sell {
				win.Sells++
			} else {
				win.Buys++
			}
		}
		want[tr.Pool] = win
	}
	opened := 0
	for _, p := range pools(t, st) {
		before, inQuote := want[p.ID], gone[p.ID].CloseUSD // of a pegged asset
		if p.Quote.String() == strings.ToLower(w.Wrapped) {
			inQuote = gone[p.ID].CloseNative
		}
		if gone[p.ID].Block == 0 { // the pool is younger than the window
			opened++
			before.ReferenceUSD, inQuote = w.opening(t, st, &p)
		}
		got := p.Day
		for _, of := range []struct{ got, want *float64 }{{&got.ReferenceUSD, &before.ReferenceUSD}, {&got.ReferenceQuote, &inQuote}} {
			if math.Abs(*of.got-*of.want) > 1e-9**of.want {
				t.Errorf("pool %s: before the window it cost %v, by the chain %v", p.ID, *of.got, *of.want)
			}
			*of.got, *of.want = 0, 0
		}
		if got != before {
			t.Errorf("pool %s: the window is %+v, its trades give %+v", p.ID, p.Day, before)
		}
	}
	if opened == 0 {
		t.Error("no pool is younger than the window: the test shows nothing")
	}
	if outside == 0 {
		t.Error("no trade has left the window: the test shows nothing")
	}
}

// opening is what the contracts say of the price that a pool opened with, in USD and in whole quotes.
func (w *testWorld) opening(t *testing.T, st *store.Store, p *market.Pool) (usd, inQuote float64) {
	t.Helper()
	toks := tokens(t, st)
	at := func(p *market.Pool, block uint64) float64 {
		raw := w.rawPrice(t, p, block)
		if raw == nil {
			return 0
		}
		if !p.BaseIs0 {
			raw.Quo(big.NewFloat(1), raw)
		}
		price, _ := raw.Float64()
		return price * math.Pow10(int(toks[p.Base].Decimals)-int(toks[p.Quote].Decimals))
	}
	block := p.CreatedBlock
	for inQuote = at(p, block); inQuote == 0; inQuote = at(p, block) {
		if block++; block > p.CreatedBlock+100 {
			t.Fatalf("pool %s has no price for 100 blocks", p.ID)
		}
	}
	if p.Quote.String() != strings.ToLower(w.Wrapped) {
		return inQuote, inQuote // of a pegged asset
	}
	for _, reference := range pools(t, st) {
		if reference.ID == toks[p.Quote].Pool {
			return inQuote * at(&reference, block), inQuote
		}
	}
	t.Fatal("the wrapped coin has no reference pool")
	return 0, 0
}

// checkVolume adds up the quote side of every swap log by itself.
func (w *testWorld) checkVolume(t *testing.T, st *store.Store) {
	t.Helper()
	var logs []struct {
		Address string
		Topics  []string
		Data    string
	}
	v2 := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,uint256,uint256,uint256,uint256,address)")))
	solidly := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,address,uint256,uint256,uint256,uint256)")))
	v3 := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,address,int256,int256,uint160,uint128,int24)")))
	pancake := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)")))
	v4 := "0x" + hex.EncodeToString(keccak([]byte("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")))
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	err = w.node.Call(t.Context(), &logs, "eth_getLogs", map[string]any{
		"fromBlock": "0x0",
		"toBlock":   "0x" + strconv.FormatUint(status.Last.Number, 16), "topics": []any{[]string{v2, solidly, v3, pancake, v4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]market.Pool{}
	for _, p := range pools(t, st) {
		byID[p.ID.String()] = p
	}
	want, swaps := map[string]*big.Int{}, map[string]int64{}
	for _, l := range logs {
		id := l.Address
		if l.Topics[0] == v4 {
			id = l.Topics[1]
		}
		p, ok := byID[id]
		if !ok {
			continue // no quote side
		}
		data, err := hex.DecodeString(strings.TrimPrefix(l.Data, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		quote := 1
		if !p.BaseIs0 {
			quote = 0
		}
		word := func(i int) *big.Int { return new(big.Int).SetBytes(data[32*i : 32*(i+1)]) }
		var moved *big.Int
		if l.Topics[0] == v2 || l.Topics[0] == solidly {
			moved = new(big.Int).Sub(word(quote), word(quote+2))
		} else if moved = word(quote); moved.Bit(255) == 1 {
			moved.Sub(moved, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		if want[id] == nil {
			want[id] = new(big.Int)
		}
		want[id].Add(want[id], moved.Abs(moved))
		swaps[id]++
	}
	for id, p := range byID {
		if swaps[id] == 0 {
			continue
		}
		var got market.Amount
		var n int64
		for _, c := range all[market.Candle](t)(st.Inspect.Candles(t.Context(), "base", p.ID, 86400, 0, math.MaxInt64)) {
			got.Add(&got, &c.VolumeQuote)
			n += c.Buys + c.Sells
		}
		if got.Dec() != want[id].String() || n != swaps[id] {
			t.Errorf("%s pool %s: derived %d trades with %s of the quote, its logs have %d with %s", p.Protocol, id, n, got.Dec(), swaps[id], want[id])
		}
	}
}

// checkBalances asks every token for every derived balance, and for its supply.
func (w *testWorld) checkBalances(t *testing.T, st *store.Store, except ...string) (current, unavailable int) {
	t.Helper()
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	for mint, tok := range tokens(t, st) {
		if slices.Contains(except, mint.String()) {
			continue
		}
		if tok.Holders.Status == market.HoldersUnavailable {
			unavailable++
			continue
		}
		if tok.Holders.Status != market.HoldersCurrent {
			t.Errorf("token %s %q: its holders are %+v", mint, tok.Symbol, tok.Holders)
			continue
		}
		current++
		balances, err := st.Balances.All(t.Context(), "base", mint)
		if err != nil {
			t.Fatal(err)
		}
		holders := int64(0)
		for account, b := range balances {
			if !b.IsPool {
				holders++
			}
			if len(account.Bytes()) != market.EVMAddressLen {
				continue // a V4 pool: its manager holds the tokens
			}
			data := selector("balanceOf(address)") + strings.Repeat("0", 24) + account.String()[2:]
			got := new(big.Int).SetBytes(w.ethCall(t, mint.String(), data, status.Last.Number))
			if got.String() != b.Amount.Dec() {
				t.Errorf("token %q: %s has %s, derived is %s", tok.Symbol, account, got, b.Amount.Dec())
			}
		}
		if holders != tok.Holders.Count {
			t.Errorf("token %q: %d accounts have a balance, the count is %d", tok.Symbol, holders, tok.Holders.Count)
		}
		supply := new(big.Int).SetBytes(w.ethCall(t, mint.String(), selector("totalSupply()"), status.Last.Number))
		if supply.String() != tok.Supply.Dec() {
			t.Errorf("token %q: the supply is %s, derived is %s", tok.Symbol, supply, tok.Supply.Dec())
		}
	}
	return current, unavailable
}

func (w *testWorld) checkTraders(t *testing.T, st *store.Store) {
	t.Helper()
	byTx := map[string][]market.Trade{}
	for _, tr := range all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0)) {
		byTx[tr.Tx.String()] = append(byTx[tr.Tx.String()], tr)
	}
	// Several truths can share a transaction: a bundle has one for each of its users.
	traders := map[string]map[string]bool{}
	kinds := map[string]string{}
	for _, truth := range w.truths {
		if len(truth.Pools) == 0 || truth.TokenOut == "" {
			continue
		}
		if traders[truth.TxHash] == nil {
			traders[truth.TxHash] = map[string]bool{}
		}
		traders[truth.TxHash][truth.Trader] = true
		kinds[truth.TxHash] = string(truth.Kind)
	}
	found, wrong := map[string]int{}, map[string]int{}
	for tx, want := range traders {
		got := map[string]bool{}
		for _, tr := range byTx[tx] {
			got[tr.Trader.String()] = true
			if !want[tr.Trader.String()] {
				wrong[kinds[tx]]++
				if wrong[kinds[tx]] <= 3 {
					t.Errorf("%s %s: the trader of the swap in %s is %s, want one of %v", kinds[tx], tx, tr.Pool, tr.Trader, want)
				}
			} else {
				found[kinds[tx]]++
			}
		}
		if len(byTx[tx]) > 0 && len(got) < len(want) {
			t.Errorf("%s %s: %d traders found, want %v", kinds[tx], tx, len(got), want)
		}
	}
	t.Logf("trades attributed by kind: %v", found)
	if len(found) < 5 {
		t.Errorf("only these kinds of trades were seen: %v", found)
	}
}
