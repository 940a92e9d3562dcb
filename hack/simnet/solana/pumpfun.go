package solana

import (
	"context"
	"fmt"
	"strconv"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// Curve is a token on its curve, or that was.
type Curve struct {
	Token   svm.Key
	Program svm.Key // one of Programs
	Creator svm.Signer
	// Account is the curve's own.
	Account svm.Key
	// The reserves that its price is made of, and what it has.
	VirtualSOL, VirtualToken, SOL, Tokens uint64
	Complete                              bool
	// Pool is where it moved to, nil before.
	Pool *Pool

	coin programs.Coin
	to   svm.Key // Launch.To
}

// Constants of pump.fun's curves (docs of pump.fun's program; they are what its Global account begins with).
const (
	curveSupply  = 1_000_000_000_000_000 // of 6 decimals
	pumpSale     = 793_100_000_000_000
	firstToken   = 1_073_000_000_000_000
	firstSOL     = 30 * lamports
	pumpFeeBPS   = 95
	pumpMakerBPS = 30
)

// pumpFees is who pump.fun's and PumpSwap's fees go to.
var pumpFees = svm.SignerOf("recipient of fees").Key

// Launch describes a token that is launched.
type Launch struct {
	Name, Symbol, URI string
	// To is the program whose pool the curve moves to when it is full: AMMv4 instead of CPMM for a curve of LaunchLab, DAMMv1 instead of DAMM for one of DBC. A zero key is the usual one.
	To svm.Key
}

// launchPumpFun launches a token as pump.fun does now: of Token-2022, which has its name itself.
func (w *World) launchPumpFun(ctx context.Context, t *tx, creator svm.Signer, l Launch) *Curve {
	mint := w.newMint()
	t.signers = append(t.signers, mint)
	c := &Curve{
		Token: mint.Key, Program: PumpFun, Creator: creator, VirtualSOL: firstSOL, VirtualToken: firstToken, Tokens: pumpSale,
		coin: programs.Coin{Mint: mint.Key, Program: programs.Token2022, Decimals: 6}, to: l.To,
	}
	a := t.act(ctx, "pump", "create_v2", svm.Fields{"name": l.Name, "symbol": l.Symbol, "uri": l.URI, "creator": creator.Key},
		map[string]svm.Key{"mint": mint.Key, "user": creator.Key, "token_program": programs.Token2022})
	c.Account = a.named["bonding_curve"]
	_, curveSeeds := derived(PumpFun, []byte("bonding-curve"), mint.Key[:])
	authority, authoritySeeds := derived(PumpFun, []byte("mint-authority"))

	for _, i := range programs.NamedMint(creator.Key, mint.Key, authority, 6, l.Name, l.Symbol, l.URI) {
		a.call(i, authoritySeeds...)
	}
	a.call(programs.CreateAccount(creator.Key, c.Account, pumpCurveLen, PumpFun), curveSeeds...)
	a.call(programs.Pay(creator.Key, c.creatorVault(), programs.Rent(0))) // fees of small trades are less than an account has to have
	a.call(c.coin.OpenAccount(creator.Key, c.Account))
	a.call(programs.MintTo(programs.Token2022, mint.Key, c.coin.Account(c.Account), authority, curveSupply), authoritySeeds...)
	a.call(programs.GiveUpMinting(programs.Token2022, mint.Key, authority), authoritySeeds...)
	a.event(ctx, "CreateEvent", svm.Fields{
		"name": l.Name, "symbol": l.Symbol, "uri": l.URI, "mint": mint.Key, "bonding_curve": c.Account, "user": creator.Key, "creator": creator.Key,
		"timestamp": w.time.Unix(), "virtual_token_reserves": text(firstToken), "virtual_sol_reserves": text(firstSOL), "real_token_reserves": text(pumpSale),
		"token_total_supply": text(curveSupply), "token_program": programs.Token2022, "virtual_quote_reserves": text(firstSOL),
	})
	t.do(a)
	w.curves = append(w.curves, c)
	return c
}

// pumpCurveLen is how long a curve's account is.
const pumpCurveLen = 151

// text is a number as the descriptions' encoder takes it.
func text(n uint64) string { return strconv.FormatUint(n, 10) }

// newMint is a token's address.
func (w *World) newMint() svm.Signer {
	w.made++
	return svm.SignerOf(fmt.Sprintf("token %d after %s", w.made, w.blockHash))
}

// buyPumpFun buys from a curve of pump.fun, at most what is for sale, and gives what is paid. Fees come on top of that.
func (w *World) buyPumpFun(ctx context.Context, t *tx, c *Curve, who svm.Signer, paid uint64) uint64 {
	w.trades++
	got := amount(c.VirtualToken, paid, c.VirtualSOL+paid)
	if got >= c.Tokens {
		// Only so much is for sale: the buyer pays the price of that, rounded up.
		got = c.Tokens
		paid = amount(c.VirtualSOL, got, c.VirtualToken-got) + 1
		c.Complete = true
	}
	c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL+paid, c.VirtualToken-got, c.SOL+paid, c.Tokens-got
	t.add(c.coin.OpenAccount(who.Key, who.Key))
	a := t.act(ctx, "pump", "buy", svm.Fields{"amount": text(got), "max_sol_cost": text(2 * paid)}, c.pumpAccounts(who))
	fee, makers := paid*pumpFeeBPS/10_000, paid*pumpMakerBPS/10_000
	_, seeds := derived(PumpFun, []byte("bonding-curve"), c.Token[:])
	a.call(programs.Pay(who.Key, c.Account, paid))
	a.call(programs.Pay(who.Key, pumpFees, fee))
	a.call(programs.Pay(who.Key, a.named["creator_vault"], makers))
	a.call(c.coin.Transfer(c.coin.Account(c.Account), c.coin.Account(who.Key), c.Account, got), seeds...)
	a.event(ctx, "TradeEvent", c.pumpTrade(w, who, true, paid, got, fee, makers))
	if c.Complete {
		a.event(ctx, "CompleteEvent", svm.Fields{"user": who.Key, "mint": c.Token, "bonding_curve": c.Account, "timestamp": w.time.Unix()})
	}
	t.do(a)
	w.gains(c.Token, who.Key, got)
	return paid
}

// sellPumpFun sells to a curve of pump.fun, which pays less the fees.
func (w *World) sellPumpFun(ctx context.Context, t *tx, c *Curve, who svm.Signer, given uint64) {
	w.trades++
	got := min(amount(c.VirtualSOL, given, c.VirtualToken+given), c.SOL)
	c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL-got, c.VirtualToken+given, c.SOL-got, c.Tokens+given
	a := t.act(ctx, "pump", "sell", svm.Fields{"amount": text(given)}, c.pumpAccounts(who))
	fee, makers := got*pumpFeeBPS/10_000, got*pumpMakerBPS/10_000
	a.call(c.coin.Transfer(c.coin.Account(who.Key), c.coin.Account(c.Account), who.Key, given))
	a.event(ctx, "TradeEvent", c.pumpTrade(w, who, false, got, given, fee, makers))
	// The runtime wants lamports that a program moves itself to come after its calls.
	a.pay(c.Account, who.Key, got-fee-makers)
	a.pay(c.Account, pumpFees, fee)
	a.pay(c.Account, a.named["creator_vault"], makers)
	t.do(a)
	w.loses(c.Token, who.Key, given)
}

// Hook has trades name a program that decides about each transfer of the token.
func (c *Curve) Hook(program svm.Key) { c.coin.Hook = program }

// creatorVault is the account that the creator's fees are paid to.
func (c *Curve) creatorVault() svm.Key {
	k, _ := svm.Derived(PumpFun, []byte("creator-vault"), c.Creator.Key[:])
	return k
}

func (c *Curve) pumpAccounts(who svm.Signer) map[string]svm.Key {
	return map[string]svm.Key{
		"mint": c.Token, "user": who.Key, "token_program": programs.Token2022, "associated_user": c.coin.Account(who.Key), "fee_recipient": pumpFees, "creator_vault": c.creatorVault(),
	}
}

func (c *Curve) pumpTrade(w *World, who svm.Signer, buys bool, sol, tokens, fee, makers uint64) svm.Fields {
	name := "sell"
	if buys {
		name = "buy"
	}
	return svm.Fields{
		"mint": c.Token, "sol_amount": text(sol), "token_amount": text(tokens), "is_buy": buys, "user": who.Key, "timestamp": w.time.Unix(),
		"virtual_sol_reserves": text(c.VirtualSOL), "virtual_token_reserves": text(c.VirtualToken), "real_sol_reserves": text(c.SOL), "real_token_reserves": text(c.Tokens),
		"fee_recipient": pumpFees, "fee_basis_points": pumpFeeBPS, "fee": text(fee), "creator": c.Creator.Key, "creator_fee_basis_points": pumpMakerBPS, "creator_fee": text(makers),
		"ix_name": name, "quote_amount": text(sol), "virtual_quote_reserves": text(c.VirtualSOL), "real_quote_reserves": text(c.SOL),
	}
}

// migratePumpFun moves a full curve to a pool of PumpSwap.
func (w *World) migratePumpFun(ctx context.Context, t *tx, c *Curve, who svm.Signer) {
	authority, authoritySeeds := derived(PumpFun, []byte("pool-authority"), c.Token[:])
	_, curveSeeds := derived(PumpFun, []byte("bonding-curve"), c.Token[:])
	left := uint64(curveSupply - pumpSale)
	p := &Pool{Program: PumpSwap, base: c.coin, quote: wsol, Base: left, Quote: c.SOL}
	create := w.pumpSwapCreation(ctx, t, p, authority, who.Key)
	a := t.act(ctx, "pump", "migrate", nil, map[string]svm.Key{
		"mint": c.Token, "user": who.Key, "pool": p.Account, "associated_bonding_curve": c.coin.Account(c.Account), "pool_authority_mint_account": c.coin.Account(authority),
		"pool_authority_wsol_account": wsol.Account(authority), "pool_base_token_account": c.coin.Account(p.Account), "pool_quote_token_account": wsol.Account(p.Account),
	})
	a.call(c.coin.OpenAccount(who.Key, authority))
	a.call(wsol.OpenAccount(who.Key, authority))
	a.call(c.coin.Transfer(c.coin.Account(c.Account), c.coin.Account(authority), c.Account, left), curveSeeds...)
	a.pay(c.Account, wsol.Account(authority), c.SOL)
	sync := programs.SyncNative(wsol.Account(authority))
	// The runtime looks that nothing is lost among a call's accounts; where the token program wants two, the second one is the rent.
	sync.Accounts = append(sync.Accounts, svm.Reading(programs.RentAccount), svm.Written(c.Account))
	a.call(sync)
	a.nest(create, authoritySeeds...)
	a.call(p.shares.Burn(p.shares.Account(authority), authority, p.issued), authoritySeeds...)
	a.event(ctx, "CompletePumpAmmMigrationEvent", svm.Fields{
		"user": who.Key, "mint": c.Token, "mint_amount": text(left), "sol_amount": text(c.SOL), "bonding_curve": c.Account, "timestamp": w.time.Unix(), "pool": p.Account,
	})
	t.do(a)
	c.Pool, c.SOL = p, 0
	w.pools = append(w.pools, p)
}
