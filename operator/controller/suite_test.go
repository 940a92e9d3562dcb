package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/venue"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// cluster has the controllers of Kubernetes. Each test has a Namespace and an operator of its own in it.
var cluster *kubetest.Cluster

var definitions = kubetest.Options{CRDs: []string{"../../config/crd/bases"}}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		SetLog(logs())
		ctx := context.Background()
		var err error
		if cluster, err = kubetest.Start(ctx, definitions); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer cluster.Stop()
		if err := cluster.StartControllers(ctx, 1); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// logs shows the operators' logs on request.
func logs() *slog.Logger {
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// limit is how long anything may take; it takes seconds.
const limit = 2 * time.Minute

// eventually asks again and again until nothing is wrong.
func eventually(t *testing.T, ask func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %v", limit, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// clock stands still until it is told to go on.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fakeIndexers answer at <URL>/<chain's id> for the indexers of a test, which are no processes here. One that was told nothing
// is silent.
type fakeIndexers struct {
	*httptest.Server

	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   map[string]int
	// settings gives what a chain's indexer was started with.
	settings func(id string) string
}

func newFakeIndexers(t *testing.T) *fakeIndexers {
	t.Helper()
	f := &fakeIndexers{answers: map[string]http.HandlerFunc{}, asked: map[string]int{}, settings: func(string) string { return "" }}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/")
		f.mu.Lock()
		f.asked[id]++
		answer := f.answers[id]
		f.mu.Unlock()
		if answer == nil {
			panic(http.ErrAbortHandler)
		}
		answer(w, r)
	}))
	f.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func (f *fakeIndexers) url(c *v1alpha1.Chain) string { return f.URL + "/" + c.Spec.ID }

// does makes a chain's indexer answer in some way.
func (f *fakeIndexers) does(id string, answer http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[id] = answer
}

// says makes it answer with a state.
func (f *fakeIndexers) says(id string, change ...func(s *chainconfig.State)) {
	f.does(id, func(w http.ResponseWriter, _ *http.Request) {
		told := func(s *chainconfig.State) { s.Settings = f.settings(id) }
		s := atHead(id, append([]func(s *chainconfig.State){told}, change...)...)
		_ = json.NewEncoder(w).Encode(s)
	})
}

func (f *fakeIndexers) times(id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[id]
}

// rounds waits until a chain's indexer has been asked so many times more.
func (f *fakeIndexers) rounds(t *testing.T, id string, n int) {
	t.Helper()
	want := f.times(id) + n
	eventually(t, func() error {
		if got := f.times(id); got < want {
			return fmt.Errorf("the indexer of %s was asked %d times; want %d", id, got, want)
		}
		return nil
	})
}

// atHead is the state of an indexer with which all is well, unless it is changed.
func atHead(id string, change ...func(s *chainconfig.State)) *chainconfig.State {
	at := time.Unix(1_760_000_000, 0)
	s := &chainconfig.State{
		Chain: id, Phase: chainconfig.PhaseFollowing, At: at, HeadReadAt: at,
		Head: &chainconfig.Block{Number: 100, Time: at}, Indexed: &chainconfig.Block{Number: 100, Time: at},
		Venues: []chainconfig.VenueState{{ID: "four-meme", Contracts: markettest.Addresses(contract), Checked: true}},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func behindBy(d time.Duration) func(s *chainconfig.State) {
	return func(s *chainconfig.State) { s.Indexed.Time = s.Head.Time.Add(-d) }
}

// beyond makes the endpoints allow too little.
func beyond(plan string) func(s *chainconfig.State) {
	return func(s *chainconfig.State) { s.Plan.Behind = plan }
}

func inPhase(p chainconfig.Phase, message string) func(s *chainconfig.State) {
	return func(s *chainconfig.State) { s.Phase, s.Message = p, message }
}

// requests are those of an operator that write, in the order in which they were made.
type requests struct {
	mu     sync.Mutex
	writes []string
}

func (r *requests) record(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet && !strings.Contains(req.URL.Path, "/leases") {
			r.mu.Lock()
			r.writes = append(r.writes, req.Method+" "+req.URL.Path)
			r.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *requests) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes)
}

// to are those whose path contains some words.
func (r *requests) to(words string) int {
	n := 0
	for _, w := range r.all() {
		if strings.Contains(w, words) {
			n++
		}
	}
	return n
}

// world is a namespace with what an operator needs to run in it.
type world struct {
	client.Client

	t         *testing.T
	cluster   *kubetest.Cluster
	namespace string
	indexers  *fakeIndexers
	clock     *clock
	operator  *rest.Config // the operator's identity
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := newWorldIn(t, cluster)
	// All the indexers' pods must be of the restricted Pod Security Standard.
	w.patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}},
		`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	return w
}

func newWorldIn(t *testing.T, c *kubetest.Cluster) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(c.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		Client: admin, t: t, cluster: c, namespace: c.Namespace(t), indexers: newFakeIndexers(t),
		clock: &clock{now: time.Now().Truncate(time.Second)},
	}
	w.indexers.settings = w.settingsOf
	w.authorize()
	return w
}

// settingsOf is what the pod of a chain's indexer has in its environment.
func (w *world) settingsOf(id string) string {
	var pods corev1.PodList
	if err := w.List(w.t.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{workload.LabelChain: id}); err != nil {
		return "" // the test is ending
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.DeletionTimestamp.IsZero() && p.Status.Phase == corev1.PodRunning {
			for _, e := range p.Spec.Containers[0].Env {
				if e.Name == "BOARDWALK_SETTINGS" {
					return e.Value
				}
			}
		}
	}
	return ""
}

// awaitRights waits until an account may list Deployments. The API server learns of a RoleBinding by a watch, and of all its rules at once.
func (w *world) awaitRights(cfg *rest.Config) {
	w.t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: w.Scheme()})
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, func() error { return c.List(w.t.Context(), &appsv1.DeploymentList{}, client.InNamespace(w.namespace)) })
}

// authorize lets the operator do what the manifests of config/rbac say, and nothing else.
func (w *world) authorize() {
	w.t.Helper()
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	for file, o := range map[string]client.Object{"account": &account, "": &role, "binding": &binding} {
		name := map[string]string{"account": "operator_service_account", "": "operator_role", "binding": "operator_role_binding"}[file]
		raw, err := os.ReadFile(filepath.Join("../../config/rbac", name+".yaml"))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(raw, o); err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
		o.SetNamespace(w.namespace)
	}
	for i := range binding.Subjects {
		binding.Subjects[i].Namespace = w.namespace
	}
	for _, o := range []client.Object{&account, &role, &binding} {
		w.create(o)
	}
	var err error
	if w.operator, err = w.cluster.ServiceAccount(w.t.Context(), w.namespace, account.Name); err != nil {
		w.t.Fatal(err)
	}
	w.awaitRights(w.operator)
	w.operator.QPS = -1
}

// running is an operator.
type running struct {
	*requests

	operator *Operator
	metrics  *prometheus.Registry
	stop     func() error
}

// options are those of an operator of the world. Its indexers ask the API server before they answer, which takes longer on a busy machine: one that
// seemed silent while the clock goes on would count as down.
func (w *world) options() Options {
	return Options{
		Namespace: w.namespace, Metrics: prometheus.NewRegistry(), Now: w.clock.Now, Log: logs(), StateURL: w.indexers.url, probePause: 50 * time.Millisecond,
		probeTimeout: limit,
		Workload:     workload.Settings{Image: "none.invalid/boardwalk", DatabaseSecret: "database", DatabaseKey: "uri"},
	}
}

// run starts an operator, which ends with the test unless it is stopped before.
func (w *world) run(change ...func(o *Options)) *running {
	w.t.Helper()
	r := &running{requests: &requests{}, metrics: prometheus.NewRegistry()}
	cfg := rest.CopyConfig(w.operator)
	cfg.Wrap(r.record)
	options := w.options()
	options.Metrics = r.metrics
	for _, c := range change {
		c(&options)
	}
	op, err := New(cfg, options)
	if err != nil {
		w.t.Fatal(err)
	}
	r.operator = op
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- op.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() {
		if err := r.stop(); err != nil {
			w.t.Errorf("the operator ended with: %v", err)
		}
	})
	return r
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	o.SetNamespace(w.namespace)
	if err := w.Create(w.t.Context(), o); err != nil {
		w.t.Fatalf("create %s: %v", o.GetName(), err)
	}
}

func (w *world) patch(o client.Object, merge string) {
	w.t.Helper()
	if err := w.Patch(w.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		w.t.Fatalf("patch %s: %v", o.GetName(), err)
	}
}

func (w *world) remove(o client.Object) {
	w.t.Helper()
	if err := w.Delete(w.t.Context(), o); err != nil {
		w.t.Fatalf("delete %s: %v", o.GetName(), err)
	}
}

func (w *world) get(o client.Object) error {
	return w.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
}

// gone is nil when a resource isn't there.
func (w *world) gone(o client.Object) error {
	switch err := w.get(o); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%T %s is still there", o, o.GetName())
}

// chain is made like the good one, under another name and number.
func (w *world) chain(id string, number int64, change ...func(c *v1alpha1.Chain)) *v1alpha1.Chain {
	w.t.Helper()
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.Good), &c); err != nil {
		w.t.Fatal(err)
	}
	c.Name, c.Spec.ID, c.Spec.ChainID, c.Spec.Indexer = id, id, &number, v1alpha1.Indexer{}
	for _, f := range change {
		f(&c)
	}
	w.create(&c)
	return &c
}

const contract = "0xec4549cadce5da21df6e6422d448034b5233bfbc"

// venue is made like the good one, on other chains.
func (w *world) venue(name string, chains []string, change ...func(v *v1alpha1.LaunchVenue)) *v1alpha1.LaunchVenue {
	w.t.Helper()
	var v v1alpha1.LaunchVenue
	if err := yaml.UnmarshalStrict([]byte(resolvetest.GoodVenue), &v); err != nil {
		w.t.Fatal(err)
	}
	v.Name, v.Spec.ID, v.Spec.Chains = name, name, nil
	for _, c := range chains {
		v.Spec.Chains = append(v.Spec.Chains, v1alpha1.VenueChain{Chain: c, TradesInApp: true, Contracts: []v1alpha1.EVMAddress{contract}})
	}
	for _, f := range change {
		f(&v)
	}
	w.create(&v)
	return &v
}

// become waits until a resource's conditions are these, each written as "Type Status Reason", and part of the message if need be.
func (w *world) become(o client.Object, want ...string) {
	w.t.Helper()
	eventually(w.t, func() error { return w.is(o, want...) })
}

// is fails unless a resource's conditions are these now, written as for become.
func (w *world) is(o client.Object, want ...string) error {
	if err := w.get(o); err != nil {
		return err
	}
	for _, want := range want {
		words := strings.SplitN(want, " ", 4)
		c := meta.FindStatusCondition(*conditions(o), words[0])
		if c == nil || string(c.Status) != words[1] || c.Reason != words[2] || len(words) == 4 && !strings.Contains(c.Message, words[3]) {
			return fmt.Errorf("%s: %+v; want %s", o.GetName(), *conditions(o), want)
		}
		if c.ObservedGeneration != o.GetGeneration() {
			return fmt.Errorf("%s: %+v is of generation %d", o.GetName(), c, o.GetGeneration())
		}
	}
	return nil
}

func conditions(o client.Object) *[]metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.Chain:
		return &o.Status.Conditions
	case *v1alpha1.LaunchVenue:
		return &o.Status.Conditions
	}
	return &[]metav1.Condition{}
}

// stand waits until a venue's chains are so, each written as "chain Reason" and part of the message if need be.
func (w *world) stand(v *v1alpha1.LaunchVenue, want ...string) {
	w.t.Helper()
	eventually(w.t, func() error {
		if err := w.get(v); err != nil {
			return err
		}
		got := map[string]v1alpha1.VenueChainStatus{}
		for _, s := range v.Status.Chains {
			got[s.Chain] = s
		}
		for _, want := range want {
			words := strings.SplitN(want, " ", 3)
			s := got[words[0]]
			if s.Reason != words[1] || (s.State == v1alpha1.VenueOpen) != (words[1] == v1alpha1.ReasonOpen) ||
				len(words) == 3 && !strings.Contains(s.Message, words[2]) {
				return fmt.Errorf("%s: %+v; want %s", v.Name, v.Status.Chains, want)
			}
		}
		return nil
	})
}

// runOutOfPatience lets so much time go by that those who were silent count as down. They have been asked by then.
func (w *world) runOutOfPatience(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.indexers.rounds(w.t, id, 1)
	}
	w.clock.advance(venue.Patience + time.Second)
}

// document is what a chain's indexer is given.
func (w *world) document(id string) *chainconfig.Chain {
	w.t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName(id)}}
	var out chainconfig.Chain
	if err := w.get(m); err != nil {
		return &out // it isn't there yet
	}
	if err := json.Unmarshal([]byte(m.Data["chain.json"]), &out); err != nil {
		w.t.Fatal(err)
	}
	return &out
}

// events are those of a resource, as "Type Reason note", with how often each was told.
func (w *world) events(o client.Object) map[string]int {
	w.t.Helper()
	var list eventsv1.EventList
	if err := w.List(w.t.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for i := range list.Items {
		e := &list.Items[i]
		if e.Regarding.UID != o.GetUID() {
			continue
		}
		n := 1
		if e.Series != nil {
			n = int(e.Series.Count)
		}
		out[e.Type+" "+e.Reason+" "+e.Note] += n
	}
	return out
}

// told waits until the Events of a resource are these and no others.
func (w *world) told(o client.Object, want map[string]int) {
	w.t.Helper()
	eventually(w.t, func() error {
		if got := w.events(o); !maps.Equal(got, want) {
			return fmt.Errorf("Events are %v; want %v", got, want)
		}
		return nil
	})
}

// metric gives the series of a metric by their chain.
func (r *running) metric(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := r.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				out[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

func write(w http.ResponseWriter, text string) { _, _ = io.WriteString(w, text) }
