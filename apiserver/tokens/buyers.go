package tokens

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// fromSwaps is the source of the checks of buyers, a value of the open enumeration of figure sources.
const fromSwaps = "chain_swaps"

// buyerChecks are the checks of a launched token's buyers; none for other tokens. They come beside what the indexer has checked, so that a failure to read them
// leaves the rest of a report as it is.
func (h *Handlers) buyerChecks(ctx context.Context, t *figures.Token) []trust.Check {
	b, err := h.Readers.Launches.BuyersOf(ctx, t)
	if err != nil && !errors.Is(err, read.ErrBusy) {
		h.Log.WarnContext(ctx, "a token's buyers can't be read: its trust report lacks them", "chain", t.Chain, "mint", t.Token.Mint.String(), "err", err.Error())
	}
	if err == nil && b == nil {
		return nil
	}
	out := make([]trust.Check, len(trust.BuyerRules))
	for i, rule := range trust.BuyerRules {
		if err != nil {
			out[i] = rule.Unknown(trust.TradesUnread)
		} else {
			out[i] = buyerCheck(rule, b, t.Token.Mint)
		}
		out[i].Source = fromSwaps
	}
	return out
}

// buyerCheck makes one of the checks of a token's buyers.
func buyerCheck(rule trust.Rule, b *boards.Buyers, mint market.Address) (c trust.Check) {
	clusters, words := b.Largest, buyersInWords(b)
	switch {
	case !b.Traded:
		return rule.Unknown(trust.NoTrades)
	case !b.Parts.KnowsFunding:
		c, clusters = rule.Unknown(trust.FundingUnknown), nil
	case rule.ID == trust.IndependentBuyers:
		c = trust.Independence(rule, b.Buyers, independent(b))
	default:
		c, clusters = rule.Measure(100*b.Parts.ByCreator), b.ByCreator
		words = percent(b.Parts.ByCreator) + " of the organic volume of the last " + windowHours + " hours is of wallets that the creator paid"
	}
	c.Evidence = append(c.Evidence, trust.Evidence{Kind: "index", Ref: mint.String(), Block: b.Block, Detail: words + ofNewest(b)})
	for i := range clusters {
		c.Evidence = append(c.Evidence, clusterEvidence(&clusters[i], mint, b.Block)...)
	}
	return c
}

// windowHours is the window of the score.
var windowHours = strconv.FormatFloat(traction.Window/3600.0, 'f', -1, 64)

// independent counts the independent buyers. A wallet that others bought for, too, may be in two clusters.
func independent(b *boards.Buyers) int { return min(b.Parts.Clusters, b.Buyers) }

// buyersInWords says why a token ranks where it does.
func buyersInWords(b *boards.Buyers) string {
	words := count(b.Buyers, "buyer") + " in the last " + windowHours + " hours"
	if !b.Parts.KnowsFunding {
		return words + "; who paid them isn't known"
	}
	words += fmt.Sprintf(", %d of them independent", independent(b))
	if len(b.Largest) > 0 {
		c := &b.Largest[0]
		words += "; " + percent(c.Share) + " of the organic volume is of " + count(c.Wallets, "wallet") + " that " + whoPaid(c)
	}
	return words
}

// ofNewest says that not all trades were read.
func ofNewest(b *boards.Buyers) string {
	if b.Newest == 0 {
		return ""
	}
	return fmt.Sprintf("; by the newest %d trades", b.Newest)
}

// whoPaid says in words who paid a cluster's wallets.
func whoPaid(c *boards.Cluster) string {
	switch {
	case c.Creator:
		return "the creator paid"
	case c.Funder.IsNone():
		return "nobody was seen to pay"
	}
	return "one account paid"
}

// clusterEvidence is the account that paid a cluster's wallets, and some of these with a trade of each.
func clusterEvidence(c *boards.Cluster, mint market.Address, block uint64) []trust.Evidence {
	paid, has := count(c.Wallets, "wallet"), percent(c.Share)+" of the organic volume"
	first := trust.Evidence{Kind: "account", Ref: c.Funder.String(), Block: block, Detail: "paid " + paid + ", itself or through others of them, with " + has}
	if c.Funder.IsNone() {
		first.Kind, first.Ref, first.Detail = "index", mint.String(), "nobody was seen to pay "+paid+" with "+has
	}
	out := []trust.Evidence{first}
	for i := range c.Shown {
		out = append(out, walletEvidence(&c.Shown[i]))
	}
	return out
}

// walletEvidence is a wallet's newest trade.
func walletEvidence(f *boards.TxFlow) trust.Evidence {
	did := "bought"
	if f.Sell {
		did = "sold"
	}
	detail := f.Trader.String() + " " + did
	switch {
	case f.Funding.Age == market.AgeOld:
		detail += "; it is older than a day"
	case f.Funding.State == market.FundingSeen:
		detail += "; its coins came from " + f.Funding.Funder.String() + ", and it was first paid at " + time.Unix(f.Funding.At, 0).UTC().Format(time.RFC3339)
	case f.Funding.State == market.FundingNotSeen:
		detail += "; nobody was seen to pay it"
	}
	return trust.Evidence{Kind: "log", Ref: f.Tx.String(), Block: f.Block, Detail: detail}
}

// count is a number of things in words.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// percent is a share of 0 to 1 in words. No share that there is reads as none, and none but the whole as all.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.005:
		return "less than 1 %"
	case share < 1 && share >= 0.995:
		return "more than 99 %"
	}
	return strconv.FormatFloat(100*share, 'f', 0, 64) + " %"
}
