// Command truth computes from a node's logs what an index of them should have: each pool's last state, its swaps and their candles. It is
// written apart from the indexer, and imports the standard library alone, so that both don't share a mistake.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

const usage = `truth reads a chain's logs from a node and writes, as JSON, what follows from them for each pool of some factories.

  truth --rpc URL --factories ADDRESS,ADDRESS [--from NUMBER] [--to NUMBER]

Flags:
`

func main() {
	if err := run(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

func run() error {
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	rpc := flags.String("rpc", "", "the node's URL")
	factories := flags.String("factories", "", "the contracts whose pools count, with commas between them; Uniswap V4's PoolManager among them")
	from := flags.Uint64("from", 0, "the first block")
	to := flags.Uint64("to", 0, "the last block; 0 is the head")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	if *rpc == "" || *factories == "" {
		return errors.New("say --rpc and --factories (see truth --help)")
	}
	n := &node{url: *rpc}
	last := *to
	if last == 0 {
		head, err := n.head()
		if err != nil {
			return err
		}
		last = head
	}
	b := newBook(strings.Split(strings.ToLower(*factories), ","))
	for first := *from; first <= last; first += blocksAtOnce {
		logs, err := n.logs(first, min(first+blocksAtOnce-1, last))
		if err != nil {
			return err
		}
		for i := range logs {
			if err := b.take(&logs[i]); err != nil {
				return fmt.Errorf("block %d, log %d: %w", logs[i].block, logs[i].index, err)
			}
		}
	}
	out, err := b.close(n)
	if err != nil {
		return err
	}
	out.From, out.To = *from, last
	return json.NewEncoder(os.Stdout).Encode(out)
}
