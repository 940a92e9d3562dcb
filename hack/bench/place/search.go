package place

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

const (
	// atOnce is how many plans are tried between two looks at what is best so far: the same for any number of CPUs, so that a search by number of
	// tries gives the same everywhere.
	atOnce = 32
	// kept is how many of the best are varied.
	kept = 24
)

// family is a kind of attack: it makes any plan one of its kind.
type family struct {
	name string
	make func(*plan)
}

// anyFamily has all kinds and their combinations.
var anyFamily = family{"any", func(*plan) {}}

// families are the kinds that are searched by themselves.
var families = []family{
	{"fresh wallets, paid by one", func(p *plan) { p.Source, p.Funding = fresh, fanOut }},
	{"fresh wallets, each paid by the one before", func(p *plan) { p.Source, p.Funding = fresh, inChain }},
	{"fresh wallets, paid by a contract that logs it", func(p *plan) { p.Source, p.Funding = fresh, disperse }},
	{"fresh wallets, paid by a contract that logs nothing", func(p *plan) { p.Source, p.Funding = fresh, inSilence }},
	{"fresh wallets, paid by exchanges", func(p *plan) { p.Source, p.Funding = fresh, fromExchanges }},
	{"wallets made a day before", func(p *plan) { p.Source = dayOld }},
	{"wallets aged for thirty days", func(p *plan) { p.Source = aged }},
	{"rented wallets", func(p *plan) { p.Source = rented }},
	{"rented wallets on four tokens", func(p *plan) { p.Source, p.Tokens = rented, 4 }},
	{"all in the block of the launch", func(p *plan) {
		*p = plan{
			Venue: p.Venue, SeedUSD: p.SeedUSD, Wallets: p.Wallets, BuyUSD: p.BuyUSD, Jitter: p.Jitter, Holders: p.Holders, WashUSD: p.WashUSD, WashWallets: p.WashWallets,
			AgainS: p.AgainS, Sellers: 1, Source: p.Source, Funding: p.Funding, LeadS: p.LeadS, Tokens: 1,
		}
	}},
	{"passing on", func(p *plan) { p.PassOn, p.Sellers, p.Ring = max(p.PassOn, 0.8), max(p.Sellers, p.Wallets/4, 1), false }},
	{"rings", func(p *plan) { p.PassOn, p.Ring = max(p.PassOn, 0.8), true }},
	{"slow trading to and fro", func(p *plan) { p.SellS, p.AgainS, p.AgainUSD = max(p.SellS, 300), max(p.AgainS, p.SellS+300), p.BuyUSD }},
	{"holders by dust, few buyers", func(p *plan) { p.Wallets, p.NewAnHour, p.Holders = min(p.Wallets, 20), 0, max(p.Holders, 50) }},
	{"liquidity that comes and goes", func(p *plan) {
		p.PairUSD, p.PairInS, p.PairOutS = max(p.PairUSD, 2000), max(p.PairInS, 120), max(p.PairOutS, 120)
	}},
}

// variable is a number of a plan that the search varies, between bounds, by its logarithm. May says that 0 is one of its values.
type variable struct {
	name     string
	of       func(*plan) *float64
	from, to float64
	may      bool
}

var variables = []variable{
	{"seed_usd", func(p *plan) *float64 { return &p.SeedUSD }, 10, 20_000, false},
	{"buy_usd", func(p *plan) *float64 { return &p.BuyUSD }, 1, 500, false},
	{"jitter", func(p *plan) *float64 { return &p.Jitter }, 0.1, 1.5, true},
	{"delay_s", func(p *plan) *float64 { return &p.DelayS }, 2, 3600, true},
	{"span_s", func(p *plan) *float64 { return &p.SpanS }, 2, 3600, true},
	{"again_usd", func(p *plan) *float64 { return &p.AgainUSD }, 1, 500, true},
	{"again_s", func(p *plan) *float64 { return &p.AgainS }, 60, 3600, false},
	{"sell_s", func(p *plan) *float64 { return &p.SellS }, 60, 7200, true},
	{"pass_on", func(p *plan) *float64 { return &p.PassOn }, 0.05, 1, true},
	{"wash_usd", func(p *plan) *float64 { return &p.WashUSD }, 100, 50_000, true},
	{"wash_an_hour", func(p *plan) *float64 { return &p.WashAnHour }, 100, 20_000, true},
	{"pair_in_s", func(p *plan) *float64 { return &p.PairInS }, 60, 3600, true},
	{"pair_out_s", func(p *plan) *float64 { return &p.PairOutS }, 10, 3600, true},
	{"pair_usd", func(p *plan) *float64 { return &p.PairUSD }, 500, 50_000, true},
	{"lead_s", func(p *plan) *float64 { return &p.LeadS }, 2, 11 * hour, false},
}

// count is a whole number of a plan that the search varies.
type count struct {
	name     string
	of       func(*plan) *int
	from, to float64
	may      bool
}

var counts = []count{
	{"wallets", func(p *plan) *int { return &p.Wallets }, 3, 2000, false},
	{"new_an_hour", func(p *plan) *int { return &p.NewAnHour }, 1, 500, true},
	{"sellers", func(p *plan) *int { return &p.Sellers }, 1, 500, false},
	{"holders", func(p *plan) *int { return &p.Holders }, 10, 2000, true},
	{"holders_an_hour", func(p *plan) *int { return &p.HoldersAnHour }, 1, 500, true},
	{"wash_wallets", func(p *plan) *int { return &p.WashWallets }, 1, 20, true},
	{"tokens", func(p *plan) *int { return &p.Tokens }, 1, mostTokens, false},
}

// between draws a number whose logarithm is even between those of two.
func between(rng *rand.Rand, from, to float64) float64 {
	return from * math.Exp(rng.Float64()*math.Log(to/from))
}

// randomPlan draws a plan.
func randomPlan(rng *rand.Rand) plan {
	var p plan
	for _, v := range variables {
		if !v.may || rng.IntN(2) == 0 {
			*v.of(&p) = between(rng, v.from, v.to)
		}
	}
	for _, c := range counts {
		if !c.may || rng.IntN(2) == 0 {
			*c.of(&p) = int(between(rng, c.from, c.to))
		}
	}
	if p.choose(rng); rng.IntN(4) > 0 {
		p.Tokens = 1
	}
	return p
}

// choose draws what isn't a number.
func (p *plan) choose(rng *rand.Rand) {
	p.Venue, p.Source, p.Funding = site(rng.IntN(len(venues))), source(rng.IntN(len(sourceNames))), funding(rng.IntN(len(fundingNames)))
	p.Ring = rng.IntN(4) == 0
}

// mutate changes a few of a plan's numbers.
func (p *plan) mutate(rng *rand.Rand) {
	for range 1 + rng.IntN(3) {
		n := rng.IntN(len(variables) + len(counts) + 1)
		switch {
		case n < len(variables):
			v := variables[n]
			*v.of(p) = vary(rng, *v.of(p), v.from, v.to, v.may)
		case n < len(variables)+len(counts):
			c := counts[n-len(variables)]
			*c.of(p) = int(vary(rng, float64(*c.of(p)), c.from, c.to, c.may))
		default:
			p.choose(rng)
		}
	}
}

// vary changes a number by some part of it, or sets it anew.
func vary(rng *rand.Rand, v, from, to float64, may bool) float64 {
	switch u := rng.IntN(8); {
	case may && u == 0:
		return 0
	case v == 0 || u == 1:
		return between(rng, from, to)
	}
	return min(to, max(from, v*math.Exp(0.5*rng.NormFloat64())))
}

// cross takes each part from one of two plans.
func cross(rng *rand.Rand, a, b *plan) plan {
	out := *a
	for _, v := range variables {
		if rng.IntN(2) == 0 {
			*v.of(&out) = *v.of(b)
		}
	}
	for _, c := range counts {
		if rng.IntN(2) == 0 {
			*c.of(&out) = *c.of(b)
		}
	}
	return out
}

// searcher looks for the cheapest plan of a family that reaches its goal.
type searcher struct {
	family family
	seed   uint64
	// attempt tries a plan, as long as it may be worth less than a bound.
	attempt func(p *plan, bound float64) (trial, error)
	// from are plans to begin with.
	from []plan
	// enough says after how many tries it ends.
	enough func(tries int) bool
}

// run gives the cheapest plan that it found, and how many it tried. progress is told of each round.
func (s *searcher) run(ctx context.Context, progress func(tries int, best *trial)) (best trial, tries int, err error) {
	rng := rand.New(rand.NewPCG(s.seed, 1<<41))
	var elite []trial
	next := slices.Clone(s.from)
	for i := range next {
		s.family.make(&next[i])
	}
	for {
		plans := make([]plan, 0, atOnce)
		plans = append(plans, next[:min(len(next), atOnce)]...)
		next = next[len(plans):]
		for len(plans) < atOnce {
			plans = append(plans, s.draw(rng, elite))
		}
		done, err := s.tryAll(plans, boundOf(elite))
		if err != nil {
			return best, tries, err
		}
		elite = append(elite, done...)
		cheapest(elite)
		elite = elite[:min(len(elite), kept)]
		tries += atOnce
		progress(tries, &elite[0])
		if s.enough(tries) || ctx.Err() != nil {
			return elite[0], tries, ctx.Err()
		}
	}
}

// boundOf is what a trial must be worth less than to be kept.
func boundOf(elite []trial) float64 {
	if len(elite) < kept {
		return math.Inf(1)
	}
	return elite[len(elite)-1].worth()
}

// draw makes a plan: at first by chance alone, then mostly from those that were best.
func (s *searcher) draw(rng *rand.Rand, elite []trial) plan {
	p := randomPlan(rng)
	if len(elite) == kept {
		pick := func() *plan { return &elite[int(kept*rng.Float64()*rng.Float64())].plan }
		switch u := rng.Float64(); {
		case u < 0.65:
			p = *pick()
			p.mutate(rng)
		case u < 0.85:
			p = cross(rng, pick(), pick())
			p.mutate(rng)
		}
	}
	s.family.make(&p)
	return p
}

// tryAll tries plans on all CPUs. Each is tried by itself, so that their order is as given.
func (s *searcher) tryAll(plans []plan, bound float64) ([]trial, error) {
	out, errs := make([]trial, len(plans)), make([]error, len(plans))
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range plans {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			out[i], errs[i] = s.attempt(&plans[i], bound)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
