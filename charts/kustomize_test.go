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
)

// TestKustomizeIsTheChart: config/default is what the chart installs on a database of its own, under the same names.
func TestKustomizeIsTheChart(t *testing.T) {
	stdout, _, err := run(t.Context(), t, "", "", "kustomize", "build", "../config/default")
	if err != nil {
		t.Fatal(err)
	}
	plain := objects(t, stdout)
	rendered := slices.DeleteFunc(unhashed(render(t, "helm", "-f", filepath.Join(chart, "ci", "existing-database.yaml"))),
		func(o *unstructured.Unstructured) bool { return o.GetAnnotations()["helm.sh/hook"] != "" })
	var namespace *unstructured.Unstructured
	var rest []*unstructured.Unstructured
	for _, o := range plain {
		if o.GetKind() == "Namespace" {
			namespace = o
		} else {
			rest = append(rest, o)
		}
	}
	if namespace == nil || namespace.GetName() != "boardwalk" || namespace.GetLabels()["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Errorf("config/default has the namespace %v, wanted boardwalk, which lets in restricted pods alone", namespace)
	}
	if a, b := keys(rest), keys(rendered); !reflect.DeepEqual(a, b) {
		t.Fatalf("config/default has\n%v\nthe chart\n%v", a, b)
	}
	for _, want := range rendered {
		got := one(t, rest, want.GetKind(), want.GetName()).DeepCopy()
		want = want.DeepCopy()
		for _, o := range []*unstructured.Unstructured{want, got} {
			onlyHelms(o)
		}
		if !reflect.DeepEqual(got.Object, want.Object) {
			t.Errorf("%s is\n%s\nin config/default, and in the chart\n%s", key(want), document(t, got), document(t, want))
		}
	}

	s := onServer(t)
	for _, o := range rest {
		o.SetNamespace("") // the test's
	}
	s.accept(t, "config/default", rest)
	s.kubectl(t, document(t, namespace), "apply", "--dry-run=server", "--validate=strict", "-f", "-")
}

// TestKustomizeGivesIndexersItsImage, whichever that is.
func TestKustomizeGivesIndexersItsImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../config")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "default", "kustomization.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("newName: boardwalk", "newName: registry.example.com:5000/markets", "newTag: 0.1.0", "newTag: v2").Replace(string(raw))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, _, err := run(t.Context(), t, "", "", "kustomize", "build", filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	pod, _ := template(one(t, objects(t, stdout), "Deployment", "boardwalk-operator"))
	operator := container(t, pod, "operator")
	const image = "registry.example.com:5000/markets:v2"
	if a := fmt.Sprint(args(t, operator)); operator.Object["image"] != image || strings.Contains(a, "--indexer-image") {
		t.Errorf("the operator is %v with %s, wanted %s, which its indexers get", operator.Object["image"], a, image)
	}
}

// onlyHelms takes away what Helm alone, or kustomize alone, writes into an object.
func onlyHelms(o *unstructured.Unstructured) {
	o.SetNamespace("")
	helms := func(labels map[string]string) map[string]string {
		for _, l := range []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"} {
			delete(labels, l)
		}
		return labels
	}
	o.SetLabels(helms(o.GetLabels()))
	if o.GetKind() == "Job" { // kustomize gives each version's Job the same name
		unstructured.RemoveNestedField(o.Object, "spec", "ttlSecondsAfterFinished")
	}
	if o.GetKind() == "CustomResourceDefinition" {
		o.SetLabels(nil)
		annotations := o.GetAnnotations()
		delete(annotations, "helm.sh/resource-policy")
		o.SetAnnotations(annotations)
	}
	path := []string{"spec", "template", "metadata", "labels"}
	if labels, ok, err := unstructured.NestedStringMap(o.Object, path...); ok && err == nil {
		_ = unstructured.SetNestedStringMap(o.Object, helms(labels), path...) // the path is there
	}
}
