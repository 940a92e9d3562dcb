package contracttest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// badValue is a value that the document rules out for a parameter.
type badValue struct {
	why      string
	raw      []string // one for each time the parameter is given; none leaves it out
	slugs    []string
	max, got int
}

// badValues are those of one parameter.
func badValues(param *openapi3.Parameter) []badValue {
	var bad []badValue
	add := func(why string, values ...string) *badValue {
		bad = append(bad, badValue{why: why, raw: values, slugs: slugsOf(param)})
		return &bad[len(bad)-1]
	}
	inQuery := param.In == openapi3.ParameterInQuery
	if inQuery && param.Required {
		add("omitted").slugs = []string{missingParameter}
		add("empty", "").slugs = []string{missingParameter}
		if isFreeText(param) && param.Schema.Value.MinLength > 0 {
			// What is left of it is nothing: that may be called missing or not allowed.
			add("only spaces", "%20%20").slugs = []string{missingParameter, invalidParameter}
		}
	}
	if isList(param) {
		return append(bad, badLists(param)...)
	}
	for _, wrong := range wrongScalars(param.Schema.Value, exampleOf(param)) {
		add(wrong.why, escape(param, wrong.value))
	}
	good := escape(param, goodOf(param))
	if isText(param) {
		for _, broken := range brokenText {
			// A path with a broken escape is no request at all.
			if inQuery || broken.why != brokenEscape {
				add(broken.why, broken.value)
			}
		}
	}
	if inQuery {
		add("given twice", good, good)
		if !isFreeText(param) {
			// Some readers of queries drop such a parameter without a word, and its default is answered.
			add("with a semicolon", good+";x=1")
		}
	}
	return bad
}

const brokenEscape = "broken escape"

// brokenText is what a parameter of text may not hold, escaped.
var brokenText = []wrongValue{{"invalid UTF-8", "%ff"}, {"NUL", "%00"}, {brokenEscape, "%zz"}}

func badLists(param *openapi3.Parameter) []badValue {
	schema := param.Schema.Value
	good := goodItems(param, 3)
	withItem := func(why, raw string) badValue {
		items := []string{escape(param, good[0]), raw, escape(param, good[1])}
		return badValue{why: why, raw: []string{strings.Join(items, ",")}, slugs: slugsOf(param)}
	}
	var bad []badValue
	for _, wrong := range wrongScalars(schema.Items.Value, good[2]) {
		bad = append(bad, withItem("an item "+wrong.why, escape(param, wrong.value)))
	}
	if schema.Items.Value.Type.Is(openapi3.TypeString) {
		for _, broken := range brokenText {
			bad = append(bad, withItem("an item with "+broken.why, broken.value))
		}
	}
	if schema.MaxItems != nil {
		most := int(*schema.MaxItems)
		bad = append(bad, badValue{
			why: "too many items", raw: []string{escape(param, strings.Join(goodItems(param, most+1), ","))},
			slugs: []string{tooManyItems}, max: most, got: most + 1,
		})
	}
	return bad
}

// wrongValue is a value of one scalar, not escaped.
type wrongValue struct{ why, value string }

// wrongScalars are the values that a schema rules out, some made from the example.
func wrongScalars(schema *openapi3.Schema, example string) []wrongValue {
	switch {
	case len(schema.Enum) > 0:
		return []wrongValue{{"outside its enum", "no-such-value"}}
	case schema.Type.Is(openapi3.TypeBoolean):
		return []wrongValue{{"no boolean", "maybe"}}
	case schema.Type.Is(openapi3.TypeInteger):
		bad := []wrongValue{{"no number", "abc"}, {"no integer", "1.5"}, {"beyond 64 bits", "99999999999999999999"}}
		return append(bad, outsideRange(schema)...)
	case schema.Type.Is(openapi3.TypeNumber):
		return append([]wrongValue{{"no number", "abc"}, {"not finite", "NaN"}}, outsideRange(schema)...)
	case schema.Type.Is(openapi3.TypeString):
		return wrongStrings(schema, example)
	}
	return nil
}

func outsideRange(schema *openapi3.Schema) []wrongValue {
	var bad []wrongValue
	if schema.Min != nil {
		bad = append(bad, wrongValue{"under its minimum", decimal(math.Ceil(*schema.Min) - 1)})
	}
	if schema.Max != nil {
		bad = append(bad, wrongValue{"over its maximum", decimal(math.Floor(*schema.Max) + 1)})
	}
	return bad
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func wrongStrings(schema *openapi3.Schema, example string) []wrongValue {
	var bad []wrongValue
	if schema.Pattern != "" {
		pattern := regexp.MustCompile(schema.Pattern)
		for _, c := range []wrongValue{
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
		over := int(*schema.MaxLength) + 1
		bad = append(bad, wrongValue{"over its length", strings.Repeat("a", over)})
		if schema.Pattern == "" {
			// Two bytes each, and one code point in every normal form.
			bad = append(bad, wrongValue{"over its length in characters", strings.Repeat("ж", over)})
		}
	}
	return bad
}

// slugsOf are the problem types that a value may get that isn't missing. A chain that nobody declared and an address
// that is none of the chain are wrong in a way of their own.
func slugsOf(param *openapi3.Parameter) []string {
	slugs := []string{invalidParameter}
	switch {
	case param.Name == "chain":
		slugs = append(slugs, unsupportedChain)
	case strings.Contains(scalarOf(param).Pattern, "0x"):
		slugs = append(slugs, unsupportedChain, unsupportedAddress)
	}
	return slugs
}

func isList(param *openapi3.Parameter) bool { return param.Schema.Value.Type.Is(openapi3.TypeArray) }

// scalarOf is the schema of a parameter or, of a list, that of its items.
func scalarOf(param *openapi3.Parameter) *openapi3.Schema {
	if isList(param) {
		return param.Schema.Value.Items.Value
	}
	return param.Schema.Value
}

func isText(param *openapi3.Parameter) bool { return scalarOf(param).Type.Is(openapi3.TypeString) }

// isFreeText says that a parameter is text which may hold anything.
func isFreeText(param *openapi3.Parameter) bool {
	schema := scalarOf(param)
	return schema.Type.Is(openapi3.TypeString) && schema.Pattern == "" && len(schema.Enum) == 0
}

// exampleOf returns the example of a parameter, "" for an optional one without any. That of a list is joined by commas.
func exampleOf(param *openapi3.Parameter) string {
	switch example := param.Example.(type) {
	case nil:
		if param.Required {
			panic(fmt.Sprintf("contracttest: the document gives %s in %s no example", param.Name, param.In))
		}
		return ""
	case []any:
		var items []string
		for _, item := range example {
			items = append(items, fmt.Sprint(item))
		}
		return strings.Join(items, ",")
	case float64:
		return decimal(example) // fmt writes large ones with an exponent
	default:
		return fmt.Sprint(example)
	}
}

// goodOf returns a value that the document allows.
func goodOf(param *openapi3.Parameter) string {
	schema := param.Schema.Value
	switch {
	case param.Example != nil:
		return exampleOf(param)
	case schema.Default != nil:
		return fmt.Sprint(schema.Default)
	case len(schema.Enum) > 0:
		return fmt.Sprint(schema.Enum[0])
	case schema.Min != nil:
		return decimal(*schema.Min)
	case schema.Type.Is(openapi3.TypeBoolean):
		return "true"
	case isText(param):
		return "a"
	default:
		return "1"
	}
}

// goodItems makes n distinct items of a list from its example, by counting in the example's last characters. It panics
// where the pattern of the items allows none of the ways to count.
func goodItems(param *openapi3.Parameter, n int) []string {
	example, _, _ := strings.Cut(exampleOf(param), ",")
	pattern := regexp.MustCompile(scalarOf(param).Pattern)
	for _, keep := range []int{max(0, len(example)-4), min(len(example), 4), 0} {
		items := make([]string, n)
		for i := range items {
			items[i] = example[:keep] + counted(i)
		}
		if !slices.ContainsFunc(items, func(item string) bool { return !pattern.MatchString(item) }) {
			return items
		}
	}
	panic(fmt.Sprintf("contracttest: no %d distinct items of %s", n, param.Name))
}

// counted writes a number in four digits that every alphabet of addresses and handles has; base58 has no 0.
func counted(n int) string {
	var digits [4]byte
	for i := range digits {
		digits[3-i] = '1' + byte(n%9)
		n /= 9
	}
	return string(digits[:])
}
