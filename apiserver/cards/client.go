package cards

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// Renderer draws a card as a PNG of sharecard.Width by sharecard.Height. While it can't, the error is an *UnavailableError.
type Renderer interface {
	Render(ctx context.Context, c sharecard.Card) ([]byte, error)
}

const (
	// renderTime bounds one render as a caller sees it, the time in the renderer's queue included. The renderer's own limits
	// are below it.
	renderTime = 8 * time.Second
	// pause is how long a renderer that is away isn't asked: as long as it takes to start one.
	pause = time.Second
	// maxPicture bounds what is read of a PNG, many times what a card has.
	maxPicture = 4 << 20
	// atOnce bounds the cards that are asked for at once: a few times what the renderer lets wait.
	atOnce = 256
	// idle is how many connections are kept.
	idle = 16
)

// UnavailableError says that nothing can be drawn for now.
type UnavailableError struct {
	// RetryAfter is when it makes sense to try again; at least a second.
	RetryAfter time.Duration
	// Busy is true when the renderer is there and has too much to do.
	Busy  bool
	Cause error
	// gone is true when there was no answer at all.
	gone bool
}

func (e *UnavailableError) Error() string {
	if e.Busy {
		return "cards: the renderer is busy: " + e.Cause.Error()
	}
	return "cards: the renderer draws nothing: " + e.Cause.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Cause }

var (
	errPaused = errors.New("it failed less than a second ago")
	errFull   = errors.New("too many cards wait for it")
	errForm   = errors.New("what it answered is no card")
)

// Client asks the renderer's process over its Unix socket. When that fails it isn't asked for a second, and then by one
// request alone until it answers, so that a renderer that starts isn't met by all who wait for it.
type Client struct {
	http   *http.Client
	places chan struct{}
	now    func() time.Time
	// pausedUntil is in Unix nanoseconds; 0 while the renderer answers.
	pausedUntil atomic.Int64
}

var _ Renderer = (*Client)(nil)

// NewClient makes a client of the renderer that listens on a socket. It need not be there yet.
func NewClient(socket string, now func() time.Time) *Client {
	var dialer net.Dialer
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 16 << 10,
		DisableCompression:     true,
	}
	return &Client{http: &http.Client{Transport: transport}, places: make(chan struct{}, atOnce), now: now}
}

// Render implements Renderer.
func (c *Client) Render(ctx context.Context, drawn sharecard.Card) ([]byte, error) {
	if err := drawn.Validate(); err != nil {
		return nil, fmt.Errorf("cards: %w", err)
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	default:
		return nil, &UnavailableError{RetryAfter: pause, Busy: true, Cause: errFull}
	}
	body, err := json.Marshal(drawn)
	if err != nil {
		return nil, fmt.Errorf("cards: %w", err)
	}
	if !c.mayAsk() {
		return nil, &UnavailableError{RetryAfter: pause, Cause: errPaused}
	}
	within, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	picture, err := c.ask(within, drawn.Kind(), body)
	switch away, ok := errors.AsType[*UnavailableError](err); {
	case !ok || !away.gone:
		c.pausedUntil.Store(0)
	case ctx.Err() == nil: // else it was the caller who went away
		c.pausedUntil.Store(c.now().Add(pause).UnixNano())
	}
	return picture, err
}

// mayAsk tells whether this render may ask; when a pause is over one does, with a new end of the pause.
func (c *Client) mayAsk() bool {
	until := c.pausedUntil.Load()
	if until == 0 {
		return true
	}
	now := c.now()
	// More than a pause to go: the clock was set back.
	if left := time.Duration(until - now.UnixNano()); left > 0 && left <= pause {
		return false
	}
	return c.pausedUntil.CompareAndSwap(until, now.Add(pause).UnixNano())
}

// ask sends one request. Nothing is tried twice.
func (c *Client) ask(ctx context.Context, kind sharecard.Kind, body []byte) ([]byte, error) {
	// The host is no name: the transport knows the socket alone.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://renderer"+sharecard.CardsPath+string(kind), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("cards: %w", err)
	}
	req.GetBody = nil // else the transport sends it again after a connection that broke
	req.Header.Set("Content-Type", "application/json")
	span.Inject(ctx, req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &UnavailableError{RetryAfter: pause, Cause: err, gone: true}
	}
	defer func() { _ = res.Body.Close() }()
	picture, err := io.ReadAll(io.LimitReader(res.Body, maxPicture+1))
	switch {
	case err != nil:
		return nil, &UnavailableError{RetryAfter: pause, Cause: err, gone: true}
	case res.StatusCode == http.StatusOK && res.Header.Get(sharecard.VersionHeader) != sharecard.Version:
		return nil, fmt.Errorf("cards: %w: it is drawn in version %.20q, not %q", errForm, res.Header.Get(sharecard.VersionHeader), sharecard.Version)
	case res.StatusCode == http.StatusOK:
		return picture, checkPicture(res.Header.Get("Content-Type"), picture)
	case res.StatusCode == http.StatusServiceUnavailable:
		return nil, &UnavailableError{RetryAfter: retryAfter(res.Header), Busy: true, Cause: answered(res.StatusCode, picture)}
	case res.StatusCode >= http.StatusInternalServerError:
		return nil, &UnavailableError{RetryAfter: pause, Cause: answered(res.StatusCode, picture)}
	default: // ours is the fault
		return nil, fmt.Errorf("cards: %w", answered(res.StatusCode, picture))
	}
}

// checkPicture wants a PNG of a card's size: whatever is served as one is nothing else.
func checkPicture(contentType string, picture []byte) error {
	if len(picture) > maxPicture {
		return fmt.Errorf("cards: %w: it is larger than %d bytes", errForm, maxPicture)
	}
	size, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil || contentType != "image/png" || size.Width != sharecard.Width || size.Height != sharecard.Height {
		return fmt.Errorf("cards: %w: %s of %d x %d pixels, %w", errForm, contentType, size.Width, size.Height, err)
	}
	return nil
}

// answered is a status with the text that came with it.
func answered(status int, text []byte) error {
	const most = 200
	line := strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), most)]), "?"))
	return fmt.Errorf("it answered %d: %s", status, line)
}

// retryAfter reads the header's seconds, which it holds to a minute.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil {
		return pause
	}
	return min(max(time.Duration(n)*time.Second, time.Second), time.Minute)
}
