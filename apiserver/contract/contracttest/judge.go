package contracttest

import (
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// verdict is what the document says of a value. Where servers may differ with good reason, it is undecided: white
// space around a value, numbers in another spelling, text that normal forms change.
type verdict int

const (
	undecided verdict = iota
	allowed
	ruledOut
)

// verdict says what the document makes of a parameter as it is given. An optional one without a value counts as
// omitted.
func (g given) verdict() verdict {
	values := slices.DeleteFunc(slices.Clone(g.raw), func(raw string) bool { return raw == "" })
	switch {
	case isLenient(g.param):
		return allowed
	case len(values) == 0 && g.param.Required:
		return ruledOut
	case len(values) == 0:
		return allowed
	case isList(g.param):
		return listVerdict(g.param.Schema.Value, strings.Join(g.raw, ","))
	case len(values) > 1:
		return ruledOut
	case len(g.raw) > 1:
		return undecided
	}
	unescape := url.QueryUnescape
	if g.param.In == openapi3.ParameterInPath {
		unescape = url.PathUnescape
	}
	text, err := unescape(values[0])
	if err != nil {
		return ruledOut
	}
	if isFreeText(g.param) && g.param.Required && strings.TrimSpace(text) == "" && g.param.Schema.Value.MinLength > 0 {
		return ruledOut
	}
	return textVerdict(g.param.Schema.Value, text)
}

func listVerdict(schema *openapi3.Schema, raw string) verdict {
	result := allowed
	distinct, folded := map[string]bool{}, map[string]bool{}
	for part := range strings.SplitSeq(raw, ",") {
		item, err := url.QueryUnescape(part)
		switch {
		case err != nil:
			return ruledOut
		case item == "" || strings.Contains(item, ","):
			result = undecided
			continue
		}
		switch textVerdict(schema.Items.Value, item) {
		case ruledOut:
			return ruledOut
		case undecided:
			result = undecided
		case allowed:
		}
		distinct[item], folded[strings.ToLower(item)] = true, true
	}
	if schema.MaxItems != nil && len(distinct) > int(*schema.MaxItems) {
		if len(folded) > int(*schema.MaxItems) {
			return ruledOut
		}
		return undecided
	}
	return result
}

// textVerdict is of a value as it was read. Space around it may be cut off or not.
func textVerdict(schema *openapi3.Schema, text string) verdict {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return ruledOut
	}
	asIs, cut := exactVerdict(schema, text), exactVerdict(schema, strings.TrimSpace(text))
	if asIs != cut {
		return undecided
	}
	return asIs
}

var (
	wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	someNumber  = regexp.MustCompile(`^[-+0-9.eE_]+$`)
)

func exactVerdict(schema *openapi3.Schema, text string) verdict {
	switch {
	case len(schema.Enum) > 0:
		return memberVerdict(schema.Enum, text)
	case schema.Type.Is(openapi3.TypeBoolean):
		return memberVerdict([]any{"true", "false"}, text)
	case schema.Type.Is(openapi3.TypeInteger):
		return numberVerdict(schema, text)
	case schema.Type.Is(openapi3.TypeString):
		return stringVerdict(schema, text)
	}
	return undecided
}

func memberVerdict(members []any, text string) verdict {
	result := ruledOut
	for _, member := range members {
		if name, ok := member.(string); ok && name == text {
			return allowed
		} else if ok && strings.EqualFold(name, text) {
			result = undecided
		}
	}
	if slices.Contains([]string{"0", "1", "t", "f", "T", "F"}, text) && slices.Contains(members, any("true")) {
		return undecided // what others call a boolean
	}
	return result
}

func numberVerdict(schema *openapi3.Schema, text string) verdict {
	if !wholeNumber.MatchString(text) {
		if someNumber.MatchString(text) {
			return undecided
		}
		return ruledOut
	}
	n, _ := new(big.Float).SetString(text) // the pattern allows nothing else
	if schema.Min != nil && n.Cmp(big.NewFloat(*schema.Min)) < 0 || schema.Max != nil && n.Cmp(big.NewFloat(*schema.Max)) > 0 {
		return ruledOut
	}
	return allowed
}

func stringVerdict(schema *openapi3.Schema, text string) verdict {
	if schema.Pattern != "" && !regexp.MustCompile(schema.Pattern).MatchString(text) {
		return ruledOut
	}
	length := utf8.RuneCountInString(text)
	within := length >= int(schema.MinLength) && (schema.MaxLength == nil || length <= int(*schema.MaxLength))
	settled := !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("жé日😀", r) && (r < ' ' || r > '~' || r == ';')
	})
	switch {
	case !settled:
		return undecided // its normal form may be of another length
	case within:
		return allowed
	default:
		return ruledOut
	}
}
