package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// unavoidable is the number of problems in .redocly.lint-ignore.yaml for each form of the document.
const unavoidable = 11

// lintReport is what redocly prints for one document with --format=json.
type lintReport struct {
	Totals   struct{ Errors, Warnings, Ignored int }
	Problems []struct {
		RuleID, Severity, Message string
		Location                  []struct{ Pointer string }
	}
}

func (r lintReport) String() string {
	var out bytes.Buffer
	for _, p := range r.Problems {
		fmt.Fprintf(&out, "\n%s %s: %s", p.Severity, p.RuleID, p.Message)
		for _, l := range p.Location {
			fmt.Fprintf(&out, "\n    at %s", l.Pointer)
		}
	}
	return out.String()
}

// lint returns one report for each document, in the order of their names.
func lint(t *testing.T, documents map[string][]byte) []lintReport {
	t.Helper()
	b := newBench(t, "redocly.yaml", ".redocly.lint-ignore.yaml")
	for name, content := range documents {
		b.write(t, name, content)
	}
	names := slices.Sorted(maps.Keys(documents))
	out, err := b.node(t.Context(), "node_modules/@redocly/cli/bin/cli.js",
		append([]string{"lint", "--format=json", "--max-problems=1000"}, names...)...)
	var reports []lintReport
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var report lintReport
		if problem := decoder.Decode(&report); errors.Is(problem, io.EOF) {
			break
		} else if problem != nil {
			t.Fatalf("redocly printed no report: %v\n%s\n%v", problem, out, err)
		}
		reports = append(reports, report)
	}
	if len(reports) != len(names) {
		t.Fatalf("redocly printed %d reports for %d documents: %v", len(reports), len(names), err)
	}
	return reports
}

func TestRedoclyFindsNothing(t *testing.T) {
	t.Parallel()
	served, err := contract.JSON("test")
	if err != nil {
		t.Fatal(err)
	}
	for i, report := range lint(t, map[string][]byte{"openapi.json": served, "openapi.yaml": contract.Document()}) {
		form := []string{"openapi.json", "openapi.yaml"}[i]
		if len(report.Problems) > 0 || report.Totals.Errors > 0 || report.Totals.Warnings > 0 {
			t.Errorf("%s: %+v%s", form, report.Totals, report)
		}
		if report.Totals.Ignored != unavoidable {
			t.Errorf("%s: %d problems are ignored, want %d: .redocly.lint-ignore.yaml is not current",
				form, report.Totals.Ignored, unavoidable)
		}
	}
}

// TestRedoclyFindsFaults shows that the rules are on.
func TestRedoclyFindsFaults(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	version := doc.at("paths", "/api/version", "get")
	delete(version, "description")
	delete(version.at("responses", "200", "headers"), "ETag")
	delete(doc.at("components", "responses", "NotFound", "content", "application/problem+json", "schema"), "$ref")
	doc.at("components", "schemas", "PriceView", "properties", "name")["type"] = "integer"
	doc.at("components", "schemas", "Majors", "properties", "blocks")["$ref"] = "#/components/schemas/Block"
	doc.at("components", "schemas")["Nobody"] = object{"type": "string"}
	doc.at("paths")["/api/{what}/candles"] = doc.at("paths", "/api/token/{mint}/candles")

	report := lint(t, map[string][]byte{"openapi.json": doc.json(t)})[0]
	found := map[string]bool{}
	for _, p := range report.Problems {
		found[p.RuleID] = true
	}
	for _, rule := range []string{
		"operation-description",
		"response-contains-header",
		"operation-4xx-problem-details-rfc7807",
		"no-invalid-media-type-examples",
		"no-unresolved-refs",
		"no-unused-components",
		"no-ambiguous-paths",
		"operation-operationId-unique",
		"path-parameters-defined",
	} {
		if !found[rule] {
			t.Errorf("%s was not found", rule)
		}
	}
	if report.Totals.Warnings > 0 {
		t.Errorf("%d findings are warnings, want errors alone", report.Totals.Warnings)
	}
	if t.Failed() {
		t.Log(report)
	}
}

// TestToolsReachNobody shows that a tool which asks the outside for anything ends at once: had redocly told its makers of
// its use, the tests above had failed.
func TestToolsReachNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, source := range map[string]string{
		"fetch.cjs": `fetch('http://boardwalk.invalid/').catch(() => {});`,
		"https.cjs": `require('node:https').get('https://192.0.2.1/').on('error', () => {});`,
		"net.cjs":   `require('node:net').connect(80, '192.0.2.1').on('error', () => {});`,
	} {
		b.write(t, name, []byte(source))
		if _, err := b.node(t.Context(), name); err == nil {
			t.Errorf("%s was let out", name)
		} else if !strings.Contains(err.Error(), "offline: refused") {
			t.Errorf("%s failed for another reason: %v", name, err)
		}
	}
}

// object is a part of the document that a test spoils.
type object map[string]any

func readDocument(t *testing.T) object {
	t.Helper()
	served, err := contract.JSON("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc object
	if err := json.Unmarshal(served, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at returns the object at a path of names. Where there is none, the nil map panics on the first write, but for delete:
// a fault that could not be planted isn't found either.
func (o object) at(path ...string) object {
	for _, name := range path {
		switch next := o[name].(type) {
		case object:
			o = next
		case map[string]any:
			o = next
		default:
			return nil
		}
	}
	return o
}

func (o object) json(t *testing.T) []byte {
	t.Helper()
	out, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
