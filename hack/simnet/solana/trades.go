package solana

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
)

// withWSOL has somebody wrap SOL before what do adds, and unwrap what is left after it, unless the person keeps some.
func (w *World) withWSOL(t *tx, who svm.Signer, in uint64, do func()) {
	at := wsol.Account(who.Key)
	t.add(wsol.OpenAccount(who.Key, who.Key))
	if in > 0 {
		t.add(programs.Pay(who.Key, at, in), programs.SyncNative(at))
	}
	do()
	if !w.keepsWSOL(who) {
		t.add(programs.CloseAccount(at, who.Key, who.Key))
	}
}

// keepsWSOL reports whether somebody keeps wrapped SOL: the first of the people, and who is none of them.
func (w *World) keepsWSOL(who svm.Signer) bool {
	return slices.IndexFunc(w.People, func(p svm.Signer) bool { return p.Key == who.Key }) < wsolPeople
}

// Launch has somebody launch a token with a program (one of Programs), and buy it first for as many lamports.
func (w *World) Launch(ctx context.Context, program svm.Key, creator svm.Signer, l Launch, paid uint64) (*Curve, error) {
	t := w.begin(creator)
	if l.To == (svm.Key{}) {
		l.To = map[svm.Key]svm.Key{PumpFun: PumpSwap, LaunchLab: CPMM, DBC: DAMM}[program]
	}
	var c *Curve
	switch program {
	case PumpFun:
		c = w.launchPumpFun(ctx, t, creator, l)
	case LaunchLab:
		c = w.launchLab(ctx, t, creator, l)
	default:
		c = w.launchDBC(ctx, t, creator, l)
	}
	if paid > 0 {
		w.buyOnCurve(ctx, t, c, creator, paid)
	}
	return c, t.send()
}

// buyOnCurve gives what is paid: where that would buy more than is left it is less.
func (w *World) buyOnCurve(ctx context.Context, t *tx, c *Curve, who svm.Signer, paid uint64) uint64 {
	switch c.Program {
	case PumpFun:
		return w.buyPumpFun(ctx, t, c, who, paid)
	case LaunchLab:
		w.withWSOL(t, who, paid, func() { paid = w.swapLab(ctx, t, c, who, true, paid) })
	default:
		w.withWSOL(t, who, paid, func() { w.swapDBC(ctx, t, c, who, true, paid) })
	}
	return paid
}

// tradesNowhere reports whether nobody can trade the token now: its curve is full and hasn't moved, or it moved to DAMM v1.
func (c *Curve) tradesNowhere() bool {
	return c.Complete && (c.Pool == nil || c.Pool.Program == DAMMv1)
}

// Buy has somebody buy a launched token for lamports, where it trades now.
func (w *World) Buy(ctx context.Context, c *Curve, who svm.Signer, paid uint64) error {
	if c.tradesNowhere() {
		return nil
	}
	t := w.begin(who)
	switch p := c.Pool; {
	case p == nil:
		paid = w.buyOnCurve(ctx, t, c, who, paid)
	case p.Program == PumpSwap:
		w.withWSOL(t, who, paid, func() { w.buyPumpSwap(ctx, t, p, who, paid) })
	case p.Program == CPMM:
		w.withWSOL(t, who, paid, func() { w.swapCPMM(ctx, t, p, who, true, paid) })
	case p.Program == AMMv4:
		t.add(p.base.OpenAccount(who.Key, who.Key))
		w.withWSOL(t, who, paid, func() { w.swapAMM(ctx, t, p, who, false, paid) })
	default:
		w.withWSOL(t, who, paid, func() { w.swapDAMM(ctx, t, p, who, true, paid) })
	}
	w.platformFee(t, who, paid)
	return t.send()
}

// Sell has somebody sell a part of what they have of a launched token.
func (w *World) Sell(ctx context.Context, c *Curve, who svm.Signer, part float64) error {
	given := uint64(float64(w.Has(c.Token, who.Key)) * part)
	if given < 1000 || c.tradesNowhere() {
		return nil
	}
	t := w.begin(who)
	switch p := c.Pool; {
	case p == nil && c.Program == PumpFun:
		w.sellPumpFun(ctx, t, c, who, given)
	case p == nil && c.Program == LaunchLab:
		w.withWSOL(t, who, 0, func() { w.swapLab(ctx, t, c, who, false, given) })
	case p == nil:
		w.withWSOL(t, who, 0, func() { w.swapDBC(ctx, t, c, who, false, given) })
	case p.Program == PumpSwap:
		w.withWSOL(t, who, 0, func() { w.sellPumpSwap(ctx, t, p, who, given) })
	case p.Program == CPMM:
		w.withWSOL(t, who, 0, func() { w.swapCPMM(ctx, t, p, who, false, given) })
	case p.Program == AMMv4:
		w.withWSOL(t, who, 0, func() { w.swapAMM(ctx, t, p, who, true, given) })
	default:
		w.withWSOL(t, who, 0, func() { w.swapDAMM(ctx, t, p, who, false, given) })
	}
	return t.send()
}

// Migrate moves a full curve to a pool.
func (w *World) Migrate(ctx context.Context, c *Curve) error {
	who := w.People[0]
	t := w.begin(who)
	switch c.to {
	case PumpSwap:
		w.migratePumpFun(ctx, t, c, who)
	case CPMM:
		w.migrateLab(ctx, t, c, who)
	case AMMv4:
		w.migrateLabToAMM(ctx, t, c, who)
	case DAMMv1:
		w.migrateDBCToDAMMv1(ctx, t, c, who)
	default:
		w.migrateDBC(ctx, t, c, who)
	}
	return t.send()
}

// TradeSOL has somebody trade SOL for USDC, in a pool of PumpSwap or of the AMM v4.
func (w *World) TradeSOL(ctx context.Context, who svm.Signer, sells bool, amount uint64) error {
	p := w.pools[w.rng.IntN(2)]
	t := w.begin(who)
	if sells {
		w.withWSOL(t, who, amount, func() {
			if p.Program == AMMv4 {
				w.gains(USDC, who.Key, w.swapAMM(ctx, t, p, who, true, amount))
			} else {
				w.gains(USDC, who.Key, w.sellPumpSwap(ctx, t, p, who, amount))
			}
		})
		return t.send()
	}
	amount = min(amount, w.Has(USDC, who.Key))
	if amount < microUSD {
		return nil
	}
	w.loses(USDC, who.Key, amount)
	w.withWSOL(t, who, 0, func() {
		if p.Program == AMMv4 {
			w.swapAMM(ctx, t, p, who, false, amount)
		} else {
			w.buyPumpSwap(ctx, t, p, who, amount)
		}
	})
	return t.send()
}

// Give moves a part of what somebody has of a launched token.
func (w *World) Give(ctx context.Context, c *Curve, from, to svm.Signer, part float64) error {
	n := uint64(float64(w.Has(c.Token, from.Key)) * part)
	if n == 0 || from.Key == to.Key {
		return nil
	}
	t := w.begin(from)
	t.add(c.coin.OpenAccount(from.Key, to.Key), c.coin.Transfer(c.coin.Account(from.Key), c.coin.Account(to.Key), from.Key, n))
	w.loses(c.Token, from.Key, n)
	w.gains(c.Token, to.Key, n)
	return t.send()
}

// Burn destroys a part of what somebody has of a launched token.
func (w *World) Burn(ctx context.Context, c *Curve, who svm.Signer, part float64) error {
	n := uint64(float64(w.Has(c.Token, who.Key)) * part)
	if n == 0 {
		return nil
	}
	t := w.begin(who)
	t.add(c.coin.Burn(c.coin.Account(who.Key), who.Key, n))
	w.loses(c.Token, who.Key, n)
	return t.send()
}

// Fail has somebody try to sell what they don't have.
func (w *World) Fail(ctx context.Context, c *Curve, who svm.Signer) error {
	t := w.begin(who)
	t.fails = true
	t.add(c.coin.OpenAccount(who.Key, who.Key), c.coin.Transfer(c.coin.Account(who.Key), c.coin.Account(c.Account), who.Key, curveSupply))
	return t.send()
}

// Act has somebody do something, drawn by the world's seed: whatever the methods above do.
func (w *World) Act(ctx context.Context, names *tokentext.Inventor) error {
	who := w.People[w.rng.IntN(len(w.People))]
	if len(w.curves) == 0 || w.rng.IntN(25) == 0 {
		program := Programs[w.rng.IntN(len(Programs))]
		n := names.Next(false)
		l := Launch{Name: n.Name, Symbol: n.Symbol, URI: n.Metadata}
		if program == LaunchLab && w.made%2 == 0 {
			l.To = AMMv4
		}
		_, err := w.Launch(ctx, program, who, l, uint64(w.rng.IntN(3))*lamports)
		return err
	}
	c := w.curves[w.rng.IntN(len(w.curves))]
	switch n := w.rng.IntN(20); {
	case n < 3:
		return w.TradeSOL(ctx, who, w.rng.IntN(2) == 0, 100*microUSD+uint64(w.rng.IntN(50*lamports)))
	case n < 5:
		return w.Give(ctx, c, who, w.People[w.rng.IntN(len(w.People))], w.rng.Float64())
	case n == 5:
		return w.Burn(ctx, c, who, w.rng.Float64()/10)
	case n == 6:
		return w.Fail(ctx, c, who)
	case n == 7:
		among := []int{2, len(w.pools)}[w.rng.IntN(2)] // the first two are of SOL
		return w.Provide(ctx, w.pools[w.rng.IntN(among)], who, w.rng.IntN(2) == 0, w.rng.Float64()/5)
	case c.Pool == nil && c.Complete:
		return w.Migrate(ctx, c)
	case n < 11 && w.Has(c.Token, who.Key) > 0:
		part := w.rng.Float64()
		if w.rng.IntN(4) == 0 {
			part = 1
		}
		return w.Sell(ctx, c, who, part)
	default:
		return w.Buy(ctx, c, who, 100_000_000+uint64(w.rng.IntN(25*lamports)))
	}
}

// Target is what the curve raises before it is complete, in lamports.
func (c *Curve) Target() uint64 {
	if c.Program == DBC {
		return dbcThreshold
	}
	return curveTarget
}
