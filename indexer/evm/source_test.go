package evm

import (
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// sourceFor is a source of these endpoints.
func sourceFor(t *testing.T, o Options, list ...chainconfig.Endpoint) *Source {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	s, err := NewSource(&chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, BlockTime: chainconfig.Duration(time.Second),
		Native: chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address("0x4200000000000000000000000000000000000006")}, Endpoints: list,
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sourceOf is a source of endpoints at these addresses.
func sourceOf(t *testing.T, now func() time.Time, urls ...string) *Source {
	t.Helper()
	var endpoints []chainconfig.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
	}
	return sourceFor(t, Options{Now: now}, endpoints...)
}
