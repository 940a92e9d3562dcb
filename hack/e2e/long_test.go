//go:build e2e && long && linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/boardwalkhq/boardwalk/hack/e2e/node"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

// formerRevision is the version from which the test upgrades: the last one before packages of the API server and of the store were moved. Its database has
// schema 17, its operator no file of the indexers.
const formerRevision = "1c993ef"

// The images of that version, and of this one with an indexer that doesn't run.
const (
	formerImage = "boardwalk:e2e-former"
	brokenImage = "boardwalk:e2e-broken"
)

// months is what an installation meets in months.
type months struct {
	// former is a checkout of formerRevision.
	former string
	// disk has the evaluation database.
	disk *node.Disk
}

// TestMonthsOnARealNode goes from the former version to this one and back, and then through what breaks: `make e2e-long`.
func TestMonthsOnARealNode(t *testing.T) {
	c := newCluster(t)
	m := &months{}
	c.measure(t, "former version", func() error { return m.buildFormer(c, t.TempDir()) })
	c.measure(t, "broken version", func() error { return loadBroken(c, t.TempDir()) })
	for _, s := range []struct {
		name string
		do   func(step)
	}{
		{"the namespace refuses what isn't restricted", step.testNamespace},
		{"a chain runs in the cluster", step.testAnvil},
		{"the chain has a past", step.testPast},

		{"the former version installs", m.testInstallFormer},
		{"a Chain gets an indexer", step.testChain},
		{"the indexer follows the chain", step.testFollowing},
		{"the API answers from what was indexed", step.testAPI},
		{"venues open", step.testVenuesOpen},
		{"an upgrade to this version fails no answer", m.testUpgrade},
		{"a rollback to the former one fails none", m.testRollback},
		{"another upgrade fails none", m.testUpgrade},

		{"a drained node fails no answer", m.testDrain},
		{"more chains come", m.testMoreChains},
		{"an operator killed in a rollout goes on with it", m.testOperatorKilled},
		{"a broken image stops at one indexer", m.testBrokenImage},
		{"a database that falls silent is told", m.testSilence},
		{"a full disk of the database costs nothing", m.testFullDisk},
	} {
		c.run(t, s.name, s.do)
	}
}

// buildFormer builds the images of formerRevision from its own sources, and loads them.
func (m *months) buildFormer(c *cluster, dir string) error {
	m.former = filepath.Join(dir, "former")
	for _, args := range [][]string{
		{"git", "clone", "--quiet", "--shared", "--no-checkout", ".", m.former},
		{"git", "-C", m.former, "checkout", "--quiet", formerRevision},
	} {
		if err := inRoot(c.ctx, args[0], args[1:]...); err != nil {
			return err
		}
	}
	build := exec.CommandContext(c.ctx, "go", "run", "./hack/images", "-platforms", "linux/"+runtime.GOARCH, "-tag", formerImage, "-o", dir)
	build.Dir = m.former
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	end := "-linux-" + runtime.GOARCH + ".tar"
	return c.Load(filepath.Join(dir, "boardwalk"+end), filepath.Join(dir, "boardwalk-renderer"+end))
}

// loadBroken adds to this version's image a program that runs in place of its own.
func loadBroken(c *cluster, dir string) error {
	program := filepath.Join(dir, "broken")
	if err := inRoot(c.ctx, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-o", program, "./hack/e2e/broken"); err != nil {
		return err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layer, err := ociimage.Layer([]ociimage.Entry{{Path: "/broken", Mode: 0o755, Content: content}}, time.Unix(0, 0))
	if err != nil {
		return err
	}
	image, err := tarball.ImageFromPath(filepath.Join(c.images, "boardwalk-linux-"+runtime.GOARCH+".tar"), nil)
	if err != nil {
		return err
	}
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config := *file.Config.DeepCopy()
	config.Entrypoint = []string{"/broken"}
	var broken v1.Image
	if broken, err = mutate.Config(image, config); err != nil {
		return err
	}
	path := filepath.Join(dir, "broken.tar")
	if err := ociimage.Save(path, brokenImage, broken); err != nil {
		return err
	}
	return c.Load(path)
}

// tag is a value of the chart, with the tag of an image.
func tag(image string) string { return "image.tag=" + image[strings.Index(image, ":")+1:] }

func (m *months) testInstallFormer(s step) {
	// The former version's definitions lack it.
	s.chain = regexp.MustCompile(`(?m)^  platformFee: .*\n`).ReplaceAllString(s.chain, "")
	var err error
	if m.disk, err = s.NewDisk("volume", 512<<20); err != nil {
		s.Fatal(err)
	}
	if err := s.Apply(s.ctx, fmt.Sprintf(volume, m.disk.Dir)); err != nil {
		s.Fatal(err)
	}
	s.install(filepath.Join(m.former, "charts", "boardwalk"), "--set", tag(formerImage), "--set", "apiserver.replicas=3")
}

// withoutFailure does something to the release under load.
func (s step) withoutFailure(do func()) {
	s.Helper()
	l := s.startLoad()
	s.keeping(do)
	l.end(s)
}

func (m *months) testUpgrade(s step) {
	s.withoutFailure(func() {
		s.helm("upgrade", "boardwalk", chart, "--wait", "--timeout", "8m", "-f", "values.yaml", "--set", "apiserver.replicas=3")
		s.awaitIndexersOf(boardwalkImage)
	})
}

func (m *months) testRollback(s step) {
	s.withoutFailure(func() {
		s.helm("rollback", "boardwalk", "1", "--wait", "--timeout", "8m")
		s.awaitIndexersOf(formerImage)
	})
}

// awaitIndexersOf waits until all indexers run an image, and their Chains are ready.
func (s step) awaitIndexersOf(image string) {
	s.Helper()
	s.eventually(5*time.Minute, func() error {
		out, err := s.Kubectl(s.ctx, "-n", namespace, "get", "pods", "-l", indexers, "-o",
			`jsonpath={range .items[*]}{.metadata.name} {.spec.containers[0].image} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)
		if err != nil {
			return err
		}
		for line := range strings.Lines(out) {
			if pod := strings.Fields(line); len(pod) != 3 || pod[1] != image || pod[2] != "True" {
				return fmt.Errorf("an indexer is %q, wanted %s", line, image)
			}
		}
		return nil
	})
	s.kubectl("wait", "chain", "--all", "--for=condition=Ready", "--timeout=3m")
}

// indexers selects all indexers' pods.
const indexers = "app.kubernetes.io/component=indexer,boardwalk.dev/chain"

// testDrain drains the only node, and lets pods come back to it at once, as they would to another.
func (m *months) testDrain(s step) {
	const drained = "app.kubernetes.io/name=boardwalk,app.kubernetes.io/component!=evaluation-db"
	pods := func() []string {
		return strings.Fields(s.kubectl("get", "pods", "-l", drained, "--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}"))
	}
	before := pods()
	s.withoutFailure(func() {
		ended := make(chan struct{})
		returns := make(chan struct{})
		go func() {
			defer close(returns)
			for {
				select {
				case <-ended:
					return
				case <-time.After(500 * time.Millisecond):
				}
				_, _ = s.Kubectl(s.ctx, "uncordon", "node1") // it may be asked before the drain has begun
			}
		}()
		s.kubectl("drain", "node1", "--pod-selector="+drained, "--delete-emptydir-data", "--timeout=5m")
		close(ended)
		<-returns
		s.kubectl("uncordon", "node1")
		for _, component := range []string{"apiserver", "operator"} {
			s.kubectl("rollout", "status", "deployment/boardwalk-"+component, "--timeout=2m")
		}
		s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
	})
	for _, pod := range pods() {
		if slices.Contains(before, pod) {
			s.Errorf("pod %s wasn't drained", pod)
		}
	}
}

// moreChains are as the first one, each with a node of its own.
var moreChains = []string{"five", "four", "six", "three", "two"}

func (m *months) testMoreChains(s step) {
	manifest, err := os.ReadFile("testdata/anvil.yaml")
	if err != nil {
		s.Fatal(err)
	}
	for i, id := range moreChains {
		service, number := "anvil-"+id, strconv.Itoa(9001+i)
		s.apply(strings.NewReplacer("anvil}", service+"}", "8453", number).Replace(string(manifest)))
		s.kubectl("rollout", "status", "deployment/"+service, "--timeout=1m")
		s.eventually(20*time.Second, func() error { return s.rpcOf(service, nil, "anvil_loadState", s.past) })
		s.apply(strings.NewReplacer("{name: base}", "{name: "+id+"}", "id: base\n", "id: "+id+"\n", "8453", number, "//anvil:", "//"+service+":").Replace(s.chain))
	}
	s.kubectl("wait", "chain", "--all", "--for=condition=Ready", "--timeout=5m")
}

// rollout is how far a change of all indexers is.
type rollout struct {
	// changed and running are Deployments with the change, and with a ready pod.
	changed, running int
}

// rollout looks for the Deployments of indexers whose pods have some text in a field.
func (s step) rollout(field, wanted string) (r rollout, err error) {
	out, err := s.Kubectl(s.ctx, "-n", namespace, "get", "deployments", "-l", indexers, "-o",
		`jsonpath={range .items[*]}{.status.readyReplicas}/{`+field+`}{"\n"}{end}`)
	for line := range strings.Lines(out) {
		ready, text, _ := strings.Cut(strings.TrimSpace(line), "/")
		if text == wanted {
			r.changed++
		}
		if ready == "1" {
			r.running++
		}
	}
	return r, err
}

func (m *months) testOperatorKilled(s step) {
	const team = ".spec.template.metadata.labels.team"
	s.helm("upgrade", "boardwalk", chart, "-f", "values.yaml", "--set", "apiserver.replicas=3", "--set", "indexers.podLabels.team=markets")
	all := len(moreChains) + 1
	least, isKilled := all, false
	s.eventually(8*time.Minute, func() error { // the kubelet brings the file within a minute or two
		r, err := s.rollout(team, "markets")
		if err != nil {
			return err
		}
		least = min(least, r.running)
		if r.changed >= 2 && r.changed < all-1 && !isKilled {
			s.signal("app.kubernetes.io/component=operator", "operator", syscall.SIGKILL)
			s.Logf("the operator was killed while %d of %d indexers had the change", r.changed, all)
			isKilled = true
		}
		if r.changed != all || r.running != all {
			return fmt.Errorf("%d of %d indexers have the change, %d are ready", r.changed, all, r.running)
		}
		return nil
	})
	if !isKilled {
		s.Error("the operator wasn't killed: the rollout was too fast to be seen")
	}
	if least < all-1 {
		s.Errorf("%d of %d indexers were ready at a time: more than one was changed", least, all)
	}
	s.kubectl("wait", "chain", "--all", "--for=condition=Ready", "--timeout=3m")
}

func (m *months) testBrokenImage(s step) {
	const image = ".spec.template.spec.containers[0].image"
	all := len(moreChains) + 1
	s.helm("upgrade", "boardwalk", chart, "-f", "values.yaml", "--wait", "--timeout", "5m", "--set", "apiserver.replicas=3",
		"--set", "indexers.podLabels.team=markets", "--set", tag(brokenImage), "--set", "renderer.image.tag=e2e")
	s.eventually(3*time.Minute, func() error {
		pods := s.kubectl("get", "pods", "-l", indexers, "-o", "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}")
		if pods != "CrashLoopBackOff" {
			return fmt.Errorf("indexers' pods wait for %q", pods)
		}
		return nil
	})
	says := s.kubectl("get", "chains", "-o", `jsonpath={range .items[*]}{.status.conditions[?(@.type=="Available")].message}{"\n"}{end}`)
	r, err := s.rollout(image, brokenImage)
	if err != nil {
		s.Fatal(err)
	}
	if r.changed != 1 || r.running != all-1 {
		s.Errorf("%d indexers have the broken image, %d of %d are ready", r.changed, r.running, all)
	}
	if held := strings.Count(says, " waits for "); held == 0 || !strings.Contains(says, "for a test") {
		s.Errorf("the Chains say\n%s", says)
	}
	s.Logf("with a broken image the Chains say\n%s", says)
	s.helm("upgrade", "boardwalk", chart, "-f", "values.yaml", "--wait", "--timeout", "5m", "--set", "apiserver.replicas=3", "--set", "indexers.podLabels.team=markets")
	s.awaitIndexersOf(boardwalkImage)
}

// programs are the containers of pods that use the database, with how often each was started again.
func (s step) programs() string {
	s.Helper()
	return s.kubectl("get", "pods", "-l", "app.kubernetes.io/component in (apiserver,indexer)", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{"\n"}{end}`)
}

// sameAs fails where a program was started anew since. Pods that were ending then are gone by now.
func (s step) sameAs(before string) {
	s.Helper()
	for line := range strings.Lines(s.programs()) {
		if !strings.Contains(before+"\n", strings.TrimSpace(line)+"\n") {
			s.Errorf("a program was started anew: %s; before, there were\n%s", line, before)
		}
	}
}

// awaitReason waits until a Chain isn't ready for a reason.
func (s step) awaitReason(within time.Duration, reason string) {
	s.Helper()
	began := time.Now()
	var out string
	s.eventually(within, func() error {
		out = s.kubectl("get", "chain", "base", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}: {.status.conditions[?(@.type=="Ready")].message}`)
		if !strings.HasPrefix(out, reason+": ") {
			return fmt.Errorf("the Chain says %q, wanted %s", out, reason)
		}
		return nil
	})
	s.Logf("after %.1f s the Chain says %s", time.Since(began).Seconds(), out)
}

func (m *months) testSilence(s step) {
	before := s.programs()
	indexer := s.indexerPod()
	ip := s.kubectl("get", "pod", "boardwalk-evaluation-db-0", "-o", "jsonpath={.status.podIP}")
	l := s.startLoad()
	speak, err := s.Silence(ip, 5432)
	if err != nil {
		s.Fatal(err)
	}
	began := time.Now()
	s.eventually(10*time.Second, func() error {
		out := s.kubectl("logs", indexer, "--since-time="+began.UTC().Format(time.RFC3339))
		if !strings.Contains(out, "database") {
			return fmt.Errorf("the indexer logs %q", out)
		}
		return nil
	})
	s.Logf("the indexer's log names the database after %.1f s", time.Since(began).Seconds())
	s.awaitReason(30*time.Second-time.Since(began), "DatabaseUnreachable")
	for component, port := range map[string]int{"indexer": 8081, "apiserver": 8082} {
		ip := s.kubectl("get", "pods", "-l", "app.kubernetes.io/component="+component, "-o", "jsonpath={.items[0].status.podIP}")
		if _, err := s.request("GET", fmt.Sprintf("http://%s:%d/livez", ip, port), nil); err != nil {
			s.Errorf("while the database is silent: %v", err)
		}
	}
	l.stop() // what it says is the API's business: answers from memory, or 503
	l.users.Wait()
	s.Logf("while the database is silent %d of %d answers fail: %.400s", len(l.failures), l.answers, l.failures)
	block := s.indexed()
	if err := speak(); err != nil {
		s.Fatal(err)
	}
	s.beyond(block, 2*time.Minute)
	s.kubectl("wait", "chain", "--all", "--for=condition=Ready", "--timeout=3m")
	s.awaitHeartbeat(time.Minute)
	s.sameAs(before)
}

// awaitHeartbeat waits until the API says that all is well.
func (s step) awaitHeartbeat(within time.Duration) {
	s.Helper()
	s.eventually(within, func() error {
		var heartbeat struct{ Status string }
		if err := s.api("/api/status/heartbeat", &heartbeat); err != nil || heartbeat.Status != "ok" {
			return fmt.Errorf("the heartbeat is %+v, %w", heartbeat, err)
		}
		return nil
	})
}

func (m *months) testFullDisk(s step) {
	before := s.programs()
	s.keeping(func() {
		if err := m.disk.Fill(); err != nil {
			s.Fatal(err)
		}
		s.awaitReason(4*time.Minute, "DatabaseUnreachable")
		if err := m.disk.Free(); err != nil {
			s.Fatal(err)
		}
		s.kubectl("wait", "chain", "--all", "--for=condition=Ready", "--timeout=5m")
		s.awaitHeartbeat(time.Minute)
	})
	s.sameAs(before)
}
