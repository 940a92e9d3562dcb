package controller

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// objectsOf are the objects of a chain's indexer, to be read.
func (w *world) objectsOf(id string) []client.Object {
	m := metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName(id)}
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: m}, &corev1.ServiceAccount{ObjectMeta: m}, &corev1.Service{ObjectMeta: m},
		&networkingv1.NetworkPolicy{ObjectMeta: m}, &policyv1.PodDisruptionBudget{ObjectMeta: m}, &appsv1.Deployment{ObjectMeta: m},
	}
}

// owned waits until a chain has all its objects.
func (w *world) owned(c *v1alpha1.Chain) {
	w.t.Helper()
	eventually(w.t, func() error {
		for _, o := range w.objectsOf(c.Spec.ID) {
			if err := w.get(o); err != nil {
				return err
			}
			if owner := metav1.GetControllerOf(o); owner == nil || owner.UID != c.UID {
				return fmt.Errorf("%T belongs to %+v", o, owner)
			}
		}
		return nil
	})
}

func TestAChainGetsAnIndexerAndBecomesReady(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.owned(c)
	w.kubectl("wait", "--for=condition=Ready", "chain/base", "--timeout="+limit.String())
	w.become(c, "Accepted True Accepted", "Available True IndexerRunning", "Synced True AtHead", "Ready True Ready")
	if c.Status.Lag != v1alpha1.LagUnder15s || c.Status.ObservedGeneration != c.Generation {
		t.Errorf("the status is %+v", c.Status)
	}
	if up := op.metric(t, "boardwalk_indexer_up"); up["base"] != 1 {
		t.Errorf("up: %v", up)
	}

	// Another document rolls the Deployment once, a change of something else doesn't.
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName("base")}}
	replicaSets := func() int {
		var l appsv1.ReplicaSetList
		if err := w.List(t.Context(), &l, client.InNamespace(w.namespace)); err != nil {
			t.Fatal(err)
		}
		return len(l.Items)
	}
	if err := w.get(deployment); err != nil {
		t.Fatal(err)
	}
	document := deployment.Spec.Template.Annotations[workload.AnnotationDocument]
	w.patch(c, `{"spec":{"order":7}}`)
	w.become(c, "Ready True Ready")
	w.patch(c, `{"spec":{"rpc":{"endpoints":[{"url":"https://other.example"}]}}}`)
	eventually(t, func() error {
		if err := w.get(deployment); err != nil {
			return err
		}
		if d := deployment.Status; deployment.Spec.Template.Annotations[workload.AnnotationDocument] == document ||
			d.ObservedGeneration != deployment.Generation || d.UpdatedReplicas != 1 || d.AvailableReplicas != 1 || d.Replicas != 1 {
			return fmt.Errorf("generation %d: %+v", deployment.Generation, d)
		}
		return nil
	})
	w.become(c, "Ready True Ready")
	if n := replicaSets(); n != 2 {
		t.Errorf("%d ReplicaSets; want 2", n)
	}
}

func (w *world) kubectl(args ...string) {
	w.t.Helper()
	path, err := kubetest.Tool(w.t.Context(), "kubectl")
	if err != nil {
		w.t.Fatal(err)
	}
	command := exec.CommandContext(w.t.Context(), path, append(args, "--kubeconfig="+w.cluster.Kubeconfig, "--namespace="+w.namespace)...)
	command.Env = []string{"HOME=" + filepath.Dir(w.cluster.Kubeconfig)}
	if out, err := command.CombinedOutput(); err != nil {
		w.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestConditionsOfAChain(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		id     string
		change func(c *v1alpha1.Chain)
		says   []func(s *chainconfig.State)
		silent bool
		lag    v1alpha1.Lag
		want   []string
	}{
		{
			id: "ready", lag: v1alpha1.LagUnder15s,
			want: []string{"Accepted True Accepted", "Available True IndexerRunning", "Synced True AtHead", "Ready True Ready"},
		},
		{
			id: "checksum", change: func(c *v1alpha1.Chain) { c.Spec.QuoteAssets[0].Address = "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913" },
			want: []string{
				"Accepted False Invalid 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 would be right", "Available False NotAccepted",
				"Synced False NotAccepted", "Ready False Invalid", "AsDeclared Unknown NotAccepted",
			},
		},
		{
			id: "suspended", change: func(c *v1alpha1.Chain) { c.Spec.Suspend = true },
			want: []string{"Accepted True Accepted", "Available False Suspended", "Synced False Suspended", "Ready True Suspended"},
		},
		{
			id: "nowhere", change: func(c *v1alpha1.Chain) { c.Spec.Indexer.NodeSelector = map[string]v1alpha1.LabelValue{"nowhere": "x"} },
			lag:  v1alpha1.LagUnder15s,
			want: []string{"Available False Unschedulable", "Synced True AtHead", "Ready False Unschedulable no node takes the indexer's pod"},
		},
		{
			id: "halted", says: []func(s *chainconfig.State){inPhase(chainconfig.PhaseHalted, "reorg deeper than 64 blocks")}, lag: v1alpha1.LagUnder15s,
			want: []string{"Available True IndexerRunning", "Synced False Halted reorg deeper than 64 blocks", "Ready False Halted"},
		},
		{
			id: "behind", says: []func(s *chainconfig.State){behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no node answers")},
			lag:  v1alpha1.LagMore,
			want: []string{"Available True IndexerRunning", "Synced False Behind no node answers", "Ready False Behind more than 2m0s behind"},
		},
		{
			id: "missing", lag: v1alpha1.LagMore,
			says: []func(s *chainconfig.State){behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no endpoint has block 10"), func(s *chainconfig.State) {
				s.Missing = &chainconfig.MissingRange{First: 10, Last: 12}
			}},
			want: []string{"Synced False RangeMissing no endpoint has the blocks 10 to 12", "Ready False RangeMissing add one that has them"},
		},
		{
			id: "near", says: []func(s *chainconfig.State){behindBy(time.Minute)}, lag: v1alpha1.LagUnder2m,
			want: []string{"Synced True AtHead", "Ready True Ready"},
		},
		{
			id:     "strict",
			change: func(c *v1alpha1.Chain) { c.Spec.Indexer.MaxLag = &metav1.Duration{Duration: 30 * time.Second} },
			says:   []func(s *chainconfig.State){behindBy(time.Minute)}, lag: v1alpha1.LagUnder2m,
			want: []string{"Synced False Behind more than 30s behind", "Ready False Behind"},
		},
		{
			id: "past", says: []func(s *chainconfig.State){behindBy(time.Hour), inPhase(chainconfig.PhaseBackfilling, "")}, lag: v1alpha1.LagMore,
			want: []string{"Synced False CatchingUp", "Ready False CatchingUp"},
		},
		{
			id: "small-plan", says: []func(s *chainconfig.State){beyond("10 calls a day would suffice")}, lag: v1alpha1.LagUnder15s,
			want: []string{"Synced True AtHead 10 calls a day would suffice", "Ready True Ready 10 calls a day would suffice"},
		},
		{
			id: "spent-plan", lag: v1alpha1.LagMore,
			says: []func(s *chainconfig.State){
				behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no endpoint answers"), beyond("10 calls a day would suffice"),
			},
			want: []string{"Synced False Behind more than 2m0s behind, or hasn't read a block yet: 10 calls a day would suffice", "Ready False Behind"},
		},
		{
			id: "slow-plan", lag: v1alpha1.LagMore,
			says: []func(s *chainconfig.State){
				behindBy(time.Hour), inPhase(chainconfig.PhaseBackfilling, ""), beyond("10 calls a second would suffice"),
			},
			want: []string{"Synced False Behind : 10 calls a second would suffice", "Ready False Behind"},
		},
		{
			id: "young", says: []func(s *chainconfig.State){func(s *chainconfig.State) { s.Phase, s.Head, s.Indexed = chainconfig.PhaseStarting, nil, nil }},
			want: []string{"Available True IndexerRunning", "Synced False IndexerStarting hasn't read a block yet", "Ready False IndexerStarting"},
		},
		{
			id: "silent", silent: true,
			want: []string{"Available True IndexerRunning", "Synced False Unreachable the indexer doesn't answer: EOF", "Ready False Unreachable", "AsDeclared Unknown Unreachable"},
		},
	}
	w.run()
	chains := make([]*v1alpha1.Chain, len(tests))
	for i, tt := range tests {
		if !tt.silent {
			w.indexers.says(tt.id, tt.says...)
		}
		chains[i] = w.chain(tt.id, int64(i+1), func(c *v1alpha1.Chain) {
			if tt.change != nil {
				tt.change(c)
			}
		})
	}
	w.runOutOfPatience("silent")
	for i, tt := range tests {
		w.become(chains[i], tt.want...)
		eventually(t, func() error {
			if err := w.get(chains[i]); err != nil {
				return err
			}
			if got := chains[i].Status.Lag; got != tt.lag {
				return fmt.Errorf("the lag of %s is %q; want %q", tt.id, got, tt.lag)
			}
			return nil
		})
	}
	for _, o := range w.objectsOf("checksum") {
		if err := w.gone(o); err != nil {
			t.Errorf("a chain that isn't accepted has objects: %v", err)
		}
	}
	suspended := w.objectsOf("suspended")[5].(*appsv1.Deployment) //nolint:errcheck // it is what it was made
	if err := w.get(suspended); err != nil || *suspended.Spec.Replicas != 0 {
		t.Errorf("a suspended chain's Deployment: %v, %+v", err, suspended.Spec.Replicas)
	}
	if n := w.indexers.times("suspended") + w.indexers.times("checksum"); n > 0 {
		t.Errorf("indexers that don't run were asked %d times", n)
	}
}

// declares makes an indexer say what the nodes answered of the document that it runs on, which is given by its hash.
func declares(document string, d chainconfig.Declaration) func(s *chainconfig.State) {
	return func(s *chainconfig.State) { s.Document, s.Declaration = document, d }
}

// hash is the hash of the document that a chain's indexer is given.
func (w *world) hash(id string) string {
	w.t.Helper()
	_, hash, err := w.document(id).Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	return hash
}

// TestWhetherAChainIsAsDeclared follows one chain through what its indexer may say of the declared addresses. None of it makes the chain less ready.
func TestWhetherAChainIsAsDeclared(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready", "AsDeclared Unknown NotAsked isn't running on this declaration yet")
	hash := w.hash("base")
	long := strings.Repeat("x", 600)
	for _, tt := range []struct {
		says chainconfig.Declaration
		want string
	}{
		{chainconfig.Declaration{}, "AsDeclared Unknown NotAsked the chain's nodes haven't been asked yet"},
		{chainconfig.Declaration{Unasked: "no endpoint answers"}, "AsDeclared Unknown NotAsked no endpoint answers"},
		{chainconfig.Declaration{Checked: true}, "AsDeclared True AsDeclared"},
		{chainconfig.Declaration{Checked: true, Look: []string{"another symbol"}}, "AsDeclared True AsDeclared see whether this is right: another symbol"},
		{chainconfig.Declaration{Wrong: []string{"factory of x: it isn't there"}, Unasked: "some"}, "AsDeclared False WrongDeclaration factory of x: it isn't there"},
		{
			chainconfig.Declaration{Checked: true, Wrong: []string{"locker: it isn't there", long, long, "lost"}},
			"AsDeclared False WrongDeclaration locker: it isn't there; xxx",
		},
	} {
		w.clock.advance(lagPause) // a message alone is written once in half a minute
		w.indexers.says("base", declares(hash, tt.says))
		w.become(c, tt.want, "Ready True Ready")
	}
	if got := meta.FindStatusCondition(*conditions(c), v1alpha1.ConditionAsDeclared); len(got.Message) > 1100 || !strings.HasSuffix(got.Message, "…") {
		t.Errorf("a long message is not cut: %d bytes", len(got.Message))
	}
	w.told(c, map[string]int{
		"Normal Ready ready": 1, "Warning WrongDeclaration factory of x: it isn't there": 1,
	})

	// After a start of the operator what was said stands, though the indexer hasn't answered yet.
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}
	w.indexers.does("base", nil)
	w.run()
	w.indexers.rounds(t, "base", 5)
	w.become(c, "AsDeclared False WrongDeclaration locker")
	w.indexers.says("base", declares(hash, chainconfig.Declaration{Checked: true}))
	w.become(c, "AsDeclared True AsDeclared")

	// After a change of the declaration, the answer about the former one no longer counts.
	w.patch(c, `{"spec":{"tracking":{"minLiquidityUSD":"77"}}}`)
	w.become(c, "AsDeclared Unknown NotAsked isn't running on this declaration yet", "Ready True Ready")
	w.indexers.says("base", declares(w.hash("base"), chainconfig.Declaration{Checked: true}))
	w.become(c, "AsDeclared True AsDeclared")
	w.patch(c, `{"spec":{"suspend":true}}`)
	w.become(c, "AsDeclared Unknown Suspended", "Ready True Suspended")
}

// TestGenerationsOfAChain follows a chain that is indexed anew. None of it makes the chain less ready.
func TestGenerationsOfAChain(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready", "Reindexing Unknown IndexerStarting")
	says := func(served int64, next *chainconfig.Reindexing) func(s *chainconfig.State) {
		return func(s *chainconfig.State) {
			s.Generation, s.Reindexing, s.Head.Number, s.Indexed.Number = served, next, 1100, 1100
		}
	}
	w.indexers.says("base", says(1, nil))
	w.become(c, "Reindexing False Served generation 1 is served", "Ready True Ready")
	next := func(phase chainconfig.Phase, indexed uint64, message string) *chainconfig.Reindexing {
		out := &chainconfig.Reindexing{Generation: 2, Phase: phase, Message: message, First: 100}
		if indexed > 0 {
			out.Indexed = &chainconfig.Block{Number: indexed}
		}
		return out
	}
	effort := func(f chainconfig.Family, r *chainconfig.Reindexing, last uint64, bytes int64) *chainconfig.Reindexing {
		e := chainconfig.EffortOf(f, r.First, last, bytes)
		r.Effort = &e
		return r
	}
	for _, tt := range []struct {
		next *chainconfig.Reindexing
		want string
	}{
		{next(chainconfig.PhaseStarting, 0, ""), "Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 0 % of the blocks"},
		{
			effort(chainconfig.EVM, next(chainconfig.PhaseStarting, 0, ""), 1099, 123_400_000),
			"Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 0 % of the blocks. In all it takes some 2 calls " +
				"for 1000 blocks, where a node gives the logs of 1000 at once (20 times as many where it gives those of 50, and more where it takes few topics), and about 123 MB on the disk until the former rows are deleted",
		},
		{effort("", next(chainconfig.PhaseBackfilling, 400, ""), 1100, 123_400_000), "Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 30 % of the blocks. In all it takes some 4 calls for 1001 blocks"},
		{
			effort(chainconfig.Solana, next(chainconfig.PhaseBackfilling, 400, ""), 1099, 123_400_000),
			"Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 30 % of the blocks. In all it takes some 1002 calls " +
				"for 1000 slots (one for each slot that has a block, one for each 512 slots, and a tenth more where there are several endpoints), which bring some 16 GB " +
				"where blocks are as long as on the mainnet, or a fifth of that where nodes compress, and about 123 MB on the disk until the former rows are deleted",
		},
		{next(chainconfig.PhaseBackfilling, 199, ""), "Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 0 %"},
		{next(chainconfig.PhaseBackfilling, 200, ""), "Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 10 %"},
		{next(chainconfig.PhaseFailing, 300, "no endpoint answers"), "Reindexing True Interrupted generation 2 is indexed beside generation 1, which is served: no endpoint answers"},
		{next(chainconfig.PhaseHalted, 300, "too deep"), "Reindexing True Halted generation 2 is indexed beside generation 1, which is served: too deep"},
		{next(chainconfig.PhaseHalted, 300, "deeper still"), "Reindexing True Halted generation 2 is indexed beside generation 1, which is served: deeper still"},
		{next(chainconfig.PhaseWaiting, 300, ""), "Reindexing True Interrupted generation 2 is indexed beside generation 1, which is served: it waits for another process"},
		{next(chainconfig.PhaseFollowing, 1200, ""), "Reindexing True Indexing generation 2 is indexed beside generation 1, which is served: it has about 100 %"},
	} {
		w.clock.advance(lagPause) // a message alone is written once in half a minute
		w.indexers.says("base", says(1, tt.next))
		w.become(c, tt.want, "Ready True Ready")
	}
	w.indexers.says("base", says(2, nil))
	w.become(c, "Reindexing False Served generation 2 is served", "Ready True Ready")
	w.told(c, map[string]int{
		"Normal Ready ready": 1, "Warning Halted generation 2 is indexed beside generation 1, which is served: too deep": 1,
		"Normal Served generation 2 is served": 1,
	})

	before := w.hash("base")
	w.patch(c, `{"spec":{"indexer":{"generation":2,"facts":"Asked"}}}`)
	eventually(t, func() error {
		if w.hash("base") == before {
			return errors.New("the indexer isn't given the generation")
		}
		return nil
	})
	if d := w.document("base"); d.Generation != 2 || !d.AskAnew {
		t.Errorf("the indexer is given generation %d, asked anew %v", d.Generation, d.AskAnew)
	}
	w.patch(c, `{"spec":{"suspend":true}}`)
	w.become(c, "Reindexing Unknown Suspended", "Ready True Suspended")
}

func TestHostileIndexers(t *testing.T) {
	w := newWorld(t)
	redirected := w.indexers.URL + "/elsewhere"
	tests := []struct {
		id     string
		answer http.HandlerFunc
		want   string
	}{
		{"huge", func(w http.ResponseWriter, _ *http.Request) { write(w, `{"chain":"`+strings.Repeat("x", 5<<20)) }, "its state is longer than 1048576 bytes"},
		{"garbage", func(w http.ResponseWriter, _ *http.Request) { write(w, `<html>`) }, "its state can't be read: invalid character"},
		{"types", func(w http.ResponseWriter, _ *http.Request) { write(w, `{"chain":7}`) }, "its state can't be read: json: cannot unmarshal"},
		{"empty", func(http.ResponseWriter, *http.Request) {}, "its state can't be read: EOF"},
		{"other", func(w http.ResponseWriter, _ *http.Request) { write(w, `{"chain":"bsc"}`) }, `another one answers in its place: it says that its chain is "bsc"`},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, redirected, http.StatusFound) }, "it answers 302 Found"},
		{"broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "it answers 500"},
		{"headers", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, "net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes"},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within 2s"},
	}
	w.run(func(o *Options) { o.probeTimeout = probeTimeout })
	ids := make([]string, len(tests))
	chains := make([]*v1alpha1.Chain, len(tests))
	for i, tt := range tests {
		w.indexers.does(tt.id, tt.answer)
		ids[i], chains[i] = tt.id, w.chain(tt.id, int64(i+1))
	}
	w.indexers.says("fine")
	fine := w.chain("fine", 99)
	w.become(fine, "Ready True Ready")
	w.runOutOfPatience(ids...)
	for i, tt := range tests {
		eventually(t, func() error {
			w.clock.advance(lagPause) // it failed in another way first, perhaps, and a message alone is written once in half a minute
			return w.is(chains[i], "Synced False Unreachable the indexer doesn't answer: "+tt.want)
		})
		if m := (*conditions(chains[i]))[2].Message; len(m) > 300 {
			t.Errorf("%s: the message has %d bytes", tt.id, len(m))
		}
	}
	w.become(fine, "Ready True Ready")
	if n := w.indexers.times("elsewhere"); n > 0 {
		t.Error("a redirection was followed")
	}
}

func TestTheOldestOfTwoWinsAndTheYoungerTakesOver(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		id      string
		number  int64
		message string
	}{
		{v1alpha1.ReasonDuplicateID, "base", 1, `Chain a-older has the same spec.id "base" and was there first`},
		{v1alpha1.ReasonDuplicateChainID, "other", 8453, "Chain a-older has the same spec.chainID 8453 and was there first"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			w := newWorld(t)
			w.run()
			w.indexers.says("base")
			w.indexers.says("other")
			older := w.chain("base", 8453, func(c *v1alpha1.Chain) { c.Name = "a-older" })
			younger := w.chain(tt.id, tt.number, func(c *v1alpha1.Chain) { c.Name = "b-younger" })
			w.become(younger, "Accepted False "+tt.reason+" "+tt.message, "Available False NotAccepted", "Ready False "+tt.reason)
			w.become(older, "Ready True Ready")
			w.owned(older)
			v := w.venue("four-meme", []string{"a-older", "b-younger"})
			w.stand(v, "a-older Open", "b-younger ChainNotAccepted Chain b-younger isn't accepted: Chain a-older has the same")

			w.remove(older)
			w.become(younger, "Accepted True Accepted", "Ready True Ready")
			w.owned(younger)
			w.stand(v, "a-older ChainNotFound", "b-younger Open")
		})
	}
}

func TestAForeignObjectInTheWayIsLeftAloneAndReported(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: workload.ObjectName("base")}, Data: map[string]string{"mine": "yes"}}
	w.create(foreign)
	c := w.chain("base", 8453)
	w.become(c, "Accepted True Accepted", "Available False Conflict ConfigMap boardwalk-indexer-base isn't Boardwalk's: rename or delete it",
		"Ready False Conflict")
	w.indexers.rounds(t, "base", 5)
	if err := w.get(foreign); err != nil || foreign.Data["mine"] != "yes" || len(foreign.Data) != 1 || len(foreign.OwnerReferences) > 0 {
		t.Errorf("%v: it has become %+v", err, foreign)
	}
	if n := op.to("/base/status"); n > 5 {
		t.Errorf("the status was written %d times", n)
	}
	w.remove(foreign)
	w.owned(c)
	w.become(c, "Ready True Ready")
}

func TestWhatTheAPIServerRefusesIsReportedAndTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	quota := w.quota("count/services")
	c := w.chain("base", 8453)
	w.become(c, "Accepted True Accepted", "Available False ApplyFailed exceeded quota: none", "Ready False ApplyFailed apply Service boardwalk-indexer-base")
	if m := (*conditions(c))[1].Message; strings.Contains(m, "\n") {
		t.Errorf("the message has several lines: %q", m)
	}
	w.remove(quota)
	w.owned(c)
	w.become(c, "Ready True Ready")
}

// quota allows none of something, as soon as it returns.
func (w *world) quota(of corev1.ResourceName) *corev1.ResourceQuota {
	w.t.Helper()
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{of: resource.MustParse("0")}},
	}
	w.create(q)
	eventually(w.t, func() error {
		if err := w.get(q); err != nil || len(q.Status.Hard) == 0 || len(q.Status.Used) == 0 {
			return errors.Join(err, errors.New("the quota isn't counted yet"))
		}
		return nil
	})
	return q
}

func TestAnIndexerWhosePodIsRefusedIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	w.quota("pods")
	c := w.chain("base", 8453)
	w.become(c, "Available False IndexerUnavailable exceeded quota: none", "Synced True AtHead", "Ready False IndexerUnavailable")
}

func TestADeletedChainTakesItsObjectsAlongAndNothingElse(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	w.indexers.says("bsc")
	base, bsc := w.chain("base", 8453), w.chain("bsc", 56)
	bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: workload.ObjectName("base") + "-notes"}}
	w.create(bystander)
	w.become(base, "Ready True Ready")
	w.become(bsc, "Ready True Ready")
	w.remove(base)
	eventually(t, func() error {
		for _, o := range w.objectsOf("base") {
			if err := w.gone(o); err != nil {
				return err
			}
		}
		return nil
	})
	w.owned(bsc)
	w.become(bsc, "Ready True Ready")
	if err := w.get(bystander); err != nil {
		t.Error(err)
	}
	// Nobody asks it any longer, nor is it measured.
	eventually(t, func() error {
		if up := op.metric(t, "boardwalk_indexer_up"); len(up) != 1 || up["bsc"] != 1 {
			return fmt.Errorf("up: %v", up)
		}
		return nil
	})
	w.indexers.rounds(t, "bsc", 2)
	before := w.indexers.times("base")
	w.indexers.rounds(t, "bsc", 3)
	if after := w.indexers.times("base"); after != before {
		t.Errorf("the indexer was asked %d times after its chain had gone", after-before)
	}
}

func TestSuspendingStopsTheIndexerAndItComesBack(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
	w.patch(c, `{"spec":{"suspend":true}}`)
	w.become(c, "Available False Suspended", "Synced False Suspended", "Ready True Suspended")
	w.stand(v, "base ChainSuspended")
	w.indexers.does("base", nil)
	w.patch(c, `{"spec":{"suspend":false}}`)
	w.become(c, "Available True IndexerRunning", "Synced Unknown IndexerStarting", "Ready False IndexerStarting")
	w.indexers.says("base")
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
}

// An edit that makes no sense leaves the indexer as it is and the venues open, unless the chain is to be suspended.
func TestAnAcceptedChainThatIsSpoiltKeepsItsIndexer(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c, v := w.chain("base", 8453), w.venue("four-meme", []string{"base"})
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
	good := string(c.Spec.QuoteAssets[0].Address)
	assets := func(first string) string {
		return `{"spec":{"quoteAssets":[{"symbol":"USDC","address":"` + first + `"}]}}`
	}
	w.patch(c, assets("0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"))
	w.become(c, "Accepted False Invalid served as it was last accepted: spec.quoteAssets[0].address", "Available True IndexerRunning",
		"Synced True AtHead", "Ready False Invalid")
	w.owned(c)
	w.stand(v, "base Open")
	w.patch(c, `{"spec":{"suspend":true}}`)
	w.become(c, "Accepted False Invalid last accepted", "Available False Suspended")
	w.stand(v, "base ChainSuspended")
	eventually(t, func() error {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName("base")}}
		if err := w.get(d); err != nil {
			return err
		}
		if n := *d.Spec.Replicas; n != 0 {
			return fmt.Errorf("%d replicas are wanted", n)
		}
		return nil
	})
	w.patch(c, `{"spec":{"suspend":false}}`)
	w.patch(c, assets(good))
	w.become(c, "Ready True Ready")
}
