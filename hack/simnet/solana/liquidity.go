package solana

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// liquidity is what somebody puts into a pool, or takes out of it.
type liquidity struct {
	*Pool

	who                     svm.Signer
	adds                    bool
	baseAmount, quoteAmount uint64
}

// Provide has somebody put a part of what a pool has into it, or take it out. Shares of pools aren't kept: anybody may take out whatever there is.
func (w *World) Provide(ctx context.Context, p *Pool, who svm.Signer, adds bool, part float64) error {
	l := liquidity{Pool: p, who: who, adds: adds, baseAmount: uint64(float64(p.Base) * part)}
	if adds && p.base.Mint != WSOL {
		l.baseAmount = min(l.baseAmount, w.Has(p.base.Mint, who.Key))
	}
	l.quoteAmount = amount(l.baseAmount, p.Quote, p.Base)
	if l.baseAmount == 0 || l.quoteAmount == 0 || adds && p.quote.Mint != WSOL && l.quoteAmount > w.Has(p.quote.Mint, who.Key) {
		return nil
	}
	paid := uint64(0)
	for _, side := range []struct {
		programs.Coin
		amount uint64
	}{{p.base, l.baseAmount}, {p.quote, l.quoteAmount}} {
		switch isSOL := side.Mint == WSOL; {
		case isSOL && adds:
			paid = side.amount
		case adds:
			w.loses(side.Mint, who.Key, side.amount)
		case !isSOL:
			w.gains(side.Mint, who.Key, side.amount)
		}
	}
	t := w.begin(who)
	if p.base.Mint != WSOL {
		t.add(p.base.OpenAccount(who.Key, who.Key))
	}
	w.withWSOL(t, who, paid, func() {
		switch p.Program {
		case AMMv4:
			w.provideAMM(ctx, t, &l)
		case CPMM:
			w.provideCPMM(ctx, t, &l)
		case PumpSwap:
			w.providePumpSwap(ctx, t, &l)
		default:
			w.provideDAMM(ctx, t, &l)
		}
	})
	return t.send()
}

// move transfers both sides, and books them in the pool. The AMM v4 tells by the number of its accounts which they are: it has none for the tokens.
func (l *liquidity) move(a *act, baseVault, quoteVault, authority svm.Key, seeds [][]byte) {
	for _, side := range []struct {
		programs.Coin
		vault  svm.Key
		amount uint64
	}{{l.base, baseVault, l.baseAmount}, {l.quote, quoteVault, l.quoteAmount}} {
		transfer := side.Transfer
		if l.Program == AMMv4 {
			transfer = side.PlainTransfer
		}
		if l.adds {
			a.call(transfer(side.Account(l.who.Key), side.vault, l.who.Key, side.amount))
		} else {
			a.call(transfer(side.vault, side.Account(l.who.Key), authority, side.amount), seeds...)
		}
	}
	if l.adds {
		l.Base, l.Quote = l.Base+l.baseAmount, l.Quote+l.quoteAmount
	} else {
		l.Base, l.Quote = l.Base-l.baseAmount, l.Quote-l.quoteAmount
	}
}

// provideAMM is a deposit or a withdrawal of the AMM v4. The program takes its profit before, and owes it. One in three tells nothing, as where the log is cut off.
func (w *World) provideAMM(ctx context.Context, t *tx, l *liquidity) {
	coinVault, pcVault := l.ammVaults()
	instruction, args := "withdraw", svm.Fields{"amount": text(l.baseAmount)}
	event, told := "WithdrawLog", svm.Fields{"out_coin": text(l.baseAmount), "out_pc": text(l.quoteAmount)}
	if l.adds {
		instruction, args = "deposit", svm.Fields{"max_coin_amount": text(l.baseAmount), "max_pc_amount": text(l.quoteAmount)}
		event, told = "DepositLog", svm.Fields{"deduct_coin": text(l.baseAmount), "deduct_pc": text(l.quoteAmount)}
	}
	a := t.act(ctx, "ammv4", instruction, args, map[string]svm.Key{
		"amm": l.Account, "coin_vault": coinVault, "pc_vault": pcVault, "amm_target_orders": svm.SignerOf("target orders of the AMM").Key, "lp_mint": svm.SignerOf("shares of the AMM").Key,
		"user_token_coin": l.base.Account(l.who.Key), "user_token_pc": l.quote.Account(l.who.Key), "user_token_lp": svm.SignerOf("somebody's shares of the AMM").Key,
		"user_owner": l.who.Key,
	})
	profitBase, profitQuote := l.Base/100_000, l.Quote/100_000
	l.Base, l.Quote, l.UntoldBase, l.UntoldQuote = l.Base-profitBase, l.Quote-profitQuote, l.UntoldBase+profitBase, l.UntoldQuote+profitQuote
	if w.rng.IntN(3) > 0 {
		told["pool_coin"], told["pool_pc"] = text(l.Base), text(l.Quote)
		a.rayLog(ctx, event, told)
		l.UntoldBase, l.UntoldQuote = 0, 0
	}
	l.move(a, coinVault, pcVault, ammAuthority, ammAuthoritySeeds)
	t.do(a)
}

// provideCPMM is a deposit or a withdrawal of CPMM. One in three tells nothing, as where the log is cut off.
func (w *World) provideCPMM(ctx context.Context, t *tx, l *liquidity) {
	first, second, before, moved := l.base, l.quote, [2]uint64{l.Base, l.Quote}, [2]uint64{l.baseAmount, l.quoteAmount}
	if slices.Compare(first.Mint[:], second.Mint[:]) > 0 {
		first, second = second, first
		before, moved = [2]uint64{l.Quote, l.Base}, [2]uint64{l.quoteAmount, l.baseAmount}
	}
	instruction, kind := "withdraw", 1
	if l.adds {
		instruction, kind = "deposit", 0
	}
	vault := func(c programs.Coin) svm.Key {
		k, _ := raydiumVault(CPMM, l.Account, c.Mint)
		return k
	}
	a := t.act(ctx, "cpmm", instruction, svm.Fields{"lp_token_amount": text(l.baseAmount)}, map[string]svm.Key{
		"owner": l.who.Key, "pool_state": l.Account, "owner_lp_token": svm.SignerOf("somebody's shares of CPMM").Key, "token_0_account": first.Account(l.who.Key),
		"token_1_account": second.Account(l.who.Key), "token_0_vault": vault(first), "token_1_vault": vault(second), "vault_0_mint": first.Mint, "vault_1_mint": second.Mint,
	})
	l.move(a, vault(l.base), vault(l.quote), cpmmAuthority, cpmmAuthoritySeeds)
	if w.rng.IntN(3) > 0 {
		if body := a.encode(ctx, "LpChangeEvent", svm.Fields{
			"pool_id": l.Account, "token_0_vault_before": text(before[0]), "token_1_vault_before": text(before[1]), "token_0_amount": text(moved[0]),
			"token_1_amount": text(moved[1]), "change_type": kind,
		}); body != nil {
			a.script.Data(body)
		}
		l.UntoldBase, l.UntoldQuote = 0, 0
	}
	t.do(a)
}

// providePumpSwap is a deposit or a withdrawal of PumpSwap.
func (w *World) providePumpSwap(ctx context.Context, t *tx, l *liquidity) {
	instruction, event := "withdraw", "WithdrawEvent"
	if l.adds {
		instruction, event = "deposit", "DepositEvent"
	}
	a := t.act(ctx, "pumpswap", instruction, nil, map[string]svm.Key{
		"pool": l.Account, "user": l.who.Key, "base_mint": l.base.Mint, "quote_mint": l.quote.Mint, "user_base_token_account": l.base.Account(l.who.Key),
		"user_quote_token_account": l.quote.Account(l.who.Key), "pool_base_token_account": l.base.Account(l.Account),
		"pool_quote_token_account": l.quote.Account(l.Account), "lp_mint": svm.SignerOf("shares of PumpSwap").Key,
		"user_pool_token_account": svm.SignerOf("somebody's shares of PumpSwap").Key,
	})
	l.move(a, l.base.Account(l.Account), l.quote.Account(l.Account), l.Account, l.seeds)
	a.event(ctx, event, svm.Fields{"pool": l.Account, "user": l.who.Key})
	t.do(a)
}

// provideDAMM adds liquidity to a pool of DAMM v2 or removes it.
func (w *World) provideDAMM(ctx context.Context, t *tx, l *liquidity) {
	instruction, kind := "remove_liquidity", 1
	if l.adds {
		instruction, kind = "add_liquidity", 0
	}
	vaultA, _ := meteoraVault(DAMM, l.Account, l.base.Mint)
	vaultB, _ := meteoraVault(DAMM, l.Account, l.quote.Mint)
	a := t.act(ctx, "damm", instruction, nil, map[string]svm.Key{
		"pool": l.Account, "position": svm.SignerOf("a position").Key, "position_nft_account": svm.SignerOf("account of a position").Key, "signer": l.who.Key,
		"token_a_account": l.base.Account(l.who.Key), "token_b_account": l.quote.Account(l.who.Key), "token_a_vault": vaultA, "token_b_vault": vaultB,
		"token_a_mint": l.base.Mint, "token_b_mint": l.quote.Mint, "token_a_program": l.base.Program, "token_b_program": l.quote.Program,
	})
	delta := dammLiquidity(l.baseAmount, l.quoteAmount)
	l.move(a, vaultA, vaultB, dammAuthority, dammAuthoritySeeds)
	a.tell(ctx, l.Pool)
	a.event(ctx, "EvtLiquidityChange", svm.Fields{
		"pool": l.Account, "owner": l.who.Key, "token_a_amount": text(l.baseAmount), "token_b_amount": text(l.quoteAmount), "reserve_a_amount": text(l.Base), "reserve_b_amount": text(l.Quote),
		"liquidity_delta": delta, "change_type": kind,
	})
	t.do(a)
}

// dammLiquidity is the liquidity of two amounts in a range without ends, with 64 fractional bits: the root of their product.
func dammLiquidity(a, b uint64) string { return root(a, b, 64).String() }
