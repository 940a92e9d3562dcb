package docs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/browsertest"
)

// cards is a document of one operation, which answers with a picture.
const cards = `{"openapi": "3.1.0", "info": {"title": "Cards", "version": "1"}, "paths": {"/card.png": {"get": {
	"operationId": "getCard", "tags": ["Cards"], "responses": {"200": {"description": "A card.", "content": {"image/png": {}}}}}}}}`

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// serve serves the pages as the API server does, beside a document and answers to try operations on.
func serve(t *testing.T, document []byte) string {
	t.Helper()
	picture, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(contentType string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(body)
		}
	}
	m := http.NewServeMux()
	m.Handle("/docs/", newHandler(t, table()))
	m.HandleFunc("/openapi.json", answer("application/json", document))
	m.HandleFunc("/card.png", answer("image/png", picture))
	m.HandleFunc("/api/", answer("application/json", []byte(`{"said": "so"}`)))
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return s.URL
}

func documented(t *testing.T) (document []byte, operations []contract.Operation) {
	t.Helper()
	document, err := contract.JSON("test")
	if err != nil {
		t.Fatal(err)
	}
	operations, err = contract.Operations()
	if err != nil {
		t.Fatal(err)
	}
	return document, operations
}

// withoutShapes is a document without parameters, and without what answers have in them: a browser draws every operation of it
// in a moment.
func withoutShapes(t *testing.T, document []byte) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	paths, _ := doc["paths"].(map[string]any)
	for _, item := range paths {
		methods, _ := item.(map[string]any)
		for _, method := range methods {
			operation, _ := method.(map[string]any)
			delete(operation, "parameters")
			operation["responses"] = map[string]any{"200": map[string]any{"description": "An answer."}}
		}
	}
	delete(doc, "components")
	delete(doc, "security")
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// open shows a page and, on the reference, waits until the viewer has drawn its operations.
func open(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	status, err := browsertest.Open(ctx, url)
	if isReference := strings.Contains(url, "/docs/#") || strings.HasSuffix(url, "/docs/"); err == nil && isReference {
		err = browsertest.Until(ctx, `document.querySelector('.opblock')`)
	}
	if status != http.StatusOK || err != nil {
		t.Fatalf("open %s: %d, %v", url, status, err)
	}
}

func eval[T any](ctx context.Context, t *testing.T, script string) T {
	t.Helper()
	v, err := browsertest.Eval[T](ctx, script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// clean fails the test if the page complained, broke its policy, or asked anybody else for anything.
func clean(t *testing.T, seen *browsertest.Record, origin string) {
	t.Helper()
	for what, list := range map[string][]string{
		"errors on the console": seen.ConsoleErrors(), "failed requests": seen.FailedRequests(),
		"violations of the policy": seen.PolicyViolations(), "requests that left the origin": seen.Strangers(origin),
	} {
		if len(list) > 0 {
			t.Errorf("%s: %q", what, list)
		}
	}
}

func TestInABrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	document, operations := documented(t)
	origin := serve(t, document)

	t.Run("the reference shows every operation", func(t *testing.T) {
		t.Parallel()
		ctx, seen := browser.Page(t, browsertest.Desktop)
		open(ctx, t, origin+"/docs/")
		shown := eval[[]string](ctx, t, `[...document.querySelectorAll('.opblock')].map((block) =>
			block.querySelector('.opblock-summary-method').textContent + ' ' +
			block.querySelector('.opblock-summary-path').dataset.path)`)
		want := make([]string, 0, len(operations))
		for _, o := range operations {
			want = append(want, o.Method+" "+o.Path)
		}
		slices.Sort(shown)
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(shown, want) {
			t.Errorf("%d operations are shown, %d documented:\n%q\n%q", len(shown), len(want), shown, want)
		}
		for _, link := range []string{"/docs/problems/", "/docs/changelog", "/openapi.json"} {
			if !eval[bool](ctx, t, fmt.Sprintf(`document.querySelector('header.strip a[href=%q]') !== null`, link)) {
				t.Errorf("the strip has no link to %s", link)
			}
		}
		clean(t, seen, origin)
	})

	t.Run("every operation shows its limit", func(t *testing.T) {
		t.Parallel()
		at := serve(t, withoutShapes(t, document))
		ctx, seen := browser.Page(t, browsertest.Desktop)
		open(ctx, t, at+"/docs/")
		eval[bool](ctx, t, `document.querySelectorAll('.opblock:not(.is-open) .opblock-summary-control').forEach((b) => b.click()) || true`)
		for _, o := range operations {
			block := fmt.Sprintf("document.querySelector('.opblock[id$=\"-%s\"]')", o.ID)
			if err := browsertest.Until(ctx, block+`.querySelector('.opblock-body')`); err != nil {
				t.Fatal(o.ID, err)
			}
			text := eval[string](ctx, t, block+`.innerText`)
			if limit := fmt.Sprintf("%d requests in any %d seconds", o.Limit.Requests, o.Limit.WindowS); !strings.Contains(text, limit) {
				t.Errorf("%s doesn't show its limit, %s: %.200q", o.ID, limit, text)
			}
		}
		clean(t, seen, at)
	})

	t.Run("descriptions have no lists", func(t *testing.T) {
		t.Parallel()
		ctx, seen := browser.Page(t, browsertest.Desktop)
		open(ctx, t, origin+"/docs/#/Market/getTokenPrices")
		if err := browsertest.Until(ctx, `document.querySelector('.opblock.is-open .opblock-description .renderedMarkdown')`); err != nil {
			t.Fatal(err)
		}
		if lists := eval[[]string](ctx, t, `[...document.querySelectorAll('.renderedMarkdown :is(ol, ul) li')].map((item) => item.textContent)`); len(lists) > 0 {
			t.Errorf("lists: %q", lists)
		}
		clean(t, seen, origin)
	})

	t.Run("an operation can be linked to and tried", func(t *testing.T) {
		t.Parallel()
		ctx, seen := browser.Page(t, browsertest.Desktop)
		open(ctx, t, origin+"/docs/#/Platform/getVersion")
		tryOut(ctx, t)
		said := eval[string](ctx, t, `document.querySelector('.live-responses-table .highlight-code').textContent`)
		if !strings.Contains(said, `"said": "so"`) || !slices.Contains(seen.Requests(), origin+"/api/version") {
			t.Errorf("tried, it answered %q; requests %q", said, seen.Requests())
		}
		clean(t, seen, origin)
	})

	t.Run("a picture can be tried", func(t *testing.T) {
		t.Parallel()
		at := serve(t, []byte(cards))
		ctx, seen := browser.Page(t, browsertest.Desktop)
		open(ctx, t, at+"/docs/#/Cards/getCard")
		tryOut(ctx, t)
		if err := browsertest.Until(ctx, `document.querySelector('.live-responses-table img').naturalWidth === 1`); err != nil {
			t.Error(err)
		}
		clean(t, seen, at)
	})

	for _, screen := range []browsertest.Screen{
		browsertest.Desktop, browsertest.Desktop.InDark(), browsertest.Phone, browsertest.Phone.InDark(),
	} {
		// An open operation shows all that the reference has, and more.
		for _, path := range append(slices.Clone(pagePaths[1:]), "/docs/#/Market/getTokenInfo", "/docs/changelog#first") {
			t.Run(fmt.Sprintf("%s fits %d pixels, dark %t", path, screen.Width, screen.Dark), func(t *testing.T) {
				t.Parallel()
				ctx, seen := browser.Page(t, screen)
				open(ctx, t, origin+path)
				if strings.Contains(path, "#/") {
					if err := browsertest.Until(ctx, `document.querySelector('.opblock-body .highlight-code')`); err != nil {
						t.Fatal(err)
					}
				}
				fits(ctx, t, screen)
				if strings.Contains(path, "#/") {
					eval[bool](ctx, t, `document.querySelectorAll('.tablinks[data-name=model]').forEach((tab) => tab.click()) || true`)
					if err := browsertest.Until(ctx, `document.querySelector('.opblock-body .json-schema-2020-12')`); err != nil {
						t.Fatal(err)
					}
					fits(ctx, t, screen)
				}
				clean(t, seen, origin)
			})
		}
	}

	t.Run("a problem page and the changelog are styled", func(t *testing.T) {
		t.Parallel()
		for path, heading := range map[string]string{
			"/docs/problems/invalid-parameter": "Invalid parameter", "/docs/changelog": "Changelog",
		} {
			ctx, seen := browser.Page(t, browsertest.Desktop)
			open(ctx, t, origin+path)
			if got := eval[string](ctx, t, `document.querySelector('h1').textContent`); got != heading {
				t.Errorf("%s: heading %q", path, got)
			}
			if margin := eval[string](ctx, t, `getComputedStyle(document.body).margin`); margin != "0px" {
				t.Errorf("%s: the stylesheet has no effect, the margin is %s", path, margin)
			}
			clean(t, seen, origin)
		}
	})

	t.Run("an unknown problem lists the known ones", func(t *testing.T) {
		t.Parallel()
		ctx, seen := browser.Page(t, browsertest.Phone)
		if status, err := browsertest.Open(ctx, origin+"/docs/problems/no-such"); status != http.StatusNotFound || err != nil {
			t.Fatal(status, err)
		}
		if n := eval[int](ctx, t, `document.querySelectorAll('.types li').length`); n != len(table().Problems) {
			t.Errorf("%d problems are listed", n)
		}
		fits(ctx, t, browsertest.Phone)
		if v := seen.PolicyViolations(); len(v) > 0 {
			t.Errorf("violations %q", v)
		}
	})
}

// fits fails the test if the page must be scrolled sideways, or has text that is hard to read.
func fits(ctx context.Context, t *testing.T, screen browsertest.Screen) {
	t.Helper()
	if width := eval[int64](ctx, t, `document.documentElement.scrollWidth`); width > screen.Width {
		t.Errorf("the page is %d pixels wide on a screen of %d", width, screen.Width)
	}
	if edge := eval[float64](ctx, t, leftEdge); edge < 16 {
		t.Errorf("on a screen of %d the text begins %v pixels from its edge", screen.Width, edge)
	}
	if faint := eval[[]string](ctx, t, faintText); len(faint) > 0 {
		t.Errorf("hard to read: %q", faint)
	}
}

// tryOut sends the request of the one operation that is open, and waits for its answer.
func tryOut(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, button := range []string{".try-out__btn", ".execute"} {
		if err := browsertest.Until(ctx, fmt.Sprintf(`document.querySelector(%q)`, button)); err != nil {
			t.Fatal(err)
		}
		eval[bool](ctx, t, fmt.Sprintf(`document.querySelector(%q).click() || true`, button))
	}
	if err := browsertest.Until(ctx, `document.querySelector('.live-responses-table .response-col_status')`); err != nil {
		t.Fatal(err)
	}
}

// leftEdge is how far the leftmost text of the page's content is from the left edge of the screen, in pixels.
const leftEdge = `Math.min(...[...document.querySelectorAll('main :is(h1, h2, h3, p, dl, pre)')]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 0).map((e) => e.getBoundingClientRect().left))`

// faintText lists the texts whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, 1.4.3). What is disabled
// is excepted there too.
const faintText = `(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const p = parts(getComputedStyle(e).backgroundColor);
      if (p.length < 4 || p[3] > 0.5) return getComputedStyle(e).backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest(':disabled, .skip, noscript')) continue;
    const [ink, paper] = [getComputedStyle(element).color, behind(element)];
    const [a, b] = [light(ink), light(paper)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(contrast.toFixed(2) + ' ' + ink + ' on ' + paper + ': ' + text.slice(0, 40));
  }
  return [...faint];
})()`
