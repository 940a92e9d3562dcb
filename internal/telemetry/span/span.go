// Package span makes the spans of traces: of requests, statements, calls of nodes, and reconciles. It knows no exporter. Without one, which
// telemetry.Traces sets, nothing is recorded and each function returns at once.
package span

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"unicode/utf8"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope is the instrumentation scope of all spans.
const scope = "github.com/boardwalkhq/boardwalk"

// tracer makes the spans of this process; nil records none.
var tracer atomic.Pointer[trace.Tracer]

// Use has spans recorded by a provider from now on; nil ends that. Call it before servers and databases are made: they look only then whether spans are
// recorded.
func Use(p trace.TracerProvider) {
	if p == nil {
		tracer.Store(nil)
		return
	}
	t := p.Tracer(scope)
	tracer.Store(&t)
}

// IsOn reports whether spans are recorded.
func IsOn() bool { return tracer.Load() != nil }

// Start begins a span: a child of the span of ctx, or the first of a trace. It ends by End.
func Start(ctx context.Context, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, noop.Span{}
	}
	return (*t).Start(ctx, name, trace.WithSpanKind(kind)) //nolint:spancheck // the caller ends it
}

// Child is Start within a span that is recorded. Elsewhere it records nothing: statements and calls of what goes on in the background would
// otherwise be traces of their own, of which there would be too many.
func Child(ctx context.Context, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	if !IsWithin(ctx) {
		return ctx, noop.Span{}
	}
	return Start(ctx, name, kind)
}

// IsWithin reports whether ctx is that of a recorded span.
func IsWithin(ctx context.Context) bool {
	return IsOn() && trace.SpanFromContext(ctx).IsRecording()
}

// Detach gives a context in which the next span begins a trace of its own, and in which Child records nothing.
func Detach(ctx context.Context) context.Context {
	if !IsOn() {
		return ctx
	}
	return trace.ContextWithSpan(ctx, noop.Span{})
}

// longestError is the most bytes of an error's text in a span.
const longestError = 300

// End ends a span, with the text of an error if there was one. context.Canceled counts as no error: the program is ending. Of an error of PostgreSQL the span
// has only the SQLSTATE, since the text may contain values.
func End(s trace.Span, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && s.IsRecording() {
		text := err.Error()
		if refused, ok := errors.AsType[interface {
			error
			SQLState() string
		}](err); ok {
			text = "SQLSTATE " + refused.SQLState()
		}
		for len(text) > longestError {
			_, size := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-size]
		}
		s.SetStatus(codes.Error, text)
	}
	s.End()
}

// Extract gives a context with the span that a caller's header traceparent names (W3C Trace Context). The header tracestate is ignored: a stranger could
// write into it what they like, and it would be stored with each span.
func Extract(ctx context.Context, h http.Header) context.Context {
	if h.Get("traceparent") == "" {
		return ctx
	}
	remote := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(h)))
	return trace.ContextWithRemoteSpanContext(ctx, remote.WithTraceState(trace.TraceState{}))
}

// Inject writes the span of ctx, if there is one, into the header traceparent of a request.
func Inject(ctx context.Context, h http.Header) {
	if IsOn() {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
	}
}
