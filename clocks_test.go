//go:build long

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/operator/controller"
)

// apart is by how much the clocks of two machines disagree.
const apart = 10 * time.Minute

// TestClocksTenMinutesApart runs the programs as processes whose clocks disagree by ten minutes. The first operator, the API server, PostgreSQL, Kubernetes
// and the chain have the true time, the second operator is ahead, and the indexer is ahead or behind. Nothing may close or change its mind because of
// that, and what really stops must be told.
//
// go test -tags long -run TestClocksTenMinutesApart -count=1 -timeout 40m -v .
func TestClocksTenMinutesApart(t *testing.T) {
	kube := startCluster(t)
	if err := kube.StartControllers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	services := newIndexerServices(t)
	program := buildWithClock(t, services.format())
	for name, indexer := range map[string]time.Duration{"the indexer is behind": -apart, "the indexer is ahead": apart} {
		t.Run(name, func(t *testing.T) {
			s := newClockSite(t, kube, program, services, indexer)
			first := s.startOperator(0)
			s.until("an operator leads", func() bool { return s.leader() != "" })
			second := s.startOperator(apart)
			s.until("the chain is ready and the venue is open", s.isOpen)
			s.until("the API says that all is well", s.isFresh)
			s.until("both operators answer", func() bool { return first.leads() == "1" && second.leads() == "0" })

			leader, started := s.leader(), s.kubelet.starts()
			verdicts := s.watch()
			s.stays("both operators run", time.Minute, func() error { return s.isWell(first, second) })
			first.kill()
			s.until("the other operator leads", func() bool { return s.leader() != leader && second.leads() == "1" })
			s.stays("the other operator leads", 30*time.Second, func() error { return s.isWell(second) })
			if changes := verdicts(); len(changes) > 0 {
				t.Errorf("nothing happened, and these changed:\n%s", strings.Join(changes, "\n"))
			}
			if n := s.kubelet.starts() - started; n != 0 {
				t.Errorf("the indexer was started anew %d times when another operator took over", n)
			}

			s.indexerStops()
			third := s.startOperator(0)
			s.until("the third operator answers", func() bool { return third.leads() == "0" })
			second.kill()
			s.until("the third operator leads", func() bool { return third.leads() == "1" })
			s.indexerStops()
			s.chainStops()
			s.settingsChange()
		})
	}
}

// isOpen reports whether the chain is ready and its venue is open on it.
func (s *clockSite) isOpen() bool {
	c, v := s.resources()
	return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionReady) &&
		meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionSynced) &&
		len(v.Status.Chains) == 1 && v.Status.Chains[0].State == v1alpha1.VenueOpen
}

// isFresh reports whether the heartbeat says that the chain isn't late, and knows that from a node's answer.
func (s *clockSite) isFresh() bool {
	beat, err := s.beat()
	return err == nil && beat.Status == contract.HeartbeatStatusOk && len(beat.UnknownReasons) == 0
}

// isWell gives what is wrong while nothing should be. The first operator leads, alone.
func (s *clockSite) isWell(operators ...*clockProcess) error {
	for i, o := range operators {
		if want := map[bool]string{true: "1", false: "0"}[i == 0]; o.leads() != want {
			return fmt.Errorf("operator %d of %d says %q of whether it leads; want %s", i, len(operators), o.leads(), want)
		}
	}
	switch beat, err := s.beat(); {
	case err != nil:
		return err
	case beat.Status != contract.HeartbeatStatusOk || len(beat.UnknownReasons) > 0:
		return fmt.Errorf("the heartbeat says %+v", beat)
	case !s.isOpen():
		return errors.New("the chain isn't ready, or the venue isn't open")
	}
	return nil
}

// indexerStops stops the indexer's process for a while. It says nothing then, and keeps its connections.
func (s *clockSite) indexerStops() {
	s.t.Helper()
	s.kubelet.signal(syscall.SIGSTOP)
	s.until("the venue of a chain whose indexer is silent closes", func() bool {
		_, v := s.resources()
		return len(v.Status.Chains) == 1 && v.Status.Chains[0].State == v1alpha1.VenueClosed && v.Status.Chains[0].Reason == v1alpha1.ReasonIndexerDown
	})
	s.until("Synced says that the indexer is silent", func() bool { return s.isNotSynced(v1alpha1.ReasonUnreachable) })
	s.until("the heartbeat says that nobody knows of newer blocks", s.isSilent)
	s.kubelet.signal(syscall.SIGCONT)
	s.until("the venue opens again", s.isOpen)
	s.until("the API says that all is well again", s.isFresh)
}

// chainStops has the node answer nothing for a while.
func (s *clockSite) chainStops() {
	s.t.Helper()
	s.gate.all.Store(true)
	s.until("the heartbeat says that nobody knows of newer blocks", s.isSilent)
	s.until("Synced says that the chain may be further than its indexer", func() bool {
		return s.isNotSynced(v1alpha1.ReasonBehind, v1alpha1.ReasonEndpointUnreachable)
	})
	s.gate.all.Store(false)
	s.until("the chain is ready again", s.isOpen)
	s.until("the API says that all is well again", s.isFresh)
}

func (s *clockSite) isSilent() bool {
	beat, err := s.beat()
	return err == nil && beat.UnknownReasons["head_lag_s"] == contract.UnknownReasonStale && beat.Status != contract.HeartbeatStatusOk
}

func (s *clockSite) isNotSynced(reasons ...string) bool {
	c, _ := s.resources()
	synced := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionSynced)
	return synced != nil && synced.Status == metav1.ConditionFalse && slices.Contains(reasons, synced.Reason)
}

// settingsChange has the operator try something that is new for all indexers by a Job, and change the indexer, once.
func (s *clockSite) settingsChange() {
	s.t.Helper()
	started := s.kubelet.starts()
	s.writeSettings("podLabels: {changed: once}\n")
	s.until("the indexer has what is new for all of them", func() bool {
		d := s.indexer("base")
		return d != nil && d.Spec.Template.Labels["changed"] == "once" && s.kubelet.starts() > started
	})
	s.until("the chain is ready again", s.isOpen)
	if n := s.kubelet.starts() - started; n != 1 {
		s.t.Errorf("the indexer was started anew %d times for one change", n)
	}
}

// stays fails when something is wrong at one of the looks, a second apart, for some time.
func (s *clockSite) stays(while string, d time.Duration, wrong func() error) {
	s.t.Helper()
	for until := time.Now().Add(d); time.Now().Before(until); {
		if err := wrong(); err != nil {
			s.t.Fatalf("while %s: %v", while, err)
		}
	}
}

// leader is who holds the operators' Lease; empty for nobody.
func (s *clockSite) leader() string {
	s.t.Helper()
	var l coordinationv1.Lease
	err := s.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: controller.LeaseName}, &l)
	if client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func (s *clockSite) resources() (*v1alpha1.Chain, *v1alpha1.LaunchVenue) {
	s.t.Helper()
	var c v1alpha1.Chain
	var v v1alpha1.LaunchVenue
	if err := errors.Join(
		s.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "base"}, &c),
		s.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "boardwalk-curve"}, &v)); err != nil {
		s.t.Fatal(err)
	}
	return &c, &v
}

// beat is what the API's heartbeat says of the chain.
func (s *clockSite) beat() (contract.ChainHeartbeat, error) {
	time.Sleep(time.Second) // within the limit of a client
	var beat contract.Heartbeat
	if err := s.getJSON(s.api+"/api/status/heartbeat", &beat); err != nil {
		return contract.ChainHeartbeat{}, err
	}
	if len(beat.Chains) != 1 {
		return contract.ChainHeartbeat{}, fmt.Errorf("the heartbeat has %d chains", len(beat.Chains))
	}
	return beat.Chains[0], nil
}

// watch notes from now on each change of what a condition or a venue's state says. What is noted is to be had until the test ends.
func (s *clockSite) watch() (changes func() []string) {
	s.t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		s.t.Fatal(err)
	}
	c, err := client.NewWithWatch(s.kube.Config, client.Options{Scheme: scheme})
	if err != nil {
		s.t.Fatal(err)
	}
	var mu sync.Mutex
	last, noted := map[string]string{}, []string{}
	note := func(what, says string) {
		mu.Lock()
		defer mu.Unlock()
		if before, known := last[what]; known && before != says {
			noted = append(noted, fmt.Sprintf("%s: %s became %s", what, before, says))
		}
		last[what] = says
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	for _, list := range []client.ObjectList{&v1alpha1.ChainList{}, &v1alpha1.LaunchVenueList{}, &corev1.PodList{}} {
		w, err := c.Watch(ctx, list, client.InNamespace(s.namespace))
		if err != nil {
			s.t.Fatal(err)
		}
		go func() {
			for e := range w.ResultChan() {
				noteVerdicts(e.Object, note)
			}
		}()
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		if len(last) == 0 {
			return []string{"the watch has seen nothing"}
		}
		return slices.Clone(noted)
	}
}

// noteVerdicts tells what the status of a resource says, without its messages and times.
func noteVerdicts(o runtime.Object, note func(what, says string)) {
	var conditions []metav1.Condition
	kind := ""
	switch o := o.(type) {
	case *v1alpha1.Chain:
		kind, conditions = "Chain "+o.Name, o.Status.Conditions
	case *v1alpha1.LaunchVenue:
		kind, conditions = "LaunchVenue "+o.Name, o.Status.Conditions
		for _, on := range o.Status.Chains {
			note(kind+" on "+on.Chain, fmt.Sprintf("%s (%s)", on.State, on.Reason))
		}
	case *corev1.Pod:
		note("Pod "+o.Labels["boardwalk.dev/chain"], o.Name)
	}
	for _, c := range conditions {
		note(kind+" "+c.Type, fmt.Sprintf("%s (%s) since %s", c.Status, c.Reason, c.LastTransitionTime.UTC().Format(time.RFC3339)))
	}
}

// leads is an operator's metric of whether it leads; empty while it doesn't answer.
func (p *clockProcess) leads() string {
	text, err := getText(p.operations + "/metrics")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(text, "\nleader_election_master_status{")
	_, value, _ := strings.Cut(after, "} ")
	value, _, _ = strings.Cut(value, "\n")
	return value
}

func getText(address string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", address, res.Status)
	}
	body, err := io.ReadAll(res.Body)
	return string(body), err
}
