// Package watch has the questions that an indexer asks regularly, in the background of its loop: are the declared
// addresses right, are the venues open, are the endpoints' daily calls enough, and can traded tokens be trusted.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/preflight"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// declarationPause is the first pause before nodes are asked again of the declared addresses. It doubles up to longestUnasked while they
	// don't answer, and up to longestWrong while something is wrong: a contract may be deployed later, and one node may be out of sync.
	declarationPause = 15 * time.Second
	longestUnasked   = 5 * time.Minute
	longestWrong     = time.Hour
	// declarationTime is how long the nodes may take over all questions together: some hundred calls, of which a small plan allows ten a second.
	declarationTime = 3 * time.Minute
	// mostDeclared is how many findings of a kind are told, mostDeclaredRunes how much of each.
	mostDeclared, mostDeclaredRunes = 16, 300
)

// Declaration asks the nodes, beside the loop, whether the declared addresses are as declared: once, and again while that isn't so or
// could not be found out.
type Declaration struct {
	DeclarationOptions

	// pause is the time until they are asked again, done says that they needn't be. Both outlive a run: a halted chain is run again and again.
	pause time.Duration
	done  bool
}

// DeclarationOptions are what a watch works with.
type DeclarationOptions struct {
	Config *chainconfig.Chain
	Nodes  interface {
		chain.Check
		chain.DeclarationSource
	}
	// FirstPause is the first pause before they are asked again; 0 is 15 s.
	FirstPause time.Duration
	// GivesUp reports whether nodes aren't asked for something now.
	GivesUp func(budget.Purpose) bool
	// Tell is told what was found.
	Tell func(chainconfig.Declaration)
	Log  *slog.Logger
}

// NewDeclaration makes a watch that has asked nobody yet.
func NewDeclaration(o DeclarationOptions) *Declaration {
	o.FirstPause = cmp.Or(o.FirstPause, declarationPause)
	return &Declaration{DeclarationOptions: o}
}

// Run asks until all is as declared, or ctx ends.
func (w *Declaration) Run(ctx context.Context) {
	told := ""
	for !w.done {
		if w.pause > 0 && !wait.For(ctx, w.pause*3/4+rand.N(w.pause/2+1)) { //nolint:gosec // no secret
			return
		}
		d := w.look(ctx)
		if ctx.Err() != nil {
			return
		}
		w.Tell(d)
		longest := longestUnasked
		if len(d.Wrong) > 0 {
			longest = longestWrong
		}
		if wrong := strings.Join(d.Wrong, "; "); wrong != told && wrong != "" {
			w.Log.WarnContext(ctx, "something declared can't be right", "what", wrong)
			told = wrong
		}
		w.pause, w.done = min(max(2*w.pause, w.FirstPause), longest), d.Checked && len(d.Wrong) == 0
	}
}

// look asks once.
func (w *Declaration) look(ctx context.Context) (d chainconfig.Declaration) {
	if w.GivesUp(budget.Trust) {
		d.Unasked = "what the endpoints still allow today is kept for the chain's blocks"
		return d
	}
	ctx, cancel := context.WithTimeout(rpc.For(ctx, budget.Trust), declarationTime)
	defer cancel()
	if err := w.Nodes.Check(ctx); err != nil {
		d.Wrong = wrongEndpoints(err)
	}
	declared, err := w.Nodes.CheckDeclared(ctx, w.Config)
	if err != nil {
		d.Unasked = plain.AtMost(err.Error(), mostDeclaredRunes)
		if errors.Is(err, context.DeadlineExceeded) {
			d.Unasked = "the nodes didn't answer within " + declarationTime.String()
		}
	}
	var unknown []string
	for _, f := range preflight.FindAddresses(declared) {
		text := plain.AtMost(f.Text, mostDeclaredRunes)
		switch f.Severity {
		case preflight.Wrong:
			d.Wrong = append(d.Wrong, text)
		case preflight.Missing:
			unknown = append(unknown, text)
		case preflight.Look:
			d.Look = append(d.Look, text)
		}
	}
	d.Checked = err == nil && len(unknown) == 0
	d.Wrong, d.Look = atMost(d.Wrong), atMost(d.Look)
	d.Unasked = cmp.Or(d.Unasked, strings.Join(atMost(unknown), "; "))
	return d
}

// ServesAnother tells that no endpoint serves the declared chain. The run ends then.
func (w *Declaration) ServesAnother(err error) {
	if w != nil {
		w.Tell(chainconfig.Declaration{Wrong: atMost(wrongEndpoints(err)), Unasked: "no endpoint serves the chain"})
	}
}

// wrongEndpoints are the lines of an error that has one for each endpoint of another chain.
func wrongEndpoints(err error) (list []string) {
	for line := range strings.Lines(err.Error()) {
		list = append(list, plain.AtMost(line, mostDeclaredRunes))
	}
	return list
}

// atMost has the first of a list, and how many more there are.
func atMost(list []string) []string {
	if len(list) <= mostDeclared {
		return list
	}
	return append(list[:mostDeclared:mostDeclared], fmt.Sprintf("%d more", len(list)-mostDeclared))
}
