package evm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// maxCallAnswer bounds what a contract may answer.
const maxCallAnswer = 64 << 10

// blockParam names a block in a request.
func blockParam(at chain.Ref) any {
	if at.Hash.IsZero() {
		return rpc.HexQuantity(at.Number)
	}
	return map[string]any{"blockHash": at.Hash.String(), "requireCanonical": true}
}

var (
	callName           = hash.SelectorHex("name()")
	callSymbol         = hash.SelectorHex("symbol()")
	callDecimals       = hash.SelectorHex("decimals()")
	callSupply         = hash.SelectorHex("totalSupply()")
	callBalanceOf      = hash.SelectorHex("balanceOf(address)")
	callFactory        = hash.SelectorHex("factory()")
	callToken0         = hash.SelectorHex("token0()")
	callToken1         = hash.SelectorHex("token1()")
	callFee            = hash.SelectorHex("fee()")
	callTickSpacing    = hash.SelectorHex("tickSpacing()")
	callStable         = hash.SelectorHex("stable()")
	callGetPair        = hash.SelectorHex("getPair(address,address)")
	callGetPoolFee     = hash.SelectorHex("getPool(address,address,uint24)")
	callGetPoolKind    = hash.SelectorHex("getPool(address,address,bool)")
	callGetPoolSpacing = hash.SelectorHex("getPool(address,address,int24)")
)

// call is one eth_call; answer is nil when the contract refused or answered beyond reason. A deployless one is to none (package manycalls).
type call struct {
	to     market.Address
	data   string
	answer []byte
	ok     bool
	// aside is why there is no answer, where the contract didn't plainly refuse.
	aside string
	// changes says that another block may have another answer.
	changes bool
	// questions is how many a call asks that is made of many.
	questions int
	by        *endpoint // who answered
}

// calls runs eth_calls at a block, as the block's hash names it. gone reports that no node keeps that block's state; then
// there are no answers.
func (s *Source) calls(ctx context.Context, at chain.Ref, list []*call) (gone bool, err error) {
	err = s.callsAt(ctx, blockParam(at), list)
	if err != nil && stateMissing(err, at.Number+lateBlocks > s.seen.Load()) {
		return true, nil
	}
	return false, err
}

// lateBlocks is how far below the highest head a block is new: a node that doesn't know it may be late.
const lateBlocks = 64

// newest names the newest block in a request.
const newest = "latest"

// callsOrLatest asks the newest block instead when the block's state is gone: for what hardly ever changes.
func (s *Source) callsOrLatest(ctx context.Context, at chain.Ref, list []*call) (gone bool, err error) {
	if gone, err = s.calls(ctx, at, list); gone {
		err = s.callsAt(ctx, newest, list)
	}
	return gone, err
}

func (c *call) take(raw json.RawMessage) error {
	if len(raw) > 2*maxCallAnswer+4 {
		c.aside = chain.AnswerTooLong
		return nil
	}
	if len(raw) < 4 || raw[0] != '"' {
		return nil
	}
	b, err := hex.DecodeString(string(raw[3 : len(raw)-1]))
	if err != nil {
		return fmt.Errorf("%w: an unreadable eth_call answer", rpc.ErrGarbage)
	}
	c.answer, c.ok = b, true
	return nil
}

func (c *call) uint() (v market.Amount, ok bool) {
	if !c.ok || len(c.answer) < 32 {
		return v, false
	}
	v.SetBytes32(c.answer[:32])
	return v, true
}

func (c *call) address() (market.Address, bool) {
	if !c.ok || len(c.answer) < 32 {
		return market.Address{}, false
	}
	return market.EVMAddress([32]byte(c.answer[:32])), true
}

// text is the text that was answered: a name or a symbol.
func (c *call) text() string {
	if !c.ok {
		return ""
	}
	return decode.Text(c.answer)
}

// TokenFacts asks tokens about themselves at a block. Where its state is gone, the answers are the newest ones, without
// a supply. Where there are several endpoints two have to give decimals and supply; unsure are the facts, by their place, of which they
// don't. Names and symbols are one endpoint's.
func (s *Source) TokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	list := make([]*call, 0, 4*len(tokens))
	for _, t := range tokens {
		for _, data := range []string{callName, callSymbol, callDecimals, callSupply} {
			list = append(list, &call{to: t, data: data})
		}
	}
	gone, err := s.callsOrLatest(ctx, at, list)
	if err != nil {
		return nil, nil, err
	}
	unsure = make([]bool, len(tokens))
	var vouched []*call
	var of []int
	for i := range tokens {
		vouched, of = append(vouched, list[4*i+2]), append(of, i)
		if !gone {
			vouched, of = append(vouched, list[4*i+3]), append(of, i)
		}
	}
	open, err := s.vouch(ctx, at, gone, vouched)
	if err != nil {
		return nil, nil, err
	}
	for k, i := range of {
		unsure[i] = unsure[i] || open[k]
	}
	out := make([]market.TokenFact, len(tokens))
	for i, t := range tokens {
		c := list[4*i:]
		f := market.TokenFact{Token: t, Name: c[0].text(), Symbol: c[1].text()}
		if d, ok := c[2].uint(); ok && d.IsUint64() && d.Uint64() <= maxDecimals {
			f.HasDecimals, f.Decimals = true, uint8(d.Uint64())
		}
		if !gone {
			f.Supply, f.HasSupply = c[3].uint()
		}
		out[i] = f
	}
	return out, unsure, nil
}

// maxDecimals is beyond what any token means in earnest.
const maxDecimals = 64

// TellsNewestSupplies reports that nodes of EVM chains tell the supplies of a given block.
func (s *Source) TellsNewestSupplies() bool { return false }

// NewestSupplies are none: see TellsNewestSupplies.
func (s *Source) NewestSupplies(context.Context, uint64, []market.Address) ([]chain.SupplyAfter, error) {
	return nil, nil
}

// Supplies asks tokens for their total supply at the end of a block; those that don't answer are left out, all of them
// when the block's state is gone.
func (s *Source) Supplies(ctx context.Context, at chain.Ref, tokens []market.Address, doubt func(market.SupplyFact) chain.Doubt,
) ([]market.SupplyFact, error) {
	list := make([]*call, len(tokens))
	for i, t := range tokens {
		list[i] = &call{to: t, data: callSupply}
	}
	return samplesOf(ctx, s, at, list, func(i int, v market.Amount) market.SupplyFact {
		return market.SupplyFact{Token: tokens[i], Supply: v}
	}, doubt)
}

// Balances asks tokens for accounts' balances at the end of a block; those that don't answer are left out, all of them
// when the block's state is gone. Those that doubt names are doubted as chain.Contradicted is.
func (s *Source) Balances(ctx context.Context, at chain.Ref, keys []market.BalanceKey, doubt func(market.Fact) bool,
) ([]market.BalanceFact, error) {
	list := make([]*call, len(keys))
	for i, k := range keys {
		list[i] = &call{to: k.Token, data: callBalanceOf + word(k.Account)}
	}
	return samplesOf(ctx, s, at, list, func(i int, v market.Amount) market.BalanceFact {
		return market.BalanceFact{Token: keys[i].Token, Account: keys[i].Account, Amount: v}
	}, func(f market.BalanceFact) chain.Doubt {
		if doubt(f) {
			return chain.Contradicted
		}
		return chain.NoDoubt
	})
}

// samplesOf runs calls that answer with a number, of which fact makes a fact. It leaves out what is untold and no two of several endpoints say.
func samplesOf[F market.Fact](ctx context.Context, s *Source, at chain.Ref, list []*call, fact func(i int, v market.Amount) F, doubt func(F) chain.Doubt,
) ([]F, error) {
	gone, err := s.calls(ctx, at, list)
	if err != nil || gone {
		return nil, err
	}
	doubtOf := func(i int, c *call) chain.Doubt {
		if v, ok := c.uint(); ok {
			return doubt(fact(i, v))
		}
		return chain.NoDoubt
	}
	var contradicted, untold []*call
	var of []int // the places of contradicted
	for i, c := range list {
		switch doubtOf(i, c) {
		case chain.Contradicted:
			contradicted, of = append(contradicted, c), append(of, i)
		case chain.Untold:
			untold = append(untold, c)
		case chain.NoDoubt:
		}
	}
	if len(contradicted) > 0 {
		expected := func(k int, c *call) bool { return c.ok && doubtOf(of[k], c) != chain.Contradicted }
		if err := s.second(ctx, blockParam(at), contradicted, expected); err != nil {
			return nil, err
		}
	}
	unsure, err := s.vouch(ctx, at, false, untold)
	if err != nil {
		return nil, err
	}
	for k, c := range untold {
		c.ok = c.ok && !unsure[k]
	}
	var out []F
	for i, c := range list {
		if v, ok := c.uint(); ok {
			out = append(out, fact(i, v))
		}
	}
	return out, nil
}

// word is an address as an ABI argument.
func word(a market.Address) string {
	return strings.Repeat("0", 24) + strings.TrimPrefix(a.String(), "0x")
}

// Exists reports whether a contract had code at a block; known is false when no node keeps that block's state.
func (s *Source) Exists(ctx context.Context, contract market.Address, number uint64) (exists, known bool, err error) {
	exist, known, err := s.AllExist(ctx, []market.Address{contract}, number)
	return known && exist[0], known, err
}

// AllExist is Exists for many contracts at once; exist is nil where known is false.
func (s *Source) AllExist(ctx context.Context, contracts []market.Address, number uint64) (exist []bool, known bool, err error) {
	exist = make([]bool, len(contracts))
	for first := 0; first < len(contracts); first += rpc.CallsAtOnce {
		part := contracts[first:min(first+rpc.CallsAtOnce, len(contracts))]
		err := s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
			reqs := make([]*rpc.Request, len(part))
			for i, c := range part {
				reqs[i] = codeRequest(c, rpc.HexQuantity(number), &exist[first+i])
			}
			if err := e.keepsState(ctx, rpc.HexQuantity(number)); err != nil {
				return err
			}
			return e.withoutState(ctx, rpc.HexQuantity(number), e.Do(ctx, reqs...))
		})
		switch {
		case err != nil && stateMissing(err, number+lateBlocks > s.seen.Load()):
			return nil, false, nil
		case err != nil:
			return nil, false, err
		}
	}
	return exist, true, nil
}

func codeRequest(contract market.Address, block string, exists *bool) *rpc.Request {
	return &rpc.Request{
		Method: "eth_getCode", Params: []any{contract.String(), block},
		Take: func(raw json.RawMessage) error {
			var code string
			if err := json.Unmarshal(raw, &code); err != nil {
				return fmt.Errorf("%w: an unreadable code", rpc.ErrGarbage)
			}
			*exists = len(code) > len("0x")
			return nil
		},
	}
}

// CreatedAt finds the first block at which a contract has code, by bisection in [0, last]. It is 0 when the nodes
// don't keep old state: then all of the past has to be read.
func (s *Source) CreatedAt(ctx context.Context, contract market.Address, last uint64) (uint64, error) {
	low, high := uint64(0), last
	for range bits.Len64(last) + 1 {
		if low >= high {
			break
		}
		mid := low + (high-low)/2
		exists, known, err := s.Exists(ctx, contract, mid)
		if err != nil {
			return 0, err
		}
		if !known {
			return 0, nil
		}
		if exists {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, nil
}
