package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kubectl runs kubectl as the cluster's administrator and returns what it printed.
func (n *Node) Kubectl(ctx context.Context, args ...string) (string, error) {
	return n.tool(ctx, nil, "kubectl", args...)
}

// Apply gives manifests to kubectl apply.
func (n *Node) Apply(ctx context.Context, manifests string) error {
	_, err := n.tool(ctx, strings.NewReader(manifests), "kubectl", "apply", "-f", "-")
	return err
}

// Helm runs helm as the cluster's administrator and returns what it printed.
func (n *Node) Helm(ctx context.Context, args ...string) (string, error) {
	return n.tool(ctx, nil, "helm", args...)
}

// Plugin runs a plugin of kubectl that lies in dir, as the cluster's administrator, and returns what it printed, even where it failed.
func (n *Node) Plugin(ctx context.Context, dir string, args ...string) (string, error) {
	command := n.command(ctx, "kubectl", args...)
	command.Env = append(command.Env, "PATH="+dir)
	return n.inNetwork(command)
}

// tool runs a program in the node's network, with everything else as it is here.
func (n *Node) tool(ctx context.Context, input io.Reader, name string, args ...string) (string, error) {
	command := n.command(ctx, name, args...)
	command.Stdin = input
	return n.inNetwork(command)
}

func (n *Node) inNetwork(command *exec.Cmd) (string, error) {
	return collect(command, func(c *exec.Cmd) error {
		return n.sandbox.within(unix.CLONE_NEWNET, c.Start)
	})
}

func (n *Node) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, n.tools[name], args...)
	home := filepath.Join(n.dir, "tmp")
	command.Env = append(command.Environ(), "KUBECONFIG="+n.admin, "HOME="+home,
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	command.WaitDelay = 5 * time.Second
	return command
}

// Get asks for an object as kubectl get does and decodes it.
func (n *Node) Get(ctx context.Context, into any, args ...string) error {
	out, err := n.Kubectl(ctx, append(append([]string{"get"}, args...), "-o", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

// Signal sends a signal to the program of a pod's container, past everybody who would notice.
func (n *Node) Signal(ctx context.Context, namespace, pod, container string, s syscall.Signal) error {
	id, err := n.containerID(ctx, namespace, pod, container)
	if err != nil {
		return err
	}
	_, err = n.ctr("tasks", "kill", "--signal", unix.SignalName(s), id)
	return err
}

// SignalProgram sends a signal to every process of a program, by its file's name, in a pod's container, and returns how many
// there were.
func (n *Node) SignalProgram(ctx context.Context, namespace, pod, container, program string, s syscall.Signal) (int, error) {
	id, err := n.containerID(ctx, namespace, pod, container)
	if err != nil {
		return 0, err
	}
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	found := 0
	for _, file := range groups {
		// What can't be read has ended.
		group, _ := os.ReadFile(file)
		path, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if !strings.Contains(string(group), id) || filepath.Base(path) != program {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return found, err
		}
		if err := unix.Kill(pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
			return found, fmt.Errorf("process %d: %w", pid, err)
		}
		found++
	}
	return found, nil
}

// containerID is what containerd calls a pod's running container, which may be a sidecar.
func (n *Node) containerID(ctx context.Context, namespace, pod, container string) (string, error) {
	type status struct{ Name, ContainerID string }
	var seen struct {
		Status struct{ ContainerStatuses, InitContainerStatuses []status }
	}
	if err := n.Get(ctx, &seen, "pod", pod, "-n", namespace); err != nil {
		return "", err
	}
	for _, c := range slices.Concat(seen.Status.ContainerStatuses, seen.Status.InitContainerStatuses) {
		if id, ok := strings.CutPrefix(c.ContainerID, "containerd://"); ok && c.Name == container {
			return id, nil
		}
	}
	return "", fmt.Errorf("pod %s/%s has no running container %s", namespace, pod, container)
}

// Dump says what is going on in a namespace and on the node, for somebody who looks for the cause of a failure.
func (n *Node) Dump(ctx context.Context, namespace string) string {
	var out strings.Builder
	section := func(title string, args ...string) {
		text, err := n.Kubectl(ctx, args...)
		if err != nil {
			text += err.Error() + "\n"
		}
		fmt.Fprintf(&out, "=== %s\n%s", title, text)
	}
	section("pods", "get", "pods", "-A", "-o", "wide")
	section("objects", "get", "all,configmaps,pvc,networkpolicies,poddisruptionbudgets", "-n", namespace)
	section("events", "get", "events", "-n", namespace, "--sort-by=.lastTimestamp")
	section("description", "describe", "pods", "-n", namespace)
	var pods struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	if err := n.Get(ctx, &pods, "pods", "-n", namespace); err != nil {
		fmt.Fprintln(&out, err)
	}
	for _, pod := range pods.Items {
		name := pod.Metadata.Name
		section("log of "+name, "logs", name, "-n", namespace, "--all-containers", "--prefix", "--tail=60")
		section("log of "+name+" before it was restarted", "logs", name, "-n", namespace, "--all-containers", "--prefix", "--tail=30", "--previous")
	}
	logs, _ := filepath.Glob(filepath.Join(n.dir, "log", "*.log"))
	for _, file := range logs {
		if file != n.auditLog() {
			fmt.Fprintf(&out, "=== %s\n%s\n", filepath.Base(file), tail(file, 25))
		}
	}
	return out.String()
}
