// Package tracetest receives the spans that tests have sent, as a collector does: by OTLP over HTTP or gRPC, on loopback.
package tracetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// The protocols of OTLP.
const (
	HTTP = "http/protobuf"
	GRPC = "grpc"
)

// Span is a received span.
type Span struct {
	Name string
	// Trace, ID and Parent are bytes, as they were sent. Parent is empty for the first of a trace.
	Trace, ID, Parent string
	Kind              trace.Span_SpanKind
	IsError           bool
	// Attributes are the span's own, Resource those of the program.
	Attributes, Resource map[string]string
}

// Receiver keeps what was exported to it.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	// Endpoint is its address, as OTEL_EXPORTER_OTLP_ENDPOINT has it.
	Endpoint string

	mu     sync.Mutex
	spans  []Span
	raw    []byte
	header http.Header
}

// Receive starts a receiver of a protocol, which ends with the test.
func Receive(t *testing.T, protocol string) *Receiver {
	t.Helper()
	r := &Receiver{}
	if protocol == HTTP {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.serve(t, w, req) }))
		t.Cleanup(s.Close)
		r.Endpoint = s.URL
		return r
	}
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	collector.RegisterTraceServiceServer(s, r)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	r.Endpoint = "http://" + l.Addr().String()
	return r
}

// serve takes an export over HTTP.
func (r *Receiver) serve(t *testing.T, w http.ResponseWriter, req *http.Request) {
	t.Helper()
	var body io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body = z
	}
	raw, err := io.ReadAll(body)
	var got collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &got)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%s %s of %q is no export of traces: %v", req.Method, req.URL.Path, req.Header.Get("Content-Type"), err)
		http.Error(w, "no export", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.header = req.Header.Clone()
	r.mu.Unlock()
	r.keep(&got, raw)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Export takes an export over gRPC.
func (r *Receiver) Export(_ context.Context, got *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	raw, err := proto.Marshal(got)
	if err != nil {
		return nil, err
	}
	r.keep(got, raw)
	return &collector.ExportTraceServiceResponse{}, nil
}

func (r *Receiver) keep(got *collector.ExportTraceServiceRequest, raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, raw...)
	for _, of := range got.GetResourceSpans() {
		about := attributes(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				r.spans = append(r.spans, Span{
					Name: s.GetName(), Trace: string(s.GetTraceId()), ID: string(s.GetSpanId()), Parent: string(s.GetParentSpanId()), Kind: s.GetKind(),
					IsError: s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR, Attributes: attributes(s.GetAttributes()), Resource: about,
				})
			}
		}
	}
}

func attributes(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		default:
			out[a.GetKey()] = a.GetValue().String()
		}
	}
	return out
}

// Spans lists the spans that have come.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// Named lists the spans with a name.
func (r *Receiver) Named(name string) []Span {
	return slices.DeleteFunc(r.Spans(), func(s Span) bool { return s.Name != name })
}

// Has reports whether a text is in what has come, in whatever field.
func (r *Receiver) Has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(r.raw, []byte(text))
}

// Header gives the header of the last export over HTTP.
func (r *Receiver) Header() http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// Trace has the spans of this process sent to a receiver over HTTP until end, which returns once they have come. All traces are sampled unless o says otherwise.
// The test can't be parallel: spans are the process's.
func Trace(t *testing.T, o telemetry.TracesOptions) (r *Receiver, end func()) {
	t.Helper()
	r = Receive(t, HTTP)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.Endpoint)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000")         // so that none is lost where the exporter is slow
	o.Now, o.Log = time.Now, slog.New(slog.DiscardHandler) //nolint:forbidigo // of the exporter's faults
	ended, err := telemetry.Traces(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { ended(context.WithoutCancel(t.Context())) })
	t.Cleanup(end)
	return r, end
}
