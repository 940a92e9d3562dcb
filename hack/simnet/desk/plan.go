package desk

import (
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
)

// fate is how far a launch gets.
type fate string

const (
	fateGraduates fate = "graduates"
	fateCompletes fate = "completes" // and waits long for its graduation
	fateNear      fate = "near"      // graduation, without getting there
	fateRuns      fate = "runs"
	fateDud       fate = "dud"
	fateWash      fate = "wash" // a few wallets trade with themselves
)

// plan is a launch before it is made.
type plan struct {
	venue venues.Venue
	fate  fate
	start time.Time
	// life is how long it takes to its goal, the part of its curve that is to be sold; on live pools the goal is a
	// part of liveRise.
	life time.Duration
	goal float64
	// trades is how many there are on the way, and churn how many a minute after it.
	trades, churn float64
	// end is when nobody cares any more; the zero time is never.
	end time.Time
	// rest is how long a full curve waits.
	rest time.Duration
	// crowd bounds how many wallets come; 0 is as many as there are.
	crowd int
	// trick is what is wrong with the token; empty where the venue makes it.
	trick attack.Trick
}

const (
	// creatorCount of the wallets launch tokens, the first tricksterCount of them ones with tricks, and washCount trade with
	// themselves; the others trade.
	creatorCount, tricksterCount, washCount = 30, 6, 18
	// washGifts is how many holders each purchase makes on the way to a wash-traded token's goal.
	washGifts = 4
	// liveRise is the logarithm by which a live pool's price rises on its way.
	liveRise = 1.1
)

// plan of one fate. Amounts are such that a token passes the launch board's quality bar halfway: over 50 holders, more than
// 15 buyers an hour, and 10,000 dollars of trades.
func (d *Desk) plan(venue venues.Venue, of fate, start time.Time, life time.Duration) plan {
	p := plan{venue: venue, fate: of, start: start, life: life, goal: 1, trades: 125, churn: 2}
	switch of {
	case fateGraduates:
		p.goal, p.rest = 1.05, time.Duration(20+d.rng.IntN(40))*time.Second
	case fateCompletes:
		p.goal, p.rest = 1.05, 8*time.Hour
	case fateNear:
		p.goal = 0.84 + 0.11*d.rng.Float64()
	case fateRuns:
		p.goal, p.trades = 0.35+0.4*d.rng.Float64(), 105
	case fateDud:
		p.goal, p.trades, p.churn, p.crowd = 0.01+0.05*d.rng.Float64(), 4+8*d.rng.Float64(), 0, 7
	case fateWash:
		p.goal, p.trades, p.churn = 0.45, 60, 12
	}
	return p
}

// usual is the next launch of ordinary days, on each venue in turn.
func (d *Desk) usual(start time.Time) plan {
	protocols := d.world.Venues
	turn, round := d.count%len(protocols), d.count/len(protocols)
	d.count++
	// Neighbouring venues are at different points of the same list.
	fates := []fate{fateGraduates, fateNear, fateGraduates, fateDud, fateGraduates, fateRuns}
	venue, of := protocols[turn], fates[(round+2*turn)%len(fates)]
	if of == fateRuns && venue.Adopts() {
		return d.tricky(venue, start)
	}
	p := d.plan(venue, of, start, usualLife+time.Duration(d.rng.IntN(120))*time.Second)
	p.end = start.Add(p.life + 15*time.Minute)
	if of == fateGraduates && d.rng.IntN(3) == 0 {
		p.rest = 3 * time.Minute // seen completed for a while
		p.end = p.end.Add(p.rest)
	}
	return p
}

// deskTricks are those that make a difference on a launch venue, where nobody provides liquidity.
var deskTricks = []attack.Trick{attack.TrickHoneypot, attack.TrickSellTax, attack.TrickBackdoor, attack.TrickUpgradeable, attack.TrickBlacklist}

// tricky is a launch with the next trick.
func (d *Desk) tricky(venue venues.Venue, start time.Time) plan {
	p := d.plan(venue, fateRuns, start, usualLife)
	p.trick = deskTricks[d.tricks%len(deskTricks)]
	p.end = start.Add(p.life + 15*time.Minute)
	d.tricks++
	return p
}

// usualLife is the shortest that a launch takes to graduate.
const usualLife = 6 * time.Minute

// PlanHistory plans launches of the last day before an end, of every fate on each venue, and that ordinary launches
// begin a few minutes before it. Call it before the first Step.
func (d *Desk) PlanHistory(start, end time.Time) {
	age := func(from, to time.Duration) time.Time {
		at := end.Add(-from - time.Duration(d.rng.Int64N(int64(to-from))))
		if at.Before(start) {
			at = start
		}
		return at
	}
	add := func(p plan, churn float64) {
		p.churn = churn
		d.plans = append(d.plans, p)
	}
	for i, venue := range d.world.Venues {
		add(d.plan(venue, fateGraduates, age(8*time.Hour, 20*time.Hour), 50*time.Minute), 0.05)
		add(d.plan(venue, fateGraduates, age(100*time.Minute, 5*time.Hour), 40*time.Minute), 0.4)
		add(d.plan(venue, fateRuns, age(25*time.Minute, 50*time.Minute), 15*time.Minute), 1)
		add(d.plan(venue, fateRuns, age(12*time.Minute, 18*time.Minute), 8*time.Minute), 1)
		add(d.plan(venue, fateDud, age(30*time.Minute, 20*time.Hour), 10*time.Minute), 0)
		if venue.HasCurve() {
			add(d.plan(venue, fateNear, age(35*time.Minute, 80*time.Minute), 25*time.Minute), 1)
		}
		if venue.Waits() {
			add(d.plan(venue, fateCompletes, age(50*time.Minute, 2*time.Hour), 30*time.Minute), 0)
		}
		if venue.Adopts() {
			for range deskTricks {
				p := d.tricky(venue, age(20*time.Minute, 70*time.Minute))
				p.life, p.end = 12*time.Minute, time.Time{}
				add(p, 0.5)
			}
		}
		if i == 0 {
			add(d.plan(venue, fateWash, age(30*time.Minute, 40*time.Minute), 10*time.Minute), 12)
		}
	}
	slices.SortStableFunc(d.plans, func(a, b plan) int { return a.start.Compare(b.start) })
	d.next = end.Add(-usualLife - time.Minute)
}

// wanted is the part of the curve that should be sold by now.
func (p *plan) wanted(at time.Time) float64 {
	done := min(1, float64(at.Sub(p.start))/float64(p.life))
	return p.goal * done
}

// tradesDue draws how many trades come until a time.
func (d *Desk) tradesDue(r *run, at time.Time) int {
	// More at once would make a block that nobody sees on a real chain.
	const most = 40
	span := at.Sub(r.last)
	if span <= 0 || !r.full.IsZero() && r.launch.OnCurve() {
		return 0
	}
	rate := r.churn / 60
	if at.Sub(r.start) < r.life && (r.launch.OnCurve() || !r.venue.HasCurve()) {
		rate = r.trades / r.life.Seconds()
	} else if r.goal > 1 && r.launch.OnCurve() {
		rate = max(rate, r.trades/r.life.Seconds()) // it is late
	}
	return min(most, traffic.Poisson(d.rng, min(most, rate*span.Seconds())))
}

// over tells that nobody trades any more. A curve that is to graduate does so first.
func (r *run) over(at time.Time) bool {
	waits := r.goal > 1 && r.launch.OnCurve() && r.venue.HasCurve()
	quiet := r.churn == 0 && at.Sub(r.start) > r.life
	return r.gone || !waits && (quiet || !r.end.IsZero() && at.After(r.end))
}
