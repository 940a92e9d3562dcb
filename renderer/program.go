package renderer

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// Program is the renderer as it is run: with a listener for those who watch it.
type Program struct {
	// Options are the renderer's; their Registry is Metrics.
	Options

	Operations telemetry.OperationsOptions
	Metrics    *prometheus.Registry
}

// Run draws until ctx ends.
func (p *Program) Run(ctx context.Context) error {
	l, err := p.Operations.Listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	o := p.Options
	o.Registry = p.Metrics
	r, err := New(o)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.Run(ctx) })
	g.Go(func() error {
		return telemetry.Serve(ctx, l, telemetry.Operations(p.Metrics, telemetry.Always, r.Ready, p.Operations.Pprof), time.Second, o.Log)
	})
	return g.Wait()
}
