package solana

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// Raydium's programs. Their descriptions are not Raydium's own (svm/node/raydium.json).
var (
	LaunchLab = svm.MustKey("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj")
	CPMM      = svm.MustKey("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")
	AMMv4     = svm.MustKey("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")
)

// LaunchLabPlatform is the configuration account of the platform that the world's curves of LaunchLab are of.
var LaunchLabPlatform = svm.SignerOf("platform of LaunchLab").Key

// Accounts that have what all curves of LaunchLab, and all pools of CPMM, have.
var (
	labAuthority, labAuthoritySeeds   = derived(LaunchLab, []byte("vault_auth_seed"))
	cpmmAuthority, cpmmAuthoritySeeds = derived(CPMM, []byte("vault_and_lp_mint_auth_seed"))
)

// Other accounts of theirs, and the rates of fees in hundredths of a percent.
var (
	labConfig  = svm.SignerOf("configuration of LaunchLab").Key
	cpmmConfig = svm.SignerOf("configuration of CPMM").Key
)

const (
	labFeeBPS, cpmmFeeBPS   = 100, 25
	cpmmOwed                = 16            // hundredths of a fee that are the program's and its fund's
	curveTarget             = 85 * lamports // about what a curve of pump.fun raises, too
	labPoolLen, cpmmPoolLen = 429, 637
)

// raydiumVault is the token account of a curve of LaunchLab, or of a pool of CPMM.
func raydiumVault(program, pool, mint svm.Key) (svm.Key, [][]byte) {
	return derived(program, []byte("pool_vault"), pool[:], mint[:])
}

// launchLab launches a token on a curve of LaunchLab.
func (w *World) launchLab(ctx context.Context, t *tx, creator svm.Signer, l Launch) *Curve {
	mint := w.newMint()
	t.signers = append(t.signers, mint)
	c := &Curve{
		Token: mint.Key, Program: LaunchLab, Creator: creator, VirtualSOL: firstSOL, VirtualToken: firstToken, Tokens: pumpSale,
		coin: programs.Coin{Mint: mint.Key, Program: programs.Token, Decimals: 6}, to: l.To,
	}
	var seeds [][]byte
	c.Account, seeds = derived(LaunchLab, []byte("pool"), mint.Key[:], WSOL[:])
	migrateTypes := map[svm.Key]int{AMMv4: 0, CPMM: 1}
	texts := svm.Fields{"decimals": 6, "name": l.Name, "symbol": l.Symbol, "uri": l.URI}
	curve := svm.Fields{"Constant": svm.Fields{"data": svm.Fields{
		"supply": text(curveSupply), "total_base_sell": text(pumpSale), "total_quote_fund_raising": text(curveTarget), "migrate_type": migrateTypes[c.to],
	}}}
	a := t.act(ctx, "launchlab", "initialize_v2", svm.Fields{"base_mint_param": texts, "curve_param": curve}, map[string]svm.Key{
		"payer": creator.Key, "creator": creator.Key, "global_config": labConfig, "platform_config": LaunchLabPlatform, "base_mint": mint.Key, "quote_mint": WSOL,
	})
	a.call(programs.CreateAccount(creator.Key, mint.Key, programs.MintLen, programs.Token))
	a.call(programs.InitializeMint(programs.Token, mint.Key, 6, labAuthority))
	a.call(programs.CreateAccount(creator.Key, c.Account, labPoolLen, LaunchLab), seeds...)
	base := a.openVault(creator.Key, c.Account, c.coin, labAuthority, raydiumVault)
	a.openVault(creator.Key, c.Account, wsol, labAuthority, raydiumVault)
	a.call(programs.MintTo(programs.Token, mint.Key, base, labAuthority, curveSupply), labAuthoritySeeds...)
	a.nest(t.describeToken(mint.Key, labAuthority, creator.Key, l))
	a.call(programs.GiveUpMinting(programs.Token, mint.Key, labAuthority), labAuthoritySeeds...)
	a.eventTwice(ctx, "PoolCreateEvent", svm.Fields{
		"pool_state": c.Account, "creator": creator.Key, "config": labConfig, "base_mint_param": texts, "curve_param": curve,
	})
	t.do(a)
	w.curves = append(w.curves, c)
	return c
}

// eventTwice tells an event by a call of the program itself and, with the same bytes, in the log.
func (a *act) eventTwice(ctx context.Context, name string, fields svm.Fields) {
	a.event(ctx, name, fields)
	if body := a.encode(ctx, name, fields); body != nil {
		a.script.Data(body)
	}
}

// swapLab buys from a curve of LaunchLab or sells to it, and gives what goes in. The fee is taken of that, and stays with the curve.
func (w *World) swapLab(ctx context.Context, t *tx, c *Curve, who svm.Signer, buys bool, given uint64) uint64 {
	w.trades++
	base, _ := raydiumVault(LaunchLab, c.Account, c.Token)
	quote, _ := raydiumVault(LaunchLab, c.Account, WSOL)
	soldBefore, raisedBefore := pumpSale-c.Tokens, c.SOL
	var got uint64
	fee := given * labFeeBPS / 10_000
	instruction, direction, status := "sell_exact_in", "Sell", "Fund"
	if buys {
		instruction, direction = "buy_exact_in", "Buy"
		got = amount(c.VirtualToken, given-fee, c.VirtualSOL+given-fee)
		if got >= c.Tokens { // the last purchase takes what is left, and pays for that
			got = c.Tokens
			without := amount(c.VirtualSOL, got, c.VirtualToken-got) + 1
			given = without + without*labFeeBPS/10_000
			fee = given - without
			c.Complete, status = true, "Migrate"
		}
		c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL+given-fee, c.VirtualToken-got, c.SOL+given-fee, c.Tokens-got
		t.add(c.coin.OpenAccount(who.Key, who.Key))
	} else {
		out := min(amount(c.VirtualSOL, given, c.VirtualToken+given), c.SOL)
		fee = out * labFeeBPS / 10_000
		got = out - fee
		c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL-out, c.VirtualToken+given, c.SOL-out, c.Tokens+given
	}
	a := t.act(ctx, "launchlab", instruction, svm.Fields{"amount_in": text(given)}, map[string]svm.Key{
		"payer": who.Key, "global_config": labConfig, "platform_config": LaunchLabPlatform, "pool_state": c.Account, "user_base_token": c.coin.Account(who.Key),
		"user_quote_token": wsol.Account(who.Key), "base_token_mint": c.Token, "quote_token_mint": WSOL, "base_token_program": programs.Token,
	})
	if buys {
		a.call(wsol.Transfer(wsol.Account(who.Key), quote, who.Key, given))
		a.call(c.coin.Transfer(base, c.coin.Account(who.Key), labAuthority, got), labAuthoritySeeds...)
		w.gains(c.Token, who.Key, got)
	} else {
		a.call(c.coin.Transfer(c.coin.Account(who.Key), base, who.Key, given))
		a.call(wsol.Transfer(quote, wsol.Account(who.Key), labAuthority, got), labAuthoritySeeds...)
		w.loses(c.Token, who.Key, given)
	}
	a.eventTwice(ctx, "TradeEvent", svm.Fields{
		"pool_state": c.Account, "total_base_sell": text(pumpSale), "virtual_base": text(firstToken), "virtual_quote": text(firstSOL), "real_base_before": text(soldBefore),
		"real_quote_before": text(raisedBefore), "real_base_after": text(pumpSale - c.Tokens), "real_quote_after": text(c.SOL), "amount_in": text(given), "amount_out": text(got),
		"protocol_fee": text(fee), "trade_direction": direction, "pool_status": status, "exact_in": true,
	})
	t.do(a)
	return given
}

// labVault is the account of a curve of LaunchLab that has one of its two tokens.
func (c *Curve) labVault(coin programs.Coin) svm.Key {
	k, _ := raydiumVault(LaunchLab, c.Account, coin.Mint)
	return k
}

// migrateLab moves a full curve to a pool of CPMM.
func (w *World) migrateLab(ctx context.Context, t *tx, c *Curve, who svm.Signer) {
	p := &Pool{Program: CPMM, base: c.coin, quote: wsol, Base: curveSupply - pumpSale, Quote: c.SOL}
	first, second := c.coin, wsol
	inFirst, inSecond := p.Base, p.Quote
	if slices.Compare(first.Mint[:], second.Mint[:]) > 0 {
		first, second, inFirst, inSecond = second, first, inSecond, inFirst
	}
	p.Account, p.seeds = derived(CPMM, []byte("pool"), cpmmConfig[:], first.Mint[:], second.Mint[:])
	create := t.act(ctx, "cpmm", "initialize_with_permission", svm.Fields{"init_amount_0": text(inFirst), "init_amount_1": text(inSecond)}, map[string]svm.Key{
		"payer": who.Key, "creator": c.Creator.Key, "amm_config": cpmmConfig, "token_0_mint": first.Mint, "token_1_mint": second.Mint, "payer_token_0": c.labVault(first),
		"payer_token_1": c.labVault(second), "token_0_program": programs.Token, "token_1_program": programs.Token,
	})
	create.call(programs.CreateAccount(who.Key, p.Account, cpmmPoolLen, CPMM), p.seeds...)
	for _, side := range []struct {
		programs.Coin
		amount uint64
	}{{first, inFirst}, {second, inSecond}} {
		to := create.openVault(who.Key, p.Account, side.Coin, cpmmAuthority, raydiumVault)
		create.call(side.Transfer(c.labVault(side.Coin), to, labAuthority, side.amount))
	}
	create.issueShares(ctx, p, programs.Token, who.Key, who.Key, cpmmAuthority, cpmmAuthoritySeeds)
	a := t.act(ctx, "launchlab", "migrate_to_cpswap", nil, map[string]svm.Key{
		"payer": who.Key, "base_mint": c.Token, "quote_mint": WSOL, "platform_config": LaunchLabPlatform, "cpswap_pool": p.Account, "cpswap_authority": cpmmAuthority,
		"cpswap_config": cpmmConfig, "global_config": labConfig, "base_token_program": programs.Token,
	})
	a.nest(create, labAuthoritySeeds...)
	a.lockShares(p, who.Key)
	t.do(a)
	c.Pool, c.SOL = p, 0
	w.pools = append(w.pools, p)
}

// swapCPMM buys of a pool of CPMM or sells to it, for what goes in or for what comes out. It tells the trade in its log alone, and one in eight doesn't, as where the log is cut off.
func (w *World) swapCPMM(ctx context.Context, t *tx, p *Pool, who svm.Signer, buys bool, given uint64) {
	w.trades++
	input, output, inReserve, outReserve, untold := p.base, p.quote, &p.Base, &p.Quote, &p.UntoldBase
	if buys {
		input, output, inReserve, outReserve, untold = p.quote, p.base, &p.Quote, &p.Base, &p.UntoldQuote
		t.add(p.base.OpenAccount(who.Key, who.Key))
	}
	fee := given * cpmmFeeBPS / 10_000
	got := amount(*outReserve, given-fee, *inReserve+given-fee)
	inVault, _ := raydiumVault(CPMM, p.Account, input.Mint)
	outVault, _ := raydiumVault(CPMM, p.Account, output.Mint)
	instruction, args := "swap_base_input", svm.Fields{"amount_in": text(given)}
	byOutput := w.rng.IntN(3) == 0
	if byOutput {
		instruction, args = "swap_base_output", svm.Fields{"max_amount_in": text(given + given/50), "amount_out": text(got)}
	}
	a := t.act(ctx, "cpmm", instruction, args, map[string]svm.Key{
		"payer": who.Key, "amm_config": cpmmConfig, "pool_state": p.Account, "input_token_account": input.Account(who.Key), "output_token_account": output.Account(who.Key),
		"input_vault": inVault, "output_vault": outVault, "input_token_program": input.Program, "output_token_program": output.Program, "input_token_mint": input.Mint,
		"output_token_mint": output.Mint,
	})
	a.call(input.Transfer(input.Account(who.Key), inVault, who.Key, given))
	a.call(output.Transfer(outVault, output.Account(who.Key), cpmmAuthority, got), cpmmAuthoritySeeds...)
	if w.rng.IntN(8) > 0 {
		if body := a.encode(ctx, "SwapEvent", svm.Fields{
			"pool_id": p.Account, "input_vault_before": text(*inReserve), "output_vault_before": text(*outReserve), "input_amount": text(given), "output_amount": text(got),
			"base_input": !byOutput, "input_mint": input.Mint, "output_mint": output.Mint, "trade_fee": text(fee),
		}); body != nil {
			a.script.Data(body)
		}
		p.UntoldBase, p.UntoldQuote = 0, 0
	}
	t.do(a)
	owed := fee * cpmmOwed / 100
	*inReserve, *outReserve, *untold = *inReserve+given-owed, *outReserve-got, *untold+owed
	if buys {
		w.gains(p.base.Mint, who.Key, got)
	} else {
		w.loses(p.base.Mint, who.Key, given)
	}
}
