package solana

import (
	"context"
	"maps"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// Pool is a pool of two tokens: base is the one that was launched, or SOL.
type Pool struct {
	Program svm.Key // PumpSwap, DAMM v2, CPMM, AMM v4, or DAMM v1, where nobody trades
	Account svm.Key
	// Base and Quote are what it has. Untold are what of each is owed to others since its reserves were last told.
	Base, Quote             uint64
	UntoldBase, UntoldQuote uint64

	base, quote programs.Coin
	seeds       [][]byte // of the pool's address
	market      svm.Key  // the market whose pool it is, of AMM v4 alone
	// shares are the token of the pool's shares, and issued is how many were made; locked is the liquidity of DAMM v2 that is locked for good.
	shares programs.Coin
	issued uint64
	locked string
}

// Tokens are its two tokens.
func (p *Pool) Tokens() (base, quote svm.Key) { return p.base.Mint, p.quote.Mint }

// Vaults are its token accounts.
func (p *Pool) Vaults() (base, quote svm.Key) {
	of := meteoraVault
	switch p.Program {
	case PumpSwap:
		return p.base.Account(p.Account), p.quote.Account(p.Account)
	case AMMv4:
		return p.ammVaults()
	case CPMM:
		of = raydiumVault
	}
	base, _ = of(p.Program, p.Account, p.base.Mint)
	quote, _ = of(p.Program, p.Account, p.quote.Mint)
	return base, quote
}

// Rates of PumpSwap's fees, in hundredths of a percent. The liquidity's own stays in the pool.
const (
	pumpSwapLiquidityBPS = 20
	pumpSwapFeeBPS       = 5
)

// pumpSwapCreation is the instruction that makes a pool of PumpSwap. Whoever makes it signs, and has both tokens; payer pays for the accounts.
func (w *World) pumpSwapCreation(ctx context.Context, t *tx, p *Pool, maker, payer svm.Key) *act {
	p.Account, p.seeds = derived(PumpSwap, []byte("pool"), []byte{0, 0}, maker[:], p.base.Mint[:], p.quote.Mint[:])
	a := t.act(ctx, "pumpswap", "create_pool", svm.Fields{"index": 0, "base_amount_in": text(p.Base), "quote_amount_in": text(p.Quote)}, map[string]svm.Key{
		"pool": p.Account, "creator": maker, "base_mint": p.base.Mint, "quote_mint": p.quote.Mint, "user_base_token_account": p.base.Account(maker),
		"user_quote_token_account": p.quote.Account(maker), "base_token_program": p.base.Program, "quote_token_program": p.quote.Program,
	})
	a.call(programs.CreateAccount(payer, p.Account, pumpSwapPoolLen, PumpSwap), p.seeds...)
	a.call(p.base.OpenAccount(payer, p.Account))
	a.call(p.quote.OpenAccount(payer, p.Account))
	a.call(p.base.Transfer(p.base.Account(maker), p.base.Account(p.Account), maker, p.Base))
	a.call(p.quote.Transfer(p.quote.Account(maker), p.quote.Account(p.Account), maker, p.Quote))
	a.issueShares(ctx, p, programs.Token2022, payer, maker, p.Account, p.seeds)
	a.event(ctx, "CreatePoolEvent", svm.Fields{
		"timestamp": w.time.Unix(), "creator": maker, "base_mint": p.base.Mint, "quote_mint": p.quote.Mint, "base_mint_decimals": p.base.Decimals,
		"quote_mint_decimals": p.quote.Decimals, "base_amount_in": text(p.Base), "quote_amount_in": text(p.Quote), "pool_base_amount": text(p.Base),
		"pool_quote_amount": text(p.Quote), "pool": p.Account, "user_base_token_account": p.base.Account(maker), "user_quote_token_account": p.quote.Account(maker),
	})
	return a
}

// pumpSwapPoolLen is how long a pool's account is.
const pumpSwapPoolLen = 300

// createPumpSwapPool has somebody make a pool.
func (w *World) createPumpSwapPool(ctx context.Context, t *tx, maker svm.Signer, base, quote programs.Coin, inBase, inQuote uint64) *Pool {
	p := &Pool{Program: PumpSwap, base: base, quote: quote, Base: inBase, Quote: inQuote}
	t.do(w.pumpSwapCreation(ctx, t, p, maker.Key, maker.Key))
	w.pools = append(w.pools, p)
	return p
}

// buyPumpSwap buys of a pool of PumpSwap for as much of its quote token, fees among it.
func (w *World) buyPumpSwap(ctx context.Context, t *tx, p *Pool, who svm.Signer, paid uint64) {
	w.trades++
	fee := paid * pumpSwapFeeBPS / 10_000
	with := paid - fee
	liquidity := with * pumpSwapLiquidityBPS / 10_000
	got := amount(p.Base, with-liquidity, p.Quote+with-liquidity)
	a := t.act(ctx, "pumpswap", "buy", svm.Fields{"base_amount_out": text(got), "max_quote_amount_in": text(paid)}, p.pumpSwapAccounts(who))
	t.add(p.quote.OpenAccount(who.Key, pumpFees), p.base.OpenAccount(who.Key, who.Key))
	a.call(p.base.Transfer(p.base.Account(p.Account), p.base.Account(who.Key), p.Account, got), p.seeds...)
	a.call(p.quote.Transfer(p.quote.Account(who.Key), p.quote.Account(p.Account), who.Key, with))
	a.call(p.quote.Transfer(p.quote.Account(who.Key), p.quote.Account(pumpFees), who.Key, fee))
	a.event(ctx, "BuyEvent", p.pumpSwapTrade(w, who, svm.Fields{
		"base_amount_out": text(got), "max_quote_amount_in": text(paid), "quote_amount_in": text(with - liquidity), "lp_fee": text(liquidity), "protocol_fee": text(fee),
		"quote_amount_in_with_lp_fee": text(with), "user_quote_amount_in": text(paid), "ix_name": "buy",
	}))
	t.do(a)
	p.Base, p.Quote = p.Base-got, p.Quote+with
	w.gains(p.base.Mint, who.Key, got)
}

// sellPumpSwap sells to a pool of PumpSwap, and gives what comes out.
func (w *World) sellPumpSwap(ctx context.Context, t *tx, p *Pool, who svm.Signer, given uint64) uint64 {
	w.trades++
	out := amount(p.Quote, given, p.Base+given)
	liquidity, fee := out*pumpSwapLiquidityBPS/10_000, out*pumpSwapFeeBPS/10_000
	a := t.act(ctx, "pumpswap", "sell", svm.Fields{"base_amount_in": text(given)}, p.pumpSwapAccounts(who))
	t.add(p.quote.OpenAccount(who.Key, pumpFees))
	a.call(p.base.Transfer(p.base.Account(who.Key), p.base.Account(p.Account), who.Key, given))
	a.call(p.quote.Transfer(p.quote.Account(p.Account), p.quote.Account(who.Key), p.Account, out-liquidity-fee), p.seeds...)
	a.call(p.quote.Transfer(p.quote.Account(p.Account), p.quote.Account(pumpFees), p.Account, fee), p.seeds...)
	a.event(ctx, "SellEvent", p.pumpSwapTrade(w, who, svm.Fields{
		"base_amount_in": text(given), "quote_amount_out": text(out), "lp_fee": text(liquidity), "protocol_fee": text(fee), "quote_amount_out_without_lp_fee": text(out - liquidity),
		"user_quote_amount_out": text(out - liquidity - fee),
	}))
	t.do(a)
	p.Base, p.Quote = p.Base+given, p.Quote-(out-liquidity)
	w.loses(p.base.Mint, who.Key, given)
	return out - liquidity - fee
}

func (p *Pool) pumpSwapAccounts(who svm.Signer) map[string]svm.Key {
	return map[string]svm.Key{
		"pool": p.Account, "user": who.Key, "base_mint": p.base.Mint, "quote_mint": p.quote.Mint, "user_base_token_account": p.base.Account(who.Key),
		"user_quote_token_account": p.quote.Account(who.Key), "pool_base_token_account": p.base.Account(p.Account), "pool_quote_token_account": p.quote.Account(p.Account),
		"protocol_fee_recipient": pumpFees, "base_token_program": p.base.Program, "quote_token_program": p.quote.Program,
	}
}

// pumpSwapTrade has what the events of purchases and sales share. They tell a pool's reserves before the trade.
func (p *Pool) pumpSwapTrade(w *World, who svm.Signer, fields svm.Fields) svm.Fields {
	maps.Copy(fields, svm.Fields{
		"timestamp": w.time.Unix(), "pool_base_token_reserves": text(p.Base), "pool_quote_token_reserves": text(p.Quote), "lp_fee_basis_points": pumpSwapLiquidityBPS,
		"protocol_fee_basis_points": pumpSwapFeeBPS, "pool": p.Account, "user": who.Key, "user_base_token_account": p.base.Account(who.Key),
		"user_quote_token_account": p.quote.Account(who.Key), "protocol_fee_recipient": pumpFees, "protocol_fee_recipient_token_account": p.quote.Account(pumpFees),
	})
	return fields
}
