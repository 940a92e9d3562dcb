// Package contracttest holds an HTTP server to the public document. Two validators must both accept every response,
// kin-openapi with its own schema engine and libopenapi-validator with that of santhosh-tekuri/jsonschema; keywords that
// are new in JSON Schema 2020-12 (if, const, unevaluated…) mean something to the latter alone. What no schema can say is
// checked beside them: headers that hang together, problem types, and why a figure is unknown. Only tests import this
// package.
package contracttest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// Kit checks responses against the document. It remembers which documented statuses it has seen, and the bodies that
// ETags stood for. It is safe for parallel tests.
type Kit struct {
	doc        *openapi3.T
	operations map[string]contract.Operation // by operationId
	problems   map[string]problemType        // by slug
	unrouted   contract.Limit
	kin        *kinValidator
	pb33f      *pb33fValidator

	answered *memory

	mu   sync.Mutex
	seen map[Status]bool
}

// Status is one documented answer of an operation.
type Status struct {
	Operation string // operationId; in a skip, empty means every operation
	Code      int    // HTTP status
}

func (s Status) String() string {
	if s.Operation == "" {
		return strconv.Itoa(s.Code)
	}
	return s.Operation + " " + strconv.Itoa(s.Code)
}

// New returns a kit for the document of package contract; a broken document fails the test.
func New(tb testing.TB) *Kit {
	tb.Helper()
	kit, err := Load()
	if err != nil {
		tb.Fatal(err)
	}
	return kit
}

// Load is New for where there is no test yet, as in TestMain.
func Load() (*Kit, error) {
	operations, err := contract.Operations()
	if err != nil {
		return nil, err
	}
	return load(contract.Document(), operations)
}

func load(source []byte, operations []contract.Operation) (*Kit, error) {
	kin, err := newKin(source)
	if err != nil {
		return nil, fmt.Errorf("contracttest: kin-openapi: %w", err)
	}
	pb33f, err := newPB33F(source)
	if err != nil {
		return nil, fmt.Errorf("contracttest: libopenapi: %w", err)
	}
	kit := &Kit{
		doc:        kin.doc,
		operations: make(map[string]contract.Operation, len(operations)),
		kin:        kin,
		pb33f:      pb33f,
		answered:   newMemory(),
		seen:       map[Status]bool{},
	}
	for _, op := range operations {
		if _, double := kit.operations[op.ID]; double {
			return nil, fmt.Errorf("contracttest: operationId %s is used twice", op.ID)
		}
		kit.operations[op.ID] = op
	}
	if kit.problems, err = readProblems(kin.doc); err != nil {
		return nil, err
	}
	if kit.unrouted, err = readUnrouted(kin.doc); err != nil {
		return nil, err
	}
	return kit, nil
}

// Check fails the test for each way in which a response is not as documented; Verify says what it looks at. A HEAD
// request is held to the operation's GET without a body; a method that the path does not have must be answered 405.
// OPTIONS stands in no document, so preflights are tested elsewhere.
func (k *Kit) Check(tb testing.TB, req *http.Request, res *http.Response, body []byte) {
	tb.Helper()
	if err := k.Verify(req, res, body); err != nil {
		tb.Errorf("%s %s answered %d\n%v\nbody: %s", req.Method, req.URL, res.StatusCode, err, clip(body))
	}
}

// checkUnrouted fails the test unless a path that stands in no document is answered 404 route-not-found, with
// everything that every answer has, counted by the limit that such paths share (x-unrouted).
func (k *Kit) checkUnrouted(tb testing.TB, req *http.Request, res *http.Response, body []byte) {
	tb.Helper()
	if err := k.verifyUnrouted(req, res, body); err != nil {
		tb.Errorf("%s %s answered %d\n%v\nbody: %s", req.Method, req.URL, res.StatusCode, err, clip(body))
	}
}

func (k *Kit) verifyUnrouted(req *http.Request, res *http.Response, body []byte) error {
	if route, err := k.kin.route(req); err == nil {
		return rule("route", fmt.Errorf("%s is documented: %s", req.URL.Path, route.Operation.OperationID))
	}
	ref := k.doc.Components.Responses["NotFound"]
	if res.StatusCode != http.StatusNotFound {
		return rule("status", fmt.Errorf("%d for a path that stands in no document, want 404", res.StatusCode))
	}
	route := &routers.Route{Spec: k.doc, Operation: &openapi3.Operation{
		Responses: openapi3.NewResponses(openapi3.WithStatus(http.StatusNotFound, ref)),
	}}
	r := newReply(req, res, body)
	return errors.Join(
		k.common(r, route.Operation, k.unrouted),
		rule("problem", requireSlug(r, routeNotFound)),
		rule("undeclared", undeclared(ref.Value, r)),
		rule("kin-openapi", k.kin.verify(route, req, r)),
	)
}

// Verify is Check with an error, which joins all findings. A response without findings counts as seen. It looks at
//   - route, status, headers and body, by both validators, and at headers and members that the document doesn't name;
//   - the headers of every answer: any origin, no cookie, Vary, Cache-Control by x-cache or no-store, the limit by
//     x-rate-limit, and on 429 that header and body say the same;
//   - ETag: of its form, and the same for the same bytes of a path and query, compressed or not, and for no others;
//   - a problem: of the table x-problems, with no members beyond those of its type, and request_id on 500 and 503;
//   - the figures of a 200: numbers, and why those are null that are.
//
// A body may be compressed as Content-Encoding says: gzip or zstd.
func (k *Kit) Verify(req *http.Request, res *http.Response, body []byte) error {
	return k.verify(req, res, body, k.answered)
}

// verify is Verify with another memory of what ETags stood for.
func (k *Kit) verify(req *http.Request, res *http.Response, body []byte, known *memory) error {
	asGet, err := documentedRequest(req, res)
	if err != nil {
		return rule("route", err)
	}
	for _, op := range k.operations {
		if op.Alias != "" && asGet.URL.Path == op.Alias {
			asGet.URL.Path, asGet.URL.RawPath = op.Path, ""
		}
	}
	route, err := k.kin.route(asGet)
	if err != nil {
		return rule("route", fmt.Errorf("no such route in the document: %w", err))
	}
	id := route.Operation.OperationID
	status := Status{Operation: id, Code: res.StatusCode}
	response := route.Operation.Responses.Status(res.StatusCode)
	if response == nil {
		return rule("status", fmt.Errorf("undocumented status: %s", status))
	}
	r := newReply(req, res, body)
	limit := k.operations[id].Limit
	if slug := r.slug(); slug == routeNotFound {
		limit = k.unrouted
		if !ambiguous(asGet.URL) {
			err = fmt.Errorf("%s for a path of the document", slug)
		}
	} else if ambiguous(asGet.URL) && strings.Contains(r.header.Get("RateLimit-Policy"), strconv.Quote(k.unrouted.Name)) {
		limit = k.unrouted
	}
	found := errors.Join(
		rule("route", err),
		k.common(r, route.Operation, limit),
		rule("Cache-Control", checkCache(k.operations[id].Cache, r)),
		rule("ETag", checkETag(r, known)),
		rule("figures", checkFigures(response.Value, r)),
		rule("events", k.checkEvents(r)),
		rule("undeclared", undeclared(response.Value, r)),
		rule("kin-openapi", k.kin.verify(route, asGet, r)),
		rule("libopenapi-validator", k.pb33f.verify(k.plain(route), r)),
	)
	if found != nil {
		return found
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen[status] = true
	return nil
}

// common checks what every answer has, on a path of the document or elsewhere.
func (k *Kit) common(r *reply, op *openapi3.Operation, limit contract.Limit) error {
	var found error
	if r.bodiless && r.undecoded == nil && len(r.wire) > 0 {
		found = fmt.Errorf("%d bytes of body where there is none", len(r.wire))
	}
	return errors.Join(
		rule("body", found),
		rule("Content-Encoding", r.undecoded),
		rule("origin", checkOrigin(r.header)),
		rule("Vary", checkVary(r)),
		rule("limit", checkLimit(limit, r)),
		rule("X-Api-Key-Status", checkKeyStatus(r)),
		rule("problem", k.checkProblem(r, op)),
	)
}

// Unseen returns the documented statuses that no response had, less those of skip. The error names each skip that was
// not needed.
func (k *Kit) Unseen(skip ...Status) ([]Status, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var unseen []Status
	needed := map[Status]bool{}
	for _, status := range k.documented() {
		anyOperation := Status{Code: status.Code}
		switch {
		case k.seen[status]:
		case slices.Contains(skip, status):
			needed[status] = true
		case slices.Contains(skip, anyOperation):
			needed[anyOperation] = true
		default:
			unseen = append(unseen, status)
		}
	}
	var idle []error
	for _, s := range skip {
		if !needed[s] {
			idle = append(idle, fmt.Errorf("skip %q is not needed", s))
		}
	}
	return unseen, errors.Join(idle...)
}

// requireAllStatuses fails when a documented status was never seen by Check, or a skip is not needed.
func (k *Kit) requireAllStatuses(tb testing.TB, skip ...Status) {
	tb.Helper()
	unseen, err := k.Unseen(skip...)
	if err != nil {
		tb.Error(err)
	}
	for _, status := range unseen {
		tb.Errorf("documented, but no test produced it: %s", status)
	}
}

// documented returns every operation with each of its statuses, sorted.
func (k *Kit) documented() []Status {
	var all []Status
	for _, item := range k.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for code := range op.Responses.Map() {
				if n, err := strconv.Atoi(code); err == nil {
					all = append(all, Status{op.OperationID, n})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Code, b.Code))
	})
	return all
}

// RouteParity fails for each route that is not documented and each documented operation that has no route, compared by
// id, method and path template.
func (k *Kit) RouteParity(tb testing.TB, routes []contract.Operation) {
	tb.Helper()
	type key struct{ id, method, path string }
	bare := func(op contract.Operation) key { return key{op.ID, op.Method, op.Path} }
	served := map[key]bool{}
	for _, route := range routes {
		r := bare(route)
		if served[r] {
			tb.Errorf("served twice: %s %s %s", r.id, r.method, r.path)
		}
		served[r] = true
		if documented, ok := k.operations[r.id]; !ok || bare(documented) != r {
			tb.Errorf("served, but not documented: %s %s %s", r.id, r.method, r.path)
		}
	}
	for _, op := range k.operations {
		if !served[bare(op)] {
			tb.Errorf("documented, but not served: %s %s %s", op.ID, op.Method, op.Path)
		}
	}
}

func clip(body []byte) []byte {
	const most = 2000
	if len(body) <= most {
		return body
	}
	return append(slices.Clone(body[:most]), "..."...)
}
