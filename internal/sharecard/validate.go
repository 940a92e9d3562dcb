package sharecard

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// ErrInvalid is wrapped by what Validate answers.
var ErrInvalid = errors.New("invalid card")

// Validate implements Card.
func (t *Token) Validate() error {
	v := validator{}
	v.asset(&t.Asset)
	v.figures("price_usd, change_24h_pct, liquidity_usd, volume_24h_usd, market_cap_usd",
		t.PriceUSD, t.Change24hPct, t.LiquidityUSD, t.Volume24hUSD, t.MarketCapUSD)
	v.line("day", t.Day)
	if t.Members != nil {
		v.atMost("members.faces", len(t.Members.Faces), MaxFaces)
		for _, f := range t.Members.Faces {
			v.atMost("bytes of members.faces", len(f), MaxPicture)
		}
	}
	return v.err()
}

// Validate implements Card.
func (l *Launch) Validate() error {
	v := validator{}
	v.asset(&l.Asset)
	v.text("venue", l.Venue, MaxText)
	switch l.Stage {
	case StageCurve, StageCompleted, StageGraduated, StageLive:
	default:
		v.add("stage is %q: use %s, %s, %s or %s", l.Stage, StageCurve, StageCompleted, StageGraduated, StageLive)
	}
	if c := l.Curve; c != nil {
		v.text("curve.raised", c.Raised, MaxText)
		v.text("curve.target", c.Target, MaxText)
		if !(c.ProgressPct >= 0 && c.ProgressPct <= 100) {
			v.add("curve.progress_pct is %v: use 0 to 100", c.ProgressPct)
		}
	}
	v.figures("liquidity_usd, price_usd, change_24h_pct, market_cap_usd, volume_24h_usd",
		l.LiquidityUSD, l.PriceUSD, l.Change24hPct, l.MarketCapUSD, l.Volume24hUSD)
	v.atMost("gate_fails", len(l.GateFails), maxNames)
	for _, g := range l.GateFails {
		v.text("gate_fails", g, MaxText)
	}
	v.text("creator", l.Creator, MaxAddress)
	v.text("creator_handle", l.CreatorHandle, MaxText)
	v.line("day", l.Day)
	return v.err()
}

// Validate implements Card.
func (t *Trader) Validate() error {
	v := validator{}
	v.text("wallet", t.Wallet, MaxAddress)
	if t.Wallet == "" {
		v.add("wallet is empty")
	}
	v.text("handle", t.Handle, MaxText)
	v.atMost("bytes of face", len(t.Face), MaxPicture)
	v.atMost("chains", len(t.Chains), maxNames)
	for _, c := range t.Chains {
		v.text("chains", c, MaxText)
	}
	for _, p := range []*Profit{&t.Day, &t.Week} {
		v.figures("realised_usd, realised_pct, net_usd, excluded_usd", p.RealisedUSD, p.RealisedPct, p.NetUSD, &p.ExcludedUSD)
		if p.Wins < 0 || p.Wins > p.Sells {
			v.add("wins are %d of %d sells", p.Wins, p.Sells)
		}
	}
	if t.Best != nil {
		v.text("best.symbol", t.Best.Symbol, MaxText)
		v.text("best.chain", t.Best.Chain, MaxText)
		v.figures("best.pnl_usd, best.pnl_pct", &t.Best.PnLUSD, t.Best.PnLPct)
	}
	v.line("line", t.Line)
	return v.err()
}

// maxNames bounds lists of names.
const maxNames = 32

// validator gathers what is wrong.
type validator struct{ faults []error }

func (v *validator) err() error { return errors.Join(v.faults...) }

func (v *validator) add(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
}

func (v *validator) atMost(name string, n, most int) {
	if n > most {
		v.add("%s: %d, at most %d are allowed", name, n, most)
	}
}

func (v *validator) text(name, s string, most int) {
	v.atMost("bytes of "+name, len(s), most)
	if !utf8.ValidString(s) {
		v.add("%s is not UTF-8", name)
	}
}

func (v *validator) asset(a *Asset) {
	v.text("mint", a.Mint, MaxAddress)
	if a.Mint == "" {
		v.add("mint is empty")
	}
	v.text("chain", a.Chain, MaxText)
	v.text("symbol", a.Symbol, MaxText)
	v.text("name", a.Name, MaxText)
	v.atMost("bytes of picture", len(a.Picture), MaxPicture)
}

// figures takes no infinity and no NaN, which JSON can't carry either.
func (v *validator) figures(names string, figures ...*float64) {
	for _, f := range figures {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			v.add("one of %s is not a number", names)
		}
	}
}

func (v *validator) line(name string, points []float64) {
	v.atMost("points of "+name, len(points), MaxPoints)
	for i := range points {
		v.figures(name, &points[i])
	}
}
