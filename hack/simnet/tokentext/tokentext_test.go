package tokentext

import (
	"encoding/base64"
	"encoding/json"
	"image/png"
	"strings"
	"testing"
)

// What tokens say of themselves can be read, but for what is broken on purpose, and says nothing of the outside world.
func TestNext(t *testing.T) {
	t.Parallel()
	l := New(1)
	var silent, broken, pictures, clones int
	names := make(map[string]int)
	for range 400 {
		o := l.Next(false)
		if len(o.Name) > 128 || len(o.Symbol) > 32 || len(o.Metadata) > 8192 || o.Name == "" || o.Symbol == "" {
			t.Errorf("the own family doesn't take %+v", o)
		}
		names[strings.ToLower(o.Symbol)]++
		encoded, isData := strings.CutPrefix(o.Metadata, "data:application/json;base64,")
		if !isData {
			silent++
			continue
		}
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if json.Unmarshal(content, &said) != nil {
			broken++
			continue
		}
		for _, key := range []string{"website", "twitter", "telegram"} {
			if link := said[key]; link != "" && !strings.Contains(link, "example") {
				t.Errorf("%s is %s", key, link)
			}
		}
		picture, _ := strings.CutPrefix(said["image"], "data:image/png;base64,")
		decoded, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(picture)))
		if err != nil || decoded.Bounds().Dx() != pictureSize {
			t.Errorf("picture: %v", err)
		}
		pictures++
	}
	for _, count := range names {
		clones += count - 1
	}
	if silent == 0 || broken == 0 || pictures < 200 || clones < 10 {
		t.Errorf("%d say nothing, %d are broken, %d have pictures, %d are clones", silent, broken, pictures, clones)
	}
}
