package solana

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// Accounts that have what all curves of DBC and all pools of DAMM v2 have.
var (
	dbcAuthority, dbcAuthoritySeeds   = derived(DBC, []byte("pool_authority"))
	dammAuthority, dammAuthoritySeeds = derived(DAMM, []byte("pool_authority"))
)

// dbcThreshold is what a curve of DBC has to raise, and the rate of its fee in hundredths of a percent.
const (
	dbcThreshold = 60 * lamports
	dbcFeeBPS    = 100
	dammFeeBPS   = 25
)

// meteoraVault is the token account of a curve of DBC, or of a pool of DAMM v2.
func meteoraVault(program, pool, mint svm.Key) (svm.Key, [][]byte) {
	return derived(program, []byte("token_vault"), mint[:], pool[:])
}

// poolAddress is a pool's, of a configuration and two tokens.
func poolAddress(program, config, a, b svm.Key) (svm.Key, [][]byte) {
	if slices.Compare(a[:], b[:]) < 0 {
		a, b = b, a
	}
	return derived(program, []byte("pool"), config[:], a[:], b[:])
}

// launchDBC launches a token on a curve of DBC: of SPL Token, with its name in an account of Metaplex.
func (w *World) launchDBC(ctx context.Context, t *tx, creator svm.Signer, l Launch) *Curve {
	mint := w.newMint()
	t.signers = append(t.signers, mint)
	c := &Curve{
		Token: mint.Key, Program: DBC, Creator: creator, VirtualSOL: firstSOL, VirtualToken: firstToken, Tokens: curveSupply,
		coin: programs.Coin{Mint: mint.Key, Program: programs.Token, Decimals: 6}, to: l.To,
	}
	var curveSeeds [][]byte
	c.Account, curveSeeds = poolAddress(DBC, DBCConfig, mint.Key, WSOL)
	baseVault, _ := meteoraVault(DBC, c.Account, mint.Key)
	quoteVault, _ := meteoraVault(DBC, c.Account, WSOL)
	metadata, _ := derived(programs.Metadata, []byte("metadata"), programs.Metadata[:], mint.Key[:])
	a := t.act(ctx, "dbc", "initialize_virtual_pool_with_spl_token", svm.Fields{"params": svm.Fields{"name": l.Name, "symbol": l.Symbol, "uri": l.URI}}, map[string]svm.Key{
		"config": DBCConfig, "pool_authority": dbcAuthority, "creator": creator.Key, "base_mint": mint.Key, "quote_mint": WSOL, "pool": c.Account, "base_vault": baseVault,
		"quote_vault": quoteVault, "mint_metadata": metadata, "payer": creator.Key, "token_quote_program": programs.Token,
	})
	a.call(programs.CreateAccount(creator.Key, mint.Key, programs.MintLen, programs.Token))
	a.call(programs.InitializeMint(programs.Token, mint.Key, 6, dbcAuthority))
	a.call(programs.CreateAccount(creator.Key, c.Account, dbcPoolLen, DBC), curveSeeds...)
	a.openVault(creator.Key, c.Account, c.coin, dbcAuthority, meteoraVault)
	a.openVault(creator.Key, c.Account, wsol, dbcAuthority, meteoraVault)
	a.call(programs.MintTo(programs.Token, mint.Key, baseVault, dbcAuthority, curveSupply), dbcAuthoritySeeds...)
	a.call(programs.GiveUpMinting(programs.Token, mint.Key, dbcAuthority), dbcAuthoritySeeds...)
	a.event(ctx, "EvtInitializePool", svm.Fields{"pool": c.Account, "config": DBCConfig, "creator": creator.Key, "base_mint": mint.Key})
	t.do(a)
	// DBC calls Metaplex' program itself. Here that is an instruction of its own: DBC's would be longer than any that fits into a transaction of the mainnet, and an index reads no such.
	t.do(t.describeToken(mint.Key, dbcAuthority, creator.Key, l))
	w.curves = append(w.curves, c)
	return c
}

// Lengths of the accounts of a curve and of a configuration.
const (
	dbcPoolLen   = 424
	dbcConfigLen = 1048
)

// describeToken has Metaplex' program make the account with a token's name, which nobody may change. https://developers.metaplex.com/token-metadata has its layout.
func (t *tx) describeToken(mint, authority, payer svm.Key, l Launch) *act {
	metadata, seeds := derived(programs.Metadata, []byte("metadata"), programs.Metadata[:], mint[:])
	body := programs.MetadataOf(mint, authority, l.Name, l.Symbol, l.URI)
	a := t.rawAct(programs.Metadata, []byte{33}, svm.Written(metadata), svm.Reading(mint), svm.Paying(payer), svm.Reading(programs.System))
	a.call(programs.CreateAccount(payer, metadata, len(body), programs.Metadata), seeds...)
	a.script.Write(a.place(svm.Written(metadata)), 0, body)
	return a
}

// swapDBC buys from a curve of DBC or sells to it. Of what goes in a hundredth is the fee.
func (w *World) swapDBC(ctx context.Context, t *tx, c *Curve, who svm.Signer, buys bool, given uint64) {
	w.trades++
	fee := given * dbcFeeBPS / 10_000
	without := given - fee
	var got uint64
	baseVault, _ := meteoraVault(DBC, c.Account, c.Token)
	quoteVault, _ := meteoraVault(DBC, c.Account, WSOL)
	input, output, inVault, outVault := wsol, c.coin, quoteVault, baseVault
	if buys {
		got = min(amount(c.VirtualToken, without, c.VirtualSOL+without), c.Tokens)
		c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL+without, c.VirtualToken-got, c.SOL+without, c.Tokens-got
		c.Complete = c.SOL >= dbcThreshold
		t.add(c.coin.OpenAccount(who.Key, who.Key))
	} else {
		got = min(amount(c.VirtualSOL, without, c.VirtualToken+without), c.SOL)
		c.VirtualSOL, c.VirtualToken, c.SOL, c.Tokens = c.VirtualSOL-got, c.VirtualToken+without, c.SOL-got, c.Tokens+without
		input, output, inVault, outVault = c.coin, wsol, baseVault, quoteVault
	}
	a := t.act(ctx, "dbc", "swap2", svm.Fields{"params": svm.Fields{"amount_0": text(given)}}, map[string]svm.Key{
		"pool_authority": dbcAuthority, "config": DBCConfig, "pool": c.Account, "input_token_account": input.Account(who.Key), "output_token_account": output.Account(who.Key),
		"base_vault": baseVault, "quote_vault": quoteVault, "base_mint": c.Token, "quote_mint": WSOL, "payer": who.Key, "token_base_program": programs.Token,
		"token_quote_program": programs.Token,
	})
	a.call(input.Transfer(input.Account(who.Key), inVault, who.Key, given))
	a.call(output.Transfer(outVault, output.Account(who.Key), dbcAuthority, got), dbcAuthoritySeeds...)
	direction, next := 0, sqrtPrice(c.VirtualSOL, c.VirtualToken)
	if buys {
		direction = 1
	}
	// The program tells each swap twice.
	a.event(ctx, "EvtSwap", svm.Fields{
		"pool": c.Account, "config": DBCConfig, "trade_direction": direction, "params": svm.Fields{"amount_in": text(given)},
		"swap_result": svm.Fields{"actual_input_amount": text(without), "output_amount": text(got), "next_sqrt_price": next, "trading_fee": text(fee)},
		"amount_in":   text(given), "current_timestamp": w.time.Unix(),
	})
	a.event(ctx, "EvtSwap2", svm.Fields{
		"pool": c.Account, "config": DBCConfig, "trade_direction": direction, "swap_parameters": svm.Fields{"amount_0": text(given)},
		"swap_result": svm.Fields{
			"included_fee_input_amount": text(given), "excluded_fee_input_amount": text(without), "output_amount": text(got), "next_sqrt_price": next, "trading_fee": text(fee),
		},
		"quote_reserve_amount": text(c.SOL), "migration_threshold": text(dbcThreshold), "current_timestamp": w.time.Unix(),
	})
	if c.Complete {
		a.event(ctx, "EvtCurveComplete", svm.Fields{"pool": c.Account, "config": DBCConfig, "base_reserve": text(c.Tokens), "quote_reserve": text(c.SOL)})
	}
	t.do(a)
	if buys {
		w.gains(c.Token, who.Key, got)
	} else {
		w.loses(c.Token, who.Key, given)
	}
}

// migrateDBC moves a full curve to a pool of DAMM v2: what it raised, and as many tokens as are worth the same. The rest stays with the curve.
func (w *World) migrateDBC(ctx context.Context, t *tx, c *Curve, who svm.Signer) {
	position := svm.SignerOf("position of " + c.Token.String())
	t.signers = append(t.signers, position)
	p := &Pool{Program: DAMM, base: c.coin, quote: wsol, Base: amount(c.SOL, c.VirtualToken, c.VirtualSOL), Quote: c.SOL}
	p.locked = dammLiquidity(p.Base, p.Quote)
	config, _ := svm.Derived(DAMM, []byte("config"))
	p.Account, p.seeds = poolAddress(DAMM, config, c.Token, WSOL)
	baseVault, _ := meteoraVault(DBC, c.Account, c.Token)
	quoteVault, _ := meteoraVault(DBC, c.Account, WSOL)
	vaultA, _ := meteoraVault(DAMM, p.Account, c.Token)
	vaultB, _ := meteoraVault(DAMM, p.Account, WSOL)
	price := sqrtPrice(p.Quote, p.Base)

	create := t.act(ctx, "damm", "initialize_pool_with_dynamic_config", svm.Fields{"params": svm.Fields{"sqrt_price": price}}, map[string]svm.Key{
		"creator": c.Creator.Key, "position_nft_mint": position.Key, "payer": who.Key, "pool_creator_authority": dbcAuthority, "config": config, "pool_authority": dammAuthority,
		"pool": p.Account, "token_a_mint": c.Token, "token_b_mint": WSOL, "token_a_vault": vaultA, "token_b_vault": vaultB, "payer_token_a": baseVault, "payer_token_b": quoteVault,
		"token_a_program": programs.Token, "token_b_program": programs.Token,
	})
	create.call(programs.CreateAccount(who.Key, p.Account, dammPoolLen, DAMM), p.seeds...)
	create.openVault(who.Key, p.Account, c.coin, dammAuthority, meteoraVault)
	create.openVault(who.Key, p.Account, wsol, dammAuthority, meteoraVault)
	create.call(c.coin.Transfer(baseVault, vaultA, dbcAuthority, p.Base))
	create.call(wsol.Transfer(quoteVault, vaultB, dbcAuthority, p.Quote))
	create.tell(ctx, p)
	create.event(ctx, "EvtInitializePool", svm.Fields{
		"pool": p.Account, "token_a_mint": c.Token, "token_b_mint": WSOL, "creator": c.Creator.Key, "payer": who.Key, "sqrt_min_price": "4295048016",
		"sqrt_max_price": "79226673521066979257578248091", "activation_type": 1, "collect_fee_mode": 1, "liquidity": p.locked, "sqrt_price": price, "activation_point": text(uint64(w.time.Unix())),
		"token_a_amount": text(p.Base), "token_b_amount": text(p.Quote), "total_amount_a": text(p.Base), "total_amount_b": text(p.Quote),
	})

	a := t.act(ctx, "dbc", "migration_damm_v2", nil, map[string]svm.Key{
		"virtual_pool": c.Account, "config": DBCConfig, "pool_authority": dbcAuthority, "pool": p.Account, "first_position_nft_mint": position.Key,
		"damm_pool_authority": dammAuthority, "amm_program": DAMM, "base_mint": c.Token, "quote_mint": WSOL, "token_a_vault": vaultA, "token_b_vault": vaultB,
		"base_vault": baseVault, "quote_vault": quoteVault, "payer": who.Key, "token_base_program": programs.Token, "token_quote_program": programs.Token,
	})
	a.nest(create, dbcAuthoritySeeds...)
	t.do(a)
	c.Pool, c.SOL = p, 0
	w.pools = append(w.pools, p)
}

// migrateDBCToDAMMv1 moves a full curve to a pool of DAMM v1, of which no description is here: its stand-in makes accounts at addresses that are ours, and nobody trades there.
func (w *World) migrateDBCToDAMMv1(ctx context.Context, t *tx, c *Curve, who svm.Signer) {
	p := &Pool{Program: DAMMv1, base: c.coin, quote: wsol, Base: amount(c.SOL, c.VirtualToken, c.VirtualSOL), Quote: c.SOL}
	p.Account, p.seeds = derived(DAMMv1, c.Token[:], WSOL[:])
	baseVault, _ := meteoraVault(DBC, c.Account, c.Token)
	quoteVault, _ := meteoraVault(DBC, c.Account, WSOL)
	create := t.rawAct(DAMMv1, nil, svm.Written(p.Account))
	create.call(programs.CreateAccount(who.Key, p.Account, dammPoolLen, DAMMv1), p.seeds...)
	vaultA := create.openVault(who.Key, p.Account, c.coin, p.Account, meteoraVault)
	vaultB := create.openVault(who.Key, p.Account, wsol, p.Account, meteoraVault)
	create.call(c.coin.Transfer(baseVault, vaultA, dbcAuthority, p.Base))
	create.call(wsol.Transfer(quoteVault, vaultB, dbcAuthority, p.Quote))

	a := t.act(ctx, "dbc", "migrate_meteora_damm", nil, map[string]svm.Key{
		"virtual_pool": c.Account, "config": DBCConfig, "pool": p.Account, "token_a_mint": c.Token, "token_b_mint": WSOL, "a_token_vault": vaultA, "b_token_vault": vaultB,
		"base_vault": baseVault, "quote_vault": quoteVault, "payer": who.Key,
	})
	a.nest(create, dbcAuthoritySeeds...)
	t.do(a)
	c.Pool, c.SOL = p, 0
}

// dammPoolLen is how long a pool's account is.
const dammPoolLen = 1112

// swapDAMM buys of a pool of DAMM v2 or sells to it. The fee is taken of SOL, whichever way it goes, and stays with the pool's vault, apart from its reserves.
func (w *World) swapDAMM(ctx context.Context, t *tx, p *Pool, who svm.Signer, buys bool, given uint64) {
	w.trades++
	vaultA, _ := meteoraVault(DAMM, p.Account, p.base.Mint)
	vaultB, _ := meteoraVault(DAMM, p.Account, p.quote.Mint)
	input, output, inVault, outVault := p.base, p.quote, vaultA, vaultB
	got, fee, without, direction := uint64(0), uint64(0), given, 0
	if buys {
		fee = given * dammFeeBPS / 10_000
		without = given - fee
		direction, got = 1, amount(p.Base, without, p.Quote+without)
		input, output, inVault, outVault = p.quote, p.base, vaultB, vaultA
		p.Base, p.Quote = p.Base-got, p.Quote+without
		t.add(p.base.OpenAccount(who.Key, who.Key))
		w.gains(p.base.Mint, who.Key, got)
	} else {
		got = amount(p.Quote, given, p.Base+given)
		p.Base, p.Quote, fee = p.Base+given, p.Quote-got, got*dammFeeBPS/10_000
		got -= fee
		w.loses(p.base.Mint, who.Key, given)
	}
	a := t.act(ctx, "damm", "swap2", svm.Fields{"_params": svm.Fields{"amount_0": text(given)}}, map[string]svm.Key{
		"pool_authority": dammAuthority, "pool": p.Account, "input_token_account": input.Account(who.Key), "output_token_account": output.Account(who.Key),
		"token_a_vault": vaultA, "token_b_vault": vaultB, "token_a_mint": p.base.Mint, "token_b_mint": p.quote.Mint, "payer": who.Key, "token_a_program": p.base.Program,
		"token_b_program": p.quote.Program,
	})
	a.call(input.Transfer(input.Account(who.Key), inVault, who.Key, given))
	a.call(output.Transfer(outVault, output.Account(who.Key), dammAuthority, got), dammAuthoritySeeds...)
	a.event(ctx, "EvtSwap2", svm.Fields{
		"pool": p.Account, "trade_direction": direction, "collect_fee_mode": 1, "params": svm.Fields{"amount_0": text(given)},
		"swap_result": svm.Fields{
			"included_fee_input_amount": text(given), "excluded_fee_input_amount": text(without), "output_amount": text(got), "next_sqrt_price": sqrtPrice(p.Quote, p.Base),
			"claiming_fee": text(fee),
		},
		"included_transfer_fee_amount_in": text(given), "included_transfer_fee_amount_out": text(got), "excluded_transfer_fee_amount_out": text(got),
		"current_timestamp": w.time.Unix(), "reserve_a_amount": text(p.Base), "reserve_b_amount": text(p.Quote),
	})
	t.do(a)
}
