package contracttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// routeNotFound is the problem of a path that is no operation.
const routeNotFound = "route-not-found"

// problemType is a row of the document's x-problems.
type problemType struct {
	Type    string            `json:"type"` // "" for the service's own, which end in their slug
	Status  int               `json:"status"`
	Title   string            `json:"title"`
	Members map[string]string `json:"members"`
}

// The table is read from the document anew instead of being taken from package contract: the server takes it from
// there, and one reader's fault must not excuse the other.
func readProblems(doc *openapi3.T) (map[string]problemType, error) {
	table := map[string]problemType{}
	return table, extension(doc, "x-problems", &table)
}

func readUnrouted(doc *openapi3.T) (contract.Limit, error) {
	var unrouted struct {
		Limit struct {
			Name     string `json:"name"`
			Requests int    `json:"requests"`
			WindowS  int    `json:"window_s"`
		} `json:"rate_limit"`
	}
	err := extension(doc, "x-unrouted", &unrouted)
	return contract.Limit{Name: unrouted.Limit.Name, Requests: unrouted.Limit.Requests, WindowS: unrouted.Limit.WindowS}, err
}

func extension(doc *openapi3.T, name string, into any) error {
	value, ok := doc.Extensions[name]
	if !ok {
		return nil
	}
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("contracttest: %s: %w", name, err)
	}
	return nil
}

// checkProblem holds the body of an error to the row of its type in x-problems.
func (k *Kit) checkProblem(r *reply, op *openapi3.Operation) error {
	if r.status < http.StatusBadRequest || r.bodiless {
		return nil
	}
	body := r.object()
	if body == nil {
		return errors.New("the body is no JSON object")
	}
	slug := r.slug()
	row, ok := k.problems[slug]
	if !ok {
		return fmt.Errorf("type %v is not in x-problems", body["type"])
	}
	var found []error
	kind, _ := body["type"].(string)
	if row.Type != "" && kind != row.Type || row.Type == "" && !strings.HasSuffix(kind, "/problems/"+slug) {
		found = append(found, fmt.Errorf("type is %q", kind))
	}
	if body["status"] != float64(r.status) || row.Status != r.status {
		found = append(found, fmt.Errorf("status is %v in the body, %d in x-problems, %d in the answer", body["status"], row.Status, r.status))
	}
	if body["title"] != row.Title {
		found = append(found, fmt.Errorf("title is %q, x-problems says %q", body["title"], row.Title))
	}
	for _, name := range sortedKeys(body) {
		_, own := row.Members[name]
		if !own && !slices.Contains([]string{"type", "title", "status", "detail", "instance"}, name) {
			found = append(found, fmt.Errorf("%s is no member of a problem %s", name, slug))
		}
	}
	if _, named := row.Members["request_id"]; named && body["request_id"] != r.header.Get("X-Request-Id") {
		found = append(found, fmt.Errorf("request_id is %v, X-Request-Id %q", body["request_id"], r.header.Get("X-Request-Id")))
	}
	if _, named := row.Members["errors"]; named {
		found = append(found, checkNamed(r, op))
	}
	return errors.Join(found...)
}

// checkNamed wants errors to name parameters, and only those that the operation has.
func checkNamed(r *reply, op *openapi3.Operation) error {
	var problem contract.Problem
	if err := json.Unmarshal(problemOf(r.body), &problem); err != nil {
		return err
	}
	if len(problem.Errors) == 0 {
		return errors.New("no parameter is named")
	}
	var found []error
	for _, e := range problem.Errors {
		if op.Parameters.GetByInAndName(string(e.In), e.Name) == nil {
			found = append(found, fmt.Errorf("errors name %q in %s, which is no parameter here", e.Name, e.In))
		}
	}
	return errors.Join(found...)
}

func requireSlug(r *reply, want string) error {
	if got := r.slug(); !r.bodiless && got != want {
		return fmt.Errorf("the problem is %q, want %q", got, want)
	}
	return nil
}

// ambiguous reports whether a path is read as another one by some: a slash that is written %2f, a dot segment. Such a
// path may be answered as one that stands in no document, although its template does.
func ambiguous(u *url.URL) bool {
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "." || text == ".." || strings.Contains(text, "/") {
			return true
		}
	}
	return false
}
