package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/internal/golden"
)

const schemaFile = "testdata/schema.golden"

// attributes are all that the generator writes of a field, children and descriptions excepted.
type attributes struct {
	Type             string            `json:"type,omitempty"`
	Format           string            `json:"format,omitempty"`
	Pattern          string            `json:"pattern,omitempty"`
	Default          json.RawMessage   `json:"default,omitempty"`
	Enum             []json.RawMessage `json:"enum,omitempty"`
	Nullable         bool              `json:"nullable,omitempty"`
	Minimum          *float64          `json:"minimum,omitempty"`
	Maximum          *float64          `json:"maximum,omitempty"`
	ExclusiveMinimum bool              `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum bool              `json:"exclusiveMaximum,omitempty"`
	MinLength        *float64          `json:"minLength,omitempty"`
	MaxLength        *float64          `json:"maxLength,omitempty"`
	MinItems         *float64          `json:"minItems,omitempty"`
	MaxItems         *float64          `json:"maxItems,omitempty"`
	MinProperties    *float64          `json:"minProperties,omitempty"`
	MaxProperties    *float64          `json:"maxProperties,omitempty"`
	AnyOf            json.RawMessage   `json:"anyOf,omitempty"`
	IntOrString      bool              `json:"x-kubernetes-int-or-string,omitempty"`
	AnyFields        bool              `json:"x-kubernetes-preserve-unknown-fields,omitempty"`
	ListType         string            `json:"x-kubernetes-list-type,omitempty"`
	ListMapKeys      []string          `json:"x-kubernetes-list-map-keys,omitempty"`
	MapType          string            `json:"x-kubernetes-map-type,omitempty"`
	Rules            []rule            `json:"x-kubernetes-validations,omitempty"`
}

type rule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	FieldPath         string `json:"fieldPath,omitempty"`
	Reason            string `json:"reason,omitempty"`
	OptionalOldSelf   bool   `json:"optionalOldSelf,omitempty"`
}

// node is a schema as it is in a definition.
type node struct {
	attributes

	Description          string           `json:"description,omitempty"`
	Required             []string         `json:"required,omitempty"`
	Properties           map[string]*node `json:"properties,omitempty"`
	Items                *node            `json:"items,omitempty"`
	AdditionalProperties *node            `json:"additionalProperties,omitempty"`
}

// field is a line of the record.
type field struct {
	attributes

	Required bool `json:"required,omitempty"`
}

// today is the schemas of config/crd/bases by the names of their resources. What they have and the types above don't is an error.
func today(t *testing.T) map[string]*node {
	t.Helper()
	all := map[string]*node{}
	for _, resource := range []string{chains, venues} {
		raw, err := os.ReadFile(filepath.Join("../../config/crd/bases", "boardwalk.dev_"+resource+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(raw, &definition); err != nil {
			t.Fatal(err)
		}
		if v := definition.Spec.Versions; len(v) != 1 || v[0].Name != "v1alpha1" {
			t.Fatalf("%s has other versions: this test is of v1alpha1", resource)
		}
		all[resource] = &node{}
		if err := yaml.UnmarshalStrict(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, all[resource], yaml.DisallowUnknownFields); err != nil {
			t.Fatalf("%s has what this test doesn't hold: %v", resource, err)
		}
	}
	return all
}

// flat is all fields by their paths: [] is an item of a list, {} a value of a map.
func flat(roots map[string]*node) map[string]field {
	all := map[string]field{}
	var add func(path string, n *node, required bool)
	add = func(path string, n *node, required bool) {
		f := field{n.attributes, required}
		f.Rules = nil
		for _, r := range n.Rules { // their words may change
			f.Rules = append(f.Rules, rule{Rule: r.Rule, OptionalOldSelf: r.OptionalOldSelf})
		}
		all[path] = f
		for name, p := range n.Properties {
			add(path+"."+name, p, slices.Contains(n.Required, name))
		}
		if n.Items != nil {
			add(path+"[]", n.Items, false)
		}
		if n.AdditionalProperties != nil {
			add(path+"{}", n.AdditionalProperties, false)
		}
	}
	for name, root := range roots {
		add(name, root, false)
	}
	return all
}

// record writes a field a line.
func record(t *testing.T, all map[string]field) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(all)) {
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		if err := e.Encode(all[path]); err != nil {
			t.Fatal(err)
		}
		out.WriteString(path + " " + line.String())
	}
	return out.Bytes()
}

func recorded(t *testing.T, raw []byte) map[string]field {
	t.Helper()
	all := map[string]field{}
	for line := range strings.Lines(string(raw)) {
		path, text, _ := strings.Cut(line, " ")
		var f field
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatalf("%s: %s: %v", schemaFile, path, err)
		}
		all[path] = f
	}
	return all
}

// parent is the path of the field that a field is in.
func parent(path string) string {
	if p, ok := strings.CutSuffix(path, "[]"); ok {
		return p
	}
	if p, ok := strings.CutSuffix(path, "{}"); ok {
		return p
	}
	return path[:max(0, strings.LastIndex(path, "."))]
}

// broken is what may refuse an object that was right, lose a field of it, or make it mean something else. Rules in CEL can't be compared so: whoever
// updates the record with another rule shows that it holds for what was right before.
func broken(was, is map[string]field) (faults []string) {
	for _, path := range slices.Sorted(maps.Keys(was)) {
		now, ok := is[path]
		if !ok {
			faults = append(faults, path+": the field vanished")
			continue
		}
		for _, fault := range was[path].broken(now) {
			faults = append(faults, path+": "+fault)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		_, before := was[path]
		if _, inOld := was[parent(path)]; !before && inOld && is[path].Required {
			faults = append(faults, path+": the new field is required")
		}
	}
	return faults
}

func (f field) broken(now field) (faults []string) {
	text := func(v any) string { raw, _ := json.Marshal(v); return string(raw) }
	for name, pair := range map[string][2]any{
		"type": {f.Type, now.Type}, "format": {f.Format, now.Format}, "pattern": {f.Pattern, now.Pattern}, "default": {f.Default, now.Default},
		"anyOf": {f.AnyOf, now.AnyOf}, "int or string": {f.IntOrString, now.IntOrString}, "list type": {f.ListType, now.ListType},
		"keys of the list": {f.ListMapKeys, now.ListMapKeys}, "map type": {f.MapType, now.MapType},
	} {
		if a, b := text(pair[0]), text(pair[1]); a != b {
			faults = append(faults, fmt.Sprintf("the %s was %s, and is %s", name, a, b))
		}
	}
	for name, pair := range map[string][2]bool{
		"required": {f.Required, now.Required}, "not nullable": {!f.Nullable, !now.Nullable}, "without unknown fields": {!f.AnyFields, !now.AnyFields},
		"beyond its minimum": {f.ExclusiveMinimum, now.ExclusiveMinimum}, "below its maximum": {f.ExclusiveMaximum, now.ExclusiveMaximum},
	} {
		if pair[1] && !pair[0] {
			faults = append(faults, "it has become "+name)
		}
	}
	for name, pair := range map[string][2]*float64{
		"minimum": {f.Minimum, now.Minimum}, "minLength": {f.MinLength, now.MinLength}, "minItems": {f.MinItems, now.MinItems}, "minProperties": {f.MinProperties, now.MinProperties},
	} {
		if pair[1] != nil && (pair[0] == nil || *pair[1] > *pair[0]) {
			faults = append(faults, fmt.Sprintf("%s was %s, and is %s", name, text(pair[0]), text(pair[1])))
		}
	}
	for name, pair := range map[string][2]*float64{
		"maximum": {f.Maximum, now.Maximum}, "maxLength": {f.MaxLength, now.MaxLength}, "maxItems": {f.MaxItems, now.MaxItems}, "maxProperties": {f.MaxProperties, now.MaxProperties},
	} {
		if pair[1] != nil && (pair[0] == nil || *pair[1] < *pair[0]) {
			faults = append(faults, fmt.Sprintf("%s was %s, and is %s", name, text(pair[0]), text(pair[1])))
		}
	}
	slices.Sort(faults)
	return append(faults, f.lost(now)...)
}

// lost is the values that a field can't have any more.
func (f field) lost(now field) (faults []string) {
	if len(f.Enum) == 0 && len(now.Enum) > 0 {
		return []string{"it has become one of a few values"}
	}
	for _, value := range f.Enum {
		if len(now.Enum) > 0 && !slices.ContainsFunc(now.Enum, func(v json.RawMessage) bool { return bytes.Equal(v, value) }) {
			faults = append(faults, "the value "+string(value)+" vanished")
		}
	}
	return faults
}

// TestTheSchemaOnlyGrows: docs/crd-versions.md says what may change within v1alpha1. -update records what does.
func TestTheSchemaOnlyGrows(t *testing.T) {
	t.Parallel()
	is := flat(today(t))
	if len(is) < 100 {
		t.Fatalf("%d fields: the schema wasn't read", len(is))
	}
	raw, err := os.ReadFile(schemaFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if faults := broken(recorded(t, raw), is); len(faults) > 0 {
		t.Fatalf("not within v1alpha1 (docs/crd-versions.md):\n%s", strings.Join(faults, "\n"))
	}
	if _, same := golden.Hold(t, schemaFile, record(t, is)); !same {
		t.Errorf("the schema grew: run this test with -update, and read the diff of %s. A rule in it that is new has to hold for all that was right before", schemaFile)
	}
}

// TestWhatBreaksTheSchema: each kind of change is found, and what only grows isn't taken for one.
func TestWhatBreaksTheSchema(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	spec := func(all map[string]*node, resource string) *node { return all[resource].Properties["spec"] }
	chain := func(all map[string]*node, name string) *node {
		n := spec(all, chains).Properties[name]
		if n == nil {
			t.Errorf("a chain has no %s", name)
			n = &node{}
		}
		return n
	}
	for name, tt := range map[string]struct {
		mutate func(all map[string]*node)
		want   string // empty for what may be
	}{
		"nothing":           {func(map[string]*node) {}, ""},
		"a field vanishes":  {func(all map[string]*node) { delete(spec(all, venues).Properties, "badge") }, "launchvenues.spec.badge: the field vanished"},
		"a field in a list": {func(all map[string]*node) { delete(chain(all, "exchanges").Items.Properties, "hooks") }, "chains.spec.exchanges[].hooks: the field vanished"},
		"a field of the status": {
			func(all map[string]*node) { delete(all[chains].Properties["status"].Properties, "lag") }, "chains.status.lag: the field vanished",
		},
		"a field is renamed": {func(all map[string]*node) {
			p := spec(all, chains).Properties
			p["finality"] = p["finalityDepth"]
			delete(p, "finalityDepth")
		}, "chains.spec.finalityDepth: the field vanished"},
		"a field becomes required": {func(all map[string]*node) {
			spec(all, chains).Required = append(spec(all, chains).Required, "order")
		}, "chains.spec.order: it has become required"},
		"a new field is required": {func(all map[string]*node) {
			spec(all, chains).Properties["new"] = &node{}
			spec(all, chains).Required = append(spec(all, chains).Required, "new")
		}, "chains.spec.new: the new field is required"},
		"a value vanishes":     {func(all map[string]*node) { chain(all, "family").Enum = chain(all, "family").Enum[:1] }, "chains.spec.family: the value "},
		"values become few":    {func(all map[string]*node) { chain(all, "label").Enum = []json.RawMessage{[]byte(`"Base"`)} }, "chains.spec.label: it has become one of a few values"},
		"a maximum is lowered": {func(all map[string]*node) { *chain(all, "reorgBlocks").Maximum-- }, "chains.spec.reorgBlocks: maximum was "},
		"a minimum is raised":  {func(all map[string]*node) { *chain(all, "reorgBlocks").Minimum++ }, "chains.spec.reorgBlocks: minimum was "},
		"a text gets shorter":  {func(all map[string]*node) { *chain(all, "label").MaxLength-- }, "chains.spec.label: maxLength was "},
		"a text gets longer":   {func(all map[string]*node) { chain(all, "label").MinLength = number(30) }, "chains.spec.label: minLength was "},
		"a list gets shorter":  {func(all map[string]*node) { *chain(all, "exchanges").MaxItems-- }, "chains.spec.exchanges: maxItems was "},
		"a list may not be empty": {
			func(all map[string]*node) { chain(all, "exchanges").MinItems = number(3) }, "chains.spec.exchanges: minItems was ",
		},
		"a bound without one before": {func(all map[string]*node) {
			all[chains].MaxProperties, all[chains].MinProperties = number(10), number(1)
		}, "chains: maxProperties was null, and is 10\nchains: minProperties was null, and is 1"},
		"a bound becomes exclusive": {func(all map[string]*node) { chain(all, "reorgBlocks").ExclusiveMaximum = true }, "chains.spec.reorgBlocks: it has become below its maximum"},
		"a pattern changes":         {func(all map[string]*node) { chain(all, "id").Pattern += "x" }, "chains.spec.id: the pattern was "},
		"a default changes":         {func(all map[string]*node) { chain(all, "order").Default = []byte("7") }, "chains.spec.order: the default was "},
		"a default vanishes":        {func(all map[string]*node) { chain(all, "order").Default = nil }, "chains.spec.order: the default was "},
		"a type changes":            {func(all map[string]*node) { chain(all, "order").Type = "string" }, `chains.spec.order: the type was "integer", and is "string"`},
		"a list becomes a set":      {func(all map[string]*node) { chain(all, "exchanges").ListType = "set" }, "chains.spec.exchanges: the list type was "},
		"a new optional field":      {func(all map[string]*node) { spec(all, chains).Properties["new"] = &node{} }, ""},
		"with a required one in it": {func(all map[string]*node) {
			spec(all, chains).Properties["new"] = &node{Required: []string{"a"}, Properties: map[string]*node{"a": {}}}
		}, ""},
		"a further value": {func(all map[string]*node) {
			chain(all, "family").Enum = append(chain(all, "family").Enum, []byte(`"Move"`))
		}, ""},
		"a wider bound":              {func(all map[string]*node) { *chain(all, "reorgBlocks").Maximum++; *chain(all, "label").MaxLength++ }, ""},
		"a bound less":               {func(all map[string]*node) { chain(all, "reorgBlocks").Maximum = nil }, ""},
		"a field no more required":   {func(all map[string]*node) { spec(all, chains).Required = nil }, ""},
		"another description":        {func(all map[string]*node) { chain(all, "label").Description = "x" }, ""},
		"a rule, which nobody reads": {func(all map[string]*node) { chain(all, "label").Rules = []rule{{Rule: "self != 'x'"}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mutated := today(t)
			tt.mutate(mutated)
			// The record is what is compared with, so that it goes through a text.
			found := strings.Join(broken(recorded(t, record(t, flat(today(t)))), flat(mutated)), "\n")
			if !strings.HasPrefix(found, tt.want) || tt.want == "" && found != "" {
				t.Errorf("found %q, wanted %q", found, tt.want)
			}
		})
	}
}
