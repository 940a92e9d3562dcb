package controller

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// traced makes a span of each reconcile of a resource of a kind.
func traced(kind string, r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
		ctx, s := span.Start(ctx, "reconcile "+kind, trace.SpanKindInternal)
		defer func() { span.End(s, err) }()
		if s.IsRecording() {
			s.SetAttributes(attribute.String("k8s.namespace.name", req.Namespace), attribute.String("boardwalk.kind", kind), attribute.String("boardwalk.name", req.Name))
		}
		return r.Reconcile(ctx, req)
	})
}
