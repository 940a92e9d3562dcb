package contracttest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Each answer here has one fault, which breaks one rule and no other.
func TestPlantedFaultsInHeadersFail(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	chart := documentedAnswer(t, kit, "/api/chart/{mint}", 200)
	unchanged := documentedAnswer(t, kit, "/api/market/live", 304)
	bad := documentedAnswer(t, kit, "/api/market/live", 400)
	limited := documentedAnswer(t, kit, "/api/market/live", 429)
	ofNetwork := limited.with(t, []string{"getMarketLive-prefix"}, "violated-policies").
		withHeader("RateLimit-Policy", `"getMarketLive-prefix";q=960;w=60`).withHeader("RateLimit", `"getMarketLive-prefix";r=0;t=12`)
	closed := chart.withHeader("Cache-Control", "public, max-age=86400, immutable")
	final := closed.with(t, []any{}, "candles")
	majors := documentedAnswer(t, kit, "/api/majors", 200)
	const ofList, ofSeries = "public, max-age=5, stale-while-revalidate=30", "public, max-age=2, stale-while-revalidate=10"
	candles := majors
	candles.body = chart.body
	candles = candles.with(t, "ETH", "asset").withHeader("Cache-Control", ofSeries)
	checked := documentedAnswer(t, kit, "/api/token/{mint}/trust", 200)
	const trustTarget, ofUnchecked = "/api/token/0x8f3a5c1e07b94d26a1c0e5f7d8b293641a0c7d55/trust", "public, max-age=3600"
	unchecked := checked.with(t, "unchecked", "status").withHeader("Cache-Control", ofUnchecked)
	drawn := documentedAnswer(t, kit, "/api/pnl-card/token/{mint}.png", 200)
	const cardTarget, ofOld = "/api/pnl-card/token/0x8f3a5c1e07b94d26a1c0e5f7d8b293641a0c7d55.png", "public, max-age=5"
	const policy, limit = "RateLimit-Policy", "RateLimit"
	const both = "kin-openapi libopenapi-validator "

	for name, test := range map[string]struct {
		target string
		answer answer
		want   string // rules
	}{
		"as documented":                  {liveTarget, live, ""},
		"as documented, 304":             {liveTarget, unchanged, ""},
		"as documented, 400":             {liveTarget, bad, ""},
		"as documented, 429":             {liveTarget, limited, ""},
		"as documented, closed":          {chartTarget, final, ""},
		"as documented, list":            {"/api/majors", majors, ""},
		"as documented, series":          {"/api/majors", candles, ""},
		"as documented, unchecked":       {trustTarget, unchecked, ""},
		"as documented, card":            {cardTarget, drawn, ""},
		"as documented, old card":        {cardTarget, drawn.withHeader("Cache-Control", ofOld), ""},
		"a card cached as another":       {cardTarget, drawn.withHeader("Cache-Control", ofList), "Cache-Control"},
		"a list cached as an old card":   {liveTarget, live.withHeader("Cache-Control", ofOld), "Cache-Control"},
		"a report cached as unchecked":   {trustTarget, checked.withHeader("Cache-Control", ofUnchecked), "Cache-Control"},
		"unchecked cached as a report":   {trustTarget, checked.with(t, "unchecked", "status"), "Cache-Control"},
		"list cached as a series":        {"/api/majors", majors.withHeader("Cache-Control", ofSeries), "Cache-Control"},
		"series cached as a list":        {"/api/majors", candles.withHeader("Cache-Control", ofList), "Cache-Control"},
		"policy of another operation":    {liveTarget, live.withHeader(policy, `"getVersion";q=60;w=60`), "limit"},
		"policy of another quota":        {liveTarget, live.withHeader(policy, `"getMarketLive";q=61;w=60`), "limit"},
		"policy of another window":       {liveTarget, live.withHeader(policy, `"getMarketLive";q=60;w=61`), "limit"},
		"as documented, network's 429":   {liveTarget, ofNetwork, ""},
		"a network's limit on 200":       {liveTarget, live.withHeader(policy, `"getMarketLive-prefix";q=960;w=60`).withHeader(limit, `"getMarketLive-prefix";r=17;t=12`), "limit"},
		"a network of another quota":     {liveTarget, ofNetwork.withHeader(policy, `"getMarketLive-prefix";q=60;w=60`), "limit"},
		"a network's 429 of the client":  {liveTarget, ofNetwork.with(t, []string{"getMarketLive"}, "violated-policies"), "limit"},
		"private without a key":          {liveTarget, live.withHeader("Cache-Control", "private, max-age=5, stale-while-revalidate=30"), "Cache-Control"},
		"policy with more":               {liveTarget, live.withHeader(policy, `"getMarketLive";q=60;w=60;pk=:eA==:`), both + "limit"},
		"two policies":                   {liveTarget, live.adding(policy, `"unrouted";q=120;w=60`), "limit"},
		"policy of unrouted paths":       {liveTarget, live.withHeader(policy, `"unrouted";q=120;w=60`).withHeader(limit, `"unrouted";r=1;t=1`), "limit"},
		"limit of another operation":     {liveTarget, live.withHeader(limit, `"getVersion";r=17;t=12`), "limit"},
		"nothing counted":                {liveTarget, live.withHeader(limit, `"getMarketLive";r=60;t=12`), "limit"},
		"window over":                    {liveTarget, live.withHeader(limit, `"getMarketLive";r=17;t=0`), "limit"},
		"longer than the window":         {liveTarget, live.withHeader(limit, `"getMarketLive";r=17;t=61`), "limit"},
		"limit on 304":                   {liveTarget, unchanged.withHeader(limit, `"getMarketLive";r=60;t=12`), "limit"},
		"some left on 429":               {liveTarget, limited.withHeader(limit, `"getMarketLive";r=1;t=12`), "limit"},
		"another Retry-After":            {liveTarget, limited.withHeader("Retry-After", "13"), "limit"},
		"another retry_after_s":          {liveTarget, limited.with(t, 13, "retry_after_s"), "limit"},
		"another policy violated":        {liveTarget, limited.with(t, []string{"getVersion"}, "violated-policies"), "limit"},
		"two policies violated":          {liveTarget, limited.with(t, []string{"getMarketLive", "getVersion"}, "violated-policies"), "limit"},
		"no policy violated":             {liveTarget, limited.with(t, nil, "violated-policies"), "limit"},
		"nothing exposed":                {liveTarget, live.withHeader("Access-Control-Expose-Headers", ""), "origin"},
		"too little exposed":             {liveTarget, live.withHeader("Access-Control-Expose-Headers", "ETag"), "origin"},
		"all exposed":                    {liveTarget, live.withHeader("Access-Control-Expose-Headers", "*"), "origin"},
		"nothing exposed on an error":    {liveTarget, bad.withHeader("Access-Control-Expose-Headers", ""), "origin"},
		"credentials":                    {liveTarget, live.withHeader("Access-Control-Allow-Credentials", "true"), "origin undeclared"},
		"cookie":                         {liveTarget, live.withHeader("Set-Cookie", "a=b"), "origin undeclared"},
		"any origin twice":               {liveTarget, live.adding("Access-Control-Allow-Origin", "*"), "origin"},
		"no Vary":                        {liveTarget, live.withHeader("Vary", ""), "Vary"},
		"no Vary on 304":                 {liveTarget, unchanged.withHeader("Vary", ""), "Vary"},
		"Vary: Origin":                   {liveTarget, live.withHeader("Vary", "Origin"), "Vary"},
		"Vary: Origin too":               {liveTarget, live.adding("Vary", "Origin"), "Vary"},
		"Vary: Origin on an error":       {liveTarget, bad.withHeader("Vary", "Origin"), "Vary"},
		"longer cached":                  {liveTarget, live.withHeader("Cache-Control", "public, max-age=50, stale-while-revalidate=30"), "Cache-Control"},
		"304 cached otherwise":           {liveTarget, unchanged.withHeader("Cache-Control", "no-cache"), "Cache-Control"},
		"closed where none is":           {liveTarget, live.withHeader("Cache-Control", "public, max-age=86400, immutable"), "Cache-Control"},
		"immutable but not final":        {chartTarget, closed, "Cache-Control"},
		"error cached":                   {liveTarget, bad.withHeader("Cache-Control", "no-cache"), both + "Cache-Control"},
		"ETag of letters":                {liveTarget, live.withHeader("ETag", `W/"`+strings.Repeat("z", 32)+`"`), "ETag"},
		"ETag of half the length":        {liveTarget, live.withHeader("ETag", `W/"`+strings.Repeat("0", 16)+`"`), both + "ETag"},
		"two ETags":                      {liveTarget, live.adding("ETag", tagOf(nil)), "ETag"},
		"ETag of other bytes":            {liveTarget, live.with(t, 13, "per_chain").withHeader("ETag", tagOf(live.body)), "ETag"},
		"another ETag of the same bytes": {liveTarget, live.withHeader("ETag", tagOf([]byte("x"))), "ETag"},
		"ETag of an error":               {liveTarget, bad.withHeader("ETag", tagOf(bad.body)), "undeclared"},
		"answer about a key":             {liveTarget, live.withHeader("X-Api-Key-Status", "unknown"), "X-Api-Key-Status"},
		"gzip that is none":              {liveTarget, live.withHeader("Content-Encoding", "gzip"), "Content-Encoding"},
		"a coding that nobody offers":    {liveTarget, live.withHeader("Content-Encoding", "br"), "Content-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := fresh(t)
			first := httptest.NewRequestWithContext(t.Context(), http.MethodGet, liveTarget, nil)
			if err := live.verify(own, first); err != nil {
				t.Fatal(err)
			}
			err := test.answer.verify(own, httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.target, nil))
			want := strings.Fields(test.want)
			slices.Sort(want)
			if got := rulesOf(err); !slices.Equal(got, want) {
				t.Errorf("breaks %q, want %q:\n%v", got, want, err)
			}
		})
	}
}

// adding returns a with one more header of a name.
func (a answer) adding(name, value string) answer {
	a.header = a.header.Clone()
	a.header.Add(name, value)
	return a
}

func TestKeyStatus(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, liveTarget, nil)
	req.Header.Set("X-Api-Key", "x")
	told := live.withHeader("X-Api-Key-Status", "unknown")
	private := "private, max-age=5, stale-while-revalidate=30"
	if err := told.withHeader("Cache-Control", private).verify(kit, req); err != nil {
		t.Error(err)
	}
	if err := told.verify(kit, req); !slices.Equal(rulesOf(err), []string{"Cache-Control"}) {
		t.Errorf("an answer to a key that shared caches may keep: %v", err)
	}
	if err := live.withHeader("Cache-Control", private).verify(kit, req); !slices.Equal(rulesOf(err), []string{"X-Api-Key-Status"}) {
		t.Errorf("silence about a key: %v", err)
	}
}

// compressed returns a as it is sent in a coding, with a body that may be another than its own.
func (a answer) compressed(t *testing.T, coding string, body []byte) answer {
	t.Helper()
	var b bytes.Buffer
	switch coding {
	case "gzip":
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case "zstd":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(w.EncodeAll(body, nil))
	}
	a.body = b.Bytes()
	return a.withHeader("Content-Encoding", coding)
}

func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	other := live.with(t, 13, "per_chain")
	for i, coding := range []string{"", "gzip", "zstd"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, liveTarget, nil)
		a := live
		if coding != "" {
			a = live.compressed(t, coding, live.body)
		}
		if err := a.verify(kit, req); err != nil {
			t.Errorf("%q: %v", coding, err)
		}
		if i == 0 {
			continue
		}
		if err := live.compressed(t, coding, other.body).verify(kit, req); !slices.Equal(rulesOf(err), []string{"ETag"}) {
			t.Errorf("%s of other bytes: %v", coding, err)
		}
		broken := live.compressed(t, coding, live.body)
		broken.body = broken.body[:len(broken.body)/2]
		if err := broken.verify(kit, req); !slices.Contains(rulesOf(err), "Content-Encoding") {
			t.Errorf("half of a %s: %v", coding, err)
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                      "",
		"gzip":                  "gzip",
		"br, ZSTD ,gzip;q=0.5":  "gzip zstd",
		"*":                     "gzip zstd",
		"*;q=0, gzip":           "gzip",
		"gzip;q=0, *":           "zstd",
		"gzip; q=0.000, zstd;q": "zstd",
		"identity;q=0":          "",
		"gzip;q=x":              "gzip",
		"gzipzstd":              "",
	} {
		var got []string
		for _, coding := range []string{"gzip", "zstd"} {
			if accepts([]string{header}, coding) {
				got = append(got, coding)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q allows %q, want %q", header, got, want)
		}
	}
}
