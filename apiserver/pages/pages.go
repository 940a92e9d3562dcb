// Package pages has the pages for people: the front page, the status page, a token's share page, and problems.
package pages

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// Options are what the pages work with.
type Options struct {
	Tokens read.Tokens
	// Heartbeat is how the service is doing.
	Heartbeat func(*serve.Request) contract.Heartbeat
	// DrawsCards says whether there are cards to show.
	DrawsCards bool
	Links      wire.Links
	Build      serve.Build
	Site       *site.Site
}

// Pages answers with pages.
type Pages struct {
	Options

	// sharePolicy is the Content-Security-Policy of share pages, peoplePolicy that of the front page and the status page.
	sharePolicy, peoplePolicy []string
}

// New makes the pages.
func New(o Options) *Pages {
	return &Pages{Options: o, sharePolicy: newPagePolicy(o.Links.Base, shareStyle), peoplePolicy: newPagePolicy(o.Links.Base, peopleStyle)}
}

// Routes are the documented operations that answer with pages.
func (p *Pages) Routes() []serve.Route {
	return []serve.Route{{Operation: "getSharePage", Handle: p.share}}
}

// Undocumented are the addresses that people open beside the documentation.
func (p *Pages) Undocumented() map[string]serve.Handler {
	return map[string]serve.Handler{"/": p.front, "/status": p.status}
}
