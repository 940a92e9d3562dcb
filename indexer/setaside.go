package indexer

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// noDecimals is the reason for which a token is set aside.
const noDecimals = "it tells no decimals"

// setAside counts something that was set aside, so that its block could be indexed. Kinds and reasons are few, and
// known when this is compiled.
func (ix *Indexer) setAside(kind, reason, subject string) {
	ix.o.Metrics.setAside(ix.cfg.ID, kind, reason)
	ix.account.setAside(kind, reason, subject)
	ix.log.Debug("set aside", "kind", kind, "subject", subject, "reason", reason)
}

// tellSetAside counts the tokens, pools and curves that a commit's facts say nothing of.
func (ix *Indexer) tellSetAside(facts []store.StoredFact) {
	for _, f := range facts {
		switch f := f.Fact.(type) {
		case market.TokenFact:
			if !f.HasDecimals {
				ix.setAside("token", noDecimals, f.Token.String())
			}
		case market.PoolFact:
			if !f.Known {
				ix.setAside("pool", f.Reason, f.Pool.String())
			}
		case market.CurveFact:
			if !f.Known {
				ix.setAside("curve", f.Reason, f.Token.String())
			}
		}
	}
}

func (a *account) setAside(kind, reason, subject string) {
	now := a.now()
	a.update(func(s *chainconfig.State) {
		// Readers have the list that was.
		list := slices.Clone(s.SetAside)
		i, found := slices.BinarySearchFunc(list, chainconfig.SetAside{Kind: kind, Reason: reason}, func(x, y chainconfig.SetAside) int {
			return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Reason, y.Reason))
		})
		if !found {
			list = slices.Insert(list, i, chainconfig.SetAside{Kind: kind, Reason: reason})
		}
		list[i].Count, list[i].Last, list[i].LastAt = list[i].Count+1, subject, now
		s.SetAside = list
	})
}
