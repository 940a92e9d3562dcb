package indexer

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

const (
	// firstDoubt is the pause before a doubtful block is asked for again; each is twice as long as the one before.
	firstDoubt = 10 * time.Second
	// doubtsAtOnce is the most blocks that are asked for again between two blocks of the head.
	doubtsAtOnce = 64
	// recalledEvery is how many blocks apart blocks of before this start are asked for again, of which nobody knows who vouched for them:
	// two calls each, so that they cost a quarter of a call per block whatever happens.
	recalledEvery = 8
)

// unsureBlock is a committed block of which no two endpoints had the same logs.
type unsureBlock struct {
	header chain.Header
	read   chain.BlockRead
	pause  doubtPause // until it is asked for again, if there is a doubt
	// recalled says that it was committed before this start, tried that it was asked for again unasked, and suspect that another block of
	// before this start was forged.
	recalled, tried, suspect bool
}

// isDoubted reports whether a block has to be asked for again.
func (u *unsureBlock) isDoubted() bool { return u.read.Doubtful || u.suspect || u.read.Suspect() }

// commitHead indexes one block within the undo horizon. Where it changes something that counts, or was drawn, or was read from
// an endpoint that was outvoted lately, two endpoints have to have the same logs first, as far as there are two that answer.
func (ix *Indexer) commitHead(ctx context.Context, h chain.Header, b *chain.BlockRead) (err error) {
	ctx, block := ix.startBlocks(ctx, "index a block", h.Header, b.Block)
	defer func() { span.End(block, err) }()
	began, last := ix.o.Now(), ix.state.Last()
	suspect := b.Suspect()
	if suspect || chain.Drawn(h.Hash) && !ix.plan.GivesUp(budget.Agreement) {
		within := ctx
		if !suspect {
			within = rpc.For(ctx, budget.Agreement)
		}
		if _, err := ix.nodes.Agree(within, h, b); err != nil {
			return err
		}
	}
	c, err := ix.derived(ctx, []market.Block{b.Block}, h.Header, true)
	if err != nil {
		return err
	}
	if why := ix.machine.Decisive(ix.state, &c.Changes); why != "" && !b.Agreed && !b.Doubtful {
		changed, err := ix.nodes.Agree(ctx, h, b)
		if err != nil {
			return err
		}
		if changed {
			ix.log.WarnContext(ctx, "a block was forged", "block", h.Number, "would", why)
			// The state has taken in what isn't so.
			if err := ix.forget(ctx, last, derive.TouchedBy(&c.Changes)); err != nil {
				return err
			}
			if c, err = ix.derived(ctx, []market.Block{b.Block}, h.Header, true); err != nil {
				return err
			}
		}
	}
	if !b.Agreed {
		c.LogsHash = ix.nodes.LogsHash(b)
	}
	return ix.write(ctx, c, began)
}

// recallRecords takes up which endpoints weren't trusted before this start, or by another process.
func (ix *Indexer) recallRecords(ctx context.Context) error {
	kept, err := ix.store.Facts.EndpointRecords(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	ix.records = make([]chain.Record, len(kept))
	for i, r := range kept {
		ix.records[i] = chain.Record(r)
	}
	ix.nodes.RecallRecords(ix.records)
	return nil
}

// changedRecords are the records of the endpoints that aren't trusted, where the database has others; else nil.
func (ix *Indexer) changedRecords() []store.EndpointRecord {
	now := ix.nodes.Records()
	if slices.Equal(now, ix.records) {
		return nil
	}
	out := make([]store.EndpointRecord, len(now))
	for i, r := range now {
		out[i] = store.EndpointRecord(r)
	}
	return out
}

// recallUnsure takes up the blocks that rest on one endpoint's word and were committed before this start, or by another process.
func (ix *Indexer) recallUnsure(ctx context.Context) error {
	if len(ix.cfg.Endpoints) == 1 {
		return nil
	}
	blocks, err := ix.store.Facts.UnsureBlocks(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	unsure := make([]unsureBlock, 0, len(blocks))
	for _, b := range blocks {
		read, ok := ix.nodes.Recall(b.LogsHash)
		if !ok {
			continue
		}
		// A database that went back may hold a block's rows as they came from other logs than those that were read since.
		at := slices.IndexFunc(ix.unsure, func(u unsureBlock) bool { return u.header.Hash == b.Hash && u.read.Word.Same(read.Word) })
		if at >= 0 {
			unsure = append(unsure, ix.unsure[at])
		} else {
			unsure = append(unsure, unsureBlock{header: chain.Header{Header: b.Header}, read: read, recalled: true})
		}
	}
	// Sure blocks were held against the logs that this process read. Those in the database may be others.
	ix.unsure, ix.sure = unsure, nil
	return nil
}

// drawRecalled draws one of the blocks of before this start, which is asked for again although nobody has been outvoted since: the endpoint that
// forged it may be honest by now. The blocks' hashes draw it; nil where it is no block's turn.
func (ix *Indexer) drawRecalled(number uint64) (drawn *unsureBlock) {
	if number%recalledEvery != 0 || ix.plan.GivesUp(budget.Agreement) {
		return nil
	}
	for i := range ix.unsure {
		u := &ix.unsure[i]
		if !u.recalled || u.tried || u.isDoubted() {
			continue
		}
		if drawn == nil || bytes.Compare(u.header.Hash[:], drawn.header.Hash[:]) < 0 {
			drawn = u
		}
	}
	if drawn != nil {
		drawn.tried = true
	}
	return drawn
}

// doubt remembers a committed block that rests on one endpoint's word, and asks again for those that turn out to be doubtful:
// because their endpoint was outvoted since, or because endpoints differed about them. It goes back before the oldest that
// others have otherwise.
func (ix *Indexer) doubt(ctx context.Context, h chain.Header, b *chain.BlockRead) (back bool, err error) {
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool {
		return u.header.Number+ix.cfg.ReorgBlocks <= h.Number || u.header.Number >= h.Number
	})
	if !b.Agreed && len(ix.cfg.Endpoints) > 1 {
		u := unsureBlock{header: h, read: b.Bare()}
		u.header.Body = nil
		if b.Doubtful {
			u.pause.begin(ix.o.Now())
		}
		ix.unsure = append(ix.unsure, u)
	}
	drawn, asked := ix.drawRecalled(h.Number), 0
	for i := range ix.unsure {
		u := &ix.unsure[i]
		if u != drawn && !u.isDoubted() || !u.pause.isOver(ix.o.Now()) {
			continue
		}
		if asked++; asked > doubtsAtOnce {
			break
		}
		if forged, err := ix.askAgain(ctx, u); err != nil {
			return false, err
		} else if forged {
			return true, ix.goBefore(ctx, u.header)
		}
	}
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool {
		if u.read.Agreed {
			ix.sure = append(ix.sure, u.header.Number)
		}
		return u.read.Agreed
	})
	return false, nil
}

// askAgain asks for an unsure block again. It is forged where two endpoints have other logs than those it was committed with.
func (ix *Indexer) askAgain(ctx context.Context, u *unsureBlock) (forged bool, err error) {
	u.pause.begin(ix.o.Now())
	ix.pulse.beat()
	read := u.read
	changed, err := ix.nodes.Agree(ctx, u.header, &read)
	if err != nil {
		return false, err
	}
	if changed && read.Agreed {
		if u.recalled {
			// Nobody knows which endpoint forged this block. The same endpoint may have forged others of before the restart.
			for i := range ix.unsure {
				ix.unsure[i].suspect = ix.unsure[i].suspect || ix.unsure[i].recalled
			}
		}
		return true, nil
	}
	// While nobody agrees, what is committed stays.
	u.read.Agreed, u.read.Doubtful = read.Agreed, read.Doubtful
	return false, nil
}

// goBefore takes back a block that was committed with other logs than it has, and all after it.
func (ix *Indexer) goBefore(ctx context.Context, h chain.Header) error {
	known, err := ix.store.RecentBlocks(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.Hash != h.Parent {
			continue
		}
		if err := ix.goBackTo(ctx, k); err != nil {
			return err
		}
		ix.log.WarnContext(ctx, "forged block undone", "block", h.Number)
		ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool { return u.header.Number >= h.Number })
		return nil
	}
	// Its parent is beyond the undo horizon already.
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool { return u.header.Number == h.Number })
	return nil
}
