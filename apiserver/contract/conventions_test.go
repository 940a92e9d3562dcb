package contract_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// node is a part of the document.
type node = map[string]any

func document(t *testing.T) node {
	t.Helper()
	var doc node
	if err := yaml.Unmarshal(contract.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func child(n any, path ...string) node {
	for _, key := range path {
		m, _ := n.(node)
		n = m[key]
	}
	m, _ := n.(node)
	return m
}

// TestEveryOperationHasTheErrorsOfAll holds the document to what every endpoint can answer, and to an optional chain
// wherever a path has a mint.
func TestEveryOperationHasTheErrorsOfAll(t *testing.T) {
	t.Parallel()
	for path, item := range child(document(t), "paths") {
		op := child(item, "get")
		responses := child(op, "responses")
		for _, status := range []string{"200", "304", "405", "429", "500", "503"} {
			if responses[status] == nil && (status != "304" || path != "/api/live/stream") {
				t.Errorf("%s documents no %s", path, status)
			}
		}
		if !strings.Contains(path, "{mint") {
			continue
		}
		operations, err := contract.Operations()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range operations {
			if o.Path == path && !slices.ContainsFunc(o.Parameters, func(p *contract.Parameter) bool {
				return p.Name == "chain" && p.In == "query" && !p.Required
			}) {
				t.Errorf("%s takes no optional chain", path)
			}
		}
	}
}

// conventions are what names of members promise: those that match are of one of some kinds. The DexScreener shape is the
// exception, as the contract has it.
var conventions = []struct {
	name  *regexp.Regexp
	kinds []string
}{
	{regexp.MustCompile(`(_at|^as_of|^at)$`), []string{"Timestamp"}},
	{regexp.MustCompile(`_pct$`), []string{"number"}},
	{regexp.MustCompile(`(_usd|^price|^liquidity|^volume|^market_cap|^fdv)$`), []string{"number"}},
	{regexp.MustCompile(`_s$`), []string{"integer", "number"}},
	{regexp.MustCompile(`^(t|from|to|block|number)$`), []string{"integer", "array", "TrustBlock"}}, // arrays are columns
	{regexp.MustCompile(`^stale$`), []string{"boolean"}},
	{regexp.MustCompile(`^chain$`), []string{"ChainID", "string"}},
	{regexp.MustCompile(`^unknown_reasons$`), []string{"UnknownReasons"}},
	{regexp.MustCompile(`^figure_sources$`), []string{"FigureSources"}},
}

func TestNamesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	seen := 0
	schemas := child(document(t), "components", "schemas")
	for schema, body := range schemas {
		if strings.HasPrefix(schema, "Dex") {
			continue
		}
		for name, property := range properties(schemas, body) {
			for _, c := range conventions {
				if !c.name.MatchString(name) {
					continue
				}
				seen++
				if kinds := kindsOf(property); !slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(c.kinds, k) }) {
					t.Errorf("%s.%s is %v, want one of %v", schema, name, kinds, c.kinds)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d members were looked at", seen)
	}
}

// properties are the members of a schema, those of its parts among them.
func properties(schemas node, schema any) node {
	out := node{}
	m, _ := schema.(node)
	if ref, ok := m["$ref"].(string); ok {
		return properties(schemas, schemas[refName(ref)])
	}
	maps.Copy(out, child(m, "properties"))
	parts, _ := m["allOf"].([]any)
	for _, part := range parts {
		maps.Copy(out, properties(schemas, part))
	}
	return out
}

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// kindsOf are the types of a schema, or the names of those that it refers to; null left out.
func kindsOf(schema any) []string {
	m, _ := schema.(node)
	var out []string
	if ref, ok := m["$ref"].(string); ok {
		out = append(out, refName(ref))
	}
	switch kind := m["type"].(type) {
	case string:
		out = append(out, kind)
	case []any:
		for _, k := range kind {
			out = append(out, fmt.Sprint(k))
		}
	}
	parts, _ := m["oneOf"].([]any)
	for _, part := range parts {
		out = append(out, kindsOf(part)...)
	}
	return slices.DeleteFunc(out, func(k string) bool { return k == "null" })
}

// TestNullHasAReason holds every object with a member that may be null to having unknown_reasons.
func TestNullHasAReason(t *testing.T) {
	t.Parallel()
	schemas := child(document(t), "components", "schemas")
	for schema, body := range schemas {
		members := properties(schemas, body)
		for name, property := range members {
			m, _ := property.(node)
			kinds, _ := m["type"].([]any)
			parts, _ := m["oneOf"].([]any)
			nullable := slices.Contains(kinds, any("null")) ||
				slices.ContainsFunc(parts, func(p any) bool { q, _ := p.(node); return q["type"] == "null" })
			if nullable && members["unknown_reasons"] == nil {
				t.Errorf("%s.%s may be null, and nothing says why", schema, name)
			}
		}
	}
}
