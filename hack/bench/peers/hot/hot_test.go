package hot

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// TestMain is the child that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		os.Exit(lab.Main("test", Bare()))
	}
	os.Exit(m.Run())
}

// TestTurn keeps a bare router busy for a moment.
func TestTurn(t *testing.T) {
	t.Parallel()
	const path = "/api/market/live?chain=base"
	o := &hotOptions{connections: 2, Options: lab.Options{Duration: 50 * time.Millisecond, WarmUp: 10 * time.Millisecond, Clients: 10}}
	sample := &lab.Answer{Header: http.Header{"Content-Type": {"application/json"}, "Etag": {"x"}}, Body: []byte(`{"tokens":[]}`)}
	s, err := serveBare(t.Context(), t.TempDir(), bareOf(hotHeader, path, sample))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(func() error {
		r, err := o.turn(t.Context(), s, &lab.Database{}, o.Fresh(), path, sample)
		if err == nil && (r.perSecond < 1 || r.cpu <= 0 || r.peak < 1e6) {
			t.Errorf("it was %+v", r)
		}
		if a, err := lab.Fetch(t.Context(), s.Address, path); err != nil || a.Header.Get("Etag") != "x" {
			t.Errorf("its headers are %v, %v", a.Header, err)
		}
		other := &lab.Answer{Body: []byte("{}")}
		if _, err := o.turn(t.Context(), s, &lab.Database{}, o.Fresh(), path, other); err == nil || !strings.Contains(err.Error(), "differ") {
			t.Errorf("another body: %v", err)
		}
		if _, err := o.turn(t.Context(), s, &lab.Database{}, o.Fresh(), "/nowhere", nil); err == nil || !strings.Contains(err.Error(), "of 404") {
			t.Errorf("another path: %v", err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestHotTables(t *testing.T) {
	t.Parallel()
	runs := map[string][]hotRun{
		hotAPI:    {{perSecond: 80, cpu: 20 * time.Microsecond}, {perSecond: 90, cpu: 10 * time.Microsecond}},
		hotBare:   {{perSecond: 100, cpu: 10 * time.Microsecond}, {perSecond: 100, cpu: 9 * time.Microsecond}},
		hotHeader: {{perSecond: 100, cpu: 10 * time.Microsecond}, {perSecond: 200, cpu: 10 * time.Microsecond}},
	}
	tables := newHotTables()
	tables.add("/x", runs)
	var b strings.Builder
	if err := lab.WriteTables(&b, tables.figures, tables.ratios); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| /x | api | 85 | 15.0 | 0.00 | 0.00 |",
		"| /x | requests/s, api / bare | at least 0.8 | 0.850 | 0.80, 0.90 | met |",
		"| /x | CPU per request, bare / api | at least 0.8 | 0.700 | 0.50, 0.90 | **missed** |",
		"| /x | requests/s, api / bare+headers | at least 0.8 | 0.625 | 0.80, 0.45 | **missed** |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q isn't in\n%s", want, b.String())
		}
	}
}
