package cmd

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestWhereChainsAreDeclared gives the flags that can't be meant.
func TestWhereChainsAreDeclared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given declaration
		want  []string
	}{
		"neither":            {declaration{}, []string{"-f DIR", "--from-cluster"}},
		"both":               {declaration{dirs: []string{"../config/samples"}, fromCluster: true}, []string{"-f and --from-cluster exclude each other"}},
		"-f and a namespace": {declaration{dirs: []string{"../config/samples"}, cluster: cluster{namespace: "x"}}, []string{"--namespace", "for --from-cluster"}},
		"no such kubeconfig": {declaration{fromCluster: true, cluster: cluster{kubeconfig: "nowhere"}}, []string{"--kubeconfig nowhere"}},
		"no manifests":       {declaration{dirs: []string{t.TempDir()}}, []string{"no manifest"}},
	} {
		_, err := c.given.open(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		if err == nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
	from, err := (&declaration{dirs: []string{"../config/samples"}}).open(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil || len(from.Catalog().Now().Chains) != 9 || from.Ready() != nil {
		t.Errorf("the samples: %v", err)
	}
}
