// Package preflight asks a chain's nodes, before anything is indexed, whether they serve the declared chain, whether the declared addresses
// are what they are declared as, and what the nodes can do; and says what that means for the figures.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// longest is how long a chain's nodes may take over all questions together.
const longest = time.Minute

// Severity says what a finding is about.
type Severity string

// The severities.
const (
	// Wrong is something declared that can't be right.
	Wrong Severity = "wrong"
	// Missing is something that a node lacks, or that could not be found out.
	Missing Severity = "missing"
	// Look is something that a person should look at, though it may be right.
	Look Severity = "look"
)

// Finding is one thing that isn't as it should be, with what to do.
type Finding struct {
	Severity Severity
	Text     string
}

// Report is what was found about a chain.
type Report struct {
	Chain string
	// Summary is what was checked, what the nodes can do, and what that means for the figures.
	Summary  [3]string
	Findings []Finding
}

// Check asks a chain's nodes. That they don't answer is no error, but in the report.
func Check(ctx context.Context, c *chainconfig.Chain, now func() time.Time) (*Report, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if c.Family == chainconfig.Solana {
		return checkSolana(ctx, c, now)
	}
	source, err := evm.NewSource(c, evm.Options{Log: slog.New(slog.DiscardHandler), Now: now})
	if err != nil {
		return nil, err
	}
	w := &writer{chain: c, now: now()}
	for _, n := range source.Capabilities(ctx, c.Native.Wrapped) {
		w.addNode(n)
	}
	if len(w.nodes) > 0 {
		w.declared, w.unasked = source.Contracts().CheckDeclared(ctx, c)
	}
	return w.report(), nil
}

// CountWrong is how many declared things can't be right.
func (r *Report) CountWrong() (n int) {
	for _, f := range r.Findings {
		if f.Severity == Wrong {
			n++
		}
	}
	return n
}

// Write writes the three lines, and one for each finding.
func (r *Report) Write(w io.Writer) error {
	var errs []error
	for _, line := range r.Summary {
		_, err := fmt.Fprintf(w, "%s: %s\n", r.Chain, line)
		errs = append(errs, err)
	}
	for _, f := range r.Findings {
		_, err := fmt.Fprintf(w, "  %s: %s\n", f.Severity, f.Text)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
