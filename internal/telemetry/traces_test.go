package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// options are those of a program for tests.
func options(log *slog.Logger) telemetry.TracesOptions {
	return telemetry.TracesOptions{Service: "boardwalk-indexer", Commit: "0123abc", Chain: "base", Now: time.Now, Log: log}
}

// TestSpansReachACollector over both protocols, with what the environment says of them.
func TestSpansReachACollector(t *testing.T) {
	for _, protocol := range []string{tracetest.HTTP, tracetest.GRPC} {
		t.Run(protocol, func(t *testing.T) {
			r := tracetest.Receive(t, protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=markets")
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=trial")
			end, err := telemetry.Traces(t.Context(), options(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatal(err)
			}
			ctx, parent := span.Start(t.Context(), "outer", trace.SpanKindInternal)
			_, child := span.Child(ctx, "inner", trace.SpanKindClient)
			span.End(child, errors.New("it broke"))
			span.End(parent, context.Canceled)
			end(t.Context())
			if span.IsOn() {
				t.Error("spans are recorded after the end")
			}
			outer, inner := r.Named("outer"), r.Named("inner")
			if len(outer) != 1 || len(inner) != 1 || len(r.Spans()) != 2 {
				t.Fatalf("the collector has %+v, want outer and inner", r.Spans())
			}
			if inner[0].Parent != outer[0].ID || inner[0].Trace != outer[0].Trace || outer[0].Parent != "" {
				t.Errorf("inner %+v isn't the child of outer %+v", inner[0], outer[0])
			}
			if !inner[0].IsError || outer[0].IsError {
				t.Errorf("errors: inner %v and outer %v, want true and false", inner[0].IsError, outer[0].IsError)
			}
			for name, want := range map[string]string{
				"service.name": "boardwalk-indexer", "service.version": "0123abc", "boardwalk.chain": "base", "deployment.environment.name": "trial",
			} {
				if got := outer[0].Resource[name]; got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if protocol == tracetest.HTTP && r.Header().Get("X-Tenant") != "markets" {
				t.Errorf("the export has the headers %v, want x-tenant", r.Header())
			}
		})
	}
}

// TestServiceNameOfTheEnvironment has precedence over the program's.
func TestServiceNameOfTheEnvironment(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "markets")
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-operator"})
	_, s := span.Start(t.Context(), "one", trace.SpanKindInternal)
	span.End(s, nil)
	end()
	if all := r.Spans(); len(all) != 1 || all[0].Resource["service.name"] != "markets" {
		t.Errorf("the collector has %+v, want one span of markets", all)
	}
}

// TestNoTracesWithoutAnEndpoint: nothing is set up, and no goroutine runs.
func TestNoTracesWithoutAnEndpoint(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no endpoint": {"OTEL_TRACES_SAMPLER": "always_on"},
		"disabled":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "TRUE"},
		"no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			before := processors()
			end, err := telemetry.Traces(t.Context(), options(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatal(err)
			}
			defer end(t.Context())
			if after := processors(); after > before {
				t.Errorf("%d processors of spans run, %d before", after, before)
			}
			ctx, s := span.Start(t.Context(), "one", trace.SpanKindInternal)
			if span.IsOn() || s.IsRecording() || ctx != t.Context() {
				t.Error("a span is recorded")
			}
			h := http.NewServeMux()
			if span.Handler("/", h) != http.Handler(h) {
				t.Error("a handler is wrapped")
			}
			if n := testing.AllocsPerRun(100, func() {
				_, s := span.Child(ctx, "one", trace.SpanKindClient)
				span.End(s, nil)
			}); n != 0 {
				t.Errorf("a span that isn't recorded takes %v allocations", n)
			}
		})
	}
}

// processors counts the goroutines that send spans.
func processors() int {
	buf := make([]byte, 1<<20)
	return bytes.Count(buf[:runtime.Stack(buf, true)], []byte("NewBatchSpanProcessor"))
}

// TestMistakesOfTheEnvironmentAreRefused at the start, with what is allowed, and never with an address, which may have a password.
func TestMistakesOfTheEnvironmentAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ variable, value, want string }{
		"protocol": {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_PROTOCOL \"http/json\" isn't known; allowed: http/protobuf, grpc"},
		"protocol of traces": {
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL \"udp\" isn't known; allowed: http/protobuf, grpc",
		},
		"endpoint": {"OTEL_EXPORTER_OTLP_ENDPOINT", "user:hidden@collector:4318", "OTEL_EXPORTER_OTLP_ENDPOINT: allowed is an http:// or https:// address"},
		"exporter": {"OTEL_TRACES_EXPORTER", "zipkin", "allowed: otlp, none"},
		"sampler":  {"OTEL_TRACES_SAMPLER", "sometimes", "allowed: always_on, always_off, traceidratio"},
		"ratio":    {"OTEL_TRACES_SAMPLER_ARG", "2", "allowed: a number from 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
			t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
			t.Setenv(c.variable, c.value)
			_, err := telemetry.Traces(t.Context(), options(slog.New(slog.DiscardHandler)))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s=%s gives %v, want %q", c.variable, c.value, err, c.want)
			}
			if span.IsOn() {
				t.Error("spans are recorded all the same")
			}
		})
	}
}

// TestASilentCollectorHoldsUpNothing: more spans are made than any queue has room for, and the end comes although no export was answered.
func TestASilentCollectorHoldsUpNothing(t *testing.T) {
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it accepts nothing: the kernel does, and nobody answers
	for _, protocol := range []string{tracetest.HTTP, tracetest.GRPC} {
		t.Run(protocol, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			end, err := telemetry.Traces(t.Context(), options(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatal(err)
			}
			for range 20_000 {
				_, s := span.Start(t.Context(), "one", trace.SpanKindInternal)
				span.End(s, nil)
			}
			ended := make(chan struct{})
			go func() { end(t.Context()); close(ended) }()
			select {
			case <-ended:
			case <-time.After(2 * time.Minute): // it takes five seconds; without a bound it would take as long as the exporter tries
				t.Fatal("the program doesn't end")
			}
		})
	}
}

// TestFaultsOfTheExporterAreTold in the log, and not each of them.
func TestFaultsOfTheExporterAreTold(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer refuses.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", refuses.URL)
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var log bytes.Buffer
	o := options(slog.New(slog.NewTextHandler(&log, nil)))
	began := time.Now()
	o.Now = func() time.Time { return began } // all of it within a minute
	end, err := telemetry.Traces(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		_, s := span.Start(t.Context(), "one", trace.SpanKindInternal)
		span.End(s, nil)
	}
	end(t.Context())
	if n := strings.Count(log.String(), "traces are lost"); n != 1 {
		t.Errorf("the log tells %d faults, want 1:\n%s", n, log.String())
	}
}

// TestStrangersDontSayWhatIsRecorded, neither by the flag of their traceparent nor by a trace id that a ratio takes.
func TestStrangersDontSayWhatIsRecorded(t *testing.T) {
	const (
		flagged = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		chosen  = "00-4bf92f3577b34da60000000000000001-00f067aa0ba902b7-01"
		silent  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	)
	const requests = 300
	for name, c := range map[string]struct {
		traceparent, sampler, ratio string
		isPublic                    bool
		want                        int
	}{
		"flagged, none is recorded":       {flagged, "parentbased_traceidratio", "0", true, 0},
		"flagged, never":                  {flagged, "parentbased_always_off", "", true, 0},
		"not flagged, all are recorded":   {silent, "parentbased_always_on", "", true, requests},
		"a caller of one's own says yes":  {flagged, "parentbased_always_off", "", false, requests},
		"a caller of one's own says no":   {silent, "parentbased_always_on", "", false, 0},
		"a trace id that a ratio accepts": {chosen, "parentbased_traceidratio", "0.000000000001", true, 0},
		"the same without parents":        {chosen, "traceidratio", "0.000000000001", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", c.ratio)
			r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-apiserver", IsPublic: c.isPublic})
			h := span.Handler("/things/{id}", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			for range requests {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/things/7", nil)
				req.Header.Set("Traceparent", c.traceparent)
				h.ServeHTTP(httptest.NewRecorder(), req)
			}
			end()
			all := r.Spans()
			if len(all) != c.want {
				t.Fatalf("%d of %d requests were recorded, want %d", len(all), requests, c.want)
			}
			for _, s := range all {
				if s.Name != "GET /things/{id}" || s.Trace != "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36" {
					t.Fatalf("%+v isn't in the caller's trace", s)
				}
			}
		})
	}
}

// TestTheUsualShareOfAPublicProgram is small, and not nothing.
func TestTheUsualShareOfAPublicProgram(t *testing.T) {
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Sampler: telemetry.SampleRatio, Ratio: telemetry.PublicRatio, IsPublic: true})
	const requests = 20_000 // 200 of them in the mean, with a deviation of 14
	for range requests {
		_, s := span.Start(t.Context(), "one", trace.SpanKindServer)
		span.End(s, nil)
	}
	end()
	if n := len(r.Spans()); n < 100 || n > 300 {
		t.Errorf("%d of %d were recorded, want about 200", n, requests)
	}
}
