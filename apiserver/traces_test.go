package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestARequestIsOneSpan named by its route, with the statements that it needs as children, and with nothing of who asks for what.
func TestARequestIsOneSpan(t *testing.T) {
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-apiserver", IsPublic: true})
			c := start(t, seeded(t, kind))
			header := http.Header{
				"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}, "Tracestate": {"vendor=hidden-state"},
				"X-Api-Key": {builderKey}, "X-Forwarded-For": {"203.0.113.77"},
			}
			if res, _ := c.do(t, http.MethodGet, "/api/token/"+token+"/candles?chain=base&range=90d", header); res.StatusCode != http.StatusOK {
				t.Fatal("the candles are answered with", res.StatusCode)
			}
			if res, _ := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/none/hidden-path", nil)); res.StatusCode != http.StatusNotFound {
				t.Fatal("an unknown path is answered with", res.StatusCode)
			}
			end()
			const name = "GET /api/token/{mint}/candles"
			of := r.Named(name)
			if len(of) != 1 {
				t.Fatalf("there are %d spans %q among %+v, want one", len(of), name, r.Spans())
			}
			request := of[0]
			if request.Kind != trace.Span_SPAN_KIND_SERVER || request.IsError {
				t.Errorf("%+v isn't a server's span without an error", request)
			}
			if request.Parent != "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7" {
				t.Errorf("its parent is %x, want the caller's span", request.Parent)
			}
			want := map[string]string{
				"http.request.method": "GET", "http.route": "/api/token/{mint}/candles", "http.response.status_code": "200", "url.scheme": "http",
			}
			for key, value := range want {
				if request.Attributes[key] != value {
					t.Errorf("%s is %q, want %q", key, request.Attributes[key], value)
				}
			}
			if len(request.Attributes) != len(want) {
				t.Errorf("the span has %v, want %v alone", request.Attributes, want)
			}
			system := map[string]string{"postgres": "postgresql", "sqlite": "sqlite"}[kind]
			statements := 0
			for _, s := range r.Spans() {
				if s.Kind != trace.Span_SPAN_KIND_CLIENT {
					continue
				}
				statements++
				if s.Parent != request.ID || s.Attributes["db.system.name"] != system || s.Attributes["db.operation.name"] != "SELECT" {
					t.Errorf("%+v is no statement of %s within the request", s, system)
				}
			}
			if statements == 0 {
				t.Errorf("the request has no statement among %+v", r.Spans())
			}
			if unknown := r.Named("GET"); len(unknown) != 1 || unknown[0].Attributes["http.response.status_code"] != "404" {
				t.Errorf("an unknown path has the spans %+v, want one with 404", unknown)
			}
			for _, hidden := range []string{"range=", "203.0.113.77", builderKey, "hidden-state", "hidden-path", token} {
				if r.Has(hidden) {
					t.Errorf("spans tell of %q", hidden)
				}
			}
		})
	}
}

// TestARequestWithoutTracesIsNoSpan makes a server where no traces are sent: requests record no span.
func TestARequestWithoutTracesIsNoSpan(t *testing.T) {
	c := start(t, seeded(t, "sqlite"))
	if span.IsOn() {
		t.Fatal("spans are recorded")
	}
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-apiserver", IsPublic: true})
	if res, _ := c.do(t, http.MethodGet, "/api/token/"+token+"/candles?chain=base", nil); res.StatusCode != http.StatusOK {
		t.Fatal(res.StatusCode)
	}
	end()
	if all := r.Spans(); len(all) > 0 {
		t.Errorf("a server that was made without traces makes the spans %+v", all)
	}
}
