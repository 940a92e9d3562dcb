package contracttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// Seeds are what Fuzz is told about the server beyond the document.
type Seeds struct {
	// Values are good values by parameter name, those that the server has data for: mints, pairs, chains. Under the
	// name of a list stand its items.
	Values map[string][]string
	// Moving are the ids of operations whose data may be another at each request. Their answers are not compared.
	Moving []string
	// Allow429 takes 429 for an answer like any other. It is not needed where the limiter sees a new client in each
	// request.
	Allow429 bool
}

// Fuzz draws requests to the documented operations, good ones and hostile ones, and fails on the first answer that
// breaks the contract, with the smallest request that it finds to do so. do sends a request, which is a server's, as of
// httptest.NewRequest, and returns the response with its whole body as it was sent: compressed where it is.
//
// Whatever the request, the answer is none of 5xx and passes Verify, or is 404 where the path stands in no document. A
// parameter that the document rules out gives 400, free text that it allows is not called wrong. Further:
//   - HEAD has the status and the headers of GET, but for Date, X-Request-Id and RateLimit;
//   - If-None-Match with the answer's ETag, in each form that names it, gives 304, and with other tags the same answer;
//   - Accept-Encoding gives only codings that it allows, of the same bytes and with the same ETag;
//   - parameters that are not documented, and optional ones without a value, change nothing.
//
// Streams of events, which go on, are left out.
//
// The flag -rapid.checks is the number of draws, each of up to sixteen requests with those that they are compared to; its
// default of 100 takes a few seconds.
func (k *Kit) Fuzz(tb testing.TB, do func(*http.Request) (*http.Response, []byte), seeds Seeds) {
	tb.Helper()
	f := &fuzzer{kit: k, do: do, seeds: seeds, answered: map[Status]int{}}
	for _, path := range k.doc.Paths.InMatchingOrder() {
		if op := k.doc.Paths.Value(path).Get; op != nil && k.operations[op.OperationID].Media != eventStream { // a stream never ends
			o := operation{op.OperationID, path, parameters(k.doc.Paths.Value(path), op)}
			weight := 1
			if len(o.params) > 0 { // the more parameters, the more there is to get wrong, and in free text most of all
				weight = 3 + len(o.params) + 6*o.freeTexts()
			}
			f.operations = append(f.operations, slices.Repeat([]operation{o}, weight)...)
		}
	}
	// Those that come first are drawn most.
	slices.SortStableFunc(f.operations, func(a, b operation) int { return cmp.Compare(len(b.params), len(a.params)) })
	attempts := rapid.SliceOfN(rapid.Custom(f.attempt), 1, 16)
	rapid.Check(tb, func(t *rapid.T) {
		f.drawn = newMemory()
		for _, a := range attempts.Draw(t, "requests") {
			f.run(t, a)
		}
		if err := k.answered.addAll(f.drawn); err != nil {
			t.Logf("%v", err)
			t.Fatalf("the answer breaks the contract: ETag")
		}
	})
	tb.Logf("answers: %s", f.tally())
}

type fuzzer struct {
	kit        *Kit
	do         func(*http.Request) (*http.Response, []byte)
	seeds      Seeds
	operations []operation
	answered   map[Status]int
	// drawn is what ETags stood for in this draw alone: that of all draws would have a failure look like another one
	// when rapid tries it again.
	drawn *memory
}

type operation struct {
	id, path string
	params   []*openapi3.Parameter
}

// freeTexts counts the parameters that take any text.
func (o *operation) freeTexts() (n int) {
	for _, p := range o.params {
		if isFreeText(p) {
			n++
		}
	}
	return n
}

// attempt is one drawn request, and what else is asked to compare the answer with.
type attempt struct {
	operation string
	method    string
	target    string
	header    http.Header
	twist     twist
	given     []given
}

// twist is a second request that must be answered like the first, or in a way that follows from it.
type twist struct {
	kind   string // one of the constants
	value  string // what it adds
	method string // of the second request
}

// The kinds of twists.
const (
	plain     = "nothing"
	asHead    = "HEAD"
	known     = "If-None-Match, which names the answer:"
	unknown   = "If-None-Match, which doesn't:"
	coded     = "Accept-Encoding:"
	padded    = "with a parameter that changes nothing:"
	namedETag = "<ETag>" // in the value of If-None-Match
)

// GoString is how rapid shows an attempt; the one that failed is logged in full besides.
func (a attempt) GoString() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s", a.method, shortened(a.target))
	for _, name := range sortedKeys(a.header) {
		for _, value := range a.header[name] {
			fmt.Fprintf(&b, "\n    %s: %s", name, shortened(value))
		}
	}
	if a.twist.kind != plain {
		fmt.Fprintf(&b, "\n  then %s %s", a.twist.kind, shortened(a.twist.value))
	}
	return b.String()
}

func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:most], len(s))
}

// run sends an attempt and holds its answers to the contract.
func (f *fuzzer) run(t *rapid.T, a attempt) {
	t.Helper()
	first := f.send(t, a, a.method, a.target, a.header)
	f.judge(t, a, first)
	if limited(first) {
		return
	}
	switch a.twist.kind {
	case asHead:
		f.head(t, a, first)
	case known:
		f.revalidate(t, a, first)
	case unknown:
		f.unchanged(t, a, first, f.send(t, a, a.method, a.target, with(a.header, "If-None-Match", a.twist.value)))
	case coded:
		second := f.send(t, a, a.method, a.target, with(a.header, "Accept-Encoding", a.twist.value))
		if coding := second.header.Get("Content-Encoding"); coding != "" && !accepts([]string{a.twist.value}, coding) {
			f.fail(t, second, rule("Accept-Encoding", fmt.Errorf("%s is not allowed by %q", coding, a.twist.value)))
		}
		f.unchanged(t, a, first, second)
	case padded:
		f.unchanged(t, a, first, f.send(t, a, a.method, a.twist.value, a.header))
	}
}

func with(h http.Header, name, value string) http.Header {
	h = h.Clone()
	h.Set(name, value)
	return h
}

func (f *fuzzer) moving(a attempt) bool { return slices.Contains(f.seeds.Moving, a.operation) }

// head compares the answer to a GET with that to a HEAD.
func (f *fuzzer) head(t *rapid.T, a attempt, get *reply) {
	t.Helper()
	head := f.send(t, a, http.MethodHead, a.target, a.header)
	if limited(head) || f.moving(a) && get.status == head.status {
		return
	}
	if get.status != head.status {
		f.fail(t, head, rule("HEAD", fmt.Errorf("GET answers %d", get.status)))
	}
	if names := unlike(get.header, head.header, "Date", "X-Request-Id", "RateLimit"); len(names) > 0 {
		f.fail(t, head, rule("HEAD", fmt.Errorf("%s not as in GET: %v", strings.Join(names, ", "), get.header)))
	}
}

// revalidate asks again with the ETag of an answer.
func (f *fuzzer) revalidate(t *rapid.T, a attempt, first *reply) {
	t.Helper()
	tag := strings.ReplaceAll(a.twist.value, namedETag, strings.TrimPrefix(first.header.Get("ETag"), "W/"))
	second := f.send(t, a, a.twist.method, a.target, with(a.header, "If-None-Match", tag))
	switch {
	case limited(second):
	case first.status != http.StatusOK: // an error has no ETag, and the condition doesn't matter
		f.unchanged(t, a, first, second)
	case second.status == http.StatusNotModified:
		if got, want := second.header.Get("ETag"), first.header.Get("ETag"); got != want && !f.moving(a) {
			f.fail(t, second, rule("If-None-Match", fmt.Errorf("304 has the ETag %s, 200 had %s", got, want)))
		}
	case !f.moving(a):
		f.fail(t, second, rule("If-None-Match", fmt.Errorf("%s is answered %d, want 304", tag, second.status)))
	}
}

// unchanged compares two answers that must be the same but for how they are encoded.
func (f *fuzzer) unchanged(t *rapid.T, a attempt, first, second *reply) {
	t.Helper()
	if limited(second) {
		return
	}
	if first.status != second.status {
		f.fail(t, second, rule("unchanged", fmt.Errorf("without it the status is %d", first.status)))
	}
	if f.moving(a) {
		return
	}
	but := []string{"Date", "X-Request-Id", "RateLimit", "Content-Encoding", "Content-Length", "Vary"}
	if names := unlike(first.header, second.header, but...); len(names) > 0 {
		f.fail(t, second, rule("unchanged", fmt.Errorf("%s not as without it: %v", strings.Join(names, ", "), first.header)))
	}
	if first.status == http.StatusOK && string(first.body) != string(second.body) {
		f.fail(t, second, rule("unchanged", fmt.Errorf("without it the body is %s", clip(first.body))))
	}
	if first.slug() != second.slug() {
		f.fail(t, second, rule("unchanged", fmt.Errorf("without it the problem is %s", first.slug())))
	}
}

func limited(r *reply) bool { return r.status == http.StatusTooManyRequests }

// judge holds the status to what the document says of the values.
func (f *fuzzer) judge(t *rapid.T, a attempt, r *reply) {
	t.Helper()
	route, err := f.kit.kin.route(r.req)
	if err != nil || route.Operation.OperationID != a.operation || limited(r) {
		return // what was drawn for the path made it another one
	}
	if ambiguous(r.req.URL) && r.status == http.StatusNotFound {
		return
	}
	var problem contract.Problem
	named := !r.bodiless && r.status == http.StatusBadRequest && json.Unmarshal(problemOf(r.body), &problem) == nil
	for _, g := range a.given {
		verdict := g.verdict()
		if verdict == ruledOut && r.status != http.StatusBadRequest {
			f.fail(t, r, rule("bad request", fmt.Errorf("%s is ruled out, and answered %d", g.param.Name, r.status)))
		}
		if verdict == allowed && isFreeText(g.param) && named &&
			slices.ContainsFunc(problem.Errors, func(e contract.ParameterError) bool { return e.Name == g.param.Name }) {
			f.fail(t, r, rule("good request", fmt.Errorf("%s is allowed, and called wrong", g.param.Name)))
		}
	}
}

// send sends one request and has the kit look at the answer.
func (f *fuzzer) send(t *rapid.T, a attempt, method, target string, header http.Header) *reply {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatalf("contracttest: drew a request that is none: %v", err)
	}
	req := (&http.Request{
		Method: method, URL: u, RequestURI: target, Host: "example.com", RemoteAddr: "192.0.2.1:1234",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header.Clone(), Body: http.NoBody,
	}).WithContext(t.Context())
	if req.Header == nil {
		req.Header = http.Header{}
	}
	res, body := f.do(req) //nolint:bodyclose // do has read it
	r := newReply(req, res, body)
	f.answered[Status{a.operation, r.status}]++
	switch {
	case r.status >= http.StatusInternalServerError:
		err = rule("5xx", errors.New("the server failed"))
	case limited(r) && !f.seeds.Allow429:
		err = rule("429", errors.New("the limit was reached"))
	default:
		if _, unrouted := f.kit.kin.route(req); unrouted != nil {
			err = f.kit.verifyUnrouted(req, res, body)
		} else {
			err = f.kit.verify(req, res, body, f.drawn)
		}
	}
	if err != nil {
		f.fail(t, r, err)
	}
	return r
}

// fail ends the draw. Its message is made of the broken rules alone, since rapid takes two failures with other words
// for two faults; the log has the rest.
func (f *fuzzer) fail(t *rapid.T, r *reply, err error) {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", r.req.Method, r.target)
	_ = r.req.Header.Write(&text) // a Builder takes everything
	fmt.Fprintf(&text, "\nanswered %d\n", r.status)
	_ = r.header.Write(&text)
	t.Logf("%s\n%s\n\n%v", text.String(), clip(r.body), err)
	t.Fatalf("the answer breaks the contract: %s", strings.Join(rulesOf(err), ", "))
}

// tally tells what the draws were answered, so that a test whose seeds fit nothing is seen to be one.
func (f *fuzzer) tally() string {
	statuses := slices.SortedFunc(maps.Keys(f.answered), func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Code, b.Code))
	})
	var parts []string
	for _, s := range statuses {
		parts = append(parts, fmt.Sprintf("%s %d times", s, f.answered[s]))
	}
	return strings.Join(parts, ", ")
}
