//go:build long

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// clockEnv has the seconds by which a process's clock is ahead of the machine's, in a program that buildWithClock has built.
const clockEnv = "BOARDWALK_TEST_CLOCK"

// clockSource is added to package time. The wall clock alone is moved: timers, and the time between two moments, are by the monotonic clock.
const clockSource = `
var testClockOnce struct {
	sync.Once
	sec int64
}

func testClock() int64 {
	testClockOnce.Do(func() {
		text, ok := syscall.Getenv("` + clockEnv + `")
		if !ok {
			return
		}
		negative := len(text) > 0 && text[0] == '-'
		if negative {
			text = text[1:]
		}
		sec, rest, err := leadingInt(text)
		if err != nil || rest != "" || text == "" {
			panic("` + clockEnv + ` is " + text)
		}
		testClockOnce.sec = int64(sec)
		if negative {
			testClockOnce.sec = -testClockOnce.sec
		}
	})
	return testClockOnce.sec
}
`

// buildWithClock builds the program so that its clock can be set wrong: all its code reads the clock of package time, a copy of which takes the place
// of Go's own. The copy is made of the installed one. stateURL is the format of the address at which the operator asks an indexer, since no cluster's
// name service is there.
func buildWithClock(t *testing.T, stateURL string) (program string) {
	t.Helper()
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	replace := func(path, addition string, texts ...string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source := string(raw)
		for i := 0; i < len(texts); i += 2 {
			if n := strings.Count(source, texts[i]); n != 1 {
				t.Fatalf("%s has %d times what is to be replaced; want once:\n%s", path, n, texts[i])
			}
			source = strings.Replace(source, texts[i], texts[i+1], 1)
		}
		copied := filepath.Join(dir, strconv.Itoa(len(overlay.Replace))+".go")
		if err := os.WriteFile(copied, []byte(source+addition), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = copied
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replace(filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go"), clockSource,
		"import (\n\t\"errors\"\n\t\"math/bits\"\n", "import (\n\t\"errors\"\n\t\"math/bits\"\n\t\"sync\"\n\t\"syscall\"\n",
		"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {", "\tsec, nsec, mono := runtimeNow()\n\tsec += testClock()\n\tif mono == 0 {")
	replace(filepath.Join(here, "operator", "controller", "controller.go"), "", `"http://%s.%s.svc:%d%s"`, strconv.Quote(stateURL))
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "boardwalk")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// indexerServices are the Services of the indexers: they lead a request to an indexer's process.
type indexerServices struct {
	*httptest.Server

	mu sync.Mutex
	to map[string]*url.URL
}

func newIndexerServices(t *testing.T) *indexerServices {
	t.Helper()
	s := &indexerServices{to: map[string]*url.URL{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// format makes an address of a Service's name, its namespace, its port and a path.
func (s *indexerServices) format() string { return s.URL + "/%s.%s:%d%s" }

func (s *indexerServices) set(service, namespace, operations string) error {
	to, err := url.Parse(operations)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to[fmt.Sprintf("%s.%s:%d", service, namespace, workload.OperationsPort)] = to
	return nil
}

func (s *indexerServices) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	to := s.to[service]
	s.mu.Unlock()
	if to == nil {
		http.Error(w, "no such Service", http.StatusBadGateway)
		return
	}
	(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.URL.Path = "/" + path
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}).ServeHTTP(w, r)
}

// clockSite is a namespace with a chain, a venue, and the programs as processes, each with a clock of its own.
type clockSite struct {
	*operatorSite

	program, dsn, settings, api string
	gate                        *gate
	kubelet                     *clockKubelet
}

func newClockSite(t *testing.T, kube *kubetest.Cluster, program string, services *indexerServices, indexerAhead time.Duration) *clockSite {
	t.Helper()
	s := &clockSite{operatorSite: newOperatorSite(t, kube), program: program, dsn: storetest.DSN(t, "postgres"), settings: filepath.Join(t.TempDir(), "indexers.yaml")}
	s.writeSettings("{}\n")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "db"}, StringData: map[string]string{"uri": s.dsn}}
	if err := s.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.declare(s.startChain())
	s.kubelet = &clockKubelet{site: s, services: services, ahead: indexerAhead}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.kubelet.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	listen := porttest.Address(t)
	s.startProgram(0, "apiserver", "--from-cluster", "--kubeconfig", kube.Kubeconfig, "--namespace", s.namespace, "--db", s.dsn, "--listen", listen)
	s.api = "http://" + listen
	return s
}

// blockTime is so long that a busy machine doesn't make the chain silent, which it is after three of it.
const blockTime = 4 * time.Second

// startChain starts a chain with a venue, which makes blocks at the true time.
func (s *clockSite) startChain() *world.World {
	s.t.Helper()
	node, err := anvil.StartNode(s.t.Context(), anvil.NodeOptions{ChainID: 8453, Timestamp: time.Now().Add(-time.Hour)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = node.Close() })
	w, err := launch.Deploy(s.t.Context(), node, world.DeployOptions{Seed: 8453}, venues.BoardwalkCurve)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	mined := make(chan struct{})
	go func() {
		defer close(mined)
		for ; ctx.Err() == nil; time.Sleep(blockTime) {
			_ = node.MineAt(ctx, time.Now()) // two blocks can't have one second: the next one comes
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		<-mined
	})
	s.gate = &gate{node: node.URL()}
	return w
}

// declare applies the chain and its venue, the venue first: the chain's first document has it.
func (s *clockSite) declare(w *world.World) {
	s.t.Helper()
	front := httptest.NewServer(s.gate)
	s.t.Cleanup(front.Close)
	manifest, err := w.Manifest(world.ManifestOptions{ID: "base", Label: "base", BlockTime: blockTime, Endpoint: front.URL})
	if err != nil {
		s.t.Fatal(err)
	}
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict(manifest, &c); err != nil {
		s.t.Fatal(err)
	}
	c.Spec.Indexer.MaxLag = &metav1.Duration{Duration: 30 * time.Second}
	declared, err := launch.VenueManifests(map[string]*world.World{"base": w})
	if err != nil {
		s.t.Fatal(err)
	}
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(declared), 4096); ; {
		var v v1alpha1.LaunchVenue
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			s.t.Fatal(err)
		}
		if v.Name != venues.Kinds[venues.BoardwalkCurve].ID {
			continue
		}
		for _, on := range v.Spec.Chains {
			if on.Chain == "base" {
				v.Spec.Chains = []v1alpha1.VenueChain{on}
			}
		}
		v.Namespace = s.namespace
		if err := s.Create(s.t.Context(), &v); err != nil {
			s.t.Fatal(err)
		}
	}
	c.Namespace = s.namespace
	if err := s.Create(s.t.Context(), &c); err != nil {
		s.t.Fatal(err)
	}
}

func (s *clockSite) writeSettings(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.settings, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *clockSite) startOperator(ahead time.Duration) *clockProcess {
	s.t.Helper()
	return s.startProgram(ahead, "operator", "--database-secret", "db", "--indexer-image", "none.invalid/boardwalk", "--indexers", s.settings,
		"--kubeconfig", s.kube.Kubeconfig, "--namespace", s.namespace)
}

// clockProcess is a process of the program.
type clockProcess struct {
	cmd *exec.Cmd
	// operations is the address of its operations, as http://HOST:PORT.
	operations string
	ended      chan struct{}
	log        *output
}

// startProgram runs the program with a clock that is ahead by some time, until the test ends.
func (s *clockSite) startProgram(ahead time.Duration, args ...string) *clockProcess {
	s.t.Helper()
	p, err := s.tryProgram(s.t.Context(), ahead, nil, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *clockSite) tryProgram(ctx context.Context, ahead time.Duration, env []string, args ...string) (*clockProcess, error) {
	operations, release, err := porttest.Reserve()
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(release)
	p := &clockProcess{
		cmd:        exec.CommandContext(context.WithoutCancel(ctx), s.program, append(args, "--operations="+operations)...),
		operations: "http://" + operations, ended: make(chan struct{}), log: &output{},
	}
	p.cmd.Env = append(os.Environ(), append(env, clockEnv+"="+strconv.Itoa(int(ahead/time.Second)))...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := storetest.Start(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // most are killed
	}()
	s.t.Cleanup(func() {
		p.kill()
		if s.t.Failed() {
			s.t.Logf("%s, %s ahead:\n%s", args[0], ahead, tail(p.log.String()))
		}
	})
	return p, nil
}

func (p *clockProcess) kill() {
	_ = p.cmd.Process.Kill() // it has ended already, perhaps
	<-p.ended
}

// tail is the end of a long text.
func tail(text string) string { return text[max(0, len(text)-8000):] }

// clockKubelet does for the indexer's pod what a kubelet does: it runs the program of the pod that there is, and starts it anew when it ends.
type clockKubelet struct {
	site     *clockSite
	services *indexerServices
	ahead    time.Duration

	mu      sync.Mutex
	process *clockProcess
	pod     types.UID
	started int
}

// starts is how often the program was started.
func (k *clockKubelet) starts() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.started
}

func (k *clockKubelet) signal(s syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.process.cmd.Process.Signal(s); err != nil {
		k.site.t.Error(err)
	}
}

func (k *clockKubelet) run(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		var pods corev1.PodList
		if err := k.site.List(ctx, &pods, client.InNamespace(k.site.namespace), client.MatchingLabels{workload.LabelChain: "base"}); err != nil {
			continue // the test is over, or it is asked again
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning && k.needs(p) {
				k.replace(ctx, p)
			}
		}
	}
}

// needs reports whether the program of a pod is to be started.
func (k *clockKubelet) needs(p *corev1.Pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process == nil || k.pod != p.UID {
		return true
	}
	select {
	case <-k.process.ended:
		return true
	default:
		return false
	}
}

func (k *clockKubelet) replace(ctx context.Context, p *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process != nil {
		_ = k.process.cmd.Process.Signal(syscall.SIGTERM) // it has ended already, perhaps
		<-k.process.ended
	}
	var document corev1.ConfigMap
	key := client.ObjectKey{Namespace: p.Namespace, Name: workload.ObjectName("base")}
	if err := k.site.Get(ctx, key, &document); err != nil {
		return // it is tried again
	}
	dir, err := os.MkdirTemp(k.site.t.TempDir(), "document-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "chain.json"), []byte(document.Data["chain.json"]), 0o600)
	}
	if err != nil {
		k.site.t.Error(err)
		return
	}
	env := []string{"BOARDWALK_DB=" + k.site.dsn}
	for _, e := range p.Spec.Containers[0].Env {
		if e.ValueFrom == nil && e.Name == "BOARDWALK_SETTINGS" {
			env = append(env, e.Name+"="+e.Value)
		}
	}
	args := []string{"indexer", "--config=" + filepath.Join(dir, "chain.json")}
	for _, a := range p.Spec.Containers[0].Args {
		if strings.HasPrefix(a, "--document-hash=") {
			args = append(args, a)
		}
	}
	process, err := k.site.tryProgram(ctx, k.ahead, env, args...)
	if err == nil {
		k.process, k.pod = process, p.UID
		k.started++
		err = k.services.set(key.Name, key.Namespace, process.operations)
	}
	if err != nil && ctx.Err() == nil {
		k.site.t.Error(err)
	}
}

func (s *clockSite) getJSON(address string, into any) error {
	text, err := getText(address)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}
