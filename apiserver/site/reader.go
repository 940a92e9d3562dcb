package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxErrors is how many mistakes are told at once.
const maxErrors = 20

// reader takes values out of YAML nodes and collects what is wrong with them, each with its line.
type reader struct {
	file string
	errs []error
}

// object is a mapping whose keys are known.
type object struct {
	node   *yaml.Node
	path   string // "" at the top
	fields map[string]*yaml.Node
}

func (r *reader) err() error {
	errs := r.errs
	if more := len(errs) - maxErrors; more > 0 {
		errs = append(slices.Clone(errs[:maxErrors]), fmt.Errorf("%s: and %d more", r.file, more))
	}
	return errors.Join(errs...)
}

func (r *reader) fail(n *yaml.Node, path, format string, args ...any) {
	if path != "" {
		path += ": "
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s%s", r.file, n.Line, path, fmt.Sprintf(format, args...)))
}

// object reads a mapping that may have the keys. Nothing stands for an empty one.
func (r *reader) object(n *yaml.Node, path string, keys ...string) object {
	o := object{node: n, path: path, fields: map[string]*yaml.Node{}}
	if isNull(n) {
		return o
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, path, "is %s; allowed: a mapping with %s", kindOf(n), strings.Join(keys, ", "))
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch _, twice := o.fields[key.Value]; {
		case !slices.Contains(keys, key.Value):
			r.fail(key, path, "has no key %.80q; allowed: %s", key.Value, strings.Join(keys, ", "))
		case twice:
			r.fail(key, join(path, key.Value), "stands twice; allowed: once")
		default:
			o.fields[key.Value] = value
		}
	}
	return o
}

// objects reads a list of mappings, which may be left out.
func (r *reader) objects(of object, key string, most int, keys ...string) []object {
	n, path := of.fields[key], join(of.path, key)
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, path, "is %s; allowed: a list", kindOf(n))
		return nil
	}
	if len(n.Content) > most {
		r.fail(n, path, "has %d items; allowed: up to %d", len(n.Content), most)
		return nil
	}
	var out []object
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		if isNull(item) {
			r.fail(item, at, "is empty; needed: a mapping with %s", strings.Join(keys, ", "))
			continue
		}
		if o := r.object(item, at, keys...); item.Kind == yaml.MappingNode {
			out = append(out, o)
		}
	}
	return out
}

// text reads a field that must be there. What is wrong is reported, and "" given.
func (r *reader) text(o object, key string, is rule) string {
	if isNull(o.fields[key]) {
		r.fail(o.node, o.path, "has no %s; needed: %s", key, is.allowed)
		return ""
	}
	return r.optional(o, key, is)
}

// optional reads a field that may be left out.
func (r *reader) optional(o object, key string, is rule) string {
	n, path := o.fields[key], join(o.path, key)
	if isNull(n) {
		return ""
	}
	// A day is the one thing beside text that stands without quotes.
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" {
		r.fail(n, path, "is %s; allowed: text (%s), in quotes if it looks like something else", kindOf(n), is.allowed)
		return ""
	}
	value := strings.TrimSpace(n.Value)
	switch {
	case value == "":
		r.fail(n, path, "is empty; allowed: %s", is.allowed)
	case utf8.RuneCountInString(value) > is.most:
		r.fail(n, path, "has %d characters; allowed: %s", utf8.RuneCountInString(value), is.allowed)
	case strings.ContainsFunc(value, func(c rune) bool { return unicode.IsControl(c) && (c != '\n' || !is.lines) }):
		r.fail(n, path, "has a line break or another control character in it; allowed: %s", is.allowed)
	case is.fits != nil && !is.fits(value) && is.secret:
		r.fail(n, path, "can't be used; allowed: %s", is.allowed)
	case is.fits != nil && !is.fits(value):
		r.fail(n, path, "%.80q can't be used; allowed: %s", value, is.allowed)
	default:
		return value
	}
	return ""
}

// number reads a number that may be left out.
func (r *reader) number(o object, key string, into *float64) {
	n := o.fields[key]
	if !isNull(n) && (!isNumber(n) || n.Decode(into) != nil) {
		r.fail(n, join(o.path, key), "is %s; allowed: a number", kindOf(n))
	}
}

// whole reads a number without a fraction that may be left out.
func (r *reader) whole(o object, key string, into *int64) {
	n := o.fields[key]
	// Decode would cut a fraction off.
	if !isNull(n) && (!isNumber(n) || n.Tag != "!!int" || n.Decode(into) != nil) {
		r.fail(n, join(o.path, key), "is %s; allowed: a whole number", kindOf(n))
	}
}

func isNumber(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float")
}

// amounts reads a mapping of chains to numbers.
func (r *reader) amounts(n *yaml.Node, path string) map[string]float64 {
	out := map[string]float64{}
	if n.Kind != yaml.MappingNode {
		r.fail(n, path, "is %s; allowed: a mapping of chain ids to numbers", kindOf(n))
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var usd float64
		key := n.Content[i]
		if _, twice := out[key.Value]; twice {
			r.fail(key, path+"."+key.Value, "stands twice; allowed: once")
		}
		r.number(object{node: n, path: path, fields: map[string]*yaml.Node{key.Value: n.Content[i+1]}}, key.Value, &usd)
		out[key.Value] = usd
	}
	return out
}

func isNull(n *yaml.Node) bool { return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kindOf names what stands where something else is expected.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which is not read here"
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!int", "!!float":
			return "a number"
		case "!!bool":
			return "true or false"
		default:
			return "text"
		}
	case yaml.DocumentNode: // stands above the root alone
	}
	return "something else"
}
