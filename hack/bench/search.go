package main

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
)

// searchCommand is the command.
func searchCommand() command {
	o := bigMarket()
	o.size.Tokens, o.size.Trades, o.duration = 1_000_000, 100_000, 30*time.Second
	return command{
		name: "search",
		about: "Search among many tokens, whose names and tickers follow Zipf's law, a query of each kind in turn in an open loop. " +
			"Any answer but 200 fails it, and so does an address that is not found. See docs/benchmarks.md#answering.",
		flags: o.openFlags,
		run: func(ctx context.Context) error {
			return o.onMarkets(ctx, func(m *onMarket) error { return (&searchesRun{m}).run(ctx) })
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
	query func(rng *rand.Rand, t *worldToken) string
}

var searchKinds = []searchKind{
	{"address", func(_ *rand.Rand, t *worldToken) string { return t.mint.String() }},
	{"exact ticker", func(_ *rand.Rand, t *worldToken) string { return t.symbol }},
	{"prefix", func(rng *rand.Rand, t *worldToken) string {
		letters := []rune(t.name)
		return string(letters[:min(2+rng.IntN(3), len(letters))])
	}},
	{"fuzzy", func(rng *rand.Rand, t *worldToken) string { return misspelt(rng, t.name) }},
	{"one letter", func(rng *rand.Rand, _ *worldToken) string { return string(rune('a' + rng.IntN(26))) }},
	{"miss", func(rng *rand.Rand, _ *worldToken) string {
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

// searchesRun is the measurement on one database.
type searchesRun struct{ *onMarket }

func (m *searchesRun) run(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s, of %s names. %d round(s), medians; open loop at %g/s for %s after %s of warming up, a query of each kind in turn.",
		m.d, m.size, thousands(m.world.names), m.rounds, m.rate, m.duration, m.warmUp)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	var runs []*openRun
	var rounds []roundRun
	for round := range m.rounds {
		r, used, err := m.round(ctx, uint64(round))
		if err != nil {
			return err
		}
		say("%s, round %d of %d: p99 %.2f ms", m.d, round+1, m.rounds, milliseconds(quantile(r.of(-1, http.StatusOK), 0.99)))
		runs, rounds = append(runs, r), append(rounds, roundRun{server: used})
	}
	return searchReport(runs, rounds)
}

func (m *searchesRun) round(ctx context.Context, round uint64) (r *openRun, used *reading, err error) {
	s, err := m.serve(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = s.end(func() error {
		if err := finds(ctx, s.address, m.world); err != nil {
			return err
		}
		if _, err := m.searches(ctx, s.address, m.warmUp, round|1<<32); err != nil {
			return err
		}
		used, err = meter(s, m.d, func() (err error) {
			r, err = m.searches(ctx, s.address, m.duration, round)
			return err
		})
		return err
	})
	return r, used, err
}

// searches sends queries of all kinds; all must be answered by 200.
func (m *searchesRun) searches(ctx context.Context, address string, length time.Duration, sequence uint64) (*openRun, error) {
	r, err := m.openLoop(ctx, address, length, sequence, func(n int, draw *drawer) (int, string) {
		kind := n % len(searchKinds)
		return kind, searchPath + url.QueryEscape(searchKinds[kind].query(draw.rng, &m.world.tokens[draw.draw(1)[0]]))
	})
	if err != nil {
		return nil, err
	}
	return r, r.statuses().only(http.StatusOK)
}

// finds fails unless tokens are found by their addresses.
func finds(ctx context.Context, address string, w *world) error {
	for i := range 20 {
		t := &w.tokens[i*(len(w.tokens)/20)]
		a, err := fetch(ctx, address, searchPath+t.mint.String())
		if err != nil {
			return err
		}
		var found struct {
			Pairs []struct{ BaseToken struct{ Address string } }
		}
		if err := json.Unmarshal(a.body, &found); err != nil {
			return fmt.Errorf("%s%s: %w", searchPath, t.mint, err)
		}
		if len(found.Pairs) == 0 || !strings.EqualFold(found.Pairs[0].BaseToken.Address, t.mint.String()) {
			return fmt.Errorf("%s%s does not find it: %s", searchPath, t.mint, a.body)
		}
	}
	return nil
}

func searchReport(runs []*openRun, rounds []roundRun) error {
	t := columns([]string{"query"}, searchFigures(-1), fmt.Sprintf("p99 below %s", wantedSearch))
	for kind := -1; kind < len(searchKinds); kind++ {
		name := "all"
		if kind >= 0 {
			name = searchKinds[kind].name
		}
		list := searchFigures(kind)
		t.add(figures([]string{name}, runs, list, verdict(middle(values(runs, list[1].of)) < milliseconds(wantedSearch)))...)
	}
	return writeTables(os.Stdout, t, eachRound(rounds, roundFigures))
}

// searchFigures are those of one kind of query, or of all.
func searchFigures(kind int) []column[*openRun] {
	at := func(q float64) func(**openRun) float64 {
		return func(r **openRun) float64 { return milliseconds(quantile((*r).of(kind, http.StatusOK), q)) }
	}
	return []column[*openRun]{
		{name: "p50 ms", format: "%.2f", of: at(0.5)},
		{name: "p99 ms", format: "%.2f", of: at(0.99)},
		{name: "p99 of each round", format: "%.2f", of: at(0.99), each: true},
	}
}
