package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestARunningIndexerIsKeptFromADatabaseThatIsNotThere: an indexer is ended before its successor starts, so an address that
// nobody can use must be noticed before.
func TestARunningIndexerIsKeptFromADatabaseThatIsNotThere(t *testing.T) {
	kube := startCluster(t)
	if err := kube.StartControllers(t.Context(), 1); err != nil { // the Deployments are rolled out
		t.Fatal(err)
	}
	o := newOperatorSite(t, kube)
	create := func(name, key, address string) {
		t.Helper()
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}, StringData: map[string]string{key: address}}
		if err := o.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	create("db", "uri", storetest.DSN(t, "postgres"))
	create("keyless", "url", storetest.DSN(t, "postgres"))
	create("refused", "uri", "postgres://u:hunter2@"+porttest.Address(t)+"/d")
	using := func(secret string) *corev1.PodSpec {
		return o.rendered("database.evaluation.enabled=false", "database.existingSecret.name="+secret, "indexers.podLabels.kubetest=by-hand")
	}
	go o.runTrials()
	uses := func() string {
		return o.indexer("base").Spec.Template.Spec.Containers[0].Env[0].ValueFrom.SecretKeyRef.Name
	}
	stop := o.start(using("db"))
	if stop == nil {
		t.Fatal("the operator doesn't start with its Secret there")
	}
	c := o.chain()
	o.until("the indexer runs", func() bool { d := o.indexer("base"); return d != nil && d.Status.AvailableReplicas == 1 })
	stop()

	for i, secret := range []string{"missing", "keyless", "refused"} {
		stop = o.start(using(secret))
		if stop == nil {
			continue // an operator that doesn't start changes nothing
		}
		order := fmt.Appendf(nil, `{"spec":{"order":%d}}`, 100+i)
		if err := o.Patch(t.Context(), c, client.RawPatch(types.MergePatchType, order)); err != nil {
			t.Fatal(err)
		}
		o.until("the operator looks at the chain", func() bool {
			return o.Get(t.Context(), client.ObjectKeyFromObject(c), c) == nil && c.Status.ObservedGeneration == c.Generation
		})
		if got := uses(); got != "db" {
			t.Errorf("Secret %s: the indexer, which ran, was given Secret %s", secret, got)
		}
		o.until("people are told of Secret "+secret, func() bool { return strings.Contains(o.said(c), secret) })
		if strings.Contains(o.said(c), "hunter2") {
			t.Errorf("Secret %s: the password is told: %s", secret, o.said(c))
		}
		stop()
	}

	create("missing", "uri", storetest.DSN(t, "postgres"))
	stop = o.start(using("missing"))
	if stop == nil {
		t.Fatal("the operator doesn't start although its Secret is there")
	}
	defer stop()
	o.until("the indexer has the address that answers", func() bool { return uses() == "missing" })
}

// runTrials does for the pods of trials what a kubelet does, until the test ends: it gives the program its Secret, runs it, and says how it ended.
func (o *operatorSite) runTrials() {
	ctx := o.t.Context()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		var pods corev1.PodList
		if err := o.List(ctx, &pods, client.InNamespace(o.namespace), client.HasLabels{workload.LabelTrial}); err != nil {
			continue // the test is over, or it is asked again
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning {
				o.runTrial(p)
			}
		}
	}
}

func (o *operatorSite) runTrial(p *corev1.Pod) {
	ctx := o.t.Context()
	c := &p.Spec.Containers[0]
	ref := c.Env[0].ValueFrom.SecretKeyRef
	var s corev1.Secret
	state := corev1.ContainerState{}
	err := o.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: ref.Name}, &s)
	address, ok := s.Data[ref.Key]
	switch {
	case err != nil:
		state.Waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: fmt.Sprintf("secret %q not found", ref.Name)}
	case !ok:
		message := fmt.Sprintf("couldn't find key %s in Secret %s/%s", ref.Key, o.namespace, ref.Name)
		state.Waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: message}
	default:
		program := cmd.New(serve.Build{})
		program.SetArgs(append(slices.Clone(c.Args), "--db", string(address)))
		var log output
		program.SetErr(&log)
		program.SetOut(&log)
		state.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now()}
		p.Status.Phase = corev1.PodSucceeded
		if err := program.ExecuteContext(ctx); err != nil {
			p.Status.Phase = corev1.PodFailed
			state.Terminated.Reason, state.Terminated.ExitCode = "Error", int32(cmd.ExitStatus(err))
			state.Terminated.Message = log.String() + "boardwalk: " + err.Error() + "\n"
		}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: c.Name, State: state}}
	_ = o.Status().Update(ctx, p) // where it has changed meanwhile it is run again
}

// said is what conditions and Events tell of a chain.
func (o *operatorSite) said(c *v1alpha1.Chain) string {
	o.t.Helper()
	if err := o.Get(o.t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		o.t.Fatal(err)
	}
	var out []string
	for _, x := range c.Status.Conditions {
		out = append(out, x.Message)
	}
	var events eventsv1.EventList
	if err := o.List(o.t.Context(), &events, client.InNamespace(o.namespace)); err != nil {
		o.t.Fatal(err)
	}
	for i := range events.Items {
		out = append(out, events.Items[i].Note)
	}
	return strings.Join(out, "\n")
}
