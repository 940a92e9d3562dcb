package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// readCluster reads the resources and pods once; every step goes by these.
func (d *Doctor) readCluster(ctx context.Context) (err error) {
	chains, err := d.Cluster.chains(ctx)
	if err != nil {
		return err
	}
	if d.pods, err = d.Cluster.pods(ctx); err != nil {
		return err
	}
	slices.SortFunc(chains, func(a, b v1alpha1.Chain) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for i := range chains {
		c := &chains[i]
		if d.Chain != "" && c.Spec.ID != d.Chain && c.Name != d.Chain {
			continue
		}
		p := d.report(c.Spec.ID)
		if p.resource != nil {
			continue // the oldest Chain of an id is the one that is run
		}
		p.resource = c
		pods := d.pods[componentIndexer]
		for j := range pods {
			if pods[j].Labels[labelChain] == c.Spec.ID && (p.pod == nil || p.pod.CreationTimestamp.Before(&pods[j].CreationTimestamp)) {
				p.pod = &pods[j]
			}
		}
	}
	if d.Chain != "" && len(d.chains) == 0 {
		return fmt.Errorf("namespace %s has no Chain with the id or name %q: see kubectl get chains -n %s", d.Cluster.namespace, d.Chain, d.Cluster.namespace)
	}
	if d.Chain != "" {
		d.Chain = d.chains[0].id
	}
	return nil
}

// lookAtOperator says whether somebody keeps the statuses of Chains true.
func (d *Doctor) lookAtOperator() {
	pods := d.pods[componentOperator]
	if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return isReady(&p) }) {
		d.say(fine, "", "the operator runs", "")
		return
	}
	trouble := "there is none"
	if len(pods) > 0 {
		trouble = podTrouble(&pods[0])
	}
	d.say(wrong, "", "no operator is ready, so that what Chains say may be old: "+trouble, "kubectl logs deployment/boardwalk-operator")
}

// lookAtChain repeats what a Chain says.
func (d *Doctor) lookAtChain(p *report) {
	if p.resource == nil {
		d.say(look, p.id, "the API serves it, and no Chain declares it", "")
		return
	}
	conditions := p.resource.Status.Conditions
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		p.cause = "no operator has looked at its Chain yet"
		d.say(wrong, p.id, p.cause, "kubectl logs deployment/boardwalk-operator")
	case ready.Status == metav1.ConditionTrue:
		d.say(fine, p.id, "Ready", "")
	case ready.Reason == v1alpha1.ReasonCatchingUp:
		p.cause = ready.Reason + ": " + ready.Message
		d.say(look, p.id, p.cause, "")
	default:
		p.cause = ready.Reason + ": " + ready.Message
		d.say(wrong, p.id, p.cause, "kubectl describe chain "+p.resource.Name)
	}
	for i := range conditions {
		switch c := &conditions[i]; {
		case c.Type == v1alpha1.ConditionReindexing && (c.Reason == v1alpha1.ReasonHalted || c.Reason == v1alpha1.ReasonInterrupted):
			d.say(look, p.id, c.Type+", "+c.Reason+": "+c.Message, fmt.Sprintf("it is tried again by itself, which helps once what this names is mended or over. After a reorganisation that was too deep, raise spec.reorgBlocks and "+
				"spec.indexer.generation. To give it up, put the number that is served back into "+
				"spec.indexer.generation of Chain %s, or run boardwalk reindex --cancel %s where boardwalk reindex asked for it", p.resource.Name, p.id))
		case c.Status != metav1.ConditionFalse:
		case c.Type == v1alpha1.ConditionAccepted:
			d.say(wrong, p.id, c.Type+": "+c.Message, "")
		case c.Type == v1alpha1.ConditionAsDeclared: // its data are as new all the same
			d.say(look, p.id, c.Type+": "+c.Message, "")
		}
	}
}

// lookAtIndexer asks a chain's indexer itself: it knows more, and sooner, than the Chain's conditions.
func (d *Doctor) lookAtIndexer(ctx context.Context, p *report) {
	switch {
	case p.resource == nil:
		return
	case p.resource.Spec.Suspend:
		d.say(fine, p.id, "suspended: it has no indexer", "")
		return
	case p.pod == nil:
		d.say(wrong, p.id, "it has no indexer's pod", "kubectl describe deployment boardwalk-indexer-"+p.id)
		return
	}
	body, err := d.Cluster.Ask(ctx, p.pod.Name, indexerPort, "/state")
	var s chainconfig.State
	if err == nil {
		err = json.Unmarshal(body, &s)
	}
	if err != nil {
		trouble := err.Error()
		if !isReady(p.pod) {
			trouble = podTrouble(p.pod)
		}
		d.say(wrong, p.id, "its indexer doesn't answer: "+trouble, "kubectl logs --previous "+p.pod.Name)
		return
	}
	d.judgeState(p, &s)
}

func (d *Doctor) judgeState(p *report, s *chainconfig.State) {
	lag, known := s.Lag()
	text := fmt.Sprintf("%s: %s", s.Phase, s.Message)
	switch {
	case s.Cause != "" || s.Phase == chainconfig.PhaseHalted || s.Phase == chainconfig.PhaseFailing:
		if s.Cause != "" {
			p.cause = fmt.Sprintf("%s: %s", s.Cause, s.Message)
		}
		d.say(wrong, p.id, text, "")
	case !known:
		d.say(look, p.id, text+" (it has no block yet)", "")
	case s.At.Sub(s.HeadReadAt) > p.mayLag():
		d.say(wrong, p.id, fmt.Sprintf("no node has told of a new block for %s: see step 5", s.At.Sub(s.HeadReadAt).Round(time.Second)), "")
	case lag > p.mayLag():
		d.say(wrong, p.id, fmt.Sprintf("%s; block %d of %d is indexed, %s behind", s.Phase, s.Indexed.Number, s.Head.Number, lag.Round(time.Second)), "")
	default:
		d.say(fine, p.id, fmt.Sprintf("block %d of %d is indexed, %s behind", s.Indexed.Number, s.Head.Number, lag.Round(time.Second)), "")
		if p.isStale {
			p.cause = "its indexer is at the head, and the API doesn't see it: the API servers read another database, or a standby that is behind (step 4)"
		}
	}
	if s.Plan.Behind != "" {
		d.say(look, p.id, s.Plan.Behind, "docs/costs.md, \"When a plan is too small\"")
	}
	if s.Missing != nil {
		d.say(wrong, p.id, fmt.Sprintf("no endpoint has the blocks %d to %d", s.Missing.First, s.Missing.Last), "add an endpoint that has them")
	}
}
