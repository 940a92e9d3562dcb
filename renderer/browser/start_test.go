package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script makes a program of shell commands.
func script(t *testing.T, path, commands string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte("#!/bin/sh\n"+commands+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func TestABrowserThatDoesNotStartIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	chromium, err := find(Program)
	if err != nil {
		t.Fatal(err)
	}
	for name, commands := range map[string]string{
		"it ends":  "exit 7",
		"it hangs": "sleep 1000 & sleep 1001",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "chromium")
			script(t, program, commands)
			w := begin(t, Options{Tabs: 1, Program: program, Patience: 5 * time.Second})
			var failed error
			w.eventually(func() bool {
				_, failed = w.picture(sample(1))
				return failed != nil
			})
			if !errors.Is(failed, ErrUnavailable) || w.RetryAfter() < time.Second || !errors.Is(w.Ready(), ErrUnavailable) {
				t.Fatalf("%v, retry after %s, ready %v", failed, w.RetryAfter(), w.Ready())
			}
			if n := w.metric("boardwalk_renderer_browser_start_failures_total", ""); n == 0 {
				t.Error("no failed start is counted")
			}
			script(t, program, `exec "`+chromium+`" "$@"`)
			w.eventually(func() bool { return w.Ready() == nil })
			w.mustDraw(sample(1))
		})
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Program: "no-such-chromium"})
	w.eventually(func() bool {
		err := w.Ready()
		return errors.Is(err, exec.ErrNotFound) && strings.Contains(err.Error(), "no-such-chromium")
	})
}

// TestAProtectionThatWasThereIsNotGivenUp has a browser that fails to start in its sandbox for a while, as it may on a
// machine that lacks memory.
func TestAProtectionThatWasThereIsNotGivenUp(t *testing.T) {
	t.Parallel()
	chromium, err := find(Program)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "chromium")
	script(t, program, `exec "`+chromium+`" "$@"`)
	w := begin(t, Options{Tabs: 1, Program: program})
	first := w.running()
	if !first.protection.Sandbox {
		t.Skip("this kernel allows no sandbox")
	}
	script(t, program, `for flag; do test "$flag" = --no-sandbox && exec "`+chromium+`" "$@"; done; exit 1`)
	w.signal(syscall.SIGKILL, first.pid)
	w.eventually(func() bool { return w.metric("boardwalk_renderer_browser_start_failures_total", "") > 1 })
	if err := w.Ready(); err == nil {
		t.Errorf("a browser runs with %s, after %s", w.running().protection, first.protection)
	}
	script(t, program, `exec "`+chromium+`" "$@"`)
	w.eventually(func() bool { return w.Ready() == nil })
	if again := w.running().protection; again != first.protection {
		t.Errorf("it has %s, after %s", again, first.protection)
	}
}

// TestEveryProtectionIsWhatItIsSaidToBe draws with the best that this machine allows and with all that are less, and reads
// from the kernel what they are.
func TestEveryProtectionIsWhatItIsSaidToBe(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	granted := w.running().protection
	for _, p := range protections {
		if (p.Sandbox && !granted.Sandbox) || (p.NoNetwork && !granted.NoNetwork) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			w := w
			if p != granted {
				w = begin(t, Options{Tabs: 1, only: []Protection{p}})
			}
			w.mustDraw(sample(1))
			i := w.running()
			if i.protection != p {
				t.Errorf("it has %s", i.protection)
			}
			inspect(t, i, w.kind(i, "renderer")[0])
		})
	}
}

// inspect holds a browser's protection against what the kernel says of it and of the process of a tab.
func inspect(t *testing.T, i *instance, renderer int) {
	t.Helper()
	if namespaces := len(status(t, renderer, "NSpid:")); (namespaces > 1) != i.protection.Sandbox {
		t.Errorf("sandbox %t, but the tab's process is in %d namespaces of processes", i.protection.Sandbox, namespaces)
	}
	if filter := status(t, renderer, "Seccomp:")[0]; i.protection.Sandbox && filter != "2" {
		t.Errorf("sandbox, but the tab's process has seccomp mode %s", filter)
	}
	for _, id := range status(t, i.pid, "Uid:") {
		if id != strconv.Itoa(browserUser()) || id == "0" {
			t.Errorf("the browser's user is %s", id)
		}
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", i.pid)); err != nil || (its != own) != i.protection.NoNetwork {
		t.Errorf("network namespace %t, but it is %s of %s: %v", i.protection.NoNetwork, its, own, err)
	}
}

func status(t *testing.T, pid int, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("process %d has no %s", pid, name)
	return nil
}

// TestOthersProcessesStay has one of another's in the same program, which even names the same folder.
func TestOthersProcessesStay(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read line", "--type=renderer")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	w := begin(t, Options{Tabs: 1})
	w.mustDraw(sample(1))
	i := w.running()
	w.signal(syscall.SIGKILL, i.pid)
	w.mustDraw(sample(1))
	w.eventually(func() bool { return len(w.kind(i, "")) == 0 })
	if _, err := fmt.Fprintln(hold, "go"); err != nil {
		t.Errorf("it was ended: %v", err)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("it was ended, or reaped by another: %v", err)
	}
}
