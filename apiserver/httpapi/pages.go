// Package pages has the pages for people: the front page, the status page, a token's share page, and problems.
package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
)

// PageOptions are what the pages work with.
type PageOptions struct {
	Tokens read.Tokens
	// Heartbeat is how the service is doing.
	Heartbeat func(*request) contract.Heartbeat
	// DrawsCards says whether there are cards to show.
	DrawsCards bool
	Links      Links
	Build      Build
	Site       *site.Site
}

// Pages answers with pages.
type Pages struct {
	PageOptions

	// sharePolicy is the Content-Security-Policy of share pages, peoplePolicy that of the front page and the status page.
	sharePolicy, peoplePolicy []string
}

// NewPages makes the pages.
func NewPages(o PageOptions) *Pages {
	return &Pages{PageOptions: o, sharePolicy: newPagePolicy(o.Links.Base, shareStyle), peoplePolicy: newPagePolicy(o.Links.Base, peopleStyle)}
}

// Routes are the documented operations that answer with pages.
func (p *Pages) Routes() []Route { return []Route{{Operation: "getSharePage", Handle: p.share}} }

// Undocumented are the addresses that people open beside the documentation.
func (p *Pages) Undocumented() map[string]Handler {
	return map[string]Handler{"/": p.front, "/status": p.status}
}
