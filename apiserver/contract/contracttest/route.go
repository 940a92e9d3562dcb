package contracttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/routers"
)

// route finds the operation of a request by its escaped path; a HEAD has that of GET. Where two templates match, the one
// with the earlier literal wins: /api/token/info/candles is the info of a token named candles. kin-openapi's routers
// decide otherwise.
func (v *kinValidator) route(req *http.Request) (*routers.Route, error) {
	segments := strings.Split(req.URL.EscapedPath(), "/")
	var best []string
	for template := range v.doc.Paths.Map() {
		candidate := strings.Split(template, "/")
		if matches(candidate, segments) && (best == nil || slices.CompareFunc(candidate, best, literalFirst) < 0) {
			best = candidate
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no such path: %s", req.URL.EscapedPath())
	}
	path := strings.Join(best, "/")
	item := v.doc.Paths.Value(path)
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	operation := item.GetOperation(method)
	if operation == nil {
		return nil, fmt.Errorf("%s has no %s", path, method)
	}
	return &routers.Route{Spec: v.doc, Path: path, PathItem: item, Method: method, Operation: operation}, nil
}

func matches(template, segments []string) bool {
	return slices.EqualFunc(template, segments, func(want, got string) bool {
		if before, rest, ok := strings.Cut(want, "{"); ok {
			_, after, _ := strings.Cut(rest, "}") // as in {mint}.png
			return len(got) > len(before)+len(after) && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
		}
		return want == got
	})
}

func literalFirst(a, b string) int {
	if isA, isB := strings.Contains(a, "{"), strings.Contains(b, "{"); isA != isB {
		if isB {
			return -1
		}
		return 1
	}
	return 0
}
