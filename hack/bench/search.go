package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const searchUsage = `bench search measures the search among many tokens, whose names and tickers follow Zipf's law: a few have
thousands of clones.

  go run ./hack/bench search [flags]

The load is an open loop, with a query of each kind in turn. A request's time counts from when it was due. Any answer but
200 fails the measurement, and so does an address that is not found.

The database is made once and kept, as that of bench tokens. --seed makes it and ends.

Flags:
`

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

func searchCommand(ctx context.Context, args []string) error {
	o := bigMarket("search")
	o.size = marketSize{Tokens: 1_000_000, Trades: 100_000}
	o.duration = 30 * time.Second
	if err := o.parse(args, searchUsage, o.openFlags); err != nil {
		return err
	}
	w := newWorld(o.size)
	for _, kind := range o.kinds {
		if err := o.withDatabase(ctx, kind, w, func(d *database) error {
			return scratch(func(dir string) error { return o.search(ctx, d, dir, w) })
		}); err != nil {
			return err
		}
	}
	return nil
}

func (o *apiOptions) search(ctx context.Context, d *database, dir string, w *world) error {
	about := fmt.Sprintf("%s with %s, of %s names. %d round(s), medians; open loop at %g/s for %s after %s of warming up, a query of each kind in turn.",
		d, o.size, thousands(w.names), o.rounds, o.rate, o.duration, o.warmUp)
	if err := heading(os.Stdout, o.command, o.args, about); err != nil {
		return err
	}
	var runs []*openRun
	var rounds []roundRun
	for round := range o.rounds {
		r, used, err := o.searchRound(ctx, d, dir, w, uint64(round), "")
		if err != nil {
			return err
		}
		say("%s, round %d of %d: p99 %.2f ms", d, round+1, o.rounds, milliseconds(quantile(r.of(-1, http.StatusOK), 0.99)))
		runs, rounds = append(runs, r), append(rounds, roundRun{server: used})
	}
	if err := searchReport(runs, rounds); err != nil || o.cpuProfile == "" {
		return err
	}
	_, _, err := o.searchRound(ctx, d, dir, w, 1000, o.cpuProfile+"."+d.kind)
	return err
}

func (o *apiOptions) searchRound(ctx context.Context, d *database, dir string, w *world, round uint64, profile string) (*openRun, *reading, error) {
	s, err := serveAPI(ctx, dir, d.dsn)
	if err != nil {
		return nil, nil, err
	}
	if err := finds(ctx, s.address, w); err != nil {
		return nil, nil, err
	}
	if _, err := o.searches(ctx, s.address, w, o.warmUp, round|1<<32); err != nil {
		return nil, nil, err
	}
	var r *openRun
	used, err := meter(s, d, s.maybeProfiled(profile, func() (err error) {
		r, err = o.searches(ctx, s.address, w, o.duration, round)
		return err
	}))
	if err != nil {
		return nil, nil, err
	}
	return r, used, errors.Join(s.silent(), s.stop())
}

// searches sends queries of all kinds; all must be answered by 200.
func (o *apiOptions) searches(ctx context.Context, address string, w *world, length time.Duration, sequence uint64) (*openRun, error) {
	draw := newDrawer(w, o.zipf, sequence)
	loop := openLoop{
		address: address, rate: o.rate, length: length, most: 512, clients: o.fresh(), grace: 10 * time.Second,
		next: func(n int) (int, []byte) {
			kind := n % len(searchKinds)
			q := searchKinds[kind].query(draw.rng, &w.tokens[draw.draw(1)[0]])
			return kind, render(address, searchPath+url.QueryEscape(q))
		},
	}
	r, err := loop.run(ctx)
	if err != nil {
		return nil, err
	}
	return r, r.answered()
}

// finds fails unless tokens are found by their addresses.
func finds(ctx context.Context, address string, w *world) error {
	for i := range 20 {
		t := &w.tokens[i*(len(w.tokens)/20)]
		a, err := fetch(ctx, address, searchPath+t.mint.String())
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("%s%s answers %d: %s", searchPath, t.mint, a.status, a.body)
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
	t := newTable("query", ">p50 ms", ">p99 ms", "p99 of each round", fmt.Sprintf("p99 below %s", wantedSearch))
	for kind := -1; kind < len(searchKinds); kind++ {
		name := "all"
		if kind >= 0 {
			name = searchKinds[kind].name
		}
		var p50, p99 []float64
		for _, r := range runs {
			took := r.of(kind, http.StatusOK)
			p50, p99 = append(p50, milliseconds(quantile(took, 0.5))), append(p99, milliseconds(quantile(took, 0.99)))
		}
		t.add(name, fmt.Sprintf("%.2f", middle(p50)), fmt.Sprintf("%.2f", middle(p99)), each(p99, "%.2f"),
			verdict(middle(p99) < milliseconds(wantedSearch)))
	}
	if err := t.write(os.Stdout); err != nil {
		return err
	}
	return roundReport(rounds, false)
}
