package enrich

import (
	"cmp"
	"context"
	"maps"
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
	if len(e.state.Touches()) == 0 {
		return nil
	}
	touches := e.touches()
	gas, held := map[market.GasKey]bool{}, map[market.PositionKey]bool{} // those that an earlier index kept
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
				gas[f.GasKey] = true
				e.add(b, f)
			case market.HeldFact:
				held[f.PositionKey] = true
				e.add(b, f)
			}
		}
	}
	ctx = rpc.For(ctx, budget.Members)
	if err := e.gas(ctx, touches, gas); err != nil {
		return err
	}
	return e.held(ctx, touches, held)
}

// touches are those of wallets that are watched by then. It notes what the facts of the batch say of wallets, and what those that it begins to watch traded in it
// before.
func (e *enrichment) touches() (out []derive.Touch) {
	e.begun, e.broughtUp, e.traded = map[market.Address]begun{}, map[market.Address]int{}, map[market.PositionKey]bool{}
	e.pasts = map[market.PositionKey]int{}
	for i := range e.blocks {
		for _, f := range e.blocks[i].Facts {
			e.note(i, f)
		}
	}
	for _, t := range e.state.Touches() {
		if b, begins := e.begun[t.Wallet]; e.state.Watches(t.Wallet) || begins && b.block <= t.Block {
			out = append(out, t)
			continue
		}
		for _, token := range t.Tokens {
			if t.IsTrade {
				e.traded[market.PositionKey{Wallet: t.Wallet, Token: token}] = true
			}
		}
	}
	return out
}

// note notes which wallets a fact of the i-th block begins to watch, which positions a past moves that it takes in, and which token it brings up.
func (e *enrichment) note(i int, f market.Fact) {
	switch f := f.(type) {
	case market.WatchFact:
		if _, twice := e.begun[f.Wallet]; !twice {
			e.begun[f.Wallet] = begun{block: i, since: f.Since}
		}
	case market.PastFact:
		for k := range f.Entries {
			e.pasts[market.PositionKey{Wallet: f.Wallet, Token: f.Entries[k].Token}] = i
		}
	case market.TokenFact:
		if _, twice := e.broughtUp[f.Token]; !twice {
			e.broughtUp[f.Token] = i
		}
	}
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

// isCopied reports whether a position may have a basis of copied trades, or of a past that the batch takes in, of which nobody has said yet how much is left. Of a wallet that the batch begins to watch
// these are its trades in the database, and those in the blocks before.
func (e *enrichment) isCopied(k market.PositionKey, block int) bool {
	if from, ok := e.pasts[k]; ok && from <= block {
		return true
	}
	if e.state.Watches(k.Wallet) {
		return e.state.HasCopied(k)
	}
	return e.traded[k] || e.state.MayCopy(k)
}

// receiptsPerBlock is for how many transactions of a block receipts are asked: a stranger may send members something in any number of them.
const receiptsPerBlock = 200

// gas asks for the receipts of the transactions in which members may trade, but for those that are told.
func (e *enrichment) gas(ctx context.Context, touches []derive.Touch, told map[market.GasKey]bool) error {
	var open []*derive.Touch
	var questions []chain.GasQuestion
	place := map[market.TxID]int{}
	block := -1
	var ofBlock map[market.TxID]bool // those that are within the bound
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
		if ofBlock[t.Tx] = true; told[market.GasKey{Wallet: t.Wallet, Tx: t.Tx}] {
			continue
		}
		if tx := e.transaction(t); tx != nil && !tx.Payer.IsNone() { // the block itself tells it
			f := market.GasFact{GasKey: market.GasKey{Wallet: t.Wallet, Tx: t.Tx}, Known: tx.Payer == t.Wallet}
			if f.Known {
				f.Amount.SetUint64(tx.Fee)
			}
			e.add(&e.blocks[t.Block], f)
			continue
		}
		if _, asked := place[t.Tx]; !asked {
			place[t.Tx] = len(questions)
			questions = append(questions, chain.GasQuestion{At: ref(&e.blocks[t.Block]), Tx: t.Tx})
		}
		open = append(open, t)
	}
	if len(questions) == 0 {
		return nil
	}
	e.Beat()
	answers, err := e.receipts(ctx, questions)
	if err != nil {
		return err
	}
	for _, t := range open {
		f := market.GasFact{GasKey: market.GasKey{Wallet: t.Wallet, Tx: t.Tx}}
		if a := answers[place[t.Tx]]; a.Known && a.Sender == t.Wallet {
			f.Known, f.Amount = true, a.Amount
		}
		e.add(&e.blocks[t.Block], f)
	}
	return nil
}

// transaction finds the transaction of a touch.
func (e *enrichment) transaction(t *derive.Touch) *market.Tx {
	txs := e.blocks[t.Block].Txs
	if i := slices.IndexFunc(txs, func(tx market.Tx) bool { return tx.ID == t.Tx }); i >= 0 {
		return &txs[i]
	}
	return nil
}

// mayTrade reports whether a transaction may be a wallet's trade that counts for its member: its logs name the wallet, or move a token of it that is known. Any
// contract can log that it sent something to somebody.
func (e *enrichment) mayTrade(t *derive.Touch) bool {
	return t.IsTrade && e.blocks[t.Block].Time >= e.since(t) &&
		(t.IsNamed || slices.ContainsFunc(t.Tokens, func(token market.Address) bool { return e.isKnown(token, t.Block) }))
}

// receiptTries is how often receipts are asked for in vain before the blocks are derived without them.
const receiptTries = 3

// receipts asks what transactions cost. Where nodes give blocks but no receipts, time and again, it isn't known: that holds up no chain.
func (e *enrichment) receipts(ctx context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	if e.GivesUp(budget.Members) {
		return make([]chain.Gas, len(questions)), nil
	}
	answers, err := e.Nodes.Gas(ctx, questions)
	if err == nil {
		e.receiptsFailed = 0
		return answers, nil
	}
	if e.receiptsFailed++; ctx.Err() != nil || e.receiptsFailed < receiptTries {
		return nil, err
	}
	if e.receiptsFailed == receiptTries {
		e.Log.WarnContext(ctx, "nodes give no receipts: what members paid for gas isn't known", "err", err.Error())
	}
	return answers, nil
}

// held asks what wallets had before the first blocks that touch what was copied for them, but for those that are told.
func (e *enrichment) held(ctx context.Context, touches []derive.Touch, told map[market.PositionKey]bool) error {
	keys := make([][]market.BalanceKey, len(e.blocks))
	for i := range touches {
		t := &touches[i]
		for _, token := range t.Tokens {
			if k := (market.PositionKey{Wallet: t.Wallet, Token: token}); !told[k] && e.isCopied(k, t.Block) && e.tells(t) {
				told[k] = true
				keys[t.Block] = append(keys[t.Block], market.BalanceKey{Token: token, Account: t.Wallet})
			}
		}
	}
	for i, list := range keys {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(x, y market.BalanceKey) int { // as an index that is made anew finds them
			return cmp.Or(x.Account.Compare(y.Account), x.Token.Compare(y.Token))
		})
		b := &e.blocks[i]
		had := e.balancesBefore(b, list)
		open := slices.DeleteFunc(slices.Clone(list), func(k market.BalanceKey) bool { _, told := had[k]; return told })
		if len(open) > 0 {
			asked, err := e.balances(ctx, b, open)
			if err != nil {
				return err
			}
			maps.Copy(had, asked)
		}
		for _, k := range list {
			f := market.HeldFact{PositionKey: market.PositionKey{Wallet: k.Account, Token: k.Token}}
			f.Amount, f.Known = had[k]
			e.add(b, f)
		}
	}
	return nil
}

// tells reports whether what a wallet had can be found at a touch. Where blocks tell balances they tell those of the accounts that a transaction touches: anybody may
// open another account for a wallet and send something there, so that the wallet's own transactions alone count.
func (e *enrichment) tells(t *derive.Touch) bool {
	tx := e.transaction(t)
	return tx == nil || tx.Payer.IsNone() || tx.Payer == t.Wallet
}

// balancesBefore finds the balances of accounts before a block as far as the block itself tells them: by the first transaction that an account paid for and that
// changed its balance.
func (e *enrichment) balancesBefore(b *market.Block, keys []market.BalanceKey) map[market.BalanceKey]market.Amount {
	had := map[market.BalanceKey]market.Amount{}
	for i := range b.Txs {
		for _, l := range b.Txs[i].Logs {
			c, ok := l.Event.(market.BalanceChange)
			if !ok || !c.HasBefore || c.Owner != b.Txs[i].Payer {
				continue
			}
			k := market.BalanceKey{Token: c.Token, Account: c.Owner}
			if _, twice := had[k]; !twice && slices.Contains(keys, k) {
				had[k] = c.Before
			}
		}
	}
	return had
}

// balances asks for wallets' balances of tokens before a block, as far as nodes tell them. An answer that may take some of a basis counts when a second endpoint gives it,
// too.
func (e *enrichment) balances(ctx context.Context, b *market.Block, keys []market.BalanceKey) (map[market.BalanceKey]market.Amount, error) {
	if e.GivesUp(budget.Members) {
		return nil, nil //nolint:nilnil // nothing is told
	}
	e.Beat()
	answers, err := e.Nodes.Balances(ctx, before(b), keys, func(f market.Fact) bool {
		a, ok := f.(market.BalanceFact)
		k := market.PositionKey{Wallet: a.Account, Token: a.Token}
		_, isPast := e.pasts[k]
		return ok && (isPast || !e.state.Watches(k.Wallet) || e.state.HasMore(k, &a.Amount))
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
