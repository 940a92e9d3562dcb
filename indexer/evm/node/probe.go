package node

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

const (
	// ProbeTime is how long an endpoint may take over one question about itself.
	ProbeTime = 5 * time.Second
	// ProbeBytes is how long its answer may be.
	ProbeBytes = 1 << 20
)

// Answer says whether an endpoint can do something, as far as that is known.
type Answer uint8

// The answers. Unknown is the answer of an endpoint that refused for another reason, such as its rate.
const (
	Unknown Answer = iota
	Yes
	No
)

// InProbeTime gives a question the time that it may take.
func InProbeTime(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ProbeTime)
	defer cancel()
	return ask(ctx)
}

// Probe asks one question.
func (e *Endpoint) Probe(ctx context.Context, r *rpc.Request) error {
	return InProbeTime(ctx, func(ctx context.Context) error { return e.Send(ctx, ProbeBytes, r) })
}
