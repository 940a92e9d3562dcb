// Package operator is the program that keeps an indexer running for each declared chain and says which venue is open where.
package operator

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/operator/controller"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// Program is the operator as it is run. There is one in a process, since the libraries below have one log and one registry.
type Program struct {
	// Cluster is where the API server is, and who the operator is there.
	Cluster *rest.Config
	// Namespace, Workload, PodName, IndexersFile, LeaderElection and StateURL are those of controller.Options.
	Namespace      string
	Workload       workload.Settings
	PodName        string
	IndexersFile   string
	LeaderElection bool
	StateURL       func(*v1alpha1.Chain) string
	Operations     telemetry.OperationsOptions
	// Ready is told the address of the operations once the resources are read; it may be nil.
	Ready func(operations net.Addr)
	// Metrics takes the operator's own metrics; /metrics has those of the libraries and of the runtime too.
	Metrics *prometheus.Registry
	Now     func() time.Time
	Log     *slog.Logger
}

// Run acts until ctx ends.
func (p *Program) Run(ctx context.Context) error {
	controller.SetLog(p.Log)
	l, err := p.Operations.Listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	op, err := controller.New(p.Cluster, controller.Options{ //nolint:contextcheck // it takes none: Run does
		Namespace: p.Namespace, Workload: p.Workload, PodName: p.PodName, IndexersFile: p.IndexersFile, LeaderElection: p.LeaderElection, StateURL: p.StateURL,
		Metrics: p.Metrics, Now: p.Now, Log: p.Log,
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return op.Run(ctx) })
	g.Go(func() error {
		all := prometheus.Gatherers{p.Metrics, ctrlmetrics.Registry} // the runtime's metrics are in controller-runtime's
		return telemetry.Serve(ctx, l, telemetry.Operations(all, telemetry.Always, op.Ready, p.Operations.Pprof), time.Second, p.Log)
	})
	if p.Ready != nil {
		g.Go(func() error {
			if op.Ready(ctx) == nil {
				p.Ready(l.Addr())
			}
			return nil
		})
	}
	return g.Wait()
}
