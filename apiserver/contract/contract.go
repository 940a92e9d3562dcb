// Package contract is the public API as a document: openapi.yaml, written by hand, and the Go types generated from it.
// It knows no route, no handler and no store. The tests that hold the code to the document are in contracttest.
package contract

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:generate go tool oapi-codegen -config types.config.yaml openapi.yaml

//go:embed openapi.yaml
var document []byte

// Document returns a copy of the YAML source. Its info.version is a placeholder.
func Document() []byte { return slices.Clone(document) }

// JSON returns the document as compact JSON, keys in the order of the source, with version (the short running commit)
// as info.version. It fails only on a document that is broken, which the tests of this package rule out.
func JSON(version string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("contract: read document: %w", err)
	}
	if len(root.Content) != 1 {
		return nil, fmt.Errorf("contract: document has %d roots", len(root.Content))
	}
	placeholder := lookup(lookup(root.Content[0], "info"), "version")
	if placeholder == nil {
		return nil, errors.New("contract: document has no info.version")
	}
	placeholder.SetString(version)
	return appendJSON(nil, root.Content[0])
}
