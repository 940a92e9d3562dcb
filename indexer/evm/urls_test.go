package evm

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestErrorsHaveNothingOfTheURL asks nodes that repeat what they were asked for, lead elsewhere, or aren't there.
func TestErrorsHaveNothingOfTheURL(t *testing.T) {
	t.Parallel()
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/echo/"):
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"invalid project id: %s"}}`, r.URL)
		case strings.HasPrefix(r.URL.Path, "/away/"):
			http.Redirect(w, r, "http://%zz"+r.URL.String(), http.StatusTemporaryRedirect)
		default:
			_, _ = fmt.Fprintf(w, "no such project: %s", r.URL)
		}
	}))
	t.Cleanup(node.Close)
	for _, endpoint := range []string{
		node.URL + "/echo/secretkey?token=secretkey", node.URL + "/away/secretkey", node.URL + "/garbage/secretkey",
		"http://secretkey.nodes.invalid/rpc", "http://user:secretkey@127.0.0.1:1/", "http://127.0.0.1:1/?apikey=secretkey",
	} {
		s, err := NewSource(&chainconfig.Chain{
			ID: "base", Family: chainconfig.EVM, EVMChainID: 1, BlockTime: chainconfig.Duration(time.Second),
			Native:    chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address("0x4200000000000000000000000000000000000006")},
			Endpoints: []chainconfig.Endpoint{{URL: endpoint, Weight: 1}},
		}, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Head(t.Context())
		if err == nil || strings.Contains(err.Error(), "secretkey") || strings.Contains(err.Error(), "nodes.invalid") {
			t.Errorf("asked at %s: %v", endpoint, err)
		}
		if _, err = s.Block(t.Context(), chain.Header{}); err == nil || strings.Contains(err.Error(), "secretkey") {
			t.Errorf("asked at %s for logs: %v", endpoint, err)
		}
	}
}
