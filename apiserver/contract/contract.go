// Package contract is the public API as a document: openapi.yaml, written by hand, and the Go types generated from it.
// It knows no route, no handler and no store. The tests that hold the code to the document are in contracttest.
package contract

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

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

// Operation is one documented operation.
type Operation struct {
	ID     string // operationId
	Method string // upper case
	Path   string // template, with parameters in braces
	Cache  Cache
}

// Cache says how long a 200 or 304 of an operation may be reused (x-cache).
type Cache struct {
	MaxAge               int `yaml:"max_age"`        // seconds
	StaleWhileRevalidate int `yaml:"swr"`            // seconds
	ClosedMaxAge         int `yaml:"closed_max_age"` // seconds, for a series that can't change any more; 0: none
}

// Header returns the value of Cache-Control. A Cache without any time asks for revalidation on every use.
func (c Cache) Header() string {
	if c.MaxAge == 0 {
		return "no-cache"
	}
	if c.StaleWhileRevalidate == 0 {
		return fmt.Sprintf("public, max-age=%d", c.MaxAge)
	}
	return fmt.Sprintf("public, max-age=%d, stale-while-revalidate=%d", c.MaxAge, c.StaleWhileRevalidate)
}

// ClosedHeader returns the value of Cache-Control for an answer that can't change any more, or that of Header where
// the operation has no such answers.
func (c Cache) ClosedHeader() string {
	if c.ClosedMaxAge == 0 {
		return c.Header()
	}
	return fmt.Sprintf("public, max-age=%d, immutable", c.ClosedMaxAge)
}

// Operations returns the documented operations in the order of the document, which is read once. It fails only on a
// document that is broken, which the tests of this package rule out.
func Operations() ([]Operation, error) {
	ops, err := operations()
	return slices.Clone(ops), err
}

var operations = sync.OnceValues(func() ([]Operation, error) { return readOperations(document) })

var methods = []string{
	http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete,
	http.MethodOptions, http.MethodHead, http.MethodPatch, http.MethodTrace,
}

func readOperations(source []byte) ([]Operation, error) {
	var doc struct {
		Paths yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(source, &doc); err != nil {
		return nil, fmt.Errorf("contract: read document: %w", err)
	}
	var ops []Operation
	for path, item := range pairs(&doc.Paths) {
		for key, node := range pairs(item) {
			method := strings.ToUpper(key)
			if !slices.Contains(methods, method) {
				continue // a member of the path item that is no operation
			}
			var op struct {
				ID    string `yaml:"operationId"`
				Cache Cache  `yaml:"x-cache"`
			}
			if err := node.Decode(&op); err != nil {
				return nil, fmt.Errorf("contract: %s %s: %w", method, path, err)
			}
			if op.ID == "" {
				return nil, fmt.Errorf("contract: %s %s has no operationId", method, path)
			}
			ops = append(ops, Operation{ID: op.ID, Method: method, Path: path, Cache: op.Cache})
		}
	}
	return ops, nil
}
