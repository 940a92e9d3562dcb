package charts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// definitions is the chart that has the CustomResourceDefinitions alone.
const definitions = "boardwalk-crds"

// renderDefinitions is `helm template` of that chart.
func renderDefinitions(t *testing.T, helm string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	stdout, stderr, err := run(t.Context(), t, "", "", helm, append([]string{"template", definitions, definitions}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if stderr != "" {
		t.Errorf("%s template says: %s", helm, stderr)
	}
	return objects(t, stdout)
}

// definitionsWith are values that set all there is.
var definitionsWith = []string{
	"--set", "labels.example\\.com/cost-centre=a42,annotations.example\\.com/owner=platform,keep=false,aggregateRoles=false",
}

func TestDefinitionsChartLints(t *testing.T) {
	t.Parallel()
	for _, helm := range helms {
		for _, args := range [][]string{nil, definitionsWith} {
			if stdout, _, err := run(t.Context(), t, "", "", helm, append([]string{"lint", "--strict", definitions}, args...)...); err != nil {
				t.Errorf("%v\n%s", err, stdout)
			}
		}
	}
}

// TestDefinitionsChartRendersTheGenerated: the generated definitions, marked to be kept, and the ClusterRoles that the other chart has with
// crds.install=true, on both Helms.
func TestDefinitionsChartRendersTheGenerated(t *testing.T) {
	t.Parallel()
	const generated = "../config/crd/bases"
	files, err := os.ReadDir(generated)
	if err != nil {
		t.Fatal(err)
	}
	copies, err := os.ReadDir(filepath.Join(definitions, "files", "crds"))
	if err != nil || len(copies) != len(files) {
		t.Fatalf("the copies are %v, %v, and the generated %v: run make generate", copies, err, files)
	}
	all := renderDefinitions(t, helms[0])
	if other := renderDefinitions(t, helms[1]); !reflect.DeepEqual(all, other) {
		t.Errorf("%s renders something else than %s", helms[0], helms[1])
	}
	want := []string{"ClusterRole/boardwalk-edit", "ClusterRole/boardwalk-view", "CustomResourceDefinition/chains.boardwalk.dev", "CustomResourceDefinition/launchvenues.boardwalk.dev"}
	if got := keys(all); !slices.Equal(got, want) {
		t.Fatalf("rendered are %q, wanted %q", got, want)
	}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(generated, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(definitions, "files", "crds", file.Name())); err != nil || string(got) != string(raw) {
			t.Errorf("the copy of %s differs from the generated one, %v: run make generate", file.Name(), err)
		}
		definition := objects(t, string(raw))[0]
		o := one(t, all, "CustomResourceDefinition", definition.GetName())
		if o.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would be deleted with the release, and every object of it", key(o))
		}
		if !reflect.DeepEqual(o.Object["spec"], definition.Object["spec"]) {
			t.Errorf("%s is rendered with another spec than the generated one", key(o))
		}
	}
	// Both charts render the same definitions and roles, so that a release of one can take them over from a release of the other.
	whole := render(t, "helm")
	for _, o := range all {
		if other := one(t, whole, o.GetKind(), o.GetName()); !reflect.DeepEqual(o, other) {
			t.Errorf("%s is in the two charts %v and %v", key(o), o.Object["metadata"], other.Object["metadata"])
		}
	}
	// With both charts in one cluster, no object is made twice.
	for _, roles := range []string{"true", "false"} {
		for _, o := range render(t, "helm", "--set", "crds.install=false,crds.aggregateRoles="+roles) {
			if slices.Contains(want, key(o)) {
				t.Errorf("with crds.install=false and crds.aggregateRoles=%s the chart %s makes %s too", roles, chart, key(o))
			}
		}
	}
}

func TestDefinitionsChartsValues(t *testing.T) {
	t.Parallel()
	for _, helm := range helms {
		all := renderDefinitions(t, helm, definitionsWith...)
		if got := keys(all); len(got) != 2 || strings.Contains(strings.Join(got, " "), "ClusterRole") {
			t.Errorf("%s without roles renders %q", helm, got)
		}
		for _, o := range append(all, renderDefinitions(t, helm, "--set", "labels.example\\.com/cost-centre=a42,annotations.example\\.com/owner=platform")...) {
			if o.GetLabels()["example.com/cost-centre"] != "a42" || o.GetAnnotations()["example.com/owner"] != "platform" || o.GetLabels()["app.kubernetes.io/name"] != "boardwalk" {
				t.Errorf("%s: %s has the labels %v and the annotations %v", helm, key(o), o.GetLabels(), o.GetAnnotations())
			}
		}
		if got, ok := all[0].GetAnnotations()["helm.sh/resource-policy"]; ok {
			t.Errorf("%s: with keep=false the policy is %q", helm, got)
		}
		for set, want := range map[string]string{
			"crds.install=false":                             "additional properties 'crds' not allowed",
			"keep=maybe":                                     "at '/keep': got string, want boolean",
			"labels.app\\.kubernetes\\.io/name=x":            "app.kubernetes.io/name",
			"annotations.helm\\.sh/resource-policy=delete":   "helm.sh/resource-policy",
			"annotations.meta\\.helm\\.sh/release-name=mine": "meta.helm.sh/release-name",
			"labels.example\\.com/a=b c":                     "does not match pattern",
		} {
			if _, _, err := run(t.Context(), t, "", "", helm, "template", definitions, definitions, "--set", set); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, wanted %q in it", helm, set, err, want)
			}
		}
	}
}

// TestDefinitionsChartsMetadataAgree with the other chart's, and with what is rendered.
func TestDefinitionsChartsMetadataAgree(t *testing.T) {
	t.Parallel()
	read := func(name string) (m map[string]any) {
		raw, err := os.ReadFile(filepath.Join(name, "Chart.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	whole, alone := read(chart), read(definitions)
	for _, field := range []string{"version", "appVersion", "kubeVersion", "home", "sources", "keywords"} {
		if !reflect.DeepEqual(whole[field], alone[field]) || alone[field] == nil {
			t.Errorf("%s is %v in %s and %v in %s", field, whole[field], chart, alone[field], definitions)
		}
	}
	notes := func(m map[string]any, name string) any {
		annotations, _ := m["annotations"].(map[string]any)
		return annotations["artifacthub.io/"+name]
	}
	for _, name := range []string{"crds", "license", "category", "prerelease"} {
		if a, b := notes(whole, name), notes(alone, name); a == nil || a != b {
			t.Errorf("the annotation %s is %v in %s and %v in %s", name, a, chart, b, definitions)
		}
	}
	var links []struct{ URL string }
	text, _ := notes(alone, "links").(string)
	if err := yaml.Unmarshal([]byte(text), &links); err != nil || len(links) < 2 {
		t.Fatalf("links %v, %v", links, err)
	}
	for _, l := range links {
		if file := strings.TrimPrefix(l.URL, "https://github.com/boardwalkhq/boardwalk/blob/main/"); !exists(filepath.Join("..", file)) {
			t.Errorf("Chart.yaml links to %s, which isn't in this repository", l.URL)
		}
	}
}

// small is a release that starts little and waits for nothing.
const small = "database.evaluation.enabled=false,database.existingSecret.name=db,database.migration.enabled=false,operator.removeIndexers=false"

// TestDefinitionsOfTheirOwnRelease: definitions from a chart of their own, and releases beside each other that don't install them.
func TestDefinitionsOfTheirOwnRelease(t *testing.T) {
	for _, helm := range helms {
		t.Run(helm, func(t *testing.T) {
			owner, first, second := onServer(t), onServer(t), onServer(t)
			t.Cleanup(func() {
				owner.discard(t, "customresourcedefinition", "chains.boardwalk.dev", "launchvenues.boardwalk.dev")
			})
			owner.accept(t, definitions, renderDefinitions(t, helm))

			owner.helm(t, helm, "install", definitions, definitions)
			owner.kubectl(t, "", "wait", "crd", "chains.boardwalk.dev", "launchvenues.boardwalk.dev", "--for=condition=Established", "--timeout=30s")
			for _, s := range []*server{first, second} {
				s.helm(t, helm, "install", "boardwalk", chart, "--set", small+",crds.install=false")
				s.kubectl(t, "", "apply", "-f", "../config/samples/02-base.yaml")
			}
			first.helm(t, helm, "uninstall", "boardwalk")
			second.owned(t, owner.namespace, definitions)
			owner.helm(t, helm, "upgrade", definitions, definitions, "--set", "labels.example\\.com/a=b")
			if got := owner.kubectl(t, "", "get", "crd,clusterrole", "-l", "example.com/a=b", "-o", "name"); len(strings.Fields(got)) != 4 {
				t.Errorf("after an upgrade there are with the new label %q", got)
			}
			owner.helm(t, helm, "uninstall", definitions)
			for _, s := range []*server{first, second} {
				s.kubectl(t, "", "get", "chain", "base")
			}
			owner.helm(t, helm, "install", definitions, definitions) // the same release takes up what it left
			owner.helm(t, helm, "uninstall", definitions)
			second.helm(t, helm, "uninstall", "boardwalk")
		})
	}
}

// owned fails unless a release has the definitions and their roles.
func (s *server) owned(t *testing.T, namespace, release string) {
	t.Helper()
	const path = `{range .items[*]}{.metadata.annotations.meta\.helm\.sh/release-namespace}/{.metadata.annotations.meta\.helm\.sh/release-name} {end}`
	got := s.kubectl(t, "", "get", "crd/chains.boardwalk.dev", "crd/launchvenues.boardwalk.dev", "clusterrole/boardwalk-view", "clusterrole/boardwalk-edit", "-o", "jsonpath="+path)
	if want := strings.Repeat(namespace+"/"+release+" ", 4); got != want {
		t.Errorf("the definitions and their roles belong to %q, wanted %q", got, want)
	}
}

// TestDefinitionsMoveToTheirOwnRelease, by both ways that the chart's README names.
func TestDefinitionsMoveToTheirOwnRelease(t *testing.T) {
	for _, helm := range helms {
		for _, ownership := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/take ownership %t", helm, ownership), func(t *testing.T) {
				owner, s := onServer(t), onServer(t)
				t.Cleanup(func() {
					owner.discard(t, "customresourcedefinition", "chains.boardwalk.dev", "launchvenues.boardwalk.dev")
				})
				s.helm(t, helm, "install", "boardwalk", chart, "--set", small)
				s.kubectl(t, "", "apply", "-f", "../config/samples/02-base.yaml")
				_, _, err := run(t.Context(), t, s.Kubeconfig, "", helm, "-n", owner.namespace, "install", definitions, definitions)
				if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
					t.Errorf("another release takes the definitions without being told to: %v", err)
				}
				owner.helm(t, helm, "uninstall", definitions, "--ignore-not-found") // helm 3 notes the failed one

				s.move(t, helm, owner, ownership)
				if ownership {
					s.wayBack(t, helm, owner)
				}
				s.helm(t, helm, "uninstall", "boardwalk")
				owner.owned(t, owner.namespace, definitions)
				owner.kubectl(t, "", "-n", s.namespace, "get", "chain", "base")
				owner.helm(t, helm, "uninstall", definitions)
			})
		}
	}
}

// withoutDefinitions is the upgrade after which a release leaves the definitions to another.
func (s *server) withoutDefinitions(t *testing.T, helm string) {
	t.Helper()
	s.helm(t, helm, "upgrade", "boardwalk", chart, "--reset-then-reuse-values", "--set", "crds.install=false")
}

func (s *server) move(t *testing.T, helm string, owner *server, ownership bool) {
	t.Helper()
	s.withoutDefinitions(t, helm)
	s.kubectl(t, "", "get", "chain", "base")
	take := []string{"install", definitions, definitions}
	if ownership {
		take = append(take, "--take-ownership")
	} else {
		s.kubectl(t, "", "annotate", "--overwrite", "crd", "chains.boardwalk.dev", "launchvenues.boardwalk.dev",
			"meta.helm.sh/release-name="+definitions, "meta.helm.sh/release-namespace="+owner.namespace)
	}
	owner.helm(t, helm, take...)
	s.owned(t, owner.namespace, definitions)
}

// wayBack: a rollback to a revision that installed the definitions takes them again, and what the README says brings them back. Helm 3 takes the
// roles alone and fails.
func (s *server) wayBack(t *testing.T, helm string, owner *server) {
	t.Helper()
	_, _, err := run(t.Context(), t, s.Kubeconfig, "", helm, "-n", s.namespace, "rollback", "boardwalk", "1")
	if (err != nil) != (helm == "helm3") {
		t.Errorf("the rollback with %s: %v", helm, err)
	}
	const path = `jsonpath={.metadata.annotations.meta\.helm\.sh/release-namespace}`
	crd := s.kubectl(t, "", "get", "crd", "chains.boardwalk.dev", "-o", path)
	role := s.kubectl(t, "", "get", "clusterrole", "boardwalk-view", "-o", path)
	if role != s.namespace || (crd == s.namespace) != (helm == "helm") {
		t.Errorf("after a rollback with %s the definition is of %s, the role of %s; rolled back was that of %s", helm, crd, role, s.namespace)
	}
	s.withoutDefinitions(t, helm)
	owner.helm(t, helm, "upgrade", definitions, definitions, "--take-ownership")
	owner.owned(t, owner.namespace, definitions)
}
