// Package share answers a request for a card. The card operations of all subjects use it.
package share

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// Cards answers with the cards of all subjects.
type Cards struct {
	// Service has cards drawn; nil is a service that draws none.
	Service *cards.Service
	Series  series.Source
	// Pictures has the pictures of tokens.
	Pictures Pictures
}

// Pictures has tokens' pictures.
type Pictures interface {
	// Picture is a token's picture, a PNG; nil when there is none.
	Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error)
}

// Answer answers with the card of what stands in a parameter of the path, made of the data that build makes. A chain that isn't served is
// refused before anything that is remembered could answer.
func (c *Cards) Answer(r *serve.Request, kind sharecard.Kind, param string, build func(*serve.Request) (*cards.Built, error)) (*serve.Answer, error) {
	if chain := r.Text("chain"); chain != "" && r.Seen.Catalog.Chain(chain) == nil {
		return nil, r.UnsupportedChain("chain", chain)
	}
	if c.Service == nil {
		return nil, noRenderer()
	}
	ask := cards.Ask{Kind: kind, Of: r.Text(param) + " " + r.Text("chain"), In: r.Seen.Catalog}
	picture, stale, err := c.Service.Draw(r.Context(), ask, func(ctx context.Context) (*cards.Built, error) {
		// Others wait for this card too: the one who came first may go.
		own := *r
		own.Request = r.WithContext(ctx)
		b, err := build(&own)
		if p, ok := errors.AsType[*serve.ProblemError](err); ok && p.Status == http.StatusServiceUnavailable {
			return nil, fmt.Errorf("%w: %w", cards.ErrNoData, err)
		}
		return b, err
	})
	if away, ok := errors.AsType[*cards.UnavailableError](err); ok {
		return nil, notDrawn(away)
	}
	if err != nil {
		return nil, err
	}
	ans := serve.NewPicture(picture.PNG, picture.ETag, r.AsOf(picture.AsOf).Time)
	if stale {
		ans.Freshness = serve.Aged
	}
	return ans, nil
}

// noRenderer says what whoever runs the service has to do.
func noRenderer() error {
	p := serve.NewProblem("unavailable", "No cards are drawn here: whoever runs the service starts `boardwalk renderer` and names its socket with --renderer.")
	p.RetryAfter = 60
	return p
}

func notDrawn(e *cards.UnavailableError) error {
	slug, detail := "unavailable", "No card can be drawn at the moment. Try again after the time in Retry-After."
	if e.Busy {
		slug, detail = "temporary-reduced-capacity", "Too many cards are being drawn. Try again after the time in Retry-After."
	}
	p := serve.NewProblem(slug, detail)
	p.RetryAfter, p.Cause = max(int(e.RetryAfter/time.Second), 1), e
	return p
}
