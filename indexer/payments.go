package indexer

import "context"

// paymentsAtOnce is how many blocks' payments are read between two beats: a block may have 56 kB of them, and 400 kB of first transactions.
const paymentsAtOnce = 500

// recallPayments has the state take up whom the newest blocks paid, as far as the database has it.
func (ix *Indexer) recallPayments(ctx context.Context) error {
	if err := ix.store.DropStrayPayments(ctx, ix.lease); err != nil {
		return err
	}
	next, last := uint64(0), ix.state.Last().Number
	horizon := last - min(last, ix.cfg.ReorgBlocks)
	for read := paymentsAtOnce; read == paymentsAtOnce; {
		read = 0
		for b, err := range ix.store.Payments(ctx, ix.rows.id(), next, paymentsAtOnce) {
			if err != nil {
				return err
			}
			ix.state.RecallPayments(&b, horizon)
			next = b.Number + 1
			read++
		}
		ix.pulse.beat()
	}
	return nil
}
