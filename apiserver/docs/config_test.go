package docs

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Problem){
		`problem 0 (""): the slug must be of a-z and 0-9`:    func(p *Problem) { p.Slug = "" },
		`problem 0 ("a/b"): the slug must be`:                func(p *Problem) { p.Slug = "a/b" },
		`problem 0 ("a--b"): the slug must be`:               func(p *Problem) { p.Slug = "a--b" },
		`problem 0 (".."): the slug must be`:                 func(p *Problem) { p.Slug = ".." },
		`problem 1: the slug "internal" stands twice`:        func(p *Problem) { p.Slug = "internal" },
		`problem 0 ("first"): status 200 is no error`:        func(p *Problem) { p.Status = 200 },
		`problem 0 ("first"): status 499 is no error`:        func(p *Problem) { p.Status = 499 },
		`problem 0 ("first"): status 600 is no error`:        func(p *Problem) { p.Status = 600 },
		`problem 0 ("first"): title, when and do must`:       func(p *Problem) { p.Do = "" },
		`problem 0 ("first"): a type that isn't ours`:        func(p *Problem) { p.Type = "javascript:alert(1)" },
		`problem 0 ("first"): every member must`:             func(p *Problem) { p.Members = []Member{{Name: "a"}} },
		`problem 0 ("first"): the example must be a JSON`:    func(p *Problem) { p.Example = "[]" },
		`("first"): the example must be a JSON object`:       func(p *Problem) { p.Example = "null" },
		`docs: problem 0 ("first"): the example must be a J`: func(p *Problem) { p.Example = "{" },
	} {
		p := Problem{Slug: "first", Status: 400, Title: "A", When: "B", Do: "C"}
		change(&p)
		_, err := New(Config{Problems: []Problem{p, {Slug: "internal", Status: 500, Title: "A", When: "B", Do: "C"}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v:\n got %v\nwant %s", p, err, want)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]piece{
		"":              nil,
		"plain":         {{Text: "plain"}},
		"`code`":        {{Text: "code", Code: true}},
		"a `b` c `d`.":  {{Text: "a "}, {Text: "b", Code: true}, {Text: " c "}, {Text: "d", Code: true}, {Text: "."}},
		"an odd ` one":  {{Text: "an odd ` one"}},
		"`a` and ` odd": {{Text: "a", Code: true}, {Text: " and ` odd"}},
		"``":            nil,
	} {
		if got := prose(text); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestExampleTokens(t *testing.T) {
	t.Parallel()
	got := exampleTokens(`{"a\"b":[1,-2.5e3,true,null,{}],"type":"old","n":{"type":"kept: \"x\""}}`, "new")
	var keys, strs, numbers []string
	for _, token := range got {
		switch token.Class {
		case "key":
			keys = append(keys, token.Text)
		case "string":
			strs = append(strs, token.Text)
		case "number":
			numbers = append(numbers, token.Text)
		}
	}
	if !slices.Equal(keys, []string{`"a\"b"`, `"type"`, `"n"`, `"type"`}) || !slices.Equal(strs, []string{`"new"`, `"kept: \"x\""`}) ||
		!slices.Equal(numbers, []string{"1", "-2.5e3", "true", "null"}) {
		t.Errorf("keys %q, strings %q, numbers %q", keys, strs, numbers)
	}
}

// FuzzExampleTokens: the tokens of an object are that object, but for its type.
func FuzzExampleTokens(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"a","b":[1,2,{"type":"c"}]}`, `{"a":"\\\"","b":{"c":[]}}`, `{"a":[[[]]],"type":["x"],"b":"type"}`, `{"":1E9}`, `{"t\u0079pe":"a"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, example string) {
		var want map[string]any
		if json.Unmarshal([]byte(example), &want) != nil || want == nil {
			return
		}
		var text bytes.Buffer
		for _, token := range exampleTokens(example, "uri") {
			text.WriteString(token.Text)
		}
		var got map[string]any
		if err := json.Unmarshal(text.Bytes(), &got); err != nil {
			t.Fatalf("%q became %q: %v", example, text.String(), err)
		}
		if _, isText := want["type"].(string); isText {
			if got["type"] != "uri" {
				t.Errorf("%q became %q: its type is another's", example, text.String())
			}
			delete(got, "type")
			delete(want, "type")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q", example, text.String())
		}
	})
}
