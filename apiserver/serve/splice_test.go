package serve_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	parts := func(list ...string) (out [][]byte) {
		for _, p := range list {
			out = append(out, []byte(p))
		}
		return out
	}
	for _, c := range []struct {
		object, place string
		bodies        [][]byte
		want          string
	}{
		{`{"a":1,"items":[],"z":2}`, `"items":[]`, parts(`{"x":1}`, `{"x":2}`), `{"a":1,"items":[{"x":1},{"x":2}],"z":2}`},
		{`{"items":[]}`, `"items":[]`, nil, `{"items":[]}`},
		{`{"gone":{"items":[]},"items":[null]}`, `"items":[null]`, parts(`1`), `{"gone":{"items":[]},"items":[1]}`},
		{`{"items":[null]}`, `"items":[null]`, nil, `{"items":[]}`},
		{`{"prices":{}}`, `"prices":{}`, parts(`"a":1`, `"b":2`), `{"prices":{"a":1,"b":2}}`},
		{`{"gone":{"items":[]},"items":[]}`, `"items":[]`, parts(`1`), ""},
		{`{"items":[1]}`, `"items":[]`, parts(`1`), ""},
	} {
		got, err := serve.Splice([]byte(c.object), c.place, c.bodies)
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s at %s: %s, %v; want %s", c.object, c.place, got, err, c.want)
		}
	}
}
