package derive

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// paid are the platform's fees that watched wallets paid in a transaction, whose swaps are those from the given place on. Each is a log, once: a transfer to a
// recipient, or a router's log of the chain's own coin, of which nothing else tells. The payer is who sent the transfer, or whom a router names for it; on chains that
// tell balances, who paid for the transaction.
func (ps *positions) paid(tx *market.Tx, from int) []market.Fee {
	if len(ps.feeRecipients) == 0 {
		return nil
	}
	var fees []market.Fee
	add := func(i int, payer, recipient, asset market.Address, amount market.Amount) {
		fees = append(fees, market.Fee{
			Wallet: payer, Block: ps.b.Number, LogIndex: tx.Logs[i].Index, Time: ps.b.Time, Tx: tx.ID, Recipient: recipient, Asset: asset, Amount: amount,
		})
	}
	var routed []market.FeePaid
	for i := range tx.Logs {
		switch e := tx.Logs[i].Event.(type) {
		case market.Transfer:
			if ps.feeRecipients[e.To] && !ps.feeRecipients[e.From] && !e.Amount.IsZero() {
				add(i, e.From, e.To, e.Token, e.Amount)
			}
		case market.BalanceChange:
			if ps.feeRecipients[e.Owner] && !ps.feeRecipients[tx.Payer] && !tx.Payer.IsNone() && !e.Change.Neg && !e.Change.IsZero() {
				add(i, tx.Payer, e.Owner, e.Token, e.Change.Abs)
			}
		case market.FeePaid:
			switch {
			case !ps.feeRecipients[e.Recipient] || e.Amount.IsZero():
			case e.Asset.IsNative():
				add(i, e.Payer, e.Recipient, e.Asset, e.Amount)
			default:
				routed = append(routed, e)
			}
		}
	}
	ps.namePayers(fees, routed)
	others := 0
	return slices.DeleteFunc(fees, func(f market.Fee) bool {
		if !ps.s.isWatched(f.Wallet) || !ps.isFeeAsset(&f, from) {
			return true
		}
		if ps.IsQuote(f.Asset) {
			return false
		}
		others++
		return others > tokenFees
	})
}

// tokenFees is how many fees of a transaction are kept that were paid in the traded token: its contract may log any number of transfers.
const tokenFees = 16

// namePayers gives transfers the payers that routers name. A router's log names the payer of one transfer of its asset and amount to its recipient: of one that the
// payer sent, else of one that the router sent, else of one that no other watched wallet sent.
func (ps *positions) namePayers(fees []market.Fee, routed []market.FeePaid) {
	named := make([]bool, len(fees))
	for _, e := range routed {
		best, rank := -1, 0
		for i := range fees {
			f := &fees[i]
			if named[i] || f.Asset != e.Asset || f.Recipient != e.Recipient || f.Amount != e.Amount {
				continue
			}
			r := 0
			switch {
			case f.Wallet == e.Payer:
				r = 3
			case f.Wallet == e.Router:
				r = 2
			case !ps.s.isWatched(f.Wallet):
				r = 1
			}
			if r > rank {
				best, rank = i, r
			}
		}
		if best >= 0 {
			named[best], fees[best].Wallet = true, e.Payer
		}
	}
}

// isFeeAsset reports whether something can be a fee: a quote asset, or what its payer trades in the transaction. Any contract can log that its token was sent
// to a recipient.
func (ps *positions) isFeeAsset(f *market.Fee, from int) bool {
	if ps.IsQuote(f.Asset) {
		return true
	}
	return slices.ContainsFunc(ps.trades.swaps[from:], func(s market.Trade) bool { return s.Trader == f.Wallet && s.Base == f.Asset })
}

// valueFees values a transaction's fees at the close of the block, and shares what was paid in quote assets among its payer's trades by their values. A fee in
// the traded token has changed the quantity of the trade already.
func (ps *positions) valueFees(t *walletTx) {
	declared := map[hands]bool{}
	for i := range t.fees {
		f := &t.fees[i]
		of := hands{f.Wallet, ps.Canonical(f.Asset)}
		if _, known := declared[of]; !known {
			declared[of] = ps.isAsDeclared(t, f)
		}
		f.AsDeclared = declared[of]
		if quote := ps.Canonical(f.Asset); ps.isQuote(quote) {
			if token := ps.s.tokens.get(quote); token != nil && token.HasDecimals {
				f.NanoUSD, f.HasUSD = price.NanoUSD(&f.Amount, token.Decimals, ps.s.usd(quote))
			}
		}
		if f.HasUSD {
			ps.shareFee(t, f)
		}
	}
	ps.s.fees = append(ps.s.fees, t.fees...)
}

// shareFee divides a fee among its payer's trades. Each part is the rounded sum so far less the one before, so that they are the whole.
func (ps *positions) shareFee(t *walletTx, f *market.Fee) {
	var whole market.Amount
	places := ps.feeTrades(t, f.Wallet, func(s *market.Trade) bool { return s.HasUSD })
	for _, k := range places {
		whole.AddUint64(&whole, uint64(ps.trades.swaps[k].NanoUSD))
	}
	if whole.IsZero() {
		return
	}
	var sum market.Amount
	given := int64(0)
	for _, k := range places {
		sum.AddUint64(&sum, uint64(ps.trades.swaps[k].NanoUSD))
		part := pnl.Nano(f.NanoUSD).Share(&sum, &whole).Amount()
		until := int64(part.Uint64())
		ps.charged[k] += until - given
		given = until
	}
}

// feeTrades are the places of a wallet's trades in a transaction that a fee may be of.
func (ps *positions) feeTrades(t *walletTx, wallet market.Address, is func(*market.Trade) bool) (places []int) {
	for k := t.from; k < t.to; k++ {
		if s := &ps.trades.swaps[k]; s.Trader == wallet && !ps.isQuote(s.Base) && is(s) {
			places = append(places, k)
		}
	}
	return places
}

// isAsDeclared reports whether what a fee's payer paid of its asset in the transaction is the declared share of what they traded of it, with the fee or
// without it, to one raw unit for each trade.
func (ps *positions) isAsDeclared(t *walletTx, f *market.Fee) bool {
	var paid, traded market.Amount
	overflows := false
	plus := func(sum, v *market.Amount) {
		_, over := sum.AddOverflow(sum, v)
		overflows = overflows || over
	}
	for i := range t.fees {
		if o := &t.fees[i]; o.Wallet == f.Wallet && ps.Canonical(o.Asset) == ps.Canonical(f.Asset) {
			plus(&paid, &o.Amount)
		}
	}
	places := ps.feeTrades(t, f.Wallet, func(s *market.Trade) bool {
		return s.Base == f.Asset || ps.s.pools.get(s.Pool).Quote == ps.Canonical(f.Asset)
	})
	for _, k := range places {
		if s := &ps.trades.swaps[k]; s.Base == f.Asset {
			plus(&traded, &s.BaseAmount)
		} else {
			plus(&traded, &s.QuoteAmount)
		}
	}
	if len(places) == 0 || overflows {
		return false
	}
	var gross market.Amount
	if _, over := gross.AddOverflow(&traded, &paid); over {
		return false
	}
	return ps.isShare(&paid, &traded, len(places)) || ps.isShare(&paid, &gross, len(places))
}

const wholeBps = 10_000

// isShare reports whether an amount is the declared share of another one, to so many raw units.
func (ps *positions) isShare(part, of *market.Amount, units int) bool {
	var want, off, bps, whole market.Amount
	want.MulDivOverflow(of, bps.SetUint64(ps.feeBps), whole.SetUint64(wholeBps))
	if part.Lt(&want) {
		off.Sub(&want, part)
	} else {
		off.Sub(part, &want)
	}
	return off.IsUint64() && off.Uint64() <= uint64(units)
}
