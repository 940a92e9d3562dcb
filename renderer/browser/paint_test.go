package browser

import (
	"errors"
	"testing"
)

// TestADocumentIsPaintedAfterOnesWithOtherLayers has documents before it for which Chromium makes more layers.
func TestADocumentIsPaintedAfterOnesWithOtherLayers(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	expected := w.mustDraw(sample(1))
	for _, other := range []string{
		`<!doctype html><p style="will-change:transform">moved</p><p>text</p>`,
		`<!doctype html><style>@keyframes k{to{opacity:0}}p{animation:k 9s}</style><p>fades</p>`,
		`<!doctype html><video controls></video><canvas></canvas>`,
		`<!doctype html>`,
	} {
		w.mustDraw(other)
		if string(w.mustDraw(sample(1))) != string(expected) {
			t.Errorf("the picture is another after %s", other)
		}
	}
}

// TestADocumentLargerThanItsPictureIsRefused has documents whose layers would take gigabytes.
func TestADocumentLargerThanItsPictureIsRefused(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	for _, size := range []string{"height:2000000px", "width:2000000px;height:9px"} {
		if _, err := w.picture(`<!doctype html><p style="` + size + `">`); !errors.Is(err, ErrFailed) || !errors.Is(err, errLarge) {
			t.Errorf("a document with %s gives the error %v", size, err)
		}
	}
	w.mustDraw(sample(1))
	w.mustDraw(`<!doctype html><style>html,body{overflow:hidden;height:630px;margin:0}</style><p style="height:2000000px">`)
}
