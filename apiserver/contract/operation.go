package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Operation is one documented operation.
type Operation struct {
	ID         string // operationId
	Method     string // upper case
	Path       string // template, with parameters in braces
	Alias      string // a second path of the same operation (x-alias); "" is none
	Media      string // media type of a 200
	Cache      Cache
	Limit      Limit
	Parameters []*Parameter // those of path and query, in the order of the document
}

// Cache says how long a 200 or 304 of an operation may be reused (x-cache).
type Cache struct {
	MaxAge               int `yaml:"max_age"`        // seconds
	StaleWhileRevalidate int `yaml:"swr"`            // seconds
	ClosedMaxAge         int `yaml:"closed_max_age"` // seconds, for a series that can't change any more; 0: none
	// Series is for the series that the operation answers with beside what the rest is for; nil: none.
	Series *Cache `yaml:"series"`
	// Unchecked is for an answer that says that there is nothing to check; nil: none.
	Unchecked *Cache `yaml:"unchecked"`
	// Stale is for an old answer where none can be made now; nil: none.
	Stale *Cache `yaml:"stale"`
	// Older is for pages of older items; nil: none.
	Older *Cache `yaml:"older"`
	// NoStore is for what nobody may keep.
	NoStore bool `yaml:"no_store"`
}

// Header returns the value of Cache-Control. A Cache without any time asks for revalidation on every use.
func (c Cache) Header() string {
	if c.NoStore {
		return "no-store"
	}
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

// Private makes of a value of Cache-Control that of an answer to a request with a key: no shared cache may keep what it says of
// the key and its limit.
func Private(cacheControl string) string {
	if rest, shared := strings.CutPrefix(cacheControl, "public"); shared {
		return "private" + rest
	}
	if cacheControl == "no-cache" { // by itself it lets a cache keep the answer and ask whether it still holds
		return "private, no-cache"
	}
	return cacheControl
}

// Headers returns the values of Cache-Control that the operation may answer with.
func (c Cache) Headers() []string {
	out := []string{c.Header(), c.ClosedHeader()}
	for _, other := range []*Cache{c.Series, c.Unchecked, c.Stale, c.Older} {
		if other != nil {
			out = append(out, other.Header())
		}
	}
	return out
}

// Limit is how often one client may ask an operation (x-rate-limit): never more than Requests in any WindowS seconds.
type Limit struct {
	Name     string `yaml:"name"` // the operationId where the document gives none
	Requests int    `yaml:"requests"`
	WindowS  int    `yaml:"window_s"`
}

// Network is the limit of all clients of a /48 of IPv6, which has the quotas of so many.
func (l Limit) Network(clients int) Limit {
	return Limit{Name: l.Name + "-prefix", Requests: clients * l.Requests, WindowS: l.WindowS}
}

// Window is the limit's window.
func (l Limit) Window() time.Duration { return time.Duration(l.WindowS) * time.Second }

// Operations returns the documented operations in the order of the document, which is read once. It fails only on a
// document that is broken, which the tests of this package rule out.
func Operations() ([]Operation, error) {
	ops, err := operations()
	return slices.Clone(ops), err
}

var operations = sync.OnceValues(func() ([]Operation, error) { return readOperations(document) })

// UnroutedLimit is the limit of the paths that are no operation, all of them together.
func UnroutedLimit() (Limit, error) {
	var doc struct {
		Unrouted struct {
			Limit Limit `yaml:"rate_limit"`
		} `yaml:"x-unrouted"`
	}
	if err := yaml.Unmarshal(document, &doc); err != nil {
		return Limit{}, fmt.Errorf("contract: read document: %w", err)
	}
	return doc.Unrouted.Limit, nil
}

// PagesLimit is the limit of the pages for people and of what they load, all of them together.
func PagesLimit() (Limit, error) {
	var doc struct {
		Pages struct {
			Limit Limit `yaml:"rate_limit"`
		} `yaml:"x-pages"`
	}
	if err := yaml.Unmarshal(document, &doc); err != nil {
		return Limit{}, fmt.Errorf("contract: read document: %w", err)
	}
	return doc.Pages.Limit, nil
}

var methods = []string{
	http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete,
	http.MethodOptions, http.MethodHead, http.MethodPatch, http.MethodTrace,
}

func readOperations(source []byte) ([]Operation, error) {
	var doc struct {
		Paths      yaml.Node  `yaml:"paths"`
		Components components `yaml:"components"`
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
			op, err := readOperation(node, &doc.Components)
			if err != nil {
				return nil, fmt.Errorf("contract: %s %s: %w", method, path, err)
			}
			op.Method, op.Path = method, path
			ops = append(ops, op)
		}
	}
	return ops, nil
}

func readOperation(node *yaml.Node, c *components) (Operation, error) {
	var raw struct {
		ID         string         `yaml:"operationId"`
		Alias      string         `yaml:"x-alias"`
		Cache      Cache          `yaml:"x-cache"`
		Limit      Limit          `yaml:"x-rate-limit"`
		Parameters []rawParameter `yaml:"parameters"`
		Responses  map[string]struct {
			Content map[string]yaml.Node `yaml:"content"`
		} `yaml:"responses"`
	}
	if err := node.Decode(&raw); err != nil {
		return Operation{}, err
	}
	op := Operation{ID: raw.ID, Alias: raw.Alias, Cache: raw.Cache, Limit: raw.Limit}
	if op.ID == "" {
		return op, fmt.Errorf("line %d: no operationId", node.Line)
	}
	if op.Limit.Requests <= 0 || op.Limit.WindowS <= 0 {
		return op, fmt.Errorf("%s has no x-rate-limit", op.ID)
	}
	op.Limit.Name = op.ID
	for media := range raw.Responses["200"].Content {
		op.Media = media // there is one
	}
	if n := len(raw.Responses["200"].Content); n != 1 {
		return op, fmt.Errorf("%s answers 200 with %d media types, not one", op.ID, n)
	}
	for i := range raw.Parameters {
		p, err := raw.Parameters[i].resolve(c)
		if err != nil {
			return op, fmt.Errorf("%s: %w", op.ID, err)
		}
		op.Parameters = append(op.Parameters, p)
	}
	return op, nil
}
