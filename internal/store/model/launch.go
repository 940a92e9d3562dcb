package model

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Launch is a row of launches.
type Launch struct {
	bun.BaseModel `bun:"table:launches"`

	Chain        string `bun:",pk"`
	Mint         []byte `bun:",pk" image:"address"`
	Venue        string
	Creator      []byte `image:"address"`
	Block        int64
	LogIndex     int64
	CreatedAt    int64
	Tx           []byte
	Curve        []byte `image:"address"`
	Pricing      string
	Basis        string
	FillsUp      bool
	Quote        []byte `image:"address"`
	SaleBase     []byte
	TargetQuote  []byte
	FeeBps       int64
	VirtualBase  []byte
	VirtualQuote []byte
	RealBase     []byte
	RealQuote    []byte
	Price        []byte
	Traded       bool
	Progress     float64
	HasProgress  bool
	State        string
	CompletedAt  int64
	GraduatedAt  int64
	GraduatedTx  []byte
	Pool         []byte `image:"address"`
	Stamped

	Name     string
	Symbol   string
	Metadata string
	Image    string

	Unvalued bool `image:"later"`
}

// OfLaunch is the row of a launch.
func OfLaunch(chain string, l *market.Launch, as Stamped) Launch {
	r := Launch{
		Chain: chain, Mint: l.Mint.Bytes(), Venue: l.Venue, Creator: l.Creator.Bytes(),
		Block: int64(l.Block), LogIndex: int64(l.LogIndex), CreatedAt: l.CreatedAt, Tx: l.Tx.AppendTo([]byte{}),
		Curve: l.Curve.Bytes(), Pricing: string(l.Rules.Pricing), Basis: string(l.Rules.Basis), FillsUp: l.Rules.FillsUp,
		Quote: l.Quote.Bytes(), SaleBase: BytesOf(&l.SaleBase), TargetQuote: BytesOf(&l.TargetQuote), FeeBps: int64(l.FeeBps),
		VirtualBase: BytesOf(&l.Reserves.VirtualBase), VirtualQuote: BytesOf(&l.Reserves.VirtualQuote),
		RealBase: BytesOf(&l.Reserves.RealBase), RealQuote: BytesOf(&l.Reserves.RealQuote), Price: BytesOf(&l.Reserves.Price),
		Traded: l.Traded, Progress: l.Progress, HasProgress: l.HasProgress,
		State: string(l.State), CompletedAt: l.CompletedAt, GraduatedAt: l.GraduatedAt, Pool: l.Pool.Bytes(),
		Stamped: as, Name: l.Name, Symbol: l.Symbol, Metadata: l.Metadata, Image: l.Image, Unvalued: l.Unvalued,
	}
	if !l.GraduatedTx.IsNone() {
		r.GraduatedTx = l.GraduatedTx.AppendTo(nil)
	}
	return r
}

// Value is a launch as the row has it.
func (r *Launch) Value() (market.Launch, error) {
	c := Columns{Table: "launches"}
	l := market.Launch{
		Mint: c.Address(r.Mint), Venue: r.Venue, Creator: c.Address(r.Creator),
		Name: r.Name, Symbol: r.Symbol, Metadata: r.Metadata, Image: r.Image,
		Block: uint64(r.Block), LogIndex: uint64(r.LogIndex), CreatedAt: r.CreatedAt, Tx: c.Tx(r.Tx),
		Curve: c.Address(r.Curve),
		Rules: market.CurveRules{
			Pricing: market.CurvePricing(r.Pricing), Basis: market.ProgressBasis(r.Basis), FillsUp: r.FillsUp,
		},
		Quote: c.Address(r.Quote), SaleBase: c.Amount(r.SaleBase), TargetQuote: c.Amount(r.TargetQuote), FeeBps: uint32(r.FeeBps),
		Reserves: market.CurveReserves{
			VirtualBase: c.Amount(r.VirtualBase), VirtualQuote: c.Amount(r.VirtualQuote),
			RealBase: c.Amount(r.RealBase), RealQuote: c.Amount(r.RealQuote), Price: c.Amount(r.Price),
		},
		Traded: r.Traded, Progress: r.Progress, HasProgress: r.HasProgress,
		State: market.LaunchState(r.State), CompletedAt: r.CompletedAt, GraduatedAt: r.GraduatedAt,
		GraduatedTx: c.Tx(r.GraduatedTx), Pool: c.Address(r.Pool), Unvalued: r.Unvalued,
	}
	return l, c.Err
}
