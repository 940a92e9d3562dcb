package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// writerDSN is the variable by which the test's program is a writer to a database, and runs no tests.
const writerDSN = "BOARDWALK_TEST_WRITER"

// writeAndWait takes a number of the stream, says so, and goes on in the same transaction once it reads a line. It says what became of that.
func writeAndWait(dsn string) (code int) {
	st, err := store.Open(context.Background(), dsn)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	defer func() { _ = st.Close() }()
	err = st.Inspect.TakeNumbers(context.Background(), 1, func(ctx context.Context, db bun.IDB, _ int64) error {
		fmt.Fprintln(os.Stdout, "taken")
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "SELECT 1")
		return err
	})
	if errors.Is(err, store.ErrInterrupted) {
		fmt.Fprintln(os.Stdout, "interrupted")
	} else {
		fmt.Fprintln(os.Stdout, "not interrupted:", err)
	}
	return 0
}

// TestAWriterThatStops has one of nine writers, a process of its own, be stopped by SIGSTOP while it has numbers of the stream. PostgreSQL ends its transaction, and the others
// commit again.
func TestAWriterThatStops(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	s := storetest.OpenAt(t, dsn)
	leases := make([]*store.Lease, 8)
	for i := range leases {
		var err error
		if leases[i], err = s.Leases.Acquire(t.Context(), fmt.Sprintf("chain%d", i), "test", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), writerDSN+"="+dsn)
	in, err := writer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	writer.Stderr = t.Output()
	if err := storetest.Start(writer); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	hear := func() string {
		t.Helper()
		line, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("the writer said %q, %v", line, err)
		}
		return strings.TrimSpace(line)
	}
	if line := hear(); line != "taken" {
		t.Fatalf("the writer says %q", line)
	}
	if err := writer.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // for a machine with much else to do; six seconds do on an idle one
	defer cancel()
	others, ctx := errgroup.WithContext(ctx)
	for _, l := range leases {
		others.Go(func() error {
			before := map[string]*market.Changes{}
			for n := 1; n <= 3; n++ {
				c := streamed(n, before)
				var err error
				for err = store.ErrInterrupted; errors.Is(err, store.ErrInterrupted) && ctx.Err() == nil; {
					err = s.Commit(ctx, l, c) // under the same lease, as the indexer does
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := others.Wait(); err != nil {
		t.Errorf("while one writer is stopped the others don't commit: %v", err)
	}
	if err := writer.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	if line := hear(); line != "interrupted" {
		t.Errorf("the writer that was stopped: %s", line)
	}
	if err := writer.Wait(); err != nil {
		t.Error(err)
	}
	items, err := s.Stream.After(t.Context(), 0, 1000)
	if err != nil || len(items) != 8*3*3 || items[len(items)-1].Number != 8*3*3 {
		t.Errorf("the stream has %d items, %v; want numbers 1 to %d", len(items), err, 8*3*3)
	}
}
