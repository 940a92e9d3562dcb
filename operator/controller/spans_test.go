package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestAReconcileIsASpan with the kind and the name of the resource, which passes on what the reconciler gives.
func TestAReconcileIsASpan(t *testing.T) {
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-operator"})
	broken := errors.New("no such Secret")
	reconciler := traced("Chain", reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if !span.IsWithin(ctx) {
			t.Error("the reconciler isn't within a span")
		}
		if req.Name == "bsc" {
			return reconcile.Result{}, broken
		}
		return reconcile.Result{RequeueAfter: time.Minute}, nil
	}))
	of := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "markets", Name: name}}
	}
	if result, err := reconciler.Reconcile(t.Context(), of("base")); err != nil || result.RequeueAfter != time.Minute {
		t.Errorf("the reconcile gives %v, %v; want a minute", result, err)
	}
	if _, err := reconciler.Reconcile(t.Context(), of("bsc")); !errors.Is(err, broken) {
		t.Errorf("the reconcile gives %v, want %v", err, broken)
	}
	end()
	all := r.Named("reconcile Chain")
	if len(all) != 2 || len(r.Spans()) != 2 {
		t.Fatalf("the collector has %+v, want two reconciles", r.Spans())
	}
	for i, name := range []string{"base", "bsc"} {
		a := all[i].Attributes
		if a["boardwalk.kind"] != "Chain" || a["boardwalk.name"] != name || a["k8s.namespace.name"] != "markets" || all[i].IsError != (name == "bsc") || all[i].Parent != "" {
			t.Errorf("the span of %s is %+v", name, all[i])
		}
	}
}
