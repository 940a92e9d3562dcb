// Package search measures the search among many tokens.
package search

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// Command is the command.
func Command() lab.Command {
	o := lab.BigMarket()
	o.Size.Tokens, o.Size.Trades, o.Duration = 1_000_000, 100_000, 30*time.Second
	return lab.Command{
		Name: "search",
		About: "Search among many tokens, whose names and tickers follow Zipf's law, a query of each kind in turn in an open loop. " +
			"Any answer but 200 fails it, and so does an address that is not found. See docs/benchmarks.md#answering.",
		Flags: o.OpenFlags,
		Run: func(ctx context.Context) error {
			return o.OnMarkets(ctx, func(m *lab.Market) error { return (&measurement{m}).run(ctx) })
		},
	}
}

const (
	searchPath   = "/api/dexscreener/search?q="
	wantedSearch = 20 * time.Millisecond
)

// searchKind is a way to look for a token.
type searchKind struct {
	name string
	// query makes one for a token that is to be found.
	query func(rng *rand.Rand, t *lab.WorldToken) string
}

var searchKinds = []searchKind{
	{"address", func(_ *rand.Rand, t *lab.WorldToken) string { return t.Mint.String() }},
	{"exact ticker", func(_ *rand.Rand, t *lab.WorldToken) string { return t.Symbol }},
	{"prefix", func(rng *rand.Rand, t *lab.WorldToken) string {
		letters := []rune(t.Name)
		return string(letters[:min(2+rng.IntN(3), len(letters))])
	}},
	{"fuzzy", func(rng *rand.Rand, t *lab.WorldToken) string { return misspelt(rng, t.Name) }},
	{"one letter", func(rng *rand.Rand, _ *lab.WorldToken) string { return string(rune('a' + rng.IntN(26))) }},
	{"miss", func(rng *rand.Rand, _ *lab.WorldToken) string {
		var b strings.Builder
		for range 8 + rng.IntN(5) {
			b.WriteByte("qxzvkjw"[rng.IntN(7)])
		}
		return b.String()
	}},
}

// misspelt leaves out, doubles or swaps a letter, as fingers do.
func misspelt(rng *rand.Rand, name string) string {
	letters := []rune(strings.ToLower(name))
	if len(letters) < 4 {
		return string(letters) + "a"
	}
	i := 1 + rng.IntN(len(letters)-2)
	switch rng.IntN(3) {
	case 0:
		return string(letters[:i]) + string(letters[i+1:])
	case 1:
		return string(letters[:i+1]) + string(letters[i:])
	default:
		letters[i], letters[i+1] = letters[i+1], letters[i]
		return string(letters)
	}
}

// measurement is the measurement on one database.
type measurement struct{ *lab.Market }

func (m *measurement) run(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s, of %d names. %d round(s), medians; open loop at %g/s for %s after %s of warming up, a query of each kind in turn.",
		m.Database, m.Size, m.World.Names, m.Rounds, m.Rate, m.Duration, m.WarmUp)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	var runs []*lab.OpenRun
	var rounds []lab.RoundRun
	for round := range m.Rounds {
		r, used, err := m.round(ctx, uint64(round))
		if err != nil {
			return err
		}
		lab.Say("%s, round %d of %d: p99 %.2f ms", m.Database, round+1, m.Rounds, lab.Milliseconds(lab.Quantile(r.Of(-1, http.StatusOK), 0.99)))
		runs, rounds = append(runs, r), append(rounds, lab.RoundRun{Server: used})
	}
	return searchReport(runs, rounds)
}

func (m *measurement) round(ctx context.Context, round uint64) (r *lab.OpenRun, used *lab.Reading, err error) {
	s, err := m.Serve(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = s.End(func() error {
		if err := finds(ctx, s.Address, m.World); err != nil {
			return err
		}
		if _, err := m.searches(ctx, s.Address, m.WarmUp, round|1<<32); err != nil {
			return err
		}
		used, err = lab.Meter(s, m.Database.Postgres, func() (err error) {
			r, err = m.searches(ctx, s.Address, m.Duration, round)
			return err
		})
		return err
	})
	return r, used, err
}

// searches sends queries of all kinds; all must be answered by 200.
func (m *measurement) searches(ctx context.Context, address string, length time.Duration, sequence uint64) (*lab.OpenRun, error) {
	r, err := m.OpenLoop(ctx, address, length, sequence, func(n int, draw *lab.Drawer) (int, string) {
		kind := n % len(searchKinds)
		return kind, searchPath + url.QueryEscape(searchKinds[kind].query(draw.RNG, &m.World.Tokens[draw.Draw(1)[0]]))
	})
	if err != nil {
		return nil, err
	}
	return r, r.Statuses().Only(http.StatusOK)
}

// finds fails unless tokens are found by their addresses.
func finds(ctx context.Context, address string, w *lab.World) error {
	for i := range 20 {
		t := &w.Tokens[i*(len(w.Tokens)/20)]
		a, err := lab.Fetch(ctx, address, searchPath+t.Mint.String())
		if err != nil {
			return err
		}
		var found struct {
			Pairs []struct{ BaseToken struct{ Address string } }
		}
		if err := json.Unmarshal(a.Body, &found); err != nil {
			return fmt.Errorf("%s%s: %w", searchPath, t.Mint, err)
		}
		if len(found.Pairs) == 0 || !strings.EqualFold(found.Pairs[0].BaseToken.Address, t.Mint.String()) {
			return fmt.Errorf("%s%s does not find it: %s", searchPath, t.Mint, a.Body)
		}
	}
	return nil
}

func searchReport(runs []*lab.OpenRun, rounds []lab.RoundRun) error {
	t := lab.Columns([]string{"query"}, searchFigures(-1), fmt.Sprintf("p99 below %s", wantedSearch))
	for kind := -1; kind < len(searchKinds); kind++ {
		name := "all"
		if kind >= 0 {
			name = searchKinds[kind].name
		}
		list := searchFigures(kind)
		t.Add(lab.Figures([]string{name}, runs, list, lab.Verdict(lab.Middle(lab.Values(runs, list[1].Of)) < lab.Milliseconds(wantedSearch)))...)
	}
	return lab.WriteTables(os.Stdout, t, lab.EachRound(rounds, lab.RoundFigures))
}

// searchFigures are those of one kind of query, or of all.
func searchFigures(kind int) []lab.Column[*lab.OpenRun] {
	at := func(q float64) func(**lab.OpenRun) float64 {
		return func(r **lab.OpenRun) float64 { return lab.Milliseconds(lab.Quantile((*r).Of(kind, http.StatusOK), q)) }
	}
	return []lab.Column[*lab.OpenRun]{
		{Name: "p50 ms", Format: "%.2f", Of: at(0.5)},
		{Name: "p99 ms", Format: "%.2f", Of: at(0.99)},
		{Name: "p99 of each round", Format: "%.2f", Of: at(0.99), Each: true},
	}
}
