package metadata

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/metadata/picture"
)

const (
	maxRedirects = 3
	// maxJSON and maxPicture bound metadata and pictures in bytes, each both as sent and as decoded from a content encoding.
	maxJSON    = 64 << 10
	maxPicture = 4 << 20
	userAgent  = "boardwalk-metadata/1.0 (+https://github.com/boardwalkhq/boardwalk)"
)

// want says what a download may be: a picture alone, or either metadata or a picture.
type want bool

const (
	wantPicture want = false
	// wantEither is for metadata, which turns out to be the picture itself at times.
	wantEither want = true
)

// blob is the content that a reference led to. format is empty if it is no picture; url is where it was asked for, and final where it
// came from in the end; both are nil when the reference carried it.
type blob struct {
	data       []byte
	format     picture.Format
	url, final *url.URL
}

// load gets what a reference leads to, from the first of its places that has it.
func (f *Fetcher) load(ctx context.Context, ref string, w want) (blob, *Error) {
	p, err := f.placeOf(ref)
	if err != nil {
		return blob{}, err
	}
	if p.inline {
		b := blob{data: p.data, format: picture.Sniff(p.data)}
		return b, b.check(w)
	}
	for i, u := range p.urls {
		b, e := f.loadFrom(ctx, u, w, i == len(p.urls)-1)
		if e == nil && b.format == "" && !isObject(b.data) { // a gateway's page, say
			e = newError(NotJSON, u.Hostname()+" answers with what is no JSON object")
		}
		if e == nil {
			return b, nil
		}
		err = worse(err, e)
		if ctx.Err() != nil {
			break
		}
	}
	return blob{}, err
}

// loadFrom leaves time for other places, unless it is the last.
func (f *Fetcher) loadFrom(ctx context.Context, u *url.URL, w want, last bool) (blob, *Error) {
	if !last {
		some, cancel := context.WithTimeout(ctx, f.timeout*2/5)
		defer cancel()
		return f.get(some, u, w)
	}
	return f.get(ctx, u, w)
}

// check holds a whole blob against what was wanted.
func (b *blob) check(w want) *Error {
	switch {
	case b.format == "" && w == wantPicture:
		return newError(NotPicture, "it is no PNG, JPEG, GIF or WebP")
	case b.format == "" && len(b.data) > maxJSON:
		return tooMany(maxJSON)
	case len(b.data) > maxPicture:
		return tooMany(maxPicture)
	}
	return nil
}

func tooMany(limit int64) *Error {
	return newError(TooLarge, "it has more than "+strconv.FormatInt(limit, 10)+" bytes")
}

// get follows redirects; each is a request like the first, to be guarded anew.
func (f *Fetcher) get(ctx context.Context, u *url.URL, w want) (blob, *Error) {
	asked := u
	for hop := 0; ; hop++ {
		host := u.Hostname()
		if err := f.hosts.enter(ctx, host); err != nil {
			return blob{}, err
		}
		b, next, err := f.once(ctx, u, w)
		f.hosts.leave(host, f.verdict(u, err), untilAfter(err, f.now()))
		if err != nil {
			return blob{}, err
		}
		if next == nil {
			b.url, b.final = asked, u
			return b, nil
		}
		if hop == maxRedirects {
			return blob{}, newError(Denied, host+" redirects more than "+strconv.Itoa(maxRedirects)+" times")
		}
		u = next
	}
}

// verdict is what a request's end says about its host. What a stranger can bring about with a URL of his own making is not held
// against a host that others use too: a missing page, a server's error, or content that no IPFS node has.
func (f *Fetcher) verdict(u *url.URL, err *Error) verdict {
	switch {
	case err == nil:
		return answered
	case err.Kind == Busy && err.overload:
		return overloaded
	case err.Kind == Unreachable:
		return failed
	case err.Kind == TooSlow && !f.gateway[u.Host] && !strings.HasPrefix(u.Path, "/ipfs/"):
		return failed
	}
	return answered
}

func untilAfter(err *Error, now time.Time) time.Duration {
	if err == nil || err.Until.IsZero() {
		return 0
	}
	return err.Until.Sub(now)
}

// once sends one request. next is where it is redirected to.
func (f *Fetcher) once(ctx context.Context, u *url.URL, w want) (b blob, next *url.URL, failure *Error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return blob{}, nil, newError(BadReference, "its URL can't be used")
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json, image/png, image/jpeg, image/gif, image/webp, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "identity") // gzip is understood, as some send nothing else
	// The transport itself: a client would add cookies, credentials or a Referer, and follow redirects its own way.
	res, err := f.transport.RoundTrip(req)
	if err != nil {
		return blob{}, nil, failureOf(ctx, u, err)
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case http.StatusOK:
		b, err = readBody(res, w)
		if err != nil {
			return blob{}, nil, failureOf(ctx, u, err)
		}
		return b, nil, nil
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next, failure = redirected(u, res.Header.Get("Location"))
		return blob{}, next, failure
	}
	return blob{}, nil, statusError(u, res, f.now())
}

func redirected(from *url.URL, location string) (*url.URL, *Error) {
	host := from.Hostname()
	if location == "" || len(location) > maxURL {
		return nil, newError(Denied, host+" redirects to nowhere")
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, newError(Denied, host+" redirects to what is no URL")
	}
	next, bad := parseURL(to.String())
	if bad != nil {
		return nil, newError(Denied, host+" redirects to what can't be asked for: "+bad.text)
	}
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, newError(Denied, host+" redirects from https to http")
	}
	return next, nil
}

func statusError(u *url.URL, res *http.Response, now time.Time) *Error {
	code := res.StatusCode
	e := newError(Denied, u.Hostname()+" answers "+strconv.Itoa(code))
	switch {
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind = NotFound
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		e.Kind, e.overload, e.Until = Busy, true, retryAfter(res.Header.Get("Retry-After"), now)
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		e.Kind = Busy
	}
	return e
}

// retryAfter reads the header of that name, at most longestRest ahead; zero for none.
func retryAfter(s string, now time.Time) time.Time {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return now.Add(min(time.Duration(n)*time.Second, longestRest))
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return now.Add(min(t.Sub(now), longestRest))
	}
	return time.Time{}
}

// failureOf says why a request failed, in words of ours: what libraries say may repeat the URL, or what the host sent.
func failureOf(ctx context.Context, u *url.URL, err error) *Error {
	host := u.Hostname()
	if ours, ok := errors.AsType[*Error](err); ok {
		return ours.says(host + ": " + ours.text)
	}
	e := &Error{Kind: Unreachable, text: host + " gives no valid HTTP answer", cause: err}
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		e.Kind, e.text = Waiting, host+" was not waited for"
	case is[*net.DNSError](err):
		e.text = host + " can't be looked up"
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		e.Kind, e.text = TooSlow, host+" takes too long"
	case is[*tls.CertificateVerificationError](err):
		e.text = host + " has no valid certificate"
	case is[flate.CorruptInputError](err), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary):
		e.Kind, e.text = Denied, host+" sends a broken content encoding"
	case isDial(err):
		e.text = host + " takes no connection"
	}
	return e
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// bounded is a reader of at most left bytes; with one more it fails.
type bounded struct {
	r     io.Reader
	left  int64
	limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		return 0, tooMany(b.limit)
	}
	return n, err
}

func (b *bounded) tighten(limit int64) {
	b.left = max(b.left-(b.limit-limit), 0)
	b.limit = limit
}

// readBody reads a picture, or what may be JSON, each within its bounds. The first bytes decide; the header may say anything.
func readBody(res *http.Response, w want) (blob, error) {
	sent := &bounded{r: res.Body, left: maxPicture, limit: maxPicture}
	plain, err := decoded(sent, res.Header.Values("Content-Encoding"))
	if err != nil {
		return blob{}, err
	}
	body := &bounded{r: plain, left: maxPicture, limit: maxPicture}
	head, err := io.ReadAll(io.LimitReader(body, picture.Sniffed))
	if err != nil {
		return blob{}, err
	}
	b := blob{format: picture.Sniff(head)}
	if bad := b.check(w); bad != nil { // before the rest is asked for
		return blob{}, bad
	}
	if b.format == "" {
		sent.tighten(maxJSON)
		body.tighten(maxJSON)
	}
	if res.ContentLength > sent.limit {
		return blob{}, tooMany(sent.limit)
	}
	var buf bytes.Buffer
	buf.Write(head)
	if _, err = buf.ReadFrom(body); err != nil {
		return blob{}, err
	}
	b.data = buf.Bytes()
	return b, nil
}

// decoded undoes a content encoding. One at most: a second is there to multiply.
func decoded(r io.Reader, encodings []string) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(encodings, ","))) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "deflate":
		return zlib.NewReader(r)
	}
	return nil, newError(Denied, "it comes in a content encoding that was not asked for")
}
