package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// A sample of a state that no endpoint has is left out, and a token that comes up in such a block is asked for its supply later. A fresh index behind a node with every state has other rows then. So the
// rows are held against those of a fresh index that has the facts of the other one and whose node has no older state at all. The facts are held against those of a third index, whose node has every state.

// untilSupplied is how many blocks more it may take until each token with a price has its supply: at each 32nd block eight of them are asked.
const untilSupplied = 400

// drawPruned has older states gone for a while at every endpoint or at the first one, with numbers of its own, so that a seed keeps the rest of its plan. Not beside a liar, of which it would be
// the only witness: what it says of states counts when no second endpoint has them.
func (p *Plan) drawPruned() {
	rng := rand.New(rand.NewPCG(p.Seed, 4))
	if p.Family != familyEVM || rng.IntN(3) > 0 || p.hasLiar() {
		return
	}
	f := NodeFault{Fault: statePruned, Percent: pick(rng, []int{50, 100, 100})}
	if rng.IntN(2) == 0 { // else the index begins so, when most tokens come up
		f.From = rng.IntN(p.Blocks / 2)
	}
	f.To = f.From + 10 + rng.IntN(p.Blocks/2-10)
	nodes := p.Nodes
	if rng.IntN(4) == 0 {
		nodes = nodes[:1]
	}
	for i := range nodes {
		nodes[i].Faults = append(nodes[i].Faults, f)
	}
}

// hasLiar reports whether an endpoint has any lie.
func (p *Plan) hasLiar() bool {
	faults := faultsOfFamily(p.Family)
	return slices.ContainsFunc(p.Nodes, func(n Node) bool {
		return slices.ContainsFunc(n.Faults, func(f NodeFault) bool { return faults[f.Fault].kind == lie })
	})
}

// refusals are the states that endpoints refused to tell, by the numbers and hashes of their blocks.
type refusals struct {
	mu     sync.Mutex
	blocks map[string]bool
}

func (r *refusals) add(block json.RawMessage) {
	if r == nil {
		return
	}
	var name string
	if named := (struct{ BlockHash string }{}); json.Unmarshal(block, &named) == nil {
		name = named.BlockHash
	} else if json.Unmarshal(block, &name) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocks == nil {
		r.blocks = map[string]bool{}
	}
	r.blocks[name] = true
}

func (r *refusals) has(number uint64, hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.blocks[hash] || r.blocks[hexOf(int64(number))]
}

func (r *refusals) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.blocks) > 0
}

// statelessNode starts a node that has the newest state alone, and no other fault.
func (r *run) statelessNode(ctx context.Context) (*node, error) {
	n := &node{
		plan:   &Node{Client: r.plan.Nodes[0].Client, Faults: []NodeFault{{Fault: statePruned, Percent: 100, Ever: true}}},
		faults: faultsOfFamily(r.plan.Family), seed: r.plan.Seed, block: &r.made, seen: &tally{counts: map[string]int64{}}, log: &trace{began: time.Now()},
	}
	url := r.chain.URL()
	n.real.Store(&url)
	return n, n.start(ctx)
}

// holdFacts holds an index's facts against those of a fresh one whose node has every state: see differ.Facts.
func (r *run) holdFacts(ctx context.Context, left *store.Store) (differences []string, err error) {
	c, ok := r.chain.(*evmChain)
	if !ok {
		return nil, errors.New("states are refused on EVM chains alone")
	}
	fresh, err := r.openFresh(ctx, "facts.db")
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.Close() }()
	if err := r.indexAnew(ctx, fresh, c.URL()); err != nil {
		return nil, err
	}
	have, err := left.Facts.Between(ctx, c.id(), 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	want, err := fresh.Facts.Between(ctx, c.id(), 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	blocks, err := c.paidBlocks(ctx)
	if err != nil {
		return nil, err
	}
	differences, later := differ.Facts(have, want, func(number uint64) bool {
		return number < uint64(len(blocks)) && r.refused.has(number, blocks[number].hash)
	})
	wrong, err := c.holdLater(ctx, later)
	r.log.add("%d facts are held against %d of a fresh index; %d supplies were asked for later", len(have), len(want), len(later))
	return append(differences, wrong...), err
}

// supplyAt asks a token for its supply in the state after a block, with the gas that an index gives.
func supplyAt(token, block string, out *anvil.HexBytes) anvil.Request {
	call := map[string]string{"to": token, "data": selectorTotalSupply, "gas": "0x989680"}
	return anvil.Request{Method: "eth_call", Params: []any{call, block}, Result: out}
}

// holdLater holds supplies that were asked for later against what the tokens' contracts say of the state before the block.
func (c *evmChain) holdLater(ctx context.Context, later []differ.Later) (wrong []string, err error) {
	if len(later) == 0 {
		return nil, nil
	}
	told := make([]anvil.HexBytes, len(later))
	requests := make([]anvil.Request, len(later))
	for i, f := range later {
		requests[i] = supplyAt(f.Token.String(), anvil.HexOf(f.Block-1), &told[i])
	}
	if err := c.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for i, f := range later {
		if supply := f.Supply.Bytes32(); !bytes.HasPrefix(told[i], supply[:]) {
			wrong = append(wrong, fmt.Sprintf("block %d: the supply of %s is %x in a fact, and the contract said %x before the block", f.Block, f.Token, supply, []byte(told[i])))
		}
	}
	return wrong, nil
}

// untilSupplied makes blocks until the index has a supply of each token with a price whose contract tells one.
func (r *run) untilSupplied(ctx context.Context) (failure string, err error) {
	c, ok := r.chain.(*evmChain)
	if !ok {
		return "", nil
	}
	for n := 0; ; n++ {
		tokens, err := r.withoutSupply(ctx)
		if err == nil {
			tokens, err = c.telling(ctx, tokens)
		}
		if err != nil {
			return "", err
		}
		if len(tokens) == 0 {
			r.log.add("every token with a price has a supply after %d blocks", n)
			return "", nil
		}
		if n == untilSupplied {
			return fmt.Sprintf("%d tokens with a price have no supply after %d blocks, and their contracts tell one: %v", len(tokens), n, tokens), nil
		}
		if err := r.block(ctx); err != nil {
			return "", err
		}
	}
}

// withoutSupply are the tokens with a price whose supply is to be asked for.
func (r *run) withoutSupply(ctx context.Context) (tokens []string, err error) {
	db, err := r.database()
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SELECT mint FROM tokens WHERE has_supply = FALSE AND supply_strikes < 2 AND pool IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var mint []byte
		if err := rows.Scan(&mint); err != nil {
			return nil, err
		}
		tokens = append(tokens, fmt.Sprintf("0x%x", mint))
	}
	return tokens, rows.Err()
}

// telling are those of some tokens whose contracts tell a supply now.
func (c *evmChain) telling(ctx context.Context, tokens []string) (tell []string, err error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	told := make([]anvil.HexBytes, len(tokens))
	requests := make([]anvil.Request, len(tokens))
	for i, token := range tokens {
		requests[i] = supplyAt(token, latest, &told[i])
	}
	if err := c.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for i, token := range tokens {
		if len(told[i]) >= 32 && len(told[i]) <= 64<<10 { // an index reads no longer answer
			tell = append(tell, token)
		}
	}
	return tell, nil
}
