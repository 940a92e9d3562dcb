// Package contract is the intake as a document: openapi.yaml, written by hand.
package contract

import (
	_ "embed"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"
)

//go:embed openapi.yaml
var document []byte

// Document returns a copy of the YAML source.
func Document() []byte { return slices.Clone(document) }

// JSON returns the document as JSON.
func JSON() ([]byte, error) {
	out, err := yaml.YAMLToJSON(document)
	if err != nil { // which the tests of this package rule out
		return nil, fmt.Errorf("contract: read the intake's document: %w", err)
	}
	return out, nil
}
