package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// noEvents is for tests of what is written.
type noEvents struct{}

func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// An operator that starts has asked nobody: what the one before it decided stands until the indexers had time to answer.
func TestARestartClosesNoVenue(t *testing.T) {
	w := newWorld(t)
	first := w.run()
	w.indexers.says("base")
	w.indexers.says("bsc")
	v := w.knownVenue("four-meme", []string{"base", "bsc"})
	base, bsc := w.chain("base", 8453), w.chain("bsc", 56)
	w.become(base, "Ready True Ready")
	w.become(bsc, "Ready True Ready")
	w.stand(v, "base Open", "bsc Open")
	w.rest(first, "base")
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	w.indexers.does("base", nil)
	w.indexers.says("bsc", venueIs(func(v *chainconfig.VenueState) { v.Paused = []string{contract} }))
	w.clock.advance(time.Hour)

	second := w.run()
	w.stand(v, "bsc ContractPaused") // who answers is believed at once
	w.indexers.rounds(t, "base", 10)
	w.stand(v, "base Open")
	w.become(base, "Synced True AtHead", "Ready True Ready")
	if n := second.to("/chains/") + second.to("boardwalk-indexer-"); n > 0 {
		t.Errorf("a restart wrote: %v", second.all())
	}
	w.runOutOfPatience("base")
	w.stand(v, "base IndexerDown")
	w.become(base, "Synced False Unreachable", "Ready False Unreachable")
}

func TestTheAPIServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	own, err := kubetest.Start(t.Context(), definitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	w := newWorldIn(t, own)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.owned(c)
	w.stand(v, "base Open")
	own.StopAPIServer()
	w.indexers.says("base", inPhase(chainconfig.PhaseHalted, "disk full"))
	w.indexers.rounds(t, "base", 20) // it is asked all the same
	if err := own.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.become(c, "Synced False Halted disk full", "Available False IndexerStarting")
	w.stand(v, "base IndexerHalted disk full")
	// Changes reach it again, and drift is seen.
	w.patch(c, `{"spec":{"tracking":{"minLiquidityUSD":"7"}}}`)
	eventually(t, func() error {
		if got := w.document("base").Tracking.MinLiquidityUSD; got != 7 {
			return fmt.Errorf("the document says %v", got)
		}
		return nil
	})
	w.remove(w.objectsOf("base")[2])
	w.owned(c)
	w.indexers.says("base")
	w.stand(v, "base Open")
}

func TestOneOfTwoOperatorsActs(t *testing.T) {
	w := newWorld(t)
	elect := func(o *Options) { o.LeaderElection = true }
	first := w.run(elect)
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	second := w.run(elect)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: LeaseName}}
	if err := w.get(lease); err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		t.Fatalf("%v: the Lease is %+v", err, lease.Spec)
	}
	w.patch(c, `{"spec":{"order":7}}`)
	w.become(c, "Ready True Ready")
	if got := second.all(); len(got) > 0 {
		t.Errorf("the second wrote too: %v", got)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	w.patch(c, `{"spec":{"order":8}}`)
	w.become(c, "Ready True Ready")
	if second.to("/base/status") == 0 {
		t.Errorf("the second wrote %v", second.all())
	}
}

func TestAnOperatorIsReadyOnceItHasReadTheResources(t *testing.T) {
	w := newWorld(t)
	idle, err := New(w.operator, Options{
		Namespace: w.namespace, Metrics: prometheus.NewRegistry(), Now: w.clock.Now, Log: logs(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := idle.Ready(ctx); err == nil {
		t.Error("an operator that doesn't run is ready")
	}
	if err := w.run().operator.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheIndexersStateIsAtItsService(t *testing.T) {
	t.Parallel()
	c := &v1alpha1.Chain{ObjectMeta: metav1.ObjectMeta{Namespace: "markets", Name: "x"}, Spec: v1alpha1.ChainSpec{ID: "base"}}
	if got, want := serviceURL(c), "http://boardwalk-indexer-base.markets.svc:8081/state"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestRemoveIndexers(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}
	stranger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{workload.LabelName: workload.Name}}}
	w.create(stranger)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: LeaseName}}
	w.create(lease)
	remover := w.remover()
	for range 2 { // none left is no error
		if err := RemoveIndexers(t.Context(), remover, w.namespace, ""); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() error {
		for _, o := range w.objectsOf("base") {
			if err := w.gone(o); err != nil {
				return err
			}
		}
		var pods corev1.PodList
		if err := w.List(t.Context(), &pods, client.InNamespace(w.namespace)); err != nil || len(pods.Items) > 0 {
			return fmt.Errorf("%w: %d pods are still there", err, len(pods.Items))
		}
		return nil
	})
	if err := w.get(stranger); err != nil {
		t.Error(err)
	}
	if err := w.gone(lease); err != nil {
		t.Error(err)
	}
	w.run()
	w.owned(c)
	w.become(c, "Ready True Ready")
}

// remover may do what the chart's uninstall hook may.
func (w *world) remover() *rest.Config {
	w.t.Helper()
	m := metav1.ObjectMeta{Name: "uninstall"}
	role := &rbacv1.Role{ObjectMeta: m}
	for group, resources := range map[string][]string{
		"": {"configmaps", "services", "serviceaccounts"}, "apps": {"deployments"}, "networking.k8s.io": {"networkpolicies"},
		"policy": {"poddisruptionbudgets"}, "batch": {"jobs"},
	} {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"list", "delete"}})
	}
	role.Rules = append(role.Rules, rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{LeaseName}, Verbs: []string{"delete"},
	})
	w.create(&corev1.ServiceAccount{ObjectMeta: m})
	w.create(role)
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: m, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: m.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: m.Name}},
	})
	cfg, err := w.cluster.ServiceAccount(w.t.Context(), w.namespace, m.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	w.awaitRights(cfg)
	return cfg
}

// Everybody writes to the Chain, to its objects and to its indexer at once; in the end all is as the Chain says.
func TestItSettlesAfterManyChangesAtOnce(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	const chains = 5
	all := make([]*v1alpha1.Chain, chains)
	names := make([]string, chains)
	for i := range all {
		names[i] = fmt.Sprintf("chain-%d", i)
		w.indexers.says(names[i])
		all[i] = w.chain(names[i], int64(i+1))
	}
	v := w.venue("four-meme", names)
	for round := range 6 {
		for i, c := range all {
			w.patch(c, fmt.Sprintf(`{"spec":{"suspend":%t,"tracking":{"minLiquidityUSD":"%d"}}}`, (round+i)%3 == 0, round+1))
			w.indexers.says(names[i], behindBy(time.Duration(round%2)*time.Hour))
			if o := w.objectsOf(names[i])[(round+i)%6]; round > 2 {
				_ = w.Delete(t.Context(), o) // it may not be there yet
			}
		}
	}
	for i, c := range all {
		w.indexers.says(names[i])
		w.patch(c, `{"spec":{"suspend":false,"tracking":{"minLiquidityUSD":"99"}}}`)
	}
	for i, c := range all {
		w.owned(c)
		w.become(c, "Ready True Ready")
		if got := w.document(names[i]).Tracking.MinLiquidityUSD; got != 99 {
			t.Errorf("the document of %s says %v", names[i], got)
		}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName(names[i])}}
		if err := w.get(d); err != nil || *d.Spec.Replicas != 1 {
			t.Errorf("%s: %v, %+v", names[i], err, d.Spec.Replicas)
		}
	}
	w.become(v, "Ready True Open")
	w.rest(op, names[0])
}
