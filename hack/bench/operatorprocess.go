package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/operator"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// operateCommand runs the operator as a process of its own, so that what it uses is its own. It is the operator of
// `boardwalk operator` but for two things: it asks the stand-ins of the indexers, and it counts its requests. It says on stdout
// where its metrics are, obeys the lines of stdin (see served), and ends with them.
func operateCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("operate", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "who the operator is")
	namespace := flags.String("namespace", "", "where it looks")
	indexers := flags.String("indexers", "", "address of the stand-ins")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	cfg.Wrap(countRequests(registry))
	log := complaints()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready := make(chan net.Addr, 1)
	program := &operator.Program{
		Cluster: cfg, Namespace: *namespace, LeaderElection: true, Metrics: registry, Now: now, Log: log,
		Workload:   workload.Settings{Image: "none.invalid/boardwalk", DatabaseSecret: "database", DatabaseKey: "uri"},
		StateURL:   func(c *v1alpha1.Chain) string { return "http://" + *indexers + statePath(*namespace, c.Spec.ID) },
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Ready: func(at net.Addr) { ready <- at },
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return program.Run(ctx) })
	g.Go(func() error {
		select {
		case at := <-ready:
			if err := json.NewEncoder(os.Stdout).Encode(at.String()); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
		go func() {
			if err := obey(os.Stdin, os.Stdout); err != nil {
				log.ErrorContext(ctx, "the control connection broke", "err", err.Error())
			}
			stop()
		}()
		return nil
	})
	return g.Wait()
}

// complaints is a log of warnings and errors, on stderr.
func complaints() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
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
	switch r.Method {
	case http.MethodGet:
		switch {
		case r.URL.Query().Get("watch") != "":
			return "watch", resource
		case len(segments) == 1:
			return "list", resource
		}
		return "get", resource
	case http.MethodPost:
		return "create", resource
	case http.MethodPut:
		return "update", resource
	case http.MethodPatch:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch") {
			return "apply", resource
		}
		return "patch", resource
	}
	return strings.ToLower(r.Method), resource
}

// startOperator starts the operator as a child of this process.
func startOperator(ctx context.Context, dir, kubeconfig, namespace, indexers string) (*served, error) {
	return startChild(ctx, dir, "operator", "operate", "--kubeconfig", kubeconfig, "--namespace", namespace, "--indexers", indexers)
}

// operatorCounts are what an operator has done up to now, or between two moments.
type operatorCounts struct {
	usageNow

	at time.Time
	// requests are by "verb resource", reconciles by controller.
	requests, reconciles map[string]float64
	goroutines           float64
}

func countsOf(ctx context.Context, s *served) (*operatorCounts, error) {
	u, err := s.usage()
	if err != nil {
		return nil, err
	}
	a, err := fetch(ctx, s.address, "/metrics")
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("the operator's /metrics answers %d: %.300s", a.status, a.body)
	}
	c := &operatorCounts{usageNow: u, at: now(), requests: map[string]float64{}, reconciles: map[string]float64{}}
	eachSample(a.body, func(name string, label map[string]string, value float64) {
		switch name {
		case requestMetric:
			c.requests[label["verb"]+" "+label["resource"]] += value
		case "controller_runtime_reconcile_total":
			c.reconciles[label["controller"]] += value
		case "go_goroutines":
			c.goroutines = value
		}
	})
	return c, nil
}

var labelPair = regexp.MustCompile(`(\w+)="([^"]*)"`)

// eachSample goes through metrics in the text format.
func eachSample(text []byte, f func(name string, label map[string]string, value float64)) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		space := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || space < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			continue
		}
		name, inner, _ := strings.Cut(line[:space], "{")
		labels := map[string]string{}
		for _, pair := range labelPair.FindAllStringSubmatch(inner, -1) {
			labels[pair[1]] = pair[2]
		}
		f(name, labels, value)
	}
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

func isRead(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// isWrite leaves the lease out: it is renewed every two seconds, whatever there is to do.
func isWrite(verb, resource string) bool { return !isRead(verb) && resource != "leases" }

func (c *operatorCounts) writes() float64 { return c.sum(isWrite) }

func (c *operatorCounts) events() float64 {
	return c.sum(func(verb, resource string) bool { return isWrite(verb, resource) && resource == "events" })
}

func (c *operatorCounts) reads() float64 {
	return c.sum(func(verb, resource string) bool { return isRead(verb) && resource != "leases" })
}

func (c *operatorCounts) leases() float64 {
	return c.sum(func(_, resource string) bool { return resource == "leases" })
}

func (c *operatorCounts) reconciled() (n float64) {
	for _, v := range c.reconciles {
		n += v
	}
	return n
}

// ownWrites are those that nobody but an operator makes, as the operators counted them, and ownWritesAtServer the same as the API
// server counted them.
func (c *operatorCounts) ownWrites() float64 {
	return c.sum(func(verb, resource string) bool {
		return verb == "apply" || verb == "patch" && (resource == "chains/status" || resource == "launchvenues/status")
	})
}

// appliedResources are those of an indexer's objects: Kubernetes itself applies some others.
var appliedResources = map[string]bool{
	"configmaps": true, "serviceaccounts": true, "services": true, "networkpolicies": true, "poddisruptionbudgets": true, "deployments": true,
}

func ownWritesAtServer(ctx context.Context, cfg *rest.Config) (n float64, err error) {
	client, err := restClient(cfg)
	if err != nil {
		return 0, err
	}
	raw, err := client.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the API server's metrics: %w", err)
	}
	eachSample(raw, func(name string, label map[string]string, value float64) {
		if name != "apiserver_request_total" {
			return
		}
		status := label["verb"] == "PATCH" && label["group"] == v1alpha1.GroupVersion.Group && label["subresource"] == "status"
		if status || label["verb"] == "APPLY" && appliedResources[label["resource"]] {
			n += value
		}
	})
	return n, nil
}
