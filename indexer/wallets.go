package indexer

import (
	"cmp"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// changesAtOnce is how many of the registry's changes are read at once.
	changesAtOnce = 1000
	// walletsAtOnce is how many wallets one commit begins to watch, and copiesAtOnce from how many trades of theirs on the others wait for the next.
	walletsAtOnce, copiesAtOnce = 500, 5_000
	// registryTries is how often the registry is read in vain before blocks go on without it.
	registryTries = 3
)

// wallets follows the registry for the wallets of members on one chain.
type wallets struct {
	// last is the number of the newest change that was taken in; 0 at the beginning of a session, which looks at all of them again.
	last int64
	// kept are the facts of an earlier index about blocks that are still to come, in their order; while there are any, they are followed instead.
	kept []store.StoredFact
	// keptPasts are those about what wallets did before they were watched, without what they say; keptBy is the index that has them.
	keptPasts []store.StoredFact
	keptBy    string
	// rereads has keptPasts read again, since blocks were taken back.
	rereads bool
	// failing says that the registry couldn't be read the last time.
	failing bool
}

// resumeWallets begins to follow the registry anew, at a block.
func (ix *Indexer) resumeWallets(ctx context.Context, last market.Header) error {
	w := wallets{keptBy: ix.rows.id()}
	kept, err := ix.store.Wallets.WatchFacts(ctx, w.keptBy, last.Number)
	if err == nil && len(kept) == 0 && ix.successor != nil && !ix.successor.anew { // its own are all that it needs
		w.keptBy = ix.successor.of
		kept, err = ix.store.Wallets.WatchFacts(ctx, w.keptBy, last.Number)
	}
	if err != nil {
		return err
	}
	w.kept = kept
	w.keptPasts, err = ix.store.Wallets.PastFacts(ctx, w.keptBy, last.Number)
	ix.wallets = w
	ix.pasts.TakeBack()
	return err
}

// begins reports whether blocks begin to watch a wallet.
func begins(blocks []market.Block, wallet market.Address) bool {
	return slices.ContainsFunc(blocks, func(b market.Block) bool {
		return slices.ContainsFunc(b.Facts, func(f market.Fact) bool {
			w, ok := f.(market.WatchFact)
			return ok && w.Wallet == wallet
		})
	})
}

// tellPasts puts into blocks what wallets did before they were watched, as facts: what an earlier index kept, or else, into a block near the head, what has been
// read of one of them.
func (ix *Indexer) tellPasts(ctx context.Context, blocks []market.Block, undo bool) (facts []store.StoredFact, err error) {
	w := &ix.wallets
	if w.rereads {
		if w.keptPasts, err = ix.store.Wallets.PastFacts(ctx, w.keptBy, ix.state.Last().Number); err != nil {
			return nil, err
		}
		w.rereads = false
	}
	tell := func(b *market.Block, f market.PastFact) {
		f.In = cmp.Or(f.In, b.Number)
		b.Facts = append(b.Facts, f)
		facts = append(facts, store.StoredFact{Block: b.Number, Hash: b.Hash, Fact: f})
	}
	for i := range blocks {
		b := &blocks[i]
		for len(w.keptPasts) > 0 && w.keptPasts[0].Block <= b.Number {
			kept := w.keptPasts[0]
			w.keptPasts = w.keptPasts[1:]
			of, _ := kept.Fact.(market.PastFact)
			if kept.Block == b.Number && kept.Hash != b.Hash || !ix.state.Watches(of.Wallet) && !begins(blocks[:i+1], of.Wallet) {
				continue // its member may have left meanwhile
			}
			f, ok, err := ix.store.Wallets.KeptPast(ctx, w.keptBy, kept.Block, of.Wallet)
			if err != nil {
				return nil, err
			}
			if ok {
				tell(b, f)
			}
		}
	}
	if len(w.keptPasts) > 0 || len(facts) > 0 || !undo || len(blocks) == 0 {
		return facts, nil
	}
	f, ok, err := ix.pasts.Ready(ctx)
	if err != nil {
		return nil, err
	}
	if watched, is := ix.state.Watched(f.Wallet); ok && is && watched.PastIn == 0 {
		tell(&blocks[0], f)
	}
	return facts, nil
}

// watchWallets puts into blocks which wallets are members' from there on, as facts. Wallets that were members' are forgotten.
func (ix *Indexer) watchWallets(ctx context.Context, blocks []market.Block) (facts []store.StoredFact, err error) {
	w := &ix.wallets
	for i := range blocks {
		b := &blocks[i]
		for len(w.kept) > 0 && w.kept[0].Block <= b.Number {
			f := w.kept[0]
			w.kept = w.kept[1:]
			// Blocks of the past come without those that have no events. The fact of such a block goes to the next block that comes.
			if f.Block < b.Number || f.Hash == b.Hash {
				facts = addWatch(facts, b, f.Fact)
			}
		}
	}
	if len(w.kept) > 0 || len(facts) > 0 || len(blocks) == 0 {
		return facts, nil
	}
	begun, err := ix.followRegistry(ctx)
	for _, f := range begun {
		facts = addWatch(facts, &blocks[0], f)
	}
	return facts, err
}

// addWatch puts a fact about a wallet into a block, in the place of another about the same wallet.
func addWatch(facts []store.StoredFact, b *market.Block, f market.Fact) []store.StoredFact {
	same := func(other market.Fact) bool {
		x, ok := f.(market.WatchFact)
		y, is := other.(market.WatchFact)
		return ok && is && x.Wallet == y.Wallet
	}
	b.Facts = append(slices.DeleteFunc(b.Facts, same), f)
	facts = slices.DeleteFunc(facts, func(o store.StoredFact) bool { return o.Block == b.Number && same(o.Fact) })
	return append(facts, store.StoredFact{Block: b.Number, Hash: b.Hash, Fact: f})
}

// followRegistry takes in what the registry has changed, up to as much as one commit takes. While the registry can't be read the chain is indexed all the
// same, and what changed is taken in later.
func (ix *Indexer) followRegistry(ctx context.Context) (begun []market.WatchFact, err error) {
	w := &ix.wallets
	var newest int64
	ok, err := ix.fromRegistry(ctx, func() (err error) {
		newest, err = ix.store.Social.Registry.LastChange(ctx)
		return err
	})
	if !ok {
		return nil, err
	}
	if newest < w.last { // it was restored to what it was before
		w.last = 0
	}
	room := room{wallets: walletsAtOnce, copies: copiesAtOnce}
	for w.last < newest && room.isLeft() {
		var list []social.Change
		ok, err := ix.fromRegistry(ctx, func() (err error) {
			list, err = ix.store.Social.Registry.Changes(ctx, w.last, changesAtOnce)
			return err
		})
		if !ok {
			return begun, err
		}
		if len(list) == 0 {
			break
		}
		for i := 0; i < len(list) && room.isLeft(); i++ {
			f, isNew, err := ix.takeChange(ctx, &list[i])
			if err != nil {
				return begun, err
			}
			if isNew {
				begun = append(begun, f)
				if err := ix.reserve(ctx, &room, f.Wallet); err != nil {
					return begun, err
				}
			}
			w.last = list[i].Number
		}
	}
	w.failing = false
	return begun, nil
}

// room is how many more wallets, and trades of wallets, a commit takes.
type room struct{ wallets, copies int }

func (r *room) isLeft() bool { return r.wallets > 0 && r.copies > 0 }

// reserve takes the room that a wallet needs.
func (ix *Indexer) reserve(ctx context.Context, r *room, wallet market.Address) error {
	r.wallets--
	if ix.state.Watches(wallet) {
		return nil
	}
	n, err := ix.store.Wallets.ToCopy(ctx, ix.rows.id(), wallet)
	r.copies -= n
	return err
}

// fromRegistry reads from the registry. What fails is tried again within a second: with a connection that broke, no member loses the trades of a block.
// While the registry stays away, each block tries once. ok says that it was read; err, that the program ends.
func (ix *Indexer) fromRegistry(ctx context.Context, read func() error) (ok bool, err error) {
	w := &ix.wallets
	pause := retryPause{}
	for try := 1; ; try++ {
		err := read()
		ix.pulse.beat()
		switch {
		case err == nil:
			return true, nil
		case ended(ctx):
			return false, ctx.Err()
		case w.failing:
			return false, nil
		case try == registryTries:
			ix.log.WarnContext(ctx, "the members' registry can't be read: no new wallet is watched meanwhile", "err", err.Error())
			w.failing = true
			return false, nil
		}
		if !wait.For(ctx, pause.next()) {
			return false, ctx.Err()
		}
	}
}

// takeChange takes in a change of the registry. isNew says that it makes a wallet a member's, or another member's.
func (ix *Indexer) takeChange(ctx context.Context, c *social.Change) (f market.WatchFact, isNew bool, err error) {
	if c.Member != nil {
		if isErased(c.Member) {
			err = ix.forgetWallets(ctx, ix.state.WatchedOf(int64(c.Member.Number)))
		}
		return f, false, err
	}
	chain, _ := chainconfig.ChainOfIndex(ix.cfg.ID)
	if w := c.Wallet; w.Family != ix.cfg.Family || w.Chain != "" && w.Chain != chain {
		return f, false, nil
	}
	now, watched := ix.state.Watched(c.Wallet.Address)
	if isKnown(c.Wallet, &now, watched) {
		return f, false, nil
	}
	// A member may have an account on every chain and on this one besides: then the one counts that is theirs for longer.
	w, err := ix.store.Social.Registry.WalletOn(ctx, c.Wallet.Family, c.Wallet.Address, chain)
	if err != nil {
		return f, false, err
	}
	if watched && (w == nil || now.Member != int64(w.Number)) {
		err, watched = ix.forgetWallets(ctx, []market.Address{c.Wallet.Address}), false
	}
	if err != nil || w == nil || w.MemberLeft && !watched { // who has left may come back within the hour
		return f, false, err
	}
	f.WatchedWallet = market.WatchedWallet{Wallet: w.Address, Member: int64(w.Number), Change: c.Number, Since: w.Since}
	return f, !watched || now.Since != f.Since, nil
}

// isKnown reports whether a change says of a wallet what is known, as nearly all do when a session looks at all of them again.
func isKnown(w *member.Wallet, now *market.WatchedWallet, watched bool) bool {
	if !watched {
		return w.RemovedAt > 0 || w.MemberLeft
	}
	return w.RemovedAt == 0 && now.Member == int64(w.Number) && now.Since == w.Since
}

// isErased reports whether nothing is left of a member but that there was one.
func isErased(m *member.Member) bool { return m.LeftAt > 0 && m.Handle == "" }

// forgetWallets deletes what is kept of wallets that aren't a member's any more.
func (ix *Indexer) forgetWallets(ctx context.Context, wallets []market.Address) error {
	for _, wallet := range wallets {
		for more := true; more; {
			err := ix.untilWritten(ctx, func() (err error) {
				more, err = ix.store.Wallets.Forget(ctx, ix.lease, wallet)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if len(wallets) > 0 {
		ix.state.ForgetWallets(wallets)
		ix.log.InfoContext(ctx, "wallets of members forgotten", "wallets", len(wallets))
	}
	return nil
}

// rewound has the changes read again by which wallets were watched that aren't any more, since a block was taken back. It is called before the state
// goes back.
func (ix *Indexer) rewound(touched *market.Touched) {
	ix.pasts.TakeBack()
	ix.wallets.rereads = true
	for _, wallet := range touched.Watched {
		if w, ok := ix.state.Watched(wallet); ok {
			ix.wallets.last = min(ix.wallets.last, w.Change-1)
		}
	}
}
