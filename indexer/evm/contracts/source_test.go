package contracts

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// source has a chain's contracts asked by endpoints. All but seen and aside has to be set before they are asked first.
type source struct {
	pool                   *rpc.Pool[*node.Endpoint]
	seen                   atomic.Uint64
	aside                  func(chain.Aside)
	rereadPause, vouchTime time.Duration
	within                 func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	made                   sync.Once
	contracts              Contracts
}

func (s *source) Contracts() Contracts {
	s.made.Do(func() {
		aside := func(a chain.Aside) {
			if s.aside != nil {
				s.aside(a)
			}
		}
		s.contracts = New(s.pool, ethcall.New(s.pool, ethcall.Options{
			Head: s.seen.Load, Aside: aside, RereadPause: s.rereadPause, VouchTime: s.vouchTime, Within: s.within,
		}), wrapped)
	})
	return s.contracts
}

var wrapped = markettest.Address("0x4200000000000000000000000000000000000006")

// options are what a test's endpoints need.
type options struct {
	Now       func() time.Time
	VouchTime time.Duration
}

// sourceFor is a source of these endpoints.
func sourceFor(t *testing.T, o options, list ...chainconfig.Endpoint) *source {
	t.Helper()
	pool, err := node.NewPool(&chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, Native: chainconfig.Native{Symbol: "ETH", Wrapped: wrapped}, Endpoints: list,
	}, node.Options{Log: slog.New(slog.DiscardHandler), Now: o.Now})
	if err != nil {
		t.Fatal(err)
	}
	return &source{pool: pool, rereadPause: 500 * time.Millisecond, vouchTime: cmp.Or(o.VouchTime, 2*time.Second)}
}

// sourceOf is a source of endpoints at these addresses.
func sourceOf(t *testing.T, now func() time.Time, urls ...string) *source {
	t.Helper()
	var endpoints []chainconfig.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
	}
	return sourceFor(t, options{Now: now}, endpoints...)
}
