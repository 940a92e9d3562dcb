package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

// pauseImage is only a name: the image is made here.
const pauseImage = "registry.k8s.io/pause:3.10.1"

// containerdConfig is for containerd 1.6 and 1.7, whose format version 2 understands, as 2.x does. Filled in: the node's
// directory, the pause image, the plugins' directory.
const containerdConfig = `version = 2
root = "%[1]s/containerd"
state = "%[1]s/containerd-state"
[grpc]
  address = "%[1]s/containerd.sock"
[ttrpc]
  address = "%[1]s/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "%[1]s/containerd-opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "%[2]s"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%[3]s"
    conf_dir = "%[1]s/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`

// networkConfig gives each pod a pair of interfaces of its own, so that all traffic is routed and goes through kube-proxy's
// rules; between the ports of a bridge it wouldn't everywhere. NetworkPolicies it leaves to others.
const networkConfig = `{"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": false, "ipam": {
  "type": "host-local", "dataDir": "%s/cni-addresses", "ranges": [[{"subnet": "` + podRange + `"}]],
  "routes": [{"dst": "0.0.0.0/0"}]}}]}
`

const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://%[1]s/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /%[2]s
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
protectKernelDefaults: true
podLogsDir: %[1]s/pods
volumePluginDir: %[1]s/volume-plugins
resolvConf: ""
clusterDomain: cluster.local
clusterDNS: ["` + address + `"]
authentication: {x509: {clientCAFile: %[1]s/pki/ca.crt}, anonymous: {enabled: false}, webhook: {enabled: true}}
authorization: {mode: Webhook}
tlsCertFile: %[1]s/pki/kubelet.crt
tlsPrivateKeyFile: %[1]s/pki/kubelet.key
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", imagefs.available: "0%%", nodefs.inodesFree: "0%%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 2s
syncFrequency: 5s
`

const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: %[1]s/pki/proxy.kubeconfig}
clusterCIDR: ` + podRange + `
hostnameOverride: ` + hostname + `
bindAddress: ` + address + `
conntrack: {maxPerCore: 0}
`

const corefile = `.:53 {
  bind ` + address + `
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig %[1]s/pki/admin.kubeconfig e2e
  }
  cache 2
}
`

// write fills in and writes a file of the node's directory.
func (n *Node) write(name, format string, args ...any) (path string, err error) {
	path = filepath.Join(n.dir, name)
	return path, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600)
}

func (n *Node) containerd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	plugins, err := pluginDir()
	if err != nil {
		return err
	}
	if _, err := n.write("cni/10-pods.conflist", networkConfig, n.dir); err != nil {
		return err
	}
	config, err := n.write("containerd.toml", containerdConfig, n.dir, pauseImage, plugins)
	if err != nil {
		return err
	}
	if err := n.start("containerd", n.tools["containerd"], "--config", config); err != nil {
		return err
	}
	return n.await(ctx, "containerd", func(context.Context) error {
		_, err := n.ctr("version")
		return err
	})
}

// ctr runs containerd's client on the images and containers of Kubernetes.
func (n *Node) ctr(args ...string) (string, error) {
	return n.run(n.tools["ctr"], append([]string{"--address", filepath.Join(n.dir, "containerd.sock"), "--namespace", "k8s.io"}, args...)...)
}

// Load makes images known to the node. Each is a file as `docker save` writes them.
func (n *Node) Load(paths ...string) error {
	for _, path := range paths {
		if _, err := n.ctr("images", "import", path); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	return nil
}

func (n *Node) loadPause(_ context.Context, pause string) error {
	program, err := os.ReadFile(pause)
	if err != nil {
		return err
	}
	layer, err := ociimage.Layer([]ociimage.Entry{{Path: "/pause", Mode: fs.FileMode(0o755), Content: program}}, time.Unix(0, 0))
	if err != nil {
		return err
	}
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	img, err := ociimage.New(platform, time.Unix(0, 0), v1.Config{User: "65535:65535", Entrypoint: []string{"/pause"}}, layer)
	if err != nil {
		return err
	}
	path := filepath.Join(n.dir, "pause.tar")
	if err := ociimage.Save(path, pauseImage, img); err != nil {
		return err
	}
	return n.Load(path)
}

func (n *Node) kubelet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	config, err := n.write("kubelet.yaml", kubeletConfig, n.dir, n.name)
	if err != nil {
		return err
	}
	if err := n.start("kubelet", n.tools["kubelet"], "--config="+config, "--kubeconfig="+n.file("kubelet.kubeconfig"),
		"--root-dir="+filepath.Join(n.dir, "kubelet"), "--hostname-override="+hostname, "--node-ip="+address); err != nil {
		return err
	}
	if config, err = n.write("proxy.yaml", proxyConfig, n.dir); err != nil {
		return err
	}
	if err := n.start("kube-proxy", n.tools["kube-proxy"], "--config="+config); err != nil {
		return err
	}
	if config, err = n.write("Corefile", corefile, n.dir); err != nil {
		return err
	}
	if err := n.start("coredns", n.tools["coredns"], "-conf", config); err != nil {
		return err
	}
	return n.await(ctx, "the node to be ready", n.ready)
}

// ready asks whether the scheduler would put pods on the node.
func (n *Node) ready(ctx context.Context) error {
	body, err := n.read(ctx, "/api/v1/nodes/"+hostname)
	if err != nil {
		return err
	}
	var seen struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		return err
	}
	for _, c := range seen.Status.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			return errors.New(c.Message)
		}
	}
	taints := make([]string, len(seen.Spec.Taints))
	for i, t := range seen.Spec.Taints {
		taints[i] = t.Key
	}
	if len(taints) > 0 || len(seen.Status.Conditions) == 0 {
		return fmt.Errorf("%d conditions, taints %s", len(seen.Status.Conditions), strings.Join(taints, ", "))
	}
	return nil
}
