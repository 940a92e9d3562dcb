package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// oneChange is something that happens to one chain or venue of a site.
type oneChange struct {
	name string
	// make makes it, to the chain of a number, and gives what says whether it has been dealt with.
	make func(ctx context.Context, s *operatorSite, chain, round int) (missing func(*clusterView) string, err error)
}

// oneChanges leave a site as it was but for the words that they change.
var oneChanges = []oneChange{
	{"a Chain's metadata is labelled", func(ctx context.Context, s *operatorSite, chain, round int) (func(*clusterView) string, error) {
		return s.converged, s.patch(ctx, s.chain(chain), "metadata", "labels", map[string]string{"round": strconv.Itoa(round)})
	}},
	{"a Chain's order, which isn't in its document", func(ctx context.Context, s *operatorSite, chain, round int) (func(*clusterView) string, error) {
		return s.changeOf(ctx, s.chain(chain), nil, "order", 100+round)
	}},
	{"a Chain's block time, which is", func(ctx context.Context, s *operatorSite, chain, round int) (func(*clusterView) string, error) {
		return s.changeOf(ctx, s.chain(chain), []int{chain}, "blockTime", fmt.Sprintf("%dms", 2001+round))
	}},
	{"a Chain's indexer falls silent", func(_ context.Context, s *operatorSite, chain, _ int) (func(*clusterView) string, error) {
		s.indexers.change(func() { s.indexers.down[s.state(chainName(chain))] = true })
		return func(v *clusterView) string { return s.closedOn(v, chain) }, nil
	}},
	{"it answers again", func(_ context.Context, s *operatorSite, chain, _ int) (func(*clusterView) string, error) {
		s.indexers.change(func() { s.indexers.down[s.state(chainName(chain))] = false })
		return s.converged, nil
	}},
	{"a venue's contract pauses on a chain", func(_ context.Context, s *operatorSite, chain, _ int) (func(*clusterView) string, error) {
		name := chainName(chain)
		venue := s.venuesOn[name][0]
		s.indexers.change(func() { s.indexers.paused[s.state(name)+" "+venue] = true })
		return func(v *clusterView) string {
			return closedFor(get[*v1alpha1.LaunchVenue](v, venue), name, v1alpha1.ReasonContractPaused)
		}, nil
	}},
	{"it goes on", func(_ context.Context, s *operatorSite, chain, _ int) (func(*clusterView) string, error) {
		name := chainName(chain)
		s.indexers.change(func() { s.indexers.paused[s.state(name)+" "+s.venuesOn[name][0]] = false })
		return s.converged, nil
	}},
	{"a venue's label, which is in no document", func(ctx context.Context, s *operatorSite, chain, round int) (func(*clusterView) string, error) {
		return s.changeOf(ctx, s.venue(chain), nil, "label", fmt.Sprintf("Venue of round %d", round))
	}},
	{"a venue's contract on three chains, which is in three", func(ctx context.Context, s *operatorSite, chain, round int) (func(*clusterView) string, error) {
		v := s.venue(chain)
		for i := range v.Spec.Chains {
			other := v1alpha1.EVMAddress(address("eeee", 1000*round+i))
			on := &v.Spec.Chains[i]
			on.Contracts = append(on.Contracts, other)
			s.indexers.learn(s.state(on.Chain), chainconfig.Venue{ID: v.Name, Contracts: resolve.Contracts(on)})
		}
		return s.changeOf(ctx, v, s.size.chainsOf(chain), "chains", v.Spec.Chains)
	}},
}

// patch sets one field.
func (s *operatorSite) patch(ctx context.Context, o client.Object, section, field string, value any) error {
	raw, err := json.Marshal(map[string]any{section: map[string]any{field: value}})
	if err != nil {
		return err
	}
	return s.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, raw))
}

// changeOf sets one field of an object's spec and wants it seen, all well, and the indexers of some chains replaced.
func (s *operatorSite) changeOf(ctx context.Context, o client.Object, replaced []int, field string, value any) (func(*clusterView) string, error) {
	before := map[string]int64{}
	for _, n := range replaced {
		name := workload.ObjectName(chainName(n))
		before[name] = s.view.generation(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if err := s.patch(ctx, o, "spec", field, value); err != nil {
		return nil, err
	}
	generation := o.GetGeneration()
	return func(v *clusterView) string {
		if v.objects[keyOf(o)].GetGeneration() < generation {
			return "the watch hasn't shown the change yet"
		}
		for name, was := range before {
			if not := rolledOut(get[*appsv1.Deployment](v, name), was); not != "" {
				return not
			}
		}
		return s.converged(v)
	}, nil
}

func rolledOut(d *appsv1.Deployment, before int64) string {
	u := &d.Status
	if d.Generation > before && u.ObservedGeneration == d.Generation && u.UpdatedReplicas == 1 && u.AvailableReplicas == 1 && u.Replicas == 1 {
		return ""
	}
	return fmt.Sprintf("Deployment %s has generation %d after %d, of which %d was seen, with %d of 1 available", d.Name, d.Generation, before,
		u.ObservedGeneration, u.AvailableReplicas)
}

// closedOn wants a chain not ready, and closed on it all venues that are there.
func (s *operatorSite) closedOn(v *clusterView, chain int) string {
	c := get[*v1alpha1.Chain](v, chainName(chain))
	if not := conditionIs(c, c.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUnreachable); not != "" {
		return not
	}
	for _, name := range s.venuesOn[c.Name] {
		if not := closedFor(get[*v1alpha1.LaunchVenue](v, name), c.Name, v1alpha1.ReasonIndexerDown); not != "" {
			return not
		}
	}
	return ""
}

func closedFor(v *v1alpha1.LaunchVenue, chain, reason string) string {
	at := slices.IndexFunc(v.Status.Chains, func(s v1alpha1.VenueChainStatus) bool { return s.Chain == chain })
	if at >= 0 && v.Status.Chains[at].State == v1alpha1.VenueClosed && v.Status.Chains[at].Reason == reason {
		return ""
	}
	return fmt.Sprintf("LaunchVenue %s isn't closed on %s with reason %s", v.Name, chain, reason)
}

// changeRun is what one change cost one operator.
type changeRun struct {
	*operatorCounts

	took time.Duration
}

// settle is for how long all must have been well: longer than the operator's pause between two looks at an indexer.
const settle = 4 * time.Second

func (s *operatorSite) run(ctx context.Context, c *oneChange, chain, round int) (*changeRun, error) {
	const patience = 2 * time.Minute
	return s.during(ctx, c.name, patience, func() (func(*clusterView) string, error) { return c.make(ctx, s, chain, round) })
}

// during makes a change and waits until nothing of it is missing.
func (s *operatorSite) during(ctx context.Context, what string, patience time.Duration, change func() (missing func(*clusterView) string, err error),
) (*changeRun, error) {
	before, err := countsOf(ctx, s.operator)
	if err != nil {
		return nil, err
	}
	began := lab.Now()
	missing, err := change()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	done, err := s.view.until(ctx, what, patience, settle, missing)
	if err != nil {
		return nil, err
	}
	after, err := countsOf(ctx, s.operator)
	if err != nil {
		return nil, err
	}
	return &changeRun{after.since(before), done.Sub(began)}, nil
}
