package serve

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
)

// Request is a request whose parameters have been read by the rules of the document.
type Request struct {
	*http.Request

	values map[string]value
	// Seen is all that the answer takes from memory, the catalogue among it.
	Seen    *read.Snapshot
	Started time.Time // when the program began
}

// AsOf is when the newest data of an answer is of (unix seconds); of an answer without any (0), the newest indexed block of all chains; before
// there is one, it is when the program began.
func (r *Request) AsOf(unix int64) contract.Timestamp {
	if unix == 0 {
		unix = r.Seen.Newest()
	}
	if unix == 0 {
		return contract.At(r.Started)
	}
	return contract.At(time.Unix(unix, 0))
}

// value is what a parameter says.
type value struct {
	given  bool
	text   string
	number int64
	flag   bool
	list   []string
}

// Given reports whether a parameter was given. The others read its value, which is the document's default where it wasn't.
func (r *Request) Given(name string) bool { return r.values[name].given }

// Text is the value of a text.
func (r *Request) Text(name string) string { return r.values[name].text }

// Number is the value of a whole number.
func (r *Request) Number(name string) int64 { return r.values[name].number }

// Flag is the value of a boolean.
func (r *Request) Flag(name string) bool { return r.values[name].flag }

// List is the value of a list, each item once.
func (r *Request) List(name string) []string { return r.values[name].list }

// rules are the parameters of an operation.
type rules struct {
	path, query []*contract.Parameter
	// defaults are the values of a request without a query.
	defaults map[string]value
}

func newRules(parameters []*contract.Parameter) (rules, error) {
	r := rules{defaults: make(map[string]value)}
	for _, p := range parameters {
		if p.In == string(contract.ParameterErrorInPath) {
			r.path = append(r.path, p)
			continue
		}
		r.query = append(r.query, p)
		if p.Default == "" {
			continue
		}
		v, err := readValue(p, p.Default)
		if err != nil {
			return r, fmt.Errorf("the default of %s %w", p.Name, err)
		}
		v.given = false
		r.defaults[p.Name] = v
	}
	return r, nil
}

// readParameters reads path and query. All that is wrong is told at once; the first fault gives the problem its type.
func (x *exchange) readParameters() error {
	rules := &x.op.rules
	x.values = rules.defaults
	if len(rules.path) == 0 && x.URL.RawQuery == "" && !slices.ContainsFunc(rules.query, isRequired) {
		return nil
	}
	f := findings{values: make(map[string]value, len(rules.path)+len(rules.query))}
	maps.Copy(f.values, rules.defaults)
	vars := mux.Vars(x.Request.Request)
	for _, p := range rules.path {
		text, err := url.PathUnescape(vars[p.Name])
		if err != nil {
			f.add(p, errors.New("is not valid percent-encoding"))
			continue
		}
		f.read(p, text)
	}
	f.query(rules.query, x.URL.RawQuery)
	f.takeChain(rules)
	x.values = f.values
	return f.err()
}

// takeChain reads the chain that stands before an address of the path, which is the chain that is asked for.
func (f *findings) takeChain(r *rules) {
	for _, p := range r.path {
		chain, address, ok := strings.Cut(f.values[p.Name].text, ":")
		i := slices.IndexFunc(r.query, func(q *contract.Parameter) bool { return q.Name == "chain" })
		if !ok || i < 0 {
			continue
		}
		if asked := f.values["chain"]; asked.given && asked.text != chain {
			f.add(r.query[i], fmt.Errorf("is not the chain before the address, %s", chain))
			continue
		}
		f.values[p.Name] = value{given: true, text: address}
		f.values["chain"] = value{given: true, text: chain}
	}
}

func isRequired(p *contract.Parameter) bool { return p.Required }

// findings gathers values, and what is wrong with them.
type findings struct {
	values map[string]value
	slug   string
	errs   []contract.ParameterError
	most   int // of a list that is too long
	got    int
}

func (f *findings) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	p := Faults(f.slug, f.errs)
	if f.slug == tooManyItems {
		p.Max, p.Got = f.most, f.got
	}
	return p
}

// The problems of parameters.
const (
	invalidParameter = "invalid-parameter"
	MissingParameter = "missing-parameter"
	tooManyItems     = "too-many-items"
)

// add notes a fault.
func (f *findings) add(p *contract.Parameter, err error) {
	slug := invalidParameter
	e := contract.ParameterError{In: contract.ParameterErrorIn(p.In), Name: p.Name, Reason: err.Error()}
	var long *tooLongError
	switch {
	case errors.Is(err, errMissing):
		slug = MissingParameter
	case errors.As(err, &long):
		slug, f.most, f.got = tooManyItems, long.max, long.got
	}
	if len(p.Enum) > 0 {
		e.Allowed = p.Enum
	}
	if p.Minimum != nil {
		e.Min = new(float64(*p.Minimum))
	}
	if p.Maximum != nil {
		e.Max = new(float64(*p.Maximum))
	}
	if p.MaxItems > 0 {
		e.Max = new(float64(p.MaxItems))
	}
	if f.slug == "" {
		f.slug = slug
	}
	f.errs = append(f.errs, e)
}

func (f *findings) read(p *contract.Parameter, text string) {
	v, err := readValue(p, text)
	if err != nil {
		f.add(p, err)
		return
	}
	f.values[p.Name] = v
}

// query reads a query string. A parameter that the document doesn't know is nobody's business; an empty one counts as
// omitted; one that is given twice is a fault, but for lists, which are joined.
func (f *findings) query(parameters []*contract.Parameter, raw string) {
	given := make(map[string][]string, len(parameters))
	broken := make(map[string]bool)
	for pair := range strings.SplitSeq(raw, "&") {
		key, text, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || !slices.ContainsFunc(parameters, func(p *contract.Parameter) bool { return p.Name == name }) {
			continue
		}
		if text, err = url.QueryUnescape(text); err != nil {
			broken[name] = true
		} else if text != "" {
			given[name] = append(given[name], text)
		}
	}
	for _, p := range parameters {
		texts := given[p.Name]
		switch {
		case p.Lenient:
			if len(texts) == 1 && !broken[p.Name] {
				if v, err := readValue(p, texts[0]); err == nil {
					f.values[p.Name] = v
				}
			}
		case broken[p.Name]:
			f.add(p, errors.New("is not valid percent-encoding"))
		case len(texts) == 0 && p.Required:
			f.add(p, errMissing)
		case len(texts) == 0:
		case len(texts) > 1 && p.Type != "array":
			f.add(p, errors.New("must be given once"))
		default:
			f.read(p, strings.Join(texts, ","))
		}
	}
}

var errMissing = errors.New("is required and must not be empty")

// tooLongError is a list with too many items.
type tooLongError struct{ max, got int }

func (e *tooLongError) Error() string {
	return fmt.Sprintf("must have at most %d items, not %d", e.max, e.got)
}

// readValue reads a parameter's text by its rule. The error says what is allowed.
func readValue(p *contract.Parameter, text string) (value, error) {
	v := value{given: true, text: text}
	var err error
	switch p.Type {
	case "integer":
		v.number, err = readInteger(p, text)
	case "boolean":
		if v.flag = text == "true"; !v.flag && text != "false" {
			err = errors.New("must be true or false")
		}
	case "array":
		v.list, err = readList(p, text)
	default:
		v.text, err = readString(p, text)
		v.given = v.text != "" || p.Required
	}
	return v, err
}

func readInteger(p *contract.Parameter, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if strings.HasPrefix(text, "+") { // JSON has no such number
		err = strconv.ErrSyntax
	}
	low, high := p.Minimum == nil || n >= *p.Minimum, p.Maximum == nil || n <= *p.Maximum
	switch {
	case err == nil && low && high:
		return n, nil
	case p.Minimum != nil && p.Maximum != nil:
		return 0, fmt.Errorf("must be a whole number from %d to %d", *p.Minimum, *p.Maximum)
	default:
		return 0, errors.New("must be a whole number within 64 bits")
	}
}

// readList reads items between commas, each once.
func readList(p *contract.Parameter, text string) ([]string, error) {
	var out []string
	seen := make(map[string]bool)
	for item := range strings.SplitSeq(text, ",") {
		if item == "" || seen[item] {
			continue
		}
		seen[item] = true
		if _, err := readString(p.Items, item); err != nil {
			return nil, fmt.Errorf("has an item, %s, that %w", strconv.Quote(clip(strings.ToValidUTF8(item, "?"))), err)
		}
		out = append(out, item)
	}
	switch {
	case len(out) == 0 && p.Required:
		return nil, errMissing
	case p.MaxItems > 0 && len(out) > p.MaxItems:
		return nil, &tooLongError{p.MaxItems, len(out)}
	default:
		return out, nil
	}
}

// readString holds a text to its rule. Where that gives no pattern, spaces around it don't count.
func readString(p *contract.Parameter, text string) (string, error) {
	switch {
	case !utf8.ValidString(text):
		return "", errors.New("must be valid UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", errors.New("must have no control characters")
	}
	if p.Pattern == nil && p.Enum == nil {
		text = strings.TrimSpace(text)
	}
	n := utf8.RuneCountInString(text)
	switch {
	case p.Enum != nil && !slices.Contains(p.Enum, text):
		return "", errors.New("must be one of the allowed values")
	case n == 0 && p.MinLength > 0:
		return "", errMissing
	case p.Pattern != nil && !p.Pattern.MatchString(text):
		return "", errors.New("must be " + p.Expected)
	case n < p.MinLength || (p.MaxLength > 0 && n > p.MaxLength):
		return "", fmt.Errorf("must have %d to %d characters", p.MinLength, p.MaxLength)
	default:
		return text, nil
	}
}
