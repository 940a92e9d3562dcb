package model

import (
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Watched is a row of watched_wallets.
type Watched struct {
	bun.BaseModel `bun:"table:watched_wallets"`

	Chain  string `bun:",pk"`
	Wallet []byte `bun:",pk" image:"address"`
	Member int64
	Change int64
	Since  int64
	PastIn int64 `image:"later"`
}

// OfWatched is the row of a watched wallet.
func OfWatched(chain string, w *market.WatchedWallet) Watched {
	return Watched{Chain: chain, Wallet: w.Wallet.Bytes(), Member: w.Member, Change: w.Change, Since: w.Since, PastIn: int64(w.PastIn)}
}

// Value is a watched wallet as the row has it.
func (r *Watched) Value() (market.WatchedWallet, error) {
	c := Columns{Table: "watched_wallets"}
	return market.WatchedWallet{Wallet: c.Address(r.Wallet), Member: r.Member, Change: r.Change, Since: r.Since, PastIn: uint64(r.PastIn)}, c.Err
}

// Entry is a row of wallet_entries.
type Entry struct {
	bun.BaseModel `bun:"table:wallet_entries"`

	Chain     string `bun:",pk"`
	Wallet    []byte `bun:",pk" image:"address"`
	Block     int64  `bun:",pk"`
	Seq       int64  `bun:",pk"`
	Time      int64
	Tx        []byte
	Token     []byte `image:"address"`
	Kind      string
	Pool      []byte `image:"address"`
	LogIndex  int64
	Other     []byte `image:"address"`
	Amount    []byte
	HadBefore []byte
	NanoUSD   *int64 `bun:"nano_usd"`
	Counts    bool
	Proceeds  []byte
	Cost      []byte
	MovedOut  []byte
	Player    int64
	Fee       []byte `image:"later"`
	// GasNanoUSD is NULL where it isn't known.
	GasNanoUSD *int64 `bun:"gas_nano_usd" image:"later"`
}

// entryKinds are the texts of the kinds of entries.
var entryKinds = [...]string{market.Bought: "bought", market.Sold: "sold", market.CameIn: "came in", market.WentOut: "went out", market.Held: "held"}

// OfEntry is the row of an entry.
func OfEntry(chain string, e *market.Entry) Entry {
	r := Entry{
		Chain: chain, Wallet: e.Wallet.Bytes(), Block: int64(e.Block), Seq: int64(e.Seq), Time: e.Time, Tx: e.Tx.AppendTo([]byte{}), Token: e.Token.Bytes(),
		Kind: entryKinds[e.Kind], Pool: e.Pool.Bytes(), LogIndex: int64(e.LogIndex), Other: e.To.Bytes(), Amount: shortBytesOf(&e.Amount), Counts: e.Counts,
		Proceeds: bytesOfUSD(e.Proceeds), Cost: bytesOfUSD(e.Cost), MovedOut: bytesOfUSD(e.MovedOut), Player: e.Player, Fee: bytesOfUSD(e.Fee),
	}
	if e.HasBefore {
		r.HadBefore = shortBytesOf(&e.Before)
	}
	if e.HasUSD {
		r.NanoUSD = &e.NanoUSD
	}
	if e.HasGas {
		r.GasNanoUSD = &e.GasNanoUSD
	}
	return r
}

// Value is an entry as the row has it.
func (r *Entry) Value() (market.Entry, error) {
	c := Columns{Table: "wallet_entries"}
	e := market.Entry{
		Wallet: c.Address(r.Wallet), Block: uint64(r.Block), Seq: uint32(r.Seq), Time: r.Time, Tx: c.Tx(r.Tx), Token: c.Address(r.Token), Kind: c.entryKind(r.Kind),
		Pool: c.Address(r.Pool), LogIndex: uint64(r.LogIndex), To: c.Address(r.Other), Counts: r.Counts,
		Proceeds: c.usd(r.Proceeds), Cost: c.usd(r.Cost), MovedOut: c.usd(r.MovedOut), Player: r.Player, Fee: c.usd(r.Fee),
	}
	e.Amount, _ = c.ShortAmount(r.Amount)
	e.Before, e.HasBefore = c.ShortAmount(r.HadBefore)
	if r.NanoUSD != nil {
		e.NanoUSD, e.HasUSD = *r.NanoUSD, true
	}
	if r.GasNanoUSD != nil {
		e.GasNanoUSD, e.HasGas = *r.GasNanoUSD, true
	}
	return e, c.Err
}

func (c *Columns) entryKind(text string) market.EntryKind {
	k, err := ParseEntryKind(text)
	if err != nil && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: %w", c.Table, err)
	}
	return k
}

// EntryKindText is how a kind of entry is written.
func EntryKindText(k market.EntryKind) string { return entryKinds[k] }

// ParseEntryKind reads what EntryKindText wrote.
func ParseEntryKind(text string) (market.EntryKind, error) {
	for k, t := range entryKinds {
		if t == text {
			return market.EntryKind(k), nil
		}
	}
	return 0, fmt.Errorf("the kind of entry %q", text)
}

// Fee is a row of wallet_fees.
type Fee struct {
	bun.BaseModel `bun:"table:wallet_fees"`

	Chain      string `bun:",pk"`
	Wallet     []byte `bun:",pk" image:"address"`
	Block      int64  `bun:",pk"`
	LogIndex   int64  `bun:",pk"`
	Time       int64
	Tx         []byte
	Recipient  []byte `image:"address"`
	Asset      []byte `image:"address"`
	Amount     []byte
	NanoUSD    *int64 `bun:"nano_usd"`
	AsDeclared bool
}

// OfFee is the row of a fee.
func OfFee(chain string, f *market.Fee) Fee {
	r := Fee{
		Chain: chain, Wallet: f.Wallet.Bytes(), Block: int64(f.Block), LogIndex: int64(f.LogIndex), Time: f.Time, Tx: f.Tx.AppendTo([]byte{}),
		Recipient: f.Recipient.Bytes(), Asset: f.Asset.Bytes(), Amount: shortBytesOf(&f.Amount), AsDeclared: f.AsDeclared,
	}
	if f.HasUSD {
		r.NanoUSD = &f.NanoUSD
	}
	return r
}

// Value is a fee as the row has it.
func (r *Fee) Value() (market.Fee, error) {
	c := Columns{Table: "wallet_fees"}
	f := market.Fee{
		Wallet: c.Address(r.Wallet), Block: uint64(r.Block), LogIndex: uint64(r.LogIndex), Time: r.Time, Tx: c.Tx(r.Tx), Recipient: c.Address(r.Recipient),
		Asset: c.Address(r.Asset), AsDeclared: r.AsDeclared,
	}
	f.Amount, _ = c.ShortAmount(r.Amount)
	if r.NanoUSD != nil {
		f.NanoUSD, f.HasUSD = *r.NanoUSD, true
	}
	return f, c.Err
}

// Position is a row of wallet_positions.
type Position struct {
	bun.BaseModel `bun:"table:wallet_positions"`

	Chain    string `bun:",pk"`
	Wallet   []byte `bun:",pk" image:"address"`
	Token    []byte `bun:",pk" image:"address"`
	Quantity []byte
	Cost     []byte
	Balance  []byte
	IsIn     bool
	IsCopied bool `image:"later"`
}

// OfPosition is the row of a position.
func OfPosition(chain string, k market.PositionKey, p *market.Position) Position {
	r := Position{
		Chain: chain, Wallet: k.Wallet.Bytes(), Token: k.Token.Bytes(), Quantity: shortBytesOf(&p.Quantity), Cost: bytesOfUSD(p.Cost), IsIn: p.IsIn,
		IsCopied: p.IsCopied,
	}
	if p.HasBalance {
		r.Balance = shortBytesOf(&p.Balance)
	}
	return r
}

// Value is a position as the row has it.
func (r *Position) Value() (market.PositionKey, market.Position, error) {
	c := Columns{Table: "wallet_positions"}
	p := market.Position{Cost: c.usd(r.Cost), IsIn: r.IsIn, IsCopied: r.IsCopied}
	p.Quantity, _ = c.ShortAmount(r.Quantity)
	p.Balance, p.HasBalance = c.ShortAmount(r.Balance)
	return market.PositionKey{Wallet: c.Address(r.Wallet), Token: c.Address(r.Token)}, p, c.Err
}

// Hour is a row of wallet_hours.
type Hour struct {
	bun.BaseModel `bun:"table:wallet_hours"`

	Chain           string `bun:",pk"`
	OpenAt          int64  `bun:",pk"`
	Wallet          []byte `bun:",pk" image:"address"`
	Member          int64  `bun:",pk"`
	Cost            []byte
	Proceeds        []byte
	Excluded        []byte
	Fees            []byte
	Gas             []byte
	Volume          []byte
	MovedOut        []byte
	WithoutGas      int64
	Trades          int64
	Unvalued        int64
	Sales           int64
	Wins            int64
	Losses          int64
	IneligibleSells int64
	BestToken       []byte `image:"address"`
	BestAt          int64
	BestGain        []byte
}

// OfHour is the row of an hour.
func OfHour(chain string, h *market.WalletHour) Hour {
	return Hour{
		Chain: chain, OpenAt: h.Open, Wallet: h.Wallet.Bytes(), Member: h.Member, Cost: bytesOfUSD(h.Cost), Proceeds: bytesOfUSD(h.Proceeds),
		Excluded: bytesOfUSD(h.Excluded), Fees: bytesOfUSD(h.Fees), Gas: bytesOfUSD(h.Gas), Volume: bytesOfUSD(h.Volume), MovedOut: bytesOfUSD(h.MovedOut),
		WithoutGas: int64(h.WithoutGas), Trades: int64(h.Trades), Unvalued: int64(h.Unvalued), Sales: int64(h.Sales), Wins: int64(h.Wins), Losses: int64(h.Losses),
		IneligibleSells: int64(h.IneligibleSells), BestToken: h.Best.Token.Bytes(), BestAt: h.Best.At, BestGain: bytesOfUSD(h.Best.Gain),
	}
}

// Value is an hour as the row has it.
func (r *Hour) Value() (market.WalletHour, error) {
	c := Columns{Table: "wallet_hours"}
	return market.WalletHour{
		HourKey: market.HourKey{Wallet: c.Address(r.Wallet), Member: r.Member, Open: r.OpenAt},
		Profit: market.Profit{
			Cost: c.usd(r.Cost), Proceeds: c.usd(r.Proceeds), Excluded: c.usd(r.Excluded), Fees: c.usd(r.Fees), Gas: c.usd(r.Gas), Volume: c.usd(r.Volume),
			MovedOut: c.usd(r.MovedOut), WithoutGas: int(r.WithoutGas), Trades: int(r.Trades), Unvalued: int(r.Unvalued), Sales: int(r.Sales), Wins: int(r.Wins),
			Losses: int(r.Losses), IneligibleSells: int(r.IneligibleSells),
		},
		Best: market.BestSale{Token: c.Address(r.BestToken), At: r.BestAt, Gain: c.usd(r.BestGain)},
	}, c.Err
}

// bytesOfUSD is a sum that isn't negative as a column has it: an amount without leading noughts, and NULL for nought.
func bytesOfUSD(u market.USD) []byte {
	if u.Sign() == 0 {
		return nil
	}
	nano := u.Amount()
	return shortBytesOf(&nano)
}

// usd reads what bytesOfUSD made.
func (c *Columns) usd(b []byte) market.USD {
	nano, _ := c.ShortAmount(b)
	sum, ok := market.USDOf(&nano)
	if !ok && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: a sum of %s", c.Table, nano.Dec())
	}
	return sum
}
