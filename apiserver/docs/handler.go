package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	assetsPath   = "/docs/assets/"
	problemsPath = "/docs/problems/"
	rankingPath  = "/docs/ranking"

	versionDigits = 16

	forAWhile = "public, max-age=300"
	forGood   = "public, max-age=31536000, immutable"
	// policy lets pages load from their own origin alone. The viewer sets styles inline and draws icons from data: addresses.
	policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " + restOfPolicy
	// viewerPolicy also lets the viewer show the pictures that its operations answer with, which it keeps as blobs.
	viewerPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
		restOfPolicy
	restOfPolicy = "connect-src 'self'; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
)

// file is a body as it is served. It is never changed once made.
type file struct {
	body        []byte
	gzipped     []byte // the same, compressed once
	etag        string
	contentType string
	cache       string
	policy      string
}

// contentTypes don't depend on the tables of the machine.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func newFile(name string, body []byte, cache string) file {
	sum := sha256.Sum256(body)
	return file{
		body: body, gzipped: compress(body), cache: cache, policy: policy, contentType: contentTypes[path.Ext(name)],
		// Weak, because it is that of the compressed body as well.
		etag: `W/"` + hex.EncodeToString(sum[:16]) + `"`,
	}
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// takesGzip reports whether a client names gzip without refusing it. Parts of a file are of the file as it is.
func takesGzip(r *http.Request) bool {
	if r.Header.Get("Range") != "" {
		return false
	}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return !strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0") || strings.Contains(weight, "0.")
		}
	}
	return false
}

// handler picks a file by the path as it was sent: nothing is cleaned, joined or looked up on a disk.
type handler struct {
	version string
	files   map[string]file
	// missing answers an unknown path, missingProblem an unknown path below /docs/problems/.
	missing, missingProblem file
}

var _ http.Handler = (*handler)(nil)

// moved are the addresses that people type for others.
var moved = map[string]string{
	"/docs": "/docs/", "/docs/problems": problemsPath, "/docs/changelog/": "/docs/changelog", "/docs/ranking/": rankingPath,
	"/docs/developers/": "/docs/developers", "/docs/support/": "/docs/support", "/docs/news/": "/docs/news",
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		header.Set("Cache-Control", "no-store")
		http.Error(w, "The documentation answers GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}
	// The escaped path, because an escaped slash or letter is no other spelling of a page's address here.
	asked := r.URL.EscapedPath()
	if to, ok := moved[asked]; ok {
		header.Set("Cache-Control", forAWhile)
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	if f, ok := h.find(asked); ok {
		header.Set("Content-Security-Policy", f.policy)
		header.Set("Content-Type", f.contentType)
		header.Set("Cache-Control", f.cache)
		header.Set("ETag", f.etag)
		header.Set("Vary", "Accept-Encoding")
		body := f.body
		if takesGzip(r) {
			header.Set("Content-Encoding", "gzip")
			body = f.gzipped
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		return
	}
	f := h.missing
	if strings.HasPrefix(asked, problemsPath) {
		f = h.missingProblem
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(f.body) // the client may be gone
	}
}

var versionPattern = regexp.MustCompile(`^[0-9a-f]{` + strconv.Itoa(versionDigits) + `}/`)

// find gives the file of a path. While two versions of the program answer side by side, a page of one may ask the other for
// its assets: any version is answered with what there is, which is then not for good.
func (h *handler) find(asked string) (file, bool) {
	f, ok := h.files[asked]
	if rest, isAsset := strings.CutPrefix(asked, assetsPath); !ok && isAsset && versionPattern.MatchString(rest) {
		f, ok = h.files[assetsPath+h.version+rest[versionDigits:]]
		f.cache = forAWhile
	}
	return f, ok
}
