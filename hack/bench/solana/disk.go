package solana

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// disk is what PostgreSQL's tables have, by their names.
type disk map[string]tableDisk

// tableDisk is what a table has: its rows, and the bytes of these and of its indexes.
type tableDisk struct{ rows, bytes int64 }

// disk measures the tables. A table that is split by time counts as one.
func (b *bench) disk(ctx context.Context) (disk, error) {
	const sizes = `SELECT COALESCE(pg_partition_root(c.oid), c.oid)::regclass::text, sum(pg_total_relation_size(c.oid))::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema() GROUP BY 1`
	found, err := b.conn.Query(ctx, sizes)
	if err != nil {
		return nil, err
	}
	out, name, bytes := disk{}, "", int64(0)
	if _, err := pgx.ForEachRow(found, []any{&name, &bytes}, func() error { out[name] = tableDisk{bytes: bytes}; return nil }); err != nil {
		return nil, err
	}
	for name, of := range out {
		if err := b.conn.QueryRow(ctx, "SELECT count(*) FROM "+name).Scan(&of.rows); err != nil { // a name as PostgreSQL itself quotes it
			return nil, err
		}
		out[name] = of
	}
	return out, nil
}

// since is what came to the tables after an earlier measurement.
func (d disk) since(before disk) disk {
	out := disk{}
	for name, now := range d {
		out[name] = tableDisk{rows: now.rows - before[name].rows, bytes: now.bytes - before[name].bytes}
	}
	return out
}

// table lists the tables that grew, with what each trade added to them.
func (d disk) table() *lab.Table {
	trades := float64(max(1, d["trades"].rows))
	t := lab.NewTable("came to the disk at the head", ">rows", ">MB", ">rows a trade", ">bytes a trade")
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if of := d[name]; of.bytes > 0 {
			t.Add(name, strconv.FormatInt(of.rows, 10), fmt.Sprintf("%.1f", float64(of.bytes)/1e6), fmt.Sprintf("%.2f", float64(of.rows)/trades), fmt.Sprintf("%.0f", float64(of.bytes)/trades))
		}
	}
	return t
}
