// Package charts_test holds the Helm chart and the kustomize folders to each other and to a real Kubernetes.
package charts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

const (
	chart = "boardwalk"
	// password stands in for the one that is made anew by each rendering without a cluster.
	password = "rendered0without1a2cluster"
)

// helms are the two versions that the chart is for, by the names that kubetest.Tool knows.
var helms = []string{"helm3", "helm"}

// valuesFiles are the chart's example values; the first one is empty.
func valuesFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("values files in %s/ci: %d, %v", chart, len(files), err)
	}
	return files
}

// run runs one of kubetest's tools with nobody's settings, and returns what it writes to its two outputs.
func run(ctx context.Context, t *testing.T, kubeconfig, stdin, tool string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := kubetest.Tool(ctx, tool)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + kubeconfig}
	cmd.Stdin = strings.NewReader(stdin)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", tool, strings.Join(args, " "), err, complaints.String())
	}
	return out.String(), complaints.String(), err
}

// objects are the YAML documents of a text, in their order.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var o unstructured.Unstructured
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("document %d: %v", len(all), err)
		}
		if len(o.Object) > 0 {
			all = append(all, &o)
		}
	}
}

// render is `helm template` of a release called boardwalk in a namespace of the same name.
func render(t *testing.T, helm string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	stdout, stderr, err := run(t.Context(), t, "", "", helm, append([]string{"template", "boardwalk", chart, "-n", "boardwalk"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if stderr != "" {
		t.Errorf("%s template says: %s", helm, stderr)
	}
	return objects(t, stdout)
}

// one is the object of a kind and name.
func one(t *testing.T, all []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range all {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// at is the value at a path of field names in an object; nil when there is none.
func at(o *unstructured.Unstructured, path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return nil
	}
	return v
}

// unhashed takes the hash of its contents out of the name of the Job that makes the schema.
func unhashed(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range all {
		if before, _, ok := strings.Cut(o.GetName(), "-migration-"); ok && o.GetKind() == "Job" {
			o.SetName(before + "-migration")
		}
	}
	return all
}

// key names an object in a message.
func key(o *unstructured.Unstructured) string { return o.GetKind() + "/" + o.GetName() }

func keys(all []*unstructured.Unstructured) []string {
	names := make([]string, 0, len(all))
	for _, o := range all {
		names = append(names, key(o))
	}
	slices.Sort(names)
	return names
}

func TestLint(t *testing.T) {
	t.Parallel()
	for _, helm := range helms {
		for _, values := range valuesFiles(t) {
			t.Run(helm+"/"+filepath.Base(values), func(t *testing.T) {
				t.Parallel()
				stdout, _, err := run(t.Context(), t, "", "", helm, "lint", "--strict", chart, "-f", values)
				if err != nil {
					t.Errorf("%v\n%s", err, stdout)
				}
			})
		}
	}
}

func TestBothHelmsRenderTheSame(t *testing.T) {
	t.Parallel()
	for _, values := range valuesFiles(t) {
		t.Run(filepath.Base(values), func(t *testing.T) {
			t.Parallel()
			with := []string{"-f", values, "--set", "database.evaluation.password=" + password}
			three, four := render(t, "helm3", with...), render(t, "helm", with...)
			if a, b := keys(three), keys(four); !slices.Equal(a, b) {
				t.Fatalf("helm 3 renders %v, helm 4 %v", a, b)
			}
			for i, o := range three {
				if !reflect.DeepEqual(o.Object, four[i].Object) {
					t.Errorf("%s: helm 3 and helm 4 render differently", key(o))
				}
			}
		})
	}
}

func TestWhatIsRendered(t *testing.T) {
	t.Parallel()
	always := []string{
		"ConfigMap/boardwalk-evaluation-db", "ConfigMap/boardwalk-operator-indexers", "CustomResourceDefinition/chains.boardwalk.dev",
		"CustomResourceDefinition/launchvenues.boardwalk.dev", "ClusterRole/boardwalk-edit", "ClusterRole/boardwalk-view", "Job/boardwalk-uninstall", "Role/boardwalk-uninstall",
		"RoleBinding/boardwalk-uninstall", "ServiceAccount/boardwalk-uninstall",
		"Deployment/boardwalk-apiserver", "Deployment/boardwalk-operator",
		"Job/boardwalk-migration", "NetworkPolicy/boardwalk-migration",
		"NetworkPolicy/boardwalk-apiserver", "NetworkPolicy/boardwalk-evaluation-db", "NetworkPolicy/boardwalk-operator",
		"PodDisruptionBudget/boardwalk-apiserver", "PodDisruptionBudget/boardwalk-operator",
		"Role/boardwalk-apiserver", "Role/boardwalk-operator", "RoleBinding/boardwalk-apiserver", "RoleBinding/boardwalk-operator",
		"Secret/boardwalk-evaluation-db", "Service/boardwalk-apiserver", "Service/boardwalk-apiserver-operations",
		"Service/boardwalk-evaluation-db", "Service/boardwalk-operator",
		"ServiceAccount/boardwalk-apiserver", "ServiceAccount/boardwalk-operator", "StatefulSet/boardwalk-evaluation-db",
	}
	existing := []string{"database.evaluation.enabled=false", "database.existingSecret.name=db"}
	for name, c := range map[string]struct{ set, more, less []string }{
		"nothing set":         {},
		"existing database":   {set: existing, less: []string{"boardwalk-evaluation-db"}},
		"no definitions":      {set: []string{"crds.install=false"}, less: []string{"CustomResourceDefinition/", "ClusterRole/"}},
		"no aggregated roles": {set: []string{"crds.aggregateRoles=false"}, less: []string{"ClusterRole/"}},
		"no removal":          {set: []string{"operator.removeIndexers=false"}, less: []string{"boardwalk-uninstall"}},
		"no migration":        {set: []string{"database.migration.enabled=false"}, less: []string{"boardwalk-migration"}},
		"no policies":         {set: []string{"networkPolicy.enabled=false"}, less: []string{"NetworkPolicy/"}},
		"no budgets": {
			set:  []string{"operator.podDisruptionBudget.enabled=false", "apiserver.podDisruptionBudget.enabled=false"},
			less: []string{"PodDisruptionBudget/"},
		},
		"autoscaling": {set: []string{"apiserver.autoscaling.enabled=true"}, more: []string{"HorizontalPodAutoscaler/boardwalk-apiserver"}},
		"ingress": {
			set:  []string{"ingress.enabled=true", "ingress.hosts={api.example.com}"},
			more: []string{"Ingress/boardwalk-apiserver"},
		},
		"route": {
			set:  []string{"apiserver.httpRoute.enabled=true", "apiserver.httpRoute.parentRefs[0].name=public"},
			more: []string{"HTTPRoute/boardwalk-apiserver"},
		},
		"accounts of others": {
			set:  []string{"operator.serviceAccount.create=false", "operator.serviceAccount.name=a", "apiserver.serviceAccount.create=false", "apiserver.serviceAccount.name=b"},
			less: []string{"ServiceAccount/boardwalk-apiserver", "ServiceAccount/boardwalk-operator"},
		},
		"further objects": {
			set:  []string{"extraObjects[0].apiVersion=v1", "extraObjects[0].kind=ConfigMap", "extraObjects[0].metadata.name=further"},
			more: []string{"ConfigMap/further"},
		},
		"metrics":         {set: []string{"metrics.serviceMonitor.enabled=true"}, more: []string{"ServiceMonitor/boardwalk"}},
		"metrics of pods": {set: []string{"metrics.podMonitor.enabled=true"}, more: []string{"PodMonitor/boardwalk"}},
		"dashboards": {
			set: []string{"metrics.dashboards.enabled=true"},
			more: []string{
				"ConfigMap/boardwalk-dashboard-api", "ConfigMap/boardwalk-dashboard-chain", "ConfigMap/boardwalk-dashboard-overview",
				"ConfigMap/boardwalk-dashboard-renderer",
			},
		},
		"dashboards of the Grafana operator": {
			set: []string{"metrics.dashboards.enabled=true", "metrics.dashboards.grafanaOperator.enabled=true"},
			more: []string{
				"ConfigMap/boardwalk-dashboard-api", "ConfigMap/boardwalk-dashboard-chain", "ConfigMap/boardwalk-dashboard-overview",
				"ConfigMap/boardwalk-dashboard-renderer", "GrafanaDashboard/boardwalk-dashboard-api", "GrafanaDashboard/boardwalk-dashboard-chain",
				"GrafanaDashboard/boardwalk-dashboard-overview", "GrafanaDashboard/boardwalk-dashboard-renderer",
			},
		},
		"game": {
			set: []string{
				"members.enabled=true", "members.tokens.existingSecret.name=intake", "members.game.ranks[0].id=first", "members.game.ranks[0].name=First", "members.game.ranks[0].minXP=0",
				"members.game.xp.activeDay=1", "members.game.xp.token=1", "members.game.xp.tokensADay=1", "members.game.xp.win=1", "members.game.xp.winsADay=1",
				"members.game.season.bonus[0].places=1", "members.game.season.bonus[0].xp=1", "members.game.badges[0].id=a", "members.game.badges[0].name=A",
				"members.game.badges[0].for=days", "members.game.badges[0].count=1",
			},
			more: []string{"ConfigMap/boardwalk-members-game", "Deployment/boardwalk-members", "Service/boardwalk-members", "NetworkPolicy/boardwalk-members"},
		},
		"site": {
			set: []string{
				"apiserver.site.resources[0].id=docs", "apiserver.site.resources[0].label=Docs",
				"apiserver.site.resources[0].kind=docs", "apiserver.site.resources[0].url=/docs/",
			},
			more: []string{"ConfigMap/boardwalk-apiserver-site"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, s := range c.set {
				args = append(args, "--set", s)
			}
			want := slices.Concat(always, c.more)
			for _, l := range c.less {
				want = slices.DeleteFunc(want, func(k string) bool { return strings.Contains(k, l) })
			}
			slices.Sort(want)
			if got := keys(unhashed(render(t, "helm", args...))); !slices.Equal(got, want) {
				t.Errorf("rendered is\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestDefinitionsAreTheGenerated: the chart has copies, and what it renders is they and how Helm is to treat them.
func TestDefinitionsAreTheGenerated(t *testing.T) {
	t.Parallel()
	const generated = "../config/crd/bases"
	copies := filepath.Join(chart, "files", "crds")
	names := func(dir string) (all []string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	if a, b := names(generated), names(copies); !slices.Equal(a, b) {
		t.Fatalf("%s has %v, %s has %v: run make generate", generated, a, copies, b)
	}
	rendered := render(t, "helm")
	for _, name := range names(generated) {
		want, err := os.ReadFile(filepath.Join(generated, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(copies, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the generated one: run make generate", filepath.Join(copies, name))
		}
		definition := objects(t, string(want))[0]
		o := one(t, rendered, "CustomResourceDefinition", definition.GetName())
		if o.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would be deleted with the release, and every object of it", key(o))
		}
		if !reflect.DeepEqual(o.Object["spec"], definition.Object["spec"]) {
			t.Errorf("%s is rendered with another spec than the generated one", key(o))
		}
	}
}

// TestNothingIsClusterWide but the definitions, and the roles that go with them.
func TestNothingIsClusterWide(t *testing.T) {
	t.Parallel()
	namespaced := []string{
		"ConfigMap", "Deployment", "GrafanaDashboard", "HTTPRoute", "HorizontalPodAutoscaler", "Ingress", "Job", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "Role",
		"RoleBinding", "PrometheusRule", "Secret", "Service", "ServiceAccount", "ServiceMonitor", "StatefulSet",
	}
	for _, values := range valuesFiles(t) {
		for _, o := range render(t, "helm", "-f", values) {
			if o.GetKind() != "CustomResourceDefinition" && o.GetKind() != "ClusterRole" && !slices.Contains(namespaced, o.GetKind()) {
				t.Errorf("%s: %s is cluster-wide, or new and not in this list", values, key(o))
			}
			if n := o.GetNamespace(); n != "" {
				t.Errorf("%s: %s names the namespace %s; the release's is Helm's business", values, key(o), n)
			}
		}
	}
}

// TestLongNamesFit: what is longest of all is a pod of the StatefulSet, whose label takes 63 characters.
func TestLongNamesFit(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]string{
		"boardwalk": "boardwalk-operator",
		"prod":      "prod-boardwalk-operator",
		"a-release-of-fifty-three-characters-which-is-the-most": "a-release-of-fifty-three-c-boardwalk-operator",
		"boardwalk-of-fifty-three-characters-which-is-the-most": "boardwalk-of-fifty-three-characters-operator",
	} {
		stdout, _, err := run(t.Context(), t, "", "", "helm", "template", release, chart, "--set", "crds.install=false")
		if err != nil {
			t.Fatal(err)
		}
		all := objects(t, stdout)
		one(t, all, "Deployment", want)
		for _, o := range all {
			// A Service's name is a label of a DNS name; a StatefulSet's leaves room for a hash of 10 and a hyphen.
			most := map[string]int{"Service": 63, "StatefulSet": 52}[o.GetKind()]
			if n := len(o.GetName()); most > 0 && n > most {
				t.Errorf("%s has %d characters, at most %d fit", key(o), n, most)
			}
		}
	}
}
