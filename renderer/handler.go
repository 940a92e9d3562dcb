package renderer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
	"github.com/boardwalkhq/boardwalk/renderer/template"
)

// Handler is what is served on the socket: sharecard.CardsPath and sharecard.HealthPath.
func (r *Renderer) Handler() http.Handler {
	m := http.NewServeMux()
	m.Handle("POST "+sharecard.CardsPath+"{kind}", span.Handler(sharecard.CardsPath+"{kind}", http.HandlerFunc(r.card)))
	m.HandleFunc("GET "+sharecard.HealthPath, r.health)
	return m
}

func (r *Renderer) health(w http.ResponseWriter, _ *http.Request) {
	if err := r.browsers.Ready(); err != nil {
		r.fail(w, err)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (r *Renderer) card(w http.ResponseWriter, req *http.Request) {
	// The place comes first: what is read takes memory.
	place, err := r.browsers.Enter()
	if err != nil {
		r.fail(w, err)
		return
	}
	defer place.Leave()
	c, err := decode(w, req)
	if err != nil {
		r.fail(w, err)
		return
	}
	png, err := place.Draw(req.Context(), func() ([]byte, error) { return template.Document(c) })
	if err != nil {
		r.fail(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(png)))
	h.Set(sharecard.VersionHeader, sharecard.Version)
	_, _ = w.Write(png)
}

// errRequest is a request that isn't one for a card.
var errRequest = errors.New("not a card")

// decode reads a card and checks it.
func decode(w http.ResponseWriter, req *http.Request) (sharecard.Card, error) {
	c, err := sharecard.New(sharecard.Kind(req.PathValue("kind")))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	d := json.NewDecoder(http.MaxBytesReader(w, req.Body, sharecard.MaxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the card: one JSON object is allowed", errRequest)
	}
	return c, c.Validate()
}

// fail answers with what went wrong, as a line of text.
func (r *Renderer) fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
		err = fmt.Errorf("%w: at most %d bytes are allowed", err, tooLarge.Limit)
	case errors.Is(err, errRequest), errors.Is(err, sharecard.ErrInvalid):
		status = http.StatusBadRequest
	case errors.Is(err, browser.ErrBusy), errors.Is(err, browser.ErrUnavailable), errors.Is(err, browser.ErrFailed):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", seconds(r.browsers.RetryAfter()))
	case errors.Is(err, browser.ErrDeadline), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		status = http.StatusGatewayTimeout
	default:
		r.o.Log.Error("a card could not be made", "err", err.Error())
	}
	http.Error(w, err.Error(), status)
}

// seconds rounds up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
