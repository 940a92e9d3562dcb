package cards

import (
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestTheRenderersSpanIsTheRequestsChild: the renderer learns from the request for a card which span it is part of.
func TestTheRenderersSpanIsTheRequestsChild(t *testing.T) {
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-apiserver"})
	e := &easel{}
	draws := span.Handler(sharecard.CardsPath+"{kind}", e.serve(t))
	done := make(chan struct{})
	c := NewClient(listen(t, func(w http.ResponseWriter, req *http.Request) {
		defer close(done)
		draws.ServeHTTP(w, req)
	}), newClock().now)
	ctx, request := span.Start(t.Context(), "request", trace.SpanKindServer)
	if _, err := c.Render(ctx, token(1)); err != nil {
		t.Fatal(err)
	}
	span.End(request, nil)
	<-done // the renderer's span ends after its answer
	end()
	asked, drawn := r.Named("request"), r.Named("POST /v1/cards/{kind}")
	if len(asked) != 1 || len(drawn) != 1 || drawn[0].Parent != asked[0].ID || drawn[0].Attributes["http.response.status_code"] != "200" {
		t.Errorf("the collector has %+v, want a drawing within the request", r.Spans())
	}
}
