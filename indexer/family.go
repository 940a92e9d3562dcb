package indexer

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	evmtrust "github.com/boardwalkhq/boardwalk/indexer/trust/evm"
	solanatrust "github.com/boardwalkhq/boardwalk/indexer/trust/solana"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// family is what a chain's family gives its index.
type family struct {
	nodes  nodes
	looker trust.Looker
	// usage is what was asked of the endpoints since the start, and how each of them stands.
	usage func() (budget.Usage, []budget.Endpoint)
}

// familyOf chooses the family of a chain for its index. Nothing else of this package knows one.
func familyOf(cfg *chainconfig.Chain, ix *Indexer, o Options) (f family, err error) {
	aside := func(a chain.Aside) { ix.setAside(a.Kind, a.Reason, a.Subject) }
	switch cfg.Family {
	case chainconfig.EVM:
		src, err := evm.NewSource(cfg, evm.Options{
			Log: o.Log, Now: o.Now, Observe: o.Metrics.rpc(cfg.ID), InFlight: o.Metrics.answers(cfg.ID), Aside: aside, RereadPause: o.RereadPause,
			VouchTime: o.VouchTime, GivesUp: func(p budget.Purpose) bool { return ix.plan.GivesUp(p) },
		})
		if err != nil {
			return f, err
		}
		looker, err := evmtrust.New(cfg, src, evmtrust.Options{Log: o.Log, Now: o.Now})
		return family{nodes: nodes{src, src.Contracts(), src.History()}, looker: looker, usage: src.Usage}, err
	case chainconfig.Solana:
		src, err := solana.NewSource(cfg, solana.Options{
			Log: o.Log, Now: o.Now, Observe: o.Metrics.rpc(cfg.ID), InFlight: o.Metrics.answers(cfg.ID), Aside: aside, RereadPause: o.RereadPause,
		})
		return family{nodes: nodes{src, src.Accounts(), src.History()}, looker: solanatrust.New(cfg, src.Accounts(), o.Now), usage: src.Usage}, err
	default:
		return f, fmt.Errorf("chain %s: family %q is not known; allowed: %s, %s", cfg.ID, cfg.Family, chainconfig.EVM, chainconfig.Solana)
	}
}
