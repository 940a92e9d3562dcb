package template

import (
	"strings"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// mostFacts is how many characters of a whole address and what stands behind it fit on a line.
const mostFacts = 60

func traderSheet(t *sharecard.Trader) sheet {
	handle, wallet, chains := named(t.Handle), plain.Text(t.Wallet), listed(t.Chains, 3)
	if utf8.RuneCountInString(wallet+chains) > mostFacts {
		wallet = plain.ShortAddress(t.Wallet)
	}
	h := head{Title: handle, Facts: present([]name{text(wallet), text(chains)})}
	if handle.Text == "" {
		h.Title = text(plain.ShortAddress(t.Wallet))
		if h.Facts[0] == h.Title { // the whole address has no room: once is enough
			h.Facts = h.Facts[1:]
		}
	}
	h.Badge = picture(t.Face, sharecard.PictureSize, handle.Text, t.Wallet)
	h.Size = sizeFor(h.Title.Text, 13, 18, 22)
	s := sheet{
		Head:   h,
		Heroes: pair(profitHero("Realised, 24 h", &t.Day), profitHero("Realised, 7 d", &t.Week)),
		Band:   profitBand(t.Line, traderBand),
		Stats:  []stat{winsStat(&t.Week), bestStat(t)},
	}
	if s.Band.Look == bandProfit && t.Week.RealisedUSD != nil {
		_, s.Band.Dir = figure.Profit(*t.Week.RealisedUSD)
	}
	last := stat{Label: "Last trade", Value: text(figure.Day(t.LastTradeAt))}
	if last.Value.Text == "" {
		last.Unknown = unknown
	}
	s.Stats = append(s.Stats, last)
	if left, ok := figure.USD(t.Week.ExcludedUSD); ok && t.Week.ExcludedUSD > 0 {
		s.Stats = append(s.Stats, stat{Label: "Uncounted sales", Value: text(left)})
	}
	return s
}

// pair gives two figures of one kind one size, on which both fit beside each other.
func pair(a, b hero) []hero {
	a.Size = sizeFor(a.Text+b.Text, pairXL, pairL, pairM)
	b.Size = a.Size
	return []hero{a, b}
}

// profitHero is what a window realised, with what gas leaves of it as the second line.
func profitHero(label string, p *sharecard.Profit) hero {
	h := hero{Label: label, Dir: figure.Flat, Unknown: unknown, Below: []string{}}
	if p.RealisedUSD == nil {
		return h
	}
	h.Text, h.Dir = figure.Profit(*p.RealisedUSD)
	h.Unknown = ""
	if p.RealisedPct != nil {
		pct, dir := figure.Move(*p.RealisedPct)
		h.Move = &moved{Text: pct, Dir: dir}
	}
	switch {
	case p.NetUSD != nil:
		net, _ := figure.Profit(*p.NetUSD)
		h.Below = append(h.Below, net+" after gas")
	case p.Sells > 0:
		h.Below = append(h.Below, "before gas")
	default:
		h.Below = append(h.Below, "no sales")
	}
	return h
}

func winsStat(p *sharecard.Profit) stat {
	s := stat{Label: "Win rate, 7 d"}
	switch {
	case p.RealisedUSD == nil:
		s.Unknown = unknown
		return s
	case p.Sells == 0:
		s.Unknown = "no sales"
		return s
	}
	won, _ := figure.Count(p.Wins)
	s.Note = text(won + " of " + things(p.Sells, "sale", "sales"))
	s.Value = text(figure.Percent(100 * float64(p.Wins) / float64(p.Sells)))
	s.Value.Text = strings.Replace(s.Value.Text, ".0"+figure.Thin, figure.Thin, 1)
	return s
}

func bestStat(t *sharecard.Trader) stat {
	s := stat{Label: "Best sale, 7 d", Wide: true}
	b := t.Best
	switch {
	case b == nil && t.Week.RealisedUSD == nil:
		s.Unknown = unknown
		return s
	case b == nil:
		s.Unknown = "none"
		return s
	}
	gain, dir := figure.Profit(b.PnLUSD)
	s.Value, s.Dir, s.Note = text(gain), dir, named(b.Symbol)
	if b.PnLPct != nil {
		pct, _ := figure.Move(*b.PnLPct)
		s.More = pct
	}
	return s
}
