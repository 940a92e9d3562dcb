package enrich

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// members asks about members' wallets that the blocks touch: what they paid for the transactions in which they may trade, and what they had of the tokens of
// which a basis was copied for them. What an earlier index kept isn't asked again.
func (e *enrichment) members(ctx context.Context) error {
	touches := e.touches()
	if len(touches) == 0 {
		return nil
	}
	told := map[any]bool{}
	seen := -1
	for i := range touches {
		if touches[i].Block == seen {
			continue
		}
		seen = touches[i].Block
		b := &e.blocks[seen]
		known, err := e.recorded(ctx, b)
		if err != nil {
			return err
		}
		for _, f := range known {
			switch f := f.(type) {
			case market.GasFact:
				told[gasOf{f.Wallet, f.Tx}] = true
				e.add(b, f)
			case market.HeldFact:
				told[market.PositionKey{Wallet: f.Wallet, Token: f.Token}] = true
				e.add(b, f)
			}
		}
	}
	if e.GivesUp(budget.Members) {
		return nil
	}
	ctx = rpc.For(ctx, budget.Members)
	if err := e.gas(ctx, touches, told); err != nil {
		return err
	}
	return e.held(ctx, touches, told)
}

// gasOf names what a wallet paid for a transaction.
type gasOf struct {
	wallet market.Address
	tx     market.TxID
}

// touches are those of wallets that are watched by then.
func (e *enrichment) touches() (out []derive.Touch) {
	begun := map[market.Address]int{}
	for i := range e.blocks {
		for _, f := range e.blocks[i].Facts {
			if f, ok := f.(market.WatchFact); ok {
				if _, twice := begun[f.Wallet]; !twice {
					begun[f.Wallet] = i
				}
			}
		}
	}
	for _, t := range e.state.Touches() {
		if from, ok := begun[t.Wallet]; e.state.Watches(t.Wallet) || ok && from <= t.Block {
			out = append(out, t)
		}
	}
	return out
}

// receiptsPerBlock is for how many transactions of a block receipts are asked: a stranger may send members something in any number of them.
const receiptsPerBlock = 200

// gas asks for the receipts of the transactions in which members may trade.
func (e *enrichment) gas(ctx context.Context, touches []derive.Touch, told map[any]bool) error {
	var questions []chain.GasQuestion
	place := map[market.TxID]int{}
	block, ofBlock := -1, 0
	for i := range touches {
		t := &touches[i]
		if !t.IsTrade || told[gasOf{t.Wallet, t.Tx}] {
			continue
		}
		if t.Block != block {
			block, ofBlock = t.Block, 0
		}
		if _, asked := place[t.Tx]; !asked && ofBlock < receiptsPerBlock {
			ofBlock++
			place[t.Tx] = len(questions)
			questions = append(questions, chain.GasQuestion{At: ref(&e.blocks[t.Block]), Tx: t.Tx})
		}
	}
	if len(questions) == 0 {
		return nil
	}
	e.Beat()
	answers, err := e.Nodes.Gas(ctx, questions)
	if err != nil {
		return err
	}
	for i := range touches {
		t := &touches[i]
		if k, asked := place[t.Tx]; asked && !told[gasOf{t.Wallet, t.Tx}] {
			f := market.GasFact{Wallet: t.Wallet, Tx: t.Tx}
			if a := answers[k]; a.Known && a.Sender == t.Wallet {
				f.Known, f.Amount = true, a.Amount
			}
			e.add(&e.blocks[t.Block], f)
		}
	}
	return nil
}

// held asks what wallets had before the first blocks that touch what was copied for them. An answer that takes some of their basis counts when a second
// endpoint gives it, too.
func (e *enrichment) held(ctx context.Context, touches []derive.Touch, told map[any]bool) error {
	for first := 0; first < len(touches); {
		b := &e.blocks[touches[first].Block]
		var keys []market.BalanceKey
		last := first
		for ; last < len(touches) && touches[last].Block == touches[first].Block; last++ {
			t := &touches[last]
			for _, token := range t.Tokens {
				k := market.PositionKey{Wallet: t.Wallet, Token: token}
				if !told[k] && e.state.HasCopied(k) {
					told[k] = true
					keys = append(keys, market.BalanceKey{Token: token, Account: t.Wallet})
				}
			}
		}
		first = last
		if len(keys) == 0 {
			continue
		}
		e.Beat()
		answers, err := e.Nodes.Balances(ctx, before(b), keys, func(f market.Fact) bool {
			a, ok := f.(market.BalanceFact)
			return ok && e.state.HasMore(market.PositionKey{Wallet: a.Account, Token: a.Token}, &a.Amount)
		})
		if err != nil {
			return err
		}
		had := make(map[market.BalanceKey]market.Amount, len(answers))
		for _, a := range answers {
			had[market.BalanceKey{Token: a.Token, Account: a.Account}] = a.Amount
		}
		for _, k := range keys {
			amount, known := had[k]
			e.add(b, market.HeldFact{Wallet: k.Account, Token: k.Token, Known: known, Amount: amount})
		}
	}
	return nil
}
