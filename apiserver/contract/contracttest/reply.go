package contracttest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// reply is a response as the checks see it.
type reply struct {
	req       *http.Request
	target    string // path and query
	status    int
	header    http.Header
	wire      []byte // the body as it was sent
	body      []byte // without its Content-Encoding
	undecoded error  // why body could not be had from wire
	bodiless  bool   // headers are all that can be checked: a HEAD, a 304, a body that can't be decoded
}

func newReply(req *http.Request, res *http.Response, body []byte) *reply {
	r := &reply{
		req: req, target: req.URL.RequestURI(), status: res.StatusCode, header: res.Header, wire: body, body: body,
		bodiless: req.Method == http.MethodHead || res.StatusCode == http.StatusNotModified,
	}
	if !r.bodiless {
		r.body, r.undecoded = decoded(res.Header.Get("Content-Encoding"), body)
		r.bodiless = r.undecoded != nil
	}
	return r
}

// decoded undoes a Content-Encoding. Those that the service doesn't offer are errors.
func decoded(coding string, body []byte) ([]byte, error) {
	switch coding {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	default:
		return nil, fmt.Errorf("%q is neither gzip nor zstd", coding)
	}
}

// plainHeader is the header of the body when it isn't encoded.
func (r *reply) plainHeader() http.Header {
	header := r.header.Clone()
	header.Del("Content-Encoding")
	return header
}

// problemOnPage is where a page says what went wrong.
var problemOnPage = regexp.MustCompile(`<body data-problem="([^"]*)">`)

// problemOf is the problem that a body is, or has in it as a page: the rules are the same for both.
func problemOf(body []byte) []byte {
	if found := problemOnPage.FindSubmatch(body); found != nil && bytes.HasPrefix(body, []byte("<!doctype html>")) {
		return []byte(html.UnescapeString(string(found[1])))
	}
	return body
}

// object is the body as a JSON object; nil when it isn't one.
func (r *reply) object() map[string]any {
	var members map[string]any
	body := r.body
	if r.status >= http.StatusBadRequest {
		body = problemOf(body)
	}
	if r.bodiless || json.Unmarshal(body, &members) != nil {
		return nil
	}
	return members
}

// slug is the last part of a problem's type; "" for what is no problem.
func (r *reply) slug() string {
	if r.status < http.StatusBadRequest {
		return ""
	}
	kind, _ := r.object()["type"].(string)
	return kind[strings.LastIndexAny(kind, "/#")+1:]
}
