package contract

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parameter is what the document says of one parameter of a path or query, references resolved. A rule that the
// document doesn't state is zero.
type Parameter struct {
	Name     string
	In       string // "path" or "query"
	Required bool
	Lenient  bool   // a value against the rules counts as omitted (x-lenient)
	Type     string // "string", "integer", "boolean" or "array"
	Default  string // as in a query; "" is none

	Enum                 []string
	Pattern              *regexp.Regexp // nil is none; for nothing but whether a text matches
	Expected             string         // what the pattern means, in words (x-expected)
	MinLength, MaxLength int            // in characters; MaxLength 0 is none
	Minimum, Maximum     *int64
	MinItems, MaxItems   int        // of an array, which a query separates by commas
	Items                *Parameter // the rule of an array's items
	Description          string
}

// components are the parts of the document that parameters refer to.
type components struct {
	Parameters map[string]rawParameter `yaml:"parameters"`
	Schemas    map[string]yaml.Node    `yaml:"schemas"`
}

type rawParameter struct {
	Ref         string    `yaml:"$ref"`
	Name        string    `yaml:"name"`
	In          string    `yaml:"in"`
	Required    bool      `yaml:"required"`
	Lenient     bool      `yaml:"x-lenient"`
	Description string    `yaml:"description"`
	Schema      rawSchema `yaml:"schema"`
}

// rawSchema reads only what schemas of parameters may have.
type rawSchema struct {
	Ref       string     `yaml:"$ref"`
	Type      string     `yaml:"type"`
	Enum      []string   `yaml:"enum"`
	Default   any        `yaml:"default"`
	Pattern   string     `yaml:"pattern"`
	Expected  string     `yaml:"x-expected"`
	MinLength int        `yaml:"minLength"`
	MaxLength int        `yaml:"maxLength"`
	Minimum   *int64     `yaml:"minimum"`
	Maximum   *int64     `yaml:"maximum"`
	MinItems  int        `yaml:"minItems"`
	MaxItems  int        `yaml:"maxItems"`
	Items     *rawSchema `yaml:"items"`
}

func (r *rawParameter) resolve(c *components) (*Parameter, error) {
	if r.Ref != "" {
		name := strings.TrimPrefix(r.Ref, "#/components/parameters/")
		target, ok := c.Parameters[name]
		if !ok || target.Ref != "" {
			return nil, fmt.Errorf("no parameter %s", r.Ref)
		}
		return target.resolve(c)
	}
	p := &Parameter{Name: r.Name, In: r.In, Required: r.Required, Lenient: r.Lenient, Description: r.Description}
	if err := p.read(&r.Schema, c); err != nil {
		return nil, fmt.Errorf("parameter %s: %w", r.Name, err)
	}
	return p, nil
}

// read takes the rules of a schema, those beside a reference after those that it refers to.
func (p *Parameter) read(s *rawSchema, c *components) error {
	if s.Ref != "" {
		node, ok := c.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if !ok {
			return fmt.Errorf("no schema %s", s.Ref)
		}
		var target rawSchema
		if err := node.Decode(&target); err != nil {
			return err
		}
		if err := p.read(&target, c); err != nil {
			return err
		}
	}
	if s.Type != "" {
		p.Type = s.Type
	}
	if s.Enum != nil {
		p.Enum = s.Enum
	}
	if s.Default != nil {
		p.Default = fmt.Sprint(s.Default)
	}
	if s.Pattern != "" {
		// Repetitions try few before many, which takes the same texts: that an address has no chain before it, as most have none, is
		// then found in a third of the time.
		pattern, err := regexp.Compile("(?U)" + s.Pattern)
		if err != nil {
			return err
		}
		p.Pattern, p.Expected = pattern, s.Expected
	}
	p.MinLength, p.MaxLength = max(p.MinLength, s.MinLength), max(p.MaxLength, s.MaxLength)
	p.MinItems, p.MaxItems = max(p.MinItems, s.MinItems), max(p.MaxItems, s.MaxItems)
	if s.Minimum != nil {
		p.Minimum = s.Minimum
	}
	if s.Maximum != nil {
		p.Maximum = s.Maximum
	}
	if s.Items != nil {
		p.Items = &Parameter{Name: p.Name, In: p.In}
		return p.Items.read(s.Items, c)
	}
	return nil
}
