package pages

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

const (
	// openAfter is the seconds after which a share page opens the app: long enough to see what it is about.
	openAfter = 2
	// houseName stands where a deployment names no app.
	houseName = "Boardwalk"
	// mostSymbol is how many characters of a symbol a title has room for.
	mostSymbol = 32
)

var (
	//go:embed web/share.html
	shareSource string
	//go:embed web/share.css
	shareStyle string

	sharePage = template.Must(template.New("share").Parse(shareSource))
)

// page is what the template is filled with: a token, or what went wrong.
type page struct {
	Title, Site string
	Style       template.CSS
	Token       *sharedToken

	Detail, Problem, Request string
	Faults                   []contract.ParameterError
}

// sharedToken is a token on its share page. Texts that are empty are unknown.
type sharedToken struct {
	Symbol, Name, Chain, Mint string
	Price, Move               string
	Direction                 figure.Direction
	Figures                   []shownFigure
	Description, Alt          string
	// Card and App are addresses, empty where there is none; After is the seconds until App is opened.
	Canonical, Card, App string
	After, Width, Height int
}

type shownFigure struct{ Label, Value string }

// share answers with the page that a token is shared by. Names on it are strangers': they are made plain, and html/template
// escapes them wherever they stand.
func (p *Pages) share(r *serve.Request) (*serve.Answer, error) {
	s, err := lookup.Named(r, p.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	t := p.shared(r, s)
	title := t.Symbol
	if t.Price != "" {
		title += " " + t.Price
	}
	if t.Move != "" {
		title += " (" + t.Move + ")"
	}
	body, err := p.fill(&page{Title: title, Token: t})
	if err != nil {
		return nil, err
	}
	return serve.NewPage(body, p.sharePolicy), nil
}

func (p *Pages) shared(r *serve.Request, s *lookup.Token) *sharedToken {
	f, mint := s.Figures(), s.Token.Token.Mint.String()
	name, symbol := plain.Text(s.Token.Token.Name), plain.AtMost(s.Token.Token.Symbol, mostSymbol)
	t := &sharedToken{
		Symbol: cmp.Or(symbol, name, plain.ShortAddress(mint)), Name: name, Chain: r.Seen.Catalog.Chain(s.Chain).Label, Mint: mint,
		Canonical: p.Links.Token(mint, s.Chain), After: openAfter, Width: sharecard.Width, Height: sharecard.Height,
	}
	if t.Name == t.Symbol {
		t.Name = ""
	}
	if usd := wire.Number(f.Price); usd != nil {
		t.Price, _ = figure.Price(*usd)
	}
	if pct := wire.Number(f.Change24hPct); pct != nil {
		t.Move, t.Direction = figure.Move(*pct)
	}
	t.Figures = shownFigures(f)
	t.Description = describe(t)
	t.Alt = "Card of " + t.Symbol + ": " + t.Description
	if p.DrawsCards {
		t.Card = p.Links.TokenCard(mint, s.Chain, s.AsOf)
	}
	if app := p.Site.App; app != nil {
		t.App = app.Link(mint, s.Chain, r.Text("ref"))
	}
	return t
}

func shownFigures(f figures.Figures) []shownFigure {
	usd := func(label string, v *float64) shownFigure {
		if v = wire.Number(v); v == nil {
			return shownFigure{Label: label}
		}
		text, _ := figure.USD(*v) // nothing, which is unknown, below zero
		return shownFigure{label, text}
	}
	return []shownFigure{usd("Market cap", f.FDV), usd("Liquidity", f.LiquidityUSD), usd("Volume 24 h", f.VolumeUSD)}
}

// describe is the token in one line, of what is known.
func describe(t *sharedToken) string {
	parts := make([]string, 0, 6)
	if t.Name != "" {
		parts = append(parts, t.Name+" on "+t.Chain)
	} else {
		parts = append(parts, "On "+t.Chain)
	}
	for _, f := range t.Figures {
		if f.Value != "" {
			parts = append(parts, f.Label+" "+f.Value)
		}
	}
	return strings.Join(parts, " · ")
}

// fill fills the template.
func (p *Pages) fill(shown *page) ([]byte, error) {
	shown.Site, shown.Style = houseName, template.CSS(shareStyle) //nolint:gosec // ours, and embedded
	if p.Site.App != nil {
		shown.Site = p.Site.App.Label
	}
	var out bytes.Buffer
	if err := sharePage.Execute(&out, shown); err != nil {
		return nil, fmt.Errorf("pages: a page: %w", err)
	}
	return out.Bytes(), nil
}

// newPagePolicy lets share pages load their card and nothing else, and run nothing.
func newPagePolicy(baseURL, style string) []string {
	sum := sha256.Sum256([]byte(style))
	origin := ""
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		origin = " " + u.Scheme + "://" + u.Host
	}
	return []string{
		"default-src 'none'; img-src 'self' data:" + origin + "; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
}

// Problem is a problem as a page, with its JSON in an attribute for whoever isn't a person, and its Content-Security-Policy.
func (p *Pages) Problem(problem *contract.Problem, id string, asJSON []byte) (body []byte, policy []string, ok bool) {
	e := &page{Title: problem.Title, Detail: problem.Detail, Problem: string(asJSON), Faults: problem.Errors}
	if problem.Status >= 500 {
		e.Request = id
	}
	body, err := p.fill(e)
	return body, p.sharePolicy, err == nil
}
