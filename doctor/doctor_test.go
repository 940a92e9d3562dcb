package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

var cluster *kubetest.Cluster

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if cluster, err = kubetest.Start(context.Background(), kubetest.Options{CRDs: []string{"../config/crd/bases"}}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer cluster.Stop()
		return m.Run()
	}())
}

// start is the time of all that pods say in these tests.
var start = time.Unix(1_800_000_000, 0).UTC()

// installation has its resources and pods in a namespace of a real API server. There is no kubelet: pods' answers are made here, and whoever
// wants them through a kubelet finds the test on the node (hack/e2e).
type installation struct {
	t      *testing.T
	client client.Client
	*Cluster
	// lag is head_lag_s of the chain "base", state what its indexer says, database whether programs reach theirs.
	lag      *float64
	state    chainconfig.State
	database map[string]bool
	// requests and failures are those of the endpoint "endpoint 1" between two questions; asked counts the questions.
	requests, failures float64
	asked              float64
	// unserved says that the API doesn't know the chain.
	unserved bool
	// silent are pods that don't answer.
	silent map[string]bool
}

func install(t *testing.T) *installation {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(cluster.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "doctor-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "default"}} // pods need it, and no controller makes it here
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	i := &installation{
		t: t, client: c, lag: new(float64), requests: 10, silent: map[string]bool{}, database: map[string]bool{"api-1": true, "base-1": true},
		state: chainconfig.State{
			Chain: "base", Phase: chainconfig.PhaseFollowing, At: start, HeadReadAt: start,
			Head: &chainconfig.Block{Number: 101, Time: start}, Indexed: &chainconfig.Block{Number: 100, Time: start.Add(-2 * time.Second)},
		},
	}
	if i.Cluster, err = Connect(cluster.Config, namespace.Name); err != nil {
		t.Fatal(err)
	}
	i.Ask = i.answer
	i.chain(metav1.ConditionTrue, v1alpha1.ReasonReady, "the chain is served")
	i.pod("api-1", componentAPI, true)
	i.pod("operator-1", componentOperator, true)
	i.pod("base-1", componentIndexer, true)
	return i
}

func (i *installation) chain(ready metav1.ConditionStatus, reason, message string, others ...metav1.Condition) {
	i.t.Helper()
	var c v1alpha1.Chain
	err := yaml.Unmarshal([]byte(resolvetest.Good), &c)
	c.Namespace = i.namespace
	if err == nil {
		err = client.IgnoreAlreadyExists(i.client.Create(i.t.Context(), &c))
	}
	if err == nil {
		err = i.client.Get(i.t.Context(), client.ObjectKeyFromObject(&c), &c)
	}
	if err == nil {
		c.Status.Conditions = append([]metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(start),
		}}, others...)
		err = i.client.Status().Update(i.t.Context(), &c)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// reindexing has a chain that is ready say something of another generation of its index.
func (i *installation) reindexing(status metav1.ConditionStatus, reason, message string) {
	i.t.Helper()
	i.chain(metav1.ConditionTrue, v1alpha1.ReasonReady, "the chain is served", metav1.Condition{
		Type: v1alpha1.ConditionReindexing, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(start),
	})
}

func (i *installation) pod(name, component string, ready bool) {
	i.t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: i.namespace, Labels: map[string]string{
			labelName: product, labelComponent: component, labelChain: "base",
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
	err := client.IgnoreAlreadyExists(i.client.Create(i.t.Context(), p))
	if err == nil {
		err = i.client.Get(i.t.Context(), client.ObjectKeyFromObject(p), p)
	}
	if err == nil {
		condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
		p.Status.ContainerStatuses = nil
		if !ready {
			condition.Status = corev1.ConditionFalse
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
			}}}
		}
		p.Status.Conditions = []corev1.PodCondition{condition}
		err = i.client.Status().Update(i.t.Context(), p)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// end has a pod stay behind as one that was evicted.
func (i *installation) end(name string) {
	i.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: name}}
	err := i.client.Get(i.t.Context(), client.ObjectKeyFromObject(p), p)
	if err == nil {
		p.Status.Phase = corev1.PodFailed
		err = i.client.Status().Update(i.t.Context(), p)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// answer is what the pod says.
func (i *installation) answer(_ context.Context, pod string, port int32, path string) ([]byte, error) {
	if i.silent[pod] {
		return nil, errors.New("connection refused")
	}
	switch {
	case port == apiPort && path == "/api/status/heartbeat":
		return json.Marshal(i.heartbeat())
	case port == indexerPort && path == "/state":
		return json.Marshal(i.state)
	case (port == indexerPort || port == operationsPort) && path == "/metrics":
		up := 0
		if i.database[pod] {
			up = 1
		}
		text := fmt.Sprintf("# TYPE boardwalk_database_up gauge\nboardwalk_database_up %d\n", up)
		if port == indexerPort {
			i.asked++
			const sample = "# TYPE boardwalk_rpc_%[1]s_total counter\nboardwalk_rpc_%[1]s_total{chain=\"base\",endpoint=\"endpoint 1\"} %[2]v\n"
			text += fmt.Sprintf(sample, "requests", 1000+i.asked*i.requests) + fmt.Sprintf(sample, "failures", 100+i.asked*i.failures)
		}
		return []byte(text), nil
	}
	return nil, fmt.Errorf("nothing is at %d%s", port, path)
}

func (i *installation) heartbeat() contract.Heartbeat {
	c := contract.ChainHeartbeat{ID: "base", HeadLagS: i.lag, UnknownReasons: contract.UnknownReasons{}}
	if i.lag == nil {
		c.UnknownReasons["head_lag_s"] = contract.UnknownReasonIndexing
	}
	if i.unserved {
		return contract.Heartbeat{AsOf: contract.At(start), Status: contract.HeartbeatStatusOk}
	}
	return contract.Heartbeat{AsOf: contract.At(start), Status: contract.HeartbeatStatusOk, Chains: []contract.ChainHeartbeat{c}}
}

// examine runs the doctor. No time passes for it but what it waits for.
func (i *installation) examine(chain string) (string, error) {
	var out strings.Builder
	passed := time.Duration(0)
	d := &Doctor{Cluster: i.Cluster, Chain: chain, Out: &out, Now: func() time.Time {
		passed += watched // so that step 5 waits for nothing
		return start.Add(passed)
	}}
	err := d.Run(i.t.Context())
	return out.String(), err
}

// TestFindsTheCause breaks one thing after another, and wants it found.
func TestFindsTheCause(t *testing.T) {
	t.Parallel()
	old := 900.0
	const giveUp = "         -> it is tried again by itself, which helps once what this names is mended or over. After a reorganisation that was too deep, raise spec.reorgBlocks and " +
		"spec.indexer.generation. To give it up, put the number that is served back into spec.indexer.generation of Chain base, " +
		"or run boardwalk reindex --cancel base where boardwalk reindex asked for it"
	for name, x := range map[string]struct {
		wreck func(i *installation)
		// lines are in the text, last is its last line but for nothing wrong.
		lines []string
		last  string
	}{
		"nothing": {func(*installation) {}, []string{
			"ok     1 of 1 API servers are ready", "ok     base: answers are 0 s behind the chain", "ok     the operator runs", "ok     base: Ready",
			"ok     base: block 100 of 101 is indexed, 2s behind", "ok     api-1: the database answers", "ok     base-1: the database answers",
			"ok     base, endpoint 1: 20 requests, none failed",
		}, "Nothing wrong was found. If a price looks old all the same, that token had no trade."},
		"the indexer's database": {func(i *installation) {
			i.lag, i.database["base-1"] = &old, false
			i.chain(metav1.ConditionFalse, v1alpha1.ReasonDatabaseUnreachable, "database db: connection refused")
			i.state.Phase, i.state.Cause, i.state.Message = chainconfig.PhaseFailing, chainconfig.CauseDatabase, "database db: password refused"
		}, []string{
			"wrong  base: answers are 900 s behind the chain, which may be 1m30s", "wrong  base: DatabaseUnreachable: database db: connection refused",
			"-> kubectl describe chain base", "wrong  base: Failing: database db: password refused", "wrong  base-1: the database doesn't answer",
		}, "base: DatabaseUnreachable: database db: password refused"},
		"the API's database": {func(i *installation) { i.lag, i.database["api-1"] = &old, false }, []string{
			"ok     base: block 100 of 101 is indexed, 2s behind", "wrong  api-1: the database doesn't answer",
		}, "base: its indexer is at the head, and the API doesn't see it: the API servers read another database, or a standby that is behind (step 4)"},
		"nodes": {func(i *installation) {
			i.lag, i.failures, i.state.At = nil, 10, start.Add(time.Hour)
		}, []string{
			"wrong  base: how far the answers are behind isn't known (indexing)", "wrong  base: no node has told of a new block for 1h0m0s: see step 5",
			"wrong  base, endpoint 1: all 20 requests failed",
		}, "base: none of its endpoints answered meanwhile"},
		"a node now and then": {func(i *installation) { i.failures = 5 }, []string{"look   base, endpoint 1: 10 of 20 requests failed"}, "Nothing wrong was found. If a price looks old all the same, that token had no trade."},
		"an image": {func(i *installation) {
			i.pod("base-1", componentIndexer, false)
			i.silent["base-1"], i.lag = true, &old
			i.chain(metav1.ConditionFalse, v1alpha1.ReasonImageUnavailable, "no such image")
		}, []string{"wrong  base: its indexer doesn't answer: ImagePullBackOff: no such image", "look   base-1: its metrics can't be read"}, "base: ImageUnavailable: no such image"},
		"no operator": {func(i *installation) { i.pod("operator-1", componentOperator, false) }, []string{
			"wrong  no operator is ready, so that what Chains say may be old: ImagePullBackOff: no such image",
		}, ""},
		"no API server": {func(i *installation) { i.pod("api-1", componentAPI, false) }, []string{
			"wrong  0 of 1 API servers are ready: ImagePullBackOff: no such image", "-> kubectl describe pod api-1",
		}, ""},
		"an API of another installation": {func(i *installation) { i.unserved = true }, []string{"wrong  base: the API doesn't serve it", "ok     base: Ready"}, ""},
		"a pod that was evicted": {func(i *installation) {
			i.pod("base-0", componentIndexer, false)
			i.end("base-0")
			i.silent["base-0"] = true
		}, []string{"ok     base: block 100 of 101 is indexed, 2s behind"}, "Nothing wrong was found. If a price looks old all the same, that token had no trade."},
		"a generation that has halted": {func(i *installation) {
			i.reindexing(metav1.ConditionTrue, v1alpha1.ReasonHalted, "generation 2 is indexed beside generation 1, which is served: a reorg")
		}, []string{
			"ok     base: Ready", "look   base: Reindexing, Halted: generation 2 is indexed beside generation 1, which is served: a reorg", giveUp,
		}, "Nothing wrong was found. If a price looks old all the same, that token had no trade."},
		"a generation that is interrupted": {func(i *installation) {
			i.reindexing(metav1.ConditionTrue, v1alpha1.ReasonInterrupted, "generation 2 is indexed beside generation 1, which is served: no endpoint answers")
		}, []string{
			"look   base: Reindexing, Interrupted: generation 2 is indexed beside generation 1, which is served: no endpoint answers", giveUp,
		}, "Nothing wrong was found. If a price looks old all the same, that token had no trade."},
		"a hostile message": {func(i *installation) {
			i.chain(metav1.ConditionFalse, v1alpha1.ReasonBehind, "a\nok     all is well\x1b[2J")
		}, []string{"wrong  base: Behind: a ok all is well[2J"}, "base: Behind: a ok all is well[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t)
			x.wreck(i)
			out, err := i.examine("")
			for _, line := range x.lines {
				if !strings.Contains(out, line+"\n") && !strings.Contains(out, line+": ") && !strings.Contains(out, line+";") {
					t.Errorf("no line %q", line)
				}
			}
			if !strings.HasSuffix(out, x.last+"\n") {
				t.Errorf("the last line isn't %q", x.last)
			}
			if isFine := strings.HasPrefix(x.last, "Nothing"); isFine != (err == nil) || !isFine && !errors.Is(err, ErrFound) {
				t.Errorf("the error is %v", err)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func TestOneChain(t *testing.T) {
	t.Parallel()
	i := install(t)
	if out, err := i.examine("base"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := i.examine("bsc"); err == nil || errors.Is(err, ErrFound) || !strings.Contains(err.Error(), `no Chain with the id or name "bsc"`) {
		t.Errorf("a chain that isn't there: %v", err)
	}
}

// TestWithoutACluster asks an API alone.
func TestWithoutACluster(t *testing.T) {
	t.Parallel()
	old := 900.0
	i := &installation{lag: &old}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/base/api/status/heartbeat" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(i.heartbeat())
	}))
	defer api.Close()
	var out strings.Builder
	d := &Doctor{API: PublicAPI(api.URL + "/base/"), Out: &out, Now: time.Now}
	if err := d.Run(t.Context()); !errors.Is(err, ErrFound) || !strings.Contains(out.String(), "wrong  base: answers are 900 s behind the chain") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	d = &Doctor{API: PublicAPI(api.URL + "/base"), Chain: "bsae", Out: &out, Now: time.Now}
	if err := d.Run(t.Context()); !errors.Is(err, ErrFound) || !strings.Contains(out.String(), "wrong  bsae: the API doesn't serve it") {
		t.Errorf("a chain that isn't served: %v\n%s", err, out.String())
	}
	d = &Doctor{API: PublicAPI(api.URL), Out: &out, Now: time.Now}
	if err := d.Run(t.Context()); err == nil || errors.Is(err, ErrFound) {
		t.Errorf("no API: %v", err)
	}
}
