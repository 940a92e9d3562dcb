package boards

import (
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// Subject is all that a token's score, and whether it passes the quality bar, follow from.
type Subject struct {
	Chain string
	Mint  market.Address
	// Launch is nil for a token that was not launched, Facts while the token isn't known, Tape without a trade within the window of the score.
	Launch *Launched
	Facts  *figures.Facts
	Tape   *traction.Tape
	// USD are the prices of the chain's quote assets.
	USD     figures.Prices
	Members int
	// Checked says that a trust check of critical severity failed, Stale that the chain stands still.
	Checked, Stale bool
	// Now is the chain's time; unix seconds.
	Now int64
}

// Measured has a token's worth at one moment, and the parts of its score.
type Measured struct {
	Worth figures.Worth
	Parts traction.Parts
}

// Measure tells what the score is made of. A token's market is as old as its launch.
func (s *Subject) Measure() (m Measured) {
	if s.Facts != nil {
		m.Worth = s.Facts.Worth(s.Mint, s.USD, s.Now)
		m.Parts.AgeS = float64(max(s.Now-s.Facts.FirstSeenAt, 0))
	}
	m.Parts.LiquidityUSD = m.Worth.Liquidity
	if s.Launch != nil {
		m.Parts = resting(s.Launch, m.Worth.Liquidity, s.Now)
	}
	if s.Facts != nil {
		m.Parts.NewHolders = s.Facts.NewHolders(s.Now, s.Stale)
	}
	if s.Tape != nil {
		s.Tape.Measure(&m.Parts, s.Now)
	}
	m.Parts.Members = float64(s.Members)
	return m
}

// Hour sums up the token's last hour by its trades.
func (s *Subject) Hour() (h traction.Hour) {
	if s.Tape != nil {
		h = s.Tape.Hour(s.Now)
	}
	return h
}

// Candidate is the launch as the quality bar looks at it.
func (s *Subject) Candidate(m *Measured, hour *traction.Hour) board.Candidate {
	l := s.Launch
	c := board.Candidate{
		Chain: s.Chain, OnCurve: l.onCurve(), LiquidityUSD: m.Worth.Liquidity, Volume24hUSD: m.Worth.Volume, AgeS: int64(m.Parts.AgeS),
		Buyers1h: &hour.Buyers, TrustCritical: s.Checked,
	}
	if s.Facts != nil && s.Facts.Status == market.HoldersCurrent && !s.Stale {
		c.Holders = &s.Facts.Holders
	}
	if l.State() == market.LaunchCompleted {
		c.FullS = max(0, s.Now-l.CompletedAt)
	}
	if l.HasProgress {
		c.ProgressPct = &l.Progress
	}
	return c
}

// Excluded lists the accounts that have part in the launch: their trades don't count.
func (l *Launched) Excluded() (out []market.Address) {
	for _, who := range []market.Address{l.Creator, l.curve, l.Pool} {
		if !who.IsNone() {
			out = append(out, who)
		}
	}
	return out
}
