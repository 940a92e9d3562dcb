package backfill

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// floorEvents is how many events are copied at once: as many as a commit of the indexer gathers.
const floorEvents = 20_000

// Floor is the child that reads a chain's past, decodes it with the indexer's decoders and copies the events into tables
// without an index, nothing else: the least that an indexer in this language could do.
func Floor() lab.Command {
	var config string
	var head uint64
	return lab.Command{
		Name: "floor", Child: true,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&config, "config", "", "the chain document")
			f.Uint64Var(&head, "head", 0, "the last block")
		},
		Run: func(ctx context.Context) error { return readFloor(ctx, config, head) },
	}
}

func readFloor(ctx context.Context, config string, head uint64) error {
	cfg, err := chainconfig.Load(config)
	if err != nil {
		return err
	}
	source, err := evm.NewSource(cfg, evm.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: lab.Now})
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, os.Getenv("BOARDWALK_DB"))
	if err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, t := range floorTables {
		if _, err := conn.Exec(ctx, "CREATE TABLE "+t.name+" ("+floorColumns+t.columns+")"); err != nil {
			return fmt.Errorf("floor: %w", err)
		}
	}
	var blocks []market.Block
	events := 0
	for batch, err := range source.Backfill(ctx, market.Header{}, 0, head) {
		if err != nil {
			return err
		}
		blocks = append(blocks, batch.Blocks...)
		for i := range batch.Blocks {
			for j := range batch.Blocks[i].Txs {
				events += len(batch.Blocks[i].Txs[j].Logs)
			}
		}
		if events < floorEvents && batch.Last.Number < head {
			continue
		}
		for i := range floorTables {
			if err := copyEvents(ctx, conn, &floorTables[i], blocks); err != nil {
				return err
			}
		}
		blocks, events = blocks[:0], 0
	}
	return ctx.Err()
}

const floorColumns = "block BIGINT, log_index BIGINT, time BIGINT, tx BYTEA, "

// floorTable is one kind of event. row appends an event's values; false is an event of another kind.
type floorTable struct {
	name, columns string
	row           func(*floorRow, market.Event) bool
}

var floorTables = []floorTable{
	{
		"transfers", "token BYTEA, sender BYTEA, recipient BYTEA, amount BYTEA",
		func(r *floorRow, e market.Event) bool {
			t, ok := e.(market.Transfer)
			if ok {
				r.address(t.Token, t.From, t.To)
				r.amount(&t.Amount)
			}
			return ok
		},
	},
	{
		"wraps", "token BYTEA, account BYTEA, amount BYTEA, unwrap BOOLEAN",
		func(r *floorRow, e market.Event) bool {
			w, ok := e.(market.Wrap)
			if ok {
				r.address(w.Token, w.Account)
				r.amount(&w.Amount)
				r.values = append(r.values, w.Unwrap)
			}
			return ok
		},
	},
	{
		"pools", "factory BYTEA, pool BYTEA, token0 BYTEA, token1 BYTEA, fee_pips BIGINT, tick_spacing INTEGER",
		func(r *floorRow, e market.Event) bool {
			p, ok := e.(market.PoolCreated)
			if ok {
				r.address(p.Factory, p.Pool, p.Token0, p.Token1)
				r.values = append(r.values, int64(p.FeePips), p.TickSpacing)
			}
			return ok
		},
	},
	{
		"reserves", "pool BYTEA, reserve0 BYTEA, reserve1 BYTEA",
		func(r *floorRow, e market.Event) bool {
			s, ok := e.(market.Reserves)
			if ok {
				r.address(s.Pool)
				r.amount(&s.Reserve0, &s.Reserve1)
			}
			return ok
		},
	},
	{
		"prices", "pool BYTEA, sqrt_price_x96 BYTEA, tick INTEGER",
		func(r *floorRow, e market.Event) bool {
			p, ok := e.(market.PoolPriced)
			if ok {
				r.address(p.Pool)
				r.amount(&p.SqrtPriceX96)
				r.values = append(r.values, p.Tick)
			}
			return ok
		},
	},
	{
		"swaps", "pool BYTEA, sender BYTEA, recipient BYTEA, amount0 BYTEA, neg0 BOOLEAN, amount1 BYTEA, neg1 BOOLEAN, " +
			"sqrt_price_x96 BYTEA, liquidity BYTEA, tick INTEGER",
		func(r *floorRow, e market.Event) bool {
			s, ok := e.(market.Swap)
			if ok {
				r.address(s.Pool, s.Sender, s.Recipient)
				r.amount(&s.Amount0.Abs)
				r.values = append(r.values, s.Amount0.Neg)
				r.amount(&s.Amount1.Abs)
				r.values = append(r.values, s.Amount1.Neg)
				r.amount(&s.SqrtPriceX96, &s.Liquidity)
				r.values = append(r.values, s.Tick)
			}
			return ok
		},
	},
	{
		"ranges", "pool BYTEA, tick_lower INTEGER, tick_upper INTEGER, delta BYTEA, neg BOOLEAN",
		func(r *floorRow, e market.Event) bool {
			l, ok := e.(market.RangeLiquidity)
			if ok {
				r.address(l.Pool)
				r.values = append(r.values, l.TickLower, l.TickUpper)
				r.amount(&l.Delta.Abs)
				r.values = append(r.values, l.Delta.Neg)
			}
			return ok
		},
	},
	{
		"liquidity", "pool BYTEA, amount0 BYTEA, amount1 BYTEA, burn BOOLEAN",
		func(r *floorRow, e market.Event) bool {
			l, ok := e.(market.PairLiquidity)
			if ok {
				r.address(l.Pool)
				r.amount(&l.Amount0, &l.Amount1)
				r.values = append(r.values, l.Burn)
			}
			return ok
		},
	},
}

// floorRow is one row's values. COPY encodes them before the next row is asked for, so one is enough.
type floorRow struct {
	values []any
	bytes  []byte
}

func (r *floorRow) address(list ...market.Address) {
	for _, a := range list {
		n := len(r.bytes)
		r.bytes = a.AppendTo(r.bytes)
		r.values = append(r.values, r.bytes[n:len(r.bytes):len(r.bytes)])
	}
}

func (r *floorRow) amount(list ...*market.Amount) {
	for _, v := range list {
		n := len(r.bytes)
		w := v.Bytes32()
		r.bytes = append(r.bytes, w[:]...)
		r.values = append(r.values, r.bytes[n:len(r.bytes):len(r.bytes)])
	}
}

// copyEvents copies the events of one kind.
func copyEvents(ctx context.Context, conn *pgx.Conn, t *floorTable, blocks []market.Block) error {
	r := &floorRow{values: make([]any, 0, 16), bytes: make([]byte, 0, 512)}
	var block, tx, log int
	next := func() ([]any, error) {
		for block < len(blocks) {
			b := &blocks[block]
			if tx == len(b.Txs) {
				block, tx, log = block+1, 0, 0
				continue
			}
			if log == len(b.Txs[tx].Logs) {
				tx, log = tx+1, 0
				continue
			}
			l := &b.Txs[tx].Logs[log]
			log++
			r.values = append(r.values[:0], int64(b.Number), int64(l.Index), b.Time, b.Txs[tx].ID.AppendTo(nil))
			r.bytes = r.bytes[:0]
			if t.row(r, l.Event) {
				return r.values, nil
			}
		}
		return nil, nil
	}
	var names []string
	for column := range strings.SplitSeq(floorColumns+t.columns, ", ") {
		name, _, _ := strings.Cut(column, " ")
		names = append(names, name)
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{t.name}, names, pgx.CopyFromFunc(next)); err != nil {
		return fmt.Errorf("floor: copy %s: %w", t.name, err)
	}
	return nil
}

// floorRows checks that the floor read and copied every event that the count saw. It derives nothing, so nothing else
// can be compared.
func floorRows(ctx context.Context, conn *pgx.Conn, counted *census) error {
	var transfers int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM transfers").Scan(&transfers); err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	if transfers != counted.transfers {
		return fmt.Errorf("transfers: %d, counted from the logs: %d", transfers, counted.transfers)
	}
	return nil
}
