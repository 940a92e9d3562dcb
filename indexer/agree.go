package indexer

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// agreedShare is the share of the blocks at the head, one in so many, of which two endpoints have to have the same logs
	// whatever they change. The block's hash draws them: no endpoint knows them in advance.
	agreedShare = 10
	// firstDoubt is the pause before a doubtful block is asked for again; each is twice as long as the one before.
	firstDoubt = 10 * time.Second
	// doubtsAtOnce is the most blocks that are asked for again between two blocks of the head.
	doubtsAtOnce = 64
)

// unsureBlock is a committed block of which no two endpoints had the same logs.
type unsureBlock struct {
	header evm.Header
	read   evm.BlockRead
	// due is when it is asked for again, if there is a doubt.
	due   time.Time
	pause time.Duration
}

// drawn reports whether a block is one of those that two endpoints are asked for in any case.
func drawn(hash market.Hash) bool {
	return binary.BigEndian.Uint32(hash[len(hash)-4:])%agreedShare == 0
}

// commitHead indexes one block within the undo horizon. Where it changes something that counts, or was drawn, or was read from
// an endpoint that was outvoted lately, two endpoints have to have the same logs first, as far as there are two that answer.
func (ix *Indexer) commitHead(ctx context.Context, h evm.Header, b *evm.BlockRead) error {
	began := ix.o.Now()
	if drawn(h.Hash) || b.Suspect() {
		if _, err := ix.source.Agree(ctx, h, b); err != nil {
			return err
		}
	}
	c, err := ix.derived(ctx, []market.Block{b.Block}, h.Header, true)
	if err != nil {
		return err
	}
	if why := ix.machine.Decisive(ix.state, &c.Changes); why != "" && !b.Agreed && !b.Doubtful {
		changed, err := ix.source.Agree(ctx, h, b)
		if err != nil {
			return err
		}
		if changed {
			ix.log.WarnContext(ctx, "a block was forged", "block", h.Number, "would", why)
			// The state has taken in what isn't so.
			if err := ix.resume(ctx); err != nil {
				return err
			}
			if c, err = ix.derived(ctx, []market.Block{b.Block}, h.Header, true); err != nil {
				return err
			}
		}
	}
	return ix.write(ctx, c, began)
}

// doubt remembers a committed block that rests on one endpoint's word, and asks again for those that turn out to be doubtful:
// because their endpoint was outvoted since, or because endpoints differed about them. It goes back before the oldest that
// others have otherwise.
func (ix *Indexer) doubt(ctx context.Context, h evm.Header, b *evm.BlockRead) (back bool, err error) {
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool {
		return u.header.Number+ix.cfg.ReorgBlocks <= h.Number || u.header.Number >= h.Number
	})
	if !b.Agreed && len(ix.cfg.Endpoints) > 1 {
		u := unsureBlock{header: h, read: b.Word(), pause: firstDoubt}
		if b.Doubtful {
			u.due = ix.o.Now().Add(firstDoubt)
		}
		ix.unsure = append(ix.unsure, u)
	}
	asked := 0
	for i := range ix.unsure {
		u := &ix.unsure[i]
		if !u.read.Doubtful && !u.read.Suspect() || ix.o.Now().Before(u.due) {
			continue
		}
		if asked++; asked > doubtsAtOnce {
			break
		}
		u.due, u.pause = ix.o.Now().Add(u.pause), 2*u.pause
		ix.pulse.beat()
		read := u.read
		changed, err := ix.source.Agree(ctx, u.header, &read)
		if err != nil {
			return false, err
		}
		if changed && read.Agreed {
			return true, ix.goBefore(ctx, u.header)
		}
		// While nobody agrees, what is committed stays.
		u.read.Agreed, u.read.Doubtful = read.Agreed, read.Doubtful
	}
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool { return u.read.Agreed })
	return false, nil
}

// goBefore takes back a block that was committed with other logs than it has, and all after it.
func (ix *Indexer) goBefore(ctx context.Context, h evm.Header) error {
	known, err := ix.store.RecentBlocks(ctx, ix.cfg.ID)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.Hash != h.Parent {
			continue
		}
		if err := ix.untilWritten(ctx, func() error { return ix.store.Rewind(ctx, ix.lease, k.Number) }); err != nil {
			return err
		}
		ix.log.WarnContext(ctx, "forged block undone", "block", h.Number)
		ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool { return u.header.Number >= h.Number })
		return ix.resume(ctx)
	}
	// Its parent is beyond the undo horizon already.
	ix.unsure = slices.DeleteFunc(ix.unsure, func(u unsureBlock) bool { return u.header.Number == h.Number })
	return nil
}
