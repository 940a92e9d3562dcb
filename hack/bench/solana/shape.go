package solana

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// Kinds of transactions in a block, out of 2,500: what a block of the mainnet has.
const (
	votes, failed, others = 1000, 500, 550
)

// block is what the node serves.
type block struct {
	slot, parentSlot uint64
	hash, parent     string
	time             int64
	// txs are the transactions' JSON, joined by commas, in pieces; most blocks share all but the last.
	txs [][]byte
}

// template is a purchase on a curve as Solana's runtime tells it, with gaps where it is somebody else's, of another token.
type template struct {
	text string
	// event is what the program told.
	event []byte
	// The keys that it names.
	mint, curve, curveAccount, trader, traderAccount string
	// The places of the two token accounts.
	curveAt, traderAt int
}

// Offsets of the fields of pump.fun's TradeEvent, by its description. The first 16 bytes say that it is an event, and which.
const (
	eventMint, eventSOL, eventTokens, eventTrader = 16, 48, 56, 65
	eventVirtualSOL, eventVirtualTokens           = 105, 113
	eventRealSOL, eventRealTokens                 = 121, 129
)

// The reserves that a curve begins with.
const (
	firstSOL, firstTokens, forSale, supply = 30_000_000_000, 1_073_000_000_000_000, 793_100_000_000_000, 1_000_000_000_000_000
)

// beginning is what the local Solana made: the first blocks, and what others are made of.
type beginning struct {
	blocks   []block
	purchase template
	mint     svm.Key
	// noise are votes, failed transactions and others that mean nothing here, as they stand in every block.
	noise []byte
}

// begin has the local Solana make a pool of SOL, a launch and a few trades.
func begin(ctx context.Context, chain *svm.Chain) (*beginning, error) {
	w, err := simnet.Deploy(ctx, chain, simnet.Options{Seed: 1, People: 3})
	if err != nil {
		return nil, err
	}
	mine := func() error { return w.Mine(ctx, w.Slot()+1, w.Time().Add(time.Second)) }
	c, err := w.Launch(ctx, simnet.PumpFun, w.People[0], simnet.Launch{Name: "Token", Symbol: "TKN", URI: "https://example.com/token.json"}, 0)
	if err != nil {
		return nil, err
	}
	steps := []func() error{
		mine,
		func() error { return w.TradeSOL(ctx, w.People[1], true, 1_000_000_000) }, mine,
		func() error { return w.Buy(ctx, c, w.People[2], 500_000_000) }, mine,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b := &beginning{mint: c.Token}
	var slots []uint64
	if err := chain.Call(ctx, &slots, "getBlocks", 1, w.Slot(), map[string]string{"commitment": "confirmed"}); err != nil {
		return nil, err
	}
	var last []json.RawMessage // of the last block, which only serves as a template
	for i, slot := range slots {
		var told struct {
			Blockhash         string            `json:"blockhash"`
			PreviousBlockhash string            `json:"previousBlockhash"`
			ParentSlot        uint64            `json:"parentSlot"`
			BlockTime         int64             `json:"blockTime"`
			Transactions      []json.RawMessage `json:"transactions"`
		}
		if err := chain.Call(ctx, &told, "getBlock", slot, map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 1}); err != nil {
			return nil, err
		}
		if last = told.Transactions; i == len(slots)-1 {
			break
		}
		txs := bytes.Join(rawOf(told.Transactions), []byte(","))
		b.blocks = append(b.blocks, block{slot: slot, parentSlot: told.ParentSlot, hash: told.Blockhash, parent: told.PreviousBlockhash, time: told.BlockTime, txs: [][]byte{txs}})
	}
	if len(last) != 1 {
		return nil, fmt.Errorf("the last block has %d transactions, not the purchase alone", len(last))
	}
	if b.purchase, err = templateOf(last[0], c, w.People[2].Key); err != nil {
		return nil, err
	}
	return b, b.makeNoise()
}

func rawOf(list []json.RawMessage) (out [][]byte) {
	for _, r := range list {
		out = append(out, r)
	}
	return out
}

// templateOf makes gaps in a purchase.
func templateOf(raw json.RawMessage, c *simnet.Curve, trader svm.Key) (t template, err error) {
	type balance struct {
		AccountIndex int    `json:"accountIndex"`
		Owner        string `json:"owner"`
	}
	var told struct {
		Meta struct {
			PostTokenBalances []balance `json:"postTokenBalances"`
			InnerInstructions []struct {
				Instructions []struct{ Data string } `json:"instructions"`
			} `json:"innerInstructions"`
			LoadedAddresses struct{ Writable, Readonly []string } `json:"loadedAddresses"`
		} `json:"meta"`
		Transaction struct {
			Signatures []string `json:"signatures"`
			Message    struct {
				AccountKeys []string `json:"accountKeys"`
			} `json:"message"`
		} `json:"transaction"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return t, err
	}
	keys := slices.Concat(told.Transaction.Message.AccountKeys, told.Meta.LoadedAddresses.Writable, told.Meta.LoadedAddresses.Readonly)
	t.mint, t.curve, t.trader = c.Token.String(), c.Account.String(), trader.String()
	for _, b := range told.Meta.PostTokenBalances {
		switch b.Owner {
		case t.curve:
			t.curveAt, t.curveAccount = b.AccountIndex, keys[b.AccountIndex]
		case t.trader:
			t.traderAt, t.traderAccount = b.AccountIndex, keys[b.AccountIndex]
		}
	}
	text := string(raw)
	for _, list := range told.Meta.InnerInstructions {
		for _, i := range list.Instructions {
			if data, ok := base58.Append(nil, []byte(i.Data)); ok && len(data) > 200 && bytes.HasPrefix(data, []byte{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d}) {
				t.event = data
				text = strings.Replace(text, i.Data, "@event@", 1)
			}
		}
	}
	text = strings.ReplaceAll(text, told.Transaction.Signatures[0], "@signature@")
	for _, name := range []string{"preTokenBalances", "postTokenBalances"} {
		from := strings.Index(text, `"`+name+`":[`)
		if from < 0 {
			return t, fmt.Errorf("a transaction without %s", name)
		}
		from += len(name) + 3
		length, err := arrayLen(text[from:])
		if err != nil {
			return t, err
		}
		text = text[:from] + "@" + name + "@" + text[from+length:]
	}
	if t.text = text; t.event == nil || t.curveAccount == "" || t.traderAccount == "" {
		return t, errors.New("the purchase has no event, or no balances")
	}
	return t, nil
}

// arrayLen is how long the JSON array is that a text begins with.
func arrayLen(text string) (int, error) {
	d := json.NewDecoder(strings.NewReader(text))
	var list json.RawMessage
	err := d.Decode(&list)
	return len(list), err
}

// makeNoise makes what every block has besides its trades: votes, purchases that failed, and purchases of a program that nobody declared, of a token that nobody
// watches.
func (b *beginning) makeNoise() error {
	const vote = `{"meta":{"computeUnitsConsumed":2100,"err":null,"fee":5000,"innerInstructions":[],"loadedAddresses":{"readonly":[],"writable":[]},` +
		`"logMessages":["Program Vote111111111111111111111111111111111111111 invoke [1]","Program Vote111111111111111111111111111111111111111 success"],` +
		`"postBalances":[64706311963,15886107809,1,1,1],"postTokenBalances":[],"preBalances":[64706316963,15886107809,1,1,1],"preTokenBalances":[],"rewards":[],"status":{"Ok":null}},` +
		`"transaction":{"message":{"accountKeys":["@trader@","@account@","Vote111111111111111111111111111111111111111"],` +
		`"header":{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":1,"numRequiredSignatures":1},"instructions":[{"accounts":[1,0],` +
		`"data":"67MGmwZ1qxJPoRSZ4jEmHrLWzGyKwQFQbbf6jjZ2ZgVqM4hHYzPRBqXCZ7n4U8Ld5ZBbgvtRAqKFwZ6mp1Fn5fKKXgXGF8PCiZ7Gv5bTnBhKPeD6uXS9CRoHrT7bsJk4AqK1Dcz1g6yfiNE","programIdIndex":2,` +
		`"stackHeight":1}],"recentBlockhash":"4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn"},"signatures":["@signature@"]},"version":"legacy"}`
	var list [][]byte
	for n := range votes {
		list = append(list, []byte(strings.NewReplacer("@trader@", name("voter", n), "@account@", name("vote account", n), "@signature@", signature("vote", n)).Replace(vote)))
	}
	for n := range failed + others {
		text := b.purchase.fill(&trade{mint: name("unwatched", n), trader: name("other", n), signature: signature("other", n), sol: 1, tokens: 1, curveHad: 2})
		if n < failed {
			failed, err := failedOf(text)
			if err != nil {
				return err
			}
			list = append(list, failed)
			continue
		}
		list = append(list, []byte(strings.ReplaceAll(text, simnet.PumpFun.String(), name("program", 0))))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	b.noise = bytes.Join(list, []byte(","))
	return nil
}

// failedOf is a transaction that failed at its first instruction.
func failedOf(text string) ([]byte, error) {
	var tx map[string]any
	if err := json.Unmarshal([]byte(text), &tx); err != nil {
		return nil, err
	}
	meta, ok := tx["meta"].(map[string]any)
	if !ok {
		return nil, errors.New("a transaction without meta")
	}
	const program = "ComputeBudget111111111111111111111111111111"
	meta["err"] = map[string]any{"InstructionError": []any{0, map[string]any{"Custom": 6003}}}
	meta["innerInstructions"], meta["postTokenBalances"] = []any{}, meta["preTokenBalances"]
	meta["logMessages"] = []string{"Program " + program + " invoke [1]", "Program " + program + " failed: custom program error: 0x1773"}
	return json.Marshal(tx)
}

func name(what string, n int) string {
	k := key(what, n)
	return base58.Encode(k[:])
}

// key is the n-th of something.
func key(what string, n int) [32]byte {
	return sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, uint64(n)), what...))
}

func signature(what string, n int) string {
	k := key("signature of "+what, n)
	return base58.Encode(append(k[:], k[:]...))
}

// trade is a purchase.
type trade struct {
	mint, trader, signature            string
	sol, tokens                        uint64
	virtualSOL, virtualTokens          uint64 // after it
	realSOL, realTokens                uint64
	curveHad, traderHad                uint64 // before it
	mintKey, traderKey                 [32]byte
	curve, curveAccount, traderAccount string
}

// fill is the transaction of a trade.
func (t *template) fill(x *trade) string {
	e := slices.Clone(t.event)
	copy(e[eventMint:], x.mintKey[:])
	copy(e[eventTrader:], x.traderKey[:])
	for at, n := range map[int]uint64{
		eventSOL: x.sol, eventTokens: x.tokens, eventVirtualSOL: x.virtualSOL, eventVirtualTokens: x.virtualTokens, eventRealSOL: x.realSOL, eventRealTokens: x.realTokens,
	} {
		binary.LittleEndian.PutUint64(e[at:], n)
	}
	tell := func(at int, owner string, n uint64) string {
		return `{"accountIndex":` + strconv.Itoa(at) + `,"mint":"` + x.mint + `","owner":"` + owner + `","programId":"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb","uiTokenAmount":{"amount":"` +
			strconv.FormatUint(n, 10) + `","decimals":6,"uiAmount":1.5,"uiAmountString":"1.5"}}`
	}
	if x.curve == "" {
		x.curve, x.curveAccount, x.traderAccount = name("curve of "+x.mint, 0), name("account of "+x.mint, 0), name("account of "+x.mint+x.trader, 0)
	}
	// Nodes tell token accounts in their order.
	both := func(ofCurve, ofTrader uint64) string {
		list := []string{tell(t.curveAt, x.curve, ofCurve)}
		if ofTrader > 0 {
			list = append(list, tell(t.traderAt, x.trader, ofTrader))
		}
		if t.traderAt < t.curveAt {
			slices.Reverse(list)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return strings.NewReplacer(t.mint, x.mint, t.curve, x.curve, t.curveAccount, x.curveAccount, t.trader, x.trader, t.traderAccount, x.traderAccount,
		"@event@", base58.Encode(e), "@signature@", x.signature, "@preTokenBalances@", both(x.curveHad, x.traderHad),
		"@postTokenBalances@", both(x.curveHad-x.tokens, x.traderHad+x.tokens)).Replace(t.text)
}
