// Command peers measures Boardwalk against others' programs: how much work the reading of a chain's past is, beside Ponder and
// beside a program that only decodes and copies; how much the API adds to a bare router; what drawing a card takes beside other
// ways. It is a module of its own, so that what it needs is nothing of Boardwalk's. docs/benchmarks.md has the results.
package main

import (
	"os"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/bench/peers/backfill"
	"github.com/boardwalkhq/boardwalk/hack/bench/peers/cards"
	"github.com/boardwalkhq/boardwalk/hack/bench/peers/hot"
	"github.com/boardwalkhq/boardwalk/hack/bench/peers/solana"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
)

func main() {
	os.Exit(lab.Main("go run -C hack/bench/peers .",
		backfill.Command(), hot.Command(), hot.BoardRequests(), cards.Command(), cards.Memory(), solana.Command(),
		lab.Serve(map[string]func() *catalog.Catalog{board.Name: board.Catalog}), cards.Draw(), cards.Browser(), backfill.Floor(), hot.Bare(), solana.Read(),
	))
}
