// Package contracttest holds an HTTP server to the public document. Two validators must both accept every response,
// kin-openapi with its own schema engine and libopenapi-validator with that of santhosh-tekuri/jsonschema; only keywords
// that are new in JSON Schema 2020-12 (if, const, unevaluated…) go to the latter in both. Only tests import this package.
package contracttest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// Kit checks responses against the document and remembers which documented statuses it has seen. It is safe for
// parallel tests.
type Kit struct {
	doc        *openapi3.T
	operations map[string]contract.Operation // by operationId
	kin        *kinValidator
	pb33f      *pb33fValidator

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
		seen:       map[Status]bool{},
	}
	for _, op := range operations {
		if _, double := kit.operations[op.ID]; double {
			return nil, fmt.Errorf("contracttest: operationId %s is used twice", op.ID)
		}
		kit.operations[op.ID] = op
	}
	return kit, nil
}

// Check fails the test for each way in which a response is not as documented: route, status, headers or body. A HEAD
// request is held to the operation's GET without a body; a method that the path does not have must be answered 405.
// OPTIONS stands in no document, so preflights are tested elsewhere.
func (k *Kit) Check(tb testing.TB, req *http.Request, res *http.Response, body []byte) {
	tb.Helper()
	if err := k.Verify(req, res, body); err != nil {
		tb.Errorf("%s %s answered %d\n%v\nbody: %s", req.Method, req.URL, res.StatusCode, err, clip(body))
	}
}

// CheckUnrouted fails the test unless a path that stands in no document is answered as NotFound is documented.
func (k *Kit) CheckUnrouted(tb testing.TB, req *http.Request, res *http.Response, body []byte) {
	tb.Helper()
	if route, err := k.kin.route(req); err == nil {
		tb.Errorf("%s is documented: %s", req.URL.Path, route.Operation.OperationID)
		return
	}
	ref := k.doc.Components.Responses["NotFound"]
	route := &routers.Route{Spec: k.doc, Operation: &openapi3.Operation{
		Responses: openapi3.NewResponses(openapi3.WithStatus(http.StatusNotFound, ref)),
	}}
	bodiless := req.Method == http.MethodHead
	err := errors.Join(undeclared(ref.Value, res.Header, body), k.kin.verify(route, req, res, body, bodiless))
	if err != nil {
		tb.Errorf("%s %s answered %d\n%v\nbody: %s", req.Method, req.URL, res.StatusCode, err, clip(body))
	}
}

// Verify is Check with an error, which joins all findings. A response without findings counts as seen.
func (k *Kit) Verify(req *http.Request, res *http.Response, body []byte) error {
	bodiless := req.Method == http.MethodHead || res.StatusCode == http.StatusNotModified
	asGet, err := documentedRequest(req, res)
	if err != nil {
		return err
	}
	route, err := k.kin.route(asGet)
	if err != nil {
		return fmt.Errorf("no such route in the document: %w", err)
	}
	id := route.Operation.OperationID
	status := Status{Operation: id, Code: res.StatusCode}
	response := route.Operation.Responses.Status(res.StatusCode)
	if response == nil {
		return fmt.Errorf("undocumented status: %s", status)
	}
	var found []error
	if bodiless && len(body) > 0 {
		found = append(found, fmt.Errorf("%d bytes of body where there is none", len(body)))
	}
	found = append(found,
		k.checkCache(id, res),
		undeclared(response.Value, res.Header, body),
		wrap("kin-openapi", k.kin.verify(route, asGet, res, body, bodiless)),
		wrap("libopenapi-validator", k.pb33f.verify(asGet, res, body, bodiless)),
	)
	if err := errors.Join(found...); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen[status] = true
	return nil
}

// checkCache holds Cache-Control to x-cache, which no validator reads. Errors are held to no-store by their schema.
func (k *Kit) checkCache(id string, res *http.Response) error {
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNotModified {
		return nil
	}
	cache, got := k.operations[id].Cache, res.Header.Get("Cache-Control")
	if got != cache.Header() && got != cache.ClosedHeader() {
		return fmt.Errorf("Cache-Control is %q, x-cache says %q", got, cache.Header())
	}
	return nil
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

// RequireAllStatuses fails when a documented status was never seen by Check, or a skip is not needed.
func (k *Kit) RequireAllStatuses(tb testing.TB, skip ...Status) {
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
	served := map[routeKey]bool{}
	for _, route := range routes {
		key := bare(route)
		if served[key] {
			tb.Errorf("served twice: %s %s %s", key.ID, key.Method, key.Path)
		}
		served[key] = true
		if documented, ok := k.operations[key.ID]; !ok || bare(documented) != key {
			tb.Errorf("served, but not documented: %s %s %s", key.ID, key.Method, key.Path)
		}
	}
	for _, op := range k.operations {
		if !served[bare(op)] {
			tb.Errorf("documented, but not served: %s %s %s", op.ID, op.Method, op.Path)
		}
	}
}

type routeKey struct{ ID, Method, Path string }

func bare(op contract.Operation) routeKey { return routeKey{op.ID, op.Method, op.Path} }

func wrap(validator string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", validator, err)
}

func clip(body []byte) []byte {
	const most = 2000
	if len(body) <= most {
		return body
	}
	return append(slices.Clone(body[:most]), "..."...)
}
