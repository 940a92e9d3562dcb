package mainnet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// wantedBoth is how often the memory of one index the two of a chain may have together.
const wantedBoth = 2

// beside starts the indexer anew where the past is caught up with. It follows the head, and makes another index of the past beside that until the
// new one is served. The highest memory of this process is held against that of the process which caught up with the past alone.
func (f *followed) beside(ctx context.Context) error {
	one := f.indexer.Peak.Load()
	f.indexer.Stop()
	if err := f.prepare(ctx); err != nil {
		return err
	}
	reindex := exec.CommandContext(ctx, f.binary, "reindex", f.Chain)
	reindex.Env, reindex.Stdout, reindex.Stderr = f.command.Env, os.Stderr, os.Stderr
	if err := reindex.Run(); err != nil {
		return fmt.Errorf("boardwalk reindex: %w", err)
	}
	_, end := f.grow(ctx)
	defer end()
	if err := f.start(); err != nil {
		return err
	}
	lab.Say("anew: the past is indexed anew beside the head")
	began := lab.Now()
	if err := f.untilTakenOver(ctx); err != nil {
		return err
	}
	took, both := lab.Now().Sub(began), f.indexer.Peak.Load()
	t := lab.NewTable("", ">measured", ">wanted", "")
	t.Add("peak memory of one index, at the past", fmt.Sprintf("%d MB", one>>20), "", "")
	t.Add("peak memory of two, at the head and at the past", fmt.Sprintf("%d MB", both>>20), fmt.Sprintf("%d MB", wantedBoth*one>>20), lab.Verdict(both < wantedBoth*one))
	t.Add("until the new one was served", took.Round(100*time.Millisecond).String(), "", "")
	return lab.WriteTables(os.Stdout, t)
}

// untilTakenOver waits until a later index of the chain than the first is served.
func (f *followed) untilTakenOver(ctx context.Context) error {
	for {
		var later bool
		if err := f.conn.QueryRow(ctx, "SELECT id <> $1 FROM chains WHERE served", f.Chain).Scan(&later); err != nil {
			return err
		}
		if err := f.indexer.Running(); err != nil || later {
			return err
		}
		if !wait.For(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
}
