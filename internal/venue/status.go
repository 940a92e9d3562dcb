package venue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// World is what a venue is looked at in.
type World struct {
	// Refusal is nil when the venue is accepted.
	Refusal *resolve.Refusal
	// OlderDefault is the name of the venue that is the default in this one's place; empty when there is none.
	OlderDefault string
	// Rivals are the accepted venues that declare one of its contracts on a chain, and may be more.
	Rivals []v1alpha1.LaunchVenue
	// Chain gives the chain of a name, or nil.
	Chain func(name string) *Chain
}

// MaxMessage bounds a message in a status, in characters.
const MaxMessage = 1024

// Status gives a venue's status. What didn't change since v.Status keeps its time, so that an equal status has nothing to write.
func Status(v *v1alpha1.LaunchVenue, w World, now time.Time) v1alpha1.LaunchVenueStatus {
	out := v1alpha1.LaunchVenueStatus{ObservedGeneration: v.Generation, Conditions: slices.Clone(v.Status.Conditions)}
	refused := ""
	accepted := metav1.Condition{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAccepted}
	if w.Refusal != nil {
		refused = w.Refusal.Message
		accepted.Status, accepted.Reason, accepted.Message = metav1.ConditionFalse, w.Refusal.Reason, w.Refusal.Message
	}
	set := func(c metav1.Condition) {
		c.Message, c.ObservedGeneration, c.LastTransitionTime = Clip(c.Message, MaxMessage), v.Generation, metav1.NewTime(now.Truncate(time.Second))
		meta.SetStatusCondition(&out.Conditions, c)
	}
	set(accepted)
	if v.Spec.Default {
		set(defaultCondition(v, w))
	} else {
		meta.RemoveStatusCondition(&out.Conditions, v1alpha1.ConditionDefault)
	}
	for i := range v.Spec.Chains {
		on := &v.Spec.Chains[i]
		before := find(v.Status.Chains, on.Chain)
		s := v1alpha1.VenueChainStatus{Chain: on.Chain}
		s.State, s.Reason, s.Message = Decide(Facts{
			Venue: v.Spec.ID, Protocol: chainconfig.VenueProtocol(v.Spec.Protocol), Refused: refused, On: *on, Before: before,
			Chain: w.Chain(on.Chain), Taken: resolve.Taken(v, on.Chain, w.Rivals),
		})
		s.Message, s.LastTransitionTime = Clip(s.Message, MaxMessage), metav1.NewTime(now.Truncate(time.Second))
		if before != nil && before.State == s.State {
			s.LastTransitionTime = before.LastTransitionTime
		}
		out.Chains = append(out.Chains, s)
	}
	summarise(&out, v, set)
	return out
}

func defaultCondition(v *v1alpha1.LaunchVenue, w World) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionDefault, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDefault}
	if w.OlderDefault != "" {
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonDuplicateDefault
		c.Message = fmt.Sprintf("LaunchVenue %s is the default of family %s already and was there first: leave spec.default out of one "+
			"of them", w.OlderDefault, resolve.DefaultFamily(v))
	}
	return c
}

// summarise fills the columns and the condition Ready.
func summarise(out *v1alpha1.LaunchVenueStatus, v *v1alpha1.LaunchVenue, set func(metav1.Condition)) {
	wanted, open := 0, 0
	var closed []string
	for i, s := range out.Chains {
		want := cmp.Or(v.Spec.Chains[i].WantedState, v1alpha1.VenueOpen) == v1alpha1.VenueOpen
		switch {
		case s.State == v1alpha1.VenueOpen:
			wanted, open = wanted+1, open+1
			continue
		case want:
			wanted++
		}
		closed = append(closed, s.Chain+" ("+s.Reason+")")
	}
	out.Open, out.ClosedOn = fmt.Sprintf("%d/%d", open, wanted), Clip(strings.Join(closed, ", "), MaxMessage)
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	switch {
	case meta.IsStatusConditionFalse(out.Conditions, v1alpha1.ConditionAccepted):
		accepted := meta.FindStatusCondition(out.Conditions, v1alpha1.ConditionAccepted)
		ready.Reason, ready.Message = accepted.Reason, accepted.Message
	case wanted == 0:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, v1alpha1.ReasonWantedClosed, "it is wanted open nowhere"
	case open == wanted:
		ready.Status, ready.Reason = metav1.ConditionTrue, v1alpha1.ReasonOpen
	case open > 0:
		ready.Reason, ready.Message = v1alpha1.ReasonSomeClosed, "closed on "+out.ClosedOn
	default:
		ready.Reason, ready.Message = v1alpha1.ReasonAllClosed, "closed on "+out.ClosedOn
	}
	set(ready)
	if meta.IsStatusConditionFalse(out.Conditions, v1alpha1.ConditionAccepted) { // nothing goes on before a person acts
		ready.Type, ready.Status = v1alpha1.ConditionStalled, metav1.ConditionTrue
		set(ready)
	} else {
		meta.RemoveStatusCondition(&out.Conditions, v1alpha1.ConditionStalled)
	}
}

func find(list []v1alpha1.VenueChainStatus, chain string) *v1alpha1.VenueChainStatus {
	for i := range list {
		if list[i].Chain == chain {
			return &list[i]
		}
	}
	return nil
}

// Clip cuts a text between characters, to at most so many.
func Clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
