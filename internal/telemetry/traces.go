package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

const (
	// flushPatience is how long the last spans may take to be sent when a program ends.
	flushPatience = 5 * time.Second
	// faultPause is the least time between two log lines about the exporter.
	faultPause = time.Minute
)

// TracesOptions say of which program traces tell.
type TracesOptions struct {
	// Service is the program's name, as in boardwalk-apiserver. OTEL_SERVICE_NAME has precedence.
	Service string
	// Commit is what the program was built from.
	Commit string
	// Chain is the chain of an indexer; empty for other programs.
	Chain string
	// Sampler is the default of OTEL_TRACES_SAMPLER, Ratio the default of OTEL_TRACES_SAMPLER_ARG beside it.
	Sampler string
	Ratio   float64
	// IsPublic says that strangers call the program. The sampling flag of their header traceparent is ignored then.
	IsPublic bool
	Now      func() time.Time
	Log      *slog.Logger
}

// Traces has spans sent by OTLP, where OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT says where to; elsewhere it does nothing. The
// other variables of OpenTelemetry hold too. The caller runs end when the program ends: it sends what is left, and takes 5 seconds at most. An exporter
// that fails is told in the log, once a minute, and its spans are lost; nothing waits for it.
func Traces(ctx context.Context, o TracesOptions) (end func(context.Context), err error) {
	settings, err := readTraceSettings(os.Getenv)
	if err != nil || settings == nil {
		return func(context.Context) {}, err
	}
	root, err := samplerOf(os.Getenv, o)
	if err != nil {
		return nil, err
	}
	// The exporter logs variables that it can't read together with their values, which may be passwords. wordsAlone logs the messages without the values.
	otel.SetLogger(logr.New(wordsAlone{o.Log}))
	exporter, err := settings.exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: make the exporter: %w", err)
	}
	about, err := resourceOf(ctx, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err), exporter.Shutdown(ctx))
	}
	faults := &faultLog{now: o.Now, log: o.Log}
	otel.SetErrorHandler(faults)
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithSampler(root), trace.WithResource(about))
	span.Use(provider)
	o.Log.InfoContext(ctx, "traces are sent", "protocol", settings.protocol, "sampler", root.Description())
	return func(ctx context.Context) {
		span.Use(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushPatience)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			faults.Handle(err)
		}
	}, nil
}

// resourceOf is what all spans of a program have in common. What the environment says has precedence.
func resourceOf(ctx context.Context, o TracesOptions) (*resource.Resource, error) {
	own := []attribute.KeyValue{attribute.String("service.name", o.Service), attribute.String("service.version", o.Commit)}
	if o.Chain != "" {
		own = append(own, attribute.String("boardwalk.chain", o.Chain))
	}
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(), resource.WithAttributes(own...), resource.WithFromEnv())
}

// The protocols of OTLP that are known.
const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// traceSettings are what the environment says of the exporter. It reads endpoint, headers, certificates and timeouts itself.
type traceSettings struct{ protocol string }

// readTraceSettings is nil where no traces are wanted. Its errors never have a variable's value, which may have a password.
func readTraceSettings(env func(string) string) (*traceSettings, error) {
	name := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	endpoint := env(name)
	if endpoint == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		endpoint = env(name)
	}
	if endpoint == "" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil //nolint:nilnil // none is what was asked for
	}
	switch exporter := env("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return nil, nil //nolint:nilnil // the same
	default:
		return nil, fmt.Errorf("traces: OTEL_TRACES_EXPORTER %q isn't known; allowed: otlp, none", exporter)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("traces: %s: allowed is an http:// or https:// address, as in http://collector:4318, also for gRPC", name)
	}
	name = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	protocol := env(name)
	if protocol == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
		protocol = env(name)
	}
	switch protocol {
	case "":
		protocol = protocolHTTP
	case protocolHTTP, protocolGRPC:
	default:
		return nil, fmt.Errorf("traces: %s %q isn't known; allowed: %s, %s", name, protocol, protocolHTTP, protocolGRPC)
	}
	return &traceSettings{protocol}, nil
}

// exporter makes the exporter, which connects later, in the background.
func (s *traceSettings) exporter(ctx context.Context) (trace.SpanExporter, error) {
	if s.protocol == protocolGRPC {
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

// faultLog logs errors of the exporter, at most one in each faultPause.
type faultLog struct {
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	last   time.Time
	silent int
}

var _ otel.ErrorHandler = (*faultLog)(nil)

// Handle implements otel.ErrorHandler.
func (f *faultLog) Handle(err error) {
	f.mu.Lock()
	now := f.now()
	if !f.last.IsZero() && now.Sub(f.last) < faultPause && !now.Before(f.last) {
		f.silent++
		f.mu.Unlock()
		return
	}
	silent := f.silent
	f.last, f.silent = now, 0
	f.mu.Unlock()
	f.log.Warn("traces are lost", "err", err.Error(), "faults_not_told", silent)
}

// wordsAlone is the log of OpenTelemetry's own code. It writes the messages of errors, and leaves out the errors and values, which may contain secrets.
type wordsAlone struct{ log *slog.Logger }

var _ logr.LogSink = wordsAlone{}

// Init implements logr.LogSink.
func (wordsAlone) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink. Only errors are logged.
func (wordsAlone) Enabled(int) bool { return false }

// Info implements logr.LogSink.
func (wordsAlone) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (w wordsAlone) Error(_ error, message string, _ ...any) {
	w.log.Warn("OpenTelemetry can't use one of its variables", "what", message)
}

// WithValues implements logr.LogSink.
func (w wordsAlone) WithValues(...any) logr.LogSink { return w }

// WithName implements logr.LogSink.
func (w wordsAlone) WithName(string) logr.LogSink { return w }
