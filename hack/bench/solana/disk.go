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

// tableDisk is what a table has: its rows, the bytes of these and of its indexes, and how often a row was changed, and changed without its indexes.
type tableDisk struct{ rows, bytes, changed, inPlace int64 }

// disk measures the tables. A table that is split by time counts as one.
func (b *bench) disk(ctx context.Context) (disk, error) {
	const sizes = `SELECT COALESCE(pg_partition_root(c.oid), c.oid)::regclass::text, sum(pg_total_relation_size(c.oid))::bigint,
		sum(pg_stat_get_tuples_updated(c.oid))::bigint, sum(pg_stat_get_tuples_hot_updated(c.oid))::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema() GROUP BY 1`
	found, err := b.conn.Query(ctx, sizes)
	if err != nil {
		return nil, err
	}
	out, name, of := disk{}, "", tableDisk{}
	if _, err := pgx.ForEachRow(found, []any{&name, &of.bytes, &of.changed, &of.inPlace}, func() error { out[name] = of; return nil }); err != nil {
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
		was := before[name]
		out[name] = tableDisk{rows: now.rows - was.rows, bytes: now.bytes - was.bytes, changed: now.changed - was.changed, inPlace: now.inPlace - was.inPlace}
	}
	return out
}

// table lists the tables that grew, with what each trade added to them.
func (d disk) table() *lab.Table {
	trades := float64(max(1, d["trades"].rows))
	t := lab.NewTable("came to the disk at the head", ">rows", ">MB", ">rows a trade", ">bytes a trade", ">changes a trade", ">of them without the indexes")
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if of := d[name]; of.bytes > 0 {
			t.Add(name, strconv.FormatInt(of.rows, 10), fmt.Sprintf("%.1f", float64(of.bytes)/1e6), fmt.Sprintf("%.2f", float64(of.rows)/trades), fmt.Sprintf("%.0f", float64(of.bytes)/trades),
				fmt.Sprintf("%.2f", float64(of.changed)/trades), fmt.Sprintf("%.0f %%", 100*float64(of.inPlace)/float64(max(1, of.changed))))
		}
	}
	return t
}
