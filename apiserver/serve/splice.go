package serve

import (
	"bytes"
	"fmt"
	"strings"
)

// Splice puts bodies that are encoded already into an encoded object, which json.Marshal would read once more. place is where: a member with an array or an
// object that has nothing in it, or null alone, as "items":[], whose text stands once in the object. What goes into an object has its names.
func Splice(object []byte, place string, bodies [][]byte) ([]byte, error) {
	if n := bytes.Count(object, []byte(place)); n != 1 {
		return nil, fmt.Errorf("serve: %s stands %d times in the object, not once", place, n)
	}
	head, tail, _ := bytes.Cut(object, []byte(place))
	opens := strings.IndexAny(place, "[{") + 1
	size := len(object) + len(bodies)
	for _, b := range bodies {
		size += len(b)
	}
	out := append(append(make([]byte, 0, size), head...), place[:opens]...)
	for i, b := range bodies {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(append(out, place[len(place)-1]), tail...), nil
}
