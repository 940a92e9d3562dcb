package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// pair is a curve or a pool: a token for SOL.
type pair struct {
	*form
	reserves // those that it begins with

	token, account svm.Key
	// inTokens and inSOL are its token accounts. A curve's SOL is in none: inSOL is the zero key.
	inTokens, inSOL svm.Key
}

// curveOf is the curve of a launch at its beginning.
func curveOf(token, account svm.Key) *pair {
	return &pair{
		form: pumpFun, token: token, account: account, inTokens: (&programs.Coin{Mint: token, Program: programs.Token2022}).Account(account),
		reserves: reserves{virtualSOL: firstSOL, virtualTokens: firstTokens, tokens: supply, notForSale: supply - forSale},
	}
}

// curveKey is the account of the curve of a token whose curve nobody made.
func curveKey(token svm.Key) svm.Key { return key("curve of "+token.String(), 0) }

// poolOf is a pool of the local Solana.
func poolOf(p *simnet.Pool) *pair {
	base, quote := p.Tokens()
	inBase, inQuote := p.Vaults()
	out := &pair{
		form:  map[svm.Key]*form{simnet.PumpSwap: pumpSwap, simnet.AMMv4: ammV4, simnet.CPMM: cpmm}[p.Program],
		token: base, account: p.Account, inTokens: inBase, inSOL: inQuote, reserves: reserves{virtualSOL: p.Quote, virtualTokens: p.Base, sol: p.Quote, tokens: p.Base},
	}
	if base == simnet.WSOL {
		out.token, out.inTokens, out.inSOL, out.reserves = quote, inQuote, inBase, reserves{virtualSOL: p.Base, virtualTokens: p.Quote, sol: p.Base, tokens: p.Quote}
	}
	return out
}

// reserves are what the price of a pair is made of, and what its token accounts have. Pools have no virtual ones besides, and all that they have is for sale.
type reserves struct{ virtualSOL, virtualTokens, sol, tokens, notForSale uint64 }

// template is a trade as Solana's runtime tells it, with gaps where another trade of that form differs.
type template struct {
	text string
	// event is what the program told.
	event    []byte
	pair     *pair
	trader   svm.Key
	accounts []tokenAccount // in the order of their places among the transaction's keys
}

// Gaps of a template's text.
const (
	gapToken, gapPair, gapPairTokens, gapPairSOL = "@token@", "@pair@", "@tokens of pair@", "@SOL of pair@"
	gapTrader, gapTraderTokens, gapTraderSOL     = "@trader@", "@tokens of trader@", "@SOL of trader@"
	gapSignature, gapEvent, gapAmount            = "@signature@", "@event@", "@amount@"
	gapBefore, gapAfter                          = "@preTokenBalances@", "@postTokenBalances@"
)

// tokenAccount is an account that a trade changes: what it has before and after. A fee recipient's has always the same.
type tokenAccount struct {
	text    string // with a gap for the amount
	amounts func(x *trade) (before, after uint64)
}

// trade is a purchase or a sale.
type trade struct {
	*pair

	sells                bool
	sol, tokens          uint64
	before, after        reserves
	trader               svm.Key
	traderHad, traderHas uint64
	signature            string
}

// told is a transaction as a node tells it, as far as templates are cut by it.
type told struct {
	Meta struct {
		PreTokenBalances, PostTokenBalances []balance
		InnerInstructions                   []struct {
			Instructions []struct{ Data string }
		}
		LogMessages     []string
		LoadedAddresses struct{ Writable, Readonly []string }
	}
	Transaction struct {
		Signatures []string
		Message    struct{ AccountKeys []string }
	}
}

type balance struct {
	AccountIndex           int
	Mint, Owner, ProgramID string
	UITokenAmount          struct {
		Amount   uint64 `json:",string"`
		Decimals int
	}
}

// cut makes gaps in a trade of somebody.
func (p *pair) cut(raw json.RawMessage, trader svm.Key) (*template, error) {
	var tx told
	if err := json.Unmarshal(raw, &tx); err != nil {
		return nil, err
	}
	event, data := p.find(&tx)
	if event == "" {
		return nil, fmt.Errorf("a transaction that doesn't tell a trade of %s", p.token)
	}
	text, err := withoutBalances(string(raw))
	if err != nil {
		return nil, err
	}
	keys := slices.Concat(tx.Transaction.Message.AccountKeys, tx.Meta.LoadedAddresses.Writable, tx.Meta.LoadedAddresses.Readonly)
	wrapped := programs.Coin{Mint: simnet.WSOL, Program: programs.Token}
	gaps := []string{
		event, gapEvent, tx.Transaction.Signatures[0], gapSignature, trader.String(), gapTrader, wrapped.Account(trader).String(), gapTraderSOL,
		p.token.String(), gapToken, p.account.String(), gapPair, p.inTokens.String(), gapPairTokens,
	}
	if p.inSOL != (svm.Key{}) {
		gaps = append(gaps, p.inSOL.String(), gapPairSOL)
	}
	t, found := &template{event: data, pair: p, trader: trader}, 0
	for _, b := range tx.Meta.PostTokenBalances {
		a := tokenAccount{text: b.text(), amounts: b.unchanging(tx.Meta.PreTokenBalances)}
		switch key := keys[b.AccountIndex]; {
		case key == p.inTokens.String():
			found++
			a.amounts = func(x *trade) (before, after uint64) { return x.before.tokens, x.after.tokens }
		case key == p.inSOL.String():
			a.amounts = func(x *trade) (before, after uint64) { return x.before.sol, x.after.sol }
		case b.Owner == trader.String():
			found++
			gaps = append(gaps, key, gapTraderTokens)
			a.amounts = func(x *trade) (before, after uint64) { return x.traderHad, x.traderHas }
		}
		t.accounts = append(t.accounts, a)
	}
	if found != 2 {
		return nil, fmt.Errorf("a trade of %s with the balances of %d accounts, not the pair's and the trader's", p.token, found)
	}
	makeGaps := strings.NewReplacer(gaps...)
	t.text = makeGaps.Replace(text)
	for i := range t.accounts {
		t.accounts[i].text = makeGaps.Replace(t.accounts[i].text)
	}
	return t, nil
}

// withoutBalances is a transaction with gaps for the two lists of balances.
func withoutBalances(text string) (string, error) {
	for name, gap := range map[string]string{`"preTokenBalances":`: gapBefore, `"postTokenBalances":`: gapAfter} {
		head, tail, found := strings.Cut(text, name)
		if !found {
			return "", fmt.Errorf("a transaction without %s", name)
		}
		var list json.RawMessage
		if err := json.NewDecoder(strings.NewReader(tail)).Decode(&list); err != nil {
			return "", err
		}
		text = head + name + gap + tail[len(list):]
	}
	return text, nil
}

// text is the balance in JSON, with a gap for its amount.
func (b *balance) text() string {
	return fmt.Sprintf(`{"accountIndex":%d,"mint":%q,"owner":%q,"programId":%q,"uiTokenAmount":{"amount":"%s","decimals":%d,"uiAmount":1.5,"uiAmountString":"1.5"}}`,
		b.AccountIndex, b.Mint, b.Owner, b.ProgramID, gapAmount, b.UITokenAmount.Decimals)
}

// unchanging are the amounts that the account had in the transaction that the template is cut of.
func (b *balance) unchanging(list []balance) func(*trade) (before, after uint64) {
	before, after := uint64(0), b.UITokenAmount.Amount
	for _, other := range list {
		if other.AccountIndex == b.AccountIndex {
			before = other.UITokenAmount.Amount
		}
	}
	return func(*trade) (uint64, uint64) { return before, after }
}

// fill is the transaction of a trade.
func (t *template) fill(x *trade) string {
	event := slices.Clone(t.event)
	for _, keys := range [][2]svm.Key{{t.trader, x.trader}, {t.pair.token, x.token}, {t.pair.account, x.account}} {
		event = bytes.ReplaceAll(event, keys[0][:], keys[1][:])
	}
	for at, n := range x.fields(x) {
		binary.LittleEndian.PutUint64(event[at:], n)
	}
	var before, after []string
	for i := range t.accounts {
		had, has := t.accounts[i].amounts(x)
		before, after = t.accounts[i].appendTo(before, had), t.accounts[i].appendTo(after, has)
	}
	text := strings.NewReplacer(gapBefore, "["+strings.Join(before, ",")+"]", gapAfter, "["+strings.Join(after, ",")+"]").Replace(t.text)
	token, trader := x.token.String(), x.trader.String()
	return strings.NewReplacer(
		gapToken, token, gapPair, x.account.String(), gapPairTokens, x.inTokens.String(), gapPairSOL, x.inSOL.String(), gapTrader, trader,
		gapTraderTokens, name("account of "+token+trader, 0), gapTraderSOL, name("SOL of "+trader, 0), gapSignature, x.signature, gapEvent, x.encode(event),
	).Replace(text)
}

// appendTo tells what the account has. An account that has nothing isn't told: it is made by the trade, or closed.
func (a *tokenAccount) appendTo(list []string, amount uint64) []string {
	if amount == 0 {
		return list
	}
	return append(list, strings.Replace(a.text, gapAmount, strconv.FormatUint(amount, 10), 1))
}

// form is how a program tells a trade.
type form struct {
	line   string // begins the line of the log that tells it; where there is none the program calls itself
	begins []byte // what is told begins so
	length int    // at least so many bytes are told
	// feeBPS is the part of the SOL that stays in the pool, in hundredths of a percent.
	feeBPS uint64
	// fields are the numbers that are told, by their offsets.
	fields func(x *trade) map[int]uint64
}

// find is what the program told, as text and as bytes.
func (f *form) find(tx *told) (text string, data []byte) {
	fits := func(data []byte) bool { return len(data) >= f.length && bytes.HasPrefix(data, f.begins) }
	if f.line != "" {
		for _, line := range tx.Meta.LogMessages {
			text, found := strings.CutPrefix(line, f.line)
			if data, err := base64.StdEncoding.DecodeString(text); found && err == nil && fits(data) {
				return text, data
			}
		}
		return "", nil
	}
	for _, list := range tx.Meta.InnerInstructions {
		for _, i := range list.Instructions {
			if data, ok := base58.Append(nil, []byte(i.Data)); ok && fits(data) {
				return i.Data, data
			}
		}
	}
	return "", nil
}

func (f *form) encode(event []byte) string {
	if f.line != "" {
		return base64.StdEncoding.EncodeToString(event)
	}
	return base58.Encode(event)
}

// selfCall begins the data with which a program calls itself to tell an event.
var selfCall = []byte{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d}

// Forms of trades, with the offsets that the programs' descriptions give: TradeEvent of pump.fun, BuyEvent and SellEvent of PumpSwap, the line ray_log of the AMM v4 for
// SOL and USDC, and SwapEvent of CPMM.
var (
	pumpFun = &form{begins: selfCall, length: 230, fields: func(x *trade) map[int]uint64 {
		return map[int]uint64{
			48: x.sol, 56: x.tokens, 105: x.after.virtualSOL, 113: x.after.virtualTokens, 121: x.after.sol, 129: x.after.tokens - x.after.notForSale,
			177: x.sol * 95 / 10_000, 225: x.sol * 30 / 10_000, // the fees, which are no part of the price
		}
	}}
	pumpSwap = &form{begins: selfCall, length: 250, feeBPS: 20, fields: func(x *trade) map[int]uint64 {
		liquidity, fee := x.sol*20/10_000, x.sol*5/10_000
		user, price := x.sol+fee, x.sol-liquidity
		if x.sells {
			user, price = x.sol-fee, x.sol+liquidity
		}
		return map[int]uint64{24: x.tokens, 56: x.before.tokens, 64: x.before.sol, 72: price, 88: liquidity, 104: fee, 112: x.sol, 120: user}
	}}
	ammV4 = &form{line: "Program log: ray_log: ", begins: []byte{3}, feeBPS: 25, fields: func(x *trade) map[int]uint64 {
		given, got := x.amounts()
		return map[int]uint64{1: given, 9: got, 25: given, 33: x.before.sol, 41: x.before.tokens, 49: got}
	}}
	cpmm = &form{line: "Program data: ", begins: []byte{0x40, 0xc6, 0xcd, 0xe8, 0x26, 0x08, 0x71, 0xe2}, length: 160, feeBPS: 25, fields: func(x *trade) map[int]uint64 {
		given, got := x.amounts()
		inputHad, outputHad := x.before.sol, x.before.tokens
		if x.sells {
			inputHad, outputHad = outputHad, inputHad
		}
		return map[int]uint64{40: inputHad, 48: outputHad, 56: given, 64: got, 153: given * 25 / 10_000}
	}}
)

// amounts are what the trader gives and gets.
func (x *trade) amounts() (given, got uint64) {
	if x.sells {
		return x.tokens, x.sol
	}
	return x.sol, x.tokens
}
