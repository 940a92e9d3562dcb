package derive_test

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	solana "github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

func readJSON(t *testing.T, v any, parts ...string) {
	t.Helper()
	path := recorded.Path(t, parts...)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

var wrappedNative = map[string]string{
	"ethereum": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
	"base":     "0x4200000000000000000000000000000000000006",
	"bsc":      "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c",
	"arbitrum": "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
	"polygon":  "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
	"hyperevm": "0x5555555555555555555555555555555555555555",
}

// recordedSwap and recordedTx are what the recordings' own decoder computed.
type recordedSwap struct {
	Index  uint32 `json:"log_index"`
	Kind   string `json:"kind"`
	Pool   string `json:"pool"`
	Token0 string `json:"token0"`
	Token1 string `json:"token1"`
}

type recordedTx struct {
	From     string `json:"from"`
	Computed struct {
		Swaps []recordedSwap               `json:"swaps"`
		Net   map[string]map[string]string `json:"erc20_net_balance_delta_raw"`
	} `json:"computed_from_logs"`
}

func parsed(t *testing.T, s string) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func decodeReceipt(t *testing.T, c *chainconfig.Chain, path string) (out []market.Log) {
	t.Helper()
	d, err := decode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var receipt struct {
		Result struct{ Logs json.RawMessage }
	}
	readJSON(t, &receipt, path, "eth_getTransactionReceipt.json")
	logs, err := decode.ParseLogs([]byte(`{"result":` + string(receipt.Result.Logs) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range d.Block(market.Header{}, logs).Txs {
		out = append(out, tx.Logs...)
	}
	return out
}

// replay derives a recorded transaction's trades. Its pools are made known as pairs, in which the wrapped native coin,
// else token1, is a quote asset: who traded does not hang on more.
func replay(t *testing.T, chain, path string, want *recordedTx) []market.Trade {
	t.Helper()
	c := config(func(c *chainconfig.Chain) { c.Native.Wrapped, c.Quotes = markettest.Address(wrappedNative[chain]), nil })
	var pairs []market.Event
	var tokens []market.Fact
	pools, quotes := map[string]bool{}, map[string]bool{}
	for _, s := range want.Computed.Swaps {
		if s.Kind == "v4" || pools[s.Pool] { // which tokens a V4 pool has is not recorded
			continue
		}
		pools[s.Pool] = true
		quote := s.Token1
		if s.Token0 == c.Native.Wrapped.String() {
			quote = s.Token0
		}
		if !quotes[quote] {
			quotes[quote] = true
			c.Quotes = append(c.Quotes, chainconfig.Quote{Symbol: "Q", Address: markettest.Address(quote), PegUSD: 1})
			tokens = append(tokens, fact(parsed(t, quote)))
		}
		pairs = append(pairs, pair(parsed(t, s.Pool), parsed(t, s.Token0), parsed(t, s.Token1)))
	}
	b := &bench{chain: newChain(), indexer: newIndexer(t, c, 100_000), t: t}
	b.next(1, tokens, pairs)
	block := b.block(1, nil)
	block.Txs = []market.Tx{{Logs: decodeReceipt(t, c, path)}}
	b.apply(t, []market.Block{block}, block.Header)
	return b.db.trades
}

// TestRecordedTraders: where the account that sent a transaction ends it with at least half of what a swap moved, in
// the swap's direction, it is the trader. What routers keep as crumbs or fees does not make them one.
func TestRecordedTraders(t *testing.T) {
	t.Parallel()
	var index []struct {
		Path  string `json:"path"`
		Chain string `json:"chain"`
	}
	readJSON(t, &index, "INDEX.json")
	trades, plain, right, nobodys := 0, 0, 0, 0
	for _, e := range index {
		if !strings.HasPrefix(e.Path, "evm/") {
			continue
		}
		var want recordedTx
		readJSON(t, &want, e.Path, "expected.json")
		for _, trade := range replay(t, e.Chain, e.Path, &want) {
			trades++
			if trade.Trader.IsNone() {
				nobodys++
				t.Logf("%s log %d is nobody's", e.Path, trade.LogIndex)
			} else {
				checkTraded(t, e.Path, &want, &trade, wrappedNative[e.Chain])
			}
			net, ok := new(big.Int).SetString(want.Computed.Net[trade.Base.String()][want.From], 10)
			if !ok || (net.Sign() < 0) != trade.Sell {
				continue
			}
			if twice := new(big.Int).Lsh(new(big.Int).Abs(net), 1); twice.Cmp(trade.BaseAmount.ToBig()) < 0 {
				continue
			}
			plain++
			if trade.Trader.String() == want.From {
				right++
				continue
			}
			kept := want.Computed.Net[trade.Base.String()][trade.Trader.String()]
			t.Errorf("%s log %d: the trader is %s, who has %s of %s in the end; the sender %s has %s", e.Path, trade.LogIndex,
				trade.Trader, kept, trade.Base, want.From, net)
		}
	}
	if trades < 140 || plain < 60 {
		t.Errorf("%d trades, %d of them plain; want at least 140 and 60", trades, plain)
	}
	if nobodys < 14 || nobodys > 20 {
		t.Errorf("%d trades are nobody's, want from 14 to 20", nobodys)
	}
	t.Logf("%d trades, %d of them plain, %d right, %d nobody's", trades, plain, right, nobodys)
}

// checkTraded finds a trader's trade in the transaction's balances: at least half of what the swap moved in the token, or a change of another
// token the other way. Whoever only passes on, or keeps a fee, is no trader. Balances of the wrapped coin may lack what was wrapped.
func checkTraded(t *testing.T, path string, want *recordedTx, trade *market.Trade, wrapped string) {
	t.Helper()
	trader, base := trade.Trader.String(), trade.Base.String()
	for token, net := range want.Computed.Net {
		changed, ok := new(big.Int).SetString(net[trader], 10)
		if !ok || changed.Sign() == 0 {
			continue
		}
		least := new(big.Int)
		if token == base {
			least.Rsh(trade.BaseAmount.ToBig(), 1)
		} else {
			least.Rsh(trade.QuoteAmount.ToBig(), 1)
		}
		if (changed.Sign() < 0) == (trade.Sell == (token == base)) && changed.CmpAbs(least) >= 0 {
			return
		}
	}
	if base == wrapped {
		return
	}
	t.Errorf("%s log %d: the trader of %s %s is %s, whose balances don't show it: %s", path, trade.LogIndex, trade.BaseAmount.Dec(), base, trader,
		want.Computed.Net[base][trader])
}

// solanaAccount reads an account of the recordings.
func solanaAccount(t *testing.T, text string) market.Address {
	t.Helper()
	a, err := market.ParseSolanaAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// recordedOnSolana finds a recorded transaction of Solana by its first signature.
func recordedOnSolana(t *testing.T, signature string) *solanatest.Transaction {
	t.Helper()
	for _, recording := range solanatest.Recorded(t) {
		if recording.Signature == signature {
			return &recording
		}
	}
	t.Fatalf("%s isn't recorded", signature)
	return nil
}

// TestRecordedRoundTrip: a wallet buys and sells the same amount on a curve in one recorded transaction of Solana. Both trades are the wallet's though no balance shows
// them, and the wallet has as much as before.
func TestRecordedRoundTrip(t *testing.T) {
	t.Parallel()
	recording := recordedOnSolana(t, "33LHUzKfhBvU68kYib22oFx2XdQKQZ2sfvTmmdCFEr6YidyP8S3WwAurjz6Suewvr2WUByV79K3stNCZDe7wq3De")
	mint, wallet := solanaAccount(t, "HfJVjBdkhAD2ynVM8PdTSii4ECZdsxNTCx5wpEqUpump"), solanaAccount(t, "2vr538qDgHCPYmr2mjt5LSjQ3kBYjtw3SDSveUKBVkef")
	sol := solanaAccount(t, "So11111111111111111111111111111111111111112")
	c := config(func(c *chainconfig.Chain) {
		c.Family, c.Native, c.Exchanges = chainconfig.Solana, chainconfig.Native{Symbol: "SOL", Wrapped: sol}, nil
		c.Quotes = []chainconfig.Quote{{Symbol: "SOL", Address: sol, PegUSD: 100}}
		c.Venues = []chainconfig.Venue{{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{solanaAccount(t, solana.PumpFun)}}}
	})
	decoder, err := solana.New(c)
	if err != nil {
		t.Fatal(err)
	}
	read, err := decoder.ParseBlock(2, solanatest.Block(t, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, recording.Raw))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{chain: newChain(), indexer: newIndexer(t, c, 100_000), t: t}
	known := []market.Fact{market.TokenFact{Token: sol, HasDecimals: true, Decimals: 9}, market.TokenFact{Token: mint, HasDecimals: true, Decimals: 6, FromCreation: true}}
	b.next(1, known, tx(balanceMoved(mint, wallet, in(raw(700))), market.Launched{
		Venue: "pump-fun", Token: mint, Creator: alice, Curve: pumpSwap, Quote: market.Native, Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
	}))
	block := b.block(1, nil)
	block.Txs = read.Txs
	b.apply(t, []market.Block{block}, block.Header)
	if len(b.db.trades) != 2 {
		t.Fatalf("%d trades, want a purchase and a sale", len(b.db.trades))
	}
	for i, paid := range []uint64{24_080_282, 24_080_281} {
		trade := &b.db.trades[i]
		if trade.Trader != wallet || trade.Base != mint || trade.Sell != (i == 1) || trade.BaseAmount != raw(605_426_095_720) || trade.QuoteAmount != raw(paid) ||
			trade.HasTraderBefore || !trade.TraderAmount.IsZero() {
			t.Errorf("trade %d is %+v, want one of 605,426,095,720 for %d by %s", i+1, trade, paid, wallet)
		}
	}
	if got := b.db.balances[market.BalanceKey{Token: mint, Account: wallet}].Amount; got != raw(700) {
		t.Errorf("the wallet has %s, want the 700 that it had before", got.Dec())
	}
}
