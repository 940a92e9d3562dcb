package solanatest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
)

// Accounts that hold what all curves or pools of a program have.
const (
	labHolder  = "WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh"
	dbcHolder  = "FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM"
	cpmmHolder = "GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL"
	dammHolder = "HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC"
)

// The supply and the reserves that every curve begins with, in base units, and how much SOL a curve of DBC has to raise, in lamports.
const (
	supply                        = 1_000_000_000e6
	firstSOL, firstToken, forSale = 30e9, 1_073e12, 793_100_000e6
	threshold                     = 60e9
)

// instruction is how the data of an Anchor program's instruction begins.
func instruction(name string) []byte {
	sum := sha256.Sum256([]byte("global:" + name))
	return sum[:8]
}

// launch launches a token on a curve, which its creator buys first.
func (w *World) launch() json.RawMessage {
	who := person(w.rng.IntN(people))
	w.state.made++
	token := Name("token %d of fork %d", w.state.made, w.forks)
	c := curve{token: token, account: Name("curve of %s", token), creator: who, virtualSOL: firstSOL, virtualToken: firstToken, realToken: forSale}
	switch w.rng.IntN(3) {
	case 0:
		c.program, c.holder = PumpFun, c.account
	case 1:
		c.program, c.holder = LaunchLab, labHolder
	default:
		c.program, c.holder = MeteoraDBC, dbcHolder
	}
	w.state.curves = append(w.state.curves, c)
	t := w.begin(who)
	t.move(token, "", c.holder, supply)
	texts := slices.Concat(text("Token %d", w.state.made), text("T%d", w.state.made), text("https://example.com/%d", w.state.made))
	switch c.program {
	case PumpFun:
		at := t.call(PumpFun, []string{token}, instruction("create_v2"))
		t.event(at, PumpFun, "CreateEvent", slices.Concat(texts, keys(token, c.account, who, who), numbers(0, firstToken, firstSOL, forSale, supply)))
	case LaunchLab:
		accounts := []string{who, who, Name("config"), Name("platform"), labHolder, c.account, token, WSOL}
		at := t.call(LaunchLab, accounts, instruction("initialize_v2"))
		t.event(at, LaunchLab, "PoolCreateEvent", slices.Concat(keys(c.account, who, Name("config")), []byte{6}, texts, []byte{0}, numbers(supply, forSale, 85e9), []byte{1},
			numbers(0, 0, 0), []byte{0}))
	default:
		accounts := []string{Name("config"), dbcHolder, who, token, WSOL, c.account}
		at := t.call(MeteoraDBC, accounts, append(instruction("initialize_virtual_pool_with_spl_token"), texts...))
		t.event(at, MeteoraDBC, "EvtInitializePool", slices.Concat(keys(c.account, Name("config"), who, token), []byte{0}, numbers(0)))
	}
	w.buy(t, &w.state.curves[len(w.state.curves)-1], who, 1e9)
	return t.end()
}

// buy buys from a curve, as much as is for sale at most.
func (w *World) buy(t *builder, c *curve, who string, paid uint64) {
	got := product(c.virtualToken, paid, c.virtualSOL+paid)
	if got >= c.realToken {
		got, c.complete = c.realToken, true
	}
	c.virtualSOL, c.virtualToken, c.realSOL, c.realToken = c.virtualSOL+paid, c.virtualToken-got, c.realSOL+paid, c.realToken-got
	if c.program == MeteoraDBC {
		c.complete = c.realSOL >= threshold
	}
	t.move(c.token, c.holder, who, got)
	w.tell(t, c, who, true, paid, got)
}

// tell is the event of a trade on a curve, and that the curve is full where it is.
func (w *World) tell(t *builder, c *curve, who string, buys bool, sol, tokens uint64) {
	side := []byte{1}
	if buys {
		side[0] = 0
	}
	switch c.program {
	case PumpFun:
		at := t.call(PumpFun, []string{Name("global")}, instruction("trade"))
		t.event(at, PumpFun, "TradeEvent", slices.Concat(keys(c.token), numbers(sol, tokens), []byte{1 - side[0]}, keys(who),
			numbers(0, c.virtualSOL, c.virtualToken, c.realSOL, c.realToken), keys(Name("fees")), numbers(95, sol/100), keys(c.creator), numbers(30, sol/300)))
		if c.complete {
			t.event(at, PumpFun, "CompleteEvent", slices.Concat(keys(who, c.token, c.account), numbers(0)))
		}
	case LaunchLab:
		accounts := []string{who, labHolder, Name("config"), Name("platform"), c.account, Name("ub"), Name("uq"), Name("bv"), Name("qv"), c.token, WSOL}
		sold, given, got, before := forSale-c.realToken, sol, tokens, c.realSOL-sol
		if !buys {
			given, got, before = tokens, sol, c.realSOL+sol
		}
		status := []byte{0}
		if c.complete {
			status[0] = 1
		}
		t.event(t.call(LaunchLab, accounts, instruction("trade")), LaunchLab, "TradeEvent", slices.Concat(keys(c.account),
			numbers(forSale, firstToken, firstSOL, 0, before, sold, c.realSOL, given, got, 0, 0, 0, 0), side, status, []byte{1}))
	default:
		accounts := []string{dbcHolder, Name("config"), c.account, Name("in"), Name("out"), Name("bv"), Name("qv"), c.token, WSOL, who}
		given, got := sol, tokens
		if !buys {
			given, got = tokens, sol
		}
		at := t.call(MeteoraDBC, accounts, instruction("swap2"))
		t.event(at, MeteoraDBC, "EvtSwap2", slices.Concat(keys(c.account, Name("config")), []byte{1 - side[0], 0}, numbers(given, 0), []byte{0}, numbers(given, given, 0, got),
			sqrtPrice(c.virtualSOL, c.virtualToken), numbers(0, 0, 0, c.realSOL, threshold, 0)))
		if c.complete {
			t.event(at, MeteoraDBC, "EvtCurveComplete", slices.Concat(keys(c.account, Name("config")), numbers(0, c.realSOL)))
		}
	}
}

// sqrtPrice is the square root of a / b with 64 fractional bits, in 16 bytes.
func sqrtPrice(a, b uint64) []byte {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(a), 128)
	n.Sqrt(n.Div(n, new(big.Int).SetUint64(b)))
	out := n.FillBytes(make([]byte, 16))
	slices.Reverse(out)
	return out
}

// tradeCurve buys from a curve or sells to it.
func (w *World) tradeCurve(c *curve) json.RawMessage {
	who := person(w.rng.IntN(people))
	t := w.begin(who)
	has := t.held(c.token, who)
	if has == 0 || w.rng.IntN(3) > 0 {
		w.buy(t, c, who, 1e9+uint64(w.rng.IntN(20e9)))
		return t.end()
	}
	given := 1 + uint64(w.rng.Int64N(int64(has)))
	got := min(product(c.virtualSOL, given, c.virtualToken+given), c.realSOL)
	c.virtualSOL, c.virtualToken, c.realSOL, c.realToken = c.virtualSOL-got, c.virtualToken+given, c.realSOL-got, c.realToken+given
	t.move(c.token, who, c.holder, given)
	w.tell(t, c, who, false, got, given)
	return t.end()
}

// migrate moves a full curve's funds to a pool.
func (w *World) migrate(c *curve) json.RawMessage {
	who := person(0)
	t := w.begin(who)
	p := pool{account: Name("pool of %s", c.token), base: c.token, quote: WSOL}
	left := t.held(c.token, c.holder)
	switch c.program {
	case PumpFun:
		p.program, p.holder, p.virtual = PumpSwap, p.account, int64(w.rng.IntN(3)-1)*5e9
	case LaunchLab:
		p.program, p.holder = RaydiumCPMM, cpmmHolder
	default:
		p.program, p.holder = MeteoraDAMM, dammHolder
	}
	t.shift(holding{token: c.token, owner: c.holder}, p.vault(c.token), left)
	t.shift(holding{token: WSOL}, p.vault(WSOL), c.realSOL)
	switch c.program {
	case PumpFun:
		at := t.call(PumpFun, []string{Name("global")}, instruction("migrate"))
		t.callFrom(at, PumpSwap, []string{p.account}, instruction("create_pool"))
		t.tellFrom(at, PumpSwap, "CreatePoolEvent", slices.Concat(numbers(0), []byte{0, 0}, keys(c.account, c.token, WSOL), []byte{6, 9},
			numbers(left, c.realSOL, left, c.realSOL, 100, 1000, 900), []byte{255}, keys(p.account)))
		t.event(at, PumpFun, "CompletePumpAmmMigrationEvent", slices.Concat(keys(who, c.token), numbers(left, c.realSOL, 0), keys(c.account), numbers(0), keys(p.account)))
	case LaunchLab:
		at := t.call(LaunchLab, []string{who, c.token, WSOL, Name("platform"), RaydiumCPMM, p.account}, instruction("migrate_to_cpswap"))
		first, second := inOrder(c.token, WSOL)
		t.callFrom(at, RaydiumCPMM, []string{
			who, Name("config"), cpmmHolder, p.account, first, second, Name("lp"), Name("a"), Name("b"), Name("c"), p.vault(first).key(), p.vault(second).key(),
		}, append(instruction("initialize"), numbers(left, c.realSOL, 0)...))
	default:
		accounts := []string{
			c.account, Name("m"), Name("config"), dbcHolder, p.account, Name("n1"), Name("n2"), Name("n3"), Name("n4"), Name("n5"), Name("n6"), dammHolder, MeteoraDAMM, c.token, WSOL,
		}
		at := t.call(MeteoraDBC, accounts, instruction("migration_damm_v2"))
		t.callFrom(at, MeteoraDAMM, []string{p.account}, instruction("initialize_pool_with_dynamic_config"))
		t.tellFrom(at, MeteoraDAMM, "EvtInitializePool", slices.Concat(keys(p.account, c.token, WSOL, who, who, who), make([]byte, 27+2+1), []byte{0}, make([]byte, 16+16+2+16),
			sqrtPrice(c.realSOL, left), numbers(0), []byte{0, 0}, numbers(left, c.realSOL, left, c.realSOL), []byte{0}))
	}
	w.state.pools = append(w.state.pools, p)
	c.migrated = true
	return t.end()
}

// vault is the pool's account of a token.
func (p *pool) vault(token string) holding {
	h := holding{token: token, owner: p.holder}
	if p.holder != p.account {
		h.name = Name("vault of %s in %s", token, p.account)
	}
	return h
}

// inOrder puts two tokens in the order that CPMM wants.
func inOrder(a, b string) (first, second string) {
	if slices.Compare(keys(a), keys(b)) > 0 {
		return b, a
	}
	return a, b
}

// tradePool trades a token in its pool.
func (w *World) tradePool(c *curve) json.RawMessage {
	p, who := w.poolOf(c), person(w.rng.IntN(people))
	t := w.begin(who)
	base, quote := w.state.held[p.vault(p.base)], w.state.held[p.vault(p.quote)]
	effective := uint64(int64(quote) + p.virtual)
	if has := t.held(p.base, who); has > 0 && w.rng.IntN(2) == 0 {
		given := 1 + uint64(w.rng.Int64N(int64(has)))
		got := min(product(effective, given, base+given), quote/2)
		t.shift(holding{token: p.base, owner: who}, p.vault(p.base), given)
		t.shift(p.vault(p.quote), holding{token: p.quote, owner: who}, got)
		w.tellPool(t, p, who, false, given, got, [2]uint64{base, quote})
		return t.end()
	}
	given := min(t.held(p.quote, who), 1e8+uint64(w.rng.IntN(5e9)))
	got := product(base, given, effective+given)
	t.shift(holding{token: p.quote, owner: who}, p.vault(p.quote), given)
	t.shift(p.vault(p.base), holding{token: p.base, owner: who}, got)
	w.tellPool(t, p, who, true, given, got, [2]uint64{base, quote})
	return t.end()
}

// tellPool is how a pool's program tells a trade. Before are its reserves of base and quote.
func (w *World) tellPool(t *builder, p *pool, who string, buys bool, given, got uint64, before [2]uint64) {
	base, quote := before[0], before[1]
	afterBase, afterQuote, input, output := base+given, quote-got, p.base, p.quote
	if buys {
		afterBase, afterQuote, input, output = base-got, quote+given, p.quote, p.base
	}
	switch p.program {
	case PumpSwap:
		virtual := append(numbers(uint64(p.virtual)), make([]byte, 8)...)
		if p.virtual < 0 {
			copy(virtual[8:], numbers(^uint64(0)))
		}
		accounts := []string{p.account, who, Name("config"), p.base, p.quote}
		end := slices.Concat(keys(p.account, who, account(p.base, who), account(p.quote, who), Name("fees"), Name("fee account"), Name("nobody")), numbers(0, 0))
		if buys {
			t.event(t.call(PumpSwap, accounts, instruction("buy")), PumpSwap, "BuyEvent", slices.Concat(numbers(0, got, 0, 0, 0, base, quote, given, 0, 0, 0, 0, given, given), end,
				[]byte{0}, numbers(0, 0, 0, 0, 0), text("buy"), numbers(0, 0, 0, 0), virtual))
			return
		}
		t.event(t.call(PumpSwap, accounts, instruction("sell")), PumpSwap, "SellEvent", slices.Concat(numbers(0, given, 0, 0, 0, base, quote, got, 0, 0, 0, 0, got, got), end,
			numbers(0, 0, 0, 0), virtual))
	case RaydiumCPMM:
		t.call(RaydiumCPMM, []string{
			who, cpmmHolder, Name("config"), p.account, account(input, who), account(output, who), p.vault(input).key(), p.vault(output).key(), TokenProgram, TokenProgram,
			input, output, Name("observation"),
		}, append(instruction("swap_base_input"), numbers(given, 0)...))
		ins, outs := base, quote
		if buys {
			ins, outs = quote, base
		}
		disc := sha256.Sum256([]byte("event:SwapEvent"))
		line := slices.Concat(disc[:8], keys(p.account), numbers(ins, outs, given, got, 0, 0), []byte{1})
		t.logs = append(t.logs, "Program "+RaydiumCPMM+" invoke [1]", "Program data: "+base64.StdEncoding.EncodeToString(line), "Program "+RaydiumCPMM+" success")
	default:
		accounts := []string{dammHolder, p.account, Name("in"), Name("out"), Name("av"), Name("bv"), p.base, p.quote, who}
		side := []byte{0}
		if buys {
			side[0] = 1
		}
		t.event(t.call(MeteoraDAMM, accounts, instruction("swap2")), MeteoraDAMM, "EvtSwap2", slices.Concat(keys(p.account), side, []byte{0, 0}, numbers(given, 0), []byte{0},
			numbers(given, given, 0, got), sqrtPrice(afterQuote, afterBase), numbers(0, 0, 0, 0, given, got, got, 0, afterBase, afterQuote)))
	}
}
