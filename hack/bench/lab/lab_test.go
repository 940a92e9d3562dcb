package lab

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"":             "",
		"--rounds 3":   "",
		"--rounds x":   "measure --help",
		"--no 3":       "measure --help",
		"renderer":     "no argument of measure",
		"--rounds 3 x": "no argument of measure",
	} {
		c := &Command{Name: "measure", Flags: func(f *flag.FlagSet) {
			f.SetOutput(io.Discard)
			f.Int("rounds", 1, "rounds")
		}}
		if err := parse(c, strings.Fields(line)); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %q is expected", line, err, says)
		}
	}
	if err := dispatch(t.Context(), []Command{{Name: "measure"}, {Name: "serve", Child: true}}, []string{"dance"}); err == nil ||
		!strings.Contains(err.Error(), "that exist are measure (") {
		t.Errorf("an unknown command: %v", err)
	}
	if _, err := Chosen("only", "a,c", []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), `"c" is no contender`) {
		t.Errorf("an unknown contender: %v", err)
	}
}

func TestObey(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := obey(strings.NewReader(strings.Repeat("usage\n", 2)), &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[0], `"CPU":`) {
		t.Errorf("it answered %q", out.String())
	}
	if err := obey(strings.NewReader("dance\n"), io.Discard); err == nil {
		t.Error("it danced")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for says, spoil := range map[string]func(*Options){
		"":                      func(*Options) {},
		`"mysql" is no kind`:    func(o *Options) { o.DB = "mysql" },
		"must be positive":      func(o *Options) { o.Rounds = 0 },
		"would be stale":        func(o *Options) { o.Runs = 10 },
		"must be at least 100,": func(o *Options) { o.Size.Tokens = 99 },
	} {
		o := BigMarket()
		o.Clients = 1000
		spoil(o)
		kinds, err := o.check()
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) || err == nil && len(kinds) != 2 {
			t.Errorf("%v, %v; %q is expected", kinds, err, says)
		}
	}
}
