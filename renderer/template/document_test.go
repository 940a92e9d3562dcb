package template

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// allowed are the elements of a document with the attributes that they may have.
var allowed = map[string]string{
	"html": "lang", "head": "", "title": "", "meta": "charset http-equiv content", "style": "", "body": "class",
	"header": "class", "main": "class", "footer": "class", "section": "class", "div": "class", "p": "class", "span": "class",
	"i": "", "h1": "class dir lang", "bdi": "class lang", "img": "class src width height alt",
	"svg": "class viewbox width height", "path": "class d clip-path", "circle": "class cx cy r", "rect": "x y width height",
	"text": "x y text-anchor dominant-baseline", "clippath": "id",
}

func TestNamesAddNothingToADocument(t *testing.T) {
	t.Parallel()
	for called, c := range drawnCards(t) {
		root, err := html.Parse(bytes.NewReader(document(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.ElementNode {
				inspect(t, called, n)
			}
			if n.Type == html.CommentNode {
				t.Errorf("%s: a comment %q", called, n.Data)
			}
		}
	}
}

func inspect(t *testing.T, called string, n *html.Node) {
	t.Helper()
	attributes, known := allowed[strings.ToLower(n.Data)]
	if !known {
		t.Errorf("%s: an element %s", called, n.Data)
	}
	for _, a := range n.Attr {
		if !strings.Contains(" "+attributes+" ", " "+strings.ToLower(a.Key)+" ") {
			t.Errorf("%s: an attribute %s=%q of %s", called, a.Key, a.Val, n.Data)
		}
		if a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/png;base64,") {
			t.Errorf("%s: a picture from %q", called, a.Val)
		}
		if a.Key == "clip-path" && !strings.HasPrefix(a.Val, "url(#") {
			t.Errorf("%s: a clip from %q", called, a.Val)
		}
	}
}

func TestHostileTextIsThereAsText(t *testing.T) {
	t.Parallel()
	got := string(document(t, hostileToken(t)))
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the name is not written as text")
	}
	for _, bad := range []string{"<script", "ZgotmplZ", "\u202e", "\u200b", "\x00", "\x1b", "http://", "https://", "@import"} {
		if strings.Contains(got, bad) {
			t.Errorf("the document has %q", bad)
		}
	}
}

func TestThePolicyAllowsTheStyleSheetAlone(t *testing.T) {
	t.Parallel()
	root, err := html.Parse(bytes.NewReader(document(t, normalToken(t))))
	if err != nil {
		t.Fatal(err)
	}
	var policy, style string
	for n := range root.Descendants() {
		switch {
		case n.Data == "meta" && len(n.Attr) == 2 && n.Attr[0].Val == "Content-Security-Policy":
			policy = n.Attr[1].Val
		case n.Data == "style":
			style = n.FirstChild.Data
		}
	}
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("the policy is %q, %q is wanted", policy, want)
	}
}

func TestEqualCardsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	again := drawnCards(t)
	for called, c := range drawnCards(t) {
		if !bytes.Equal(document(t, c), document(t, again[called])) {
			t.Errorf("%s: two documents differ", called)
		}
	}
}

func TestAnInvalidCardHasNoDocument(t *testing.T) {
	t.Parallel()
	for called, c := range map[string]sharecard.Card{
		"no mint":        &sharecard.Token{},
		"not a number":   &sharecard.Token{Asset: sharecard.Asset{Mint: wif}, PriceUSD: new(math.NaN())},
		"too many faces": &sharecard.Token{Asset: sharecard.Asset{Mint: wif}, Members: &sharecard.Members{Faces: make([][]byte, sharecard.MaxFaces+1)}},
		"no stage":       &sharecard.Launch{Asset: sharecard.Asset{Mint: wif}},
		"endless day":    &sharecard.Launch{Asset: sharecard.Asset{Mint: wif}, Stage: sharecard.StageLive, Day: []float64{1, math.Inf(1)}},
		"no wallet":      &sharecard.Trader{},
	} {
		if got, err := Document(c); !errors.Is(err, sharecard.ErrInvalid) || got != nil {
			t.Errorf("%s: %d bytes and %v, ErrInvalid is wanted", called, len(got), err)
		}
	}
}

// What is unknown is said to be; a figure of zero is a figure.
func TestUnknownIsNotZero(t *testing.T) {
	t.Parallel()
	asset := sharecard.Asset{Mint: wif, Symbol: "WIF"}
	none := string(document(t, &sharecard.Token{Asset: asset}))
	for _, want := range []string{notPriced, unknown, "price is not known yet"} {
		if !strings.Contains(none, want) {
			t.Errorf("a card that knows nothing doesn't say %q", want)
		}
	}
	for _, bad := range []string{"$0", ">0<", "Members"} {
		if strings.Contains(none, bad) {
			t.Errorf("a card that knows nothing says %q", bad)
		}
	}
	zero := string(document(t, &sharecard.Token{
		Asset: asset, PriceUSD: new(0.0), Change24hPct: new(0.0), LiquidityUSD: new(0.0), Volume24hUSD: new(0.0), MarketCapUSD: new(0.0), Pools: new(0),
		Members: &sharecard.Members{}, Day: make([]float64, 288),
	}))
	if strings.Contains(zero, "not known") || strings.Contains(zero, notPriced) || strings.Count(zero, "$0") != 4 {
		t.Error("figures of zero are not drawn as figures")
	}
}

func BenchmarkDocument(b *testing.B) {
	for called, c := range map[string]sharecard.Card{"pictures": normalToken(b), "none": rtlToken()} {
		b.Run(called, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Document(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// changed is a card with other members in its JSON, read into an empty one of its kind.
func changed(t *testing.T, c sharecard.Card, into sharecard.Card, members map[string]any) sharecard.Card {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, members)
	if raw, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// A count that was known and is too old is called stale; one that nobody has made yet isn't.
func TestStaleHoldersAreCalledSo(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{"stale": "stale", "indexing": unknown, "unavailable": unknown} {
		drawn := changed(t, normalLaunch(t), &sharecard.Launch{}, map[string]any{"holders": nil, "holders_source": source})
		got := string(document(t, drawn))
		_, holders, _ := strings.Cut(got, "Holders")
		holders = holders[:min(len(holders), 200)]
		if !strings.Contains(holders, want) || (want != unknown && strings.Contains(holders, unknown)) {
			t.Errorf("holders that are %s are drawn as %q, want %q", source, holders, want)
		}
	}
}

// The line of a token younger than a day begins at its launch, and the move beside it is since then.
func TestAYoungTokensLineIsSinceItsLaunch(t *testing.T) {
	t.Parallel()
	day := map[string]any{"since_launch": true, "day": []float64{1, 2, 3}}
	live := normalLaunch(t)
	live.Stage, live.Curve = sharecard.StageLive, nil
	for called, drawn := range map[string]sharecard.Card{
		"token": changed(t, rtlToken(), &sharecard.Token{}, day), "launch": changed(t, live, &sharecard.Launch{}, day),
	} {
		if got := strings.ToLower(string(document(t, drawn))); !strings.Contains(got, "since launch") || strings.Contains(got, "last 24 h") {
			t.Errorf("%s: a card of a young token doesn't say that its line is since the launch", called)
		}
	}
	for called, drawn := range map[string]sharecard.Card{"token": rtlToken(), "launch": rtlLaunch()} {
		if got := strings.ToLower(string(document(t, drawn))); strings.Contains(got, "since launch") {
			t.Errorf("%s: a card of an older token says since launch", called)
		}
	}
}
