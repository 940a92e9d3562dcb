package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/board"
)

const full = `
resources:
- {id: docs, label: Docs, kind: docs, url: 'https://docs.example.com/start?from=app#top'}
- {id: status, label: "Status: now", kind: status, url: /status}
changelog:
- {id: b-older, at: 2026-01-31, label: Older}
- id: newest
  at: 2026-03-02
  label: Newest
  text: |
    One line
    of a paragraph.
      
    <b>Another</b>.
- {id: a-older, at: "2026-01-31", label: Older too, text: ""}
signInProviders:
- {id: one, label: One, credentialsFile: /run/one}
figureSources: {dataProvider: some_data, venueAPI: venue2}
`

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("site.yaml", []byte(strings.Replace(full, `, text: ""`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := Site{
		Resources: []Resource{
			{ID: "docs", Label: "Docs", Kind: Docs, URL: "https://docs.example.com/start?from=app#top"},
			{ID: "status", Label: "Status: now", Kind: Status, URL: "/status"},
		},
		Changelog: []Entry{
			{ID: "newest", At: day(t, "2026-03-02"), Label: "Newest", Text: "One line\nof a paragraph.\n  \n<b>Another</b>."},
			{ID: "a-older", At: day(t, "2026-01-31"), Label: "Older too"},
			{ID: "b-older", At: day(t, "2026-01-31"), Label: "Older"},
		},
		SignIn:        []SignInProvider{{Provider{ID: "one", Label: "One"}, "/run/one"}},
		FigureSources: FigureSources{DataProvider: "some_data", VenueAPI: "venue2"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if p := got.Changelog[0].Paragraphs(); !slices.Equal(p, []string{"One line of a paragraph.", "<b>Another</b>."}) {
		t.Errorf("paragraphs %q", p)
	}
	if p := got.Changelog[1].Paragraphs(); len(p) != 0 {
		t.Errorf("paragraphs of no text: %q", p)
	}
}

func TestParseNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# only a comment\n", "{}", "null", "resources:\nchangelog: []\nfigureSources: {}\n"} {
		if got, err := Parse("site.yaml", []byte(text)); err != nil || !reflect.DeepEqual(got, Site{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestParseNamesEachMistake(t *testing.T) {
	t.Parallel()
	resource := func(url string) string {
		return "resources:\n- {id: a, label: A, kind: docs, url: " + url + "}"
	}
	const badURL = "site.yaml:2: resources[0].url: can't be used; allowed: http:// or https://"
	for _, c := range []struct{ text, want string }{
		{"[]", "site.yaml:1: is a list; allowed: a mapping with resources, changelog, signInProviders, figureSources"},
		{"a: 1", `site.yaml:1: has no key "a"; allowed: resources, changelog, signInProviders, figureSources`},
		{"resources: []\nresources: []", "site.yaml:2: resources: stands twice; allowed: once"},
		{"resources: {}", "site.yaml:1: resources: is a mapping; allowed: a list"},
		{"resources:\n- text", "site.yaml:2: resources[0]: is text; allowed: a mapping with id, label, kind, url"},
		{"resources:\n-", "site.yaml:2: resources[0]: is empty; needed: a mapping with id, label, kind, url"},
		{"resources:\n- {id: a, kind: docs, url: /a}", "site.yaml:2: resources[0]: has no label; needed: one line of up to 120"},
		{
			"resources:\n- {id: a, label: A, kind: docs, url: /a, href: /b}",
			`site.yaml:2: resources[0]: has no key "href"; allowed: id, label, kind, url`,
		},
		{
			"resources:\n- {id: a, label: A, kind: docs, url: /a}\n- {id: a, label: B, kind: blog, url: /b}",
			`site.yaml:3: resources[1].id: "a" is the id of resources[0] already; allowed: an id of its own`,
		},
		{
			"resources:\n- {id: a, label: A, kind: docs, url: /a}\nchangelog:\n- {id: a, at: 2026-01-01, label: B}",
			`site.yaml:4: changelog[0].id: "a" is the id of resources[0] already`,
		},
		{"resources:\n- {id: A b, label: A, kind: docs, url: /a}", `resources[0].id: "A b" can't be used; allowed: up to 48 of a-z`},
		{"resources:\n- {id: " + strings.Repeat("a", 49) + ", label: A, kind: docs, url: /a}", "resources[0].id: has 49 characters; allowed"},
		{"resources:\n- {id: a, label: A, kind: faq, url: /a}", `resources[0].kind: "faq" can't be used; allowed: docs, developers, blog,`},
		{"resources:\n- {id: a, label: A, kind: changelog, url: /a}", `resources[0].kind: "changelog" can't be used`},
		{"resources:\n- {id: a, label: 7, kind: docs, url: /a}", "resources[0].label: is a number; allowed: text (one line"},
		{"resources:\n- {id: a, label: yes, kind: docs, url: [/a]}", "resources[0].url: is a list; allowed: text"},
		{"resources:\n- {id: a, label: true, kind: docs, url: /a}", "resources[0].label: is true or false; allowed: text"},
		{"resources:\n- {id: a, label: ' ', kind: docs, url: /a}", "resources[0].label: is empty; allowed: one line"},
		{"resources:\n- {id: a, label: \"A\\nB\", kind: docs, url: /a}", "resources[0].label: has a line break or another control character"},
		{"resources:\n- {id: a, label: &x A, kind: docs, url: *x}", "resources[0].url: is an alias, which is not read here"},
		{"resources:\n- {id: a, label: " + strings.Repeat("ä", 121) + ", kind: docs, url: /a}", "resources[0].label: has 121 characters"},
		{resource("docs"), badURL},
		{resource("//other.example/a"), badURL},
		{resource(`'/\other.example'`), badURL},
		{resource("'javascript:alert(1)'"), badURL},
		{resource("'ftp://files.example/'"), badURL},
		{resource("'https://'"), badURL},
		{resource("'https://user:secret@docs.example/'"), badURL},
		{resource("'https://docs.example/a b'"), badURL},
		{resource("'https://docs.example/%zz'"), badURL},
		{resource("/" + strings.Repeat("a", 2048)), "resources[0].url: has 2049 characters"},
		{"resources: [" + strings.Repeat("{},", 33) + "]", "site.yaml:1: resources: has 33 items; allowed: up to 32"},
		{"changelog:\n- {id: a, at: 2026-02-30, label: A}", `changelog[0].at: "2026-02-30" can't be used; allowed: a day of the calendar`},
		{"changelog:\n- {id: a, at: 2026-1-3, label: A}", `changelog[0].at: "2026-1-3" can't be used`},
		{"changelog:\n- {id: a, at: 2026-01-03T00:00:00Z, label: A}", "changelog[0].at: has 20 characters; allowed: a day"},
		{"changelog:\n- {id: a, at: 2026, label: A}", "changelog[0].at: is a number; allowed: text (a day of the calendar"},
		{"changelog:\n- {id: a, label: A}", "changelog[0]: has no at; needed: a day"},
		{"changelog:\n- {id: a, at: 2026-01-01, label: A, text: ''}", "changelog[0].text: is empty; allowed: plain text"},
		{"changelog:\n- {id: a, at: 2026-01-01, label: A, text: \"a\\tb\"}", "changelog[0].text: has a line break or another control"},
		{"changelog:\n- {id: a, at: 2026-01-01, label: A, text: " + strings.Repeat("a", 8001) + "}", "changelog[0].text: has 8001 characters"},
		{"signInProviders: [{},{},{},{},{}]", "signInProviders: has 5 items; allowed: up to 4"},
		{
			"signInProviders:\n- {id: a, label: A, credentialsFile: run/a}",
			`signInProviders[0].credentialsFile: "run/a" can't be used; allowed: an absolute path`,
		},
		{
			"signInProviders:\n- {id: a, label: A, credentialsFile: /a}\n- {id: a, label: A, credentialsFile: /a}",
			`site.yaml:3: signInProviders[1].id: "a" is the id of signInProviders[0] already`,
		},
		{"figureSources: {venue: x}", `figureSources: has no key "venue"; allowed: dataProvider, venueAPI`},
		{"figureSources: {venueAPI: market}", `figureSources.venueAPI: "market" can't be used; allowed: up to 32`},
		{"figureSources: {venueAPI: Two-Words}", `figureSources.venueAPI: "Two-Words" can't be used`},
		{"figureSources: {venueAPI: x, dataProvider: x}", `figureSources: dataProvider and venueAPI are both "x"`},
		{"resources: []\n---\nresources: []", "site.yaml: holds more than one document"},
		{"resources: [", "site.yaml: yaml: line 1"},
		{"# " + strings.Repeat("x", maxFileBytes), "site.yaml: is larger than the 1048576 bytes allowed"},
	} {
		got, err := Parse("site.yaml", []byte(c.text))
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%.100q:\n got %v\nwant %s", c.text, err, c.want)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%.100q: the error tells a password: %v", c.text, err)
		case !reflect.DeepEqual(got, Site{}):
			t.Errorf("%.100q: half a site is given: %+v", c.text, got)
		}
	}
}

func TestParseNamesAllMistakesUpToABound(t *testing.T) {
	t.Parallel()
	_, err := Parse("site.yaml", []byte("resources:\n- {id: a, label: A, kind: docs, url: x}\nchangelog:\n- {id: b, at: never, label: B}\n"))
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("two mistakes: %v", err)
	}
	_, err = Parse("site.yaml", []byte("changelog:\n"+strings.Repeat("- {}\n", 100)))
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != maxErrors+1 || lines[maxErrors] != "site.yaml: and 280 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "site.yaml")
	if _, err := Load(file); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("no file: %v", err)
	}
	write(t, file, "resources: 7")
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), file+":1: resources: is a number") {
		t.Errorf("a wrong file: %v", err)
	}
	write(t, file, "resources: [{id: a, label: A, kind: blog, url: /a}]")
	if s, err := Load(file); err != nil || len(s.Resources) != 1 {
		t.Errorf("a right file: %+v, %v", s, err)
	}
	write(t, file, strings.Repeat(" ", maxFileBytes+2))
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
}

func TestProvidersFollowTheirFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var s Site
	for _, id := range []string{"absent", "empty", "directory", "linked", "there"} {
		s.SignIn = append(s.SignIn, SignInProvider{Provider{ID: id, Label: id}, path(id)})
	}
	listed := func() []string {
		ids := []string{}
		for _, p := range s.Providers() {
			ids = append(ids, p.ID)
		}
		return ids
	}
	if got := listed(); len(got) != 0 || s.Providers() == nil {
		t.Errorf("without files: %q", got)
	}
	write(t, path("empty"), "")
	write(t, path("there"), "{}")
	if err := os.Mkdir(path("directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Kubernetes mounts a Secret's keys as links.
	if err := os.Symlink(path("there"), path("linked")); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, []string{"linked", "there"}) {
		t.Errorf("with files: %q", got)
	}
	if err := os.Remove(path("there")); err != nil {
		t.Fatal(err)
	}
	if got := listed(); len(got) != 0 {
		t.Errorf("after the file is gone: %q", got)
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	s, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Resources) == 0 || s.Resources[0].Kind != Docs || len(s.Changelog) == 0 || len(s.Providers()) != 0 {
		t.Errorf("default %+v", s)
	}
	for _, e := range s.Changelog {
		if len(e.Paragraphs()) == 0 {
			t.Errorf("%s has no text", e.ID)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFeed reads the least value of a big trade.
func TestFeed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 0, "feed: {}": 0, "feed: {bigTradeUSD: 0.5}": 0.5, "feed: {bigTradeUSD: 2500}": 2500} {
		if got, err := Parse("site.yaml", []byte(text)); err != nil || got.BigTradeUSD != want {
			t.Errorf("%q: %v, %v", text, got.BigTradeUSD, err)
		}
	}
	for text, want := range map[string]string{
		"feed: {bigTradeUSD: 0}":    "feed.bigTradeUSD: is 0; allowed: a number above 0",
		"feed: {bigTradeUSD: .nan}": "feed.bigTradeUSD: is NaN; allowed: a number above 0",
		"feed: {bigTradeUSD: much}": "feed.bigTradeUSD: is text; allowed: a number",
		"feed: {big: 1}":            `feed: has no key "big"; allowed: bigTradeUSD`,
	} {
		if _, err := Parse("site.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// TestLeaderboard reads whose wallets count.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "leaderboard: {}": false, "leaderboard: {wallets: all}": false, "leaderboard: {wallets: proved}": true} {
		if got, err := Parse("site.yaml", []byte(text)); err != nil || got.ProvedWalletsAlone != want {
			t.Errorf("%q: %v, %v", text, got.ProvedWalletsAlone, err)
		}
	}
	for text, want := range map[string]string{
		"leaderboard: {wallets: some}": `leaderboard.wallets: "some" can't be used; allowed: all, proved`,
		"leaderboard: {who: all}":      `leaderboard: has no key "who"; allowed: wallets`,
	} {
		if _, err := Parse("site.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// TestLaunchGate reads a quality bar: what is left out is as in the default one, and what makes no sense is named.
func TestLaunchGate(t *testing.T) {
	t.Parallel()
	usual := board.DefaultGate()
	for text, want := range map[string]board.Gate{
		"":                          usual,
		"launchBoard: {}":           usual,
		"launchBoard: {gate: null}": usual,
		"launchBoard: {gate: {holders_min: 7, curve: {progress_pct_min: 12.5}, liquidity_usd_min_by_chain: {base: 10}}}": func() board.Gate {
			g := board.DefaultGate()
			g.HoldersMin, g.ProgressPctMin, g.LiquidityUSDMinByChain = 7, 12.5, map[string]float64{"base": 10}
			return g
		}(),
		"launchBoard:\n  gate:\n    liquidity_usd_min: 1\n    volume_24h_usd_min: 2.5\n    age_s_min: 3\n    age_s_max: 4\n    curve: {buyers_1h_min: 5}": func() board.Gate {
			g := board.DefaultGate()
			g.LiquidityUSDMin, g.Volume24hUSDMin, g.AgeSMin, g.AgeSMax, g.Buyers1hMin = 1, 2.5, 3, 4, 5
			return g
		}(),
	} {
		got, err := Parse("site.yaml", []byte(text))
		if err != nil || !reflect.DeepEqual(got.LaunchGate(), want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got.LaunchGate(), err, want)
		}
	}
	for text, want := range map[string]string{
		"launchBoard: {bar: {}}":                                                     `site.yaml:1: launchBoard: has no key "bar"; allowed: gate`,
		"launchBoard: []":                                                            "site.yaml:1: launchBoard: is a list; allowed: a mapping with gate",
		"launchBoard: {gate: {holders: 1}}":                                          `launchBoard.gate: has no key "holders"; allowed: liquidity_usd_min,`,
		"launchBoard: {gate: {holders_min: many}}":                                   "launchBoard.gate.holders_min: is text; allowed: a whole number",
		"launchBoard: {gate: {holders_min: 1.5}}":                                    "launchBoard.gate.holders_min: is a number; allowed: a whole number",
		"launchBoard: {gate: {liquidity_usd_min: '5'}}":                              "launchBoard.gate.liquidity_usd_min: is text; allowed: a number",
		"launchBoard:\n  gate: {curve: {progress_pct_min: 101}}":                     "site.yaml:2: launchBoard: gate: curve.progress_pct_min is 101: it must be from 0 to 100",
		"launchBoard: {gate: {age_s_max: 10}}":                                       "gate: age_s_max is 10: it must be more than age_s_min",
		"launchBoard: {gate: {liquidity_usd_min: .nan}}":                             "gate: liquidity_usd_min is NaN",
		"launchBoard: {gate: {liquidity_usd_min_by_chain: 1}}":                       "liquidity_usd_min_by_chain: is a number; allowed: a mapping of chain ids to numbers",
		"launchBoard: {gate: {liquidity_usd_min_by_chain: {Base: 1}}}":               "is no chain id",
		"launchBoard: {gate: {liquidity_usd_min_by_chain: {base: x}}}":               "liquidity_usd_min_by_chain.base: is text; allowed: a number",
		"launchBoard: {gate: {liquidity_usd_min_by_chain: {base: 1, base: 2}}}":      "liquidity_usd_min_by_chain.base: stands twice; allowed: once",
		"launchBoard: {gate: {curve: 1}}":                                            "launchBoard.gate.curve: is a number; allowed: a mapping with progress_pct_min, buyers_1h_min",
		"launchBoard: {gate: {holders_min: 99999999999999999999}}":                   "launchBoard.gate.holders_min: is a number; allowed: a whole number",
		"launchBoard: {gate: {holders_min: 1, holders_min: 2}}":                      "launchBoard.gate.holders_min: stands twice; allowed: once",
		"launchBoard: {gate: {volume_24h_usd_min: -1}}":                              "gate: volume_24h_usd_min is -1",
		"launchBoard: {gate: {curve: {buyers_1h_min: -1}}}":                          "gate: curve.buyers_1h_min is -1",
		"launchBoard: {gate: {curve: {buyers_1h_min: true, progress_pct_min: [1]}}}": "launchBoard.gate.curve.progress_pct_min: is a list; allowed: a number",
	} {
		if got, err := Parse("site.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v\n got %v\nwant %s", text, got.Gate, err, want)
		}
	}
}
