package solana

import (
	"context"
	"encoding/base64"
	"maps"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// ammAuthority owns the token accounts of all pools of the AMM v4.
var ammAuthority, ammAuthoritySeeds = derived(AMMv4, []byte("amm authority"))

// openBook is the program of order books. Each pool of the AMM v4 belongs to a market of it.
var openBook = svm.MustKey("srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX")

// ammFeeBPS is the rate of its fee in hundredths of a percent, which stays in the pool.
const (
	ammFeeBPS  = 25
	ammPoolLen = 752
)

// ammAccount is an account of a pool of the AMM v4: its address is made of the market of which the pool is.
func ammAccount(market svm.Key, purpose string) (svm.Key, [][]byte) {
	return derived(AMMv4, AMMv4[:], market[:], []byte(purpose+"_associated_seed"))
}

// ammVaults are the accounts in which a pool of the AMM v4 has its first and its second token.
func (p *Pool) ammVaults() (coin, pc svm.Key) {
	coin, _ = ammAccount(p.market, "coin_vault")
	pc, _ = ammAccount(p.market, "pc_vault")
	return coin, pc
}

// ammCreation is the instruction that makes a pool of the AMM v4. Whoever makes it signs, and has both tokens in the accounts that from tells; payer pays for the pool's accounts.
// The market is a key alone: no program of order books is on the chain.
func (w *World) ammCreation(ctx context.Context, t *tx, p *Pool, maker, payer svm.Key, from func(programs.Coin) svm.Key) *act {
	p.Account, p.seeds = ammAccount(p.market, "amm")
	a := t.act(ctx, "ammv4", "initialize2", svm.Fields{"nonce": 254, "init_pc_amount": text(p.Quote), "init_coin_amount": text(p.Base)}, map[string]svm.Key{
		"coin_mint": p.base.Mint, "pc_mint": p.quote.Mint, "market": p.market, "market_program": openBook, "user_wallet": maker,
		"user_token_coin": from(p.base), "user_token_pc": from(p.quote),
	})
	a.call(programs.CreateAccount(payer, p.Account, ammPoolLen, AMMv4), p.seeds...)
	for _, side := range []struct {
		programs.Coin
		purpose string
		amount  uint64
	}{{p.base, "coin_vault", p.Base}, {p.quote, "pc_vault", p.Quote}} {
		vault, seeds := ammAccount(p.market, side.purpose)
		a.call(programs.CreateAccount(payer, vault, programs.TokenAccountLen, side.Program), seeds...)
		a.call(programs.InitializeAccount(side.Program, vault, side.Mint, ammAuthority))
		a.call(side.Transfer(from(side.Coin), vault, maker, side.amount))
	}
	a.issueShares(ctx, p, programs.Token, payer, maker, ammAuthority, ammAuthoritySeeds)
	a.rayLog(ctx, "InitLog", svm.Fields{
		"time": w.time.Unix(), "pc_decimals": p.quote.Decimals, "coin_decimals": p.base.Decimals, "pc_lot_size": 1, "coin_lot_size": 1, "pc_amount": text(p.Quote),
		"coin_amount": text(p.Base), "market": p.market,
	})
	return a
}

// createAMM makes a pool of SOL for USDC of the AMM v4.
func (w *World) createAMM(ctx context.Context, t *tx, maker svm.Signer, sol, dollars uint64) {
	p := &Pool{Program: AMMv4, base: wsol, quote: usdc, Base: sol, Quote: dollars, market: svm.SignerOf("market of the AMM").Key}
	t.do(w.ammCreation(ctx, t, p, maker.Key, maker.Key, func(c programs.Coin) svm.Key { return c.Account(maker.Key) }))
	w.pools = append(w.pools, p)
}

// migrateLabToAMM moves a full curve of LaunchLab to a pool of the AMM v4, and burns the pool's shares. LaunchLab's program makes the market first; here nobody does.
func (w *World) migrateLabToAMM(ctx context.Context, t *tx, c *Curve, who svm.Signer) {
	p := &Pool{Program: AMMv4, base: c.coin, quote: wsol, Base: curveSupply - pumpSale, Quote: c.SOL, market: svm.SignerOf("market of " + c.Token.String()).Key}
	create := w.ammCreation(ctx, t, p, labAuthority, who.Key, c.labVault)
	a := t.act(ctx, "launchlab", "migrate_to_amm", nil, map[string]svm.Key{
		"payer": who.Key, "base_mint": c.Token, "quote_mint": WSOL, "market": p.market, "global_config": labConfig, "pool_lp_token": p.shares.Account(labAuthority),
	})
	a.nest(create, labAuthoritySeeds...)
	a.call(p.shares.Burn(p.shares.Account(labAuthority), labAuthority, p.issued), labAuthoritySeeds...)
	t.do(a)
	c.Pool, c.SOL = p, 0
	w.pools = append(w.pools, p)
}

// rayLog logs what the AMM v4 tells.
func (a *act) rayLog(ctx context.Context, name string, fields svm.Fields) {
	if body := a.encode(ctx, name, fields); body != nil {
		a.script.Line("ray_log: " + base64.StdEncoding.EncodeToString(body))
	}
}

// swapAMM trades in a pool of the AMM v4, by the instruction with the accounts of an order book or the newer one without, for what goes in or for what comes out, and gives
// what comes out.
func (w *World) swapAMM(ctx context.Context, t *tx, p *Pool, who svm.Signer, sells bool, given uint64) uint64 {
	w.trades++
	coinVault, pcVault := p.ammVaults()
	input, output, inReserve, outReserve, inVault, outVault, direction := p.quote, p.base, &p.Quote, &p.Base, pcVault, coinVault, 1
	if sells {
		input, output, inReserve, outReserve, inVault, outVault, direction = p.base, p.quote, &p.Base, &p.Quote, coinVault, pcVault, 2
	}
	fee := given * ammFeeBPS / 10_000
	got := amount(*outReserve, given-fee, *inReserve+given-fee)
	instruction := []string{"swap_base_in", "swap_base_in_v2", "swap_base_in_with_target_orders", "swap_base_out", "swap_base_out_v2"}[w.rng.IntN(5)]
	args := svm.Fields{"amount_in": text(given)}
	log, told := "SwapBaseInLog", svm.Fields{"amount_in": text(given), "out_amount": text(got)}
	if strings.Contains(instruction, "_out") {
		args = svm.Fields{"max_amount_in": text(given + given/50), "amount_out": text(got)}
		log, told = "SwapBaseOutLog", svm.Fields{"max_in": text(given + given/50), "amount_out": text(got), "deduct_in": text(given)}
	}
	maps.Copy(told, svm.Fields{"direction": direction, "user_source": text(given), "pool_coin": text(p.Base), "pool_pc": text(p.Quote)})
	a := t.act(ctx, "ammv4", instruction, args, map[string]svm.Key{
		"amm": p.Account, "coin_vault": coinVault, "pc_vault": pcVault, "user_token_source": input.Account(who.Key), "user_token_destination": output.Account(who.Key),
		"user_source_owner": who.Key,
	})
	if w.rng.IntN(8) > 0 { // without the line it is as where the log is cut off
		a.rayLog(ctx, log, told)
		p.UntoldBase, p.UntoldQuote = 0, 0
	}
	a.call(input.PlainTransfer(input.Account(who.Key), inVault, who.Key, given))
	a.call(output.PlainTransfer(outVault, output.Account(who.Key), ammAuthority, got), ammAuthoritySeeds...)
	t.do(a)
	*inReserve, *outReserve = *inReserve+given, *outReserve-got
	if sells {
		w.loses(p.base.Mint, who.Key, given)
	} else {
		w.gains(p.base.Mint, who.Key, got)
	}
	return got
}
