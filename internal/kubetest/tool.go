package kubetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// tool is one program. It is built either from a module of this repository, whose go.mod says the versions, or from a
// published module, like go install does.
type tool struct {
	module  string // a folder of this repository; empty for a published module
	pkg     string
	version string // of a published module
	stamps  []string
}

// kubernetesVersion is the one that hack/kube/go.mod requires.
const kubernetesVersion = "v1.36.3"

// Only a linker can tell a program its version. Clients read the server's, and a chart the one that it is rendered for.
var (
	kubernetesStamps = []string{
		"k8s.io/component-base/version.gitVersion=" + kubernetesVersion,
		"k8s.io/component-base/version.gitMajor=1",
		"k8s.io/component-base/version.gitMinor=36",
		"k8s.io/component-base/version.gitTreeState=clean",
		"k8s.io/component-base/version.gitCommit=unknown",
		"k8s.io/component-base/version.buildDate=1970-01-01T00:00:00Z",
		"k8s.io/client-go/pkg/version.gitVersion=" + kubernetesVersion,
		"k8s.io/client-go/pkg/version.gitMajor=1",
		"k8s.io/client-go/pkg/version.gitMinor=36",
	}
	tools = map[string]tool{
		"etcd":                    {module: "hack/kube", pkg: "go.etcd.io/etcd/server/v3"},
		"kube-apiserver":          component("kube-apiserver"),
		"kube-controller-manager": component("kube-controller-manager"),
		"kube-scheduler":          component("kube-scheduler"),
		"kubelet":                 component("kubelet"),
		"kube-proxy":              component("kube-proxy"),
		"kubectl":                 component("kubectl"),
		"coredns":                 {module: "hack/kube/coredns", pkg: "."},
		"kwok":                    {pkg: "sigs.k8s.io/kwok/cmd/kwok", version: "v0.8.0"},
		"kustomize":               {pkg: "sigs.k8s.io/kustomize/kustomize/v5", version: "v5.8.2"},
		// A registry of container images and charts.
		"registry": {pkg: "github.com/distribution/distribution/v3/cmd/registry", version: "v3.1.2"},
		"helm": {
			pkg: "helm.sh/helm/v4/cmd/helm", version: "v4.3.1",
			stamps: []string{"helm.sh/helm/v4/internal/version.version=v4.3.1"},
		},
		"helm3": {
			pkg: "helm.sh/helm/v3/cmd/helm", version: "v3.22.0",
			// The Kubernetes version that its releases take for a chart's where no server is asked: that of its client-go.
			stamps: []string{
				"helm.sh/helm/v3/internal/version.version=v3.22.0",
				"helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
				"helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37",
				"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
				"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37",
			},
		},
	}
)

func component(name string) tool {
	return tool{module: "hack/kube", pkg: "k8s.io/kubernetes/cmd/" + name, stamps: kubernetesStamps}
}

// Tools are the names that Tool knows, in alphabetical order.
func Tools() []string { return slices.Sorted(maps.Keys(tools)) }

// Tool returns the path of a program: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy,
// kubectl, coredns, kwok, kustomize, registry (CNCF Distribution), helm (version 4, the file is called helm) or helm3 (version
// 3, its file is called helm as well). The first call on a machine builds it, which takes minutes, into a directory of npmcache.Dir; later ones look
// whether it is there. Several processes may call it at once: one program is built at a time, since a build takes the
// whole machine. It works in whatever folder of this module.
func Tool(ctx context.Context, name string) (string, error) {
	t, known := tools[name]
	if !known {
		return "", fmt.Errorf("no tool is called %q: there are %s", name, strings.Join(Tools(), ", "))
	}
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	source, dir, err := t.places(ctx, name)
	if err != nil {
		return "", fmt.Errorf("find the source of %s: %w", name, err)
	}
	return provide(ctx, cache, filepath.Join(cache, dir), name, source, t)
}

// places returns the directory to build in, the present one for a published module, and the name of the cache's directory
// for what is built: one for each state of a module of this repository, one for each published program.
func (t tool) places(ctx context.Context, name string) (source, dir string, err error) {
	if t.module == "" {
		return "", name + "-" + t.version, nil
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", "", err
	}
	source = filepath.Join(root, filepath.FromSlash(t.module))
	hash := sha256.New()
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			return "", "", err
		}
		hash.Write(content)
	}
	return source, filepath.Base(source) + "-" + hex.EncodeToString(hash.Sum(nil))[:12], nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/boardwalkhq/boardwalk").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w (run this within the module)", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func provide(ctx context.Context, cache, dir, name, source string, t tool) (string, error) {
	path := filepath.Join(dir, t.file(name))
	if present(path) {
		return path, nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("%w (set BOARDWALK_CACHE to a directory that can be written)", err)
	}
	unlock, err := npmcache.Lock(ctx, filepath.Join(cache, "kubetest.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if present(path) {
		return path, nil // by whom we waited for
	}
	fmt.Fprintf(os.Stderr, "kubetest: building %s once for this machine, which takes minutes (kept in %s)\n", name, dir)
	if err := build(ctx, path, source, t); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return path, nil
}

// file is what go install calls a published program.
func (t tool) file(name string) string {
	if t.module != "" || name == "kustomize" {
		return name
	}
	return filepath.Base(t.pkg)
}

func present(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// build makes the program in a directory beside its place and renames it, so that half a program is never taken for a
// whole one. The caller holds the lock.
func build(ctx context.Context, path, source string, t tool) error {
	part := path + ".part"
	if err := os.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}
	if err := os.MkdirAll(part, 0o750); err != nil {
		return err
	}
	defer os.RemoveAll(part)
	built := filepath.Join(part, filepath.Base(path))
	link := strings.Join(append([]string{"-s -w"}, t.stamps...), " -X ")
	args := []string{"install", "-trimpath", "-ldflags", link, t.pkg + "@" + t.version}
	if t.module != "" {
		args = []string{"build", "-trimpath", "-ldflags", link, "-o", built, t.pkg}
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = source
	// What a developer has set for this module, -mod or a workspace, isn't meant for others.
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOBIN="+part)
	command.WaitDelay = 10 * time.Second // for the compilers, after go itself was killed
	if output, err := command.CombinedOutput(); err != nil {
		if len(output) > 2000 {
			output = append([]byte("..."), output[len(output)-2000:]...)
		}
		return fmt.Errorf("go %s: %w\n%s(the modules come from GOPROXY: is it reachable?)", args[0], err, output)
	}
	return os.Rename(built, path)
}
