package httpapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

var (
	//go:embed web/front.html
	frontSource string
	//go:embed web/status.html
	statusSource string
	//go:embed web/people.html
	peopleSource string
	//go:embed web/people.css
	peopleStyle string

	frontTemplate  = template.Must(template.Must(template.New("front").Parse(frontSource)).Parse(peopleSource))
	statusTemplate = template.Must(template.Must(template.New("status").Parse(statusSource)).Parse(peopleSource))
)

// people is what the front page and the status page are filled with.
type people struct {
	Title, Site string
	Style       template.CSS
	Short       string // of the running commit
	Status      contract.HeartbeatStatus
	AsOf        string
	Chains      []peopleChain
	Unread      []string // chains that are declared and not read here
	Latency     string   // "" where it isn't known
	Token       *peopleToken
	Menu        []site.Resource
}

// peopleChain is a chain that is read. Lag is "" where nothing of the chain has been read yet.
type peopleChain struct {
	ID, Label, Lag string
	Status         contract.HeartbeatStatus
}

// peopleToken is a token of this deployment, to try addresses with.
type peopleToken struct{ Symbol, Mint, Chain string }

// The states by name, for the page that explains them.
func (*people) StateOk() contract.HeartbeatStatus   { return contract.HeartbeatStatusOk }
func (*people) StateSlow() contract.HeartbeatStatus { return contract.HeartbeatStatusSlow }
func (*people) StateDown() contract.HeartbeatStatus { return contract.HeartbeatStatusDown }

// frontPage says what runs here, and leads to answers of this deployment.
func (a *API) frontPage(r *request) (*answer, error) {
	p := a.people(r, "What runs here")
	p.Token = liveToken(r.seen.Live)
	for _, m := range a.Site.Resources {
		m.URL = relative(a.BaseURL, m.URL)
		p.Menu = append(p.Menu, m)
	}
	return a.peoplePage(frontTemplate, p)
}

// statusPage is the heartbeat for people.
func (a *API) statusPage(r *request) (*answer, error) {
	return a.peoplePage(statusTemplate, a.people(r, "Status"))
}

func (a *API) people(r *request, title string) *people {
	h := a.heartbeatNow(r)
	p := &people{Title: title, Site: houseName, Style: template.CSS(peopleStyle), Short: a.Build.short(), Status: h.Status} //nolint:gosec // ours, and embedded
	if a.Site.App != nil {
		p.Site = a.Site.App.Label
	}
	p.AsOf = h.AsOf.UTC().Format("2 January 2006, 15:04:05 UTC")
	if h.LatencyMs != nil {
		p.Latency = strconv.FormatFloat(*h.LatencyMs, 'f', 0, 64)
	}
	for _, c := range h.Chains {
		shown := peopleChain{ID: c.ID, Label: r.seen.Catalog.Chain(c.ID).Label, Status: c.Status}
		if c.HeadLagS != nil {
			shown.Lag = strconv.FormatFloat(*c.HeadLagS, 'f', 0, 64)
		}
		p.Chains = append(p.Chains, shown)
	}
	for i := range r.seen.Catalog.Chains {
		if c := &r.seen.Catalog.Chains[i]; c.Suspended {
			p.Unread = append(p.Unread, c.Label)
		}
	}
	return p
}

// liveToken is the first token of the live list; nil where it is empty.
func liveToken(list *view.Live) *peopleToken {
	if list == nil {
		return nil
	}
	for _, c := range list.Chains {
		if len(c.Tokens) > 0 {
			t := &c.Tokens[0].Token.Token
			mint := t.Mint.String()
			symbol := plain.AtMost(t.Symbol, mostSymbol)
			if symbol == "" {
				symbol = plain.ShortAddress(mint)
			}
			return &peopleToken{Symbol: symbol, Mint: mint, Chain: c.ID}
		}
	}
	return nil
}

// relative is an address of this service without its host, so that a page leads on also where it is opened by another name.
func relative(baseURL, address string) string {
	if rest, ok := strings.CutPrefix(address, baseURL+"/"); ok {
		return "/" + rest
	}
	return address
}

func (a *API) peoplePage(t *template.Template, p *people) (*answer, error) {
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("httpapi: the page %s: %w", t.Name(), err)
	}
	ans := newAnswer(out.Bytes())
	ans.media, ans.policy = htmlType, a.peoplePolicy
	return ans, nil
}
