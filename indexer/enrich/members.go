package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// members asks about members' wallets that the blocks touch: what they paid for the transactions in which they may trade, and what they had of the tokens of
// which a basis was copied for them. What an earlier index kept isn't asked again. What isn't told, or isn't asked since a day's requests run out, is a fact as
// well: an index that is made anew must not know more.
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

// touches are those of wallets that are watched by then. It notes which wallets the batch begins to watch, and which tokens it brings up.
func (e *enrichment) touches() (out []derive.Touch) {
	e.begun, e.broughtUp = map[market.Address]begun{}, map[market.Address]int{}
	for i := range e.blocks {
		for _, f := range e.blocks[i].Facts {
			switch f := f.(type) {
			case market.WatchFact:
				if _, twice := e.begun[f.Wallet]; !twice {
					e.begun[f.Wallet] = begun{block: i, since: f.Since}
				}
			case market.TokenFact:
				if _, twice := e.broughtUp[f.Token]; !twice {
					e.broughtUp[f.Token] = i
				}
			}
		}
	}
	for _, t := range e.state.Touches() {
		if b, ok := e.begun[t.Wallet]; e.state.Watches(t.Wallet) || ok && b.block <= t.Block {
			out = append(out, t)
		}
	}
	return out
}

// begun is a wallet that the batch begins to watch, or gives to another member: the place of the block, and since when it counts for the member.
type begun struct {
	block int
	since int64
}

// since is from when on a wallet's trades count for the member who has it in a touch's block.
func (e *enrichment) since(t *derive.Touch) int64 {
	if b, ok := e.begun[t.Wallet]; ok && b.block <= t.Block {
		return b.since
	}
	w, _ := e.state.Watched(t.Wallet)
	return w.Since
}

// isKnown reports whether the index knows a token in the i-th block.
func (e *enrichment) isKnown(token market.Address, i int) bool {
	from, ok := e.broughtUp[token]
	return ok && from <= i || e.state.Token(token) != nil
}

// copied reports whether a position may have a basis of copied trades of which nobody has said yet how much is left. Of a wallet that the batch begins to watch
// these are its trades in the database, and those in the blocks before.
func (e *enrichment) copied() func(market.PositionKey) bool {
	earlier := map[market.PositionKey]bool{}
	for _, t := range e.state.Touches() {
		if b, ok := e.begun[t.Wallet]; ok && t.IsTrade && t.Block < b.block {
			for _, token := range t.Tokens {
				earlier[market.PositionKey{Wallet: t.Wallet, Token: token}] = true
			}
		}
	}
	return func(k market.PositionKey) bool {
		if e.state.Watches(k.Wallet) {
			return e.state.HasCopied(k)
		}
		return earlier[k] || e.state.MayCopy(k)
	}
}

// receiptsPerBlock is for how many transactions of a block receipts are asked: a stranger may send members something in any number of them.
const receiptsPerBlock = 200

// gas asks for the receipts of the transactions in which members may trade.
func (e *enrichment) gas(ctx context.Context, touches []derive.Touch, told map[any]bool) error {
	var questions []chain.GasQuestion
	place := map[market.TxID]int{}
	block := -1
	var ofBlock map[market.TxID]bool // those of which receipts are asked for, or were
	for i := range touches {
		t := &touches[i]
		if !e.mayTrade(t) {
			continue
		}
		if t.Block != block {
			block, ofBlock = t.Block, map[market.TxID]bool{}
		}
		if len(ofBlock) == receiptsPerBlock && !ofBlock[t.Tx] {
			continue
		}
		if ofBlock[t.Tx] = true; told[gasOf{t.Wallet, t.Tx}] {
			continue
		}
		if _, asked := place[t.Tx]; !asked {
			place[t.Tx] = len(questions)
			questions = append(questions, chain.GasQuestion{At: ref(&e.blocks[t.Block]), Tx: t.Tx})
		}
	}
	if len(questions) == 0 {
		return nil
	}
	e.Beat()
	answers, err := e.receipts(ctx, questions)
	if err != nil {
		return err
	}
	for i := range touches {
		t := &touches[i]
		if k, asked := place[t.Tx]; asked && e.mayTrade(t) && !told[gasOf{t.Wallet, t.Tx}] {
			f := market.GasFact{Wallet: t.Wallet, Tx: t.Tx}
			if a := answers[k]; a.Known && a.Sender == t.Wallet {
				f.Known, f.Amount = true, a.Amount
			}
			e.add(&e.blocks[t.Block], f)
		}
	}
	return nil
}

// mayTrade reports whether a transaction may be a wallet's trade that counts for its member: its logs name the wallet, or move a token of it that is known. Any
// contract can log that it sent something to somebody.
func (e *enrichment) mayTrade(t *derive.Touch) bool {
	return t.IsTrade && e.blocks[t.Block].Time >= e.since(t) &&
		(t.IsNamed || slices.ContainsFunc(t.Tokens, func(token market.Address) bool { return e.isKnown(token, t.Block) }))
}

// receiptTries is how often receipts are asked for in vain until the blocks go on without them.
const receiptTries = 3

// receipts asks what transactions cost. Where nodes give blocks but no receipts, time and again, it isn't known: that holds up no chain.
func (e *enrichment) receipts(ctx context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	if e.GivesUp(budget.Members) {
		return make([]chain.Gas, len(questions)), nil
	}
	answers, err := e.Nodes.Gas(ctx, questions)
	switch {
	case err == nil:
		e.receiptsFailed = 0
		return answers, nil
	case ctx.Err() != nil || e.receiptsFailed+1 < receiptTries:
		e.receiptsFailed++
		return nil, err
	}
	if len(answers) < len(questions) {
		answers = make([]chain.Gas, len(questions))
	}
	if e.receiptsFailed++; e.receiptsFailed == receiptTries {
		e.Log.WarnContext(ctx, "nodes give no receipts: what members paid for gas isn't known", "err", err.Error())
	}
	return answers, nil
}

// held asks what wallets had before the first blocks that touch what was copied for them. An answer that takes some of their basis counts when a second
// endpoint gives it, too.
func (e *enrichment) held(ctx context.Context, touches []derive.Touch, told map[any]bool) error {
	copied := e.copied()
	for first := 0; first < len(touches); {
		b := &e.blocks[touches[first].Block]
		var keys []market.BalanceKey
		last := first
		for ; last < len(touches) && touches[last].Block == touches[first].Block; last++ {
			t := &touches[last]
			for _, token := range t.Tokens {
				k := market.PositionKey{Wallet: t.Wallet, Token: token}
				if !told[k] && copied(k) {
					told[k] = true
					keys = append(keys, market.BalanceKey{Token: token, Account: t.Wallet})
				}
			}
		}
		first = last
		if len(keys) == 0 {
			continue
		}
		had, err := e.balances(ctx, b, keys)
		if err != nil {
			return err
		}
		for _, k := range keys {
			amount, known := had[k]
			e.add(b, market.HeldFact{Wallet: k.Account, Token: k.Token, Known: known, Amount: amount})
		}
	}
	return nil
}

// balances are what wallets had of tokens before a block, as far as that is told.
func (e *enrichment) balances(ctx context.Context, b *market.Block, keys []market.BalanceKey) (map[market.BalanceKey]market.Amount, error) {
	if e.GivesUp(budget.Members) {
		return nil, nil //nolint:nilnil // nothing is told
	}
	e.Beat()
	answers, err := e.Nodes.Balances(ctx, before(b), keys, func(f market.Fact) bool {
		a, ok := f.(market.BalanceFact)
		k := market.PositionKey{Wallet: a.Account, Token: a.Token}
		return ok && (!e.state.Watches(k.Wallet) || e.state.HasMore(k, &a.Amount))
	})
	if err != nil {
		return nil, err
	}
	had := make(map[market.BalanceKey]market.Amount, len(answers))
	for _, a := range answers {
		had[market.BalanceKey{Token: a.Token, Account: a.Account}] = a.Amount
	}
	return had, nil
}
