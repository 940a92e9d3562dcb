package checker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const mint = "0x4ed4e862860bed51a9570b96d89af5e1b0efefed"

func address(t *testing.T) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(mint)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// indexer answers as it is told, and notes what it was asked.
func indexer(t *testing.T, answer http.HandlerFunc) (c *Client, asked *string) {
	t.Helper()
	asked = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = r.Method + " " + r.URL.Path
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := NewClient(s.URL + "/{chain}/")
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func TestCheck(t *testing.T) {
	t.Parallel()
	want := trust.Report{
		Chain: "base", Mint: mint, Checks: []trust.Check{{ID: trust.SellTax, Result: trust.Warn, Severity: trust.High, Value: 12.5, Unit: "pct"}},
		Block: trust.Block{Number: 7, Hash: "0x07"},
	}
	c, asked := indexer(t, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(want) })
	got, err := c.Check(t.Context(), "base", address(t))
	if err != nil || len(got.Checks) != 1 || got.Checks[0].Value != 12.5 || got.Block != want.Block {
		t.Errorf("the report is %+v, %v", got, err)
	}
	if *asked != "GET /base/trust/"+mint {
		t.Errorf("it was asked %s", *asked)
	}
}

func TestWhatIsNoReport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		is     error
		says   string
	}{
		"not indexed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, ErrNotIndexed, ""},
		"busy":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, ErrBusy, ""},
		"a fault":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, nil, "500"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, nil, "302"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, nil, "read a report"},
		"of another": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"chain":"bsc","mint":"`+mint+`"}`)
		}, nil, "bsc"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", maxReport+1))
		}, nil, "bytes"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, nil, "read a report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := indexer(t, test.answer)
			_, err := c.Check(t.Context(), "base", address(t))
			if err == nil || (test.is != nil && !errors.Is(err, test.is)) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if test.is == nil && (errors.Is(err, ErrBusy) || errors.Is(err, ErrNotIndexed)) {
				t.Errorf("it is called %v", err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	c, _ := indexer(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Check(ctx, "base", address(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNewClient(t *testing.T) {
	t.Parallel()
	for base, ok := range map[string]bool{
		"http://boardwalk-indexer-{chain}.ns.svc:8081": true, "https://127.0.0.1:8081/": true, "http://[::1]:1": true,
		"": false, "boardwalk-indexer:8081": false, "ftp://a": false, "http://": false, "http://u:p@a": false, "http://a?b": false, "http://a#b": false,
	} {
		if _, err := NewClient(base); (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
	}
}
