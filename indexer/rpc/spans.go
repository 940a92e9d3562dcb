package rpc

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// batchSpan is the name of the span of several calls in one request.
const batchSpan = "JSON-RPC batch"

// startSpan begins the span of a request, within a recorded one. It has the endpoint's name and never its URL, which may carry a key.
func (e *Endpoint) startSpan(ctx context.Context, methods ...string) (context.Context, trace.Span) {
	if !span.IsWithin(ctx) {
		return ctx, noop.Span{}
	}
	name := methods[0]
	if len(methods) > 1 {
		name = batchSpan
	}
	ctx, s := span.Child(ctx, name, trace.SpanKindClient)
	s.SetAttributes(attribute.String("rpc.system.name", "jsonrpc"), attribute.String("boardwalk.endpoint", e.Name))
	if len(methods) == 1 {
		s.SetAttributes(attribute.String("rpc.method", name))
		return ctx, s
	}
	calls := len(methods)
	methods = slices.Clone(methods)
	slices.Sort(methods)
	s.SetAttributes(attribute.Int("boardwalk.rpc.calls", calls), attribute.StringSlice("boardwalk.rpc.methods", slices.Compact(methods)))
	return ctx, s
}
