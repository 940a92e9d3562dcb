// Command bench measures Boardwalk against its alternatives: how much work the reading of a chain's past is, beside
// Ponder and beside a program that only decodes and copies; how much the API adds to a bare router and to the database
// alone. docs/benchmarks.md has the results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const usage = `bench measures Boardwalk against its alternatives on this machine.

  go run ./hack/bench backfill [flags]    read a chain's past: the indexer, Ponder, and the floor
  go run ./hack/bench mainnet [flags]     follow the head of a stand-in of a mainnet, or catch up with it
  go run ./hack/bench hot [flags]         answers from memory: the API server, and a bare router
  go run ./hack/bench tokens [flags]      answers about a token, on a big database: the server, and the database alone
  go run ./hack/bench search [flags]      search among a million tokens
  go run ./hack/bench overload [flags]    twice the load that the server carries
  go run ./hack/bench board [flags]       the launch board while trades arrive: requests, CPU by what changed, memory
  go run ./hack/bench cards [flags]       drawing a card: the renderer, and other ways; its memory over many
  go run ./hack/bench index [flags]       building an index on a large table while others write to it
  go run ./hack/bench split [flags]       splitting a table of many trades by time while others write to it
  go run ./hack/bench operator [flags]    the operator on a real API server: to converge, at rest, after one change

Each measurement checks that everybody arrived at the same rows, or wrote the same bytes, before it says who was faster.
Progress goes to stderr, the result to stdout as Markdown. See bench backfill --help, and so on.
`

// now is the program's one clock.
var now = time.Now

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench: "+strings.TrimPrefix(err.Error(), "simnet: "))
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command := "help"
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "backfill":
		return backfillCommand(ctx, args[1:])
	case "mainnet":
		return mainnetCommand(ctx, args[1:])
	case "hot":
		return hotCommand(ctx, args[1:])
	case "tokens":
		return tokensCommand(ctx, args[1:])
	case "search":
		return searchCommand(ctx, args[1:])
	case "overload":
		return overloadCommand(ctx, args[1:])
	case "board":
		return boardCommand(ctx, args[1:])
	case "cards":
		return cardsCommand(ctx, args[1:])
	case "draw": // what cards runs as a process of its own
		return drawCommand(ctx, args[1:])
	case "index":
		return indexCommand(ctx, args[1:])
	case "split":
		return splitCommand(ctx, args[1:])
	case "operator":
		return operatorCommand(ctx, args[1:])
	case "operate": // what operator runs as a process of its own
		return operateCommand(ctx, args[1:])
	case "serve": // what the measurements of the API run as a process of its own
		return serveCommand(ctx, args[1:])
	case "floor": // what backfill runs as a process of its own, so that it can be measured
		return floorCommand(ctx, args[1:])
	case "help", "-h", "-help", "--help":
		_, err := fmt.Fprint(os.Stdout, usage)
		return err
	default:
		return fmt.Errorf("%q is no measurement: those that exist are backfill, hot, tokens, search, overload, board, cards, index, split and operator "+
			"(see go run ./hack/bench --help)", command)
	}
}

// say writes a line of progress.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, now().Format("15:04:05")+" "+format+"\n", args...)
}
