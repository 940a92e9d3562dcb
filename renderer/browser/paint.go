package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/layertree"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// settled waits until all that is drawn is there. It runs although the page's own scripts don't. An image that can't be
// decoded is drawn as missing. One that isn't decoded yet would be painted with other edges: that nothing shows through it
// isn't known before. The answer tells whether the document fits its picture.
const settled = `(async () => {
	await document.fonts.ready;
	await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
	const all = document.scrollingElement;
	return all.scrollWidth <= innerWidth && all.scrollHeight <= innerHeight;
})()`

// mostLayers bounds the search for the layer that a document is painted on. Chromium numbers layers as it makes them, and a
// tab has three before that one.
const mostLayers = 64

// errLayer says that there is no such layer, or that it isn't the one that a document is painted on.
var errLayer = errors.New("browser: not the layer that the document is painted on")

// errLarge says that there is more of a document than its picture shows. Its layer would take memory without a bound.
var errLarge = errors.New("browser: the document is larger than its picture")

// picture gives a document as a PNG. The tab's own process paints and encodes it, from the record of the layer's painting
// that developer tools look at. A screenshot goes by frames, which the tab, the GPU's process and the main one copy among
// them: that takes a third more CPU. The price is that only one layer is painted: parts of a document for which Chromium
// makes other layers, such as animations and videos, are left out. A card has none.
func (t *tab) picture(ctx context.Context, document []byte) ([]byte, error) {
	if _, err := cdp.Call(ctx, t.session, page.SetDocumentContent, page.SetDocumentContentParams{
		FrameID: t.frame, HTML: string(document),
	}); err != nil {
		return nil, fmt.Errorf("browser: set the document: %w", err)
	}
	yes := true
	done, err := cdp.Call(ctx, t.session, runtime.Evaluate, runtime.EvaluateParams{Expression: settled, AwaitPromise: &yes})
	if err != nil {
		return nil, fmt.Errorf("browser: wait for the document: %w", err)
	}
	if done.ExceptionDetails != nil {
		return nil, fmt.Errorf("browser: wait for the document: %s", done.ExceptionDetails.Text)
	}
	if string(done.Result.Value) != "true" {
		return nil, errLarge
	}
	// Documents share the layer as a rule, for which Chromium makes no promise.
	if t.layer > 0 {
		if picture, err := t.paint(ctx, t.layer); !errors.Is(err, errLayer) {
			return picture, err
		}
	}
	for t.layer = 1; t.layer <= mostLayers; t.layer++ {
		if picture, err := t.paint(ctx, t.layer); !errors.Is(err, errLayer) {
			return picture, err
		}
	}
	t.layer = 0
	return nil, errors.New("browser: the document is painted on no layer")
}

// paint gives what is painted on a layer. The error wraps errLayer if that isn't the whole picture.
func (t *tab) paint(ctx context.Context, layer int) ([]byte, error) {
	// This lays the document out and paints it first, if that isn't done yet: what is recorded is the document of now.
	made, err := cdp.Call(ctx, t.session, layertree.MakeSnapshot, layertree.MakeSnapshotParams{
		LayerID: layertree.LayerID(strconv.Itoa(layer)),
	})
	if _, refused := errors.AsType[*cdproto.Error](err); refused {
		return nil, fmt.Errorf("%w: %w", errLayer, err)
	}
	if err != nil {
		return nil, fmt.Errorf("browser: record the painting: %w", err)
	}
	painted, err := cdp.Call(ctx, t.session, layertree.ReplaySnapshot, layertree.ReplaySnapshotParams{SnapshotID: made.SnapshotID})
	if err != nil {
		return nil, fmt.Errorf("browser: paint: %w", err)
	}
	if _, err := cdp.Call(ctx, t.session, layertree.ReleaseSnapshot, layertree.ReleaseSnapshotParams(made)); err != nil {
		return nil, fmt.Errorf("browser: release the record of the painting: %w", err)
	}
	return t.whole(painted.DataURL)
}

// whole reads a picture, which must have the size that is asked for.
func (t *tab) whole(dataURL string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(dataURL, "data:image/png;base64,")
	if !ok {
		return nil, fmt.Errorf("browser: the painting is no PNG: %.40q", dataURL)
	}
	picture, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("browser: read the painting: %w", err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("browser: read the painting: %w", err)
	}
	if size.Width != t.width || size.Height != t.height {
		return nil, fmt.Errorf("%w: it has %d by %d pixels", errLayer, size.Width, size.Height)
	}
	return picture, nil
}
