package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/indexer/preflight"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Check asks the nodes of the chains that are declared and not suspended whether what is declared is so, and what they can do.
type Check struct {
	// Samples and Manifests are those of Program.
	Samples   []files.SampleChain
	Manifests []string
	Out       io.Writer
	Now       func() time.Time
}

// Run writes what was found. It is an error that something declared can't be right, or that no declared chain runs.
func (c *Check) Run(ctx context.Context) error {
	declared, err := declared(c.Samples, c.Manifests)
	if err != nil {
		return err
	}
	if len(declared.Running) == 0 {
		return errors.New("every declared chain is suspended: take suspend out of one, or give --chain base --rpc https://YOUR-NODE")
	}
	reports, err := preflights(ctx, declared.Running, c.Now)
	if err != nil {
		return err
	}
	wrong := 0
	for _, r := range reports {
		if err := r.Write(c.Out); err != nil {
			return err
		}
		wrong += r.CountWrong()
	}
	for i := range declared.Chains {
		if chain := &declared.Chains[i]; chain.Spec.Suspend {
			if _, err := fmt.Fprintf(c.Out, "%s: suspended, so not checked\n", chain.Spec.ID); err != nil {
				return err
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("of what is declared, %d can't be right: see the lines that begin with %q", wrong, preflight.Wrong)
	}
	return nil
}

// preflights checks several chains at once; the reports are in their order.
func preflights(ctx context.Context, chains []*chainconfig.Chain, now func() time.Time) ([]*preflight.Report, error) {
	reports := make([]*preflight.Report, len(chains))
	g, ctx := errgroup.WithContext(ctx)
	for i, c := range chains {
		g.Go(func() (err error) {
			reports[i], err = preflight.Check(ctx, c, now)
			return err
		})
	}
	return reports, g.Wait()
}
