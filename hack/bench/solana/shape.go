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

// Launches begin with these reserves of SOL and of tokens; so many of their tokens are for sale.
const (
	firstSOL, firstTokens, forSale, supply = 30_000_000_000, 1_073_000_000_000_000, 793_100_000_000_000, 1_000_000_000_000_000
)

// beginning is what the local Solana made: the first blocks, and what others are made of.
type beginning struct {
	blocks []block
	// launch is the curve of the first launch, pools are those in which tokens trade besides.
	launch    *pair
	pools     map[*form][]*pair
	templates map[swap]*template
	// noise are votes, failed transactions and others that mean nothing here, as they stand in every block.
	noise []byte
}

// There are so many pools of tokens that were launched. The local Solana has one pool of SOL and USDC of the AMM v4.
const pumpSwapPools, cpmmPools = 96, 48

// localSolana is the local Solana while the beginning is made.
type localSolana struct {
	*simnet.World

	// creator launches tokens and fills their curves. trader makes the trades that templates are cut of, and keeps no wrapped SOL.
	creator, trader svm.Signer
}

// begin has the local Solana make pools, a launch, and a few trades. The trades that templates are cut of come last; no block has them.
func begin(ctx context.Context, chain *svm.Chain) (*beginning, error) {
	const people = 6
	w, err := simnet.Deploy(ctx, chain, simnet.Options{Seed: 1, People: people})
	if err != nil {
		return nil, err
	}
	s, curves := &localSolana{World: w, creator: w.People[0], trader: w.People[people-1]}, map[*form]*simnet.Curve{}
	for _, of := range []struct {
		*form

		program svm.Key
		count   int
	}{{pumpSwap, simnet.PumpFun, pumpSwapPools}, {cpmm, simnet.LaunchLab, cpmmPools}} {
		if curves[of.form], err = s.openPools(ctx, of.program, of.count); err != nil {
			return nil, err
		}
	}
	if curves[pumpFun], err = s.launch(ctx, simnet.PumpFun); err != nil {
		return nil, err
	}
	if err := errors.Join(s.mine(ctx), w.TradeSOL(ctx, w.People[1], true, 1_000_000_000), s.mine(ctx)); err != nil {
		return nil, err
	}
	b := &beginning{launch: curveOf(curves[pumpFun].Token, curves[pumpFun].Account), pools: map[*form][]*pair{}, templates: map[swap]*template{}}
	for _, p := range w.Pools()[1:] { // the first one is PumpSwap's own of SOL and USDC
		made := poolOf(p)
		b.pools[made.form] = append(b.pools[made.form], made)
	}
	if err := b.readBlocks(ctx, chain, w.Slot()); err != nil {
		return nil, err
	}
	for _, p := range []*pair{b.launch, b.pools[pumpSwap][0], b.pools[ammV4][0], b.pools[cpmm][0]} {
		if err := s.cutTemplates(ctx, b.templates, p, curves[p.form]); err != nil {
			return nil, err
		}
	}
	return b, b.makeNoise()
}

func (s *localSolana) mine(ctx context.Context) error {
	return s.Mine(ctx, s.Slot()+1, s.Time().Add(time.Second))
}

// launch launches a token.
func (s *localSolana) launch(ctx context.Context, program svm.Key) (*simnet.Curve, error) {
	return s.Launch(ctx, program, s.creator, simnet.Launch{Name: "Token", Symbol: "TKN", URI: "https://example.com/token.json"}, 0)
}

// openPools launches some tokens, fills their curves and moves them to pools. It gives the first one's curve.
func (s *localSolana) openPools(ctx context.Context, program svm.Key, count int) (*simnet.Curve, error) {
	list := make([]*simnet.Curve, count)
	for _, step := range []func(i int) error{
		func(i int) (err error) { list[i], err = s.launch(ctx, program); return err },
		func(i int) error { return s.Buy(ctx, list[i], s.creator, 2*list[i].Target()) },
		func(i int) error { return s.Migrate(ctx, list[i]) },
	} {
		for i := range list {
			if err := step(i); err != nil {
				return nil, err
			}
		}
		if err := s.mine(ctx); err != nil {
			return nil, err
		}
	}
	return list[0], nil
}

// cutTemplates has the trader buy and sell, and cuts a pair's templates of that. Without a curve the trade is one of SOL and USDC.
func (s *localSolana) cutTemplates(ctx context.Context, to map[swap]*template, p *pair, c *simnet.Curve) (err error) {
	for _, sells := range []bool{false, true} {
		trade := func() error { return s.Buy(ctx, c, s.trader, 500_000_000) }
		switch {
		case c == nil:
			trade = func() error { return s.TradeSOL(ctx, s.trader, !sells, 500_000_000) }
		case sells:
			trade = func() error { return s.Sell(ctx, c, s.trader, 0.5) }
		}
		if to[swap{p.form, sells}], err = s.cut(ctx, p, trade); err != nil {
			return err
		}
	}
	return nil
}

// cut has the trader trade until a trade is of the pair and told in its form: the local Solana chooses between pools of SOL and USDC, and cuts some logs off.
func (s *localSolana) cut(ctx context.Context, p *pair, trade func() error) (t *template, err error) {
	const tries = 50
	for range tries {
		if err := errors.Join(trade(), s.mine(ctx)); err != nil {
			return nil, err
		}
		told, err := askBlock(ctx, s.Chain, s.Slot())
		if err != nil {
			return nil, err
		}
		if len(told.Transactions) != 1 {
			return nil, fmt.Errorf("the last block has %d transactions, not the trade alone", len(told.Transactions))
		}
		if t, err = p.cut(told.Transactions[0], s.trader.Key); err == nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("no template in %d trades: %w", tries, err)
}

// toldBlock is a block as the local Solana tells it.
type toldBlock struct {
	Blockhash, PreviousBlockhash string
	ParentSlot                   uint64
	BlockTime                    int64
	Transactions                 []json.RawMessage
}

func askBlock(ctx context.Context, chain *svm.Chain, slot uint64) (told toldBlock, err error) {
	err = chain.Call(ctx, &told, "getBlock", slot, map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 1})
	return told, err
}

// readBlocks asks for the blocks up to a slot.
func (b *beginning) readBlocks(ctx context.Context, chain *svm.Chain, last uint64) error {
	var slots []uint64
	if err := chain.Call(ctx, &slots, "getBlocks", 1, last, map[string]string{"commitment": "confirmed"}); err != nil {
		return err
	}
	for _, slot := range slots {
		told, err := askBlock(ctx, chain, slot)
		if err != nil {
			return err
		}
		txs := bytes.Join(rawOf(told.Transactions), []byte(","))
		b.blocks = append(b.blocks, block{slot: slot, parentSlot: told.ParentSlot, hash: told.Blockhash, parent: told.PreviousBlockhash, time: told.BlockTime, txs: [][]byte{txs}})
	}
	return nil
}

func rawOf(list []json.RawMessage) (out [][]byte) {
	for _, r := range list {
		out = append(out, r)
	}
	return out
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
		token := key("unwatched", n)
		text := b.templates[swap{pumpFun, false}].fill(&trade{
			pair: curveOf(token, curveKey(token)), trader: key("other", n), signature: signature("other", n), sol: 1, tokens: 1, before: reserves{tokens: 2}, after: reserves{tokens: 1}, traderHas: 1,
		})
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
