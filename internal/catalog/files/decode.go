package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	strictjson "sigs.k8s.io/json"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// durationFields are read before the rest, because a duration's own decoder can't say which field it is in.
var durationFields = []string{"spec.blockTime", "spec.retention.trades", "spec.retention.minuteCandles", "spec.indexer.maxLag"}

// metadata.name is what Kubernetes takes: a DNS subdomain.
var objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// decode adds the documents of a file to what was found; empty ones are skipped. A document that isn't well-formed ends the
// file.
func decode(file string, raw []byte, into *Manifests) error {
	var errs []error
	d := yaml.NewDecoder(bytes.NewReader(raw))
	for {
		var node yaml.Node
		if err := d.Decode(&node); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(append(errs, fmt.Errorf("%s: %w", file, err))...)
		}
		root := node.Content[0]
		if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
			continue
		}
		kind, err := kindOf(file, root)
		switch {
		case err != nil:
		case kind == v1alpha1.ChainKind:
			into.Chains, err = decodeResource(into.Chains, file, kind, root, chainPlace)
		default:
			into.Venues, err = decodeResource(into.Venues, file, kind, root, venuePlace)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func decodeResource[T any](all []Manifest[T], file, kind string, root *yaml.Node, at func(*T) place) ([]Manifest[T], error) {
	m := Manifest[T]{File: file, Line: root.Line}
	if err := decodeInto(file, kind, root, &m.Resource); err != nil {
		return all, err
	}
	if name := at(&m.Resource).name; len(name) > 253 || !objectName.MatchString(name) {
		return all, fmt.Errorf("%s:%d: metadata.name: %.80q is no name; allowed: up to 253 of a-z, 0-9, - and ., "+
			"a letter or digit at both ends", file, root.Line, name)
	}
	return append(all, m), nil
}

func decodeInto(file, kind string, root *yaml.Node, into any) error {
	// Into plain values first: this resolves anchors, within the library's bound, and refuses duplicate keys.
	var plain map[string]any
	if err := root.Decode(&plain); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, path := range durationFields {
		at, ok := find(root, path)
		if !ok {
			continue
		}
		if _, err := time.ParseDuration(at.value.Value); err != nil {
			return fmt.Errorf("%s:%d: %s: %.80q is no duration; allowed: a number with a unit, such as 2s, 750ms or 720h",
				file, at.line, path, at.value.Value)
		}
	}
	asJSON, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("%s:%d: %w; all keys must be text and all numbers finite", file, root.Line, err)
	}
	unknown, err := strictjson.UnmarshalStrict(asJSON, into)
	if err != nil {
		return wrongType(file, root, err)
	}
	errs := make([]error, 0, len(unknown))
	for _, u := range unknown {
		errs = append(errs, unknownField(file, kind, root, u))
	}
	return errors.Join(errs...)
}

// kindOf is Chain or LaunchVenue; any other document is an error.
func kindOf(file string, root *yaml.Node) (string, error) {
	want := v1alpha1.GroupVersion.String()
	if root.Kind != yaml.MappingNode {
		return "", fmt.Errorf("%s:%d: is no manifest: it must begin with apiVersion: %s and kind: %s or %s", file, root.Line,
			want, v1alpha1.ChainKind, v1alpha1.LaunchVenueKind)
	}
	version, kind, line := "", "", root.Line
	if at, ok := find(root, "apiVersion"); ok {
		version = at.value.Value
	}
	if at, ok := find(root, "kind"); ok {
		kind, line = at.value.Value, at.line
	}
	known := kind == v1alpha1.ChainKind || kind == v1alpha1.LaunchVenueKind
	switch {
	case known && version == want:
		return kind, nil
	case known:
		return "", fmt.Errorf("%s:%d: apiVersion %.80q isn't known; allowed: %s", file, line, version, want)
	default:
		return "", fmt.Errorf("%s:%d: kind %.80q of apiVersion %.80q isn't read here; allowed: kinds %s and %s of %s", file, line, kind,
			version, v1alpha1.ChainKind, v1alpha1.LaunchVenueKind, want)
	}
}

func unknownField(file, kind string, root *yaml.Node, err error) error {
	var at strictjson.FieldError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w", file, root.Line, err)
	}
	path := at.FieldPath()
	return fmt.Errorf("%s:%d: %s: no such field in a %s of %s; look for a typo, upper and lower case matter", file,
		lineOf(root, path), path, kind, v1alpha1.GroupVersion)
}

// takesOf says what a field of a kind takes; any other kind has fields of its own.
var takesOf = map[reflect.Kind]string{
	reflect.String: "text: put it in quotes",
	reflect.Int32:  "a whole number without quotes",
	reflect.Int64:  "a whole number without quotes",
	reflect.Bool:   "true or false",
	reflect.Slice:  "a list",
}

// wrongType names the field and what it takes. The most common slip is a decimal without quotes.
func wrongType(file string, root *yaml.Node, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s:%d: %w", file, root.Line, err)
	}
	takes, plain := takesOf[wrong.Type.Kind()]
	if !plain {
		takes = "fields of its own"
	}
	return fmt.Errorf("%s:%d: %s: is a %s; it takes %s", file, lineOf(root, wrong.Field), wrong.Field, wrong.Value, takes)
}

// field is a place in a document; line is that of its key.
type field struct {
	value *yaml.Node
	line  int
}

// find gives the place of a path such as spec.exchanges[2].factory, and false when there is none, or when a key with a dot
// is in the way. Type errors have paths without indexes (spec.exchanges.factory): they are found down to the list.
func find(root *yaml.Node, path string) (field, bool) {
	at := field{root, root.Line}
	for part := range strings.SplitSeq(path, ".") {
		key, rest, _ := strings.Cut(part, "[")
		next, ok := child(at.value, key)
		if !ok {
			return at, false
		}
		at = next
		for rest != "" {
			var index string
			index, rest, _ = strings.Cut(rest, "]")
			rest = strings.TrimPrefix(rest, "[")
			i, err := strconv.Atoi(index)
			if err != nil || at.value.Kind != yaml.SequenceNode || i < 0 || i >= len(at.value.Content) {
				return at, false
			}
			at = field{at.value.Content[i], at.value.Content[i].Line}
		}
	}
	return at, true
}

// lineOf is where a path is, or where the nearest thing above it is.
func lineOf(root *yaml.Node, path string) int {
	at, _ := find(root, path)
	return at.line
}

func child(n *yaml.Node, key string) (field, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return field{}, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			return field{value, n.Content[i].Line}, true
		}
	}
	return field{}, false
}
