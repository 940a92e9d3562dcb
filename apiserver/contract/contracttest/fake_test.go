package contracttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// fake is a server that has no data: it answers what the document's examples say, and keeps the contract otherwise. A
// test plants one fault in it, to see that it is found.
type fake struct {
	t        *testing.T
	kit      *Kit
	examples map[string]answer // by operationId
	requests atomic.Int64

	mu     sync.Mutex
	packed map[string][]byte // by coding and body

	fault // none of it set keeps the contract
}

// fault is how a fake departs from the contract.
type fault struct {
	before   func(*http.Request) *answer                        // answers in place of all the rest; nil goes on
	accept   func(p *openapi3.Parameter, raw []string) *bool    // decides over the values of a parameter; nil goes on
	problem  func(errs []map[string]any, body map[string]any)   // bends the body of a 400
	answer   func(r *http.Request, operation string, a *answer) // bends an answer that is not encoded yet
	sent     func(r *http.Request, a *answer)                   // bends an answer as it is sent
	matching func(ifNoneMatch, etag string) bool                // takes the place of the comparison of ETags
	coding   func(acceptEncoding []string, coding string) bool  // takes the place of accepts
}

func newFake(t *testing.T, kit *Kit, planted fault) *fake {
	t.Helper()
	s := &fake{t: t, kit: kit, examples: map[string]answer{}, packed: map[string][]byte{}, fault: planted}
	for _, op := range kit.operations {
		s.examples[op.ID] = documentedAnswer(t, kit, op.Path, http.StatusOK)
	}
	return s
}

// do is the server as Fuzz asks it.
func (s *fake) do(r *http.Request) (*http.Response, []byte) {
	a := s.respond(r)
	return &http.Response{StatusCode: a.code, Header: a.header}, a.body
}

func (s *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.respond(r)
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body)
}

func (s *fake) respond(r *http.Request) answer {
	if s.before != nil {
		if a := s.before(r); a != nil {
			return *a
		}
	}
	id := fmt.Sprintf("req-%d", s.requests.Add(1))
	operation, a := s.plain(r)
	a.header.Set("X-Request-Id", id)
	if r.Header.Get("X-Api-Key") != "" {
		a.header.Set("X-Api-Key-Status", "unknown")
		a.header.Set("Cache-Control", contract.Private(a.header.Get("Cache-Control")))
	}
	if a.code == http.StatusOK {
		a.header.Set("ETag", tagOf(a.body))
		a.header.Set("Vary", "Accept-Encoding")
	}
	if s.answer != nil {
		s.answer(r, operation, &a)
	}
	s.encode(r, &a)
	if s.sent != nil {
		s.sent(r, &a)
	}
	return a
}

// plain is the answer before conditions and codings.
func (s *fake) plain(r *http.Request) (operation string, a answer) {
	route, err := s.kit.kin.route(r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "", s.refuse("", "method-not-allowed", nil)
	}
	if err != nil {
		return "", s.refuse("", routeNotFound, nil)
	}
	id := route.Operation.OperationID
	values, slug, extra := s.read(r, route.Path, parameters(route.PathItem, route.Operation))
	if slug != "" {
		return id, s.refuse(id, slug, extra)
	}
	example := s.examples[id]
	a = answer{code: http.StatusOK, header: example.header.Clone(), body: example.body}
	switch {
	case id == "getMarketLive" && values["per_chain"] != "":
		n, _ := strconv.Atoi(values["per_chain"]) // it fits already
		a = a.with(s.t, n, "per_chain")
	case id == "getTradeFeed" && strings.TrimSpace(r.URL.Query().Get("before")) != "":
		a = a.withHeader("Cache-Control", s.kit.operations[id].Cache.Older.Header())
	case id == "getHeartbeat":
		a = a.with(s.t, s.requests.Load(), "latency_ms")
	case strings.HasPrefix(values["mint"], "0x000"), strings.HasPrefix(values["mint_address"], "0x"):
		a = s.refuse(id, "token-not-found", map[string]any{"mint": "x"})
	}
	return id, a
}

// refuse makes a problem of the document's table.
func (s *fake) refuse(operation, slug string, extra map[string]any) answer {
	row := s.kit.problems[slug]
	body := map[string]any{"type": row.Type, "title": row.Title, "status": row.Status}
	if row.Type == "" {
		body["type"] = "https://docs.example.com/problems/" + slug
	}
	maps.Copy(body, extra)
	limit := s.kit.unrouted
	if op, ok := s.kit.operations[operation]; ok {
		limit = op.Limit
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	a := answer{code: row.Status, header: commonHeaders(limit), body: text}
	a.header.Set("Cache-Control", "no-store")
	a.header.Set("Content-Type", "application/problem+json")
	if operation == "getSharePage" {
		a.header.Set("Content-Type", htmlType)
		a.header.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'")
		a.body = onPage(a.body)
	}
	return a
}

// read takes the parameters from a request. A slug says that they can't be used.
func (s *fake) read(r *http.Request, path string, params []*openapi3.Parameter) (values map[string]string, slug string, extra map[string]any) {
	values, extra = map[string]string{}, map[string]any{}
	var errs []map[string]any
	for _, p := range params {
		raw := rawValues(r.URL, path, p)
		wrong, counts := s.readOne(values, p, raw)
		if isLenient(p) {
			wrong = ""
		}
		if s.accept != nil {
			if ok := s.accept(p, raw); ok != nil && *ok {
				wrong = ""
			} else if ok != nil {
				wrong = invalidParameter
			}
		}
		if wrong != "" {
			slug = wrong
			errs = append(errs, map[string]any{"name": p.Name, "in": p.In, "reason": "is wrong"})
			maps.Copy(extra, counts)
		}
	}
	if slug == "" {
		return values, "", nil
	}
	if len(errs) > 1 {
		slug = invalidParameter
		delete(extra, "max")
		delete(extra, "got")
	}
	extra["errors"] = errs
	if s.problem != nil {
		s.problem(errs, extra)
	}
	return nil, slug, extra
}

// rawValues are the values of a parameter as they stand in a target; those that are empty count as omitted.
func rawValues(u *url.URL, path string, p *openapi3.Parameter) []string {
	if p.In == openapi3.ParameterInPath {
		i := slices.IndexFunc(strings.Split(path, "/"), func(segment string) bool { return strings.HasPrefix(segment, "{"+p.Name+"}") })
		_, suffix, _ := strings.Cut(strings.Split(path, "/")[i], "}")
		return []string{strings.TrimSuffix(strings.Split(u.EscapedPath(), "/")[i], suffix)}
	}
	var values []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(key); err == nil && name == p.Name && value != "" {
			values = append(values, value)
		}
	}
	return values
}

func (s *fake) readOne(values map[string]string, p *openapi3.Parameter, raw []string) (wrong string, counts map[string]any) {
	items := raw
	if isList(p) {
		items = strings.Split(strings.Join(raw, ","), ",")
	}
	switch {
	case len(raw) == 0 && p.Required:
		return missingParameter, nil
	case len(raw) == 0:
		return "", nil
	case len(items) > 1 && !isList(p):
		return invalidParameter, nil
	}
	distinct := map[string]bool{}
	for _, item := range items {
		text, err := url.QueryUnescape(item)
		if p.In == openapi3.ParameterInPath {
			text, err = url.PathUnescape(item)
		}
		if isFreeText(p) {
			text = strings.TrimSpace(text)
		}
		if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) || !fits(scalarOf(p), text) {
			return invalidParameter, nil
		}
		distinct[text] = true
		values[p.Name] = text
	}
	if most := p.Schema.Value.MaxItems; isList(p) && most != nil && len(distinct) > int(*most) {
		return tooManyItems, map[string]any{"max": *most, "got": len(distinct)}
	}
	return "", nil
}

func fits(schema *openapi3.Schema, text string) bool {
	switch {
	case len(schema.Enum) > 0:
		return slices.Contains(schema.Enum, any(text))
	case schema.Type.Is(openapi3.TypeBoolean):
		return text == "true" || text == "false"
	case schema.Type.Is(openapi3.TypeInteger):
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && (schema.Min == nil || float64(n) >= *schema.Min) && (schema.Max == nil || float64(n) <= *schema.Max)
	}
	n := utf8.RuneCountInString(text)
	return n >= int(schema.MinLength) && (schema.MaxLength == nil || n <= int(*schema.MaxLength)) &&
		regexp.MustCompile(schema.Pattern).MatchString(text)
}

// encode applies what the request says of the form of its answer.
func (s *fake) encode(r *http.Request, a *answer) {
	matches, codes := namesTag, accepts
	if s.matching != nil {
		matches = s.matching
	}
	if s.coding != nil {
		codes = s.coding
	}
	if a.code == http.StatusOK && matches(strings.Join(r.Header.Values("If-None-Match"), ","), a.header.Get("ETag")) {
		a.code, a.body = http.StatusNotModified, nil
		a.header.Del("Content-Type")
		a.header.Del("Content-Security-Policy")
		return
	}
	for _, coding := range []string{"zstd", "gzip"} {
		if a.code == http.StatusOK && codes(r.Header.Values("Accept-Encoding"), coding) {
			a.body = s.pack(coding, a.body)
			a.header.Set("Content-Encoding", coding)
			break
		}
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	if r.Method == http.MethodHead {
		a.body = nil
	}
}

func namesTag(ifNoneMatch, etag string) bool {
	return strings.TrimSpace(ifNoneMatch) == "*" || strings.Contains(ifNoneMatch, strings.TrimPrefix(etag, "W/"))
}

// pack compresses, once for each body.
func (s *fake) pack(coding string, body []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := coding + string(body)
	if s.packed[key] == nil {
		s.packed[key] = answer{header: http.Header{}}.compressed(s.t, coding, body).body
	}
	return s.packed[key]
}
