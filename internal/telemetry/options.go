package telemetry

import (
	"context"
	"net"
)

// OperationsOptions say where a program answers those who watch it.
type OperationsOptions struct {
	// Address has /livez, /readyz and /metrics.
	Address string
	// Pprof adds /debug/pprof.
	Pprof bool
}

// Listen opens the listener.
func (o OperationsOptions) Listen(ctx context.Context) (net.Listener, error) {
	return Listen(ctx, "operations", o.Address)
}
