package contracttest

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// longest is what a target may have, so that the head of the request stays below what a server reads.
const longest = 8000

// given is what a request has for one parameter.
type given struct {
	param *openapi3.Parameter
	raw   []string // its values, escaped
	extra []string // what else stands in the query because of it
}

// attempt draws a request.
func (f *fuzzer) attempt(t *rapid.T) attempt {
	op := rapid.SampledFrom(f.operations).Draw(t, "operation")
	a := attempt{operation: op.id, method: http.MethodGet, header: http.Header{}}
	// Most requests have at most one thing wrong: two would hide each other.
	wrong := rapid.SampledFrom([]string{"nothing", "one", "several"}).Draw(t, "wrong")
	one := rapid.IntRange(0, max(0, len(op.params)-1)).Draw(t, "which")
	path, query := op.path, []string(nil)
	for i, param := range op.params {
		hostile := wrong == "one" && i == one || wrong == "several" && rapid.Bool().Draw(t, "hostile")
		g := f.give(t, param, hostile)
		a.given = append(a.given, g)
		for _, raw := range g.raw {
			if param.In == openapi3.ParameterInPath {
				path = strings.ReplaceAll(path, "{"+param.Name+"}", raw)
			} else {
				query = append(query, param.Name+"="+raw)
			}
		}
		query = append(query, g.extra...)
	}
	a.target = joined(path, query)
	if len(a.target) > longest {
		t.Skip("too long")
	}
	a.twist = f.twist(t, path, query, a.given)
	f.headers(t, &a)
	return a
}

func joined(path string, query []string) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + strings.Join(query, "&")
}

// twist draws what is asked beside the request.
func (f *fuzzer) twist(t *rapid.T, path string, query []string, all []given) twist {
	w := twist{
		kind:   rapid.SampledFrom([]string{plain, asHead, known, unknown, coded, padded}).Draw(t, "twist"),
		method: rapid.SampledFrom([]string{http.MethodGet, http.MethodHead}).Draw(t, "its method"),
	}
	switch w.kind {
	case known:
		w.value = rapid.SampledFrom(namingTags).Draw(t, "tag")
	case unknown:
		w.value = rapid.SampledFrom(otherTags).Draw(t, "tag")
	case coded:
		w.value = rapid.SampledFrom(codings).Draw(t, "coding")
	case padded:
		some := slices.Clone(paddings)
		for _, g := range all {
			name := g.param.Name
			some = append(some, name+"[]=1", name+"[0]=1", name+".x=1", strings.ToUpper(name)+"=1", "%20"+name+"=1")
			if g.param.In == openapi3.ParameterInQuery && !g.param.Required && len(g.raw) == 0 {
				some = append(some, name+"=", name)
			}
		}
		padding := rapid.SampledFrom(some).Draw(t, "padding")
		w.value = joined(path, append(slices.Clone(query), padding))
		if rapid.Bool().Draw(t, "in front") {
			w.value = joined(path, append([]string{padding}, query...))
		}
	}
	return w
}

// headers draws the headers and the method of the first request. A twist that adds a header has no other of its name.
func (f *fuzzer) headers(t *rapid.T, a *attempt) {
	if a.twist.kind != asHead {
		a.method = a.twist.method
	}
	names := sortedKeys(hostileHeaders)
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		name := rapid.SampledFrom(names).Draw(t, "header")
		value := rapid.SampledFrom(hostileHeaders[name]).Draw(t, "value")
		conditional := name == "If-None-Match" && (a.twist.kind == known || a.twist.kind == unknown)
		if !conditional && (name != "Accept-Encoding" || a.twist.kind != coded) {
			a.header.Add(name, value)
		}
	}
}

// give draws what a request has for one parameter.
func (f *fuzzer) give(t *rapid.T, param *openapi3.Parameter, hostile bool) given {
	g := given{param: param}
	if !hostile {
		if param.Required || rapid.IntRange(0, 2).Draw(t, "given") == 2 {
			g.raw = []string{escape(param, f.good(t, param))}
		}
		return g
	}
	if param.In == openapi3.ParameterInPath {
		g.raw = []string{rapid.SampledFrom(hostileSegments).Draw(t, "segment")}
		if rapid.Bool().Draw(t, "after a good one") {
			g.raw[0] = escape(param, f.good(t, param)) + g.raw[0]
		}
		return g
	}
	good := escape(param, f.good(t, param))
	odd := f.odd(t, param)
	if isList(param) {
		odd = rapid.SampledFrom([]string{odd, good + "," + odd, odd + "," + good, good + "," + odd + "," + good}).Draw(t, "where")
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1:
		g.raw = []string{odd}
	case 2:
		g.raw = []string{good, rapid.SampledFrom([]string{good, odd}).Draw(t, "again")}
	case 3:
		g.raw = []string{good + rapid.SampledFrom([]string{";x=1", "%00", "%ff", "%zz", "%20", "%0a", ",", odd}).Draw(t, "tail")}
	case 4:
		g.extra = []string{param.Name + rapid.SampledFrom([]string{"[]=", "[0]=", "[a]=", "%5B%5D="}).Draw(t, "brackets") + good}
	case 5: // left out, even if it is required
	}
	return g
}

// odd draws a value that the document rules out, or one that is strange, escaped.
func (f *fuzzer) odd(t *rapid.T, param *openapi3.Parameter) string {
	switch rapid.IntRange(0, 2).Draw(t, "oddity") {
	case 0:
		if wrong := wrongScalars(scalarOf(param), f.goodScalar(param).Draw(t, param.Name)); len(wrong) > 0 {
			values := make([]string, len(wrong))
			for i := range wrong {
				values[i] = url.QueryEscape(wrong[i].value)
			}
			return rapid.SampledFrom(values).Draw(t, "wrong")
		}
		fallthrough
	case 1:
		return url.QueryEscape(rapid.SampledFrom(hostileText).Draw(t, "text"))
	default:
		return rapid.SampledFrom(hostileRaw).Draw(t, "raw")
	}
}

// good draws a value that the document allows.
func (f *fuzzer) good(t *rapid.T, param *openapi3.Parameter) string {
	if !isList(param) {
		return f.goodScalar(param).Draw(t, param.Name)
	}
	most := math.MaxInt
	if m := param.Schema.Value.MaxItems; m != nil {
		most = int(*m)
	}
	if rapid.IntRange(0, 9).Draw(t, "full") == 9 && most < 1000 {
		return strings.Join(goodItems(param, most), ",")
	}
	return strings.Join(rapid.SliceOfN(f.goodScalar(param), 1, min(most, 5)).Draw(t, param.Name), ",")
}

// goodScalar generates values of a parameter that is no list, or items of one that is.
func (f *fuzzer) goodScalar(param *openapi3.Parameter) *rapid.Generator[string] {
	schema := scalarOf(param)
	example, _, _ := strings.Cut(goodOf(param), ",")
	some := []*rapid.Generator[string]{rapid.Just(example)}
	if seeds := f.seeds.Values[param.Name]; len(seeds) > 0 {
		// The server knows these, so they come first and most often.
		known := rapid.SampledFrom(seeds)
		some = []*rapid.Generator[string]{known, known, known, known, rapid.Just(example)}
	}
	switch {
	case len(schema.Enum) > 0:
		some = append(some, rapid.Map(rapid.SampledFrom(schema.Enum), func(v any) string { return fmt.Sprint(v) }))
	case schema.Type.Is(openapi3.TypeBoolean):
		some = append(some, rapid.SampledFrom([]string{"true", "false"}))
	case schema.Type.Is(openapi3.TypeInteger):
		some = append(some, integers(schema))
	case schema.Pattern != "":
		some = append(some, rapid.StringMatching(schema.Pattern))
	case schema.Type.Is(openapi3.TypeString):
		some = append(some, texts(schema))
	}
	return rapid.OneOf(some...)
}

// integers are those of a range, its bounds more often.
func integers(schema *openapi3.Schema) *rapid.Generator[string] {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if schema.Min != nil {
		low = int64(math.Ceil(*schema.Min))
	}
	if schema.Max != nil {
		high = int64(math.Floor(*schema.Max))
	}
	bounds := []int64{low, high, min(low+1, high), max(high-1, low)}
	return rapid.Map(rapid.OneOf(rapid.SampledFrom(bounds), rapid.Int64Range(low, high)), func(n int64) string {
		return strconv.FormatInt(n, 10)
	})
}

// texts are of characters that every normal form leaves alone, of up to the longest length.
func texts(schema *openapi3.Schema) *rapid.Generator[string] {
	most := 50
	if schema.MaxLength != nil {
		most = int(*schema.MaxLength)
	}
	full := []string{"a"}
	for _, letter := range []string{"a", "ж", "日", "😀"} {
		full = append(full, strings.Repeat(letter, most))
	}
	return rapid.OneOf(rapid.SampledFrom(full), rapid.StringMatching(`[a-zA-Z0-9$._-]{1,8}`))
}
