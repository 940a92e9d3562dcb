package decode

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/idltest"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Recorded transactions that tests change.
const (
	pumpBuy     = "2RoRJxatbF9Qkv87jei19u7ei2ckyjjnrCHZBRRAXi4GFJi68kra2iPSk7aoQ9Ugnf5FK5Mdp274hMaVSzn6SN5M"
	ammPurchase = "5dk9JQExmdT635xMYA1RvdMTt7thpFoUXAi1MgtMzpEnADiq7TMMjpTG3wN8RHJ3ZqfuvtjsbDV5SHAWqRwiu51F"
	pumpSwapped = "TKsTp2znT79YCQAwfX1eC94mZ8qeH9xVRyQn3kaVCXmqxFeysWPsDYqaPGGX6Krs6w2EiAxAGdhnAgiXmeN3VUx"
	labBuy      = "2FFqEKPYpMQfMqJyT5QUopqZqtLNUKKub5LhdsRTwDussUSdVGBB11uGBFU2B3pveuRjQZGaE7bsHVr6eEWXWhcw"
)

// change is a recorded transaction after a test changed it.
func change(tb testing.TB, signature string, edit func(tx map[string]any)) json.RawMessage {
	tb.Helper()
	for _, recorded := range solanatest.Recorded(tb) {
		if recorded.Signature != signature {
			continue
		}
		return edited(tb, recorded.Raw, edit)
	}
	tb.Fatalf("%s isn't recorded", signature)
	return nil
}

func meta(tx map[string]any) map[string]any { return fields(tx["meta"]) }

func message(tx map[string]any) map[string]any { return fields(fields(tx["transaction"])["message"]) }

// fields are those of an object of JSON, items those of a list; none of what is neither.
func fields(v any) map[string]any {
	out, _ := v.(map[string]any)
	return out
}

func items(v any) []any {
	out, _ := v.([]any)
	return out
}

// logs are a transaction's lines.
func logs(tx map[string]any) (out []string) {
	for _, l := range items(meta(tx)["logMessages"]) {
		out = append(out, fmt.Sprint(l))
	}
	return out
}

// rename has another program in the place of one, everywhere.
func rename(tb testing.TB, raw json.RawMessage, from, to string) json.RawMessage {
	tb.Helper()
	out := strings.ReplaceAll(string(raw), from, to)
	if out == string(raw) {
		tb.Fatalf("no %s in the transaction", from)
	}
	return json.RawMessage(out)
}

const stranger = "Stranger11111111111111111111111111111111111"

func same(map[string]any) {}

// TestEventsOfOtherPrograms: what another program says in the form of an event means nothing, whoever's form it has.
func TestEventsOfOtherPrograms(t *testing.T) {
	d := newDecoder(t, declared())
	for signature, program := range map[string]string{pumpBuy: PumpFun, pumpSwapped: pumpSwapProgram, labBuy: LaunchLab, ammPurchase: ammProgram} {
		if got := told(decodeOne(t, d, rename(t, change(t, signature, same), program, stranger))); got != nil {
			t.Errorf("%s by a stranger: %v", program, got)
		}
	}
	// Programs have events of one name, and so of one discriminator, with other contents.
	if got := told(decodeOne(t, d, rename(t, change(t, labBuy, same), LaunchLab, pumpSwapProgram))); got != nil {
		t.Errorf("LaunchLab's events by PumpSwap: %v", got)
	}
}

// TestCalledByOthers: an event counts only where its program called itself. The program refuses others by itself; a node that lies doesn't.
func TestCalledByOthers(t *testing.T) {
	d := newDecoder(t, declared())
	raw := change(t, pumpSwapped, func(tx map[string]any) {
		for _, g := range items(meta(tx)["innerInstructions"]) {
			calls := items(fields(g)["instructions"])
			for _, c := range calls {
				if call := fields(c); call["stackHeight"] == 3.0 {
					call["stackHeight"] = 2.0 // as if it were called by the instruction of the message
				}
			}
		}
	})
	want := told(decodeOne(t, d, change(t, pumpSwapped, same)))
	got := told(decodeOne(t, d, raw))
	if len(want) != 2 || got != nil {
		t.Errorf("decoded are %v, and %v where others call", want, got)
	}
}

// TestLinesOfOtherPrograms: a line of the log is the program's on top of the stack.
func TestLinesOfOtherPrograms(t *testing.T) {
	d := newDecoder(t, declared())
	want := told(decodeOne(t, d, change(t, ammPurchase, same)))
	const forged = "Program log: ray_log: A///////////AAAAAAAAAAABAAAAAAAAAGQWzDkAAAAACidbBwMAAAAYrndrHwIAAP///////wAA"
	raw := change(t, ammPurchase, func(tx map[string]any) {
		lines := logs(tx)
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Program "+ammProgram+" invoke") })
		strange := []string{"Program " + stranger + " invoke [1]", forged, "Program log: Program " + ammProgram + " invoke [2]", forged, "Program log: invoke [1]", "Program log: success", "Program log: success", "Program " + stranger + " success"}
		within := []string{"Program " + stranger + " invoke [2]", forged, "Program " + stranger + " success"}
		meta(tx)["logMessages"] = slices.Concat(lines[:at], strange, lines[at:at+1], within, lines[at+1:])
	})
	if got := told(decodeOne(t, d, raw)); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("decoded is %v, want %v", got, want)
	}
}

// TestLogsThatAreCutOff: a recorded swap whose line is cut off is told by what it did to its pool's token accounts. Where the transaction has other calls about the pool, what
// the swap did are the transfers that it made.
func TestLogsThatAreCutOff(t *testing.T) {
	d, swaps := newDecoder(t, declared()), 0
	for _, recorded := range solanatest.Recorded(t) {
		var whole []string
		for _, of := range decodeOne(t, d, recorded.Raw).Txs {
			for _, l := range of.Logs {
				if e, ok := l.Event.(market.Swap); ok && e.Pool.Kind() == market.SolanaKey {
					whole = append(whole, fmt.Sprintf("%s moves by %s and %s", e.Pool, signed(e.Amount0), signed(e.Amount1)), fmt.Sprintf("swap of %s and %s", signed(e.Amount0), signed(e.Amount1)))
				}
			}
		}
		if !strings.Contains(string(recorded.Raw), "ray_log: ") || len(whole) == 0 {
			continue
		}
		swaps += len(whole) / 2
		for _, lines := range []any{[]string{"Log truncated"}, nil} {
			cut := func(tx map[string]any) { meta(tx)["logMessages"] = lines }
			if got := told(decodeOne(t, d, change(t, recorded.Signature, cut))); !slices.Equal(got, whole) {
				t.Errorf("%s: decoded is %v, want %v", recorded.Signature, got, whole)
			}
			among := func(tx map[string]any) {
				cut(tx)
				nameAllAgain(tx)
			}
			if got := told(decodeOne(t, d, change(t, recorded.Signature, among))); !slices.Equal(got, whole) {
				t.Errorf("%s with another call about its pool: decoded is %v, want %v", recorded.Signature, got, whole)
			}
		}
	}
	if swaps < 11 {
		t.Errorf("only %d swaps of AMM v4 are recorded", swaps)
	}
	const nested = "3HdFhHNyf2uKrW6zb6FeYZpjcRyvprQuQH4oVkmc4uuCAhoEUAEkPHgUzRubf8npmHnziRs4HokFTgAkGPyzso6D" // another program called the AMM
	flat := change(t, nested, func(tx map[string]any) {
		meta(tx)["logMessages"] = nil
		nameAllAgain(tx)
		for _, g := range items(meta(tx)["innerInstructions"]) {
			for _, c := range items(fields(g)["instructions"]) {
				delete(fields(c), "stackHeight")
			}
		}
	})
	if got := told(decodeOne(t, d, flat)); got != nil {
		t.Errorf("a swap of which nobody knows what it called: %v", got)
	}
}

// inner is an instruction that another one called, by the places of its program and accounts.
func inner(program int, data []byte, accounts ...int) map[string]any {
	return map[string]any{"programIdIndex": program, "accounts": accounts, "data": base58.Encode(data), "stackHeight": 2}
}

// edited is a transaction after a change.
func edited(tb testing.TB, raw json.RawMessage, edit func(tx map[string]any)) json.RawMessage {
	tb.Helper()
	var tx map[string]any
	if err := json.Unmarshal(raw, &tx); err != nil {
		tb.Fatal(err)
	}
	edit(tx)
	raw, err := json.Marshal(tx)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// TestAPoolThatIsMadeAndFilled: a transaction without its log makes a pool and then puts more into it. The pool has what the first call put there, and then what the second one did.
func TestAPoolThatIsMadeAndFilled(t *testing.T) {
	d, holder := newDecoder(t, everything()), market.RaydiumAMMv4Holder.String()
	c := &calls{
		program: ammProgram, data: append([]byte{ammInitialize2, 254}, numbersOf(0, 5, 6)...), named: map[string]string{"token_program": spltoken.Program}, accounts: []string{
			"token_program", "ata_program", "system_program", "rent", "amm", "authority", "open_orders", "lp_mint", "token_0_mint", "token_1_mint", "coin_vault", "pc_vault", "from_0", "from_1",
			"target_orders", "config", "fee", "market_program", "market", "wallet", "lp",
		},
		balances: []map[string]any{balanceOf(12, accountOf("token_0_mint"), holder, 600), balanceOf(13, accountOf("token_1_mint"), holder, 800)},
	}
	const token, coin, pc, from0, from1 = 2, 12, 13, 14, 15
	moves := func(amount0, amount1 uint64) []any {
		return []any{inner(token, append([]byte{3}, numbersOf(amount0)...), from0, coin, from0), inner(token, append([]byte{3}, numbersOf(amount1)...), from1, pc, from1)}
	}
	raw := edited(t, c.raw(t), func(tx map[string]any) {
		deposit := map[string]any{"programIdIndex": 0, "accounts": []int{token, 6, 7, 8, 9, coin, pc, from0, from1, 10, 11}, "data": base58.Encode([]byte{ammDeposit})}
		message(tx)["instructions"] = append(items(message(tx)["instructions"]), deposit)
		meta(tx)["innerInstructions"] = []any{map[string]any{"index": 0, "instructions": moves(500, 600)}, map[string]any{"index": 1, "instructions": moves(100, 200)}}
	})
	pool := key(accountOf("amm"))
	want := []market.Event{
		market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: key(ammProgram), Pool: pool, Token0: key(accountOf("token_0_mint")), Token1: key(accountOf("token_1_mint"))},
		market.Reserves{Pool: pool, Reserve0: amountOf(500), Reserve1: amountOf(600)},
		market.ReservesMoved{Pool: pool, Change0: in(amountOf(100)), Change1: in(amountOf(200))},
	}
	if list := eventsOf(decodeOne(t, d, raw)); !slices.Equal(list, want) {
		t.Errorf("got %+v\nwant %+v", list, want)
	}
}

// TestADonationBesideASwap: what somebody gives a pool in the transaction of a swap whose log is cut off is no part of the swap, nor is what the swap moves from an account to itself.
func TestADonationBesideASwap(t *testing.T) {
	d := newDecoder(t, everything())
	const coin, pc, from, to = 6, 7, 16, 17
	for name, donation := range map[string]map[string]any{
		"beside it": inner(2, append([]byte{3}, numbersOf(1000)...), from, pc, from), "to itself": nil,
	} {
		c := vaultCall(ammProgram, []byte{ammSwapBaseIn}, 1, 4, 17)
		c.named = map[string]string{"account 0": spltoken.Program}
		raw := edited(t, c.raw(t), func(tx map[string]any) {
			moves := []any{inner(2, append([]byte{3}, numbersOf(2)...), from, pc, from), inner(2, append([]byte{3}, numbersOf(20)...), coin, to, from)}
			if donation != nil {
				message(tx)["instructions"] = append(items(message(tx)["instructions"]), donation)
			} else {
				nameAllAgain(tx)
				moves = append(moves, inner(2, append([]byte{3}, numbersOf(50)...), coin, coin, from))
			}
			meta(tx)["innerInstructions"] = []any{map[string]any{"index": 0, "instructions": moves}}
		})
		list := eventsOf(decodeOne(t, d, raw))
		if s, ok := list[len(list)-1].(market.Swap); !ok || s.Amount0 != out(amountOf(20)) || s.Amount1 != in(amountOf(2)) {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// TestAnOrderBookThatSettles: where another program moves what an order book owes the pool, nobody knows what the call itself did.
func TestAnOrderBookThatSettles(t *testing.T) {
	d := newDecoder(t, everything())
	for name, accounts := range map[string][]int{"a vault": {3, 7}, "others": {3, 12}} { // the first vault stands at 6
		raw := edited(t, vaultCall(ammProgram, []byte{ammSwapBaseIn}, 1, 4, 17).raw(t), func(tx map[string]any) {
			call := inner(9, []byte{5}, accounts...)
			meta(tx)["innerInstructions"] = []any{map[string]any{"index": 0, "instructions": []any{call}}}
		})
		if list := eventsOf(decodeOne(t, d, raw)); (list == nil) != (name == "a vault") {
			t.Errorf("an order book that has %s: %+v", name, list)
		}
	}
}

// nameAllAgain adds a call of AMM v4 that means nothing and has all accounts of the transaction.
func nameAllAgain(tx map[string]any) {
	keys := items(message(tx)["accountKeys"])
	program, accounts := slices.Index(keys, any(ammProgram)), make([]any, len(keys))
	for i := range accounts {
		accounts[i] = i
	}
	list := items(message(tx)["instructions"])
	if program < 0 { // it is among those of a lookup table
		loaded := fields(meta(tx)["loadedAddresses"])
		program = slices.Index(slices.Concat(keys, items(loaded["writable"]), items(loaded["readonly"])), any(ammProgram))
	}
	message(tx)["instructions"] = append(list, map[string]any{"programIdIndex": program, "accounts": accounts, "data": base58.Encode([]byte{200})})
}

// TestFailedTransactions mean nothing.
func TestFailedTransactions(t *testing.T) {
	d := newDecoder(t, declared())
	for _, signature := range []string{pumpBuy, ammPurchase, pumpSwapped, labBuy} {
		raw := change(t, signature, func(tx map[string]any) { meta(tx)["err"] = map[string]any{"InstructionError": []any{1, "Custom"}} })
		if b := decodeOne(t, d, raw); len(b.Txs) > 0 || b.Transactions != 1 {
			t.Errorf("%s failed and means %v", signature, b.Txs)
		}
	}
}

// TestGrownEvents: events have grown at their ends, and will again.
func TestGrownEvents(t *testing.T) {
	d := newDecoder(t, declared())
	for _, signature := range []string{pumpBuy, pumpSwapped, labBuy} {
		want := told(decodeOne(t, d, change(t, signature, same)))
		raw := change(t, signature, func(tx map[string]any) {
			for _, g := range items(meta(tx)["innerInstructions"]) {
				for _, c := range items(fields(g)["instructions"]) {
					call := fields(c)
					data, _ := base58.Append(nil, []byte(fmt.Sprint(call["data"])))
					if len(data) > 8 && discriminator(data) == selfCall {
						call["data"] = base58.Encode(append(data, make([]byte, 40)...))
					}
				}
			}
		})
		if got := told(decodeOne(t, d, raw)); !slices.Equal(got, want) {
			t.Errorf("%s: grown events are %v, want %v", signature, got, want)
		}
	}
}

// TestDeclaredAccounts: a launch is of the venue that declares an account of it, and of none where nobody does.
func TestDeclaredAccounts(t *testing.T) {
	const config, platform, other = "6s1xP3hpbAfFoNtUNF8mfHsjr2Bd97JxFJRWLbL6aHuX", "4E876q", "9sHpTf"
	c := declared()
	for account, want := range map[string]int{config: 2, LaunchLab: 2, stranger: 0} {
		c.Venues[1].Contracts = []market.Address{key(account)}
		if got := told(decodeOne(t, newDecoder(t, c), change(t, labBuy, same))); len(got) != want {
			t.Errorf("a venue of %s has %v", account, got)
		}
	}
	c.Venues[1].Contracts = []market.Address{key(LaunchLab)}
	c.Venues = append(c.Venues, chainconfig.Venue{ID: "configured", Protocol: chainconfig.RaydiumLaunchLab, Contracts: []market.Address{key(config), key(LaunchLab)}})
	for _, line := range told(decodeOne(t, newDecoder(t, c), change(t, labBuy, same))) {
		if !strings.HasPrefix(line, "configured ") {
			t.Errorf("the program's venue takes what another one's configuration has: %s", line)
		}
	}
}

// TestUndeclaredPrograms: what the chain document doesn't declare means nothing.
func TestUndeclaredPrograms(t *testing.T) {
	c := declared()
	c.Venues, c.Exchanges = nil, nil
	d := newDecoder(t, c)
	for _, tx := range solanatest.Recorded(t) {
		if got := told(decodeOne(t, d, tx.Raw)); got != nil {
			t.Errorf("%s: %v", tx.Signature, got)
		}
	}
}

// TestBadBlocks: what no honest node tells is an error, and names no row.
func TestBadBlocks(t *testing.T) {
	d := newDecoder(t, declared())
	block := func(raw json.RawMessage) []byte {
		return solanatest.Block(t, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, raw)
	}
	balances := func(edit func(list []any) []any) json.RawMessage {
		return change(t, pumpBuy, func(tx map[string]any) {
			meta(tx)["postTokenBalances"] = edit(items(meta(tx)["postTokenBalances"]))
		})
	}
	first := func(edit func(b map[string]any)) json.RawMessage {
		return balances(func(list []any) []any { edit(fields(list[0])); return list })
	}
	instruction := func(name string, value any) json.RawMessage {
		return change(t, pumpBuy, func(tx map[string]any) { fields(items(message(tx)["instructions"])[0])[name] = value })
	}
	many := make([]any, mostInstructions+1)
	for i := range many {
		many[i] = map[string]any{"programIdIndex": 0, "accounts": []int{}, "data": ""}
	}
	for name, raw := range map[string][]byte{
		"no JSON":                    []byte("{"),
		"null":                       []byte("null"),
		"a list":                     []byte("[]"),
		"nothing":                    []byte("{}"),
		"another hash":               []byte(strings.Replace(string(block(change(t, pumpBuy, same))), `"blockhash":"`, `"blockhash":"O`, 1)),
		"a parent above":             []byte(strings.Replace(string(block(change(t, pumpBuy, same))), `"parentSlot":1`, `"parentSlot":2`, 1)),
		"half a transaction":         block(json.RawMessage(`{"meta":{"err":null,"postTokenBalances":[{"uiTokenAmount":{"amount":"1"}}]}}`)),
		"no meta":                    block(change(t, pumpBuy, func(tx map[string]any) { tx["meta"] = nil; tx["version"] = PumpFun })),
		"no meta at all":             block(change(t, pumpBuy, func(tx map[string]any) { delete(tx, "meta") })),
		"no number of the parent":    []byte(strings.Replace(string(block(change(t, pumpBuy, same))), `"parentSlot":1,`, "", 1)),
		"no word of an error":        block(change(t, pumpBuy, func(tx map[string]any) { delete(meta(tx), "err") })),
		"an account twice":           block(balances(func(list []any) []any { return append(list, list[len(list)-1]) })),
		"an account out of order":    block(balances(func(list []any) []any { slices.Reverse(list); return list })),
		"an account beyond the keys": block(first(func(b map[string]any) { b["accountIndex"] = 1000 })),
		"an amount of 65 bits": block(first(func(b map[string]any) {
			b["uiTokenAmount"] = map[string]any{"amount": "18446744073709551616", "decimals": 6}
		})),
		"an amount below zero":           block(first(func(b map[string]any) { b["uiTokenAmount"] = map[string]any{"amount": "-1", "decimals": 6} })),
		"an amount that is no number":    block(first(func(b map[string]any) { b["uiTokenAmount"] = map[string]any{"amount": "1e9", "decimals": 6} })),
		"decimals beyond a byte":         block(first(func(b map[string]any) { b["uiTokenAmount"] = map[string]any{"amount": "1", "decimals": 256} })),
		"a token that is no key":         block(first(func(b map[string]any) { b["mint"] = strings.Repeat("1", 1<<20) })),
		"an owner that is no key":        block(first(func(b map[string]any) { b["owner"] = "0" })),
		"a program beyond the keys":      block(instruction("programIdIndex", 1000)),
		"a program beyond 16 bits":       block(instruction("programIdIndex", 1<<16)),
		"accounts beyond the keys":       block(instruction("accounts", []int{1000})),
		"calls of no instruction":        block(change(t, pumpBuy, func(tx map[string]any) { fields(items(meta(tx)["innerInstructions"])[0])["index"] = 4095 })),
		"calls out of order":             block(change(t, pumpBuy, func(tx map[string]any) { slices.Reverse(items(meta(tx)["innerInstructions"])) })),
		"more instructions than allowed": block(change(t, pumpBuy, func(tx map[string]any) { message(tx)["instructions"] = many })),
		"no signature":                   block(change(t, pumpBuy, func(tx map[string]any) { fields(tx["transaction"])["signatures"] = []string{} })),
		"a signature of a megabyte": block(change(t, pumpBuy, func(tx map[string]any) {
			fields(tx["transaction"])["signatures"] = []string{strings.Repeat("z", 1<<20)}
		})),
	} {
		if b, err := d.ParseBlock(2, raw); !errors.Is(err, rpc.ErrGarbage) || len(b.Txs) > 0 {
			t.Errorf("%s: %v, %d transactions", name, err, len(b.Txs))
		}
	}
}

// TestOddBlocks: what is rare and right.
func TestOddBlocks(t *testing.T) {
	d := newDecoder(t, declared())
	want := told(decodeOne(t, d, change(t, pumpBuy, same)))
	for name, raw := range map[string]json.RawMessage{
		"a transaction of a version to come": change(t, pumpBuy, func(tx map[string]any) { tx["version"] = 7; tx["more"] = map[string]any{"a": []any{1, "]}"}} }),
		"data that is no base58": change(t, pumpBuy, func(tx map[string]any) {
			fields(items(message(tx)["instructions"])[0])["data"] = `0"\`
		}),
		"data of a megabyte": change(t, pumpBuy, func(tx map[string]any) {
			fields(items(message(tx)["instructions"])[0])["data"] = strings.Repeat("z", 1<<20)
		}),
		"an unknown owner": change(t, pumpBuy, func(tx map[string]any) {
			list := items(meta(tx)["postTokenBalances"])
			delete(fields(list[len(list)-1]), "owner")
		}),
	} {
		if got := told(decodeOne(t, d, raw)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	b, err := d.ParseBlock(0, []byte(`{"blockTime":null,"blockhash":"4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn","previousBlockhash":"11111111111111111111111111111111","parentSlot":0}`))
	if err != nil || b.HasTime || b.Transactions != 0 || b.Hash.IsZero() {
		t.Errorf("the first block: %+v, %v", b, err)
	}
}

// TestNewRefuses names what is wrong with a chain document.
func TestNewRefuses(t *testing.T) {
	c := declared()
	c.Exchanges[0].Protocol = market.UniswapV2
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), `exchange pumpswap: no program of Solana speaks protocol "UniswapV2"`) {
		t.Error(err)
	}
	c = declared()
	c.Venues[0].Protocol = chainconfig.Flap
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), `venue pump-fun: no program of Solana speaks protocol "Flap"`) {
		t.Error(err)
	}
}

// fuzzed are the blocks that fuzzing begins with: one for each of some recorded transactions, for each event that the programs' descriptions have, for CPMM's swaps,
// for each way in which CPMM and AMM v4 make a pool and change its liquidity, with the log and without it, for the forms of AMM v4's swaps, and for the instructions
// that move a curve's funds to a pool.
func fuzzed(tb testing.TB) (out []json.RawMessage) {
	tb.Helper()
	block := func(raw json.RawMessage) {
		out = append(out, solanatest.Block(tb, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, raw))
	}
	for _, signature := range []string{pumpBuy, ammPurchase, pumpSwapped, labBuy} {
		block(change(tb, signature, same))
	}
	programs, events := idltest.Encoded(tb, 1)
	seen := map[string]bool{}
	for i := range events {
		if name := events[i].Program + " " + events[i].Name; !seen[name] {
			seen[name] = true
			_, c := describedCall(tb, programs, &events[i])
			block(c.raw(tb))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(madePools())) {
		c := madePools()[name]
		c.data = append(c.data, numbersOf(1, 5, 6)...) // it opens with the block
		block(c.raw(tb))
	}
	for _, list := range []map[string]*calls{movedVaults(), swapsBesideOthers(), loggedVaults()} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			block(list[name].raw(tb))
		}
	}
	toDAMM := programs["dbc"]
	for _, c := range []*calls{
		owedTaken(),
		cpmmSwap(accountOf("input_token_mint"), accountOf("output_token_mint")), cpmmLiquidity("deposit", 0), cpmmLiquidity("withdraw", 1),
		{program: MeteoraDBC, accounts: toDAMM.Accounts["migration_damm_v2"], data: toDAMM.Instructions["migration_damm_v2"]},
		{program: LaunchLab, accounts: launchLabMoved, data: launchLabToCPMM[:]},
		{program: LaunchLab, accounts: launchLabMovedToAMM, data: launchLabToAMMv4[:]},
	} {
		block(c.raw(tb))
	}
	return out
}

// isFuzzWorker reports whether this process was started to fuzz by another one, which gives it what to begin with: it needs no encoder of its own for that.
func isFuzzWorker() bool {
	worker := flag.Lookup("test.fuzzworker")
	return worker != nil && worker.Value.String() == "true"
}

// FuzzParseBlock: whatever a node tells is decoded or is an error, and what is decoded is in order.
func FuzzParseBlock(f *testing.F) {
	if !isFuzzWorker() {
		for _, raw := range fuzzed(f) {
			f.Add([]byte(raw))
		}
	}
	d := newDecoder(f, everything())
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := d.ParseBlock(2, raw)
		if err != nil {
			return
		}
		last := uint64(0)
		for _, tx := range b.Txs {
			if tx.ID.IsNone() || len(tx.Logs) == 0 {
				t.Fatalf("a transaction without a name, or without an event: %+v", tx)
			}
			for _, l := range tx.Logs {
				if l.Index <= last || l.Index >= 1<<63 {
					t.Fatalf("place %d after %d", l.Index, last)
				}
				last = l.Index
			}
		}
		again, err := d.ParseBlock(2, raw)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(b) {
			t.Fatalf("another answer the second time: %v", err)
		}
	})
}

// TestFuzzingBegins: each instruction of Raydium's pools that is decoded is among the blocks that fuzzing begins with, in one that tells something.
func TestFuzzingBegins(t *testing.T) {
	d, told := newDecoder(t, everything()), []string{}
	for _, raw := range fuzzed(t) {
		b, err := d.ParseBlock(2, raw)
		if err != nil {
			t.Fatal(err)
		}
		var block struct{ Transactions []map[string]any }
		if err := json.Unmarshal(raw, &block); err != nil {
			t.Fatal(err)
		}
		if eventsOf(b) == nil {
			continue
		}
		of := message(block.Transactions[0])
		first := fields(items(of["instructions"])[0])
		program, _ := first["programIdIndex"].(float64)
		data, _ := base58.Append(nil, []byte(fmt.Sprint(first["data"])))
		told = append(told, fmt.Sprintf("%s %x", items(of["accountKeys"])[int(program)], data))
	}
	var want []string
	for _, instruction := range []byte{ammInitialize2, ammDeposit, ammWithdraw, ammWithdrawPnL, ammSwapBaseIn, ammSwapBaseOut, ammSwapBaseInV2, ammSwapBaseOutV2} {
		want = append(want, fmt.Sprintf("%s %02x", ammProgram, instruction))
	}
	for _, instruction := range []discriminator{cpmmInitialize, cpmmInitializePermission, cpmmSwapIn, cpmmDeposit, cpmmWithdraw} {
		want = append(want, fmt.Sprintf("%s %x", cpmmProgram, instruction))
	}
	for _, begins := range want {
		if !slices.ContainsFunc(told, func(one string) bool { return strings.HasPrefix(one, begins) }) {
			t.Errorf("no block has an instruction that begins with %s", begins)
		}
	}
}
