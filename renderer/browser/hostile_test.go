package browser

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// trap is a server on this machine that nothing which is drawn may reach.
type trap struct {
	address string

	mu    sync.Mutex
	paths []string
	conns int
}

func setTrap(t *testing.T) *trap {
	t.Helper()
	p := &trap{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.paths = append(p.paths, r.URL.Path)
		p.mu.Unlock()
		_, _ = io.WriteString(w, "<p>caught")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			p.mu.Lock()
			p.conns++
			p.mu.Unlock()
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	p.address = s.Listener.Addr().String()
	return p
}

// caught gives what reached the server: connections, and the paths of requests.
func (p *trap) caught() (int, []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.paths)
	return p.conns, slices.Compact(slices.Clone(p.paths))
}

// hostile is full of what makes browsers ask for things. %s is the server.
const hostile = `<!doctype html><html manifest="http://%[1]s/manifest"><head>
<link rel="stylesheet" href="http://%[1]s/css"><link rel="icon" href="http://%[1]s/icon"><link rel="preload" as="image" href="http://%[1]s/preload">
<link rel="prefetch" href="http://%[1]s/prefetch"><link rel="preconnect" href="http://%[1]s"><link rel="modulepreload" href="http://%[1]s/module">
<link rel="dns-prefetch" href="http://%[1]s"><style>@import "http://%[1]s/import"; @font-face{font-family:f;src:url(http://%[1]s/font)}
body{font-family:f;background:url(http://%[1]s/background)} p::after{content:url(http://%[1]s/content)}</style>
<script src="http://%[1]s/script"></script></head><body background="http://%[1]s/body">text<p>text</p>
<img src="http://%[1]s/img"><img srcset="http://%[1]s/srcset 1x"><picture><source srcset="http://%[1]s/source"><img></picture>
<iframe src="http://%[1]s/iframe"></iframe><iframe srcdoc="&lt;img src=http://%[1]s/srcdoc>"></iframe>
<object data="http://%[1]s/object"></object><embed src="http://%[1]s/embed"><input type="image" src="http://%[1]s/input">
<video src="http://%[1]s/video" poster="http://%[1]s/poster" autoplay></video><audio src="http://%[1]s/audio" autoplay></audio>
<svg><image href="http://%[1]s/svg"/><use href="http://%[1]s/use#a"/><filter id="x"><feImage href="http://%[1]s/filter"/></filter>
<rect width="9" height="9" filter="url(#x)" fill="url(http://%[1]s/fill#a)"/></svg>
<img src=x onerror="fetch('http://%[1]s/onerror')">
<script>fetch('http://%[1]s/fetch'); new WebSocket('ws://%[1]s/socket'); new Image().src='http://%[1]s/image';
navigator.sendBeacon('http://%[1]s/beacon'); new EventSource('http://%[1]s/events'); import('http://%[1]s/import2');
open('http://%[1]s/open')</script>`

// The hostile documents, each a whole one: a navigation ends the rest.
var hostileDocuments = []string{
	hostile,
	`<!doctype html><meta http-equiv="refresh" content="0;url=http://%[1]s/refresh">`,
	`<!doctype html><body onload="location='http://%[1]s/location'"><script>location='http://%[1]s/location'</script>`,
	`<!doctype html><form action="http://%[1]s/form"></form><script>document.forms[0].submit()</script>`,
	`<!doctype html><base href="http://%[1]s/"><img src="based"><meta http-equiv="refresh" content="0;url=next">`,
}

// certain are requests that a browser without guards makes for the hostile documents.
var certain = []string{"/img", "/css", "/fetch", "/socket", "/refresh", "/location", "/form"}

// TestNothingThatIsDrawnReachesTheNetwork takes the guards away in turn, to show that each of two holds alone, and that the
// server is reached without them.
func TestNothingThatIsDrawnReachesTheNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without guards
		caught  bool
	}{
		"all guards":         {},
		"flags alone":        {without: guards{scripts: true, namespace: true}},
		"namespace alone":    {without: guards{flags: true, scripts: true}},
		"no guards, control": {without: guards{flags: true, scripts: true, namespace: true}, caught: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, Options{Tabs: 1, without: c.without})
			if !c.without.namespace && c.without.flags && !w.running().protection.NoNetwork {
				t.Skip("this kernel allows no namespace of the network")
			}
			p := setTrap(t)
			conns, paths := 0, []string(nil)
			for range 10 { // the picture of a document that leads elsewhere may be done before its request is: the control draws it again
				for _, html := range hostileDocuments {
					_, _ = w.picture(fmt.Sprintf(html, p.address)) // a picture, or a refusal to be led elsewhere
				}
				_, _ = w.picture(fmt.Sprintf(hostile, strings.Replace(p.address, "127.0.0.1", "localhost", 1)))
				time.Sleep(time.Second) // the control's requests have mostly come by then, which its list shows
				w.mustDraw(sample(1))
				conns, paths = p.caught()
				if !c.caught || !slices.ContainsFunc(certain, func(path string) bool { return !slices.Contains(paths, path) }) {
					break
				}
			}
			if c.caught != (conns > 0) {
				t.Errorf("%d connections, requests %q", conns, paths)
			}
			if c.caught {
				t.Logf("%d connections, requests %q", conns, paths)
				for _, path := range certain {
					if !slices.Contains(paths, path) {
						t.Errorf("the control's request for %s was not caught: the probe shows nothing", path)
					}
				}
			}
		})
	}
}

// TestADocumentLeavesNothingToTheNext has one that would lead its tab elsewhere a moment after it was drawn.
func TestADocumentLeavesNothingToTheNext(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	expected := w.mustDraw(sample(1))
	for range 3 {
		_, _ = w.picture(`<!doctype html><meta http-equiv="refresh" content="0.02;url=data:text/html,taken"><style>*{background:red}</style>`)
		for range 10 {
			if string(w.mustDraw(sample(1))) != string(expected) {
				t.Fatal("the next picture is another")
			}
		}
	}
}

// TestADocumentReadsNoFiles has one that exists beside one that doesn't: both are as good as missing.
func TestADocumentReadsNoFiles(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	path := filepath.Join(t.TempDir(), "red.png")
	var red bytes.Buffer
	picture := image.NewNRGBA(image.Rect(0, 0, 300, 300))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.NRGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	if err := png.Encode(&red, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, red.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	show := func(src string) string {
		return `<!doctype html><img width="200" height="200" src="` + src + `"><p style="width:200px;height:200px;background:url(` + src + `)"></p>`
	}
	shown := w.mustDraw(show("data:image/png;base64," + base64.StdEncoding.EncodeToString(red.Bytes())))
	missing := w.mustDraw(show("file://" + path + ".missing"))
	if bytes.Equal(shown, missing) {
		t.Fatal("the control shows nothing either")
	}
	if !bytes.Equal(w.mustDraw(show("file://"+path)), missing) {
		t.Error("a file is shown")
	}
}
