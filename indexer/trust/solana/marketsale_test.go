package solana

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/replay"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

var saleTx = market.SolanaTx([64]byte{8})

// sale is what a node tells of a transaction in which somebody sold the token on its curve of pump.fun, by an instruction of a name. recipient gets the fee.
func sale(t *testing.T, instruction string, recipient market.Address) json.RawMessage {
	t.Helper()
	program, err := market.ParseSolanaAddress(decode.PumpFun)
	if err != nil {
		t.Fatal(err)
	}
	begin := sha256.Sum256([]byte("global:" + instruction))
	data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(begin[:8], 500), 7)
	keys := []string{key(50).String(), key(51).String(), key(1).String(), key(52).String(), recipient.String(), program.String()}
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{"err": nil, "preTokenBalances": []any{map[string]any{"accountIndex": 1, "mint": key(1).String()}}},
		"transaction": map[string]any{
			"signatures": []string{saleTx.String()},
			"message": map[string]any{
				"header": map[string]int{"numRequiredSignatures": 1}, "accountKeys": keys,
				"instructions": []any{map[string]any{"programIdIndex": 5, "accounts": []int{3, 4, 2, 3, 3, 1, 0, 3, 3, 3, 3, 5}, "data": base58.Encode(data)}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// onCurve is a token on a curve of pump.fun where a unit is worth a thousand lamports, with what its last sales are.
func onCurve(sales ...market.TxID) *check.Known {
	k := known()
	k.Launch.Quote, k.Launch.Rules.Pricing = key(9), market.PriceReserves
	r := &k.Launch.Reserves
	r.VirtualBase.SetUint64(1000)
	r.VirtualQuote.SetUint64(1_000_000)
	r.RealQuote.SetUint64(5_000_000) // a hundredth of it is worth 50 units
	k.Pools[0].Protocol = market.BondingCurve
	k.LastSales = func(_ context.Context, pool market.Address) ([]market.TxID, error) {
		if pool != market.CurveID(key(1)) {
			return nil, errors.New("another pool")
		}
		return sales, nil
	}
	return k
}

// pays is a sale of so many units that goes through, for so many lamports.
func pays(units, lamports uint64) solana.Simulated {
	return solana.Simulated{
		Slot: 15, BeforeSlot: 15, Before: []solana.Balance{{Lamports: 90_000}, {Lamports: 7, Tokens: 100}},
		After: []solana.Balance{{Lamports: 90_000 - signatureFee + lamports}, {Lamports: 7, Tokens: 100 - units}},
	}
}

// refuses is a sale that a program ends with an error of its own, in an instruction of the transaction.
func refuses(program market.Address, instruction string, code string) solana.Simulated {
	return solana.Simulated{
		Slot: 15, Err: `{"InstructionError":[` + instruction + `,` + code + `]}`, BeforeSlot: 15, Before: make([]solana.Balance, 2),
		Logs: []string{"Program " + key(70).String() + " invoke [1]", "Program " + program.String() + " failed: custom program error: 0x11", "Program " + key(70).String() + " failed: it failed"},
	}
}

// TestSalesAtTheMarket: what the last sale, made again by other holders, says of the token.
func TestSalesAtTheMarket(t *testing.T) {
	t.Parallel()
	first, second := key(21), key(22)
	token, hook := key(30), key(6)
	good := []json.RawMessage{sale(t, "sell", key(53))}
	both := func(s solana.Simulated) map[market.Address]solana.Simulated {
		return map[market.Address]solana.Simulated{first: s, second: s}
	}
	shifted := pays(10, 10)
	shifted.Slot = 16
	hooked := map[uint16][]byte{layout.TransferHook: append(make([]byte, 32), hook.Bytes()[1:]...)}
	const frozen = `{"Custom":17}`
	for name, c := range map[string]struct {
		node       told
		none       bool // no sale is known
		extensions map[uint16][]byte
		result     trust.Result
		says, why  string
		partly     bool
	}{
		"they sell":            {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(10, 9000))}, result: trust.Pass, says: "would get 0.000009 SOL for 10 tokens at the market"},
		"two nodes agree":      {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: {good[0], good[0]}}, sold: both(pays(10, 9000))}, result: trust.Pass, says: "at the market"},
		"two nodes differ":     {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: {good[0], sale(t, "sell", key(54))}}, sold: both(pays(10, 0))}, result: trust.Pass, says: "can move"},
		"the second lies":      {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: {good[0], json.RawMessage(`{}`)}}, sold: both(pays(10, 0))}, result: trust.Pass, says: "can move"},
		"a tenth is paid":      {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(10, 1000))}, result: trust.Pass, says: "would get 0.000001 SOL"},
		"less than a tenth":    {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(10, 999))}, result: trust.Warn, says: "would get 0.000000999 SOL for 10 tokens at the market, which are worth 0.00001 there"},
		"nothing":              {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(10, 0))}, result: trust.Warn, says: "would get 0 SOL"},
		"one gets nothing":     {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: map[market.Address]solana.Simulated{first: pays(10, 0), second: pays(10, 9000)}}, result: trust.Warn, says: "would get"},
		"a slot went by":       {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(shifted)}, result: trust.Pass, says: "can move"},
		"nothing is sold":      {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(0, 9000))}, result: trust.Pass, says: "can move"},
		"half an answer":       {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(solana.Simulated{Slot: 15})}, result: trust.Pass, says: "can move"},
		"all are frozen":       {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(token, "0", frozen))}, result: trust.Fail, says: "can't sell at the market: the account is frozen"},
		"the market's own 17":  {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(key(70), "0", frozen))}, result: trust.Pass, says: "can move"},
		"another instruction":  {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(token, "1", frozen))}, result: trust.Pass, says: "can move"},
		"no number":            {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(token, "0", `"InvalidAccountData"`))}, result: trust.Pass, says: "can move"},
		"another number":       {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(token, "0", `{"Custom":1}`))}, result: trust.Pass, says: "can move"},
		"a call of another":    {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell_all", key(53))}}, sold: both(pays(10, 0))}, result: trust.Pass, says: "can move"},
		"nobody has it":        {node: told{sold: both(pays(10, 0))}, result: trust.Pass, says: "can move"},
		"no node answers":      {node: told{sold: both(pays(10, 0)), salesErr: errors.New("no answer")}, result: trust.Pass, says: "can move", partly: true},
		"the sale isn't tried": {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, soldErr: errors.New("no answer")}, result: trust.Pass, says: "can move"},
		"a hook, they sell":    {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(pays(10, 9000))}, extensions: hooked, result: trust.Pass, says: "would get"},
		"a hook refuses":       {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `{"Custom":3}`))}, extensions: hooked, result: trust.Fail, says: "can't sell at the market: program " + hook.String() + ", which decides about each transfer, refuses it with error 3"},
		"a hook refuses with another error on each node": {
			node: told{
				sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `{"Custom":3}`)), elsewhere: both(refuses(hook, "0", `{"Custom":4}`)),
			},
			extensions: hooked, result: trust.Fail, says: "which decides about each transfer, refuses it with error 3",
		},
		"a hook refuses on one node": {
			node: told{
				sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `{"Custom":3}`)), elsewhere: both(pays(10, 9000)),
			},
			extensions: hooked, result: trust.Unknown, why: trust.CallFailed,
		},
		"a hook wants others":   {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `{"Custom":2110272652}`))}, extensions: hooked, result: trust.Unknown, why: trust.HookNotSimulated},
		"a hook's bad account":  {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `"InvalidAccountData"`))}, extensions: hooked, result: trust.Unknown, why: trust.HookNotSimulated},
		"a hook of Anchor":      {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, sold: both(refuses(hook, "0", `{"Custom":3012}`))}, extensions: hooked, result: trust.Unknown, why: trust.HookNotSimulated},
		"a hook, nobody sold":   {node: told{}, none: true, extensions: hooked, result: trust.Unknown, why: trust.HookNotSimulated},
		"a hook, none has it":   {node: told{salesErr: errors.New("no answer")}, extensions: hooked, result: trust.Unknown, why: trust.CallFailed, partly: true},
		"a hook, none simulate": {node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, soldErr: solana.ErrNotSimulated}, extensions: hooked, result: trust.Unknown, why: trust.RPCCapability},
		"a hook, no answer": {
			node: told{sales: map[market.TxID][]json.RawMessage{saleTx: good}, soldErr: errors.New("no answer")}, extensions: hooked, result: trust.Unknown, why: trust.CallFailed, partly: true,
		},
	} {
		k := onCurve(saleTx)
		if c.none {
			k.LastSales = nil
		}
		k.Holders = []check.Holding{{Account: first}, {Account: second}}
		c.node.token, c.node.held, c.node.offered = clean(), map[market.Address]uint64{first: 100, second: 20}, map[market.Address]uint64{}
		c.node.token.Extensions = c.extensions
		r, whole := reportOf(t, c.node, k)
		got := r.Find(trust.HoneypotSell)
		if got.Result != c.result || got.UnknownReason != c.why || whole == c.partly || (len(got.Evidence) != 2) != (c.result == trust.Unknown) {
			t.Errorf("%s: whole %t, %+v", name, whole, got)
		}
		for _, e := range got.Evidence {
			if e.Kind != "simulation" || e.Block < 15 || !strings.Contains(e.Detail, c.says) {
				t.Errorf("%s: the evidence is %+v", name, e)
			}
		}
		if len(c.node.sold) > 0 && len(c.node.offered) > 0 && (c.node.offered[first] != 50 || c.node.offered[second] != 20) {
			t.Errorf("%s: they offer %v", name, c.node.offered)
		}
	}
}

// TestSalesThatTellNothing: after three of them no other holder's sale is tried, but all holders' transfers are.
func TestSalesThatTellNothing(t *testing.T) {
	t.Parallel()
	k := onCurve(saleTx)
	n := told{
		token: clean(), held: map[market.Address]uint64{}, offered: map[market.Address]uint64{}, sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}},
		fails: map[market.Address]string{}, sold: map[market.Address]solana.Simulated{},
	}
	for i := range byte(6) {
		owner := key(21 + i)
		k.Holders = append(k.Holders, check.Holding{Account: owner})
		n.held[owner], n.sold[owner] = 100, refuses(key(70), "0", `{"Custom":6001}`)
		if i < 5 {
			n.fails[owner] = `"AccountNotFound"` // it can't pay the fee
		}
	}
	r, _ := reportOf(t, n, k)
	if got := r.Find(trust.HoneypotSell); len(n.offered) != tried || got.Result != trust.Pass || len(got.Evidence) != 1 || !strings.Contains(got.Evidence[0].Detail, key(26).String()+" can move") {
		t.Errorf("%d sales were tried, %+v", len(n.offered), got)
	}
}

// TestHoldersThatCantPay: sales by three poor wallets take nothing from what others' sales tell, and transfers that go through don't either.
func TestHoldersThatCantPay(t *testing.T) {
	t.Parallel()
	k := onCurve(saleTx)
	n := told{
		token: clean(), held: map[market.Address]uint64{}, offered: map[market.Address]uint64{}, sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}},
		fails: map[market.Address]string{}, sold: map[market.Address]solana.Simulated{},
	}
	for i := range byte(7) {
		owner := key(21 + i)
		k.Holders = append(k.Holders, check.Holding{Account: owner})
		n.held[owner], n.sold[owner] = 100, refuses(key(30), "0", `{"Custom":17}`)
		switch {
		case i < 3: // they have no SOL at all, so that their transfers fail as well
			n.sold[owner], n.fails[owner] = solana.Simulated{Slot: 15, Err: `"AccountNotFound"`}, `"AccountNotFound"`
		case i == 3: // it has too little for an account of the quote
			n.sold[owner] = refuses(key(30), "1", `{"Custom":1}`)
		}
	}
	r, _ := reportOf(t, n, k)
	if got := r.Find(trust.HoneypotSell); got.Result != trust.Fail || len(got.Evidence) != 3 || !strings.Contains(got.Evidence[0].Detail, key(24).String()+" can move") || !strings.Contains(got.Evidence[1].Detail, "can't sell") {
		t.Errorf("%+v", got)
	}
}

// TestAHookThatLetsSomeSell: what it says to others isn't known, so that those it lets sell prove nothing.
func TestAHookThatLetsSomeSell(t *testing.T) {
	t.Parallel()
	first, second, hook := key(21), key(22), key(6)
	k := onCurve(saleTx)
	k.Holders = []check.Holding{{Account: first}, {Account: second}}
	n := told{
		token: clean(), held: map[market.Address]uint64{first: 100, second: 100}, sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}},
		sold: map[market.Address]solana.Simulated{first: pays(10, 9000), second: refuses(hook, "0", `"InvalidArgument"`)},
	}
	n.token.Extensions = map[uint16][]byte{layout.TransferHook: append(make([]byte, 32), hook.Bytes()[1:]...)}
	r, _ := reportOf(t, n, k)
	if got := r.Find(trust.HoneypotSell); got.Result != trust.Unknown || got.UnknownReason != trust.HookNotSimulated || len(got.Evidence) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestASaleMadeToTellNothing: where the last sale's call tells nothing for a holder, the others make the one before it.
func TestASaleMadeToTellNothing(t *testing.T) {
	t.Parallel()
	first, second, older := key(21), key(22), market.SolanaTx([64]byte{9})
	k := onCurve(saleTx, older)
	k.Holders = []check.Holding{{Account: first}, {Account: second}}
	made := string(sale(t, "sell", key(54)))
	n := told{
		token: clean(), held: map[market.Address]uint64{first: 100, second: 100}, offered: map[market.Address]uint64{},
		sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}, older: {json.RawMessage(strings.Replace(made, saleTx.String(), older.String(), 1))}},
		sold:  map[market.Address]solana.Simulated{first: refuses(key(70), "0", `{"Custom":6001}`), second: pays(10, 9000)},
	}
	asked := map[market.TxID]int{}
	n.asked = asked
	r, _ := reportOf(t, n, k)
	if got := r.Find(trust.HoneypotSell); got.Result != trust.Pass || len(got.Evidence) != 2 || asked[saleTx] != 1 || asked[older] != 1 {
		t.Errorf("%v, %+v", asked, got)
	}
}

// TestWhatIsFrozen: an error that may be of the quote's account says nothing of the token.
func TestWhatIsFrozen(t *testing.T) {
	t.Parallel()
	for quote, counts := range map[market.Address]bool{key(9): true, key(10): false} {
		k := &look{known: known(), l: &Looker{wrapped: key(9)}, told: solana.Token{Program: layout.TokenProgram}}
		s := &marketSale{}
		s.call.Quote, s.call.QuoteProgram = quote, layout.TokenProgram
		f := replay.Failure{Program: layout.TokenProgram, Code: 17, HasCode: true}
		if why := k.refusal(s, &f); (why != "") != counts {
			t.Errorf("paid in %s: %q", quote, why)
		}
	}
}

// TestTheNextSale: where the last sale can't be made again, the one before it is.
func TestTheNextSale(t *testing.T) {
	t.Parallel()
	first, older := key(21), market.SolanaTx([64]byte{9})
	k := onCurve(older, saleTx)
	k.Holders = []check.Holding{{Account: first}}
	n := told{
		token: clean(), held: map[market.Address]uint64{first: 100}, sold: map[market.Address]solana.Simulated{first: pays(10, 9000)},
		sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}, older: {sale(t, "sell_all", key(53))}},
	}
	r, _ := reportOf(t, n, k)
	if got := r.Find(trust.HoneypotSell); got.Result != trust.Pass || len(got.Evidence) != 1 || !strings.Contains(got.Evidence[0].Detail, "would get") {
		t.Errorf("%+v", got)
	}
	k.LastSales = func(context.Context, market.Address) ([]market.TxID, error) { return nil, errors.New("no database") }
	if r, whole := reportOf(t, n, k); whole || !strings.Contains(r.Find(trust.HoneypotSell).Evidence[0].Detail, "can move") {
		t.Errorf("whole %t, %+v", whole, r.Find(trust.HoneypotSell))
	}
}

// TestSmallSales: what is worth too little to say anything says nothing, as markets round.
func TestSmallSales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price float64
		got   uint64
		told  bool
		lost  bool
	}{{999, 0, false, false}, {1000, 0, true, true}, {1000, 99, true, true}, {1000, 100, true, false}, {0, 0, false, false}, {0, 1, true, false}} {
		k := &look{known: known(), l: &Looker{wrapped: key(9), symbols: map[market.Address]string{key(9): "SOL"}}}
		s := &marketSale{price: c.price}
		s.call.Quote = key(9)
		sim := pays(1, c.got)
		if detail, lost := k.paid(s, &sim, key(21)); (detail != "") != c.told || lost != c.lost {
			t.Errorf("%g for a unit, %d paid: %q, %t", c.price, c.got, detail, lost)
		}
	}
}

// TestAnIndexThatIsBehind: its price is no measure any more.
func TestAnIndexThatIsBehind(t *testing.T) {
	t.Parallel()
	for behind, lost := range map[uint64]bool{mostBehind: true, mostBehind + 1: false} {
		k := &look{known: known(), l: &Looker{wrapped: key(9), symbols: map[market.Address]string{}}}
		s := &marketSale{price: 1e6}
		s.call.Quote = key(9)
		sim := pays(1, 3)
		sim.Slot = k.known.Block.Number + behind
		sim.BeforeSlot = sim.Slot
		if detail, got := k.paid(s, &sim, key(21)); got != lost || detail == "" {
			t.Errorf("%d slots behind: %q, %t", behind, detail, got)
		}
	}
}

// TestPaidIntoAnAccount: rent of an account that the sale opens is no loss, SOL may come wrapped or not, and another quote counts in its own units.
func TestPaidIntoAnAccount(t *testing.T) {
	t.Parallel()
	const rent = 2_039_280
	k := &look{known: known(), l: &Looker{wrapped: key(9), symbols: map[market.Address]string{key(9): "SOL", key(10): "USD"}}}
	at := func(wallet, to solana.Balance, sold uint64) []solana.Balance {
		return []solana.Balance{wallet, {Tokens: 10 - sold}, to}
	}
	for name, c := range map[string]struct {
		quote         market.Address
		decimals      int
		before, after []solana.Balance
		says          string
	}{
		"wrapped, into a new account": {key(9), 9, at(solana.Balance{Lamports: 3 * rent}, solana.Balance{}, 0), at(solana.Balance{Lamports: 2*rent - signatureFee}, solana.Balance{Lamports: rent + 700, Tokens: 700}, 1), "would get 0.0000007 SOL"},
		"into the wallet":             {key(9), 9, at(solana.Balance{Lamports: 3 * rent}, solana.Balance{}, 0), at(solana.Balance{Lamports: 2*rent - signatureFee + 700}, solana.Balance{Lamports: rent}, 1), "would get 0.0000007 SOL"},
		"it costs something more":     {key(9), 9, at(solana.Balance{Lamports: 3 * rent}, solana.Balance{}, 0), at(solana.Balance{Lamports: rent}, solana.Balance{Lamports: rent + 700, Tokens: 700}, 1), "would get 0.0000007 SOL"},
		"another quote":               {key(10), 6, at(solana.Balance{Lamports: 3 * rent}, solana.Balance{Lamports: rent, Tokens: 5}, 0), at(solana.Balance{Lamports: 9 * rent}, solana.Balance{Lamports: rent, Tokens: 1_500_005}, 1), "would get 1.5 USD for 1 tokens"},
		"another one without a name":  {key(11), -1, at(solana.Balance{}, solana.Balance{Tokens: 5}, 0), at(solana.Balance{}, solana.Balance{Tokens: 1_005}, 1), "would get 1000 units of " + key(11).String()},
		"less than before":            {key(10), 6, at(solana.Balance{}, solana.Balance{Tokens: 5}, 0), at(solana.Balance{}, solana.Balance{Tokens: 4}, 1), ""},
	} {
		s := &marketSale{}
		s.call.Quote, s.call.QuoteDecimals, s.call.HasDecimals = c.quote, uint8(max(c.decimals, 0)), c.decimals >= 0
		sim := solana.Simulated{Slot: 3, BeforeSlot: 3, Before: c.before, After: c.after}
		if detail, lost := k.paid(s, &sim, key(21)); lost || (detail == "") != (c.says == "") || !strings.Contains(detail, c.says) {
			t.Errorf("%s: %q", name, detail)
		}
	}
}

// TestMarketPrices: a unit's worth by each kind of market, and a hundredth of what the market can pay for.
func TestMarketPrices(t *testing.T) {
	t.Parallel()
	amount := func(n uint64) market.Amount { return *new(market.Amount).SetUint64(n) }
	var half market.Amount
	half.Lsh(half.SetUint64(1), 95) // the root of a quarter
	curve := func(rules market.CurvePricing, r market.CurveReserves) *look {
		return &look{
			known: &check.Known{Launch: &market.Launch{Rules: market.CurveRules{Pricing: rules}, Reserves: r}}, index: check.Indexed{Market: &market.Pool{Protocol: market.BondingCurve}},
		}
	}
	pool := func(p market.Pool) *look { return &look{known: &check.Known{}, index: check.Indexed{Market: &p}} }
	for name, c := range map[string]struct {
		look  *look
		price float64
		most  uint64
	}{
		"a curve with reserves":       {curve(market.PriceReserves, market.CurveReserves{VirtualBase: amount(100), VirtualQuote: amount(25), RealQuote: amount(1000)}), 0.25, 40},
		"a curve that posts a price":  {curve(market.PricePosted, market.CurveReserves{Price: amount(250_000_000_000_000_000), RealQuote: amount(1000)}), 0.25, 40},
		"a curve that raised nothing": {curve(market.PriceReserves, market.CurveReserves{VirtualBase: amount(100), VirtualQuote: amount(25)}), 0, 0},
		"a curve of nothing":          {curve(market.PriceReserves, market.CurveReserves{}), 0, 0},
		"a pool":                      {pool(market.Pool{BaseIs0: true, Reserve0: amount(4000), Reserve1: amount(1000)}), 0.25, 40},
		"a pool the other way":        {pool(market.Pool{Reserve0: amount(1000), Reserve1: amount(4000)}), 0.25, 40},
		"a virtual reserve":           {pool(market.Pool{BaseIs0: true, Reserve0: amount(4000), Reserve1: amount(1000), Virtual1: market.SignedAmount{Abs: amount(1000)}}), 0.5, 20},
		"a negative one":              {pool(market.Pool{BaseIs0: true, Reserve0: amount(4000), Reserve1: amount(1000), Virtual1: market.SignedAmount{Neg: true, Abs: amount(500)}}), 0.125, 80},
		"a negative price":            {pool(market.Pool{BaseIs0: true, Reserve0: amount(4000), Reserve1: amount(1000), Virtual1: market.SignedAmount{Neg: true, Abs: amount(5000)}}), 0, 0},
		"a pool of ranges":            {pool(market.Pool{BaseIs0: true, SqrtPriceX96: half, Reserve1: amount(1000)}), 0.25, 40},
		"of ranges, the other way":    {pool(market.Pool{SqrtPriceX96: half, Reserve0: amount(1600)}), 4, 4},
		"an empty pool":               {pool(market.Pool{BaseIs0: true}), 0, 0},
		"a pool of one unit":          {pool(market.Pool{BaseIs0: true, Reserve0: amount(1), Reserve1: amount(1)}), 0, 0},
	} {
		if price, most := c.look.marketPrice(); price != c.price || most != c.most {
			t.Errorf("%s: %g, %d", name, price, most)
		}
	}
}

// TestWhole: amounts in whole units.
func TestWhole(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		n        uint64
		decimals uint8
	}{"0": {0, 9}, "0.000000001": {1, 9}, "1000": {1000, 0}, "10": {1000, 2}, "10.01": {1001, 2}, "0.12": {12, 2}, "18446744073709551615": {1<<64 - 1, 0}} {
		if got := whole(c.n, c.decimals); got != want {
			t.Errorf("%d with %d decimals: %s, want %s", c.n, c.decimals, got, want)
		}
	}
}

// movingOn is a node whose head moves on between its answers, but for the last of an owner's simulations.
type movingOn struct {
	told

	left *int
}

func (n movingOn) Simulate(ctx context.Context, transaction []byte, noEarlier uint64, watched ...market.Address) (solana.Simulated, error) {
	sim, err := n.told.Simulate(ctx, transaction, noEarlier, watched...)
	if len(watched) > 0 {
		if *n.left--; *n.left > 0 {
			sim.Slot++
		}
	}
	return sim, err
}

// TestTheHeadMovesOn: a sale is simulated again where the accounts before it are of another slot, twice in all.
func TestTheHeadMovesOn(t *testing.T) {
	t.Parallel()
	first := key(21)
	for left, says := range map[int]string{1: "which are worth", 2: "which are worth", 3: "can move"} {
		k := onCurve(saleTx)
		k.Holders = []check.Holding{{Account: first}}
		n := movingOn{left: &left, told: told{
			token: clean(), held: map[market.Address]uint64{first: 100}, sold: map[market.Address]solana.Simulated{first: pays(10, 0)},
			sales: map[market.TxID][]json.RawMessage{saleTx: {sale(t, "sell", key(53))}},
		}}
		r, _ := reportOf(t, n, k)
		if got := r.Find(trust.HoneypotSell); len(got.Evidence) != 1 || !strings.Contains(got.Evidence[0].Detail, says) {
			t.Errorf("%s: %+v", says, got)
		}
	}
}
