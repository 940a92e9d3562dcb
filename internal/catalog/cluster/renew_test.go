package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
)

// offline is a source that asks nobody: tests tell it what there is.
func offline(tb testing.TB) *Source {
	tb.Helper()
	s, err := New(&rest.Config{Host: "https://127.0.0.1:1"}, Options{
		Namespace: "test", Now: time.Now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// read is a manifest with some of it replaced: old, new, old, new …
func read(tb testing.TB, manifest string, replaced ...string) *unstructured.Unstructured {
	tb.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.NewReplacer(replaced...).Replace(manifest)), &u.Object); err != nil {
		tb.Fatal(err)
	}
	return u
}

// many are n chains, and ten venues for each.
func many(tb testing.TB, n int) (chains, venues []any) {
	tb.Helper()
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		chains = append(chains, read(tb, resolvetest.Good, "name: base", "name: "+id, "id: base", "id: "+id, "chainID: 8453", fmt.Sprintf("chainID: %d", i+1)))
		for j := range 10 {
			v := fmt.Sprintf("v%d-%d", i, j)
			venues = append(venues, read(tb, resolvetest.GoodVenue, "name: four-meme", "name: "+v, "id: four-meme", "id: "+v, "chain: base", "chain: "+id))
		}
	}
	return chains, venues
}

// TestABurstMakesFewCatalogues has 500 venues come at once.
func TestABurstMakesFewCatalogues(t *testing.T) {
	t.Parallel()
	s := offline(t)
	chains, venues := many(t, 50)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.renewals(ctx)
	if err := s.chains.Replace(chains, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.venues.Replace(nil, ""); err != nil {
		t.Fatal(err)
	}
	<-s.synced
	for _, v := range venues {
		if err := s.venues.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	made := 0
	for {
		now, changed := s.live.Changed()
		if len(now.Venues) == len(venues) {
			break
		}
		<-changed
		made++
	}
	if made > len(venues)/10 {
		t.Errorf("%d venues made %d catalogues", len(venues), made)
	}
	if got := len(s.live.Now().Chains); got != len(chains) {
		t.Errorf("%d of %d chains are served", got, len(chains))
	}
}

// BenchmarkRenew is what a change of one of 550 resources costs.
func BenchmarkRenew(b *testing.B) {
	s := offline(b)
	chains, venues := many(b, 50)
	if err := s.chains.Replace(chains, ""); err != nil {
		b.Fatal(err)
	}
	if err := s.venues.Replace(venues, ""); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.venues.Update(venues[0]); err != nil {
			b.Fatal(err)
		}
		s.renew(b.Context())
	}
	if got := len(s.live.Now().Venues); got != len(venues) {
		b.Errorf("%d of %d venues are served", got, len(venues))
	}
}
