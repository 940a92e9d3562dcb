package contracttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// The schemas of the document are open, so that members may be added and old clients still accept them. What this
// server sends must be declared all the same; libopenapi-validator's strict mode would say so too, but it also refuses
// the members of maps.

// transportHeaders belong to HTTP or to every answer alike, so the document leaves them out.
var transportHeaders = []string{
	"Access-Control-Expose-Headers", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date",
	"Transfer-Encoding", "Vary", "X-Content-Type-Options",
}

// undeclared reports the headers and the members of a JSON body that the document doesn't name.
func undeclared(response *openapi3.Response, r *reply) error {
	var found []error
	known := slices.Concat(transportHeaders, slices.Collect(maps.Keys(response.Headers)))
	for _, name := range sortedKeys(r.header) {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			found = append(found, fmt.Errorf("undocumented header %s", name))
		}
	}
	media := jsonOf(response, r.header)
	if media == nil {
		return errors.Join(found...)
	}
	var value any
	if err := json.Unmarshal(r.body, &value); err == nil { // a body that is no JSON is for the validators
		found = append(found, undeclaredMembers(openapi3.SchemaRefs{media.Schema}, value, "$")...)
	}
	return errors.Join(found...)
}

func undeclaredMembers(schemas openapi3.SchemaRefs, value any, at string) []error {
	var found []error
	schemas = flat(schemas)
	switch value := value.(type) {
	case []any:
		items := itemsOf(schemas)
		for i, item := range value {
			found = append(found, undeclaredMembers(items, item, at+"["+strconv.Itoa(i)+"]")...)
		}
	case map[string]any:
		d := membersOf(schemas)
		for _, name := range sortedKeys(value) {
			if next := d.of(name); next != nil {
				found = append(found, undeclaredMembers(next, value[name], at+"."+name)...)
			} else if len(d.members) > 0 {
				found = append(found, fmt.Errorf("undocumented member %s.%s", at, name))
			}
		}
	}
	return found
}

// declared is what the parts of a schema say together about the members of an object.
type declared struct {
	members map[string]openapi3.SchemaRefs
	others  openapi3.SchemaRefs // additionalProperties
}

// of is what is said about one member; nil when it isn't declared.
func (d declared) of(name string) openapi3.SchemaRefs {
	if schemas, ok := d.members[name]; ok {
		return schemas
	}
	return d.others
}

func membersOf(schemas openapi3.SchemaRefs) declared {
	d := declared{members: map[string]openapi3.SchemaRefs{}}
	for _, ref := range schemas {
		for name, member := range ref.Value.Properties {
			d.members[name] = append(d.members[name], member)
		}
		if others := ref.Value.AdditionalProperties.Schema; others != nil {
			d.others = append(d.others, others)
		}
	}
	return d
}

func itemsOf(schemas openapi3.SchemaRefs) openapi3.SchemaRefs {
	var items openapi3.SchemaRefs
	for _, ref := range schemas {
		if ref.Value.Items != nil {
			items = append(items, ref.Value.Items)
		}
	}
	return items
}

// flat is the schemas with all that they are made of.
func flat(schemas openapi3.SchemaRefs) openapi3.SchemaRefs {
	var all openapi3.SchemaRefs
	for _, ref := range schemas {
		all = append(all, ref)
		all = append(all, flat(slices.Concat(ref.Value.AllOf, ref.Value.OneOf, ref.Value.AnyOf))...)
	}
	return all
}

// describes reports whether a schema says anything at all.
func describes(ref *openapi3.SchemaRef) bool {
	s := ref.Value
	return s.Type != nil || len(s.Enum) > 0 || len(s.Properties) > 0 || s.AdditionalProperties.Schema != nil
}
