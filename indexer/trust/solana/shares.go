package solana

import (
	"context"
	"fmt"
	"slices"

	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// nobody are owners for whom nobody can sign: the incinerator and the system program. What they have is burned.
var nobody = []market.Address{account("1nc1nerator11111111111111111111111111111111"), account("11111111111111111111111111111111")}

// account parses the text of an account's key. A test checks each text of this file.
func account(text string) market.Address {
	a, _ := market.ParseSolanaAddress(text)
	return a
}

// askShares asks who can take out the liquidity of the pool that the token has left its curve for, or was made with.
func (k *look) askShares(ctx context.Context) {
	p := k.index.Market
	if p == nil || k.isOnCurve() {
		return
	}
	var err error
	owners := slices.Clone(nobody)
	for _, a := range k.l.lockers {
		if !slices.Contains(owners, a) {
			owners = append(owners, a)
		}
	}
	k.shares, k.knowsShares, err = k.l.node.Liquidity(ctx, p, owners)
	k.sharesFailed = err != nil
}

func (k *look) isOnCurve() bool { return k.known.Launch != nil && k.known.Launch.OnCurve() }

// lpBurned passes on a curve. Of a pool it measures the shares that are burned or with lockers. A pool with positions passes where enough of its liquidity is in positions
// that the program keeps for good, and is unknown else: each position has a token of its own, which may be burned or locked as well.
func (k *look) lpBurned(rule trust.Rule) trust.Check {
	switch {
	case k.isOnCurve():
		c := with(rule.Pass(nil), k.index.Evidence(k.known.Launch.Venue, "on the venue's curve, whose liquidity nobody can take out"))
		c.Source = check.FromCurve
		return c
	case k.index.Market == nil:
		return rule.Unknown(trust.NoPool)
	case k.failed, k.sharesFailed:
		return rule.Unknown(trust.CallFailed)
	case !k.knowsShares || k.shares.Whole.IsZero() || k.shares.Whole.LtUint64(k.shares.Left): // more are left than were issued: the account doesn't tell
		return rule.Unknown(trust.PositionOwnerUnknown)
	}
	s, pool := &k.shares, k.index.Market.ID.String()
	var sum market.Amount
	var evidence []trust.Evidence
	add := func(ref string, n market.Amount, what string) {
		if !n.IsZero() {
			sum.Add(&sum, &n)
			evidence = append(evidence, trust.Evidence{Kind: "account", Ref: ref, Block: s.Slot, Detail: fmt.Sprintf("%.4g %% of the liquidity %s", check.Share(n, s.Whole), what)})
		}
	}
	if s.Token.IsNone() {
		add(pool, s.Locked, "is locked for good, in positions")
	} else {
		add(s.Token.String(), *new(market.Amount).SubUint64(&s.Whole, s.Left), "is burned")
		for i, h := range s.Held {
			what := "is with locker " + h.Owner.String()
			if i < len(nobody) {
				what = "is with " + h.Owner.String() + ", for whom nobody can sign"
			}
			add(h.Account.String(), *new(market.Amount).SetUint64(h.Amount), what)
		}
	}
	c := rule.Measure(min(check.Share(sum, s.Whole), 100))
	switch {
	case s.Token.IsNone() && c.Result != trust.Pass:
		c = rule.Unknown(trust.PositionOwnerUnknown)
	case len(evidence) == 0:
		return with(c, trust.Evidence{Kind: "account", Ref: pool, Block: s.Slot, Detail: "none of its shares is burned or with a known locker"})
	}
	return with(c, evidence...)
}
