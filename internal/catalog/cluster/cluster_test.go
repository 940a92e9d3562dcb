package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/cluster"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// definitions are those of the two kinds.
const definitions = "../../../config/crd/bases"

// kube has the definitions and lives as long as the package's tests; a test that stops something has its own.
var kube *kubetest.Cluster

func TestMain(m *testing.M) {
	var err error
	if kube, err = kubetest.Start(context.Background(), kubetest.Options{CRDs: []string{definitions}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	kube.Stop()
	os.Exit(code)
}

// world is a namespace and who writes there.
type world struct {
	namespace string
	client    dynamic.Interface
	// reader has a service account that may list and watch the two kinds in the namespace, and nothing else.
	reader *rest.Config
}

func newWorld(t *testing.T, in *kubetest.Cluster) *world {
	t.Helper()
	w := &world{namespace: in.Namespace(t)}
	var err error
	if w.client, err = dynamic.NewForConfig(in.Config); err != nil {
		t.Fatal(err)
	}
	w.reader = account(t, in, w.namespace)
	grant(t, in, w.namespace)
	w.awaitRights(t)
	return w
}

// awaitRights waits until the reader may list: the API server learns of a binding by a watch.
func (w *world) awaitRights(t *testing.T) {
	t.Helper()
	reader, err := dynamic.NewForConfig(w.reader)
	if err != nil {
		t.Fatal(err)
	}
	chains := reader.Resource(v1alpha1.GroupVersion.WithResource("chains")).Namespace(w.namespace)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err = chains.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) { // the kinds may not be there yet
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// account is the namespace's default service account.
func account(t *testing.T, in *kubetest.Cluster, namespace string) *rest.Config {
	t.Helper()
	config, err := in.ServiceAccount(t.Context(), namespace, "default")
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func grant(t *testing.T, in *kubetest.Cluster, namespace string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(in.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "catalog"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"chains", "launchvenues"}, Verbs: []string{"list", "watch"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "catalog"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "catalog"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) of(kind string) dynamic.ResourceInterface {
	return w.client.Resource(v1alpha1.GroupVersion.WithResource(strings.ToLower(kind) + "s")).Namespace(w.namespace)
}

// apply creates what a manifest declares, with some of it replaced (old, new, old, new …), or replaces the spec that is there.
func (w *world) apply(t *testing.T, manifest string, replaced ...string) {
	t.Helper()
	manifest = strings.NewReplacer(replaced...).Replace(manifest)
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	there, err := w.of(u.GetKind()).Get(t.Context(), u.GetName(), metav1.GetOptions{})
	if err == nil {
		there.Object["spec"] = u.Object["spec"]
		_, err = w.of(u.GetKind()).Update(t.Context(), there, metav1.UpdateOptions{})
	} else {
		_, err = w.of(u.GetKind()).Create(t.Context(), u, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("apply %s %s: %v", u.GetKind(), u.GetName(), err)
	}
}

func (w *world) remove(t *testing.T, kind, name string) {
	t.Helper()
	if err := w.of(kind).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// set says in the status of a venue which state it has on a chain, and since when.
func (w *world) set(t *testing.T, venue, chain string, state v1alpha1.VenueState, since time.Time) {
	t.Helper()
	u, err := w.of(v1alpha1.LaunchVenueKind).Get(t.Context(), venue, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u.Object["status"] = map[string]any{"chains": []any{map[string]any{
		"chain": chain, "state": string(state), "reason": string(state), "lastTransitionTime": since.UTC().Format(time.RFC3339),
	}}}
	if _, err := w.of(v1alpha1.LaunchVenueKind).UpdateStatus(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// watched is a source that is being started.
type watched struct {
	*cluster.Source

	log      *journal
	registry *prometheus.Registry
	started  chan error
	stop     func()
}

// watch starts a source that ends with the test, or with stop.
func watch(t *testing.T, config *rest.Config, namespace string) *watched {
	t.Helper()
	w := &watched{log: &journal{}, registry: prometheus.NewRegistry(), started: make(chan error, 1)}
	var err error
	w.Source, err = cluster.New(config, cluster.Options{
		Namespace: namespace, Now: time.Now, Log: slog.New(slog.NewTextHandler(w.log, nil)), Metrics: w.registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	w.stop = stop
	t.Cleanup(stop)
	go func() { w.started <- w.Start(ctx) }()
	return w
}

// live waits for the first catalogue.
func (w *watched) live(t *testing.T) *catalog.Live {
	t.Helper()
	select {
	case err := <-w.started:
		if err != nil {
			t.Fatal(err)
		}
		return w.Catalog()
	case <-time.After(patience):
		t.Fatalf("it doesn't start: %v\n%s", w.Ready(), w.log)
		return nil
	}
}

// metric is the sum of a metric's values.
func (w *watched) metric(t *testing.T, name string) (sum float64) {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// patience is for slow machines; nothing takes nearly as long.
const patience = time.Minute

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came about that " + what)
		}
	}
}

// journal is a log that is read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func (j *journal) count(text string) int { return strings.Count(j.String(), text) }

// gate stands between a source and the API server, and can be shut.
type gate struct {
	net.Listener

	to    string
	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

// through gives a config that leads through a gate.
func through(t *testing.T, config *rest.Config) (*rest.Config, *gate) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: strings.TrimPrefix(config.Host, "https://")}
	t.Cleanup(func() { _ = l.Close(); g.set(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.pass(c)
		}
	}()
	config = rest.CopyConfig(config)
	config.Host = "https://" + l.Addr().String()
	return config, g
}

func (g *gate) pass(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		_ = c.Close()
		return
	}
	there, err := new(net.Dialer).DialContext(context.Background(), "tcp", g.to)
	if err != nil {
		_ = c.Close()
		return
	}
	g.conns = append(g.conns, c, there)
	go func() { _, _ = io.Copy(there, c); _ = there.Close() }()
	go func() { _, _ = io.Copy(c, there); _ = c.Close() }()
}

// set shuts the gate, which cuts every connection, or opens it.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}
