package solana

import (
	"bytes"
	"cmp"
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// LockOfRaydium is who keeps shares that were locked by Raydium's program for that (from the list of programs in Raydium's package @raydium-io/raydium-sdk-v2).
var LockOfRaydium = svm.MustKey("3f7GcQFG397GAaEnv51zR6tsTVihYRydnydDD1cXekxH")

// shareDecimals are those of the shares of all pools that have some.
const shareDecimals = 9

// issueShares has a pool's program make the token of its shares, and issue those of the first deposit: the root of the product of both sides. The authority, an account of
// that program, issues them; its address is made of the seeds.
func (a *act) issueShares(ctx context.Context, p *Pool, token, payer, to, authority svm.Key, seeds [][]byte) {
	p.shares = programs.Coin{Mint: a.named["lp_mint"], Program: token, Decimals: shareDecimals}
	p.issued = root(p.Base, p.Quote, 0).Uint64()
	_, ofToken := derived(a.program, []byte("pool_lp_mint"), p.Account[:])
	if p.Program == AMMv4 {
		_, ofToken = ammAccount(p.market, "lp_mint")
	}
	a.call(programs.CreateAccount(payer, p.shares.Mint, programs.MintLen, token), ofToken...)
	a.call(programs.InitializeMint(token, p.shares.Mint, shareDecimals, authority))
	a.call(p.shares.OpenAccount(payer, to))
	a.call(programs.MintTo(token, p.shares.Mint, p.shares.Account(to), authority, p.issued), seeds...)
	a.tell(ctx, p)
}

// lockShares burns half of a pool's shares, and locks the rest.
func (a *act) lockShares(p *Pool, of svm.Key) {
	a.call(p.shares.Burn(p.shares.Account(of), of, p.issued/2))
	a.call(p.shares.OpenAccount(of, LockOfRaydium))
	a.call(p.shares.Transfer(p.shares.Account(of), p.shares.Account(LockOfRaydium), of, p.issued-p.issued/2))
}

// tell has the program write what a pool's account holds of its shares or its liquidity. Zeros aren't written, as an account begins with them, and none of these fields becomes
// zero again.
func (a *act) tell(ctx context.Context, p *Pool) {
	kind, fields := "Pool", svm.Fields{"base_mint": p.base.Mint, "quote_mint": p.quote.Mint, "lp_mint": p.shares.Mint, "lp_supply": text(p.issued)}
	switch p.Program {
	case CPMM:
		kind, fields = "PoolState", svm.Fields{"amm_config": cpmmConfig, "lp_mint": p.shares.Mint, "lp_supply": text(p.issued)}
	case AMMv4:
		kind, fields = "AmmInfo", svm.Fields{"coin_vault_mint": p.base.Mint, "pc_vault_mint": p.quote.Mint, "lp_mint": p.shares.Mint, "lp_amount": text(p.issued)}
	case DAMM:
		fields = svm.Fields{"token_a_mint": p.base.Mint, "token_b_mint": p.quote.Mint, "liquidity": dammLiquidity(p.Base, p.Quote), "permanent_lock_liquidity": p.locked}
	}
	data, err := a.t.w.Chain.DescribedContents(ctx, a.name, kind, fields)
	if err != nil {
		a.err = cmp.Or(a.err, err)
		return
	}
	const piece = 32
	for at := 0; at < len(data); at += piece {
		if part := data[at:min(at+piece, len(data))]; !bytes.Equal(part, make([]byte, len(part))) {
			a.script.Write(a.place(svm.Written(p.Account)), at, part)
		}
	}
}

// root is the root of a product, with some fractional bits.
func root(a, b uint64, bits uint) *big.Int {
	n := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	return n.Sqrt(n.Lsh(n, 2*bits))
}
