package operator

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	const apply = "application/apply-patch+yaml"
	for _, tt := range []struct{ method, target, contentType, verb, resource string }{
		{http.MethodGet, "/api", "", "get", "discovery"},
		{http.MethodGet, "/apis/apps/v1", "", "get", "discovery"},
		{http.MethodGet, "/apis/apps/v1/namespaces/n/deployments?limit=500", "", "list", "deployments"},
		{http.MethodGet, "/apis/apps/v1/namespaces/n/deployments?watch=true", "", "watch", "deployments"},
		{http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", "", "get", "leases"},
		{http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", "", "update", "leases"},
		{http.MethodPatch, "/api/v1/namespaces/n/configmaps/c?force=true", apply, "apply", "configmaps"},
		{http.MethodPatch, "/apis/boardwalk.dev/v1alpha1/namespaces/n/chains/base/status", "application/merge-patch+json", "patch", "chains/status"},
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/n/events", "", "create", "events"},
		{http.MethodDelete, "/api/v1/namespaces/n/services/s", "", "delete", "services"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "https://127.0.0.1"+tt.target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", tt.contentType)
		if verb, resource := whatIsAsked(req); verb != tt.verb || resource != tt.resource {
			t.Errorf("%s %s: %s %s, want %s %s", tt.method, tt.target, verb, resource, tt.verb, tt.resource)
		}
	}
}

func TestEachSample(t *testing.T) {
	t.Parallel()
	const text = "# TYPE a counter\na{verb=\"get\",resource=\"chains/status\"} 3\n# TYPE b gauge\nb 1.5e+06\n# TYPE c gauge\nc 1\n"
	got := map[string]float64{}
	note := func(label map[string]string, value float64) { got[label["verb"]+" "+label["resource"]] = value }
	if err := eachSample([]byte(text), map[string]func(map[string]string, float64){"a": note, "b": note, "d": note}); err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"get chains/status": 3, " ": 1.5e6}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := eachSample([]byte("a{ 3\n"), nil); err == nil {
		t.Error("what is broken is no error")
	}
}

func TestCountsLeaveTheLeaseOut(t *testing.T) {
	t.Parallel()
	before := &operatorCounts{requests: map[string]float64{"apply configmaps": 2, "list chains": 1}}
	after := &operatorCounts{UsageNow: lab.UsageNow{CPU: time.Second}, requests: map[string]float64{
		"apply configmaps": 2, "list chains": 1, "patch chains/status": 3, "create events": 1, "update leases": 5, "get leases": 5, "watch chains": 1,
	}}
	c := after.since(before)
	got := []float64{c.sum(isWrite), c.sum(isEvent), c.sum(isRead), c.sum(isLease), c.sum(isOwn)}
	if want := []float64{4, 1, 1, 10, 3}; !slices.Equal(got, want) {
		t.Errorf("writes, events, reads, leases, own writes are %v, want %v", got, want)
	}
}

func TestVenuesAreSpreadEvenly(t *testing.T) {
	t.Parallel()
	for _, z := range []siteSize{{50, 500}, {5, 50}} {
		on := map[int]int{}
		for v := range z.venues {
			for _, c := range z.chainsOf(v) {
				on[c]++
			}
		}
		for c := range z.chains {
			if on[c] != chainsOfAVenue*10 {
				t.Errorf("%s: chain %d has %d venues", z, c, on[c])
			}
		}
	}
}
