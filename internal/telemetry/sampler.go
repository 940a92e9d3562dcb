package telemetry

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

const (
	// SampleAll records each trace whose caller, if there is one, records it too: the default of programs that nobody outside calls.
	SampleAll = "parentbased_always_on"
	// SampleRatio is the same for a share of the traces: the default of programs that strangers call.
	SampleRatio = "parentbased_traceidratio"
	// PublicRatio is the usual share of requests of strangers of which traces are recorded.
	PublicRatio = 0.01
)

// samplerOf reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. The SDK's own reading can't be used: for a program that strangers call, a
// sampler is needed that doesn't do what their headers say.
func samplerOf(env func(string) string, o TracesOptions) (trace.Sampler, error) {
	name, ratio := strings.ToLower(strings.TrimSpace(env("OTEL_TRACES_SAMPLER"))), 1.0
	if name == "" {
		name, ratio = cmp.Or(o.Sampler, SampleAll), o.Ratio
	}
	if text := strings.TrimSpace(env("OTEL_TRACES_SAMPLER_ARG")); text != "" && strings.HasSuffix(name, "traceidratio") {
		r, err := strconv.ParseFloat(text, 64)
		if err != nil || !(r >= 0 && r <= 1) {
			return nil, fmt.Errorf("traces: OTEL_TRACES_SAMPLER_ARG %q can't be used; allowed: a number from 0 to 1", text)
		}
		ratio = r
	}
	name, followsParent := strings.CutPrefix(name, "parentbased_")
	var root trace.Sampler
	switch name {
	case "always_on":
		root = trace.AlwaysSample()
	case "always_off":
		root = trace.NeverSample()
	case "traceidratio":
		root = trace.TraceIDRatioBased(ratio)
	default:
		return nil, fmt.Errorf("traces: OTEL_TRACES_SAMPLER %q isn't known; allowed: always_on, always_off, traceidratio, "+
			"and each of them with parentbased_ before it", env("OTEL_TRACES_SAMPLER"))
	}
	if o.IsPublic {
		stranger := strangersSampler{root}
		return trace.ParentBased(root, trace.WithRemoteParentSampled(stranger), trace.WithRemoteParentNotSampled(stranger)), nil
	}
	if followsParent {
		root = trace.ParentBased(root)
	}
	return root, nil
}

// strangersSampler decides of a stranger's trace as if it began here. By the traceparent that they send, strangers would otherwise say which requests
// are recorded: by its flag, or by its trace id, since a sampler by ratio goes by that.
type strangersSampler struct{ root trace.Sampler }

var _ trace.Sampler = strangersSampler{}

// ShouldSample implements trace.Sampler.
func (s strangersSampler) ShouldSample(p trace.SamplingParameters) trace.SamplingResult {
	if parent := oteltrace.SpanContextFromContext(p.ParentContext); parent.IsRemote() {
		for i := range p.TraceID {
			p.TraceID[i] = byte(rand.Uint32()) //nolint:gosec // nobody gains by guessing it
		}
	}
	return s.root.ShouldSample(p)
}

// Description implements trace.Sampler.
func (s strangersSampler) Description() string { return "Strangers{" + s.root.Description() + "}" }
