package contracttest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// exposed are the headers that a page on another origin may read.
const exposed = "RateLimit, RateLimit-Policy, Retry-After, ETag, X-Data-As-Of, X-Request-Id, X-Api-Key-Status"

// once is an error unless a header is there exactly once with the value.
func once(h http.Header, name, want string) error {
	if got := h.Values(name); len(got) != 1 || got[0] != want {
		return fmt.Errorf("%s is %q, want once %q", name, got, want)
	}
	return nil
}

// checkOrigin has any page read the answer, without anything that belongs to a user.
func checkOrigin(h http.Header) error {
	found := []error{
		once(h, "Access-Control-Allow-Origin", "*"),
		once(h, "Access-Control-Expose-Headers", exposed),
	}
	for _, name := range []string{"Access-Control-Allow-Credentials", "Set-Cookie", "Set-Cookie2"} {
		if h.Values(name) != nil {
			found = append(found, fmt.Errorf("%s is there", name))
		}
	}
	return errors.Join(found...)
}

// checkVary wants Accept-Encoding alone where a cache may keep the answer. Origin would make every page fill a cache of
// its own.
func checkVary(r *reply) error {
	if (r.status == http.StatusOK || r.status == http.StatusNotModified) && !r.isStream() || len(r.header.Values("Vary")) > 0 {
		return once(r.header, "Vary", "Accept-Encoding")
	}
	return nil
}

// checkCache holds Cache-Control to x-cache, which no validator reads. Where a series has a policy of its own, that goes
// with a body of candles and the other with any other body, and so does that of what is unchecked with a body that says so;
// a reply without a body may have either. Only a body that
// can't change any more may be called immutable. To a request with a key all are private.
func checkCache(cache contract.Cache, r *reply) error {
	if r.status >= http.StatusBadRequest {
		return once(r.header, "Cache-Control", "no-store")
	}
	policy := func(want string) error {
		if r.req.Header.Get("X-Api-Key") != "" {
			want = contract.Private(want)
		}
		return once(r.header, "Cache-Control", want)
	}
	open := policy(cache.Header())
	if cache.Older != nil && strings.TrimSpace(r.req.URL.Query().Get("before")) != "" {
		return policy(cache.Older.Header())
	}
	_, candles := r.object()["candles"]
	for _, own := range []struct {
		policy *contract.Cache
		is     bool
	}{{cache.Series, candles}, {cache.Unchecked, r.object()["status"] == "unchecked"}} {
		if own.policy != nil && (own.is || r.bodiless && open != nil) {
			open = policy(own.policy.Header())
		}
	}
	if cache.Stale != nil && open != nil { // of an old answer no body tells
		open = policy(cache.Stale.Header())
	}
	if open == nil || cache.ClosedMaxAge == 0 || policy(cache.ClosedHeader()) != nil {
		return open
	}
	if bytes.Contains(r.body, []byte(`"final":false`)) {
		return errors.New("a candle that is not final is in an answer that is called immutable")
	}
	return nil
}

// checkKeyStatus wants the header exactly when the request had a key.
func checkKeyStatus(r *reply) error {
	const name = "X-Api-Key-Status"
	asked, told := r.req.Header.Get("X-Api-Key") != "", len(r.header.Values(name))
	switch {
	case asked && told != 1:
		return fmt.Errorf("it is there %d times in the answer to a request with a key", told)
	case told > 0 && r.req.Header.Values("X-Api-Key") == nil:
		return errors.New("it is in the answer to a request without a key")
	}
	return nil
}

var limitPattern = regexp.MustCompile(`^"([A-Za-z]+(?:-prefix)?)";r=([0-9]{1,9});t=([0-9]{1,9})$`)

// checkLimit holds the headers to the limit that counts the request, and on 429 to each other and to the body. A 429 may be for
// the limit of the client's network.
func checkLimit(limit contract.Limit, r *reply) error {
	if limit.Requests == 0 {
		return errors.New("the document gives no limit")
	}
	if network := limit.Network(perNetwork); r.status == http.StatusTooManyRequests && strings.Contains(r.header.Get("RateLimit-Policy"), strconv.Quote(network.Name)) {
		limit = network
	}
	name := limit.Name
	found := []error{once(r.header, "RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", name, limit.Requests, limit.WindowS))}
	parts := limitPattern.FindStringSubmatch(r.header.Get("RateLimit"))
	if parts == nil || len(r.header.Values("RateLimit")) != 1 {
		return errors.Join(append(found, fmt.Errorf("RateLimit is %q", r.header.Values("RateLimit")))...)
	}
	left, _ := strconv.Atoi(parts[2]) // the pattern allows nothing else
	wait, _ := strconv.Atoi(parts[3])
	if parts[1] != name {
		found = append(found, fmt.Errorf("RateLimit is of %q, want %q", parts[1], name))
	}
	if left >= limit.Requests {
		found = append(found, fmt.Errorf("%d are left after a request, of %d", left, limit.Requests))
	}
	if wait == 0 || wait > limit.WindowS {
		found = append(found, fmt.Errorf("t is %d, want 1 to %d", wait, limit.WindowS))
	}
	if r.status == http.StatusTooManyRequests {
		found = append(found, checkQuota(name, left, wait, r))
	}
	return errors.Join(found...)
}

// perNetwork is how many clients' limits a /48 of IPv6 has.
const perNetwork = 16

// checkQuota wants a 429 to say one thing in four places.
func checkQuota(name string, left, wait int, r *reply) error {
	var found []error
	if left != 0 {
		found = append(found, fmt.Errorf("%d are left", left))
	}
	if got := r.header.Get("Retry-After"); got != strconv.Itoa(wait) {
		found = append(found, fmt.Errorf("Retry-After is %q, t is %d", got, wait))
	}
	if r.bodiless {
		return errors.Join(found...)
	}
	body := r.object()
	if got := body["retry_after_s"]; got != float64(wait) {
		found = append(found, fmt.Errorf("retry_after_s is %v, t is %d", got, wait))
	}
	if got, ok := body["violated-policies"].([]any); !ok || len(got) != 1 || got[0] != name {
		found = append(found, fmt.Errorf("violated-policies is %v, want [%s]", body["violated-policies"], name))
	}
	return errors.Join(found...)
}

var etagPattern = regexp.MustCompile(`^W/"[0-9a-f]{32}"$`)

// checkETag holds ETag to its form, and to be a hash of the body: the same bytes have the same tag, others another.
func checkETag(r *reply, known *memory) error {
	if r.status >= http.StatusBadRequest || r.isStream() {
		return nil
	}
	tags := r.header.Values("ETag")
	if len(tags) != 1 || !etagPattern.MatchString(tags[0]) {
		return fmt.Errorf(`it is %q, want once W/"<32 hex digits>"`, tags)
	}
	if r.bodiless {
		return nil
	}
	return known.add(version{r.target, tags[0], sha256.Sum256(r.body)})
}

// version is what was answered once.
type version struct {
	target, etag string
	body         [sha256.Size]byte
}

// memory is of the versions that were answered. It is safe for parallel tests.
type memory struct {
	mu     sync.Mutex
	bodies map[version]version // of a version without its body, the version
	tags   map[version]version // of a version without its tag, the version
}

func newMemory() *memory { return &memory{bodies: map[version]version{}, tags: map[version]version{}} }

// mostVersions bounds the memory of a long run of the fuzzer, which then starts anew.
const mostVersions = 100_000

// add remembers a version, unless it is at odds with one that was answered before.
func (m *memory) add(v version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	tagged, bare := version{target: v.target, etag: v.etag}, version{target: v.target, body: v.body}
	if before, ok := m.bodies[tagged]; ok && before != v {
		return fmt.Errorf("%s stood for another body of %s", v.etag, v.target)
	}
	if before, ok := m.tags[bare]; ok && before != v {
		return fmt.Errorf("the same body of %s had %s, and now %s", v.target, before.etag, v.etag)
	}
	if len(m.bodies) >= mostVersions {
		clear(m.bodies)
		clear(m.tags)
	}
	m.bodies[tagged], m.tags[bare] = v, v
	return nil
}

// addAll remembers the versions of another memory.
func (m *memory) addAll(other *memory) error {
	for _, v := range other.bodies {
		if err := m.add(v); err != nil {
			return err
		}
	}
	return nil
}

// accepts reports whether an Accept-Encoding allows a coding (RFC 9110, section 12.5.3). A weight that can't be read
// allows it: what a server makes of that is its own affair.
func accepts(header []string, coding string) bool {
	allowed := map[string]bool{}
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		_, q, _ := strings.Cut(strings.ReplaceAll(weight, " ", ""), "q=")
		w, err := strconv.ParseFloat(q, 64)
		allowed[strings.TrimSpace(name)] = err != nil || w > 0
	}
	for _, name := range []string{coding, "*"} {
		if ok, there := allowed[name]; there {
			return ok
		}
	}
	return false
}

// unlike lists the headers in which two answers differ, sorted.
func unlike(a, b http.Header, but ...string) []string {
	var names []string
	for i := range but {
		but[i] = http.CanonicalHeaderKey(but[i])
	}
	for _, pair := range [][2]http.Header{{a, b}, {b, a}} {
		for name, values := range pair[0] {
			if !slices.Equal(values, pair[1][name]) && !slices.Contains(but, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
