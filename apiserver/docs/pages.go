package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/site"
)

// page is what the layout is filled with.
type page struct {
	Title, Description string
	Section            string // that of the strip which is shown as the present one
	Assets             string
	Body               any
}

// problemView is a Problem as its page shows it.
type problemView struct {
	Slug, Title, StatusText string
	URI                     string
	URIParts                []string // URI, parted where a line may end
	Foreign                 bool
	Status, Class           int // Class is the status's first digit
	When, Do                []piece
	Members                 []memberView
	Example                 []token
}

type memberView struct {
	Name    string
	Meaning []piece
}

// group is the problems of one class of status.
type group struct {
	ID, Title string
	Problems  []problemView
}

// piece is a run of text, or of code.
type piece struct {
	Text string
	Code bool
}

// prose parts text at its backticks. One without its other half is text.
func prose(text string) []piece {
	var out []piece
	for text != "" {
		before, rest, opened := strings.Cut(text, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !opened || !closed {
			return append(out, piece{Text: text})
		}
		if before != "" {
			out = append(out, piece{Text: before})
		}
		if code != "" {
			out = append(out, piece{Text: code, Code: true})
		}
		text = after
	}
	return out
}

func (c Config) view(p Problem) problemView {
	v := problemView{
		Slug: p.Slug, Title: p.Title, Status: p.Status, StatusText: http.StatusText(p.Status), Class: p.Status / 100,
		URI: c.DocsURL + "/problems/" + p.Slug, When: prose(p.When), Do: prose(p.Do),
	}
	if p.Type != "" {
		v.URI, v.Foreign = p.Type, true
	}
	v.URIParts = strings.SplitAfter(v.URI, "/")
	for _, m := range p.Members {
		v.Members = append(v.Members, memberView{m.Name, prose(m.Meaning)})
	}
	if p.Example != "" {
		v.Example = exampleTokens(p.Example, v.URI)
	}
	return v
}

// groups puts the problems of the request before those of the service, each by status.
func (c Config) groups() []group {
	all := []group{{ID: "client", Title: "The request"}, {ID: "server", Title: "The service"}}
	sorted := slices.Clone(c.Problems)
	slices.SortStableFunc(sorted, func(a, b Problem) int { return a.Status - b.Status })
	for _, p := range sorted {
		g := &all[p.Status/100-4]
		g.Problems = append(g.Problems, c.view(p))
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.Problems) == 0 })
}

// day is the entries of one day.
type day struct {
	Date, Label string
	Entries     []site.Entry
}

func days(entries []site.Entry) []day {
	var out []day
	for _, e := range entries {
		date := e.At.Format(time.DateOnly)
		if len(out) == 0 || out[len(out)-1].Date != date {
			out = append(out, day{Date: date, Label: e.At.Format("2 January 2006")})
		}
		last := &out[len(out)-1]
		last.Entries = append(last.Entries, e)
	}
	return out
}

type problemBody struct {
	Groups  []group
	Problem problemView
}

type missingBody struct {
	Groups  []group
	Problem bool // asked for was a problem
}

// boundView is a Bound as its page shows it.
type boundView struct {
	Field, Value string
	Meaning      []piece
}

func bounds(gate []Bound) []boundView {
	out := make([]boundView, len(gate))
	for i, b := range gate {
		out[i] = boundView{b.Field, b.Value, prose(b.Meaning)}
	}
	return out
}

// addPages makes every page.
func (h *handler) addPages(c Config, assets string) error {
	groups := c.groups()
	for _, p := range []struct {
		path, template string
		page
	}{
		{"/docs/", "reference", page{
			Title: "Reference", Section: "reference",
			Description: "Every operation of the Boardwalk API: parameters, answers, examples, and a way to try them.",
		}},
		{problemsPath, "problems", page{
			Title: "Problems", Section: "problems", Body: problemBody{Groups: groups},
			Description: "Every type of problem that the Boardwalk API answers with.",
		}},
		{rankingPath, "ranking", page{
			Title: "Ranking", Section: "ranking", Body: struct{ Gate []boundView }{bounds(c.Gate)},
			Description: "How the launch board is ranked: its quality bar and its score.",
		}},
		{"/docs/developers", "developers", page{
			Title: "Developers", Section: "developers", Body: struct{ BaseURL string }{c.BaseURL},
			Description: "How to write a client of the Boardwalk API.",
		}},
		{"/docs/support", "support", page{
			Title: "Support", Section: "support", Description: "What to do when something fails or looks wrong.",
		}},
		{"/docs/news", "news", page{
			Title: "News", Section: "news", Body: struct{ Days []day }{days(c.Changelog)},
			Description: "What is new in this service.",
		}},
		{"/docs/changelog", "changelog", page{
			Title: "Changelog", Section: "changelog", Body: struct{ Days []day }{days(c.Changelog)},
			Description: "What changed in the Boardwalk API, newest first.",
		}},
	} {
		if err := h.add(p.path, p.template, assets, p.page); err != nil {
			return err
		}
	}
	for _, g := range groups {
		for _, p := range g.Problems {
			err := h.add(problemsPath+p.Slug, "problem", assets, page{
				Title: p.Title, Section: "problems", Body: problemBody{groups, p},
				Description: fmt.Sprintf("%d %s: when it happens and what to do.", p.Status, p.Slug),
			})
			if err != nil {
				return err
			}
		}
	}
	var err error
	if h.missing, err = render("missing", assets, page{Title: "No such page", Body: missingBody{}}); err != nil {
		return err
	}
	h.missingProblem, err = render("missing", assets, page{
		Title: "No such problem", Section: "problems", Body: missingBody{groups, true},
	})
	return err
}

func (h *handler) add(path, name, assets string, p page) error {
	f, err := render(name, assets, p)
	if name == "reference" {
		f.policy = viewerPolicy
	}
	h.files[path] = f
	return err
}

func render(name, assets string, p page) (file, error) {
	t, err := template.ParseFS(web, "web/layout.html", "web/prose.html", "web/"+name+".html")
	if err != nil {
		return file{}, err
	}
	p.Assets = assets
	var body bytes.Buffer
	if err := t.ExecuteTemplate(&body, "layout.html", p); err != nil {
		return file{}, err
	}
	return newFile(name+".html", body.Bytes(), forAWhile), nil
}
