// Package node runs a real Kubernetes node with its control plane on this machine, for the end-to-end test: etcd, API server,
// controller manager, scheduler, containerd, kubelet, kube-proxy and CoreDNS, in namespaces of their own. Several run beside
// each other without meeting, and each vanishes as a whole. What is deployed on it is the test's business.
package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// Every node has these addresses: each is alone in its network.
const (
	address      = "10.88.0.1"
	serviceRange = "10.96.0.0/16"
	apiService   = "10.96.0.1"
	podRange     = "10.244.0.0/24"
	apiServer    = "https://" + address + ":6443"
	hostname     = "node1"
)

// Node is a running node. Close takes it down; so does this process's end, however it comes, but for the control groups and
// files, which the next Start clears away.
type Node struct {
	dir       string // all its files
	name      string // of this run, in control groups
	lock      *os.File
	sandbox   *sandbox
	groups    cgroups
	tools     map[string]string
	processes []*process
	pki       *authority
	admin     string       // kubeconfig
	client    *http.Client // the administrator's, of the API server
	took      []Step
	// background is what runs here for the node.
	background sync.WaitGroup
}

// Step is a part of the start and how long it took.
type Step struct {
	Name string
	Took time.Duration
}

// tools are the programs that are built, not installed.
var tools = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl", "coredns", "helm",
}

// Start brings a node up and returns when it is ready for pods. pause is a static program that does nothing but reap; it is
// the first process of the node and, as an image, of each pod. The first call on a machine builds Kubernetes, which takes
// minutes. After an error nothing is left.
func Start(ctx context.Context, pause string) (*Node, error) {
	if err := Probe(ctx); err != nil {
		return nil, err
	}
	n := &Node{tools: make(map[string]string)}
	if err := n.up(ctx, pause); err != nil {
		return nil, errors.Join(fmt.Errorf("start the node: %w", err), n.Close())
	}
	return n, nil
}

func (n *Node) up(ctx context.Context, pause string) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"clear away what earlier runs left", func(context.Context) error { return sweep() }},
		{"find programs", n.findTools},
		{"namespaces", func(context.Context) error { return n.isolate(pause) }},
		{"network", func(context.Context) error { return n.network() }},
		{"certificates", func(context.Context) error { return n.certify() }},
		{"control plane", n.controlPlane},
		{"containerd", n.containerd},
		{"pause image", func(ctx context.Context) error { return n.loadPause(ctx, pause) }},
		{"kubelet, kube-proxy, CoreDNS", n.kubelet},
		{"network policies", n.policies},
	} {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		n.took = append(n.took, Step{step.name, time.Since(began)})
	}
	return nil
}

// Took says how long each part of the start took.
func (n *Node) Took() []Step { return n.took }

// Dir is where the node's files are; a caller may keep its own there, in a subdirectory.
func (n *Node) Dir() string { return n.dir }

func (n *Node) findTools(ctx context.Context) error {
	for _, name := range tools {
		path, err := kubetest.Tool(ctx, name)
		if err != nil {
			return err
		}
		n.tools[name] = path
	}
	for _, p := range programs {
		path, err := find(p.name)
		if err != nil {
			return err
		}
		n.tools[p.name] = path
	}
	return nil
}

// prefix begins the names of directories and control groups.
const prefix = "boardwalk-node-"

// isolate makes the run's directory, control group and namespaces.
func (n *Node) isolate(pause string) error {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return err
	}
	n.dir, n.name = dir, filepath.Base(dir)
	if n.lock, err = hold(dir); err != nil {
		return err
	}
	for _, sub := range []string{"log", "tmp", "pki", "cni", "private"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return err
	}
	n.groups = readCgroups(string(mounts))
	if err := n.groups.create(n.name); err != nil {
		return fmt.Errorf("control groups: %w", err)
	}
	if n.sandbox, err = newSandbox(pause); err != nil {
		return err
	}
	return n.mounts()
}

// hiddenDirs are those of the machine into which the node's programs write by names that no setting changes.
var hiddenDirs = []string{"/run", "/var/log", "/var/lib"}

// tunables are what a kubelet sets for the whole machine. It finds them set.
var tunables = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// mounts keeps what the node writes outside of its directory from the machine.
func (n *Node) mounts() error {
	// Only a process in the PID namespace can mount its /proc.
	if _, err := n.run(n.tools["mount"], "-t", "proc", "proc", "/proc"); err != nil {
		return err
	}
	private := filepath.Join(n.dir, "private")
	for path, value := range tunables {
		if err := os.WriteFile(filepath.Join(private, filepath.Base(path)), []byte(value+"\n"), 0o600); err != nil {
			return err
		}
	}
	// The cache with the programs may lie in /var/lib, so that is seen, but written to elsewhere.
	for _, sub := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(private, sub), 0o755); err != nil {
			return err
		}
	}
	return n.sandbox.within(unix.CLONE_NEWNS, func() error {
		for _, dir := range []string{"/run", "/var/log"} {
			if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
				return fmt.Errorf("mount %s: %w", dir, err)
			}
		}
		if err := mountOverlay("/var/lib", private, "/var/lib"); err != nil {
			return fmt.Errorf("mount /var/lib: %w", err)
		}
		for path := range tunables {
			target := filepath.Join("/proc/sys", path)
			if err := unix.Mount(filepath.Join(private, filepath.Base(path)), target, "", unix.MS_BIND, ""); err != nil {
				return fmt.Errorf("mount over %s: %w", target, err)
			}
		}
		// A kubelet wants to pass mounts on to containers.
		return unix.Mount("none", "/", "", unix.MS_REC|unix.MS_SHARED, "")
	})
}

// network gives the node an address, beside loopback, that pods and the API server use.
func (n *Node) network() error {
	for _, command := range []string{
		"link set lo up",
		"link add node0 type veth peer name void", // the kind that pods' interfaces are, so no other is needed
		"addr add " + address + "/24 dev node0",
		"link set node0 up",
		"link set void up",
		"route add default dev node0", // services' addresses need a route before they are translated
	} {
		if _, err := n.run(n.tools["ip"], strings.Fields(command)...); err != nil {
			return err
		}
	}
	// /proc/sys/net shows the network of the process that reads it.
	_, err := n.run("/bin/sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
	return err
}

// HTTP is a client in the node's network: it reaches pods and Services by their IP addresses. Each request has a connection of
// its own, so that it goes to a pod that is there now.
func (n *Node) HTTP() *http.Client {
	return &http.Client{
		Timeout:   20 * time.Second,
		Transport: &http.Transport{DialContext: n.sandbox.dial, DisableKeepAlives: true},
	}
}

// KeepingHTTP is a client like HTTP that keeps its connections, as browsers and gateways do.
func (n *Node) KeepingHTTP() *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: n.sandbox.dial}}
}

// Close takes the node down and removes all that it made.
func (n *Node) Close() error {
	if n.sandbox != nil {
		n.sandbox.close()
		for _, p := range n.processes {
			<-p.ended
		}
		n.background.Wait()
	}
	if n.dir == "" {
		return nil
	}
	var err error
	if n.name != "" {
		err = n.groups.remove(n.name)
	}
	err = errors.Join(err, os.RemoveAll(n.dir))
	if n.lock != nil {
		err = errors.Join(err, n.lock.Close())
	}
	return err
}
