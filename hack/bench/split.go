package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

const splitUsage = `bench split measures how an existing table of many trades is split by time while others write and read.

  go run ./hack/bench split [flags]

It fills the trades of one chain as a database has them whose key of trades has no time yet: 20 trades a second. Then one writer inserts a trade every few
milliseconds, each in a transaction of its own, while programs do what they do when they start: they build the key with the time beside the work, and
close the table. Then it adds partitions, up to the number that is asked for. The first table says the longest that an insert took, the
second one how long reads take before and after.

Flags:
`

func splitCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench split", flag.ContinueOnError)
	f.Usage = func() { fmt.Fprint(f.Output(), splitUsage); f.PrintDefaults() }
	rows := f.Int("rows", 50_000_000, "trades in the table")
	parts := f.Int("partitions", 8, "partitions of the table in the end")
	every := f.Duration("every", 5*time.Millisecond, "time between two inserts")
	if err := f.Parse(args); err != nil {
		return err
	}
	return onNewDatabase(ctx, func(dsn string) error {
		st, err := store.Open(ctx, dsn)
		if err != nil {
			return err
		}
		b := splitting{dsn: dsn, store: st, rows: *rows, every: *every}
		return errors.Join(b.run(ctx, *parts), st.Close())
	})
}

// splitting is one run. Trade n of the table is of second n/20.
type splitting struct {
	dsn   string
	store *store.Store
	rows  int
	every time.Duration
	// inserted is how many trades the writer has added.
	inserted int
}

const perSecond = 20

func (b *splitting) run(ctx context.Context, parts int) error {
	_, err := b.store.Leases.Acquire(ctx, "base", "bench", time.Hour) // it makes the chain's tables
	if err != nil {
		return err
	}
	// As a database of before: the key has no time. What is built once all rows are there is built faster.
	if err := b.exec(ctx, "DROP INDEX trades_key, trades_pool, trades_trader"); err != nil {
		return err
	}
	if err := b.fill(ctx, 0, b.rows); err != nil {
		return err
	}
	say("building the indexes that such a database has")
	err = b.exec(ctx, "SET maintenance_work_mem = '1GB'", "ALTER TABLE trades ADD CONSTRAINT trades_pkey PRIMARY KEY (chain, block, log_index)",
		"CREATE INDEX trades_pool ON trades (chain, pool, time)", "CREATE INDEX trades_trader ON trades (trader)", "VACUUM ANALYZE trades")
	if err != nil {
		return err
	}
	if err := b.reads(ctx, "one table"); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	fmt.Printf("%d trades of one chain; an insert every %s\n\n| step | took s | inserts | longest insert ms | p99 ms |\n|---|---|---|---|---|\n", b.rows, b.every)
	err = b.measure(ctx, "the key with the time", func() error {
		schema.BuildIndexes(ctx, b.store.Inspect.Database(), log)
		return nil
	})
	if err != nil {
		return err
	}
	split := func() error { return schema.SplitLarge(ctx, b.store.Inspect.Database(), log, 1) }
	if err := b.measure(ctx, "closing the table", split); err != nil {
		return err
	}
	for n := 2; n <= parts; n++ {
		const more = 14 * 86400 * perSecond / 20 // a twentieth of the trades of two weeks: enough to pass the bound
		if err := b.fill(ctx, b.rows, more); err != nil {
			return err
		}
		b.rows += more
		if n < parts {
			if err := b.measure(ctx, fmt.Sprintf("closing partition %d", n), split); err != nil {
				return err
			}
		}
	}
	if err := b.exec(ctx, "VACUUM ANALYZE trades"); err != nil {
		return err
	}
	return b.reads(ctx, fmt.Sprintf("%d partitions", parts))
}

func (b *splitting) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, b.dsn)
	if err != nil {
		return err
	}
	for _, q := range statements {
		if _, err = conn.Exec(ctx, q); err != nil {
			break
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

// fill adds trades with numbers from first on, of 5,000 pools and 100,000 wallets, and says so in the chain's row.
func (b *splitting) fill(ctx context.Context, first, rows int) error {
	const slice = 500_000
	g, filling := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for from := first; from < first+rows; from += slice {
		until := min(from+slice, first+rows)
		g.Go(func() error {
			err := b.exec(filling, fmt.Sprintf(`INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, nano_usd, close_usd, close_native, tx)
				SELECT 'base', n / 40, n %% 40, substr(sha256(int8send(n %% 5000)), 1, 20), n / %d, substr(sha256(int8send(n * 7919 %% 100000)), 1, 20), n %% 2 = 0,
				substr(sha256(int8send(n %% 5000)), 2, 20), sha256(int8send(n)), sha256(int8send(n + 1)), n, 5, 5, sha256(int8send(n / 2))
				FROM generate_series(%d::bigint, %d::bigint) n`, perSecond, from, until-1))
			if err == nil && rows > slice {
				say("filled %d %%", 100*(until-first)/rows)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return b.exec(ctx, fmt.Sprintf("UPDATE chains SET block_time = %d", (first+rows)/perSecond))
}

// measure runs a step while a writer inserts trades at the table's newest time.
func (b *splitting) measure(ctx context.Context, name string, step func() error) error {
	conn, err := pgx.Connect(ctx, b.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	say("%s", name)
	var took time.Duration
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := now()
		failed = step()
		took = now().Sub(began)
	}()
	waits, err := insertUntil(ctx, conn, b.inserted, b.rows/perSecond, b.every, done)
	<-done
	b.inserted += len(waits)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	slices.Sort(waits)
	fmt.Printf("| %s | %.1f | %d | %.0f | %.1f |\n", name, took.Seconds(), len(waits), ms(waits[len(waits)-1]), ms(waits[len(waits)*99/100]))
	return nil
}

// addressOf is the address that stands for a number in the table: of sha256 of its eight bytes the first twenty.
func addressOf(n int) market.Address {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	return market.EVMAddress([32]byte(append(make([]byte, 12), sum[:20]...)))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// reads measures what the API asks of trades: of each of 300 pools and wallets once.
func (b *splitting) reads(ctx context.Context, of string) error {
	var pools, wallets []market.Address
	for i := range 300 {
		pools, wallets = append(pools, addressOf(i*16)), append(wallets, addressOf(i*333))
	}
	last := int64(b.rows / perSecond)
	fmt.Printf("\n| %s | p50 ms | p99 ms |\n|---|---|---|\n", of)
	for _, r := range []struct {
		name string
		read func(i int) error
	}{
		{"a pool's trades of the last hour", func(i int) error {
			_, err := b.store.Trades.Of(ctx, "base", pools[i], last-3600, last+1, 1000)
			return err
		}},
		{"a pool's first trades", func(i int) error {
			_, err := b.store.Trades.Of(ctx, "base", pools[i], 0, last, 100)
			return err
		}},
		{"a wallet's trades", func(i int) error {
			for _, err := range b.store.Trades.OfWallet(ctx, wallets[i], []string{"base"}, 1000) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		var took []time.Duration
		for round := range 3 {
			for i := range pools {
				began := now()
				if err := r.read(i); err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				if round > 0 { // they are in memory by then
					took = append(took, now().Sub(began))
				}
			}
		}
		slices.Sort(took)
		fmt.Printf("| %s | %.2f | %.2f |\n", r.name, ms(took[len(took)/2]), ms(took[len(took)*99/100]))
	}
	fmt.Println()
	return nil
}
