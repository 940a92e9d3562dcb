package metadata

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, json string
		want       description
		kind       Kind
	}{
		{
			name: "Flap",
			json: `{"buy":null,"creator":"0x1","description":"d","image":"` + cidV1 + `","sell":null,"telegram":"https://t.me/chat","twitter":"https://x.com/h","website":"https://a.example"}`,
			want: description{picture: cidV1, text: "d", website: "https://a.example", x: "https://x.com/h", telegram: "https://t.me/chat"},
		},
		{
			name: "nad.fun",
			json: `{"name":"n","symbol":"s","image_uri":"https://i.example/1","description":"d","website":"","twitter":null,"telegram":"","is_nsfw":false}`,
			want: description{picture: "https://i.example/1", text: "d"},
		},
		{
			name: "Clanker",
			json: `{"description":"d","socialMediaUrls":[{"platform":"X","url":"https://x.com/h"},{"platform":"telegram","url":"t.me/chat"},
				{"platform":"website","url":"https://a.example"},{"platform":"farcaster","url":"https://f.example"}],"auditUrls":["https://b.example"]}`,
			want: description{text: "d", website: "https://a.example", x: "https://x.com/h", telegram: "https://t.me/chat"},
		},
		{
			name: "links as texts",
			json: `{"socialMediaUrls":["https://farcaster.example/u","https://twitter.com/h","https://t.me/chat","plain",7,null,[["x.com/a"]]]}`,
			want: description{x: "https://x.com/h", telegram: "https://t.me/chat"},
		},
		{
			name: "pump",
			json: `{"name":"n","symbol":"s","description":"d","image":"https://ipfs.io/ipfs/` + cidV0 + `","showName":true,"createdOn":"https://pump.fun","twitter":"https://x.com/h/status/12?s=20"}`,
			want: description{picture: "https://ipfs.io/ipfs/" + cidV0, text: "d", x: "https://x.com/h/status/12"},
		},
		{
			name: "extensions",
			json: `{"logoURI":"https://i.example/1","extensions":{"website":"https://a.example","Twitter":"h","telegram":"@chat","image":"https://no.example","description":"no"}}`,
			want: description{picture: "https://i.example/1", website: "https://a.example", x: "https://x.com/h", telegram: "https://t.me/chat"},
		},
		{
			name: "socials and links",
			json: `{"pfp":{"url":"ipfs://x"},"socials":{"x":"@h"},"links":[{"type":"Telegram","link":"chat"},{"label":"Web","href":"a.example"}]}`,
			want: description{picture: "ipfs://x", website: "https://a.example", x: "https://x.com/h", telegram: "https://t.me/chat"},
		},
		{
			name: "NFT-like",
			json: `{"image_url":"https://i.example/1","external_url":"https://a.example/x","properties":{"twitter_url":"https://www.twitter.com/h"}}`,
			want: description{picture: "https://i.example/1", website: "https://a.example/x", x: "https://x.com/h"},
		},
		{
			name: "lists of one",
			json: `{"image":["","https://i.example/1"],"websites":[{"label":"Website","url":"https://a.example"}]}`,
			want: description{picture: "https://i.example/1", website: "https://a.example"},
		},
		{
			name: "the top before a group, and what is of use before what isn't",
			json: `{"twitter":"not a handle at all","x":"top","socials":{"twitter":"nested"},"website":"javascript:alert(1)","web":"https://a.example"}`,
			want: description{x: "https://x.com/top", website: "https://a.example"},
		},
		{
			name: "members of one name",
			json: `{"image_url":"","imageUrl":"https://b.example","imageURL":"https://a.example","Image":"","image":"https://c.example"}`,
			want: description{picture: "https://c.example"},
		},
		{
			name: "wrong types",
			json: `{"image":5,"description":{"a":1},"website":true,"twitter":["",[["h"]]],"telegram":{"url":7},"socials":"x","links":{"x":[]},"extensions":[1]}`,
		},
		{name: "huge numbers", json: `{"a":1e999999,"b":-0.00000000000000000000001,"description":"d"}`, want: description{text: "d"}},
		{name: "a byte order mark", json: "\xef\xbb\xbf {\"description\":\"d\"}", want: description{text: "d"}},
		{name: "more behind it", json: `{"description":"d"} and more`, want: description{text: "d"}},
		{name: "broken text", json: "{\"description\":\"a\\ud800b\xff\\u0000c\"}", want: description{text: "abc"}},
		{name: "nothing", json: "", kind: NotJSON},
		{name: "an array", json: `[{"description":"d"}]`, kind: NotJSON},
		{name: "a text", json: `"d"`, kind: NotJSON},
		{name: "cut off", json: `{"description":"d"`, kind: NotJSON},
		{name: "as deep as can be", json: `{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `,"description":"d"}`, want: description{text: "d"}},
		{name: "too deep", json: `{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, kind: TooLarge},
		{name: "too deep and cut off", json: strings.Repeat(`{"a":`, 5000), kind: TooLarge},
		{name: "brackets in a text", json: `{"description":"` + strings.Repeat("[", 100) + `\""}`, want: description{text: strings.Repeat("[", 100) + `"`}},
		{name: "too long", json: `{"a":"` + strings.Repeat("a", maxJSON) + `"}`, kind: TooLarge},
		{name: "a list of very many", json: `{"links":[` + strings.Repeat(`"x",`, 10_000) + `"https://t.me/chat"]}`},
	}
	for _, tt := range tests {
		got, err := describe([]byte(tt.json))
		if err != nil {
			if kindOf(t, err) != tt.kind {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if got != tt.want || tt.kind != "" {
			t.Errorf("%s: got %+v, want %+v %s", tt.name, got, tt.want, tt.kind)
		}
	}
}

func TestCleanText(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"", ""},
		{"  a\r\n\tb \u00a0\u2028 c ", "a b c"},
		{"a\x00b\x1b[31mc\x7f\u0085d", "ab[31mc d"},
		{"\u202ecod.exe\u202c", "cod.exe"},
		{"\u2066a\u2069\u200f\u200eb\u061c", "ab"},
		{"a\xffb\xed\xa0\x80c\ufffdd\ufeff", "abcd"},
		{"<b>&amp;", "<b>&amp;"},
		{"柴犬🐕 👨‍👩‍👧", "柴犬🐕 👨‍👩‍👧"},
		{strings.Repeat("é", maxDescription), strings.Repeat("é", maxDescription/2)},
		{strings.Repeat("a", maxDescription-1) + "é", strings.Repeat("a", maxDescription-1)},
		{strings.Repeat("a", maxDescription-1) + " b", strings.Repeat("a", maxDescription-1)},
	} {
		if got := cleanText(tt[0], maxDescription); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}

// FuzzDescribe: whatever a token says, what is kept of it can be stored, shown and followed.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte(`{"image":"ipfs://x","description":"a\nb","website":"https://a.example/?q=ü#f","twitter":"@h","telegram":"t.me/+abcdefgh"}`))
	f.Add([]byte(`{"socialMediaUrls":[{"platform":"x","url":"https://x.com/i/communities/1"},"https://t.me/s/chat/5"],"extensions":{"web":"bücher.example"}}`))
	f.Add([]byte(`{"links":[{"type":"website","url":"https://a.example:8443/%zz"}],"pfp":{"url":["x"]},"X":{"handle":"a"}}`))
	f.Add([]byte("\xef\xbb\xbf{\"a\":[[[{}]]],\"description\":\"\\ud800\\u202e\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := describe(data)
		if err != nil {
			if d != (description{}) || err.Passing() || len(err.Error()) > 200 {
				t.Fatalf("%v with %+v", err, d)
			}
			return
		}
		if again, err := describe(data); err != nil || again != d {
			t.Fatalf("read again, it says %+v and not %+v: %v", again, d, err)
		}
		if len(d.text) > maxDescription || !utf8.ValidString(d.text) || strings.ContainsFunc(d.text, unicode.IsControl) ||
			d.text != cleanText(d.text, maxDescription) {
			t.Fatalf("text %q", d.text)
		}
		for name, l := range map[string]struct {
			link   string
			clean  func(string) string
			prefix string
		}{"website": {d.website, cleanWebsite, "http"}, "x": {d.x, cleanX, "https://x.com/"}, "telegram": {d.telegram, cleanTelegram, "https://t.me/"}} {
			if l.link == "" {
				continue
			}
			if len(l.link) > maxLink || !strings.HasPrefix(l.link, l.prefix) || l.clean(l.link) != l.link ||
				strings.ContainsFunc(l.link, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '<' || r == '\\' }) {
				t.Fatalf("%s %q, cleaned again %q", name, l.link, l.clean(l.link))
			}
		}
	})
}

// FuzzPlace: whatever a launchpad announced, it leads to plain web addresses or nowhere.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{
		"https://a.example/x?y#z", "ipfs://" + cidV0 + "/a", cidV1, "ar://" + arID, "data:;base64,e30=", `{"a":1}`, "http://[::1%25lo]:80/", "/ipfs/" + cidV0, "http://[::%2500\xb9A]",
	} {
		f.Add(s)
	}
	fetcher, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		p, bad := fetcher.placeOf(ref)
		if bad != nil {
			return
		}
		if p.inline == (len(p.urls) > 0) {
			t.Fatalf("%+v", p)
		}
		for _, u := range p.urls {
			again, bad := parseURL(u.String())
			if len(u.String()) <= maxURL && (bad != nil || again.String() != u.String()) {
				t.Fatalf("%s: read again it is %v, %v", u, again, bad)
			}
			if u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsFunc(u.RequestURI(), func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Fatalf("%s", u)
			}
		}
	})
}
