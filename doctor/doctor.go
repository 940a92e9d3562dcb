// Package doctor finds out why what the API serves of a chain is old: it goes from the API to the Chain, its indexer, the databases and the nodes,
// as the runbook "Prices are stale" does by hand. It reads, and changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

// ErrFound says that something is wrong; the lines that were written say what.
var ErrFound = errors.New("something is wrong: see the lines that begin with wrong")

const (
	// watched is the time over which the nodes' failures are counted.
	watched = 5 * time.Second
	// maxText bounds a text of the cluster's in a line, in characters.
	maxText = 600
)

// Doctor looks at one installation.
type Doctor struct {
	// Cluster is where the installation runs; nil where only the API is known.
	Cluster *Cluster
	// API asks the public API.
	API API
	// Chain is the id of the chain to look at; empty for all.
	Chain string
	Out   io.Writer
	Now   func() time.Time

	wrong  bool
	chains []*report
	// pods are those of the installation, by their component.
	pods map[string][]corev1.Pod
}

// report is a chain and what was found out about it.
type report struct {
	id       string
	resource *v1alpha1.Chain
	// isStale says that the API's data of the chain are old.
	isStale bool
	// cause is the deepest fault that was found; empty where there is none.
	cause string
	pod   *corev1.Pod
	// asked is the first of the two counts of requests to its nodes; nil where the indexer's pod didn't answer.
	asked *rpcCounts
}

// Run goes through the steps. ErrFound is its error when something is wrong, another one when the cluster or the API can't be asked at all.
func (d *Doctor) Run(ctx context.Context) error {
	began := d.Now()
	if d.Cluster != nil {
		_, _ = fmt.Fprintf(d.Out, "Boardwalk in namespace %s\n", d.Cluster.namespace)
		if err := d.readCluster(ctx); err != nil {
			return err
		}
		d.countRequests(ctx)
	}
	d.step("1. Does the API have new data?")
	if err := d.lookAtAPI(ctx); err != nil {
		return err
	}
	if d.Cluster == nil {
		d.say(look, "", "no cluster was looked at", "give --namespace to look at chains, indexers, databases and nodes too")
		return d.conclude()
	}
	d.step("2. Are the chains ready?")
	d.lookAtOperator()
	for _, p := range d.chains {
		d.lookAtChain(p)
	}
	d.step("3. Do the indexers run?")
	for _, p := range d.chains {
		d.lookAtIndexer(ctx, p)
	}
	d.step("4. Do the programs reach their database?")
	d.lookAtDatabases(ctx)
	d.step("5. Do the nodes answer?")
	d.lookAtNodes(ctx, began)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return d.conclude()
}

// severity is the first word of a line.
type severity string

const (
	fine  severity = "ok"
	look  severity = "look"
	wrong severity = "wrong"
)

// say writes a line about a chain, a pod or the whole, and below it what to do.
func (d *Doctor) say(s severity, about, text, todo string) {
	d.wrong = d.wrong || s == wrong
	if about != "" {
		text = about + ": " + text
	}
	_, _ = fmt.Fprintf(d.Out, "  %-5s  %s\n", s, plain.AtMost(text, maxText)) // a broken terminal stops nothing
	if todo != "" {
		_, _ = fmt.Fprintf(d.Out, "         -> %s\n", todo)
	}
}

func (d *Doctor) step(question string) { _, _ = fmt.Fprintf(d.Out, "\n%s\n", question) }

// conclude says what is the cause for each chain whose data are old.
func (d *Doctor) conclude() error {
	_, _ = fmt.Fprintln(d.Out)
	for _, p := range d.chains {
		switch {
		case p.cause != "":
			_, _ = fmt.Fprintln(d.Out, plain.AtMost(p.id+": "+p.cause, maxText))
		case p.isStale:
			_, _ = fmt.Fprintln(d.Out, plain.AtMost(p.id+": its data are old, and no step shows why; docs/runbooks.md says where to look next", maxText))
		}
	}
	if d.wrong {
		return ErrFound
	}
	_, _ = fmt.Fprintln(d.Out, "Nothing wrong was found. If a price looks old all the same, that token had no trade.")
	return nil
}
