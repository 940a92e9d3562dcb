package contract

import (
	"errors"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

// ProblemType is one kind of problem that the API answers with (x-problems).
type ProblemType struct {
	Slug string `yaml:"-"` // last segment of its type
	// Type is the whole type where it isn't one of ours; "" otherwise.
	Type   string `yaml:"type"`
	Status int    `yaml:"status"`
	Title  string `yaml:"title"`
	When   string `yaml:"when"` // when it happens
	Do     string `yaml:"do"`   // what a client does then
	// Members are the members that it has beside those of RFC 9457, in the order of the document.
	Members []ProblemMember `yaml:"-"`
	// Example is a body without its type, a JSON object.
	Example string `yaml:"-"`
}

// ProblemMember is a member of a problem's body.
type ProblemMember struct{ Name, Meaning string }

// ProblemTypes returns the documented problem types in the order of the document, which is read once. It fails only on
// a document that is broken, which the tests of this package rule out.
func ProblemTypes() ([]ProblemType, error) { return problemTypes() }

var problemTypes = sync.OnceValues(func() ([]ProblemType, error) {
	var doc struct {
		Problems yaml.Node `yaml:"x-problems"`
	}
	if err := yaml.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("contract: read document: %w", err)
	}
	var out []ProblemType
	for slug, node := range pairs(&doc.Problems) {
		p := ProblemType{Slug: slug}
		if err := node.Decode(&p); err != nil {
			return nil, fmt.Errorf("contract: problem %s: %w", slug, err)
		}
		if p.Status == 0 || p.Title == "" || p.When == "" || p.Do == "" {
			return nil, errors.New("contract: problem " + slug + " is not described")
		}
		for name, meaning := range pairs(lookup(node, "members")) {
			p.Members = append(p.Members, ProblemMember{name, meaning.Value})
		}
		example, err := p.example(lookup(node, "example"))
		if err != nil {
			return nil, fmt.Errorf("contract: problem %s: %w", slug, err)
		}
		p.Example = example
		out = append(out, p)
	}
	return out, nil
})

// example is the example of the document with what every body of the type says before it.
func (p *ProblemType) example(rest *yaml.Node) (string, error) {
	body := fmt.Appendf(nil, `{"title":%q,"status":%d`, p.Title, p.Status)
	var err error
	for name, value := range pairs(rest) {
		body = append(body, ',')
		if body, err = appendValue(body, name); err != nil {
			return "", err
		}
		if body, err = appendJSON(append(body, ':'), value); err != nil {
			return "", err
		}
	}
	return string(append(body, '}')), nil
}
