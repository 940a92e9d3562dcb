package charts_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// metadata is Chart.yaml.
type metadata struct {
	Version     string            `json:"version"`
	AppVersion  string            `json:"appVersion"`
	Home        string            `json:"home"`
	Sources     []string          `json:"sources"`
	Annotations map[string]string `json:"annotations"`
}

// annotation is the YAML of one of Artifact Hub's annotations, with no member that isn't known.
func (m *metadata) annotation(t *testing.T, name string, into any) {
	t.Helper()
	text := m.Annotations["artifacthub.io/"+name]
	if text == "" {
		t.Fatalf("Chart.yaml lacks the annotation %s", name)
	}
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("the annotation %s: %v", name, err)
	}
}

// TestMetadataAgrees: what Chart.yaml tells Artifact Hub of definitions and images is what the chart renders, and what it links to is there.
func TestMetadataAgrees(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m metadata
	if err := yaml.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	rendered := render(t, "helm")

	var told, there []string
	var crds []struct{ Kind, Version, Name, DisplayName, Description string }
	m.annotation(t, "crds", &crds)
	for _, c := range crds {
		told = append(told, strings.Join([]string{c.Name, c.Kind, c.Version}, " "))
		if c.DisplayName == "" || c.Description == "" {
			t.Errorf("%s isn't described", c.Name)
		}
	}
	for _, o := range rendered {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		kind, _ := at(o, "spec", "names", "kind").(string)
		versions, _ := at(o, "spec", "versions").([]any)
		for _, v := range versions {
			version, _ := v.(map[string]any)
			name, _ := version["name"].(string)
			there = append(there, strings.Join([]string{o.GetName(), kind, name}, " "))
		}
	}
	slices.Sort(told)
	slices.Sort(there)
	if !reflect.DeepEqual(told, there) {
		t.Errorf("Chart.yaml tells of the definitions %q, rendered are %q", told, there)
	}

	var pictures []struct {
		Name, Image string
		Whitelisted bool
	}
	m.annotation(t, "images", &pictures)
	told = nil
	for _, p := range pictures {
		told = append(told, p.Image)
	}
	slices.Sort(told)
	if got := images(t, rendered); !slices.Equal(told, got) {
		t.Errorf("Chart.yaml tells of the images %q, rendered are %q", told, got)
	}

	var changes []struct{ Kind, Description string }
	m.annotation(t, "changes", &changes)
	for _, c := range changes {
		if !slices.Contains([]string{"added", "changed", "deprecated", "removed", "fixed", "security"}, c.Kind) || c.Description == "" {
			t.Errorf("a change is of the kind %q: %s", c.Kind, c.Description)
		}
	}
	if first := strings.HasPrefix(m.Version, "0."); first != (m.Annotations["artifacthub.io/prerelease"] == "true") {
		t.Errorf("version %s, and prerelease is %s", m.Version, m.Annotations["artifacthub.io/prerelease"])
	}
	license, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(license), "Apache License") || m.Annotations["artifacthub.io/license"] != "Apache-2.0" {
		t.Errorf("the license is told to be %q", m.Annotations["artifacthub.io/license"])
	}

	var links []struct{ Name, URL string }
	m.annotation(t, "links", &links)
	const home = "https://github.com/boardwalkhq/boardwalk"
	if m.Home != home || !slices.Equal(m.Sources, []string{home}) {
		t.Errorf("Chart.yaml has the home %q and the sources %q", m.Home, m.Sources)
	}
	for _, l := range links {
		file := strings.TrimPrefix(l.URL, home+"/blob/main/")
		if !exists(filepath.Join("..", file)) {
			t.Errorf("Chart.yaml links to %s, which isn't in this repository", file)
		}
	}
}
