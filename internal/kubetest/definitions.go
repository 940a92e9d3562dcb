package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// install creates these custom resource definitions, and returns when the API server says of all of them that it serves
// them.
func (c *Cluster) install(ctx context.Context, definitions []*unstructured.Unstructured) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	discover, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for _, definition := range definitions {
		if _, err := client.Resource(resource).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("install %s: %w", definition.GetName(), err)
		}
	}
	for _, definition := range definitions {
		err := until(ctx, definition.GetName()+" is served", func(context.Context) error { return served(discover, definition) }, c.apiserver)
		if err != nil {
			return err
		}
	}
	return nil
}

// readDefinitions leaves out whatever else the files hold; nothing but other things is an error.
func readDefinitions(paths []string) (definitions []*unstructured.Unstructured, err error) {
	for _, path := range paths {
		before := len(definitions)
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				return err
			}
			found, err := readFile(file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			definitions = append(definitions, found...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read custom resource definitions: %w", err)
		}
		if len(definitions) == before {
			return nil, fmt.Errorf("there are no custom resource definitions in %s", path)
		}
	}
	return definitions, nil
}

func readFile(path string) (definitions []*unstructured.Unstructured, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		var document map[string]any
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return definitions, nil
		} else if err != nil {
			return nil, err
		}
		if document["kind"] == "CustomResourceDefinition" {
			definitions = append(definitions, &unstructured.Unstructured{Object: document})
		}
	}
}

// served asks for what clients' mappers read, all served versions: it comes last.
func served(discover *discovery.DiscoveryClient, definition *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, each := range versions {
		version, ok := each.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		resources, err := discover.ServerResourcesForGroupVersion(fmt.Sprintf("%s/%s", group, version["name"]))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
			return fmt.Errorf("%s/%s has no %s yet", group, version["name"], plural)
		}
	}
	return nil
}
