// Command kubetools builds what tests with a real Kubernetes run, unless it is there already: the programs that are named,
// or all. It prints a line for each, the name and the path.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubetools:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = kubetest.Tools()
	}
	for _, name := range names {
		path, err := kubetest.Tool(ctx, name)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, name, path); err != nil {
			return err
		}
	}
	return nil
}
