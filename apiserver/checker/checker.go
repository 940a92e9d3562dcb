// Package checker asks the indexers, which alone reach the chains, for a token's safety checks. Which token may be asked for
// is decided there: one that isn't indexed causes no call of a node.
package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// Checker makes the checks of a token.
type Checker interface {
	// Check gives the report of a token. The error is ErrNotIndexed where the chain's indexer doesn't know the token, ErrBusy
	// where it has too much to do, and another when it can't be asked.
	Check(ctx context.Context, chain string, mint market.Address) (*trust.Report, error)
}

// The errors that mean something of their own.
var (
	ErrNotIndexed = errors.New("checker: the token is not indexed")
	ErrBusy       = errors.New("checker: too busy")
)

const (
	// patience is how long a check may take: a simulation of some hundred milliseconds, and a wait for its turn.
	patience = 5 * time.Second
	// maxReport is far above what a report has.
	maxReport = 1 << 20
	// idle is how many connections to one indexer are kept for the next check.
	idle = 16
)

// Client asks indexers over their operations listeners.
type Client struct {
	base string
	http *http.Client
}

var _ Checker = (*Client)(nil)

// chainMark stands in an address for a chain's id.
const chainMark = "{chain}"

// NewClient makes a client for indexers at an address with {chain} in it, such as
// http://boardwalk-indexer-{chain}.boardwalk.svc:8081; one without it stands for all chains.
func NewClient(base string) (*Client, error) {
	base = strings.TrimRight(base, "/")
	u, err := url.Parse(strings.ReplaceAll(base, chainMark, "a"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("checker: %.200q can't be used: allowed is an http:// or https:// address, with {chain} where the chain's id goes", base)
	}
	return &Client{base: base, http: &http.Client{
		Timeout: patience,
		// No proxy: what stands in the environment is for the outside.
		Transport: &http.Transport{MaxIdleConnsPerHost: idle, IdleConnTimeout: time.Minute},
		// An indexer has nowhere to send anybody to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Check asks the chain's indexer.
func (c *Client) Check(ctx context.Context, chain string, mint market.Address) (*trust.Report, error) {
	target := strings.ReplaceAll(c.base, chainMark, url.PathEscape(chain)) + "/trust/" + mint.String()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, ErrNotIndexed
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return nil, ErrBusy
	default:
		return nil, fmt.Errorf("checker: %s answers %s", req.URL.Host, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReport+1))
	if err != nil {
		return nil, fmt.Errorf("checker: read a report: %w", err)
	}
	if len(body) > maxReport {
		return nil, fmt.Errorf("checker: %s answers with more than %d bytes", req.URL.Host, maxReport)
	}
	var r trust.Report
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("checker: read a report: %w", err)
	}
	if r.Chain != chain || r.Mint != mint.String() {
		return nil, fmt.Errorf("checker: %s answers with the report of %.80q on %.40q", req.URL.Host, r.Mint, r.Chain)
	}
	return &r, nil
}
