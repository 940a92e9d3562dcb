package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

const indexUsage = `bench index measures how long writers wait while PostgreSQL builds an index on a large table.

  go run ./hack/bench index [flags]

It fills the partitioned table of trades, and drops the index on their traders. Then one writer inserts a trade every few milliseconds, each
in a transaction of its own, while the index is built: first by a plain CREATE INDEX, as a migration would, then as a program
builds it when it starts (store.BuildIndexes). The table says the longest that one insert took.

Flags:
`

// dropTraders takes away the index that is built.
const dropTraders = "DROP INDEX IF EXISTS trades_trader"

// indexWay is a way to build the index.
type indexWay struct {
	name  string
	build func(ctx context.Context, dsn string) error
}

var indexWays = []indexWay{
	{"CREATE INDEX, as in a migration", func(ctx context.Context, dsn string) error {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE INDEX trades_trader ON trades (trader)")
		return errors.Join(err, conn.Close(ctx))
	}},
	{"beside the work, part by part", func(ctx context.Context, dsn string) error {
		st, err := store.Open(ctx, dsn)
		if err != nil {
			return err
		}
		schema.BuildIndexes(ctx, st.Inspect.Database(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
		return st.Close()
	}},
}

func indexCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench index", flag.ContinueOnError)
	f.Usage = func() { fmt.Fprint(f.Output(), indexUsage); f.PrintDefaults() }
	rows := f.Int("rows", 20_000_000, "trades in the table")
	every := f.Duration("every", 5*time.Millisecond, "time between two inserts")
	if err := f.Parse(args); err != nil {
		return err
	}
	return onNewDatabase(ctx, func(dsn string) error {
		if err := fillTrades(ctx, dsn, *rows); err != nil {
			return err
		}
		fmt.Printf("%d trades in four partitions; an insert every %s\n\n| way | built in s | inserts | longest insert ms | p99 ms |\n|---|---|---|---|---|\n", *rows, *every)
		for _, way := range indexWays {
			if err := measureIndex(ctx, dsn, way, *every); err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
		}
		return nil
	})
}

// fillTrades makes four chains with trades of 100,000 wallets.
func fillTrades(ctx context.Context, dsn string, rows int) error {
	chains := []string{"base", "bsc", "arbitrum", "polygon"}
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	for _, chain := range chains {
		if _, err := st.Leases.Acquire(ctx, chain, "bench", time.Minute); err != nil {
			return errors.Join(err, st.Close())
		}
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, dropTraders); err != nil {
		return err
	}
	const slice = 500_000
	for done := 0; done < rows; done += slice {
		_, err := conn.Exec(ctx, `INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, close_usd, close_native, tx)
			SELECT ($3::text[])[1 + n % 4], n, 0, decode(md5((n % 5000)::text), 'hex'), n, decode(md5((n * 7919 % 100000)::text), 'hex'), false,
			'\x02', '\x03', '\x04', 5, 5, decode(md5(n::text), 'hex') FROM generate_series($1::bigint, $2::bigint) n`,
			done, min(done+slice, rows)-1, chains)
		if err != nil {
			return err
		}
		say("filled %d %%", 100*min(done+slice, rows)/rows)
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE trades")
	return err
}

func measureIndex(ctx context.Context, dsn string, way indexWay, every time.Duration) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, dropTraders); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "DELETE FROM trades WHERE log_index = 1000"); err != nil {
		return err
	}
	say("%s", way.name)
	var took time.Duration
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := now()
		failed = way.build(ctx, dsn)
		took = now().Sub(began)
	}()
	waits, err := insertUntil(ctx, conn, 0, 0, every, done)
	<-done
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	slices.Sort(waits)
	fmt.Printf("| %s | %.1f | %d | %.0f | %.1f |\n", way.name, took.Seconds(), len(waits), ms(waits[len(waits)-1]), ms(waits[len(waits)*99/100]))
	return nil
}

// insertUntil inserts a trade at a time until done, of blocks from first on and all of the same second, and gives how long each took.
func insertUntil(ctx context.Context, conn *pgx.Conn, first, second int, every time.Duration, done <-chan struct{}) (waits []time.Duration, err error) {
	for n := first; ; n++ {
		began := now()
		_, err := conn.Exec(ctx, `INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, close_usd, close_native, tx)
			VALUES ('base', $1, 1000, '\x01', $2, '\x00', false, '\x02', '\x03', '\x04', 5, 5, '\x06')`, n, second)
		if err != nil {
			return nil, err
		}
		waits = append(waits, now().Sub(began))
		select {
		case <-done:
			return waits, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(every):
		}
	}
}
