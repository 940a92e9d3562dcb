package decode

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/idltest"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	cpmmProgram = "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C"
	dammProgram = "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG"
)

// everything is declared with Meteora's and Raydium's newer programs.
func everything() *chainconfig.Chain {
	c := declared()
	c.Exchanges = append(c.Exchanges, chainconfig.Exchange{Name: "cpmm", Protocol: market.RaydiumCPMM, Factory: key(cpmmProgram)},
		chainconfig.Exchange{Name: "damm", Protocol: market.MeteoraDAMMv2, Factory: key(dammProgram)})
	c.Venues = append(c.Venues, chainconfig.Venue{ID: "dbc", Protocol: chainconfig.MeteoraDBC, Contracts: []market.Address{key(MeteoraDBC)}})
	return c
}

// calls is a transaction with one instruction of a program, whose accounts have names, and what that calls.
type calls struct {
	program  string
	accounts []string          // their names
	named    map[string]string // the keys of some; others are made of their names
	data     []byte
	events   [][]byte // what the program calls itself with, after the mark of an event
	logs     []string
	balances []map[string]any // after
	before   []map[string]any
}

func accountOf(name string) string { return solanatest.Name("account %s", name) }

func (c *calls) raw(tb testing.TB) json.RawMessage {
	tb.Helper()
	keys, places := []string{c.program, accountOf("event_authority")}, []int{}
	for _, name := range c.accounts {
		k, ok := c.named[name]
		if !ok {
			k = accountOf(name)
		}
		keys = append(keys, k)
		places = append(places, len(keys)-1)
	}
	inner := []any{}
	for _, e := range c.events {
		inner = append(inner, map[string]any{
			"programIdIndex": 0, "accounts": []int{1}, "data": base58.Encode(append(selfCall[:], e...)), "stackHeight": 2,
		})
	}
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{
			"err": nil, "logMessages": c.logs, "preTokenBalances": c.before, "postTokenBalances": c.balances, "innerInstructions": []any{map[string]any{"index": 0, "instructions": inner}},
		},
		"transaction": map[string]any{
			"signatures": []string{base58.Encode(make([]byte, 64))},
			"message": map[string]any{"accountKeys": keys, "instructions": []any{map[string]any{
				"programIdIndex": 0, "accounts": places, "data": base58.Encode(c.data), "stackHeight": nil,
			}}},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// eventsOf are the events of a block, but for changes of balances.
func eventsOf(b Block) (out []market.Event) {
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			if _, ok := l.Event.(market.BalanceChange); !ok {
				out = append(out, l.Event)
			}
		}
	}
	return out
}

// TestDescribedEvents holds what is decoded against events that the programs' own descriptions encode, with random contents.
func TestDescribedEvents(t *testing.T) {
	programs, list := idltest.Encoded(t, 1)
	d, seen := newDecoder(t, everything()), map[string]int{}
	for i := range list {
		e := &list[i]
		told, c := describedCall(t, programs, e)
		got, want := eventsOf(decodeAt(t, d, idlSlot, idlTime, c.raw(t))), told.want(e)
		if !slices.Equal(got, want) {
			t.Fatalf("%s of %s with %v:\n got %+v\nwant %+v", e.Name, e.Program, e.Fields, got, want)
		}
		seen[e.Program+" "+e.Name]++
	}
	if len(seen) != len(describedEvents) {
		t.Errorf("seen are %v", seen)
	}
}

// TestSwapsToldTwice has a swap of a curve told by the older event, by the newer one, and by both in either order: it is one trade, and the newer event says of what it is.
func TestSwapsToldTwice(t *testing.T) {
	t.Parallel()
	programs, list := idltest.Encoded(t, 1)
	byName := map[string]*idltest.Event{}
	for i := range list {
		if e := &list[i]; e.Program == "dbc" {
			byName[e.Name] = e
		}
	}
	older := byName["EvtSwap"]
	_, c := describedCall(t, programs, older)
	head, poolAndConfig := len(discriminator{}), 64
	ofThePool := func(e *idltest.Event) []byte {
		return slices.Concat(e.Data[:head], older.Data[head:head+poolAndConfig], e.Data[head+poolAndConfig:])
	}
	d, other := newDecoder(t, everything()), make([]byte, 16)
	tells := func(events ...[]byte) []string {
		c.events = events
		raw := c.raw(t)
		amounts := quotesOf(decodeAt(t, d, idlSlot, idlTime, raw))
		raw = bytes.ReplaceAll(raw, []byte(`"stackHeight":2`), []byte(`"stackHeight":null`))
		if got := quotesOf(decodeAt(t, d, idlSlot, idlTime, raw)); !slices.Equal(got, amounts) {
			t.Errorf("trades of %s, and where no heights are told of %s", amounts, got)
		}
		return amounts
	}
	alone := tells(older.Data)
	if len(alone) != 1 {
		t.Fatalf("the older event alone is %d trades", len(alone))
	}
	if got := tells(append(slices.Repeat([][]byte{other}, mostSiblings-1), older.Data)...); !slices.Equal(got, alone) {
		t.Errorf("with as many calls as are looked at: trades of %s, want %s", got, alone)
	}
	if got := tells(append(slices.Repeat([][]byte{other}, mostSiblings), older.Data)...); len(got) > 0 {
		t.Errorf("with one call more: trades of %s", got)
	}
	for _, name := range []string{"EvtSwap2", "EvtSwap2WithTransferHook"} {
		newer := ofThePool(byName[name])
		want := tells(newer)
		if len(want) != 1 || want[0] == alone[0] {
			t.Fatalf("%s alone is trades of %s, the older event one of %s", name, want, alone)
		}
		for order, events := range map[string][][]byte{
			"the older first": {older.Data, newer}, "the newer first": {newer, older.Data}, "others between": {older.Data, other, other, newer},
			"the older after many others": append(slices.Repeat([][]byte{other}, mostSiblings+8), older.Data, newer),
		} {
			if got := tells(events...); !slices.Equal(got, want) {
				t.Errorf("%s, %s: trades of %s, want %s", name, order, got, want)
			}
		}
	}
}

// quotesOf are the amounts of a block's trades on curves.
func quotesOf(b Block) (amounts []string) {
	for _, e := range eventsOf(b) {
		if trade, ok := e.(market.CurveTrade); ok {
			amounts = append(amounts, trade.QuoteAmount.Dec())
		}
	}
	return amounts
}

// describedCall is a transaction with a described event, and what that means.
func describedCall(tb testing.TB, programs map[string]idltest.Program, e *idltest.Event) (told describedEvent, c *calls) {
	tb.Helper()
	told, ok := describedEvents[e.Program+" "+e.Name]
	if !ok {
		tb.Fatalf("%s of %s isn't expected", e.Name, e.Program)
	}
	p := programs[e.Program]
	c = &calls{program: p.Address, accounts: p.Accounts[told.by], named: map[string]string{}, data: p.Instructions[told.by], events: [][]byte{e.Data}}
	if len(c.accounts) == 0 {
		tb.Fatalf("%s has no instruction %s", e.Program, told.by)
	}
	if _, has := e.Fields["pool"]; has {
		c.named["pool"] = e.Text("pool")
	}
	for i, name := range told.vaults {
		place := slices.Index(c.accounts, name)
		if place < 0 {
			tb.Fatalf("%s's instruction %s has no account %s", e.Program, told.by, name)
		}
		c.balances = append(c.balances, balanceOf(place+2, accountOf("token of "+name), c.named["pool"], uint64(i+1)*vaultHolds))
	}
	if told.texts {
		c.data = slices.Concat(c.data, borshText("Name of it"), borshText("SYM"), borshText("https://example.com/it"))
	}
	return told, c
}

// The slot and the time of the blocks with described events: half of random numbers are before them.
const (
	idlSlot = 1 << 63
	idlTime = 1<<63 - 1
)

func borshText(s string) []byte {
	return append([]byte{byte(len(s)), 0, 0, 0}, s...)
}

const vaultHolds = 1_000_000

var pumpSwapVaults = []string{"pool_base_token_account", "pool_quote_token_account"}

func pumpSwapHolds(e *idltest.Event) []market.Event {
	return []market.Event{market.Reserves{Pool: e.Key("pool"), Reserve0: amountOf(vaultHolds), Reserve1: amountOf(2 * vaultHolds)}}
}

// describedEvent says what a described event means.
type describedEvent struct {
	by    string // the instruction that tells it
	texts bool   // it has a name, a symbol and a URI as arguments
	// vaults are the names of the pool's token accounts, which have vaultHolds of the first token and twice as much of the second after the transaction.
	vaults []string
	want   func(e *idltest.Event) []market.Event
}

// describedEvents say what each event means. The arithmetic is written here a second time.
var describedEvents = map[string]describedEvent{
	"pump CreateEvent": {by: "create_v2", want: func(e *idltest.Event) []market.Event {
		// quote · sold / (base − sold), rounded up, where more is there than is sold
		var target market.Amount
		base, quote, sold := bigOf(e.Amount("virtual_token_reserves")), bigOf(e.Amount("virtual_quote_reserves")), bigOf(e.Amount("real_token_reserves"))
		if left := new(big.Int).Sub(base, sold); left.Sign() > 0 {
			target.SetFromBig(quote.Div(quote.Add(quote.Mul(quote, sold), left).Sub(quote, big.NewInt(1)), left))
		}
		return []market.Event{market.Launched{
			TargetQuote: target,
			Venue:       "pump-fun", Token: e.Key("mint"), Creator: e.Key("creator"), Name: e.Text("name"), Symbol: e.Text("symbol"), Metadata: e.Text("uri"),
			Curve: e.Key("bonding_curve"), Rules: pumpRules, Quote: e.Key("quote_mint"), SaleBase: e.Amount("real_token_reserves"), Tells: market.TellsVirtual,
			Reserves: market.CurveReserves{VirtualBase: e.Amount("virtual_token_reserves"), VirtualQuote: e.Amount("virtual_quote_reserves")},
		}}
	}},
	"pump TradeEvent": {by: "buy", want: func(e *idltest.Event) []market.Event {
		fees, sol := plusAll(e.Amount("fee"), e.Amount("creator_fee")), e.Amount("sol_amount")
		t := market.CurveTrade{
			Venue: "pump-fun", Token: e.Key("mint"), Trader: e.Key("user"), Sell: !e.Is("is_buy"), BaseAmount: e.Amount("token_amount"), QuoteAmount: plusAll(sol, fees), Raised: sol,
			After: market.CurveReserves{
				VirtualBase: e.Amount("virtual_token_reserves"), VirtualQuote: e.Amount("virtual_sol_reserves"), RealBase: e.Amount("real_token_reserves"),
				RealQuote: e.Amount("real_sol_reserves"),
			},
			Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote,
		}
		if t.Sell {
			t.QuoteAmount = notBelowZero(in(sol).Add(out(fees)))
		}
		return []market.Event{t}
	}},
	"pump CompleteEvent": {by: "buy", want: func(e *idltest.Event) []market.Event {
		return []market.Event{market.CurveCompleted{Venue: "pump-fun", Token: e.Key("mint")}}
	}},
	"pump CompletePumpAmmMigrationEvent": {by: "migrate", want: func(e *idltest.Event) []market.Event {
		return []market.Event{market.Graduated{Venue: "pump-fun", Token: e.Key("mint"), Pool: e.Key("pool")}}
	}},
	"pumpswap CreatePoolEvent": {by: "create_pool", want: func(e *idltest.Event) []market.Event {
		return []market.Event{
			market.PoolCreated{Protocol: market.PumpSwap, Factory: key(pumpSwapProgram), Pool: e.Key("pool"), Token0: e.Key("base_mint"), Token1: e.Key("quote_mint")},
			market.Reserves{Pool: e.Key("pool"), Reserve0: e.Amount("pool_base_amount"), Reserve1: e.Amount("pool_quote_amount")},
		}
	}},
	"pumpswap BuyEvent": {by: "buy", want: func(e *idltest.Event) []market.Event {
		return pumpSwapTold(e, out(e.Amount("base_amount_out")), in(e.Amount("quote_amount_in_with_lp_fee")))
	}},
	"pumpswap SellEvent": {by: "sell", want: func(e *idltest.Event) []market.Event {
		return pumpSwapTold(e, in(e.Amount("base_amount_in")), out(e.Amount("quote_amount_out_without_lp_fee")))
	}},
	"pumpswap DepositEvent":                 {by: "deposit", vaults: pumpSwapVaults, want: pumpSwapHolds},
	"pumpswap WithdrawEvent":                {by: "withdraw", vaults: pumpSwapVaults, want: pumpSwapHolds},
	"dbc EvtInitializePool":                 {by: "initialize_virtual_pool_with_spl_token", texts: true, want: dbcLaunched},
	"dbc EvtInitializePoolWithTransferHook": {by: "initialize_virtual_pool_with_token2022_transfer_hook", texts: true, want: dbcLaunched},
	"dbc EvtSwap":                           {by: "swap", want: dbcSwappedBefore},
	"dbc EvtSwap2":                          {by: "swap2", want: dbcSwapped},
	"dbc EvtSwap2WithTransferHook":          {by: "swap2_with_transfer_hook", want: dbcSwapped},
	"dbc EvtCurveComplete":                  {by: "swap2", want: dbcCompleted},
	"dbc EvtCurveCompleteWithTransferHook":  {by: "swap2_with_transfer_hook", want: dbcCompleted},
	"damm EvtInitializePool": {by: "initialize_pool", want: func(e *idltest.Event) []market.Event {
		opens, now := e.Amount("activation_point"), amountOf(idlTime)
		if kind := e.Amount("activation_type"); kind.IsZero() {
			now = amountOf(idlSlot)
		}
		if opens.Cmp(&now) > 0 {
			return nil
		}
		created := market.PoolCreated{
			Protocol: market.MeteoraDAMMv2, Factory: key(dammProgram), Pool: e.Key("pool"), Token0: e.Key("token_a_mint"), Token1: e.Key("token_b_mint"),
			SqrtPriceX96: shifted(e.Amount("sqrt_price")),
		}
		if !compounds(e) {
			created.Liquidity = e.Amount("liquidity")
		}
		return []market.Event{
			created,
			market.Reserves{Pool: e.Key("pool"), Reserve0: e.Amount("token_a_amount"), Reserve1: e.Amount("token_b_amount")},
		}
	}},
	"damm EvtSwap2": {by: "swap2", want: func(e *idltest.Event) []market.Event {
		given, got := e.Amount("swap_result", "included_fee_input_amount"), e.Amount("swap_result", "output_amount")
		price, payer := shifted(e.Amount("swap_result", "next_sqrt_price")), key(accountOf("payer"))
		s := market.Swap{Pool: e.Key("pool"), Sender: payer, Recipient: payer, Amount0: in(given), Amount1: out(got), SqrtPriceX96: price}
		of := func(name string) market.Amount { return e.Amount("swap_result", name) }
		crossed := plusAll(got, of("claiming_fee"), of("protocol_fee"), of("compounding_fee"), of("referral_fee")) // all that leaves the reserves
		if e.Is("trade_direction") {
			s.Amount0, s.Amount1 = out(got), in(given)
			crossed = of("excluded_fee_input_amount")
		}
		if !compounds(e) {
			s.Crossed = crossed
		}
		return []market.Event{
			market.PoolCreated{
				Protocol: market.MeteoraDAMMv2, Factory: key(dammProgram), Pool: e.Key("pool"), Token0: key(accountOf("token_a_mint")), Token1: key(accountOf("token_b_mint")),
				SqrtPriceX96: price, Seen: true,
			},
			market.Reserves{Pool: e.Key("pool"), Reserve0: e.Amount("reserve_a_amount"), Reserve1: e.Amount("reserve_b_amount")},
			s,
		}
	}},
	"damm EvtLiquidityChange": {by: "add_liquidity", want: func(e *idltest.Event) []market.Event {
		change := in(e.Amount("liquidity_delta"))
		if e.Is("change_type") {
			change = change.Negate()
		}
		return []market.Event{
			market.Reserves{Pool: e.Key("pool"), Reserve0: e.Amount("reserve_a_amount"), Reserve1: e.Amount("reserve_b_amount")},
			market.RangeLiquidity{Pool: e.Key("pool"), Delta: change},
		}
	}},
}

// compounds reports whether an event is of a pool of DAMM v2 that adds its fees to what it has, and so has no range.
func compounds(e *idltest.Event) bool { return e.Text("collect_fee_mode") == "2" }

func bigOf(a market.Amount) *big.Int { return a.ToBig() }

func plusAll(list ...market.Amount) (out market.Amount) {
	for i := range list {
		out.Add(&out, &list[i])
	}
	return out
}

func notBelowZero(s market.SignedAmount) market.Amount {
	if s.Neg {
		return market.Amount{}
	}
	return s.Abs
}

func shifted(a market.Amount) (out market.Amount) {
	out.Lsh(&a, 32)
	return out
}

func pumpSwapTold(e *idltest.Event, base, quote market.SignedAmount) []market.Event {
	pool, user := e.Key("pool"), e.Key("user")
	return []market.Event{
		market.PoolCreated{
			Protocol: market.PumpSwap, Factory: key(pumpSwapProgram), Pool: pool, Token0: key(accountOf("base_mint")), Token1: key(accountOf("quote_mint")), Seen: true,
		},
		market.Reserves{
			Pool: pool, Reserve0: notBelowZero(in(e.Amount("pool_base_token_reserves")).Add(base)), Reserve1: notBelowZero(in(e.Amount("pool_quote_token_reserves")).Add(quote)),
			Virtual1: e.Signed("virtual_quote_reserves"), TellsVirtual: true,
		},
		market.Swap{Pool: pool, Sender: user, Recipient: user, Amount0: base, Amount1: quote},
	}
}

func dbcLaunched(e *idltest.Event) []market.Event {
	return []market.Event{market.Launched{
		Venue: "dbc", Token: e.Key("base_mint"), Creator: e.Key("creator"), Name: "Name of it", Symbol: "SYM", Metadata: "https://example.com/it",
		Curve: market.MeteoraDBCHolder, Rules: dbcRules, Quote: key(accountOf("quote_mint")),
	}}
}

func dbcSwapped(e *idltest.Event) []market.Event {
	given, without, got := e.Amount("swap_result", "included_fee_input_amount"), e.Amount("swap_result", "excluded_fee_input_amount"), e.Amount("swap_result", "output_amount")
	t := market.CurveTrade{
		Venue: "dbc", Token: key(accountOf("base_mint")), Trader: key(accountOf("payer")), Sell: !e.Is("trade_direction"), BaseAmount: got, QuoteAmount: given, Raised: without,
		After: market.CurveReserves{RealQuote: e.Amount("quote_reserve_amount"), Price: postedBySquare(e.Amount("swap_result", "next_sqrt_price"))},
		Tells: market.TellsQuote | market.TellsPrice,
	}
	if t.Sell {
		t.BaseAmount, t.QuoteAmount, t.Raised = given, got, plusAll(got, dbcFees(e))
	}
	return []market.Event{market.CurveSet{Venue: "dbc", Token: t.Token, TargetQuote: e.Amount("migration_threshold")}, t}
}

// dbcSwappedBefore is a swap of the program's past, of which nothing else tells.
func dbcSwappedBefore(e *idltest.Event) []market.Event {
	given, without, got := e.Amount("amount_in"), e.Amount("swap_result", "actual_input_amount"), e.Amount("swap_result", "output_amount")
	t := market.CurveTrade{
		Venue: "dbc", Token: key(accountOf("base_mint")), Trader: key(accountOf("payer")), Sell: !e.Is("trade_direction"), BaseAmount: got, QuoteAmount: given, Raised: without,
		After: market.CurveReserves{Price: postedBySquare(e.Amount("swap_result", "next_sqrt_price"))}, Tells: market.TellsPrice,
	}
	if t.Sell {
		t.BaseAmount, t.QuoteAmount, t.Raised = given, got, plusAll(got, dbcFees(e))
	}
	return []market.Event{t}
}

func dbcFees(e *idltest.Event) market.Amount {
	return plusAll(e.Amount("swap_result", "trading_fee"), e.Amount("swap_result", "protocol_fee"), e.Amount("swap_result", "referral_fee"))
}

func dbcCompleted(*idltest.Event) []market.Event {
	return []market.Event{market.CurveCompleted{Venue: "dbc", Token: key(accountOf("base_mint"))}}
}

// postedBySquare is (sqrt/2^64)^2 · 10^18 in whole numbers.
func postedBySquare(sqrt market.Amount) (price market.Amount) {
	n := sqrt.ToBig()
	n.Mul(n, n)
	n.Mul(n, big.NewInt(1_000_000_000_000_000_000))
	n.Rsh(n, 128)
	price.SetFromBig(n)
	return price
}
