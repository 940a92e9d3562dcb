//go:build e2e && linux

package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asChild makes the test binary a program that starts a node with a pod on it, says so, and waits for its end.
const asChild = "BOARDWALK_TEST_NODE_PAUSE"

func TestMain(m *testing.M) {
	if pause := os.Getenv(asChild); pause != "" {
		if err := child(context.Background(), pause); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const pod = `apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: default}
spec:
  containers: [{name: pod, image: "` + pauseImage + `", imagePullPolicy: Never}]
`

func child(ctx context.Context, pause string) error {
	n, err := Start(ctx, pause)
	if err != nil {
		return err
	}
	if err := n.Apply(ctx, pod); err != nil {
		return err
	}
	if _, err := n.Kubectl(ctx, "wait", "pod/pod", "--for=condition=Ready", "--timeout=1m"); err != nil {
		return err
	}
	fmt.Println("running " + n.name)
	select {} // until it is killed
}

func buildPause(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pause")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../pause")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// left is what there is of a run: processes, mounts, control groups and files.
func left(name string) []string {
	var found []string
	for _, pattern := range []string{"/sys/fs/cgroup/" + name, "/sys/fs/cgroup/*/" + name, filepath.Join(os.TempDir(), name), "/run/netns/*"} {
		paths, _ := filepath.Glob(pattern)
		found = append(found, paths...)
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range append(commands, "/proc/mounts") {
		content, _ := os.ReadFile(file)
		if strings.Contains(string(content), name) {
			found = append(found, file)
		}
	}
	return found
}

// TestNothingIsLeftOfAKilledRun kills a run as the kernel does when memory is short: nothing of it may go on, and the next run
// clears away the rest.
func TestNothingIsLeftOfAKilledRun(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), asChild+"="+buildPause(t))
	command.Stderr = os.Stderr
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	name, running := strings.CutPrefix(strings.TrimSpace(line), "running ")
	if !running {
		t.Fatalf("the run said %q (%v, %v)", line, err, command.Wait())
	}
	before := left(name)
	if !slices.ContainsFunc(before, func(p string) bool { return strings.HasPrefix(p, "/proc/") }) {
		t.Fatalf("no process was seen: %q", before)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	await(t, func() error {
		if found := slices.DeleteFunc(left(name), func(p string) bool { return !strings.HasPrefix(p, "/proc/") }); len(found) > 0 {
			return fmt.Errorf("still there: %q", found)
		}
		return nil
	})
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	if found := left(name); len(found) > 0 {
		t.Errorf("left is %q", found)
	}
}

// TestFailedStartLeavesNothing breaks a start at its first process, and in the midst of it.
func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	if _, err := Start(t.Context(), "/nonexistent/pause"); err == nil || !strings.Contains(err.Error(), "/nonexistent/pause") {
		t.Errorf("without a first process: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	n := &Node{tools: make(map[string]string)}
	if err := n.up(ctx, buildPause(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a start that was stopped: %v", err)
	}
	if len(left(n.name)) == 0 {
		t.Error("nothing was there when the start was stopped")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if found := left(n.name); len(found) > 0 {
		t.Errorf("left is %q", found)
	}
}

func TestAddressesOfTheNodeAreNotTheMachines(t *testing.T) {
	t.Parallel()
	box, err := newSandbox(buildPause(t))
	if err != nil {
		t.Fatal(err)
	}
	defer box.close()
	if _, err := box.dial(t.Context(), "tcp", "localhost:1"); err == nil || !strings.Contains(err.Error(), "no IP address") {
		t.Errorf("a name: %v", err)
	}
	// Loopback is down in a new network; outside it is up, where this would be refused.
	if _, err := box.dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("loopback: %v", err)
	}
	before := runtime.NumGoroutine()
	for range 100 {
		_, _ = box.dial(t.Context(), "tcp", "127.0.0.1:1")
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("%d goroutines, there were %d", after, before)
	}
}

// TestOwnThreadIsNeverTheFirst: the first thread can't be thrown away.
func TestOwnThreadIsNeverTheFirst(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if err := onOwnThread(func() error {
				if unix.Gettid() == unix.Getpid() {
					return errors.New("this is the process's first thread")
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func await(t *testing.T, ask func() error) {
	t.Helper()
	for range 100 {
		if ask() == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(ask())
}
