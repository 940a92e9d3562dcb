package contracttest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
}

// Name tells bad requests of a kit apart, as the name of a subtest.
func (b BadRequest) Name() string { return b.Operation + "/" + b.Param + "/" + b.Why }

// RequireBadRequest fails unless the response to b is a 400 whose errors name the parameter. It doesn't check the
// response otherwise: that is for Check.
func (k *Kit) RequireBadRequest(tb testing.TB, b BadRequest, status int, body []byte) {
	tb.Helper()
	if status != http.StatusBadRequest {
		tb.Errorf("GET %s answered %d, want 400: %s %s", b.Target, status, b.Param, b.Why)
		return
	}
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
}

// BadRequests derives from the document, for each path and query parameter: left out where it is required; of another
// type; outside its enum, range, pattern or length. It panics where the document gives a required parameter no example,
// since then nothing valid can stand beside the fault.
func (k *Kit) BadRequests() []BadRequest {
	var all []BadRequest
	for _, path := range k.doc.Paths.InMatchingOrder() {
		op := k.doc.Paths.Value(path).Get
		if op == nil {
			continue
		}
		params := append(slices.Clone(k.doc.Paths.Value(path).Parameters), op.Parameters...)
		for _, ref := range params {
			param := ref.Value
			if param.In != openapi3.ParameterInPath && param.In != openapi3.ParameterInQuery {
				continue
			}
			add := func(why string, value *string) {
				all = append(all, BadRequest{op.OperationID, param.Name, param.In, why, target(path, params, param, value)})
			}
			if param.In == openapi3.ParameterInQuery && param.Required {
				add("omitted", nil)
				add("empty", new(""))
			}
			for _, bad := range badValues(param) {
				add(bad.why, &bad.value)
			}
		}
	}
	return all
}

type badValue struct{ why, value string }

func badValues(param *openapi3.Parameter) []badValue {
	schema := param.Schema.Value
	switch {
	case len(schema.Enum) > 0:
		return []badValue{{"outside its enum", "no-such-value"}}
	case schema.Type.Is(openapi3.TypeBoolean):
		return []badValue{{"no boolean", "maybe"}}
	case schema.Type.Is(openapi3.TypeInteger):
		bad := []badValue{{"no number", "abc"}, {"no integer", "1.5"}, {"beyond 64 bits", "99999999999999999999"}}
		return append(bad, outsideRange(schema)...)
	case schema.Type.Is(openapi3.TypeNumber):
		return append([]badValue{{"no number", "abc"}, {"not finite", "NaN"}}, outsideRange(schema)...)
	case schema.Type.Is(openapi3.TypeString):
		return badStrings(param)
	}
	return nil
}

func outsideRange(schema *openapi3.Schema) []badValue {
	var bad []badValue
	if schema.Min != nil {
		bad = append(bad, badValue{"under its minimum", decimal(math.Ceil(*schema.Min) - 1)})
	}
	if schema.Max != nil {
		bad = append(bad, badValue{"over its maximum", decimal(math.Floor(*schema.Max) + 1)})
	}
	return bad
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func badStrings(param *openapi3.Parameter) []badValue {
	schema := param.Schema.Value
	var bad []badValue
	if schema.Pattern != "" {
		pattern := regexp.MustCompile(schema.Pattern)
		example := exampleOf(param)
		for _, c := range []badValue{
			{"against its pattern", "!"},
			{"with a head against its pattern", "!" + example},
			{"with a tail against its pattern", example + "!"},
		} {
			if !pattern.MatchString(c.value) {
				bad = append(bad, c)
			}
		}
	}
	if schema.MaxLength != nil {
		bad = append(bad, badValue{"over its length", strings.Repeat("a", int(*schema.MaxLength)+1)})
	}
	return bad
}

// target is path with an example for each required parameter, and value for the one at fault; nil leaves that one out.
func target(path string, params openapi3.Parameters, fault *openapi3.Parameter, value *string) string {
	query := url.Values{}
	for _, ref := range params {
		param, text := ref.Value, ""
		switch {
		case param == fault && value == nil, param != fault && !param.Required:
			continue
		case param == fault:
			text = *value
		default:
			text = exampleOf(param)
		}
		switch param.In {
		case openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+param.Name+"}", url.PathEscape(text))
		case openapi3.ParameterInQuery:
			query.Set(param.Name, text)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// exampleOf returns the example of a parameter, "" for an optional one without any.
func exampleOf(param *openapi3.Parameter) string {
	if param.Example != nil {
		return fmt.Sprint(param.Example)
	}
	if param.Required {
		panic(fmt.Sprintf("contracttest: the document gives %s in %s no example", param.Name, param.In))
	}
	return ""
}
