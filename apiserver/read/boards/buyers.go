package boards

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

const (
	// buyersTTL is how long a token's buyers are used again: as long as a trust report, which shows them.
	buyersTTL = time.Minute
	// maxBuyerFlows bounds the trades that are read for a token's buyers.
	maxBuyerFlows = 20_000
	// shownClusters and shownWallets bound what is told of a token's clusters. One wallet alone is no cluster that is worth telling.
	shownClusters, shownWallets, leastWallets = 3, 5, 2
)

// TxFlow is a trade with its transaction.
type TxFlow = store.TxFlow

// Buyers lists the wallets that bought a launched token in the window of the score.
type Buyers struct {
	Parts traction.Parts
	// Traded says that a wallet that has no part in the launch traded it, and Buyers is how many of them bought more than they sold.
	Traded bool
	Buyers int
	// Largest are the largest clusters, and ByCreator the largest of those that one who has part in the launch paid.
	Largest, ByCreator []Cluster
	// Block is the newest indexed block.
	Block uint64
	// Newest is how many of the newest trades were read; 0 where that was all of them.
	Newest int
}

// Cluster is a number of wallets that count together, in what is told of them.
type Cluster struct {
	// Funder is none where nobody was seen to pay the wallets.
	Funder  market.Address
	Creator bool
	Wallets int
	// Share is of the organic volume, from 0 to 1.
	Share float64
	// Shown are the newest trades of those with the most organic volume.
	Shown []TxFlow
}

// BuyersOf tells who bought a token; nil where it wasn't launched. What it gives is shared and must not be changed. While the database can't be read, what was read
// last stands in for it.
func (r *Launches) BuyersOf(ctx context.Context, t *figures.Token) (*Buyers, error) {
	if !t.Launched {
		return nil, nil
	}
	key := besideKey{t.Chain, t.Token.Mint}
	hit, ok := r.buyers.Get(key)
	if ok && (r.now().Sub(hit.At) < buyersTTL || r.away()) {
		return hit.Value, nil
	}
	out, err, _ := r.flight.Do("buyers "+t.Chain+" "+t.Token.Mint.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figures.ReadTime)
		defer cancel()
		b, err := r.readBuyers(ctx, t, maxBuyerFlows)
		if err == nil {
			r.buyers.Put(key, recent.Dated[*Buyers]{Value: b, At: r.now()})
		}
		return b, err
	})
	if err != nil && ok {
		return hit.Value, nil
	}
	b, _ := out.(*Buyers)
	return b, err
}

// readBuyers measures the token's trades as the board does. It reads the newest most of them.
func (r *Launches) readBuyers(ctx context.Context, t *figures.Token, most int) (*Buyers, error) {
	launches, err := r.store.Launches.At(ctx, []market.Address{t.Token.Mint})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(launches, func(l LaunchNow) bool { return l.Chain == t.Chain })
	if at < 0 {
		return nil, nil
	}
	var pools []market.Address
	for i := range t.Pools {
		if p := &t.Pools[i]; p.Untrusted == market.Trusted {
			pools = append(pools, p.ID)
		}
	}
	flows, err := r.store.Trades.FlowsOf(ctx, t.Chain, t.Token.Mint, pools, t.AsOf-readBack, most+1)
	if err != nil {
		return nil, fmt.Errorf("the buyers of %s on %s: %w", t.Token.Mint, t.Chain, err)
	}
	out := &Buyers{Block: t.Block}
	if len(flows) > most {
		flows, out.Newest = flows[len(flows)-most:], most
	}
	facts := figures.NewFacts(t)
	worth := facts.Worth(t.Token.Mint, t.USD, t.AsOf)
	out.take(flows, NewLaunched(&launches[at].Launch).Excluded(), worth.Liquidity, t.AsOf)
	return out, nil
}

// take measures trades.
func (b *Buyers) take(flows []store.TxFlow, excluded []market.Address, liquidityUSD float64, now int64) {
	list := make([]traction.Flow, len(flows))
	newest := make(map[market.Address]*store.TxFlow)
	for i := range flows {
		list[i] = flowOf(&flows[i].Flow)
		newest[flows[i].Trader] = &flows[i]
	}
	broken := traction.BreakDown(list, excluded, liquidityUSD, now)
	b.Parts, b.Traded, b.Buyers = broken.Parts, broken.Trades, broken.Buyers
	for i := range broken.Clusters {
		c := &broken.Clusters[i]
		told := Cluster{Funder: c.Funder, Creator: c.Creator, Wallets: len(c.Wallets), Share: c.Share}
		for _, w := range c.Wallets[:min(len(c.Wallets), shownWallets)] {
			told.Shown = append(told.Shown, *newest[w])
		}
		if c.Creator && len(b.ByCreator) < shownClusters {
			b.ByCreator = append(b.ByCreator, told)
		}
		if len(c.Wallets) >= leastWallets && len(b.Largest) < shownClusters {
			b.Largest = append(b.Largest, told)
		}
	}
}

// flowOf is a trade as the score sees it.
func flowOf(f *store.Flow) traction.Flow {
	return traction.Flow{Wallet: f.Trader, Time: f.Time, Sell: f.Sell, USD: float64(f.NanoUSD) / 1e9, CloseUSD: f.CloseUSD, Funding: f.Funding}
}
