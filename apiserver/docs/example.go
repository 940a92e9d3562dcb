package docs

import (
	"bytes"
	"encoding/json"
	"strings"
)

// token is a run of JSON text; Class is its colour, "" for none.
type token struct{ Class, Text string }

// exampleTokens sets an example, which is a valid JSON object, on lines of its own and parts it by colour. The value of the
// outermost "type" becomes uri: examples are written for a deployment that isn't this one.
func exampleTokens(example, uri string) []token {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(example), "", "  "); err != nil {
		return []token{{Text: example}}
	}
	quoted, err := json.Marshal(uri)
	if err != nil {
		quoted = []byte(`""`)
	}
	var out []token
	text, depth, key := indented.String(), 0, ""
	for text != "" {
		t := nextToken(text)
		text = text[len(t.Text):]
		switch {
		case t.Text == "{" || t.Text == "[":
			depth++
		case t.Text == "}" || t.Text == "]":
			depth--
		case t.Class == "key":
			key = ""
			_ = json.Unmarshal([]byte(t.Text), &key) // valid, as the whole is
		case t.Class == "string" && depth == 1 && key == "type":
			t.Text = string(quoted)
		}
		out = append(out, t)
	}
	return out
}

// nextToken is the beginning of valid JSON text.
func nextToken(text string) token {
	switch c := text[0]; {
	case c == '"':
		n := stringLength(text)
		if strings.HasPrefix(text[n:], ":") {
			return token{"key", text[:n]}
		}
		return token{"string", text[:n]}
	case strings.IndexByte("{}[]:,", c) >= 0:
		return token{"", text[:1]}
	case c == ' ' || c == '\n':
		return token{"", text[:len(text)-len(strings.TrimLeft(text, " \n"))]}
	default: // a number, true, false or null
		n := strings.IndexAny(text, " \n,]}")
		if n < 0 {
			n = len(text)
		}
		return token{"number", text[:n]}
	}
}

// stringLength is how long the JSON string is that the text begins with, quotes included.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
