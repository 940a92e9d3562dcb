//go:build e2e && linux

// Package e2e has the end-to-end test: Boardwalk's chart on a real Kubernetes node, with a real chain beside it. It needs root
// and what hack/setup.sh installs, and fails where a node can't run: `make e2e`.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/e2e/node"
	"github.com/boardwalkhq/boardwalk/hack/e2e/services"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// boardwalkImage is what values.yaml names.
const boardwalkImage = "boardwalk:e2e"

// cluster is a node with the images that the test needs.
type cluster struct {
	*node.Node

	ctx  context.Context
	took []node.Step
	// images is the directory with the images of this version.
	images string

	// world is what was deployed on the chain, past the state that it began with, chain the manifest that declares it.
	world *world.World
	past  string
	chain string
	// before are the objects of the namespace before the chart was installed.
	before []string
	// last is the block that was indexed before the Chain, or the release, was deleted.
	last uint64
}

// newCluster builds the images and starts a node, which ends with the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	// The first signal ends the test like a failure, so that it takes down what it started.
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	dir := t.TempDir()
	c := &cluster{ctx: ctx, images: dir}
	var servicesImage, pause string
	c.measure(t, "images", func() error {
		var err error
		if servicesImage, err = services.Tarball(ctx); err != nil {
			return err
		}
		if pause, err = buildPause(ctx, dir); err != nil {
			return err
		}
		return inRoot(ctx, "go", "run", "./hack/images", "-platforms", "linux/"+runtime.GOARCH, "-tag", boardwalkImage, "-o", dir)
	})
	c.measure(t, "node", func() (err error) {
		c.Node, err = node.Start(ctx, pause)
		return err
	})
	t.Cleanup(func() {
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c.took = append(c.took, node.Step{Name: "take down", Took: time.Since(began)})
		t.Log(c.timings())
	})
	c.measure(t, "load images", func() error {
		end := "-linux-" + runtime.GOARCH + ".tar"
		return c.Load(servicesImage, filepath.Join(dir, "boardwalk"+end), filepath.Join(dir, "boardwalk-renderer"+end))
	})
	return c
}

func buildPause(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "pause")
	return path, inRoot(ctx, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-o", path, "./hack/e2e/pause")
}

// inRoot runs a program in the checkout's root.
func inRoot(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = filepath.Join("..", "..")
	command.WaitDelay = 10 * time.Second
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

// measure does a part of the preparation.
func (c *cluster) measure(t *testing.T, name string, do func() error) {
	t.Helper()
	began := time.Now()
	if err := do(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c.took = append(c.took, node.Step{Name: name, Took: time.Since(began)})
}

// step is a part of the scenario while it runs.
type step struct {
	*testing.T
	*cluster
}

// run runs a part of the scenario. The next ones take it for granted, so that a failure ends the test; then it says what the
// cluster looks like.
func (c *cluster) run(t *testing.T, name string, do func(step)) {
	t.Helper()
	began := time.Now()
	ok := t.Run(name, func(t *testing.T) { do(step{t, c}) })
	c.took = append(c.took, node.Step{Name: name, Took: time.Since(began)})
	if ok {
		return
	}
	if c.ctx.Err() != nil {
		t.Fatal("the test was told to end")
	}
	ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
	defer cancel()
	t.Logf("the cluster after %q failed:\n%s", name, c.Dump(ctx, namespace))
	t.FailNow()
}

func (c *cluster) timings() string {
	var out strings.Builder
	out.WriteString("times:\n")
	for _, s := range c.took {
		fmt.Fprintf(&out, "%8.1f s  %s\n", s.Took.Seconds(), s.Name)
		if s.Name == "node" {
			for _, part := range c.Took() {
				fmt.Fprintf(&out, "  %8.1f s  %s\n", part.Took.Seconds(), part.Name)
			}
		}
	}
	return out.String()
}

// kubectl runs kubectl in the namespace under test and returns what it printed.
func (s step) kubectl(args ...string) string {
	s.Helper()
	out, err := s.Kubectl(s.ctx, append([]string{"-n", namespace}, args...)...)
	if err != nil {
		s.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// apply applies a manifest in the namespace under test.
func (s step) apply(manifest string) {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		s.Fatal(err)
	}
	s.kubectl("apply", "-f", path)
}

// eventually asks until the answer is nil.
func (s step) eventually(within time.Duration, ask func() error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, within)
	defer cancel()
	pause := time.NewTicker(500 * time.Millisecond)
	defer pause.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			s.Fatalf("after %s: %v", within, err)
		case <-pause.C:
		}
	}
}
