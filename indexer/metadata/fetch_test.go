package metadata

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const (
	cidV0 = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"
	cidV1 = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
	arID  = "bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U"
)

// TestPlaces reads references as launchpads have them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	f, err := New(Options{IPFS: []string{"https://one.test", "https://two.test/base/"}, Arweave: []string{"https://ar.test"}})
	if err != nil {
		t.Fatal(err)
	}
	both := func(path string) []string {
		return []string{"https://one.test/ipfs/" + path, "https://two.test/base/ipfs/" + path}
	}
	tests := []struct {
		ref  string
		want []string // URLs
		data string   // or what the reference carries
		kind Kind     // or why it leads nowhere
	}{
		{ref: "https://Example.COM/a b?c=d&e=f#g", want: []string{"https://example.com/a%20b?c=d&e=f"}},
		{ref: " HTTP://example.com:80/ ", want: []string{"http://example.com/"}},
		{ref: "https://example.com:443/x", want: []string{"https://example.com/x"}},
		{ref: "https://example.com:8443/x", want: []string{"https://example.com:8443/x"}},
		{ref: "https://bücher.example./", want: []string{"https://xn--bcher-kva.example/"}},
		{ref: "https://8.8.8.8/x", want: []string{"https://8.8.8.8/x"}},
		{ref: "https://[2606:4700:0::1111]/x", want: []string{"https://[2606:4700::1111]/x"}},
		{ref: "https://example.com/?a=b c\x7f", kind: BadReference},
		{ref: "https://example.com/?a=b c|ü", want: []string{"https://example.com/?a=b%20c%7C%C3%BC"}},
		{ref: "https://gw.test/ipfs/" + cidV0 + "/1.json?x=y", want: append([]string{"https://gw.test/ipfs/" + cidV0 + "/1.json?x=y"}, both(cidV0+"/1.json")...)},
		{ref: "https://one.test/ipfs/" + cidV1, want: both(cidV1)},
		{ref: "https://gw.test/ipfs/nonsense", want: []string{"https://gw.test/ipfs/nonsense"}},
		{ref: "ipfs://" + cidV0, want: both(cidV0)},
		{ref: "IPFS://" + cidV1 + "/meta data.json?filename=x#y", want: both(cidV1 + "/meta%20data.json")},
		{ref: "ipfs://" + cidV1 + "/meta%20data.json", want: both(cidV1 + "/meta%20data.json")},
		{ref: "ipfs://ipfs/" + cidV0, want: both(cidV0)},
		{ref: "/ipfs/" + cidV0 + "/a", want: both(cidV0 + "/a")},
		{ref: "ipfs/" + cidV0, want: both(cidV0)},
		{ref: cidV0, want: both(cidV0)},
		{ref: cidV1 + "/logo.png", want: both(cidV1 + "/logo.png")},
		{ref: "ipfs://" + cidV0 + "/../../admin", kind: BadReference},
		{ref: "ipfs://" + cidV0 + "/%2e%2e/admin", kind: BadReference},
		{ref: "ipfs://" + cidV0 + "/%00", kind: BadReference},
		{ref: "ipfs://" + cidV0 + "@evil.test/", kind: BadReference},
		{ref: "ipfs://evil.test/" + cidV0, kind: BadReference},
		{ref: "ipns://" + cidV0, kind: BadReference},
		{ref: "ipfs://", kind: BadReference},
		{ref: "ar://" + arID + "/0", want: []string{"https://ar.test/" + arID + "/0"}},
		{ref: "ar://" + arID[1:], kind: BadReference},
		{ref: "ar://../x", kind: BadReference},
		{ref: ` {"a":1} `, data: `{"a":1}`},
		{ref: `data:application/json,{"a":1}`, data: `{"a":1}`},
		{ref: `data:application/json;utf8,%7B%22a%22%3A1%7D`, data: `{"a":1}`},
		{ref: `data:,{"a":"100%"}`, data: `{"a":"100%"}`},
		{ref: "DATA:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(`{"a":"??>"}`)), data: `{"a":"??>"}`},
		{ref: "data:application/json;base64," + base64.RawURLEncoding.EncodeToString([]byte(`{"a":"??>"}`)), data: `{"a":"??>"}`},
		{ref: "data:;base64," + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(`{"a":"??>!"}`))), data: `{"a":"??>!"}`},
		{ref: "data:;base64,####", kind: BadReference},
		{ref: "data:application/json", kind: BadReference},
		{ref: "data:," + strings.Repeat("a", maxData), kind: TooLarge},
		{ref: "https://example.com/" + strings.Repeat("a", maxURL), kind: BadReference},
		{ref: "https://user:secret@example.com/", kind: BadReference},
		{ref: "https://secret@example.com/", kind: BadReference},
		{ref: "https:///x", kind: BadReference},
		{ref: "https:example.com", kind: BadReference},
		{ref: "https://example.com:0/", kind: BadReference},
		{ref: "https://example.com:99999/", kind: BadReference},
		{ref: "https://example.com:http/", kind: BadReference},
		{ref: "https://local/", kind: BadReference},
		{ref: "https://a..b/", kind: BadReference},
		{ref: "https://-a.test/", kind: BadReference},
		{ref: "https://" + strings.Repeat("a", 64) + ".test/", kind: BadReference},
		{ref: "https://" + strings.Repeat("a.", 130) + "test/", kind: BadReference},
		{ref: "https://127.1/", kind: BadReference},
		{ref: "https://0x7f.0x1/", kind: BadReference},
		{ref: "https://example.com\r\nHost: x/", kind: BadReference},
		{ref: "ftp://example.com/", kind: BadReference},
		{ref: "file:///etc/passwd", kind: BadReference},
		{ref: "javascript:alert(1)", kind: BadReference},
		{ref: "a token for everybody", kind: BadReference},
		{ref: "", kind: BadReference},
		{ref: " ", kind: BadReference},
		{ref: "Qm", kind: BadReference},
	}
	for _, tt := range tests {
		p, bad := f.placeOf(tt.ref)
		if bad != nil {
			if kindOf(t, bad) != tt.kind {
				t.Errorf("%q: %v", tt.ref, bad)
			}
			continue
		}
		var got []string
		for _, u := range p.urls {
			got = append(got, u.String())
		}
		if tt.kind != "" || strings.Join(got, " ") != strings.Join(tt.want, " ") || string(p.data) != tt.data || p.inline != (tt.data != "") {
			t.Errorf("%q: got %q and %q, want %q and %q %s", tt.ref, got, p.data, tt.want, tt.data, tt.kind)
		}
	}
	without, err := New(Options{IPFS: []string{}, Arweave: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"ipfs://" + cidV0, cidV1, "ar://" + arID} {
		if _, bad := without.placeOf(ref); bad == nil || bad.Kind != Unsupported {
			t.Errorf("%s without gateways: %v", ref, bad)
		}
	}
	if p, bad := without.placeOf("https://gw.test/ipfs/" + cidV0); bad != nil || len(p.urls) != 1 {
		t.Errorf("a gateway of the token's own: %v, %v", p, bad)
	}
	usual, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p, bad := usual.placeOf(cidV0); bad != nil || len(p.urls) != len(ipfsGateways) {
		t.Errorf("the default gateways: %v, %v", p, bad)
	}
}

func TestGatewaysAreChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "ipfs.io", "ftp://ipfs.io", "https://", "https://u:p@ipfs.io", "https://ipfs.io/?a=b", "https://localhost"} {
		if _, err := New(Options{IPFS: []string{"https://ipfs.io", bad}}); err == nil || !strings.Contains(err.Error(), "IPFS gateway 2") {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := New(Options{Arweave: []string{bad}}); err == nil || !strings.Contains(err.Error(), "Arweave gateway 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestFetch follows what launchpads announce to what they mean.
func TestFetch(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	logo := plainPNG(t, 300, 200)
	w.serve("/logo", string(logo))
	w.serve("/gateway/ipfs/"+cidV0+"/logo.png", string(logo))
	w.serve("/gateway/ipfs/"+cidV1, `{"name":"N","description":" A \n token ","image":"`+cidV0+`/logo.png","twitter":"@handle",
		"telegram":"t.me/chat_name","website":"example.com"}`)
	w.serve("/meta", `{"description":"d","image":"`+w.url("good.test", "/logo")+`"}`)
	w.serve("/inside", `{"description":"d","image":"`+w.url("bad.test", "/logo")+`"}`)
	w.serve("/html", "<html>")
	w.mux.HandleFunc("/busy", func(r http.ResponseWriter, _ *http.Request) { r.WriteHeader(http.StatusBadGateway) })
	inline := "data:image/png;base64," + base64.StdEncoding.EncodeToString(logo)
	tests := []struct {
		name, metadata, image string
		picture               bool
		text                  string
		kind                  Kind
	}{
		{name: "nothing"},
		{name: "an IPFS hash, as Flap has it", metadata: cidV1, picture: true, text: "A token"},
		{name: "a URL", metadata: w.url("good.test", "/meta"), picture: true, text: "d"},
		{name: "a picture alone", image: w.url("good.test", "/logo"), picture: true},
		{name: "JSON and a picture, as Clanker has them", metadata: `{"description":"d"}`, image: "ipfs://" + cidV0 + "/logo.png", picture: true, text: "d"},
		{name: "a picture in the reference", image: inline, picture: true},
		{name: "a picture in the JSON", metadata: marshal(t, map[string]string{"image": inline}), picture: true},
		{name: "metadata that is the picture", metadata: w.url("good.test", "/logo"), picture: true},
		{name: "a picture's second chance", metadata: w.url("good.test", "/meta"), image: w.url("good.test", "/none"), picture: true, text: "d"},
		{name: "metadata inside", metadata: w.url("bad.test", "/"), image: w.url("good.test", "/logo"), picture: true, kind: Refused},
		{name: "a picture inside", metadata: w.url("good.test", "/inside"), text: "d", kind: Refused},
		{name: "no picture", metadata: `{"description":"d"}`, image: w.url("good.test", "/html"), text: "d", kind: NotPicture},
		{name: "a picture that may come", metadata: `{"description":"d"}`, image: w.url("good.test", "/busy"), text: "d", kind: Busy},
		{name: "both failed, one may pass", metadata: w.url("good.test", "/html"), image: w.url("good.test", "/busy"), kind: Busy},
		{name: "both failed for good", metadata: w.url("good.test", "/html"), image: w.url("good.test", "/none"), kind: NotJSON},
		{name: "neither is a reference", metadata: "My token", image: "logo.png", kind: BadReference},
	}
	for _, tt := range tests {
		doc, err := w.fetcher(t).Fetch(t.Context(), tt.metadata, tt.image)
		if kind := kindOf(t, err); kind != tt.kind || doc.Description != tt.text || (doc.Image != nil) != tt.picture {
			t.Errorf("%s: %q, %v, a text %q and %d bytes of picture", tt.name, kind, err, doc.Description, len(doc.Image))
		}
		if doc.ImageURL != "" { // none is at https here
			t.Errorf("%s: the picture's URL is %s", tt.name, doc.ImageURL)
		}
		if doc.Image == nil {
			continue
		}
		if c, err := png.DecodeConfig(bytes.NewReader(doc.Image)); err != nil || c.Width != 256 || c.Height != 171 {
			t.Errorf("%s: the picture is %v, %v", tt.name, c, err)
		}
	}
	doc, err := w.fetcher(t).Fetch(t.Context(), cidV1, "")
	if err != nil || doc.Website != "https://example.com" || doc.X != "https://x.com/handle" || doc.Telegram != "https://t.me/chat_name" {
		t.Errorf("%+v, %v", doc, err)
	}
	w.untouched(t)
}

// TestGatewaysInTurn: what one gateway doesn't have, or doesn't give, another may.
func TestGatewaysInTurn(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.mux.HandleFunc("/busy/", func(r http.ResponseWriter, _ *http.Request) { r.WriteHeader(http.StatusBadGateway) })
	w.serve("/page/", "<html>try again later</html>")
	w.serve("/good/", `{"description":"d"}`)
	tests := []struct {
		gateways []string
		want     Kind
	}{
		{[]string{"/busy", "/good"}, ""},
		{[]string{"/none", "/page", "/busy", "/good"}, ""},
		{[]string{"/page", "/page"}, NotJSON},
		{[]string{"/none", "/good"}, ""},
		{[]string{"/none", "/busy"}, Busy},
		{[]string{"/busy", "/none"}, Busy},
		{[]string{"/none", "/none"}, NotFound},
	}
	for _, tt := range tests {
		f := w.fetcher(t, func(o *Options) {
			o.IPFS = nil
			for _, g := range tt.gateways {
				o.IPFS = append(o.IPFS, w.url("good.test", g))
			}
		})
		_, err := f.Fetch(t.Context(), cidV0, "")
		if kind := kindOf(t, err); kind != tt.want {
			t.Errorf("%v: %q, %v", tt.gateways, kind, err)
		}
	}
}

func TestFirstHost(t *testing.T) {
	t.Parallel()
	f, err := New(Options{IPFS: []string{"https://gw.test"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range [][3]string{
		{"https://a.test/x", "https://b.test", "a.test"},
		{"{}", "https://b.test:8443/", "b.test"},
		{cidV0, "", "gw.test"},
		{"nonsense", "", ""},
		{"{}", "data:,x", ""},
		{"", "", ""},
	} {
		if got := f.firstHost(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%q and %q begin at %q", tt[0], tt[1], got)
		}
	}
}
