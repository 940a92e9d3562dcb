package former

import (
	"fmt"
	"reflect"

	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Log collects the former images of one commit, in packs. Without a block it collects nothing.
type Log struct {
	Chain string
	Block int64

	// pack is being filled, rows has those that are full.
	pack Pack
	rows []Row
}

// Note notes what a row was; existed says whether it was there. The row is made only where something is collected.
func Note[R any](l *Log, row func() R, existed bool) error {
	if l.Chain == "" {
		return nil
	}
	was := row()
	if err := l.pack.Add(model.FormOf[R](), reflect.ValueOf(&was).Elem(), existed); err != nil {
		return fmt.Errorf("database: keep a former row of %w", err)
	}
	if l.pack.IsFull() {
		l.endPack()
	}
	return nil
}

// Keep notes an image that was made before.
func (l *Log) Keep(r *Row) error {
	if err := l.pack.AddImage(r.Tbl, r.Existed, r.Image); err != nil {
		return fmt.Errorf("database: block %d: %w", r.Block, err)
	}
	if l.pack.IsFull() {
		l.endPack()
	}
	return nil
}

func (l *Log) endPack() {
	l.rows = append(l.rows, Row{Chain: l.Chain, Block: l.Block, Seq: int64(len(l.rows)), Tbl: PackTable, Existed: true, Image: l.pack.Take()})
}

// End returns the rows of undo that hold what was noted.
func (l *Log) End() []Row {
	if !l.pack.IsEmpty() {
		l.endPack()
	}
	return l.rows
}
