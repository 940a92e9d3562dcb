// Package tokentext invents what tokens of a local world are called and what they say of themselves.
package tokentext

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
)

// Inventor invents tokens, one after the other.
type Inventor struct {
	rng *rand.Rand
	// recent are the newest names, for clones.
	recent [][2]string
}

// New is an inventor by seed.
func New(seed uint64) *Inventor { return &Inventor{rng: rand.New(rand.NewPCG(seed, 31))} }

// Token is what a token is called and says of itself. Metadata is a data: URI, or JSON itself; Image is the picture where it stands apart.
type Token struct{ Name, Symbol, Metadata, Image string }

var (
	firstWords = []string{
		"Amber", "Brass", "Cobalt", "Dusty", "Ember", "Fuzzy", "Grumpy", "Hazel", "Ivory", "Jolly", "Kindly", "Lofty", "Mellow",
		"Nimble", "Opal", "Plucky", "Quiet", "Ruddy", "Silver", "Tangy", "Umber", "Vivid", "Wobbly", "Young", "Zesty",
	}
	secondWords = []string{
		"Anchovy", "Badger", "Compass", "Dumpling", "Falcon", "Gondola", "Hammock", "Iguana", "Jigsaw", "Kazoo", "Lobster", "Marmot",
		"Noodle", "Ocelot", "Pelican", "Quokka", "Raccoon", "Schooner", "Teapot", "Urchin", "Violin", "Walrus", "Yacht", "Zeppelin",
	}
	// hostileNames try what a page might trip over: markup, bidirectional overrides, emoji, look-alikes, nothing to see, length.
	hostileNames = [][2]string{
		{"<script>alert('launch')</script>", "<i>XSS</i>"},
		{"Safe \u202Eknil\u202C Token", "\u202ENIOC"},
		{"🚀🌕👩‍🚀🏴‍☠️ to the moon", "🚀🌕"},
		{"Воаrdwаlk Оffiсiаl", "ВОАRD"},
		{"\u200b\u200d\u2060", "\u200b"},
		{"{{7*7}} ${env} %s'; DROP TABLE launches;--", "';--"},
		{strings.Repeat("Very Long Name ", 8)[:119], strings.Repeat("LONG", 8)},
		{"line one\nline two\ttabbed", "A\nB"},
	}
)

const (
	// recentNames is how many launches back a clone looks.
	recentNames = 12
	// One launch in so many is a clone, has a hostile name, no metadata, or metadata that nobody can read.
	cloneEvery, hostileEvery, silentEvery, brokenEvery = 9, 14, 9, 12
)

// Next invents a token. Some say nothing, and some nothing that anybody can read. With apart, metadata is JSON itself, and the picture stands beside it.
func (l *Inventor) Next(apart bool) Token {
	name := l.name()
	t := Token{Name: name[0], Symbol: name[1]}
	picture := l.picture()
	switch {
	case l.rng.IntN(silentEvery) == 0:
	case l.rng.IntN(brokenEvery) == 0:
		t.Metadata = dataURI("application/json", []byte(`{"name": "`+t.Symbol+`", "image": `))
	case apart:
		t.Metadata, t.Image = l.metadataApart(), picture
	default:
		t.Metadata = l.metadata(t, picture)
	}
	return t
}

// Describe invents what a token of a given name says of itself: a data: URI of a description with a picture.
func (l *Inventor) Describe(name, symbol string) string {
	return l.metadata(Token{Name: name, Symbol: symbol}, l.picture())
}

func (l *Inventor) name() [2]string {
	var name [2]string
	switch {
	case len(l.recent) > 3 && l.rng.IntN(cloneEvery) == 0:
		name = l.clone(l.recent[l.rng.IntN(len(l.recent))])
	case l.rng.IntN(hostileEvery) == 0:
		name = hostileNames[l.rng.IntN(len(hostileNames))]
	default:
		name = l.fresh()
	}
	l.recent = append(l.recent, name)
	l.recent = l.recent[max(0, len(l.recent)-recentNames):]
	return name
}

// clone copies a name, a ticker, or both, not always letter by letter.
func (l *Inventor) clone(of [2]string) [2]string {
	other := l.fresh()
	switch l.rng.IntN(3) {
	case 0:
		return [2]string{of[0], other[1]}
	case 1:
		return [2]string{other[0], strings.ToLower(of[1])}
	}
	return [2]string{strings.ToUpper(of[0]), of[1]}
}

// fresh is a name that isn't a recent one.
func (l *Inventor) fresh() [2]string {
	for {
		first, second := firstWords[l.rng.IntN(len(firstWords))], secondWords[l.rng.IntN(len(secondWords))]
		name := [2]string{first + " " + second, strings.ToUpper(first[:1] + second[:4])}
		if !slices.ContainsFunc(l.recent, func(r [2]string) bool { return strings.EqualFold(r[1], name[1]) }) {
			return name
		}
	}
}

// metadata is the description that most launchpads take, as a data: URI. It has a picture and one to three links.
func (l *Inventor) metadata(o Token, picture string) string {
	slug := slugOf(o)
	m := map[string]string{
		"name": o.Name, "symbol": o.Symbol, "image": picture,
		"description": "A token of a local chain that is worth nothing. " + o.Name,
		"website":     "https://" + slug + ".example.com/",
	}
	if l.rng.IntN(3) > 0 {
		m["twitter"] = "https://x.com/" + slug + "_example"
	}
	if l.rng.IntN(2) > 0 {
		m["telegram"] = "https://t.me/" + slug + "_example"
	}
	return dataURI("application/json", encodeJSON(m))
}

// metadataApart is JSON itself, as Clanker has it.
func (l *Inventor) metadataApart() string {
	type link struct {
		Platform string `json:"platform"`
		URL      string `json:"url"`
	}
	return string(encodeJSON(map[string]any{
		"description":     "A live pool on a local chain.",
		"socialMediaUrls": []link{{"x", "https://x.com/example"}, {"website", "https://clanker.example.com/"}},
		"auditUrls":       []string{},
	}))
}

func slugOf(o Token) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(o.Name))
	if slug == "" {
		return "token"
	}
	return slug[:min(len(slug), 24)]
}

// encodeJSON encodes what can't fail: maps of text and lists of it, in order of keys.
func encodeJSON(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("simnet: " + err.Error())
	}
	return bytes.TrimSpace(out.Bytes())
}

func dataURI(kind string, content []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content)
}

// pictureSize is the side of a token's picture, in pixels.
const pictureSize = 40

// picture is a symmetric pattern of 5 by 5 fields in two colours, as a data: URI of a PNG.
func (l *Inventor) picture() string {
	colour := func() color.RGBA {
		return color.RGBA{uint8(l.rng.IntN(256)), uint8(l.rng.IntN(256)), uint8(l.rng.IntN(256)), 255}
	}
	img := image.NewPaletted(image.Rect(0, 0, pictureSize, pictureSize), color.Palette{colour(), colour()})
	fields := l.rng.Uint32()
	for y := range pictureSize {
		for x := range pictureSize {
			row, column := y*5/pictureSize, x*5/pictureSize
			img.SetColorIndex(x, y, uint8(fields>>(3*row+min(column, 4-column))&1))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic("simnet: " + err.Error())
	}
	return dataURI("image/png", out.Bytes())
}
