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
//   - a member that is null has its reason: an entry of its name in the unknown_reasons of the same object, or a member
//     <name>_source beside it that is such a reason; what stands in the unknown_reasons of an object around it is said of
//     that object's own members;
//   - an entry of unknown_reasons is of a member that the same object has, and that is null; but "stale" may stand beside a chain's
//     head_lag_s, which is told by the clock while no node answers;
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
	f.value(openapi3.SchemaRefs{media.Schema}, value, "$")
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

func (f *figures) value(schemas openapi3.SchemaRefs, value any, at string) {
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
			f.value(items, item, at+"["+strconv.Itoa(i)+"]")
		}
	case map[string]any:
		f.object(schemas, value, at)
	}
}

func (f *figures) object(schemas openapi3.SchemaRefs, members map[string]any, at string) {
	why, _ := members[reasonsMember].(map[string]any)
	sources, _ := members[sourcesMember].(map[string]any)
	for _, name := range sortedKeys(sources) {
		if members[name] == nil {
			f.add("%s.%s names %s, which is null or not there", at, sourcesMember, name)
		}
	}
	for _, name := range sortedKeys(why) {
		if value, there := members[name]; !there {
			f.add("%s.%s names %s, which is not there", at, reasonsMember, name)
		} else if value != nil && (name != "head_lag_s" || why[name] != "stale") {
			f.add("%s.%s names %s, which is not null", at, reasonsMember, name)
		}
	}
	d := membersOf(schemas)
	for _, name := range sortedKeys(members) {
		if name == reasonsMember || name == sourcesMember {
			continue
		}
		if members[name] == nil && why[name] == nil {
			if source, _ := members[name+"_source"].(string); !slices.Contains(reasons, source) {
				f.add("%s.%s is null, and nothing beside it says why", at, name)
			}
		}
		f.value(d.of(name), members[name], at+"."+name)
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
