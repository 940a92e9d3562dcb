package contracttest

import (
	"errors"
	"fmt"
	"slices"

	pb33f "github.com/pb33f/libopenapi-validator/errors"
)

// finding is a breach of one rule of the contract. The rule's name is the same whatever the answer held, so that two
// failures can be told to be the same one.
type finding struct {
	rule string
	err  error
}

func (f *finding) Error() string { return f.rule + ": " + f.err.Error() }

func (f *finding) Unwrap() error { return f.err }

// rule names the rule that err is a breach of; nil stays nil.
func rule(name string, err error) error {
	if err == nil {
		return nil
	}
	return &finding{name, err}
}

// rulesOf lists the names of the rules that err breaks, sorted.
func rulesOf(err error) []string {
	var names []string
	switch e := err.(type) { //nolint:errorlint // every branch of the tree is walked, not the first that fits
	case *finding:
		names = append(names, e.rule)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			names = append(names, rulesOf(part)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// joinFindings keeps what the summary of a finding leaves out: which member of the body it is about.
func joinFindings(findings []*pb33f.ValidationError) error {
	var all []error
	for _, finding := range findings {
		all = append(all, fmt.Errorf("%s: %s", finding.Message, finding.Reason))
		for _, detail := range finding.SchemaValidationErrors {
			all = append(all, fmt.Errorf("  %s: %s", detail.FieldPath, detail.Reason))
		}
	}
	return errors.Join(all...)
}
