package up

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
)

// venuePause is the time between two looks at the venues.
const venuePause = time.Second

// venueReporter says, without a cluster, which venue is open where, by the rules of the operator.
type venueReporter struct {
	declared *files.Declared
	indexers []*indexer.Indexer
	live     *catalog.Live
	now      func() time.Time
	log      *slog.Logger
}

// run looks at the venues until ctx ends.
func (d *venueReporter) run(ctx context.Context) error {
	t := time.NewTicker(venuePause)
	defer t.Stop()
	for {
		if d.decide(d.now()) {
			cat, err := d.declared.Catalog()
			if err != nil {
				return err
			}
			d.live.Replace(cat)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// decide reports whether a venue's status changed.
func (d *venueReporter) decide(at time.Time) (changed bool) {
	chains := map[string]*venue.Chain{}
	for i := range d.declared.Chains {
		c := &d.declared.Chains[i]
		chains[c.Name] = &venue.Chain{
			Name: c.Name, Family: chainconfig.Family(c.Spec.Family), Suspended: c.Spec.Suspend, MaxLag: c.MaxLag(), Asked: true,
		}
		for _, ix := range d.indexers {
			if state := ix.State(); state.Chain == c.Spec.ID {
				chains[c.Name].State, chains[c.Name].SeenAt = &state, at
			}
		}
	}
	world := venue.World{Rivals: d.declared.Venues, Chain: func(name string) *venue.Chain { return chains[name] }}
	for i := range d.declared.Venues {
		v := &d.declared.Venues[i]
		world.OlderDefault = ""
		if older := resolve.OlderDefault(v, d.declared.Venues); older != nil && v.Spec.Default {
			world.OlderDefault = older.Name
		}
		status := venue.Status(v, world, at)
		if equality.Semantic.DeepEqual(v.Status, status) {
			continue
		}
		d.tell(v, status.Chains)
		v.Status, changed = status, true
	}
	return changed
}

// tell logs where the venue opened or closed.
func (d *venueReporter) tell(v *v1alpha1.LaunchVenue, after []v1alpha1.VenueChainStatus) {
	was := map[string]v1alpha1.VenueChainStatus{}
	for _, s := range v.Status.Chains {
		was[s.Chain] = s
	}
	for _, s := range after {
		if old := was[s.Chain]; old.State != s.State || old.Reason != s.Reason {
			d.log.Info("launch venue", "venue", v.Spec.ID, "chain", s.Chain, "state", string(s.State), "reason", s.Reason, "message", s.Message)
		}
	}
}
