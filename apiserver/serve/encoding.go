package serve

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding (RFC 9110, section 8.4.1).
type encoding int

const (
	identity encoding = iota
	gzipped
	zstandard
	encodings
)

var encodingNames = [encodings][]string{gzipped: {"gzip"}, zstandard: {"zstd"}}

// worthwhile is the size in bytes from which on a body is compressed: less than that travels in one packet anyway.
const worthwhile = 1024

// negotiate picks the coding that the client likes best, zstd before gzip where it likes both, and any of them before identity
// where that isn't named. What it refuses is not used, save that identity is the last resort even for who refuses it.
func negotiate(accept []string) encoding {
	q := [encodings]float64{gzipped: -1, zstandard: -1}
	plain := 0.0
	other := -1.0
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			name, weight := coding(part)
			switch name {
			case "gzip":
				q[gzipped] = weight
			case "zstd":
				q[zstandard] = weight
			case "identity":
				plain = weight
			case "*":
				other = weight
			}
		}
	}
	best := identity
	for _, e := range []encoding{zstandard, gzipped} {
		if q[e] < 0 {
			q[e] = max(other, 0)
		}
		if q[e] > q[best] && q[e] >= plain {
			best = e
		}
	}
	return best
}

// coding reads one member of Accept-Encoding. A weight that is none counts as a refusal.
func coding(part string) (name string, weight float64) {
	name, parameters, _ := strings.Cut(part, ";")
	weight = 1
	if _, text, ok := strings.Cut(parameters, "="); ok {
		var err error
		if weight, err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !(weight >= 0 && weight <= 1) {
			weight = 0
		}
	}
	return strings.ToLower(strings.TrimSpace(name)), weight
}

var (
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	})
)

// packed says that the body is compressed by its own form.
func (a *Answer) packed() bool { return len(a.media) > 0 && strings.HasPrefix(a.media[0], "image/") }

// compress makes the body's form that a request will be sent.
func (a *Answer) compress(r *http.Request) {
	if e := negotiate(r.Header["Accept-Encoding"]); e != identity && !known(r.Header["If-None-Match"], a.etag[0]) {
		a.in(e)
	}
}

// in is the body in a coding, made once; nil where that would not be shorter.
func (a *Answer) in(e encoding) (body []byte, length []string) {
	c := &a.compressed[e]
	c.once.Do(func() {
		if len(a.body) < worthwhile || a.packed() {
			return
		}
		if b := compress(a.body, e); b != nil && len(b) < len(a.body) {
			c.body, c.length = b, []string{strconv.Itoa(len(b))}
		}
	})
	return c.body, c.length
}

// compress gives nil where a coding isn't to be had.
func compress(body []byte, e encoding) []byte {
	if e == zstandard {
		encoder, err := zstdEncoder()
		if err != nil {
			return nil
		}
		return encoder.EncodeAll(body, make([]byte, 0, len(body)/3))
	}
	w, _ := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
