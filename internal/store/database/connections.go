package database

import (
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MaxConnections is the parameter of an address that bounds the connections of a program's pools, as pgx's own pools call it.
const MaxConnections = "pool_max_conns"

// fewestConnections is the least bound with which readers and writers have some each, beside the reserved ones.
const fewestConnections = 10

// connections are how many a program may have open in each pool. Besides, one waits for hints, and one may look after the database.
type connections struct{ read, write, reserved int }

// connectionsOf takes the bound of an address from its settings, which the server would refuse. Without one, readers and writers have four for
// each core.
func connectionsOf(cfg *pgx.ConnConfig) (connections, error) {
	usual := 4 * runtime.GOMAXPROCS(0)
	text, bounded := cfg.RuntimeParams[MaxConnections]
	if !bounded {
		return connections{usual, usual, reserved}, nil
	}
	delete(cfg.RuntimeParams, MaxConnections)
	most, err := strconv.Atoi(text)
	if err != nil || most < fewestConnections || most > 10_000 {
		return connections{}, fmt.Errorf("database: %s in the address: %q can't be used; allowed: %d to 10000", MaxConnections, text, fewestConnections)
	}
	half := (most - reserved) / 2
	return connections{min(usual, half), min(usual, half), reserved}, nil
}

// ofReader gives the numbers of connections of a program that only reads: its second pool is as small as the reserved one.
func (c connections) ofReader() connections {
	return connections{min(4*runtime.GOMAXPROCS(0), c.read+c.write-c.reserved), c.reserved, c.reserved}
}

// BoundConnections adds a bound to an address that has none; an empty one is none, and SQLite needs none.
func BoundConnections(dsn, most string) string { return withParameter(dsn, MaxConnections, most) }

// withParameter adds a parameter to the address of a PostgreSQL database, unless it is empty or there is one.
func withParameter(dsn, name, value string) string {
	if value == "" || strings.HasPrefix(dsn, "sqlite:") || strings.Contains(dsn, name+"=") {
		return dsn
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + name + "=" + url.QueryEscape(value)
}
