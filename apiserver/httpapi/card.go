package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

var pngType = []string{"image/png"}

func (a *API) tokenCard(r *request) (*answer, error) {
	return a.drawn(r, sharecard.KindToken, r.text("mint"), a.buildToken)
}

func (a *API) launchCard(r *request) (*answer, error) {
	return a.drawn(r, sharecard.KindLaunch, r.text("mint"), a.buildLaunch)
}

func (a *API) traderCard(r *request) (*answer, error) {
	return a.drawn(r, sharecard.KindTrader, r.text("wallet"), a.buildTrader)
}

// drawn answers with a card. What the parameters rule out is known before anything is drawn or remembered: build asks for it
// again in vain.
func (a *API) drawn(r *request, kind sharecard.Kind, address string, build func(*request) (*cards.Built, error)) (*answer, error) {
	if chain := r.text("chain"); chain != "" && r.seen.Catalog.Chain(chain) == nil {
		return nil, r.unsupportedChain("chain", chain)
	}
	if a.Cards == nil {
		return nil, noRenderer()
	}
	ask := cards.Ask{Kind: kind, Of: address + " " + r.text("chain"), In: r.seen.Catalog}
	picture, stale, err := a.Cards.Draw(r.Context(), ask, func(ctx context.Context) (*cards.Built, error) {
		// Others wait for this card too: the one who came first may go.
		own := *r
		own.Request = r.WithContext(ctx)
		b, err := build(&own)
		if p, ok := errors.AsType[*problem](err); ok && p.Status == http.StatusServiceUnavailable {
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
	ans := &answer{
		body: picture.PNG, etag: []string{picture.ETag}, length: []string{strconv.Itoa(len(picture.PNG))}, media: pngType,
		asOf: []string{a.asOf(r, picture.AsOf).Format(time.RFC3339)},
	}
	if stale {
		ans.freshness = aged
	}
	return ans, nil
}

// noRenderer says what whoever runs the service has to do.
func noRenderer() error {
	p := newProblem("unavailable", "No cards are drawn here: whoever runs the service starts `boardwalk renderer` and names its socket with --renderer.")
	p.retryAfter = 60
	return p
}

func notDrawn(e *cards.UnavailableError) error {
	slug, detail := "unavailable", "No card can be drawn at the moment. Try again after the time in Retry-After."
	if e.Busy {
		slug, detail = "temporary-reduced-capacity", "Too many cards are being drawn. Try again after the time in Retry-After."
	}
	p := newProblem(slug, detail)
	p.retryAfter, p.cause = max(int(e.RetryAfter/time.Second), 1), e
	return p
}
