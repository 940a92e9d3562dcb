package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// StoredFact is what a call answered, with the block it was pinned to.
type StoredFact struct {
	Block uint64
	Hash  market.Hash
	Fact  market.Fact
	// Unsure is set where no two of several endpoints gave the fact. Facts doesn't tell it.
	Unsure bool
}

// unsureFactRow says of a fact that it is unsure.
type unsureFactRow struct {
	bun.BaseModel `bun:"table:unsure_facts"`

	Chain string `bun:",pk"`
	Block int64  `bun:",pk"`
	Kind  string `bun:",pk"`
	Ref   []byte `bun:",pk"`
	Hash  []byte
}

type factRow struct {
	bun.BaseModel `bun:"table:facts"`

	Chain string `bun:",pk"`
	Block int64  `bun:",pk"`
	Kind  string `bun:",pk"`
	Ref   []byte `bun:",pk"`
	Hash  []byte
	Body  []byte
}

// A fact's body is a JSON object with the keys of the types below. This is a persisted format: facts are kept for ever, so that a newer
// binary must read them all. testdata/facts holds a body of each kind, and docs/adr/0014 says how they may change. A body without a
// version has Go's names (oldform.go).

// watchKind is the kind of the facts that say that a wallet is a member's.
const watchKind = "watch"

// heldKind and gasKind are the kinds of the facts that say what a member's wallet had, and what it paid for a transaction. Their refs begin with the wallet.
const heldKind, gasKind = "held", "gas"

// pastKind is the kind of the facts that say what a member's wallet did before it was watched.
const pastKind = "past"

// factVersion is the version of the bodies that are written.
const factVersion = 1

type tokenBody struct {
	Version int               `json:"v"`
	Token   model.AddressText `json:"token"`
	Name    string            `json:"name"`
	Symbol  string            `json:"symbol"`
	URI     string            `json:"uri,omitempty"`
	// Decimals and Supply are null where the contract told none.
	Decimals     *uint8               `json:"decimals"`
	Supply       *model.DecimalAmount `json:"supply"`
	FromCreation bool                 `json:"from_creation"`
}

type poolBody struct {
	Version int               `json:"v"`
	Pool    model.AddressText `json:"pool"`
	// Reason says why the contract is no pool; then there is no Info.
	Reason string        `json:"reason,omitempty"`
	Info   *poolInfoBody `json:"info,omitempty"`
}

type poolInfoBody struct {
	Protocol     string              `json:"protocol"`
	Factory      model.AddressText   `json:"factory"`
	Token0       model.AddressText   `json:"token0"`
	Token1       model.AddressText   `json:"token1"`
	FeePips      uint32              `json:"fee_pips"`
	TickSpacing  int32               `json:"tick_spacing"`
	Hooks        model.AddressText   `json:"hooks"`
	Stable       bool                `json:"stable"`
	SqrtPriceX96 model.DecimalAmount `json:"sqrt_price_x96"`
	Tick         int32               `json:"tick"`
}

type poolStateBody struct {
	Version      int                 `json:"v"`
	Pool         model.AddressText   `json:"pool"`
	Reserve0     model.DecimalAmount `json:"reserve0"`
	Reserve1     model.DecimalAmount `json:"reserve1"`
	SqrtPriceX96 model.DecimalAmount `json:"sqrt_price_x96"`
	Tick         int32               `json:"tick"`
	Liquidity    model.DecimalAmount `json:"liquidity"`
	// Ticks are as market.TickMap writes them, in base64.
	Ticks []byte `json:"ticks,omitempty"`
	// Window is the part of the pool's ticks that these are; left out where they are all.
	Window *tickWindowBody `json:"window,omitempty"`
}

type tickWindowBody struct {
	Lower int32 `json:"lower"`
	Upper int32 `json:"upper"`
}

func bodyOfPoolState(f *market.PoolStateFact) poolStateBody {
	b := poolStateBody{
		Version: factVersion, Pool: model.AddressText{Address: f.Pool}, Reserve0: model.DecimalAmount{Amount: f.Reserve0}, Reserve1: model.DecimalAmount{Amount: f.Reserve1},
		SqrtPriceX96: model.DecimalAmount{Amount: f.SqrtPriceX96}, Tick: f.Tick, Liquidity: model.DecimalAmount{Amount: f.Liquidity}, Ticks: []byte(f.Ticks),
	}
	if !f.Window.IsWhole() {
		b.Window = &tickWindowBody{f.Window.Lower, f.Window.Upper}
	}
	return b
}

func (b *poolStateBody) fact() market.PoolStateFact {
	f := market.PoolStateFact{
		Pool: b.Pool.Address, Reserve0: b.Reserve0.Amount, Reserve1: b.Reserve1.Amount, SqrtPriceX96: b.SqrtPriceX96.Amount, Tick: b.Tick,
		Liquidity: b.Liquidity.Amount, Ticks: string(b.Ticks),
	}
	if w := b.Window; w != nil {
		f.Window = market.TickWindow{Lower: w.Lower, Upper: w.Upper}
	}
	return f
}

type supplyBody struct {
	Version int                 `json:"v"`
	Token   model.AddressText   `json:"token"`
	Supply  model.DecimalAmount `json:"supply"`
}

type balanceBody struct {
	Version int                 `json:"v"`
	Token   model.AddressText   `json:"token"`
	Account model.AddressText   `json:"account"`
	Amount  model.DecimalAmount `json:"amount"`
}

type watchBody struct {
	Version int               `json:"v"`
	Wallet  model.AddressText `json:"wallet"`
	Member  int64             `json:"member"`
	Change  int64             `json:"change"`
	Since   int64             `json:"since"`
}

type heldBody struct {
	Version int               `json:"v"`
	Wallet  model.AddressText `json:"wallet"`
	Token   model.AddressText `json:"token"`
	// Amount is null where no node told it.
	Amount *model.DecimalAmount `json:"amount"`
}

type gasBody struct {
	Version int               `json:"v"`
	Wallet  model.AddressText `json:"wallet"`
	// Tx is in the form in which answers have it.
	Tx string `json:"tx"`
	// Amount is null where it isn't known.
	Amount *model.DecimalAmount `json:"amount"`
}

type pastBody struct {
	Version int               `json:"v"`
	Wallet  model.AddressText `json:"wallet"`
	Before  uint64            `json:"before"`
	In      uint64            `json:"in"`
	Entries []pastEntryBody   `json:"entries"`
}

type pastEntryBody struct {
	Block uint64            `json:"block"`
	Seq   uint32            `json:"seq"`
	Time  int64             `json:"time"`
	Tx    string            `json:"tx"`
	Token model.AddressText `json:"token"`
	Kind  string            `json:"kind"`
	// Pool and LogIndex are a trade's.
	Pool     *model.AddressText  `json:"pool,omitempty"`
	LogIndex uint64              `json:"log_index,omitempty"`
	Amount   model.DecimalAmount `json:"amount"`
	// NanoUSD is null where the value isn't known.
	NanoUSD *int64 `json:"nano_usd,omitempty"`
	// FeeNanoUSD is the trade's part of the platform's fee.
	FeeNanoUSD int64 `json:"fee_nano_usd,omitempty"`
}

type curveBody struct {
	Version int               `json:"v"`
	Curve   model.AddressText `json:"curve"`
	Token   model.AddressText `json:"token"`
	// Reason says why Quote is unknown; then there is none.
	Reason string             `json:"reason,omitempty"`
	Quote  *model.AddressText `json:"quote,omitempty"`
}

func factsToRows(chain string, facts []StoredFact) (_ []factRow, err error) {
	rows := make([]factRow, 0, len(facts))
	for _, f := range facts {
		r := factRow{Chain: chain, Block: int64(f.Block), Hash: f.Hash[:]}
		var body any
		if r.Kind, r.Ref, body, err = factToBody(f.Fact); err != nil {
			return nil, err
		}
		if r.Body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("database: facts: %w", err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// factToBody gives a fact's kind, what it is about, and its body.
func factToBody(fact market.Fact) (kind string, ref []byte, body any, err error) {
	switch f := fact.(type) {
	case market.TokenFact:
		b := tokenBody{Version: factVersion, Token: model.AddressText{Address: f.Token}, Name: f.Name, Symbol: f.Symbol, URI: f.URI, FromCreation: f.FromCreation}
		if f.HasDecimals {
			b.Decimals = &f.Decimals
		}
		if f.HasSupply {
			b.Supply = &model.DecimalAmount{Amount: f.Supply}
		}
		return "token", f.Token.Bytes(), b, nil
	case market.PoolFact:
		b := poolBody{Version: factVersion, Pool: model.AddressText{Address: f.Pool}, Reason: f.Reason}
		if f.Known {
			b.Info = &poolInfoBody{
				Protocol: string(f.Info.Protocol), Factory: model.AddressText{Address: f.Info.Factory}, Token0: model.AddressText{Address: f.Info.Token0},
				Token1: model.AddressText{Address: f.Info.Token1}, FeePips: f.Info.FeePips, TickSpacing: f.Info.TickSpacing, Hooks: model.AddressText{Address: f.Info.Hooks},
				Stable: f.Info.Stable, SqrtPriceX96: model.DecimalAmount{Amount: f.Info.SqrtPriceX96}, Tick: f.Info.Tick,
			}
		}
		return "pool", f.Pool.Bytes(), b, nil
	case market.PoolStateFact:
		return "pool_state", f.Pool.Bytes(), bodyOfPoolState(&f), nil
	case market.SupplyFact:
		return "supply", f.Token.Bytes(), supplyBody{factVersion, model.AddressText{Address: f.Token}, model.DecimalAmount{Amount: f.Supply}}, nil
	case market.BalanceFact:
		return "balance", f.Account.AppendTo(f.Token.Bytes()),
			balanceBody{factVersion, model.AddressText{Address: f.Token}, model.AddressText{Address: f.Account}, model.DecimalAmount{Amount: f.Amount}}, nil
	case market.CurveFact:
		b := curveBody{Version: factVersion, Curve: model.AddressText{Address: f.Curve}, Token: model.AddressText{Address: f.Token}, Reason: f.Reason}
		if f.Known {
			b.Quote = &model.AddressText{Address: f.Quote}
		}
		return "curve", f.Token.Bytes(), b, nil
	case market.WatchFact:
		return watchKind, f.Wallet.Bytes(), watchBody{factVersion, model.AddressText{Address: f.Wallet}, f.Member, f.Change, f.Since}, nil
	case market.HeldFact:
		b := heldBody{Version: factVersion, Wallet: model.AddressText{Address: f.Wallet}, Token: model.AddressText{Address: f.Token}}
		if f.Known {
			b.Amount = &model.DecimalAmount{Amount: f.Amount}
		}
		return heldKind, f.Token.AppendTo(f.Wallet.Bytes()), b, nil
	case market.GasFact:
		b := gasBody{Version: factVersion, Wallet: model.AddressText{Address: f.Wallet}, Tx: f.Tx.String()}
		if f.Known {
			b.Amount = &model.DecimalAmount{Amount: f.Amount}
		}
		return gasKind, f.Tx.AppendTo(f.Wallet.Bytes()), b, nil
	case market.PastFact:
		return pastKind, f.Wallet.Bytes(), bodyOfPast(&f), nil
	default:
		return "", nil, nil, fmt.Errorf("database: facts: a %T has no row", fact)
	}
}

func (r *factRow) fact() (StoredFact, error) {
	c := model.Columns{Table: "facts"}
	f := StoredFact{Block: uint64(r.Block), Hash: c.Hash(r.Hash)}
	if c.Err != nil {
		return f, c.Err
	}
	var err error
	f.Fact, err = readFact(r.Kind, r.Body)
	return f, err
}

// readFact reads a fact's body, of this version or by Go's names.
func readFact(kind string, body []byte) (market.Fact, error) {
	of, err := model.ReadBody[struct {
		Version int `json:"v"`
	}](body)
	switch {
	case err != nil:
		return nil, err
	case of.Version == 0:
		return model.ReadOldFact(kind, body)
	case of.Version != factVersion:
		return nil, fmt.Errorf("database: facts: a %s of version %d, which this binary can't read: upgrade it", kind, of.Version)
	}
	switch kind {
	case "token":
		b, err := model.ReadBody[tokenBody](body)
		f := market.TokenFact{Token: b.Token.Address, Name: b.Name, Symbol: b.Symbol, URI: b.URI, FromCreation: b.FromCreation}
		if b.Decimals != nil {
			f.HasDecimals, f.Decimals = true, *b.Decimals
		}
		if b.Supply != nil {
			f.HasSupply, f.Supply = true, b.Supply.Amount
		}
		return f, err
	case "pool":
		b, err := model.ReadBody[poolBody](body)
		f := market.PoolFact{Pool: b.Pool.Address, Reason: b.Reason}
		if i := b.Info; i != nil {
			f.Known, f.Info = true, market.PoolCreated{
				Protocol: market.Protocol(i.Protocol), Factory: i.Factory.Address, Pool: f.Pool, Token0: i.Token0.Address,
				Token1: i.Token1.Address, FeePips: i.FeePips, TickSpacing: i.TickSpacing, Hooks: i.Hooks.Address, Stable: i.Stable,
				SqrtPriceX96: i.SqrtPriceX96.Amount, Tick: i.Tick,
			}
		}
		return f, err
	case "pool_state":
		b, err := model.ReadBody[poolStateBody](body)
		if err != nil {
			return nil, err
		}
		return b.fact(), nil
	case "supply":
		b, err := model.ReadBody[supplyBody](body)
		return market.SupplyFact{Token: b.Token.Address, Supply: b.Supply.Amount}, err
	case "balance":
		b, err := model.ReadBody[balanceBody](body)
		return market.BalanceFact{Token: b.Token.Address, Account: b.Account.Address, Amount: b.Amount.Amount}, err
	case "curve":
		b, err := model.ReadBody[curveBody](body)
		f := market.CurveFact{CurveKey: market.CurveKey{Curve: b.Curve.Address, Token: b.Token.Address}, Reason: b.Reason}
		if b.Quote != nil {
			f.Known, f.Quote = true, b.Quote.Address
		}
		return f, err
	case watchKind:
		b, err := model.ReadBody[watchBody](body)
		return market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: b.Wallet.Address, Member: b.Member, Change: b.Change, Since: b.Since}}, err
	case heldKind:
		b, err := model.ReadBody[heldBody](body)
		f := market.HeldFact{PositionKey: market.PositionKey{Wallet: b.Wallet.Address, Token: b.Token.Address}}
		if b.Amount != nil {
			f.Known, f.Amount = true, b.Amount.Amount
		}
		return f, err
	case gasKind:
		return readGas(body)
	case pastKind:
		return readPast(body)
	default:
		return nil, fmt.Errorf("database: facts: unknown kind %q", kind)
	}
}

func readGas(body []byte) (market.Fact, error) {
	b, err := model.ReadBody[gasBody](body)
	if err != nil {
		return nil, err
	}
	f := market.GasFact{GasKey: market.GasKey{Wallet: b.Wallet.Address}}
	if f.Tx, err = market.ParseTx(b.Tx); err != nil {
		return nil, fmt.Errorf("database: facts: %w", err)
	}
	if b.Amount != nil {
		f.Known, f.Amount = true, b.Amount.Amount
	}
	return f, nil
}

// Between lists what is known about the blocks from first to last, in order, but for the pasts of wallets (PastFacts), which may be long.
func (s Facts) Between(ctx context.Context, chain string, first, last uint64) ([]StoredFact, error) {
	var rows []factRow
	err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND block BETWEEN ? AND ? AND kind <> ?", chain, int64(first), int64(last), pastKind).
		Order("block", "kind", "ref").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read facts: %w", err)
	}
	return model.To(rows, (*factRow).fact)
}

// Sure are Facts but for those that no two of several endpoints gave.
func (s Facts) Sure(ctx context.Context, chain string, first, last uint64) ([]StoredFact, error) {
	var rows []factRow
	err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND block BETWEEN ? AND ? AND kind <> ?", chain, int64(first), int64(last), pastKind).
		Where("NOT EXISTS (SELECT 1 FROM unsure_facts u WHERE u.chain = fact_row.chain AND u.block = fact_row.block AND u.kind = fact_row.kind "+
			"AND u.ref = fact_row.ref)").Order("block", "kind", "ref").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read facts: %w", err)
	}
	return model.To(rows, (*factRow).fact)
}

// The chain is written so that it can't be looked up: SQLite would take it for the best start and walk all of its facts. A token
// has very few.
const firstTokenFact = "SELECT body FROM facts WHERE kind = 'token' AND ref = ? AND chain || '' = ? ORDER BY block"

// FirstOfToken is the oldest fact of a token that has a supply, and where none has, the oldest: anybody can have a token asked
// that isn't there yet. ok is false when there is none.
func (s Facts) FirstOfToken(ctx context.Context, chain string, token market.Address) (f market.TokenFact, ok bool, err error) {
	rows, err := s.db.Ask(ctx, firstTokenFact, token.Bytes(), chain)
	if err != nil {
		return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() && !f.HasSupply {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
		}
		fact, err := readFact("token", body)
		if err != nil {
			return f, false, err
		}
		if next, is := fact.(market.TokenFact); is && (!ok || next.HasSupply) {
			f, ok = next, true
		}
	}
	if err := rows.Err(); err != nil {
		return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
	}
	return f, ok, nil
}

// UnsureBlock is a block within the undo horizon for whose logs one endpoint alone vouches.
type UnsureBlock struct {
	market.Header
	// LogsHash is the digest of the logs with which the block was committed.
	LogsHash []byte
}

// UnsureBlocks lists the remembered blocks that rest on one endpoint's word, oldest first. Blocks of before the column aren't among
// them: nothing is known of their logs.
func (s Facts) UnsureBlocks(ctx context.Context, chain string) ([]UnsureBlock, error) {
	var rows []blockRow
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND logs_hash IS NOT NULL", chain).Order("number").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the blocks of one endpoint's word: %w", err)
	}
	return model.To(rows, func(r *blockRow) (UnsureBlock, error) {
		h, err := r.header()
		return UnsureBlock{h, r.LogsHash}, err
	})
}

// writeUnsure notes which of a commit's facts are unsure, and which earlier facts and blocks are sure by now. rows are those of its facts.
func writeUnsure(ctx context.Context, tx *database.Transaction, chain string, c *Commit, rows []factRow) error {
	if err := forgetWords(ctx, tx, chain, c.Sure); err != nil {
		return err
	}
	sure, err := factsToRows(chain, c.SureFacts)
	if err != nil {
		return err
	}
	for i := range sure {
		f := &sure[i]
		_, err := tx.NewRaw("DELETE FROM unsure_facts WHERE chain = ? AND block = ? AND kind = ? AND ref = ? AND hash = ?", chain, f.Block, f.Kind,
			f.Ref, f.Hash).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: note which facts are sure: %w", err)
		}
	}
	var unsure []unsureFactRow
	for i := range rows {
		if r := &rows[i]; c.Facts[i].Unsure {
			unsure = append(unsure, unsureFactRow{Chain: chain, Block: r.Block, Kind: r.Kind, Ref: r.Ref, Hash: r.Hash})
		}
	}
	return database.Upsert(ctx, tx, unsure)
}

// Unsure lists the newest facts of a chain that no two endpoints gave, up to limit, oldest first.
func (s Facts) Unsure(ctx context.Context, chain string, limit int) ([]StoredFact, error) {
	var rows []factRow
	err := s.db.Write.NewRaw("SELECT f.chain, f.block, f.kind, f.ref, f.hash, f.body FROM unsure_facts u JOIN facts f ON f.chain = u.chain AND "+
		"f.block = u.block AND f.kind = u.kind AND f.ref = u.ref AND f.hash = u.hash WHERE u.chain = ? ORDER BY u.block DESC, u.kind, u.ref LIMIT ?",
		chain, limit).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: read unsure facts: %w", err)
	}
	slices.Reverse(rows)
	return model.To(rows, func(r *factRow) (StoredFact, error) {
		f, err := r.fact()
		f.Unsure = true
		return f, err
	})
}

// forgetWords drops the digests of blocks that two endpoints vouch for by now.
func forgetWords(ctx context.Context, tx *database.Transaction, chain string, blocks []uint64) error {
	if len(blocks) == 0 {
		return nil
	}
	numbers := make([]int64, len(blocks))
	for i, b := range blocks {
		numbers[i] = int64(b)
	}
	_, err := tx.NewRaw("UPDATE blocks SET logs_hash = NULL WHERE chain = ? AND number IN (?)", chain, bun.List(numbers)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: note which blocks are sure: %w", err)
	}
	return nil
}
