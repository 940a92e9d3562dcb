package resolve

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Refusal says why a resource isn't run, in the words of its condition Accepted.
type Refusal struct {
	Reason, Message string
}

// RefuseChain says why a chain isn't run; nil when it is. peers are chains of its namespace in any order, at least those with
// the same id or chain id; the chain itself may be among them.
//
// The oldest of several with one id wins, whatever else is wrong with it: whether a chain is run depends on the older ones'
// ids alone, so that no change has effects further on.
func RefuseChain(c *v1alpha1.Chain, peers []v1alpha1.Chain) *Refusal {
	_, no := acceptChain(c, peers)
	return no
}

// ServedChain gives the form in which a chain is served and indexed, and why its spec isn't accepted; peers are as for RefuseChain.
// While a spec is invalid that is the form that was accepted last, suspended as the spec says; nil when there is none, or when the
// chain is refused for another reason.
func ServedChain(c *v1alpha1.Chain, peers []v1alpha1.Chain) (*v1alpha1.Chain, *Refusal) {
	served, _, no := serveChain(c, peers)
	return served, no
}

// serveChain gives the form's document too.
func serveChain(c *v1alpha1.Chain, peers []v1alpha1.Chain) (*v1alpha1.Chain, *chainconfig.Chain, *Refusal) {
	doc, no := acceptChain(c, peers)
	if no == nil {
		return c, doc, nil
	}
	last := lastAccepted(c)
	if no.Reason != v1alpha1.ReasonInvalid || last == nil {
		return nil, nil, no
	}
	doc, refused := acceptChain(last, peers)
	if refused != nil {
		return nil, nil, no
	}
	// In front, where no clipping of a long message takes it away.
	no.Message = "until this is fixed the chain is served as it was last accepted: " + no.Message
	return last, doc, no
}

// lastAccepted is nil where nothing usable is kept.
func lastAccepted(c *v1alpha1.Chain) *v1alpha1.Chain {
	out := *c
	out.Spec = v1alpha1.ChainSpec{}
	if c.Status.LastAccepted == "" || json.Unmarshal([]byte(c.Status.LastAccepted), &out.Spec) != nil || out.Spec.ID != c.Spec.ID {
		return nil
	}
	out.Spec.Suspend = c.Spec.Suspend
	return &out
}

// acceptChain gives the chain's document, without venues, or why there is none.
func acceptChain(c *v1alpha1.Chain, peers []v1alpha1.Chain) (*chainconfig.Chain, *Refusal) {
	// Secrets are the indexer's business, so any directory does.
	doc, err := Chain(c, nil, ".")
	if err != nil {
		return nil, invalid(err)
	}
	if first := oldest(c, peers, func(p *v1alpha1.Chain) bool { return p.Spec.ID == c.Spec.ID }); first != nil {
		return nil, &Refusal{v1alpha1.ReasonDuplicateID, fmt.Sprintf("Chain %s has the same spec.id %q and was there first: "+
			"declare this chain under another id, or delete one of the two", first.Name, c.Spec.ID)}
	}
	same := func(p *v1alpha1.Chain) bool {
		return p.Spec.ChainID != nil && c.Spec.ChainID != nil && *p.Spec.ChainID == *c.Spec.ChainID
	}
	if first := oldest(c, peers, same); first != nil {
		return nil, &Refusal{v1alpha1.ReasonDuplicateChainID, fmt.Sprintf("Chain %s has the same spec.chainID %d and was there "+
			"first: declare each network once", first.Name, *c.Spec.ChainID)}
	}
	return doc, nil
}

// RefuseVenue says why a venue isn't listed; nil when it is. peers are venues of its namespace in any order, at least those
// with the same id; the venue itself may be among them.
func RefuseVenue(v *v1alpha1.LaunchVenue, peers []v1alpha1.LaunchVenue) *Refusal {
	if err := Venue(v); err != nil {
		return invalid(err)
	}
	if first := oldest(v, peers, func(p *v1alpha1.LaunchVenue) bool { return p.Spec.ID == v.Spec.ID }); first != nil {
		return &Refusal{v1alpha1.ReasonDuplicateID, fmt.Sprintf("LaunchVenue %s has the same spec.id %q and was there first: "+
			"declare this venue under another id, or delete one of the two", first.Name, v.Spec.ID)}
	}
	return nil
}

// OlderDefault gives the venue that is the default of the same family of chains in v's place, or nil: the oldest that says
// so, whatever else is wrong with it. peers are venues of v's namespace in any order, at least those with spec.default; v
// itself may be among them.
func OlderDefault(v *v1alpha1.LaunchVenue, peers []v1alpha1.LaunchVenue) *v1alpha1.LaunchVenue {
	family := DefaultFamily(v)
	return oldest(v, peers, func(p *v1alpha1.LaunchVenue) bool { return p.Spec.Default && DefaultFamily(p) == family })
}

// DefaultFamily is the family of chains for which a venue would be the default.
func DefaultFamily(v *v1alpha1.LaunchVenue) chainconfig.Family {
	return chainconfig.VenueProtocol(v.Spec.Protocol).Family()
}

// invalid is all errors in one line: conditions and events are read in tables.
func invalid(err error) *Refusal {
	const most = 1000
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return &Refusal{v1alpha1.ReasonInvalid, text}
}

// object is a resource of type T.
type object[T any] interface {
	*T
	metav1.Object
}

// oldest gives the oldest of the peers that are alike and older than one, or nil. Which one it is doesn't depend on their
// order, or a message would change with every look into a cache.
func oldest[T any, P object[T]](one P, peers []T, alike func(P) bool) P {
	var first P
	for i := range peers {
		p := P(&peers[i])
		if older(p, one) && alike(p) && (first == nil || older(p, first)) {
			first = p
		}
	}
	return first
}

// older says whether a was there before b. Within a second, which is as fine as creation is recorded, the name decides.
func older(a, b metav1.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if at.Equal(&bt) {
		return a.GetName() < b.GetName()
	}
	return at.Before(&bt)
}
