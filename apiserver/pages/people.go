package pages

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
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

// front says what runs here, and leads to answers of this deployment.
func (p *Pages) front(r *serve.Request) (*serve.Answer, error) {
	shown := p.people(r, "What runs here")
	shown.Token = liveToken(r.Seen.Live)
	for _, m := range p.Site.Resources {
		m.URL = relative(p.Links.Base, m.URL)
		shown.Menu = append(shown.Menu, m)
	}
	return p.peoplePage(frontTemplate, shown)
}

// status is the heartbeat for people.
func (p *Pages) status(r *serve.Request) (*serve.Answer, error) {
	return p.peoplePage(statusTemplate, p.people(r, "Status"))
}

func (p *Pages) people(r *serve.Request, title string) *people {
	h := p.Heartbeat(r)
	out := &people{Title: title, Site: houseName, Style: template.CSS(peopleStyle), Short: p.Build.Short(), Status: h.Status} //nolint:gosec // ours, and embedded
	if p.Site.App != nil {
		out.Site = p.Site.App.Label
	}
	out.AsOf = h.AsOf.UTC().Format("2 January 2006, 15:04:05 UTC")
	if h.LatencyMs != nil {
		out.Latency = strconv.FormatFloat(*h.LatencyMs, 'f', 0, 64)
	}
	for _, c := range h.Chains {
		shown := peopleChain{ID: c.ID, Label: r.Seen.Catalog.Chain(c.ID).Label, Status: c.Status}
		if c.HeadLagS != nil {
			shown.Lag = strconv.FormatFloat(*c.HeadLagS, 'f', 0, 64)
		}
		out.Chains = append(out.Chains, shown)
	}
	for i := range r.Seen.Catalog.Chains {
		if c := &r.Seen.Catalog.Chains[i]; c.Suspended {
			out.Unread = append(out.Unread, c.Label)
		}
	}
	return out
}

// liveToken is the first token of the live list; nil where it is empty.
func liveToken(list *boards.Live) *peopleToken {
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

func (p *Pages) peoplePage(t *template.Template, shown *people) (*serve.Answer, error) {
	var out bytes.Buffer
	if err := t.Execute(&out, shown); err != nil {
		return nil, fmt.Errorf("pages: the page %s: %w", t.Name(), err)
	}
	return serve.NewPage(out.Bytes(), p.peoplePolicy), nil
}
