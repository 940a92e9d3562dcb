package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
)

// Answer is an encoded body with its ETag. It is never changed once made, so that many requests can share it, and each
// compressed form of it.
type Answer struct {
	body   []byte
	etag   []string
	length []string
	// Freshness picks the Cache-Control.
	Freshness Freshness
	// AsOf is X-Data-As-Of; nil is none.
	AsOf []string
	// media is Content-Type; nil is that of JSON.
	media []string
	// policy is Content-Security-Policy; nil is none.
	policy []string
	// subscription is set of an answer that goes on; the rest is none then.
	subscription Subscription

	compressed [encodings]struct {
		once   sync.Once
		body   []byte // nil when it would not be shorter
		length []string
	}
}

// Freshness says how long an answer may be reused; 0 is as long as the operation's policy says.
type Freshness int

// The answers that may be reused for another time than the operation's others.
const (
	ordinary  Freshness = iota
	OfSeries            // of an operation that answers with series among other things
	Closed              // can't change any more
	OfNothing           // says that there is nothing to check
	Aged                // an old one, because none can be made now
	Older               // a page of older items
	freshnesses
)

// policies are an operation's values of Cache-Control by freshness.
type policies [freshnesses][]string

func newPolicies(c contract.Cache) policies {
	p := policies{ordinary: {c.Header()}, OfSeries: {c.Header()}, Closed: {c.ClosedHeader()}, OfNothing: {c.Header()}, Aged: {c.Header()}, Older: {c.Header()}}
	if c.Series != nil {
		p[OfSeries] = []string{c.Series.Header()}
	}
	if c.Unchecked != nil {
		p[OfNothing] = []string{c.Unchecked.Header()}
	}
	if c.Older != nil {
		p[Older] = []string{c.Older.Header()}
	}
	if c.Stale != nil {
		p[Aged] = []string{c.Stale.Header()}
	}
	return p
}

// Encode makes the answer of a value. Text is escaped so that it is inert even inside an HTML page.
func Encode(v any) (*Answer, error) {
	body, err := Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("serve: encode a %T: %w", v, err)
	}
	return NewAnswer(append(body, '\n')), nil
}

// NewAnswer is the answer of a JSON body.
func NewAnswer(body []byte) *Answer {
	sum := sha256.Sum256(body)
	return &Answer{
		body: body, length: []string{strconv.Itoa(len(body))}, etag: []string{`W/"` + hex.EncodeToString(sum[:16]) + `"`},
	}
}

var (
	varyByEncoding = []string{"Accept-Encoding"}
	jsonType       = []string{"application/json"}
)

// write sends the answer, or 304 when the client has it already, and gives the status.
func (a *Answer) write(w http.ResponseWriter, r *http.Request, cache *policies) int {
	h := w.Header()
	h["Etag"] = a.etag
	h["Vary"] = varyByEncoding
	h["Cache-Control"] = cache[a.Freshness]
	if a.AsOf != nil {
		h["X-Data-As-Of"] = a.AsOf
	}
	if known(r.Header["If-None-Match"], a.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	if a.policy != nil {
		h["Content-Security-Policy"] = a.policy
	}
	body, length := a.body, a.length
	if e := negotiate(r.Header["Accept-Encoding"]); e != identity {
		if c, l := a.in(e); c != nil {
			body, length = c, l
			h["Content-Encoding"] = encodingNames[e]
		}
	}
	h["Content-Type"] = jsonType
	if a.media != nil {
		h["Content-Type"] = a.media
	}
	h["Content-Length"] = length
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
	return http.StatusOK
}

// known reports whether an If-None-Match names the tag; the comparison is weak (RFC 9110, section 13.1.2).
func known(ifNoneMatch []string, etag string) bool {
	bare := strings.TrimPrefix(etag, "W/")
	for _, line := range ifNoneMatch {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == bare {
				return true
			}
		}
	}
	return false
}

// Bodies keeps the encoded answers of one version of a snapshot, by what their parameters select.
type Bodies[K comparable] struct {
	mu      sync.RWMutex
	version int64
	made    map[K]*Answer
	bytes   int // of the bodies, as they are
}

// mostBodies and mostBytes bound the answers that are kept of one version.
const mostBodies, mostBytes = 512, 16 << 20

// Get gives the answer for key of a version, encoded unless it is there already. A reader that is late with an older version
// gets an answer of its own.
func (b *Bodies[K]) Get(version int64, key K, encoded func() (*Answer, error)) (*Answer, error) {
	b.mu.RLock()
	hit := b.made[key]
	current := b.version == version
	b.mu.RUnlock()
	if hit != nil && current {
		return hit, nil
	}
	ans, err := encoded()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if version > b.version || b.made == nil || len(b.made) >= mostBodies || b.bytes >= mostBytes {
		b.version, b.made, b.bytes = max(version, b.version), map[K]*Answer{}, 0
	}
	if version == b.version {
		b.made[key] = ans
		b.bytes += len(ans.body)
	}
	return ans, nil
}

// ByCatalog keeps the answer that follows from the catalogue alone.
type ByCatalog struct{ last atomic.Pointer[catalogAnswer] }

type catalogAnswer struct {
	in     *declared.Catalog
	answer *Answer
}

// Get gives the answer for a catalogue, made unless it is there already.
func (b *ByCatalog) Get(in *declared.Catalog, encoded func() (*Answer, error)) (*Answer, error) {
	if last := b.last.Load(); last != nil && last.in == in {
		return last.answer, nil
	}
	ans, err := encoded()
	if err == nil {
		b.last.Store(&catalogAnswer{in, ans})
	}
	return ans, err
}

// NewPicture is the answer of a PNG that has an ETag. asOf is X-Data-As-Of.
func NewPicture(png []byte, etag string, asOf time.Time) *Answer {
	return &Answer{
		body: png, etag: []string{etag}, length: []string{strconv.Itoa(len(png))}, media: pngType, AsOf: []string{asOf.UTC().Format(time.RFC3339)},
	}
}

var pngType = []string{"image/png"}

// NewPage is the answer of an HTML page with its Content-Security-Policy.
func NewPage(body []byte, policy []string) *Answer {
	ans := NewAnswer(body)
	ans.media, ans.policy = htmlType, policy
	return ans
}
