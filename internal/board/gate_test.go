package board

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// poolToken and curveToken pass the default gate at each of its bounds.
func poolToken(chain string, liquidity float64) Candidate {
	return Candidate{Chain: chain, LiquidityUSD: liquidity, Volume24hUSD: 10_000, AgeS: 300, Holders: new(int64(50))}
}

func curveToken() Candidate {
	return Candidate{
		Chain: "base", OnCurve: true, Volume24hUSD: 10_000, AgeS: 604_800, Holders: new(int64(50)),
		ProgressPct: new(20.0), Buyers1h: new(int64(15)),
	}
}

func TestDefaultGate(t *testing.T) {
	t.Parallel()
	with := func(c Candidate, change func(*Candidate)) Candidate { change(&c); return c }
	pool, curve := poolToken("base", 5_000), curveToken()
	for name, c := range map[string]struct {
		candidate Candidate
		want      []string
	}{
		"a pool's token":         {pool, nil},
		"on Ethereum":            {poolToken("ethereum", 25_000), nil},
		"shallow on Ethereum":    {poolToken("ethereum", 24_999.99), []string{"liquidity_usd"}},
		"shallow":                {with(pool, func(c *Candidate) { c.LiquidityUSD = 4_999.99 }), []string{"liquidity_usd"}},
		"quiet":                  {with(pool, func(c *Candidate) { c.Volume24hUSD = 9_999.99 }), []string{"volume_24h_usd"}},
		"too young":              {with(pool, func(c *Candidate) { c.AgeS = 299 }), []string{"age_s_min"}},
		"too old":                {with(pool, func(c *Candidate) { c.AgeS = 604_801 }), []string{"age_s_max"}},
		"few holders":            {with(pool, func(c *Candidate) { c.Holders = new(int64(49)) }), []string{"holders"}},
		"unknown holders":        {with(pool, func(c *Candidate) { c.Holders = nil }), []string{"holders"}},
		"a honeypot":             {with(pool, func(c *Candidate) { c.TrustCritical = true }), []string{"trust"}},
		"no number":              {with(pool, func(c *Candidate) { c.LiquidityUSD, c.Volume24hUSD = math.NaN(), math.NaN() }), []string{"liquidity_usd", "volume_24h_usd"}},
		"a curve's token":        {curve, nil},
		"little sold":            {with(curve, func(c *Candidate) { c.ProgressPct = new(19.99) }), []string{"curve.progress_pct"}},
		"unknown progress":       {with(curve, func(c *Candidate) { c.ProgressPct = nil }), []string{"curve.progress_pct"}},
		"few buyers":             {with(curve, func(c *Candidate) { c.Buyers1h = new(int64(14)) }), []string{"curve.buyers_1h"}},
		"unknown buyers":         {with(curve, func(c *Candidate) { c.Buyers1h = nil }), []string{"curve.buyers_1h"}},
		"nothing on a pool":      {Candidate{Chain: "base", TrustCritical: true}, []string{"liquidity_usd", "volume_24h_usd", "age_s_min", "holders", "trust"}},
		"nothing on a curve":     {Candidate{OnCurve: true}, []string{"volume_24h_usd", "age_s_min", "holders", "curve.progress_pct", "curve.buyers_1h"}},
		"full for ten minutes":   {with(curve, func(c *Candidate) { c.FullS = 600 }), nil},
		"full for longer":        {with(curve, func(c *Candidate) { c.FullS = 601 }), []string{"curve.full"}},
		"a pool's full curve":    {with(pool, func(c *Candidate) { c.FullS = 601 }), nil},
		"a pool's curve figures": {with(pool, func(c *Candidate) { c.ProgressPct, c.Buyers1h = new(1.0), new(int64(1)) }), nil},
	} {
		gate := DefaultGate()
		got := gate.Fails(c.candidate).Names()
		if got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%s fails %#v, want %q", name, got, c.want)
		}
	}
}

// Better figures, an older token within its time, and a lower bar never make a token fail what it passed.
func TestGateIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, 50_000)
		count := rapid.Int64Range(0, 100)
		c := Candidate{
			Chain: rapid.SampledFrom([]string{"base", "ethereum"}).Draw(t, "chain"), OnCurve: rapid.Bool().Draw(t, "curve"),
			LiquidityUSD: number.Draw(t, "liquidity"), Volume24hUSD: number.Draw(t, "volume"),
			AgeS: rapid.Int64Range(0, 700_000).Draw(t, "age"), TrustCritical: rapid.Bool().Draw(t, "trust"),
			Holders:     rapid.Ptr(count, true).Draw(t, "holders"),
			ProgressPct: rapid.Ptr(rapid.Float64Range(0, 100), true).Draw(t, "progress"),
			Buyers1h:    rapid.Ptr(count, true).Draw(t, "buyers"),
			FullS:       rapid.Int64Range(0, 1200).Draw(t, "full"),
		}
		gate := DefaultGate()
		fails := gate.Fails(c).Names()
		better := c
		better.LiquidityUSD += number.Draw(t, "more liquidity")
		better.Volume24hUSD += number.Draw(t, "more volume")
		for _, count := range []**int64{&better.Holders, &better.Buyers1h} {
			if *count != nil {
				*count = new(**count + rapid.Int64Range(0, 50).Draw(t, "more"))
			}
		}
		better.TrustCritical = false
		better.FullS -= rapid.Int64Range(0, better.FullS).Draw(t, "full for less")
		subset(t, "a better token", gate.Fails(better).Names(), fails)
		lower := gate
		lower.LiquidityUSDMin, lower.LiquidityUSDMinByChain = 0, nil
		lower.HoldersMin, lower.AgeSMin = 10, 0
		subset(t, "a lower bar", lower.Fails(c).Names(), fails)
		if c.OnCurve && slices.Contains(fails, "liquidity_usd") {
			t.Fatalf("a curve's token fails %q", fails)
		}
		order := []string{"liquidity_usd", "volume_24h_usd", "age_s_min", "age_s_max", "holders", "curve.progress_pct", "curve.buyers_1h", "curve.full", "trust"}
		if !slices.IsSortedFunc(fails, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }) {
			t.Fatalf("%q is out of order", fails)
		}
	})
}

func subset(t *rapid.T, what string, got, of []string) {
	t.Helper()
	for _, f := range got {
		if !slices.Contains(of, f) {
			t.Fatalf("%s fails %q, which it didn't: %q", what, f, of)
		}
	}
}

func TestGateVersion(t *testing.T) {
	t.Parallel()
	usual := DefaultGate()
	if got := usual.Version(); got != "gate-v1" {
		t.Errorf("the default gate is %q", got)
	}
	same := DefaultGate()
	same.LiquidityUSDMinByChain["base"] = same.LiquidityUSDMin
	if got := same.Version(); got != "gate-v1" {
		t.Errorf("a chain's bound that is the general one makes it %q", got)
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*Gate){
		"liquidity":          func(g *Gate) { g.LiquidityUSDMin++ },
		"liquidity on a":     func(g *Gate) { g.LiquidityUSDMinByChain["a"] = 1 },
		"liquidity on b":     func(g *Gate) { g.LiquidityUSDMinByChain["b"] = 1 },
		"none of its own":    func(g *Gate) { g.LiquidityUSDMinByChain = nil },
		"volume":             func(g *Gate) { g.Volume24hUSDMin++ },
		"youngest":           func(g *Gate) { g.AgeSMin++ },
		"oldest":             func(g *Gate) { g.AgeSMax++ },
		"holders":            func(g *Gate) { g.HoldersMin++ },
		"progress":           func(g *Gate) { g.ProgressPctMin++ },
		"a whit of progress": func(g *Gate) { g.ProgressPctMin = math.Nextafter(20, 21) },
		"buyers":             func(g *Gate) { g.Buyers1hMin++ },
	} {
		g := DefaultGate()
		g.LiquidityUSDMinByChain = maps.Clone(g.LiquidityUSDMinByChain)
		change(&g)
		v := g.Version()
		if len(v) != len("gate-v1+12345678") || !strings.HasPrefix(v, "gate-v1+") || v != g.Version() {
			t.Errorf("with another %s the version is %q", name, v)
		}
		if other, taken := seen[v]; taken {
			t.Errorf("%q is the version with another %s and with another %s", v, name, other)
		}
		seen[v] = name
	}
}

func TestGateCheck(t *testing.T) {
	t.Parallel()
	if g := DefaultGate(); g.Check() != nil {
		t.Error(g.Check())
	}
	open := Gate{AgeSMax: 1}
	if err := open.Check(); err != nil {
		t.Errorf("an open gate: %v", err)
	}
	highest := Gate{
		LiquidityUSDMin: 1e12, LiquidityUSDMinByChain: map[string]float64{"base": 1e12}, Volume24hUSDMin: 1e12, ProgressPctMin: 100, AgeSMax: 1,
	}
	if err := highest.Check(); err != nil {
		t.Errorf("a gate of the highest values that are allowed: %v", err)
	}
	for want, change := range map[string]func(*Gate){
		"liquidity_usd_min is -1: it must be from 0 to 1e+12":                    func(g *Gate) { g.LiquidityUSDMin = -1 },
		"liquidity_usd_min is NaN: it must be from 0 to 1e+12":                   func(g *Gate) { g.LiquidityUSDMin = math.NaN() },
		"volume_24h_usd_min is +Inf: it must be from 0 to 1e+12":                 func(g *Gate) { g.Volume24hUSDMin = math.Inf(1) },
		"liquidity_usd_min_by_chain.ethereum is -2: it must be from 0 to 1e+12":  func(g *Gate) { g.LiquidityUSDMinByChain["ethereum"] = -2 },
		`liquidity_usd_min_by_chain: "Base" is no chain id`:                      func(g *Gate) { g.LiquidityUSDMinByChain["Base"] = 1 },
		"curve.progress_pct_min is 101: it must be from 0 to 100":                func(g *Gate) { g.ProgressPctMin = 101 },
		"age_s_min is -1: it must be 0 or more":                                  func(g *Gate) { g.AgeSMin = -1 },
		"holders_min is -1: it must be 0 or more":                                func(g *Gate) { g.HoldersMin = -1 },
		"curve.buyers_1h_min is -1: it must be 0 or more":                        func(g *Gate) { g.Buyers1hMin = -1 },
		"age_s_max is 300: it must be more than age_s_min, which is 300":         func(g *Gate) { g.AgeSMax = 300 },
		"age_s_max is -9223372036854775808: it must be more than age_s_min, whi": func(g *Gate) { g.AgeSMax = math.MinInt64 },
	} {
		g := DefaultGate()
		change(&g)
		if err := g.Check(); err == nil || !strings.HasPrefix(err.Error(), "gate: "+want) {
			t.Errorf("got %v, want %q", err, "gate: "+want)
		}
	}
}
