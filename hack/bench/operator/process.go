package operator

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/operator"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// Operate is the child that runs the operator of `boardwalk operator` but for two things: it asks the stand-ins of the
// indexers, and it counts its requests.
func Operate() lab.Command {
	var kubeconfig, namespace, indexers string
	return lab.Command{
		Name: "operate", Child: true,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&kubeconfig, "kubeconfig", "", "who the operator is")
			f.StringVar(&namespace, "namespace", "", "where it looks")
			f.StringVar(&indexers, "indexers", "", "URL of the stand-ins")
		},
		Run: func(ctx context.Context) error {
			cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			registry := prometheus.NewRegistry()
			cfg.Wrap(countRequests(registry))
			program := &operator.Program{
				Cluster: cfg, Namespace: namespace, LeaderElection: true, Metrics: registry, Now: lab.Now, Log: lab.Complaints(),
				Workload:   workload.Settings{Image: "none.invalid/boardwalk", DatabaseSecret: "database", DatabaseKey: "uri"},
				StateURL:   func(c *v1alpha1.Chain) string { return indexers + statePath(namespace, c.Spec.ID) },
				Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"},
			}
			return lab.ServeAsChild(ctx, "operate", func(ctx context.Context, ready func(net.Addr)) error {
				program.Ready = ready
				return program.Run(ctx)
			})
		},
	}
}

// requestMetric counts the operator's requests by what they do to which resource.
const requestMetric = "bench_operator_requests_total"

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// countRequests counts at the client: the API server's own metrics don't tell users apart.
func countRequests(r prometheus.Registerer) func(http.RoundTripper) http.RoundTripper {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: requestMetric, Help: "Requests to the API server."}, []string{"verb", "resource"})
	r.MustRegister(counter)
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			verb, resource := whatIsAsked(req)
			counter.WithLabelValues(verb, resource).Inc()
			return next.RoundTrip(req)
		})
	}
}

var verbs = map[string]string{
	http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// whatIsAsked names a request as RBAC does, with "apply" for a patch that is one.
func whatIsAsked(r *http.Request) (verb, resource string) {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case segments[0] == "api" && len(segments) > 2:
		segments = segments[2:]
	case segments[0] == "apis" && len(segments) > 3:
		segments = segments[3:]
	default:
		return "get", "discovery"
	}
	if segments[0] == "namespaces" && len(segments) > 2 {
		segments = segments[2:]
	}
	resource = segments[0]
	if len(segments) > 2 {
		resource += "/" + segments[2]
	}
	verb = verbs[r.Method]
	switch {
	case verb == "get" && r.URL.Query().Get("watch") != "":
		verb = "watch"
	case verb == "get" && len(segments) == 1:
		verb = "list"
	case verb == "patch" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch"):
		verb = "apply"
	}
	return verb, resource
}

// operatorCounts are what an operator has done up to now, or between two moments.
type operatorCounts struct {
	lab.UsageNow

	at time.Time
	// requests are by "verb resource", reconciles by controller.
	requests, reconciles map[string]float64
	goroutines           float64
}

func countsOf(ctx context.Context, s *lab.Served) (*operatorCounts, error) {
	u, err := s.Usage()
	if err != nil {
		return nil, err
	}
	a, err := lab.Fetch(ctx, s.Address, "/metrics")
	if err != nil {
		return nil, err
	}
	c := &operatorCounts{UsageNow: u, at: lab.Now(), requests: map[string]float64{}, reconciles: map[string]float64{}}
	err = eachSample(a.Body, map[string]func(label map[string]string, value float64){
		requestMetric: func(label map[string]string, value float64) { c.requests[label["verb"]+" "+label["resource"]] += value },
		"controller_runtime_reconcile_total": func(label map[string]string, value float64) {
			c.reconciles[label["controller"]] += value
		},
		"go_goroutines": func(_ map[string]string, value float64) { c.goroutines = value },
	})
	return c, err
}

// eachSample goes through the counters and gauges of some names in the text format.
func eachSample(text []byte, of map[string]func(label map[string]string, value float64)) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	for name, f := range of {
		for _, m := range families[name].GetMetric() {
			label := map[string]string{}
			for _, pair := range m.GetLabel() {
				label[pair.GetName()] = pair.GetValue()
			}
			f(label, m.GetCounter().GetValue()+m.GetGauge().GetValue())
		}
	}
	return nil
}

// since is what was done after an earlier moment. Resident memory and goroutines are those of now.
func (c *operatorCounts) since(before *operatorCounts) *operatorCounts {
	minus := func(a, b map[string]float64) map[string]float64 {
		out := map[string]float64{}
		for k, v := range a {
			if v != b[k] {
				out[k] = v - b[k]
			}
		}
		return out
	}
	out := *c
	out.CPU -= before.CPU
	out.requests, out.reconciles = minus(c.requests, before.requests), minus(c.reconciles, before.reconciles)
	return &out
}

// sum adds up the requests that are of a kind.
func (c *operatorCounts) sum(kind func(verb, resource string) bool) (n float64) {
	for k, v := range c.requests {
		if verb, resource, _ := strings.Cut(k, " "); kind(verb, resource) {
			n += v
		}
	}
	return n
}

func isRead(verb, resource string) bool {
	return (verb == "get" || verb == "list" || verb == "watch") && resource != "leases"
}

// isLease is of what is renewed every two seconds, whatever there is to do.
func isLease(_, resource string) bool { return resource == "leases" }

func isWrite(verb, resource string) bool { return !isRead(verb, resource) && !isLease(verb, resource) }

func isEvent(verb, resource string) bool { return isWrite(verb, resource) && resource == "events" }

// isOwn is of what nobody but an operator writes; ownWritesAtServer is as many as the API server counted.
func isOwn(verb, resource string) bool {
	return verb == "apply" || verb == "patch" && (resource == "chains/status" || resource == "launchvenues/status")
}

// appliedResources are those of an indexer's objects: Kubernetes itself applies some others.
var appliedResources = map[string]bool{
	"configmaps": true, "serviceaccounts": true, "services": true, "networkpolicies": true, "poddisruptionbudgets": true, "deployments": true,
}

func ownWritesAtServer(ctx context.Context, cfg *rest.Config) (n float64, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return 0, err
	}
	raw, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the API server's metrics: %w", err)
	}
	err = eachSample(raw, map[string]func(label map[string]string, value float64){
		"apiserver_request_total": func(label map[string]string, value float64) {
			status := label["verb"] == "PATCH" && label["group"] == v1alpha1.GroupVersion.Group && label["subresource"] == "status"
			if status || label["verb"] == "APPLY" && appliedResources[label["resource"]] {
				n += value
			}
		},
	})
	return n, err
}
