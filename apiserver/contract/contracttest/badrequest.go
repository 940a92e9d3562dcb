package contracttest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// BadRequest is a GET that the document rules out: everything that is required has its example, and one parameter
// is wrong. The answer must be a 400 that names the parameter.
type BadRequest struct {
	Operation string // operationId
	Param     string // name of the parameter at fault
	In        string // "query" or "path"
	Why       string // what is wrong with it
	Target    string // path and query, escaped

	Slugs    []string // problem types that say so; empty is invalid-parameter
	Max, Got int      // of a list that is too long; else 0
}

// Name tells bad requests of a kit apart, as the name of a subtest.
func (b BadRequest) Name() string { return b.Operation + "/" + b.Param + "/" + b.Why }

// The problem types of a bad parameter.
const (
	invalidParameter   = "invalid-parameter"
	missingParameter   = "missing-parameter"
	tooManyItems       = "too-many-items"
	unsupportedChain   = "unsupported-chain"
	unsupportedAddress = "unsupported-address"
)

// RequireBadRequest fails unless the response to b is a 400 whose errors name the parameter, and of a type that says
// what is wrong with it: missing-parameter for one that is required and absent or empty; too-many-items, with how many
// there may be and how many there were; unsupported-chain or unsupported-address, which a chain or an address may get
// instead; else invalid-parameter. It doesn't check the response otherwise: that is for Check.
func (k *Kit) RequireBadRequest(tb testing.TB, b BadRequest, status int, body []byte) {
	tb.Helper()
	if status != http.StatusBadRequest {
		tb.Errorf("GET %s answered %d, want 400: %s %s: %s", b.Target, status, b.Param, b.Why, clip(body))
		return
	}
	body = problemOf(body)
	var problem contract.Problem
	if err := json.Unmarshal(body, &problem); err != nil {
		tb.Errorf("GET %s: %v", b.Target, err)
		return
	}
	named := slices.ContainsFunc(problem.Errors, func(e contract.ParameterError) bool {
		return e.Name == b.Param && string(e.In) == b.In
	})
	if !named {
		tb.Errorf("GET %s: errors don't name %s in %s: %s", b.Target, b.Param, b.In, clip(body))
	}
	slugs := b.Slugs
	if len(slugs) == 0 {
		slugs = []string{invalidParameter}
	}
	if slug := problem.Type[strings.LastIndex(problem.Type, "/")+1:]; !slices.Contains(slugs, slug) {
		tb.Errorf("GET %s: the problem is %q, want %q: %s", b.Target, slug, slugs, b.Why)
	}
	if b.Max > 0 {
		// As they stand in the body: a member that is missing is not 0.
		var counts struct{ Max, Got *int }
		if err := json.Unmarshal(body, &counts); err != nil || counts.Max == nil || counts.Got == nil || *counts.Max != b.Max || *counts.Got != b.Got {
			tb.Errorf("GET %s: want max %d and got %d: %s", b.Target, b.Max, b.Got, clip(body))
		}
	}
}

// BadRequests derives from the document, for each path and query parameter: left out where it is required; of another
// type; outside its enum, range, pattern or length, which counts characters and not bytes; of more items than a list
// may have; given twice where it is no list; text that is no text. It panics where the document gives a required
// parameter no example, since then nothing valid can stand beside the fault.
func (k *Kit) BadRequests() []BadRequest {
	var all []BadRequest
	for _, path := range k.doc.Paths.InMatchingOrder() {
		op := k.doc.Paths.Value(path).Get
		if op == nil {
			continue
		}
		params := parameters(k.doc.Paths.Value(path), op)
		for _, param := range params {
			if isLenient(param) {
				continue
			}
			for _, bad := range badValues(param) {
				all = append(all, BadRequest{
					Operation: op.OperationID, Param: param.Name, In: param.In, Why: bad.why,
					Target: target(path, params, param, bad.raw), Slugs: bad.slugs, Max: bad.max, Got: bad.got,
				})
			}
		}
	}
	return all
}

// isLenient says that a value against the rules of a parameter counts as omitted (x-lenient).
func isLenient(param *openapi3.Parameter) bool { return param.Extensions["x-lenient"] == true }

// parameters are those of path and query.
func parameters(item *openapi3.PathItem, op *openapi3.Operation) []*openapi3.Parameter {
	var params []*openapi3.Parameter
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		if ref.Value.In == openapi3.ParameterInPath || ref.Value.In == openapi3.ParameterInQuery {
			params = append(params, ref.Value)
		}
	}
	return params
}

// target is path with an example for each required parameter, and the raw values, which are escaped already, for the
// one at fault: one for each time that it is given.
func target(path string, params []*openapi3.Parameter, fault *openapi3.Parameter, raw []string) string {
	var query []string
	for _, param := range params {
		values := raw
		if param != fault {
			if !param.Required {
				continue
			}
			values = []string{escape(param, exampleOf(param))}
		}
		for _, value := range values {
			if param.In == openapi3.ParameterInPath {
				path = strings.ReplaceAll(path, "{"+param.Name+"}", value)
			} else {
				query = append(query, param.Name+"="+value)
			}
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + strings.Join(query, "&")
}

// escape writes a value as it stands in a target. The commas of a list stay as they are.
func escape(param *openapi3.Parameter, value string) string {
	if param.In == openapi3.ParameterInPath {
		return url.PathEscape(value)
	}
	escaped := url.QueryEscape(value)
	if isList(param) {
		escaped = strings.ReplaceAll(escaped, "%2C", ",")
	}
	return escaped
}
