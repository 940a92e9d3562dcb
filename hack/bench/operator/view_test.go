package operator

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestConverged brings what the watch shows of a site to where all is well.
func TestConverged(t *testing.T) {
	t.Parallel()
	s := &operatorSite{size: siteSize{3, 3}, namespace: "n", view: &clusterView{objects: map[string]client.Object{}, changed: make(chan struct{}, 1)}}
	wants := func(part string) {
		t.Helper()
		if not := s.converged(s.view); not != part && (part == "" || !strings.Contains(not, part)) {
			t.Errorf("it says %q, want %q", not, part)
		}
	}
	wants("0 of 3 chains")
	ready := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: 2}}
	}
	for i := range 3 {
		c, v := s.chain(i), s.venue(i)
		c.Generation, c.Status.ObservedGeneration, c.Status.Lag, c.Status.Conditions = 2, 2, v1alpha1.LagUnder15s, ready("Following")
		v.Generation, v.Status.Conditions = 2, ready(v1alpha1.ReasonOpen)
		v.Status.Open, v.Status.Chains = "3/3", make([]v1alpha1.VenueChainStatus, 3)
		s.view.saw(c)
		s.view.saw(v)
	}
	wants("")
	if since, err := s.view.until(t.Context(), "test", time.Minute, time.Millisecond, s.converged); err != nil || since.IsZero() {
		t.Errorf("since %s: %v", since, err)
	}
	c := get[*v1alpha1.Chain](s.view, chainName(1))
	c.Generation = 3
	wants("Chain chain-001: condition Ready")
	c.Generation, c.Status.Lag = 2, "1m"
	wants(`Chain chain-001 has lag "1m"`)
	if _, err := s.view.until(t.Context(), "test", 20*time.Millisecond, time.Millisecond, s.converged); err == nil || !strings.Contains(err.Error(), "lag") {
		t.Errorf("it converged: %v", err)
	}
	s.view.saw(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Generation: 7}})
	if n := s.view.generation(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}); n != 7 {
		t.Errorf("the deployment's generation is %d", n)
	}
}

// TestStandInIndexers has an indexer fall silent, and a venue's contract pause.
func TestStandInIndexers(t *testing.T) {
	t.Parallel()
	x := startStandInIndexers()
	defer x.Close()
	path := statePath("n", "base")
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		x.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, _ := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("an unknown chain: %d", code)
	}
	x.change(func() { x.venues[path] = []chainconfig.Venue{{ID: "v"}} })
	if code, body := ask(); code != http.StatusOK || !strings.Contains(body, `"base"`) || strings.Contains(body, "0x0000000000000000000000000000000000000001") {
		t.Errorf("%d: %s", code, body)
	}
	x.change(func() { x.paused[path+" v"] = true })
	if code, body := ask(); code != http.StatusOK || !strings.Contains(body, "0x0000000000000000000000000000000000000001") {
		t.Errorf("%d: %s", code, body)
	}
	x.change(func() { x.down[path] = true })
	if code, _ := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("one that is down: %d", code)
	}
}

// TestOperatorReport writes what two rounds gave.
func TestOperatorReport(t *testing.T) {
	t.Parallel()
	run := func(writes, reconciles float64) changeRun {
		return changeRun{took: time.Second, operatorCounts: &operatorCounts{
			requests: map[string]float64{"apply configmaps": writes, "update leases": 9}, reconciles: map[string]float64{"chain": reconciles},
		}}
	}
	r := &operatorReport{
		sizes: []siteSize{{5, 50}, {50, 500}}, converged: []changeRun{run(1, 2), run(3, 4)}, rest: []changeRun{run(0, 0), run(0, 0)},
		used: &lab.Reading{Wall: time.Second, Own: time.Second, All: 3 * time.Second}, changes: make([][2][]changeRun, len(oneChanges)),
	}
	for i := range oneChanges {
		r.changes[i] = [2][]changeRun{{run(4, 10), run(4, 12)}, {run(4, 12), run(float64(4+i), 12)}}
	}
	var b strings.Builder
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 50 + 500 | 1.0 | 3 | 0 | 4 | 0.00 | 0 | 0 |",
		"| apply configmaps | 1 | 3 |",
		"| 5 + 50 | 1.0 | 0 | 9 | 0 | 0 | 0.0 | 0 |",
		"| one change, 5 + 50 → 50 + 500 |",
		"| a Chain's metadata is labelled | 4 → 4 | 11 → 12 | 1.00 → 1.00 | 0 → 0 | 10, 12 → 12, 12 | met |",
		"| it goes on | 4 → 7 | 11 → 12 | 1.00 → 1.00 | 0 → 0 | 10, 12 → 12, 12 | **missed** |",
		"used 1.0 cores on average, other programs 2.0.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q isn't in\n%s", want, b.String())
		}
	}
}
