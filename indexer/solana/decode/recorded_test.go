package decode

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func key(text string) market.Address {
	a, err := market.ParseSolanaAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

const (
	pumpSwapProgram = "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA"
	ammProgram      = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"
	wrappedSOL      = "So11111111111111111111111111111111111111112"
)

// declared is a chain document with all programs that are known.
func declared() *chainconfig.Chain {
	return &chainconfig.Chain{
		ID: "solana", Family: chainconfig.Solana,
		Exchanges: []chainconfig.Exchange{
			{Name: "pumpswap", Protocol: market.PumpSwap, Factory: key(pumpSwapProgram)}, {Name: "raydium", Protocol: market.RaydiumAMMv4, Factory: key(ammProgram)},
		},
		Venues: []chainconfig.Venue{
			{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{key(PumpFun)}},
			{ID: "launchlab", Protocol: chainconfig.RaydiumLaunchLab, Contracts: []market.Address{key(LaunchLab)}},
		},
	}
}

func newDecoder(tb testing.TB, c *chainconfig.Chain) *Decoder {
	tb.Helper()
	d, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// decodeOne decodes a block of one recorded transaction.
func decodeOne(tb testing.TB, d *Decoder, raw json.RawMessage) Block {
	tb.Helper()
	return decodeAt(tb, d, 2, 1, raw)
}

// decodeAt decodes a block of a slot and a time.
func decodeAt(tb testing.TB, d *Decoder, slot uint64, at int64, raw json.RawMessage) Block {
	tb.Helper()
	b, err := d.ParseBlock(slot, solanatest.Block(tb, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: at}, 1, raw))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestRecordedBalances holds the changes of balances against those that another decoder found in the recordings, and their order.
func TestRecordedBalances(t *testing.T) {
	d, changes := newDecoder(t, declared()), 0
	for _, tx := range solanatest.Recorded(t) {
		want := map[string]string{}
		for owner, tokens := range tx.Truth.Computed.Deltas {
			for token, amount := range tokens {
				want[owner+" "+token] = amount
			}
		}
		got := map[string]string{}
		for _, list := range decodeOne(t, d, tx.Raw).Txs {
			if list.ID.String() != tx.Signature {
				t.Errorf("%s: decoded as %s", tx.Signature, list.ID)
			}
			last := uint64(0)
			for _, l := range list.Logs {
				if l.Index <= last || l.Index >= 1<<63 {
					t.Errorf("%s: place %d after %d", tx.Signature, l.Index, last)
				}
				last = l.Index
				if c, ok := l.Event.(market.BalanceChange); ok {
					got[c.Owner.String()+" "+c.Token.String()] = signed(c.Change)
					changes++
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: changes %v, want %v", tx.Signature, got, want)
		}
	}
	if changes < 160 {
		t.Errorf("only %d changes of balances are recorded", changes)
	}
}

// TestPumpFunTarget: curves of pump.fun for SOL want to raise 85.005 SOL (facts of 2024 to 2026).
func TestPumpFunTarget(t *testing.T) {
	t.Parallel()
	d, found := newDecoder(t, declared()), 0
	for _, tx := range solanatest.Recorded(t) {
		for _, told := range decodeOne(t, d, tx.Raw).Txs {
			for _, l := range told.Logs {
				if e, ok := l.Event.(market.Launched); ok && e.Venue == "pump-fun" && e.Quote == market.Native && e.Tells != 0 { // the first ones told no reserves
					if found++; e.TargetQuote.Dec() != "85005359057" {
						t.Errorf("%s wants to raise %s", e.Token, e.TargetQuote.Dec())
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no launch for SOL is recorded")
	}
}

func signed(a market.SignedAmount) string {
	if a.Neg {
		return "-" + a.Abs.Dec()
	}
	return a.Abs.Dec()
}

// told gives what the events of a block say, but for changes of balances, in the words of the recordings' truth.
func told(b Block) (out []string) {
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			switch e := l.Event.(type) {
			case market.Launched:
				out = append(out, fmt.Sprintf("%s launches %s %q %q %q by %s for %s: %s for sale", e.Venue, e.Token, e.Name, e.Symbol, e.Metadata, e.Creator, e.Quote, e.SaleBase.Dec()))
			case market.CurveTrade:
				out = append(out, fmt.Sprintf("%s %t of %s: %s for %s, raised %s, left %s and %s, virtual %s and %s", e.Venue, e.Sell, e.Trader, e.BaseAmount.Dec(),
					e.QuoteAmount.Dec(), e.Raised.Dec(), e.After.RealBase.Dec(), e.After.RealQuote.Dec(), e.After.VirtualBase.Dec(), e.After.VirtualQuote.Dec()))
			case market.Reserves:
				out = append(out, fmt.Sprintf("%s has %s and %s, virtual %s", e.Pool, e.Reserve0.Dec(), e.Reserve1.Dec(), signed(e.Virtual1)))
			case market.ReservesMoved:
				out = append(out, fmt.Sprintf("%s moves by %s and %s", e.Pool, signed(e.Change0), signed(e.Change1)))
			case market.Swap:
				out = append(out, fmt.Sprintf("swap of %s and %s", signed(e.Amount0), signed(e.Amount1)))
			}
		}
	}
	return out
}

// number is a number of the truth, which has it as a number or as a text.
func number(event map[string]any, name string) *big.Int {
	n, ok := new(big.Int).SetString(strings.TrimSuffix(fmt.Sprintf("%v", event[name]), ".0"), 10)
	if f, isFloat := event[name].(float64); isFloat {
		n, ok = big.NewInt(int64(f)), true
	}
	if !ok {
		return new(big.Int)
	}
	return n
}

func plus(a *big.Int, more ...*big.Int) *big.Int {
	sum := new(big.Int).Set(a)
	for _, n := range more {
		sum.Add(sum, n)
	}
	return sum
}

func minus(a *big.Int, less ...*big.Int) *big.Int {
	return plus(a, new(big.Int).Neg(plus(new(big.Int), less...)))
}

// expected is what a recorded transaction tells of the programs that have a decoder, by its truth. The arithmetic is written here a second time.
func expected(t *testing.T, tx *solanatest.Transaction) (out []string) {
	t.Helper()
	described := map[string]map[string]any{} // what a program's own description makes of an event
	for _, e := range tx.Truth.IDL.Events {
		described[fmt.Sprint(e["program"], " self-CPI inner ", e["inner"])] = e
	}
	for _, e := range tx.Truth.Computed.Events {
		source, program := fmt.Sprint(e["source"]), fmt.Sprint(e["program"])
		full := described[program+" "+source]
		n := func(name string) *big.Int {
			if _, ok := e[name]; !ok {
				return number(full, name)
			}
			return number(e, name)
		}
		switch {
		case source == "ray_log":
			out = append(out, ray(n, fmt.Sprint(e["type"]) == "SwapBaseIn")...)
		case !strings.HasPrefix(source, "self-CPI"):
		case program == "pump" && e["event"] == "CreateEvent":
			creator, quote := e["creator"], market.Native.String()
			if creator == nil {
				creator = e["user"]
			}
			if full["quote_mint"] != nil {
				quote = fmt.Sprint(full["quote_mint"])
			}
			if quote == noProgram {
				quote = market.Native.String()
			}
			out = append(out, fmt.Sprintf("pump-fun launches %s %q %q %q by %s for %s: %s for sale", e["mint"], e["name"], e["symbol"], e["uri"], creator, quote, n("real_token_reserves")))
		case program == "pump" && e["event"] == "TradeEvent":
			out = append(out, pumpTold(n, e))
		case program == "launchlab" && full["event"] == "PoolCreateEvent":
			out = append(out, launchLabLaunched(full))
		case program == "launchlab" && e["event"] == "TradeEvent":
			out = append(out, launchLabTold(n))
		case program == "pumpswap" && e["event"] == "SellEvent":
			gives := n("quote_amount_out_without_lp_fee")
			out = append(out, fmt.Sprintf("%s has %s and %s, virtual %s", e["pool"], plus(n("pool_base_token_reserves"), n("base_amount_in")),
				minus(n("pool_quote_token_reserves"), gives), n("virtual_quote_reserves")), fmt.Sprintf("swap of %s and -%s", n("base_amount_in"), gives))
		}
	}
	return out
}

const noProgram = "11111111111111111111111111111111"

func ray(n func(string) *big.Int, isIn bool) []string {
	given, got := n("amount_in"), n("out_amount")
	if !isIn {
		given, got = n("deduct_in"), n("amount_out")
	}
	if n("direction").Int64() == 2 { // the pool gets its first token
		return []string{fmt.Sprintf("reserves %s and %s", plus(n("pool_coin"), given), minus(n("pool_pc"), got)), fmt.Sprintf("swap of %s and -%s", given, got)}
	}
	return []string{fmt.Sprintf("reserves %s and %s", minus(n("pool_coin"), got), plus(n("pool_pc"), given)), fmt.Sprintf("swap of -%s and %s", got, given)}
}

func pumpTold(n func(string) *big.Int, e map[string]any) string {
	quote, virtual, held := n("sol_amount"), n("virtual_sol_reserves"), n("real_sol_reserves")
	if virtual.Sign() == 0 {
		quote, virtual, held = n("quote_amount"), n("virtual_quote_reserves"), n("real_quote_reserves")
	}
	buys, _ := e["is_buy"].(bool)
	paid := plus(quote, n("fee"), n("creator_fee"))
	if !buys {
		paid = minus(quote, n("fee"), n("creator_fee"))
	}
	return fmt.Sprintf("pump-fun %t of %s: %s for %s, raised %s, left %s and %s, virtual %s and %s", !buys, e["user"], n("token_amount"), paid, quote,
		n("real_token_reserves"), held, n("virtual_token_reserves"), virtual)
}

func launchLabLaunched(full map[string]any) string {
	mint, _ := full["base_mint_param"].(map[string]any)
	curve, _ := full["curve_param"].(map[string]any)
	constant, _ := curve["Constant"].(map[string]any)
	data, _ := constant["data"].(map[string]any)
	return fmt.Sprintf("launchlab launches J2V7tRwJqwr9a1gpL3VMQRuJVbebcH2YbvNezfiMhGUr %q %q %q by %s for %s: %s for sale", mint["name"], mint["symbol"], mint["uri"],
		full["creator"], wrappedSOL, data["total_base_sell"])
}

func launchLabTold(n func(string) *big.Int) string {
	sells, trader := n("trade_direction").Int64() == 1, "9ePSmJyUxsXcWcjxeUpqJSxq3R65MvuFuLPkSWvU43TX"
	base, quote, raised := n("amount_out"), n("amount_in"), minus(n("real_quote_after"), n("real_quote_before"))
	if sells {
		trader = "6UMjzh6TrEK3yrFSPs6B2tZuu9aAzFoNwsv9FYyV1Rsr"
		base, quote, raised = quote, base, new(big.Int).Neg(raised)
	}
	return fmt.Sprintf("launchlab %t of %s: %s for %s, raised %s, left %s and %s, virtual %s and %s", sells, trader, base, quote, raised,
		minus(n("total_base_sell"), n("real_base_after")), n("real_quote_after"), minus(n("virtual_base"), n("real_base_after")), plus(n("virtual_quote"), n("real_quote_after")))
}

// TestRecordedEvents holds what is decoded against the truth beside each recording.
func TestRecordedEvents(t *testing.T) {
	d, kinds := newDecoder(t, declared()), map[string]int{}
	for _, tx := range solanatest.Recorded(t) {
		got, want := told(decodeOne(t, d, tx.Raw)), expected(t, &tx)
		for i := range got { // the truth of a line of the log has no pool
			kinds[strings.Fields(got[i])[0]]++
			if _, rest, ok := strings.Cut(got[i], " has "); ok && i < len(want) && strings.HasPrefix(want[i], "reserves ") {
				got[i] = "reserves " + strings.TrimSuffix(rest, ", virtual 0")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", tx.Signature, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	if kinds["pump-fun"] < 9 || kinds["launchlab"] < 3 || kinds["swap"] < 12 {
		t.Errorf("decoded are %v", kinds)
	}
}

// TestRecordedTokens holds what a block tells of a token that it makes against the recordings: pump.fun and LaunchLab make a thousand million.
func TestRecordedTokens(t *testing.T) {
	d, made := newDecoder(t, declared()), 0
	for _, tx := range solanatest.Recorded(t) {
		for _, f := range decodeOne(t, d, tx.Raw).Facts {
			fact, ok := f.(market.TokenFact)
			if made++; !ok || !fact.HasSupply || fact.Supply.Dec() != "1000000000000000" || !fact.FromCreation || !fact.HasDecimals || fact.Decimals != 6 {
				t.Errorf("%s: %+v", tx.Signature, f)
			}
		}
	}
	if made != 4 {
		t.Errorf("%d tokens are made", made)
	}
}
