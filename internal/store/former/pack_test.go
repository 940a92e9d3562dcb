package former_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// imagesOf lists the images of a pack as text.
func imagesOf(t *testing.T, pack []byte) (list []string) {
	t.Helper()
	err := former.EachImage(pack, func(table string, existed bool, image []byte) {
		list = append(list, fmt.Sprint(table, " ", existed, " ", string(image)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPacksKeepImages: a pack gives back the images of rows, and those that were made before, in the order of their making. Taking it empties it.
func TestPacksKeepImages(t *testing.T) {
	t.Parallel()
	token := model.OfToken("base", &market.Token{Name: "line\nbreak \"quoted\" 犬", Symbol: "+-"}, model.Stamped{})
	var want []string
	var p former.Pack
	if !p.IsEmpty() {
		t.Error("a new pack isn't empty")
	}
	for _, existed := range []bool{true, false, true} {
		row := reflect.ValueOf(&token).Elem()
		image, err := model.FormOf[model.Token]().Append(nil, row, existed)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Add(model.FormOf[model.Token](), row, existed); err != nil {
			t.Fatal(err)
		}
		if err := p.AddImage("store.tokenRow", existed, image); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint("tokens ", existed, " ", string(image)), fmt.Sprint("store.tokenRow ", existed, " ", string(image)))
	}
	if got := imagesOf(t, p.Take()); !slices.Equal(got, want) {
		t.Errorf("the images are\n%q, want\n%q", got, want)
	}
	if !p.IsEmpty() {
		t.Error("a pack that was taken isn't empty")
	}
	if err := p.AddImage("pools", false, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := imagesOf(t, p.Take()); !slices.Equal(got, []string{"pools false {}"}) {
		t.Errorf("the next pack has %q", got)
	}
}

// TestAPackIsFullAtItsEdge: a pack of half a mebibyte is full, and one byte less isn't.
func TestAPackIsFullAtItsEdge(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]bool{512<<10 - 1: false, 512 << 10: true} {
		var p former.Pack
		image := `"` + strings.Repeat("x", length-len("t +\n")-2) + `"`
		if err := p.AddImage("t", true, []byte(image)); err != nil || p.IsFull() != want {
			t.Errorf("a pack of %d bytes is full: %v, want %v; %v", length, p.IsFull(), want, err)
		}
		if got := imagesOf(t, p.Take()); len(got) != 1 || len(got[0]) != length-len("t +\n")+len("t true ") {
			t.Errorf("of %d bytes come back %d images", length, len(got))
		}
	}
}

// TestNoPack: what isn't a pack is an error that says so, and takes no memory to speak of.
func TestNoPack(t *testing.T) {
	t.Parallel()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(lines string) []byte { return w.EncodeAll([]byte(lines), nil) }
	whole := packed("tokens +{}\n")
	for name, pack := range map[string][]byte{
		"no zstd":              []byte("tokens +{}\n"),
		"cut off":              whole[:len(whole)-5],
		"another byte":         append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1),
		"no end of a line":     packed("tokens +{}"),
		"no table":             packed("tokens\n"),
		"no sign":              packed("tokens {}\n"),
		"nothing after it":     packed("tokens \n"),
		"80 MB of one byte":    w.EncodeAll(make([]byte, 80<<20), nil),
		"an empty line at end": packed("tokens +{}\n\n"),
	} {
		if err := former.EachImage(pack, func(string, bool, []byte) {}); err == nil || !strings.Contains(err.Error(), "no pack of images") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var p former.Pack
	if p.AddImage("a b", true, []byte("{}")) == nil || p.AddImage("a", true, []byte("{\n}")) == nil || p.AddImage("a", true, []byte("{")) == nil || !p.IsEmpty() {
		t.Error("an image that would be two lines, or of two tables, or is no JSON, is taken")
	}
}
