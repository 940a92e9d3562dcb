// Command bench measures Boardwalk: how fast it answers, what its programs use, what a card costs in memory, how far behind a
// chain's head it is. What compares it with others' programs is in hack/bench/peers. docs/benchmarks.md has the results.
package main

import (
	"os"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
)

func main() {
	os.Exit(runMain("go run ./hack/bench",
		tokensCommand(), searchCommand(), overloadCommand(), boardCommand(), cardsCommand(), operatorCommand(), mainnetCommand(),
		backfillCommand(), hotCommand(), boardRequestsCommand(), cardsPeersCommand(), floorCommand(), bareCommand(),
		serveCommand(map[string]func() *catalog.Catalog{boardName: boardCatalog}), drawCommand(), operateCommand(),
	))
}
