package solana

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/replay"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// signatureFee is what a transaction's one signature costs, in lamports.
	signatureFee = 5000
	// soldPart is which part of what the market can pay a sale is worth at most, so that it hardly moves the price.
	soldPart = 100
	// leastWorth is the least worth of a sale, in the quote's smallest units, from which on it can count as lost: markets round.
	leastWorth = 1000
	// leastPaid is the part of what a sale is worth that a market has to pay. An EVM chain's honeypot_sell fails below the same part.
	leastPaid = 0.1
	// mostBehind is how many slots a simulation may be ahead of the index, some seconds. Beyond that the index's price isn't used.
	mostBehind = 16
	// attempts is how often a sale is simulated at most, where the head moves on between the node's two answers.
	attempts = 2
	// answers is how many nodes are asked for a sale that is made again. Where two have it, none of them decides alone which accounts it has.
	answers = 2
)

// marketSale is the newest sale at the token's market that can be made again.
type marketSale struct {
	call replay.Call
	// price is how much of the quote one unit of the token is worth at the market; 0 while unknown. most is the most units that are to be sold.
	price float64
	most  uint64
	// untold counts holders for whom the call itself told nothing. After a few of them it isn't tried any more.
	untold int

	market replay.Market
	older  []market.TxID // that weren't looked at yet, the newest first
}

// lastSale finds the newest sale at the token's market that can be made again; nil where none is known.
func (k *look) lastSale(ctx context.Context) *marketSale {
	at, ok := k.saleMarket()
	if !ok || k.known.LastSales == nil {
		return nil
	}
	sales, err := k.known.LastSales(ctx, k.index.Market.ID)
	k.saleFailed = k.saleFailed || err != nil
	s := &marketSale{market: at, older: sales}
	if !k.olderSale(ctx, s) {
		return nil
	}
	return s
}

// olderSale goes on to the next older sale that can be made again; ok is false where there is none.
func (k *look) olderSale(ctx context.Context, s *marketSale) (ok bool) {
	for len(s.older) > 0 {
		tx := s.older[0]
		s.older = s.older[1:]
		told, err := k.l.node.Transaction(ctx, tx, answers)
		k.saleFailed = k.saleFailed || err != nil
		call, ok := agreed(told, tx, &s.market)
		if !ok {
			continue
		}
		s.call = call
		if s.price, s.most = k.marketPrice(); s.most == 0 {
			s.most = call.Amount
		}
		return true
	}
	return false
}

// agreed is the sale that all nodes tell which tell the transaction; ok is false where they differ, or tell none that can be made again.
func agreed(told []json.RawMessage, tx market.TxID, at *replay.Market) (call replay.Call, ok bool) {
	for i, raw := range told {
		other, found := replay.Find(raw, tx, at)
		if !found || i > 0 && !call.Same(&other) {
			return call, false
		}
		call, ok = other, true
	}
	return call, ok
}

// saleMarket is the token's market, where sales at it can be made again.
func (k *look) saleMarket() (at replay.Market, ok bool) {
	switch {
	case k.index.Market == nil:
		return at, false
	case k.index.Market.Protocol == market.BondingCurve:
		if k.known.Launch == nil {
			return at, false
		}
		return replay.Curve(k.known.Launch, k.l.venues[k.known.Launch.Venue], k.l.wrapped)
	default:
		return replay.Pool(k.index.Market, k.l.wrapped)
	}
}

// marketPrice is how much of the quote one unit of the token is worth at the market, and the most units that can be sold without moving that much; 0 while unknown.
func (k *look) marketPrice() (price float64, most uint64) {
	p := k.index.Market
	base, quote := p.Reserve0.Float64(), p.Reserve1.Float64()
	if !p.BaseIs0 {
		base, quote = quote, base
	}
	switch launch := k.known.Launch; {
	case p.Protocol == market.BondingCurve && launch.Rules.Pricing == market.PriceReserves:
		price, quote = launch.Reserves.VirtualQuote.Float64()/launch.Reserves.VirtualBase.Float64(), launch.Reserves.RealQuote.Float64()
	case p.Protocol == market.BondingCurve:
		price, quote = launch.Reserves.Price.Float64()/math.Pow10(int(launch.Rules.Pricing.Decimals())), launch.Reserves.RealQuote.Float64()
	case !p.SqrtPriceX96.IsZero():
		price = math.Pow(p.SqrtPriceX96.Float64()/math.Exp2(96), 2)
		if !p.BaseIs0 {
			price = 1 / price
		}
	default:
		virtual := p.Virtual1.Abs.Float64()
		if p.Virtual1.Neg {
			virtual = -virtual
		}
		if !p.BaseIs0 {
			virtual = 0
		}
		price = (quote + virtual) / base
	}
	units := quote / price / soldPart
	if !(price > 0 && units >= 1 && units < math.MaxUint64) { // which no comparison of what is no number is
		return 0, 0
	}
	return price, uint64(units)
}

// trySale has a node make the last sale again, by a holder. told is false where that tells nothing of the token. A holder that can't pay for the transaction, or is no wallet, takes
// nothing from what is tried with others; a sale whose own call tells nothing does, as somebody may have made it so.
func (k *look) trySale(ctx context.Context, s *marketSale, h solana.Holding) (told bool) {
	if s == nil || s.untold == tried {
		return false
	}
	sale, ok := s.call.By(h.Owner, h.Account, min(h.Amount, s.most))
	if !ok {
		return false
	}
	watched := []market.Address{h.Owner, h.Account}
	if !sale.To.IsNone() {
		watched = append(watched, sale.To)
	}
	t := trial{holder: h, isSale: true}
	var sim solana.Simulated
	var err error
	for range attempts {
		if sim, err = k.l.node.Simulate(ctx, sale.Transaction, h.Slot, watched...); err != nil || sim.Err != "" {
			break
		}
		if t.detail, t.isLost = k.paid(s, &sim, h.Owner); t.detail != "" || sim.Slot == sim.BeforeSlot {
			break
		}
	}
	if err != nil {
		s.untold = tried
		if !k.hook().IsNone() { // else the transfer, which is tried then, tells
			k.notSimulated(err)
		}
		return false
	}
	refusal := func(told *solana.Simulated) string { return k.saleRefusal(s, told, sale.At) }
	if refusal(&sim) != "" {
		why := k.confirmed(ctx, &sim, sale.Transaction, h.Slot, refusal)
		if why == "" {
			return false
		}
		t.isRefused, t.detail = true, fmt.Sprintf("%s can't sell at the market: %s", h.Owner, why)
	}
	failure, failed := replay.FailureOf(sim.Err, sim.Logs)
	if t.at = sim.Slot; t.detail != "" {
		k.trials = append(k.trials, t)
		return true
	}
	if sim.Err == "" || failed && failure.At == sale.At {
		k.isHookUnread = k.isHookUnread || sim.Err != "" && failure.Program == k.hook() && !k.hook().IsNone()
		s.untold++
		k.olderSale(ctx, s)
	}
	return false
}

// saleRefusal gives the token's rule that refused a sale; it is empty where none did. The sale is the instruction at a place of its transaction.
func (k *look) saleRefusal(s *marketSale, told *solana.Simulated, at int) string {
	if f, is := replay.FailureOf(told.Err, told.Logs); is && f.At == at {
		return k.refusal(s, &f)
	}
	return ""
}

// refusal is the token's rule by which a sale was refused; it is empty where something else ended it, which says nothing of the token: our transaction may be wrong. What a
// token program says of an account counts only where the quote can't be meant: it is of the other token program, or SOL, which nobody freezes.
func (k *look) refusal(s *marketSale, f *replay.Failure) string {
	switch {
	case !f.HasCode || f.Program.IsNone():
		return ""
	case f.Program == k.told.Program && (s.call.Quote == k.l.wrapped || s.call.QuoteProgram != k.told.Program):
		return refusals[f.Code]
	case f.Program == k.hook() && !isOfAccounts(f.Code):
		return fmt.Sprintf("program %s, which decides about each transfer, refuses it with error %d", f.Program, f.Code)
	default:
		return ""
	}
}

// isOfAccounts reports whether an error says that a transfer hook's program was given other accounts than it wants, by the interface of such programs or by Anchor: those
// are ours, which are those of the sale that is made again. https://docs.rs/spl-transfer-hook-interface and https://docs.rs/anchor-lang have the numbers.
func isOfAccounts(code int64) bool {
	const incorrectAccount, calledOutsideOfTransfer, firstOfAnchor, lastOfAnchor = 2_110_272_652, 2_110_272_655, 2000, 5999
	return code >= incorrectAccount && code <= calledOutsideOfTransfer || code >= firstOfAnchor && code <= lastOfAnchor
}

// paid is what a sale came to that went through, and whether the market pays next to nothing for it. It is empty where nothing was sold, or what was paid says nothing.
func (k *look) paid(s *marketSale, sim *solana.Simulated, holder market.Address) (detail string, isLost bool) {
	const wallet, from, to = 0, 1, 2
	if len(sim.Before) <= from || len(sim.After) != len(sim.Before) || sim.After[from].Tokens >= sim.Before[from].Tokens {
		return "", false
	}
	sold, got := sim.Before[from].Tokens-sim.After[from].Tokens, uint64(0)
	if len(sim.Before) > to {
		got = more(sim.After[to].Tokens, sim.Before[to].Tokens)
	}
	decimals, knowsDecimals := s.call.QuoteDecimals, s.call.HasDecimals
	if s.call.Quote == k.l.wrapped {
		// It may be paid in SOL itself. What is in the account for the quote, such as its rent, is the holder's as well.
		const decimalsOfSOL = 9
		before, after := sim.Before[wallet].Lamports, sim.After[wallet].Lamports+signatureFee
		if len(sim.Before) > to {
			before, after = before+sim.Before[to].Lamports, after+sim.After[to].Lamports
		}
		got, decimals, knowsDecimals = max(got, more(after, before)), decimalsOfSOL, true
	}
	worth := s.price * float64(sold)
	if sim.Slot > k.known.Block.Number+mostBehind {
		worth = 0 // nobody knows
	}
	quote := k.l.symbols[s.call.Quote]
	if quote == "" {
		quote = s.call.Quote.String()
	}
	if !knowsDecimals {
		decimals, quote = 0, "units of "+quote
	}
	detail = fmt.Sprintf("%s would get %s %s for %s tokens at the market", holder, whole(got, decimals), quote, whole(sold, k.told.Decimals))
	switch {
	case worth >= leastWorth && float64(got) < leastPaid*worth:
		if sim.Slot != sim.BeforeSlot {
			return "", false // a trade in between may have changed what the holder had
		}
		return fmt.Sprintf("%s, which are worth %s there", detail, whole(uint64(min(worth, math.MaxInt64)), decimals)), true
	case got == 0:
		return "", false
	default:
		return detail, false
	}
}

// more is by how much one number is above another; 0 where it is not.
func more(a, b uint64) uint64 { return max(a, b) - b }

// whole writes an amount in whole units of so many decimals.
func whole(n uint64, decimals uint8) string {
	digits := strconv.FormatUint(n, 10)
	if missing := int(decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(decimals)
	return strings.TrimSuffix(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
}
