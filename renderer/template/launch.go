package template

import (
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func launchSheet(l *sharecard.Launch) sheet {
	s := sheet{Head: assetHead(&l.Asset)}
	if venue := named(l.Venue); venue.Text != "" {
		s.Head.Tag = &tag{Text: venue, Own: l.Own}
	}
	cost := priceHero(l.PriceUSD, rightXL, rightL, rightM)
	dir := figure.Flat
	if l.Change24hPct != nil {
		var pct string
		pct, dir = figure.Move(*l.Change24hPct)
		cost.Move, cost.Note = &moved{Text: pct, Dir: dir}, text(window(l.SinceLaunch, "24 h"))
	}
	switch l.Stage {
	case sharecard.StageCurve, sharecard.StageCompleted:
		s.Heroes = []hero{curveHero(l), cost}
		s.Band = curveBand(curveDone(l), launchBand)
	case sharecard.StageGraduated, sharecard.StageLive:
		s.Heroes = []hero{poolHero(l), cost}
		s.Band = priceBand(l.Day, dir, launchBand)
		if s.Band.Look == bandUnknown && l.Stage == sharecard.StageGraduated {
			s.Band = curveBand(curveDone(l), launchBand)
		}
	}
	s.Stats = []stat{
		usdStat("Market cap", l.MarketCapUSD),
		holdersStat(l),
		ageStat(l),
		gateStat(l),
		creatorStat(l),
	}
	return s
}

// curveDone is how many per cent of the curve are done; nil is unknown.
func curveDone(l *sharecard.Launch) *float64 {
	switch {
	case l.Stage == sharecard.StageCompleted, l.Stage == sharecard.StageGraduated:
		return new(100.0)
	case l.Curve != nil:
		return &l.Curve.ProgressPct
	default:
		return nil
	}
}

func curveHero(l *sharecard.Launch) hero {
	h := hero{Label: "Curve sold", Dir: figure.Flat, Unknown: unknown}
	if l.Curve != nil {
		if l.Curve.Basis == "funds_raised" {
			h.Label = "Curve funded"
		}
		if raised, target := plain.Text(l.Curve.Raised), plain.Text(l.Curve.Target); raised != "" {
			note := isolated(raised)
			if target != "" {
				note += " of " + isolated(target)
			}
			h.Note = text(note + " raised")
		}
	}
	if l.Stage == sharecard.StageCompleted {
		h.Label, h.Note = "Curve complete", text("its pool is next")
	}
	if done := curveDone(l); done != nil {
		h.Text, h.Size, h.Unknown = figure.Progress(*done), sizeXL, ""
	}
	return h
}

func poolHero(l *sharecard.Launch) hero {
	h := hero{Label: "In the pool", Note: text("live from the start"), Dir: figure.Flat, Unknown: unknown}
	if l.Stage == sharecard.StageGraduated {
		h.Note = text("graduated")
	}
	if l.LiquidityUSD != nil {
		if v, ok := figure.USD(*l.LiquidityUSD); ok {
			h.Text, h.Size, h.Unknown = v, sizeXL, ""
		}
	}
	return h
}

// holdersStat tells holders that are too old to show from those that nobody has counted yet.
func holdersStat(l *sharecard.Launch) stat {
	s := countStat("Holders", l.Holders)
	if l.Holders == nil && l.HoldersSource == "stale" {
		s.Unknown = "stale"
	}
	return s
}

func ageStat(l *sharecard.Launch) stat {
	s := stat{Label: "Age", Unknown: unknown}
	if l.CreatedAt > 0 {
		if v, ok := figure.Age(l.AgeS); ok {
			s.Value, s.Unknown = text(v), ""
		}
	}
	return s
}

// gateStat says whether the launch clears the board's bar, or what it misses.
func gateStat(l *sharecard.Launch) stat {
	if l.GatePass {
		return stat{Label: "Quality bar", Value: text("Cleared"), Dir: figure.Up, Mark: pass}
	}
	if len(l.GateFails) == 0 {
		return stat{Label: "Quality bar", Value: text("Not cleared"), Dir: figure.Down, Mark: fail}
	}
	return stat{Label: "Below the bar", Value: text(listed(l.GateFails, 2)), Dir: figure.Down, Mark: fail, Wide: true}
}

func creatorStat(l *sharecard.Launch) stat {
	s := stat{Label: "Creator", Value: named(l.CreatorHandle)}
	switch {
	case s.Value.Text != "":
		s.Prefix, s.Wide = "@", true
	case plain.Text(l.Creator) != "":
		s.Value = text(plain.ShortAddress(l.Creator))
	default:
		s.Unknown = unknown
	}
	return s
}
