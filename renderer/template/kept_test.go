package template

import (
	"bytes"
	"encoding/binary"
	"html/template"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/recent"
)

// A picture in use outlives any number of others, and what is kept stays bounded.
func TestPicturesAreKeptWhileInUse(t *testing.T) {
	t.Parallel()
	p := pictures{recent.New[pictureKey, template.URL](keptPictures)}
	used := asPNG(t, portrait(t, 64, 64, blue, yellow))
	want, err := p.dataURL(used, 32)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.dataURL(used, 48)
	if err != nil || other == want {
		t.Fatalf("another size gives the same picture (%v)", err)
	}
	name := func(i int) pictureKey {
		var key pictureKey
		binary.LittleEndian.PutUint64(key.sum[:], uint64(i))
		return key
	}
	for i := range 5 * keptPictures {
		p.Put(name(i), "x")
		if i%100 == 0 {
			if got, err := p.dataURL(used, 32); err != nil || got != want {
				t.Fatalf("after %d others it is another picture (%v)", i, err)
			}
		}
	}
	kept := 0
	for i := range 5 * keptPictures {
		if _, there := p.Get(name(i)); there {
			kept++
		}
	}
	if kept > keptPictures {
		t.Errorf("%d pictures are kept, at most %d are wanted", kept, keptPictures)
	}
	if _, there := p.Get(name(0)); there {
		t.Error("a picture of no use was kept")
	}
	broken := bytes.Repeat([]byte{1}, 10)
	if _, err := p.dataURL(broken, 32); err == nil {
		t.Error("a broken picture is no error")
	}
}
