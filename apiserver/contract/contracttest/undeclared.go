package contracttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
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
func undeclared(response *openapi3.Response, header http.Header, body []byte) error {
	var found []error
	known := slices.Concat(transportHeaders, slices.Collect(maps.Keys(response.Headers)))
	for name := range header {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			found = append(found, fmt.Errorf("undocumented header %s", name))
		}
	}
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	media := response.Content.Get(mediaType)
	if media == nil || media.Schema == nil || !strings.HasSuffix(mediaType, "json") {
		return errors.Join(found...)
	}
	var value any
	if err := json.Unmarshal(body, &value); err == nil { // a body that is no JSON is for the validators
		found = append(found, undeclaredMembers(media.Schema, value, "$")...)
	}
	return errors.Join(found...)
}

func undeclaredMembers(schema *openapi3.SchemaRef, value any, at string) []error {
	var found []error
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			for _, items := range itemsOf(schema) {
				found = append(found, undeclaredMembers(items, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		d := declared{members: map[string]*openapi3.SchemaRef{}}
		d.add(schema)
		for name, member := range value {
			next, ok := d.members[name]
			if !ok {
				next = d.others
			}
			if next != nil {
				found = append(found, undeclaredMembers(next, member, at+"."+name)...)
			} else if len(d.members) > 0 {
				found = append(found, fmt.Errorf("undocumented member %s.%s", at, name))
			}
		}
	}
	return found
}

// declared is what the parts of a schema say together about the members of an object.
type declared struct {
	members map[string]*openapi3.SchemaRef
	others  *openapi3.SchemaRef // additionalProperties
}

func (d *declared) add(ref *openapi3.SchemaRef) {
	schema := ref.Value
	maps.Copy(d.members, schema.Properties)
	if others := schema.AdditionalProperties.Schema; others != nil {
		d.others = others
	}
	for _, part := range partsOf(schema) {
		d.add(part)
	}
}

func itemsOf(ref *openapi3.SchemaRef) []*openapi3.SchemaRef {
	var items []*openapi3.SchemaRef
	if ref.Value.Items != nil {
		items = append(items, ref.Value.Items)
	}
	for _, part := range partsOf(ref.Value) {
		items = append(items, itemsOf(part)...)
	}
	return items
}

func partsOf(schema *openapi3.Schema) openapi3.SchemaRefs {
	return slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf)
}
