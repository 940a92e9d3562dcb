// Command bench measures Boardwalk: how fast it answers, what its programs use, how far behind a chain's head it is. What compares
// it with others' programs, and all about cards, is in hack/bench/peers. docs/benchmarks.md has the results.
package main

import (
	"os"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/bench/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/bench/members"
	"github.com/boardwalkhq/boardwalk/hack/bench/operator"
	"github.com/boardwalkhq/boardwalk/hack/bench/overload"
	"github.com/boardwalkhq/boardwalk/hack/bench/place"
	"github.com/boardwalkhq/boardwalk/hack/bench/search"
	"github.com/boardwalkhq/boardwalk/hack/bench/solana"
	"github.com/boardwalkhq/boardwalk/hack/bench/tokens"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
)

func main() {
	os.Exit(lab.Main("go run ./hack/bench",
		tokens.Command(), search.Command(), overload.Command(), board.Command(), members.Command(), operator.Command(), mainnet.Command(), solana.Command(),
		place.Command(),
		lab.Serve(map[string]func() *catalog.Catalog{board.Name: board.Catalog}), operator.Operate(), solana.Read(),
	))
}
