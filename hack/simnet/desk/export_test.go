package desk

import (
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
)

// Tricks are those of the tokens that the desk launches.
var Tricks = deskTricks

// Run is what the desk knows of a launch.
type Run struct {
	Venue  venues.Venue
	Trick  attack.Trick
	Start  time.Time
	Buyers []string
	Launch *launch.Launch
}

// Runs are the launches that the desk still trades on.
func (d *Desk) Runs() []Run {
	runs := make([]Run, len(d.running))
	for i, r := range d.running {
		runs[i] = Run{r.venue, r.trick, r.start, r.buyers, r.launch}
	}
	return runs
}
