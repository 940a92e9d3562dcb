package template

import (
	"bytes"
	"encoding/binary"
	"html/template"
	"testing"
)

// A picture in use outlives any number of others, and what is kept stays bounded.
func TestPicturesAreKeptWhileInUse(t *testing.T) {
	t.Parallel()
	p := &pictures{young: make(map[pictureKey]template.URL)}
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
		p.put(name(i), "x")
		if i%100 == 0 {
			if got, err := p.dataURL(used, 32); err != nil || got != want {
				t.Fatalf("after %d others it is another picture (%v)", i, err)
			}
		}
	}
	if n := len(p.young) + len(p.old); n > 2*keptPictures {
		t.Errorf("%d pictures are kept, at most %d are wanted", n, 2*keptPictures)
	}
	if _, there := p.get(name(0)); there {
		t.Error("a picture of no use was kept")
	}
	broken := bytes.Repeat([]byte{1}, 10)
	if _, err := p.dataURL(broken, 32); err == nil {
		t.Error("a broken picture is no error")
	}
}
