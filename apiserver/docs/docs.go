// Package docs serves the documentation under /docs: the OpenAPI document in a viewer, a page for every type of problem, how
// the launch board is ranked, and the changelog. Every page is made once, when the handler is; a request only picks one. What the pages say is given
// to it; it reads no document and no file.
package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/boardwalkhq/boardwalk/apiserver/site"
)

// Config is what the pages say.
type Config struct {
	// BaseURL is the address of the service, without a slash at its end: examples of requests begin with it.
	BaseURL string
	// DocsURL is the address of the documentation as problems name it, without a slash at its end: a problem's type is
	// DocsURL + "/problems/" + its slug.
	DocsURL string
	// Problems are all types that the API answers with; within a status they are shown in this order.
	Problems []Problem
	// Changelog is newest first.
	Changelog []site.Entry
	// Gate is the quality bar of the launch board, in the order in which it is shown.
	Gate []Bound
}

// Bound is one bound of the quality bar. Text in backticks is set as code in Meaning.
type Bound struct{ Field, Value, Meaning string }

// Problem is one type of problem (RFC 9457). Text in backticks is set as code in When, Do and meanings.
type Problem struct {
	Slug   string // ^[a-z0-9]+(-[a-z0-9]+)*$
	Status int    // 400 to 599
	Title  string
	When   string // when it happens
	Do     string // what a client should do
	// Members lists the problem's members beside type, title, status, detail and instance.
	Members []Member
	// Example is a body, a JSON object; "" shows none. Its type is shown as that of this deployment.
	Example string
	// Type is the whole URI of a type that isn't ours; "" otherwise.
	Type string
}

// Member is an extension member of a problem.
type Member struct{ Name, Meaning string }

// New makes the handler of /docs and of everything below. An error names the problem that can't be shown and why.
func New(c Config) (http.Handler, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	files, err := assets()
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	h := &handler{files: map[string]file{}, version: files.version}
	for name, f := range files.files {
		h.files[files.base()+name] = f
	}
	if err := h.addPages(c, files.base()); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	return h, nil
}

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (c Config) check() error {
	var errs []error
	seen := map[string]bool{}
	for i, p := range c.Problems {
		if err := p.check(); err != nil {
			errs = append(errs, fmt.Errorf("problem %d (%.80q): %w", i, p.Slug, err))
		}
		if seen[p.Slug] {
			errs = append(errs, fmt.Errorf("problem %d: the slug %.80q stands twice", i, p.Slug))
		}
		seen[p.Slug] = true
	}
	return errors.Join(errs...)
}

func (p Problem) check() error {
	switch {
	case !slugPattern.MatchString(p.Slug):
		return errors.New("the slug must be of a-z and 0-9, parted by single hyphens")
	case p.Status < 400 || p.Status > 599 || http.StatusText(p.Status) == "":
		return fmt.Errorf("status %d is no error; allowed: a registered one of 400 to 599", p.Status)
	case p.Title == "" || p.When == "" || p.Do == "":
		return errors.New("title, when and do must be given")
	}
	if p.Type != "" {
		if u, err := url.Parse(p.Type); err != nil || u.Scheme != "https" || u.Host == "" {
			return errors.New("a type that isn't ours must be an https address")
		}
	}
	for _, m := range p.Members {
		if m.Name == "" || m.Meaning == "" {
			return errors.New("every member must have a name and a meaning")
		}
	}
	if p.Example != "" {
		var body map[string]any
		if err := json.Unmarshal([]byte(p.Example), &body); err != nil || body == nil {
			return errors.New("the example must be a JSON object")
		}
	}
	return nil
}
