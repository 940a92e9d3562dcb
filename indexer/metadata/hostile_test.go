package metadata

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/metadata/picture"
)

// endless writes until nobody reads any more.
func endless(head, more string) http.HandlerFunc {
	chunk := []byte(strings.Repeat(more, 64<<10/len(more)))
	return func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte(head))
		for err == nil {
			_, err = w.Write(chunk)
		}
	}
}

// packed is a body of head and n more bytes in a content encoding.
func packed(t *testing.T, encoding, head string, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	var z io.WriteCloser
	switch encoding {
	case "gzip":
		z = gzip.NewWriter(&buf)
	case "deflate":
		z = zlib.NewWriter(&buf)
	case "raw":
		w, err := flate.NewWriter(&buf, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		z = w
	}
	if _, err := io.WriteString(z, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeroes{}, int64(n)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestHostileAnswers asks hosts that answer to do harm.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	serve := func(path, encoding string, body []byte) {
		w.mux.HandleFunc(path, func(r http.ResponseWriter, _ *http.Request) {
			r.Header().Set("Content-Encoding", encoding)
			_, _ = r.Write(body)
		})
	}
	png := string(plainPNG(t, 8, 8))
	w.mux.Handle("/endless/json", endless(`{"description":"`, "x"))
	w.mux.Handle("/endless/png", endless(png, "\x00\x00\x00\x00tEXt"))
	w.mux.Handle("/endless/nothing", endless("", "\x00"))
	w.mux.Handle("/endless/gif", endless("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff", "!\xfe\x01x\x00"))
	serve("/gzip/json", "gzip", packed(t, "gzip", "{", 16<<20))
	serve("/gzip/png", "gzip", packed(t, "gzip", png, 16<<20))
	serve("/deflate/json", "deflate", packed(t, "deflate", "{", 16<<20))
	serve("/deflate/png", "deflate", packed(t, "deflate", png, 16<<20))
	serve("/deflate/raw", "deflate", packed(t, "raw", "{}", 0))
	serve("/gzip/twice", "gzip, gzip", packed(t, "gzip", "{", 1<<20))
	serve("/gzip/members", "gzip", bytes.Repeat(packed(t, "gzip", "", 0), 5<<20/23))
	serve("/gzip/garbage", "gzip", []byte(`{"description":"not packed at all"}`))
	serve("/gzip/corrupt", "gzip", append(packed(t, "gzip", "{}", 100)[:10], bytes.Repeat([]byte{0x07}, 100)...))
	serve("/gzip/good", "gzip", packed(t, "gzip", `{"description":"d"}`, 10))
	serve("/deflate/good", "Deflate", packed(t, "deflate", `{"description":"d"}`, 10))
	serve("/brotli", "br", []byte("{}"))
	w.serve("/name", `{"name":"`+strings.Repeat("a", 1<<20)+`","description":"d"}`)
	w.serve("/deep", `{"a":`+strings.Repeat("[", 30<<10)+strings.Repeat("]", 30<<10)+"}")
	w.serve("/html", "<!doctype html><title>no</title>")
	w.serve("/empty", "")
	w.serve("/svg", `<svg xmlns="http://www.w3.org/2000/svg"><image href="http://127.0.0.2/"/></svg>`)
	w.mux.HandleFunc("/length", func(r http.ResponseWriter, _ *http.Request) {
		r.Header().Set("Content-Length", "1000000000")
		_, _ = r.Write([]byte(png))
	})
	w.mux.HandleFunc("/short", func(r http.ResponseWriter, _ *http.Request) {
		r.Header().Set("Content-Length", "1000")
		_, _ = r.Write([]byte(`{"description":"`))
	})
	w.mux.HandleFunc("/header", func(r http.ResponseWriter, _ *http.Request) {
		r.Header().Set("X-Long", strings.Repeat("x", 64<<10))
		_, _ = r.Write([]byte("{}"))
	})
	w.mux.HandleFunc("/hints", func(r http.ResponseWriter, req *http.Request) {
		for req.Context().Err() == nil {
			r.WriteHeader(http.StatusEarlyHints)
		}
	})
	w.mux.HandleFunc("/noise", func(r http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(r).Hijack()
		if err == nil {
			_, _ = c.Write([]byte("SSH-2.0-secret\r\n"))
			_ = c.Close()
		}
	})
	tests := []struct {
		path    string
		picture bool // asked for as a picture
		want    Kind
	}{
		{path: "/endless/json", want: TooLarge},
		{path: "/endless/png", want: TooLarge},
		{path: "/endless/gif", picture: true, want: TooLarge},
		{path: "/endless/nothing", picture: true, want: NotPicture},
		{path: "/endless/nothing", want: TooLarge},
		{path: "/gzip/json", want: TooLarge},
		{path: "/gzip/png", picture: true, want: TooLarge},
		{path: "/deflate/json", want: TooLarge},
		{path: "/deflate/png", picture: true, want: TooLarge},
		{path: "/deflate/raw", want: Denied},
		{path: "/gzip/twice", want: Denied},
		{path: "/gzip/members", want: TooLarge},
		{path: "/gzip/garbage", want: Denied},
		{path: "/gzip/corrupt", want: Denied},
		{path: "/gzip/good", want: ""},
		{path: "/deflate/good", want: ""},
		{path: "/brotli", want: Denied},
		{path: "/name", want: TooLarge},
		{path: "/deep", want: TooLarge},
		{path: "/html", want: NotJSON},
		{path: "/empty", want: NotJSON},
		{path: "/empty", picture: true, want: NotPicture},
		{path: "/html", picture: true, want: NotPicture},
		{path: "/svg", picture: true, want: NotPicture},
		{path: "/svg", want: NotJSON},
		{path: "/length", picture: true, want: TooLarge},
		{path: "/short", want: Unreachable},
		{path: "/header", want: Unreachable},
		{path: "/hints", want: Unreachable},
		{path: "/noise", want: Unreachable},
	}
	for _, tt := range tests {
		name := tt.path
		if tt.picture {
			name += " as a picture"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := w.fetcher(t)
			metadata, image := w.url("good.test", tt.path+"?key=secret"), ""
			if tt.picture {
				metadata, image = image, metadata
			}
			doc, err := f.Fetch(t.Context(), metadata, image)
			if kind := kindOf(t, err); kind != tt.want {
				t.Errorf("got %q, want %q: %v", kind, tt.want, err)
			}
			if err != nil && !doc.empty() {
				t.Errorf("got %+v", doc)
			}
		})
	}
}

// counted is a body that never ends and counts what is read of it.
type counted struct {
	head *strings.Reader
	n    int
}

func (c *counted) Read(p []byte) (int, error) {
	n, _ := c.head.Read(p)
	if n == 0 {
		n, _ = zeroes{}.Read(p)
	}
	c.n += n
	return n, nil
}

func (c *counted) Close() error { return nil }

// TestNoMoreIsReadThanAllowed: whatever is sent on, a limit and a buffer's worth is taken.
func TestNoMoreIsReadThanAllowed(t *testing.T) {
	t.Parallel()
	const buffer = 4096
	png := string(plainPNG(t, 8, 8))
	for _, tt := range []struct {
		head, encoding string
		length         int64
		want           want
		most           int
	}{
		{"{", "", -1, wantEither, maxJSON + 1},
		{"<html>", "", -1, wantPicture, picture.Sniffed},
		{"<html>", "", 1 << 40, wantPicture, picture.Sniffed},
		{"{", "", 1 << 40, wantEither, picture.Sniffed},
		{png, "", 1 << 40, wantPicture, len(png)},
		{png, "", -1, wantPicture, maxPicture + 1},
		{string(packed(t, "gzip", "{", 1<<20)), "gzip", -1, wantEither, maxJSON + buffer},
		{string(packed(t, "gzip", png, 16<<20)), "gzip", -1, wantPicture, maxPicture + buffer},
		{"{}", "br", -1, wantEither, 0},
	} {
		body := &counted{head: strings.NewReader(tt.head)}
		res := &http.Response{Body: body, ContentLength: tt.length, Header: http.Header{}}
		res.Header.Set("Content-Encoding", tt.encoding)
		if _, err := readBody(res, tt.want); err == nil {
			t.Errorf("%.6q: read without an error", tt.head)
		}
		if body.n > tt.most {
			t.Errorf("%.6q in %q: %d bytes were read, want at most %d", tt.head, tt.encoding, body.n, tt.most)
		}
	}
}

// TestSlowAnswers asks hosts that keep the connection and send next to nothing.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.mux.HandleFunc("/silent", func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	w.mux.HandleFunc("/drip", func(r http.ResponseWriter, req *http.Request) {
		out := http.NewResponseController(r)
		for req.Context().Err() == nil {
			_, _ = r.Write([]byte(" "))
			_ = out.Flush()
			time.Sleep(time.Millisecond)
		}
	})
	mute := listen(t, "127.0.0.1:0") // takes connections and says nothing: no handshake either
	t.Cleanup(func() { _ = mute.Close() })
	mutePort := netip.MustParseAddrPort(mute.Addr().String()).Port()
	for _, ref := range []string{
		w.url("good.test", "/silent"), w.url("good.test", "/drip"),
		"http://good.test:" + itoa(int(mutePort)), "https://good.test:" + itoa(int(mutePort)),
	} {
		f := w.fetcher(t, func(o *Options) { o.Ports = append(o.Ports, mutePort) })
		f.timeout = 100 * time.Millisecond
		_, err := f.Fetch(t.Context(), ref, "")
		if kind := kindOf(t, err); kind != TooSlow {
			t.Errorf("%s: %q, %v", ref, kind, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	to := func(path, location string) {
		w.mux.HandleFunc(path, func(r http.ResponseWriter, req *http.Request) {
			if req.Referer() != "" || req.Header.Get("Cookie") != "" || req.Header.Get("Authorization") != "" {
				t.Errorf("%s is asked with %v", path, req.Header)
			}
			r.Header().Set("Set-Cookie", "a=b")
			r.Header().Set("Location", location)
			r.WriteHeader(http.StatusFound)
		})
	}
	var loops atomic.Int32
	w.mux.HandleFunc("/loop", func(r http.ResponseWriter, req *http.Request) {
		loops.Add(1)
		http.Redirect(r, req, "/loop", http.StatusMovedPermanently)
	})
	w.serve("/meta", `{"description":"d"}`)
	to("/inside", w.url("bad.test", "/"))
	to("/inside/address", w.url("127.0.0.2", "/"))
	to("/inside/mapped", w.url("::ffff:127.0.0.2", "/"))
	to("/inside/relative", "//bad.test:"+itoa(int(w.port))+"/")
	to("/port", "http://good.test:22/")
	to("/file", "file:///etc/passwd")
	to("/gopher", "gopher://bad.test:70/_x")
	to("/data", `data:application/json,{"description":"d"}`)
	to("/credentials", "http://secret:secret@good.test:"+itoa(int(w.port))+"/meta")
	to("/nowhere", "")
	to("/garbage", "http://%zz")
	to("/long", "/"+strings.Repeat("a", 3000))
	to("/one", "/meta")
	to("/two", "one")
	to("/three", w.url("GOOD.test.", "/two"))
	to("/four", "/three")
	to("/thrice/inside", "/twice/inside")
	to("/twice/inside", "/inside")
	tests := []struct {
		path string
		want Kind
	}{
		{"/inside", Refused},
		{"/inside/address", Refused},
		{"/inside/mapped", Refused},
		{"/inside/relative", Refused},
		{"/thrice/inside", Refused},
		{"/port", Refused},
		{"/file", Denied},
		{"/gopher", Denied},
		{"/data", Denied},
		{"/credentials", Denied},
		{"/nowhere", Denied},
		{"/garbage", Denied},
		{"/long", Denied},
		{"/loop", Denied},
		{"/one", ""},
		{"/two", ""},
		{"/three", ""},
		{"/four", Denied},
	}
	for _, tt := range tests {
		doc, err := w.fetcher(t).Fetch(t.Context(), w.url("good.test", tt.path), "")
		if kind := kindOf(t, err); kind != tt.want {
			t.Errorf("%s: got %q, want %q: %v", tt.path, kind, tt.want, err)
		}
		if (doc.Description == "d") != (tt.want == "") {
			t.Errorf("%s: %+v", tt.path, doc)
		}
	}
	if n := loops.Load(); n != 1+maxRedirects {
		t.Errorf("a loop was followed %d times", n)
	}
	w.untouched(t)
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.mux.HandleFunc("/{code}", func(r http.ResponseWriter, req *http.Request) {
		code := 0
		for _, c := range req.PathValue("code") {
			code = 10*code + int(c-'0')
		}
		r.Header().Set("Retry-After", "120")
		r.WriteHeader(code)
	})
	tests := []struct {
		code    int
		want    Kind
		passing bool
		until   time.Duration
	}{
		{code: 204, want: Denied},
		{code: 206, want: Denied},
		{code: 300, want: Denied},
		{code: 304, want: Denied},
		{code: 400, want: Denied},
		{code: 401, want: Denied},
		{code: 403, want: Denied},
		{code: 404, want: NotFound},
		{code: 408, want: Busy, passing: true},
		{code: 410, want: NotFound},
		{code: 429, want: Busy, passing: true, until: 2 * time.Minute},
		{code: 451, want: Denied},
		{code: 500, want: Busy, passing: true},
		{code: 502, want: Busy, passing: true},
		{code: 503, want: Busy, passing: true, until: 2 * time.Minute},
		{code: 504, want: Busy, passing: true},
		{code: 599, want: Busy, passing: true},
	}
	now := time.Unix(1_800_000_000, 0)
	for _, tt := range tests {
		f := w.fetcher(t, func(o *Options) { o.Now = func() time.Time { return now } })
		_, err := f.Fetch(t.Context(), w.url("good.test", "/"+itoa(tt.code)+"?key=secret"), "")
		e, ok := errors.AsType[*Error](err)
		if !ok || kindOf(t, err) != tt.want || e.Passing() != tt.passing {
			t.Errorf("%d: %+v", tt.code, err)
			continue
		}
		if until := e.Until; (tt.until == 0) != until.IsZero() || (tt.until != 0 && !until.Equal(now.Add(tt.until))) {
			t.Errorf("%d: again at %v", tt.code, until)
		}
	}
}

// TestTLS: certificates are verified against the name, and what began encrypted stays so.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	port := netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	at := func(host, path string) string { return "https://" + net.JoinHostPort(host, itoa(int(port))) + path }
	w.names.say("example.com", "127.0.0.1") // as in httptest's certificate
	w.serve("/plain", "{}")
	mux.HandleFunc("/meta", func(r http.ResponseWriter, req *http.Request) {
		if req.ProtoMajor != 2 || req.UserAgent() != userAgent || req.TLS.ServerName != "example.com" {
			t.Errorf("asked with %s by %q for %q", req.Proto, req.UserAgent(), req.TLS.ServerName)
		}
		_, _ = r.Write([]byte(`{"image":"` + at("example.com", "/logo?v=1#x") + `"}`))
	})
	mux.HandleFunc("/logo", func(r http.ResponseWriter, _ *http.Request) { _, _ = r.Write(plainPNG(t, 4, 4)) })
	mux.HandleFunc("/downgrade", func(r http.ResponseWriter, req *http.Request) {
		http.Redirect(r, req, w.url("good.test", "/plain"), http.StatusFound)
	})
	w.mux.HandleFunc("/upgrade", func(r http.ResponseWriter, req *http.Request) {
		http.Redirect(r, req, at("example.com", "/logo"), http.StatusFound)
	})
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusting := func(o *Options) { o.RootCAs, o.Ports = roots, append(o.Ports, port) }

	f := w.fetcher(t, trusting)
	doc, err := f.Fetch(t.Context(), at("example.com", "/meta"), "")
	if want := at("example.com", "/logo?v=1"); err != nil || doc.ImageURL != want || doc.Image == nil {
		t.Errorf("%+v, %v; want the picture of %s", doc, err, want)
	}
	if doc, err = f.Fetch(t.Context(), "", w.url("good.test", "/upgrade")); err != nil || doc.ImageURL != at("example.com", "/logo") {
		t.Errorf("%+v, %v", doc, err)
	}
	if _, err = f.Fetch(t.Context(), at("example.com", "/downgrade"), ""); kindOf(t, err) != Denied {
		t.Error(err)
	}
	if _, err = f.Fetch(t.Context(), at("good.test", "/meta"), ""); kindOf(t, err) != Unreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("another name's certificate: %v", err)
	}
	strict := w.fetcher(t, func(o *Options) { o.Ports = append(o.Ports, port) })
	if _, err = strict.Fetch(t.Context(), at("example.com", "/meta"), ""); kindOf(t, err) != Unreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("nobody's certificate: %v", err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	asked := make(chan struct{})
	w.mux.HandleFunc("/silent", func(_ http.ResponseWriter, req *http.Request) {
		close(asked)
		<-req.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := w.fetcher(t).Fetch(ctx, w.url("good.test", "/silent"), "")
	if kind := kindOf(t, err); kind != Waiting {
		t.Errorf("%q, %v", kind, err)
	}
}

func TestUnknownNamesMayAppear(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.names.say("nothing.test", "")
	for _, host := range []string{"unknown.test", "nothing.test"} {
		_, err := w.fetcher(t).Fetch(t.Context(), w.url(host, "/"), "")
		if kind := kindOf(t, err); kind != Unreachable {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestTheContentTypeIsNotBelieved: the first bytes say what it is.
func TestTheContentTypeIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	serve := func(path, kind string, body []byte) {
		w.mux.HandleFunc(path, func(r http.ResponseWriter, _ *http.Request) {
			r.Header().Set("Content-Type", kind)
			_, _ = r.Write(body)
		})
	}
	serve("/png", "text/html", plainPNG(t, 4, 4))
	serve("/html", "image/png", []byte("<html>"))
	serve("/gif", "image/png", []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	for path, want := range map[string]Kind{"/png": "", "/gif": "", "/html": NotPicture} {
		if _, err := w.fetcher(t).Fetch(t.Context(), "", w.url("good.test", path)); kindOf(t, err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// allocated is how many bytes f has allocated. Tests that run at the same time would count too.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestPackedBombsTakeLittleMemory is not parallel, so that it measures nothing but itself.
func TestPackedBombsTakeLittleMemory(t *testing.T) {
	const little = 24 << 20
	w := newOutside(t)
	for _, encoding := range []string{"gzip", "deflate"} {
		for name, head := range map[string]string{"json": "{", "png": string(plainPNG(t, 8, 8))} {
			body := packed(t, encoding, head, 16<<20)
			w.mux.HandleFunc("/"+encoding+"/"+name, func(r http.ResponseWriter, _ *http.Request) {
				r.Header().Set("Content-Encoding", encoding)
				_, _ = r.Write(body)
			})
			f := w.fetcher(t)
			if n := allocated(func() {
				_, err := f.Fetch(t.Context(), w.url("good.test", "/"+encoding+"/"+name), "")
				if kindOf(t, err) != TooLarge {
					t.Error(err)
				}
			}); n > little {
				t.Errorf("%s in %s takes %d bytes", name, encoding, n)
			}
		}
	}
}
