package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

const benchUsage = `simnet bench makes a chain for measurements: Uniswap V2 and V3, transfers and swaps, the same
blocks for the same flags. It writes the chain with its blocks, receipts and logs to a file that anvil
loads with --load-state, and a Chain resource beside it.

  simnet bench --dump FILE [flags]

Flags:
`

func runBench(args []string) error {
	var options traffic.BenchOptions
	var dump, id string
	var port int
	flags := flag.NewFlagSet("simnet bench", flag.ContinueOnError)
	flags.StringVar(&dump, "dump", "", "file for the chain's state (required)")
	flags.IntVar(&options.Blocks, "blocks", 2000, "blocks to mine")
	flags.IntVar(&options.Txs, "txs", 104_000, "transactions in them")
	flags.Uint64Var(&options.Seed, "seed", 1, "seed of names, prices and trades")
	flags.StringVar(&id, "id", "bench", "id of the Chain resource, whose file is <id>.yaml")
	flags.IntVar(&port, "port", 18547, "port in the Chain resource, where the chain will be served")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), benchUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument of simnet bench, see simnet bench --help", flags.Arg(0))
	}
	if dump == "" {
		return errors.New("say where the chain's state goes: simnet bench --dump FILE (see simnet bench --help)")
	}
	if options.Blocks < 1 || options.Txs < options.Blocks {
		return errors.New("--blocks must be positive, and --txs at least as many")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return makeBench(ctx, dump, options, world.ManifestOptions{
		ID: id, Label: "Bench", BlockTime: 2 * time.Second, Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port),
	})
}

func makeBench(ctx context.Context, dump string, o traffic.BenchOptions, manifest world.ManifestOptions) error {
	if err := os.MkdirAll(filepath.Dir(dump), 0o755); err != nil {
		return err
	}
	fmt.Println("tools: installing if needed")
	node, err := anvil.StartNode(ctx, traffic.BenchNode())
	if err != nil {
		return err
	}
	defer node.Close()
	shown := 0
	o.OnBlock = func(done float64) {
		if percent := int(done*20) * 5; percent > shown {
			shown = percent
			fmt.Printf("bench: mined %d%%\n", percent)
		}
	}
	w, err := traffic.Bench(ctx, node, o)
	if err != nil {
		return err
	}
	census, err := node.Census(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("bench: %d blocks, %d transactions (%d reverted), %d logs\n", census.Blocks, census.Txs, census.Reverted, census.Logs)
	for _, name := range slices.Sorted(maps.Keys(census.ByEvent)) {
		fmt.Printf("bench: %9d %s\n", census.ByEvent[name], name)
	}
	head, err := node.Latest(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("bench: head %d %s\n", head.Number, head.Hash)
	if err := node.DumpState(ctx, dump); err != nil {
		return err
	}
	fmt.Printf("bench: wrote %s\n", dump)
	path, err := w.WriteManifest(filepath.Dir(dump), manifest)
	if err != nil {
		return err
	}
	fmt.Printf("bench: wrote %s, for the chain at %s\n", path, manifest.Endpoint)
	return nil
}
