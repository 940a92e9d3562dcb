//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// volume is what the cluster has for the evaluation database's claim.
const volume = `apiVersion: v1
kind: PersistentVolume
metadata: {name: evaluation}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  local: {path: %q}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}
`

func (s step) helm(args ...string) string {
	s.Helper()
	out, err := s.Helm(s.ctx, append(args, "--namespace", namespace)...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

const chart = "../../charts/boardwalk"

func (s step) testInstall() {
	path := filepath.Join(s.Dir(), "volume")
	if err := os.Mkdir(path, 0o755); err != nil {
		s.Fatal(err)
	}
	if err := s.Apply(s.ctx, fmt.Sprintf(volume, path)); err != nil {
		s.Fatal(err)
	}
	s.before = s.objects()
	s.install(chart)
}

// install installs a chart with the values of the test, and some more.
func (s step) install(chart string, more ...string) {
	s.Helper()
	out := s.helm(append([]string{"install", "boardwalk", chart, "--wait", "--timeout", "5m", "-f", "values.yaml"}, more...)...)
	if !strings.Contains(out, "STATUS: deployed") {
		s.Errorf("helm says: %s", out)
	}
	s.eventually(10*time.Second, func() error { // kube-proxy's moment
		var version struct{ Commit string }
		return s.api("/api/version", &version)
	})
}

// objects are the names of all that stands in the namespace, but for what belongs to something else, comes and goes by itself
// or is part of every namespace.
func (s step) objects() []string {
	s.Helper()
	kinds := s.kubectl("api-resources", "--namespaced", "--verbs=list,delete", "-o", "name")
	var kept []string
	for kind := range strings.FieldsSeq(kinds) {
		if !slices.ContainsFunc([]string{"events", "endpoints", "pods", "replicasets.", "controllerrevisions."}, func(skip string) bool {
			return strings.HasPrefix(kind, skip)
		}) {
			kept = append(kept, kind)
		}
	}
	out := s.kubectl("get", strings.Join(kept, ","), "-o", "name", "--ignore-not-found")
	names := strings.Fields(out)
	slices.Sort(names)
	return names
}

// keeping does something to the release and looks whether what was indexed is still there and goes on.
func (s step) keeping(do func()) {
	s.Helper()
	block, trades := s.indexed(), s.rows("trades")
	do()
	if now := s.rows("trades"); now < trades {
		s.Errorf("%d trades are in the database, there were %d", now, trades)
	}
	if now := s.indexed(); now < block {
		s.Errorf("the indexer is at block %d, it was at %d", now, block)
	}
	s.beyond(block, time.Minute)
	s.awaitOpen(time.Minute)
	s.checkPrice()
}

func (s step) testUpgrade() {
	s.keeping(func() {
		s.helm("upgrade", "boardwalk", chart, "--wait", "--timeout", "5m", "-f", "values.yaml",
			"--set", "apiserver.replicas=2", "--set", "operator.logLevel=debug")
		if ready := s.kubectl("get", "deployment", apiService, "-o", "jsonpath={.status.readyReplicas}"); ready != "2" {
			s.Errorf("%s API servers are ready", ready)
		}
	})
}

func (s step) testRollback() {
	s.keeping(func() {
		s.helm("rollback", "boardwalk", "1", "--wait", "--timeout", "5m")
		if replicas := s.kubectl("get", "deployment", apiService, "-o", "jsonpath={.spec.replicas}"); replicas != "1" {
			s.Errorf("%s API servers are wanted after the rollback", replicas)
		}
	})
}

func (s step) testDatabaseRestart() {
	s.keeping(func() {
		s.kubectl("delete", "pod", "boardwalk-evaluation-db-0")
		s.kubectl("rollout", "status", "statefulset/boardwalk-evaluation-db", "--timeout=2m")
	})
}

func (s step) testChainDeleted() {
	s.last = s.indexed()
	s.kubectl("delete", "chain", "base")
	s.eventually(time.Minute, func() error {
		var kinds []string
		for _, kind := range append(slices.Clone(indexerObjects), "pods") {
			found, err := s.Kubectl(s.ctx, "get", kind, "-n", namespace, "-l", "boardwalk.dev/chain=base", "-o", "name")
			if err != nil {
				return err
			}
			kinds = append(kinds, strings.Fields(found)...)
		}
		if len(kinds) > 0 {
			return fmt.Errorf("%s is left", strings.Join(kinds, ", "))
		}
		return nil
	})
	s.eventually(20*time.Second, func() error {
		reason := s.kubectl("get", "launchvenue", "other", "-o", "jsonpath={.status.chains[0].reason}")
		if reason != "ChainNotFound" {
			return fmt.Errorf("a venue on it is closed for %q", reason)
		}
		return nil
	})
}

func (s step) testChainBack() {
	s.apply(s.chain)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
	if now := s.indexed(); now < s.last {
		s.Errorf("the indexer is at block %d, it was at %d before the Chain was deleted", now, s.last)
	}
	s.awaitOpen(time.Minute)
}

// testConduct looks back at everything that happened so far.
func (s step) testConduct() {
	denied, err := s.Denied(namespace)
	if err != nil {
		s.Fatal(err)
	}
	if len(denied) > 0 {
		s.Errorf("the API server denied what pods asked for:\n%s", strings.Join(denied, "\n"))
	}
	// Nobody but the sidecar that testRendererKilled killed was started again.
	restarts := s.kubectl("get", "pods", "-o", `jsonpath={range .items[*]}{.metadata.name}={.status.containerStatuses[*].restartCount}{"\n"}{end}`)
	for pod := range strings.FieldsSeq(restarts) {
		if !strings.HasSuffix(pod, "=0") {
			s.Errorf("a container of a pod was started again: %s", pod)
		}
	}
}

func (s step) testUninstall() {
	s.last = s.indexed()
	s.helm("uninstall", "boardwalk", "--wait", "--timeout", "3m")
	want := append(slices.Clone(s.before),
		"chain.boardwalk.dev/base", "launchvenue.boardwalk.dev/other", "launchvenue.boardwalk.dev/own", "launchvenue.boardwalk.dev/shut",
		"persistentvolumeclaim/data-boardwalk-evaluation-db-0")
	slices.Sort(want)
	s.eventually(time.Minute, func() error {
		if left := s.objects(); !slices.Equal(left, want) {
			return fmt.Errorf("left is\n%s\nwanted\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
	s.eventually(time.Minute, func() error {
		if pods := s.kubectl("get", "pods", "-o", "name"); strings.Contains(pods, "boardwalk") {
			return fmt.Errorf("pods are left: %s", pods)
		}
		return nil
	})
	s.kubectl("get", "crd", "chains.boardwalk.dev", "launchvenues.boardwalk.dev")
	for _, kind := range []string{"clusterroles", "clusterrolebindings"} {
		if found := s.kubectl("get", kind, "-o", "name"); strings.Contains(found, "boardwalk") {
			s.Errorf("the cluster has a %s of Boardwalk's: %s", kind, found)
		}
	}
}

// testReinstall finds the Chain, the venues and the database's claim of the installation before.
func (s step) testReinstall() {
	s.install(chart)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
	if now := s.indexed(); now < s.last {
		s.Errorf("the indexer is at block %d, it was at %d before Boardwalk was uninstalled", now, s.last)
	}
	s.awaitOpen(time.Minute)
	s.checkPrice()
}
