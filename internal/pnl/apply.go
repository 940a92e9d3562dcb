package pnl

import "github.com/boardwalkhq/boardwalk/internal/market"

// Effect is what an entry did to its position.
type Effect struct {
	// Charged is the platform's fee.
	Charged USD
	// Sold is how much of a Sell had a basis; Cost is what that had cost and Proceeds what it brought, less its part of the fee. Excluded is what
	// the rest of the Sell brought. All of them are nought for a Sell whose value is unknown, but for Sold.
	Sold                     market.Amount
	Cost, Proceeds, Excluded USD
	// MovedOut is the cost of what went to strangers: by an Out, or unseen before a trade.
	MovedOut USD
	// Carried is the quantity with a basis that an Out took to another wallet of the member, and CarriedCost what it had cost.
	Carried     market.Amount
	CarriedCost USD
}

// IsSale reports whether the entry realised something that counts.
func (f *Effect) IsSale(e *Entry) bool {
	return e.Kind == Sell && e.valued() && !e.Ineligible && !f.Sold.IsZero()
}

// Realised is what a sale gained, below nought where it lost.
func (f *Effect) Realised() USD { return f.Proceeds.Sub(f.Cost) }

// valued reports whether the value is known. A negative one is none.
func (e *Entry) valued() bool { return e.HasUSD && e.NanoUSD >= 0 }

// fee is the platform's fee of a trade whose value is known.
func (e *Entry) fee() USD { return Nano(max(0, min(e.FeeNanoUSD, e.NanoUSD))) }

// Apply moves a position by an entry. Of the trades of one transaction only the first has HasBefore set. A wallet of the same member to which an Out goes
// gets what the effect has as carried, by Receive.
func Apply(p *market.Position, e *Entry) (f Effect) {
	if e.HasBefore && (e.Kind == Buy || e.Kind == Sell) {
		f.MovedOut = compare(p, &e.Before)
	}
	switch e.Kind {
	case Buy:
		if e.valued() {
			f.Charged = e.fee()
			put(p, &e.Amount, Nano(e.NanoUSD).Add(f.Charged))
		}
		raise(p, &e.Amount)
	case Sell:
		sell(p, e, &f)
		lower(p, &e.Amount)
	case Out:
		sent, cost := take(p, &e.Amount)
		if e.To.IsNone() {
			f.MovedOut = cost
		} else {
			f.Carried, f.CarriedCost = sent, cost
		}
		lower(p, &e.Amount)
	case In: // what has no basis needs no other record
		raise(p, &e.Amount)
	case Held:
		bound(p, &e.Amount)
	}
	if p.Quantity.IsZero() {
		p.IsIn, p.IsCopied = false, false
	}
	return f
}

// bound takes from a position what has a basis beyond all that the wallet has: it was sent away unseen, with its cost. It counts for nobody.
func bound(p *market.Position, held *market.Amount) {
	if held.Lt(&p.Quantity) {
		var out market.Amount
		out.Sub(&p.Quantity, held)
		take(p, &out)
	}
	forget(p) // what was known of it isn't so any more
}

func sell(p *market.Position, e *Entry, f *Effect) {
	sold, cost := take(p, &e.Amount)
	f.Sold = sold
	if !e.valued() {
		return
	}
	f.Charged = e.fee()
	net := Nano(e.NanoUSD).Sub(f.Charged)
	f.Cost, f.Proceeds = cost, net.Share(&sold, &e.Amount)
	f.Excluded = net.Sub(f.Proceeds)
}

// Receive gives a position what another wallet of the member sent: an amount, of which a quantity has a basis with its cost.
func Receive(p *market.Position, quantity *market.Amount, cost USD, amount *market.Amount) {
	put(p, quantity, cost)
	raise(p, amount)
}

// Book adds an entry and its effect to what a stretch of time came to. Whole sales are counted by Conclude.
func Book(p *market.Profit, e *Entry, f *Effect) {
	p.MovedOut = p.MovedOut.Add(f.MovedOut)
	if e.Kind != Buy && e.Kind != Sell {
		return
	}
	p.Trades++
	if e.HasGas {
		p.Gas = p.Gas.Add(Nano(e.GasNanoUSD))
	} else {
		p.WithoutGas++
	}
	if !e.valued() {
		p.Unvalued++
		return
	}
	p.Volume, p.Fees = p.Volume.Add(Nano(e.NanoUSD)), p.Fees.Add(f.Charged)
	switch {
	case e.Kind == Buy:
	case e.Ineligible:
		p.IneligibleSells++
	default:
		p.Excluded = p.Excluded.Add(f.Excluded)
		p.Proceeds, p.Cost = p.Proceeds.Add(f.Proceeds), p.Cost.Add(f.Cost)
	}
}

// Conclude counts a whole sale, which realised something.
func Conclude(p *market.Profit, realised USD) {
	p.Sales++
	switch realised.Sign() {
	case 1:
		p.Wins++
	case -1:
		p.Losses++
	}
}

// compare finds what was sent away since the trade before, and gives what it had cost. What came in between has no basis.
func compare(p *market.Position, before *market.Amount) (movedOut USD) {
	if p.HasBalance && before.Lt(&p.Balance) {
		var out market.Amount
		out.Sub(&p.Balance, before)
		_, movedOut = take(p, &out)
	}
	p.Balance, p.HasBalance = *before, true
	return movedOut
}

// raise adds to a balance that is known.
func raise(p *market.Position, v *market.Amount) {
	if !p.HasBalance {
		return
	}
	if _, over := p.Balance.AddOverflow(&p.Balance, v); over {
		forget(p)
	}
}

// lower takes from a balance that is known, and forgets one that would go below nought: a part of it came in unseen.
func lower(p *market.Position, v *market.Amount) {
	if !p.HasBalance {
		return
	}
	if _, under := p.Balance.SubOverflow(&p.Balance, v); under {
		forget(p)
	}
}

func forget(p *market.Position) { p.Balance, p.HasBalance = market.Amount{}, false }

// put adds quantity with its cost. What is beyond 256 bits, which no token that keeps its promises can bring about, is cut
// off: the cost then lies on less, and nobody gains by it.
func put(p *market.Position, quantity *market.Amount, cost USD) {
	if _, over := p.Quantity.AddOverflow(&p.Quantity, quantity); over {
		p.Quantity.SetAllOne()
	}
	p.Cost = p.Cost.Add(cost)
}

// take removes as much of wanted as has a basis, with its part of the cost. The last unit takes all that is left of it.
func take(p *market.Position, wanted *market.Amount) (taken market.Amount, cost USD) {
	if p.Quantity.IsZero() {
		return taken, cost
	}
	taken = *wanted
	if p.Quantity.Lt(wanted) {
		taken = p.Quantity
	}
	cost = p.Cost.Share(&taken, &p.Quantity)
	p.Quantity.Sub(&p.Quantity, &taken)
	p.Cost = p.Cost.Sub(cost)
	return taken, cost
}
