package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	reasonsMember = "unknown_reasons"
	sourcesMember = "figure_sources"
	digits        = 15        // of a number, significant
	exact         = 1<<53 - 1 // the largest integer that every client reads as it is
)

// checkFigures holds the body of a 200 to the rules on figures:
//   - a member that is null has its reason: an entry of its name in the unknown_reasons of the same object, or of the
//     nearest object around it that has unknown_reasons; or a member <name>_source beside it that is such a reason;
//   - an entry of unknown_reasons is of no member that is there and not null, in the object itself or in those within
//     that it speaks for; but "stale" may stand beside a chain's head_lag_s, which is told by the clock while no node answers;
//   - an entry of figure_sources is of a member of the same object that is there and not null;
//   - a number is finite and has at most 15 significant digits; where the document says integer, it is one that a
//     double holds exactly.
//
// Where the document leaves a value open altogether, as the parts of an OpenAPI document, nothing below is looked at.
func checkFigures(response *openapi3.Response, r *reply) error {
	media := jsonOf(response, r.header)
	if r.status != http.StatusOK || r.bodiless || media == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.UseNumber() // a float64 has forgotten how many digits it had
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	var f figures
	f.value(openapi3.SchemaRefs{media.Schema}, value, "$", nil)
	return errors.Join(f.found...)
}

// jsonOf is what the document says of a JSON body with these headers; nil for a body that is none.
func jsonOf(response *openapi3.Response, h http.Header) *openapi3.MediaType {
	mediaType, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	media := response.Content.Get(mediaType)
	if media == nil || media.Schema == nil || !strings.HasSuffix(mediaType, "json") {
		return nil
	}
	return media
}

type figures struct{ found []error }

func (f *figures) add(format string, args ...any) {
	f.found = append(f.found, fmt.Errorf(format, args...))
}

// scope is an object with unknown_reasons, which speak for it and for the objects within that have none of their own.
type scope struct {
	reasons map[string]any
	null    map[string]bool   // entries that explain a null
	known   map[string]string // entries that a member within is not null for, and where
}

func (f *figures) value(schemas openapi3.SchemaRefs, value any, at string, around *scope) {
	schemas = flat(schemas)
	if !slices.ContainsFunc(schemas, describes) {
		return
	}
	switch value := value.(type) {
	case json.Number:
		f.number(schemas, value, at)
	case []any:
		items := itemsOf(schemas)
		for i, item := range value {
			f.value(items, item, at+"["+strconv.Itoa(i)+"]", around)
		}
	case map[string]any:
		f.object(schemas, value, at, around)
	}
}

func (f *figures) object(schemas openapi3.SchemaRefs, members map[string]any, at string, around *scope) {
	own, has := members[reasonsMember].(map[string]any)
	if has {
		around = &scope{reasons: own, null: map[string]bool{}, known: map[string]string{}}
	}
	sources, _ := members[sourcesMember].(map[string]any)
	for _, name := range sortedKeys(sources) {
		if members[name] == nil {
			f.add("%s.%s names %s, which is null or not there", at, sourcesMember, name)
		}
	}
	d := membersOf(schemas)
	for _, name := range sortedKeys(members) {
		if name == reasonsMember || name == sourcesMember {
			continue
		}
		f.member(members, name, at, around, has)
		f.value(d.of(name), members[name], at+"."+name, around)
	}
	if has {
		for _, name := range sortedKeys(around.known) {
			if !around.null[name] {
				f.add("%s.%s names %s, but %s is not null", at, reasonsMember, name, around.known[name])
			}
		}
	}
}

// member looks whether a member that is null is explained, and one that isn't is not. here says that the reasons
// around it are those of the member's own object.
func (f *figures) member(members map[string]any, name, at string, around *scope, here bool) {
	explained := false
	if around != nil {
		_, explained = around.reasons[name]
	}
	switch {
	case members[name] == nil && explained:
		around.null[name] = true
	case members[name] == nil:
		if source, _ := members[name+"_source"].(string); !slices.Contains(reasons, source) {
			f.add("%s.%s is null, and nothing says why", at, name)
		}
	case explained && here && name == "head_lag_s" && around.reasons[name] == "stale":
	case explained && here:
		f.add("%s.%s names %s, which is not null", at, reasonsMember, name)
	case explained:
		around.known[name] = at + "." + name
	}
}

// reasons are the values of UnknownReason, as a <figure>_source has them.
var reasons = []string{"indexing", "stale", "unavailable", "not_applicable"}

func (f *figures) number(schemas openapi3.SchemaRefs, n json.Number, at string) {
	x, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		f.add("%s is %s, which is not finite", at, n)
		return
	}
	if slices.ContainsFunc(schemas, func(s *openapi3.SchemaRef) bool { return s.Value.Type.Includes(openapi3.TypeInteger) }) {
		if math.Abs(x) > exact || x != math.Trunc(x) {
			f.add("%s is %s, which not every client reads exactly", at, n)
		}
		return
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
	mantissa = strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0")
	if len(mantissa) > digits {
		f.add("%s is %s, which has more than %d significant digits", at, n, digits)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
