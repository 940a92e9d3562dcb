package solana

import (
	"context"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// liquidity is what somebody puts into a pool, or takes out of it.
type liquidity struct {
	*Pool

	who         svm.Signer
	adds        bool
	base, quote uint64
}

// Provide has somebody put a part of what a pool has into it, or take it out. Shares of pools aren't kept: anybody may take out whatever there is.
func (w *World) Provide(ctx context.Context, p *Pool, who svm.Signer, adds bool, part float64) error {
	l := liquidity{Pool: p, who: who, adds: adds, base: uint64(float64(p.Base) * part)}
	if adds && p.base.Mint != WSOL {
		l.base = min(l.base, w.has(p.base.Mint, who.Key))
	}
	l.quote = amount(l.base, p.Quote, p.Base)
	if l.base == 0 || l.quote == 0 || adds && p.quote.Mint != WSOL && l.quote > w.has(p.quote.Mint, who.Key) {
		return nil
	}
	paid := uint64(0)
	for _, side := range []struct {
		programs.Coin
		amount uint64
	}{{p.base, l.base}, {p.quote, l.quote}} {
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
	}{{l.Pool.base, baseVault, l.base}, {l.Pool.quote, quoteVault, l.quote}} {
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
		l.Base, l.Quote = l.Base+l.base, l.Quote+l.quote
	} else {
		l.Base, l.Quote = l.Base-l.base, l.Quote-l.quote
	}
}

// provideAMM is a deposit or a withdrawal of the AMM v4, which takes its profit first: from then on it is owed. One in three tells nothing, as where the log is cut off.
func (w *World) provideAMM(ctx context.Context, t *tx, l *liquidity) {
	amm, coinVault, pcVault, _ := ammVaults()
	instruction, args := "withdraw", svm.Fields{"amount": text(l.base)}
	event, told := "WithdrawLog", svm.Fields{"out_coin": text(l.base), "out_pc": text(l.quote)}
	if l.adds {
		instruction, args = "deposit", svm.Fields{"max_coin_amount": text(l.base), "max_pc_amount": text(l.quote)}
		event, told = "DepositLog", svm.Fields{"deduct_coin": text(l.base), "deduct_pc": text(l.quote)}
	}
	a := t.act(ctx, "ammv4", instruction, args, map[string]svm.Key{
		"amm": amm, "coin_vault": coinVault, "pc_vault": pcVault, "amm_target_orders": svm.SignerOf("target orders of the AMM").Key, "lp_mint": svm.SignerOf("shares of the AMM").Key,
		"user_token_coin": wsol.Account(l.who.Key), "user_token_pc": usdc.Account(l.who.Key), "user_token_lp": svm.SignerOf("somebody's shares of the AMM").Key,
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
	first, second, before, moved := l.Pool.base, l.Pool.quote, [2]uint64{l.Base, l.Quote}, [2]uint64{l.base, l.quote}
	if slices.Compare(first.Mint[:], second.Mint[:]) > 0 {
		first, second = second, first
		before, moved = [2]uint64{l.Quote, l.Base}, [2]uint64{l.quote, l.base}
	}
	instruction, kind := "withdraw", 1
	if l.adds {
		instruction, kind = "deposit", 0
	}
	vault := func(c programs.Coin) svm.Key {
		k, _ := raydiumVault(CPMM, l.Account, c.Mint)
		return k
	}
	a := t.act(ctx, "cpmm", instruction, svm.Fields{"lp_token_amount": text(l.base)}, map[string]svm.Key{
		"owner": l.who.Key, "pool_state": l.Account, "owner_lp_token": svm.SignerOf("somebody's shares of CPMM").Key, "token_0_account": first.Account(l.who.Key),
		"token_1_account": second.Account(l.who.Key), "token_0_vault": vault(first), "token_1_vault": vault(second), "vault_0_mint": first.Mint, "vault_1_mint": second.Mint,
	})
	l.move(a, vault(l.Pool.base), vault(l.Pool.quote), cpmmAuthority, cpmmAuthoritySeeds)
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
		"pool": l.Account, "user": l.who.Key, "base_mint": l.Pool.base.Mint, "quote_mint": l.Pool.quote.Mint, "user_base_token_account": l.Pool.base.Account(l.who.Key),
		"user_quote_token_account": l.Pool.quote.Account(l.who.Key), "pool_base_token_account": l.Pool.base.Account(l.Account),
		"pool_quote_token_account": l.Pool.quote.Account(l.Account), "lp_mint": svm.SignerOf("shares of PumpSwap").Key,
		"user_pool_token_account": svm.SignerOf("somebody's shares of PumpSwap").Key,
	})
	l.move(a, l.Pool.base.Account(l.Account), l.Pool.quote.Account(l.Account), l.Account, l.seeds)
	a.event(ctx, event, svm.Fields{"pool": l.Account, "user": l.who.Key})
	t.do(a)
}

// provideDAMM adds liquidity to a pool of DAMM v2 or removes it.
func (w *World) provideDAMM(ctx context.Context, t *tx, l *liquidity) {
	instruction, kind := "remove_liquidity", 1
	if l.adds {
		instruction, kind = "add_liquidity", 0
	}
	vaultA, _ := meteoraVault(DAMM, l.Account, l.Pool.base.Mint)
	vaultB, _ := meteoraVault(DAMM, l.Account, l.Pool.quote.Mint)
	a := t.act(ctx, "damm", instruction, nil, map[string]svm.Key{
		"pool": l.Account, "position": svm.SignerOf("a position").Key, "position_nft_account": svm.SignerOf("account of a position").Key, "signer": l.who.Key,
		"token_a_account": l.Pool.base.Account(l.who.Key), "token_b_account": l.Pool.quote.Account(l.who.Key), "token_a_vault": vaultA, "token_b_vault": vaultB,
		"token_a_mint": l.Pool.base.Mint, "token_b_mint": l.Pool.quote.Mint, "token_a_program": l.Pool.base.Program, "token_b_program": l.Pool.quote.Program,
	})
	delta := dammLiquidity(l.base, l.quote)
	l.move(a, vaultA, vaultB, dammAuthority, dammAuthoritySeeds)
	a.event(ctx, "EvtLiquidityChange", svm.Fields{
		"pool": l.Account, "owner": l.who.Key, "token_a_amount": text(l.base), "token_b_amount": text(l.quote), "reserve_a_amount": text(l.Base), "reserve_b_amount": text(l.Quote),
		"liquidity_delta": delta, "change_type": kind,
	})
	t.do(a)
}

// dammLiquidity is the liquidity of two amounts in a range without ends, with 64 fractional bits: the root of their product.
func dammLiquidity(a, b uint64) string {
	n := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	return n.Sqrt(n.Lsh(n, 128)).String()
}
