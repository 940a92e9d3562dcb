package v1alpha1_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// fromKubernetes are the fields whose descriptions Kubernetes writes.
var fromKubernetes = []string{".apiVersion", ".kind", ".metadata", ".status.conditions[]"}

// inOtherWords say by themselves when they may be left out.
var inOtherWords = []string{".spec.chainID"}

// hard are words that readers from other countries stumbled over, or that mean something else elsewhere.
var hard = regexp.MustCompile(`(?i)\b(believe|believed|bear|bears|mend|mended)\b`)

// TestDescriptions: `kubectl explain` has a sentence for each field, and each optional field of a spec says what holds without it.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"boardwalk.dev_chains.yaml", "boardwalk.dev_launchvenues.yaml"} {
		raw, err := os.ReadFile(filepath.Join("../../config/crd/bases", file))
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatal(err)
		}
		fields := 0
		describes(t, "", crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &fields)
		if fields < 25 {
			t.Errorf("%s has %d fields", file, fields)
		}
	}
}

func describes(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps, fields *int) {
	t.Helper()
	for name := range schema.Properties {
		field := schema.Properties[name]
		at := path + "." + name
		if slices.ContainsFunc(fromKubernetes, func(of string) bool { return strings.HasPrefix(at, of) }) {
			continue
		}
		*fields++
		isOptional := strings.HasPrefix(at, ".spec.") && !slices.Contains(schema.Required, name) && !slices.Contains(inOtherWords, at)
		switch text := strings.Join(strings.Fields(field.Description), " "); {
		case text == "" && at != ".spec" && at != ".status":
			t.Errorf("%s has no description", at)
		case isOptional && !strings.Contains(text, "Default: ") && !strings.Contains(text, "Left out: "):
			t.Errorf("%s doesn't say what holds where it is left out: %s", at, text)
		case hard.MatchString(text):
			t.Errorf("%s says %q: %s", at, hard.FindString(text), text)
		}
		describes(t, at, &field, fields)
		if field.Items != nil && field.Items.Schema != nil {
			describes(t, at+"[]", field.Items.Schema, fields)
		}
	}
}
