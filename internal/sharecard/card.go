// Package sharecard is what a drawn card shows, as plain data: the API server makes it, the renderer draws it. It holds no URL
// and no markup. A card is a pure function of this data and of Version: equal data give equal bytes.
package sharecard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Version stands for the look of the cards. It changes with any change of the templates, which a test of the
// renderer's holds it to, so that no cache answers yesterday's look.
const Version = "2"

// Size of every card in pixels.
const (
	Width  = 1200
	Height = 630
)

// Size of the pictures on a card in pixels: the renderer scales what it is given to just these.
const (
	PictureSize = 96
	FaceSize    = 44
)

// Limits of what the renderer takes.
const (
	MaxText    = 256     // bytes of any text
	MaxPicture = 1 << 20 // bytes of an encoded picture
	MaxFaces   = 6
	MaxPoints  = 288
	MaxBody    = 4 << 20 // bytes of an encoded card
	MaxAddress = 128
)

// Kind of a card.
type Kind string

// The kinds of cards.
const (
	KindToken  Kind = "token"
	KindLaunch Kind = "launch"
	KindTrader Kind = "trader"
)

// Card is one of Token, Launch and Trader.
type Card interface {
	Kind() Kind
	// Validate says what is wrong with the card and what is allowed.
	Validate() error
}

// Asset is the token that a card is about.
type Asset struct {
	Mint string `json:"mint"`
	// Chain is the chain's label, as people read it.
	Chain  string `json:"chain"`
	Symbol string `json:"symbol"`
	Name   string `json:"name"`
	// Picture is a PNG or JPEG of at most 2^20 pixels, as the store has it; none gives a monogram.
	Picture []byte `json:"picture,omitempty"`
}

// Members of the platform who hold the token and let it be known.
type Members struct {
	Count int `json:"count"`
	// Faces are PNGs or JPEGs.
	Faces [][]byte `json:"faces,omitempty"`
}

// Token is a token's card. A figure that is nil is unknown and drawn so.
type Token struct {
	Asset

	PriceUSD *float64 `json:"price_usd"`
	// Change24hPct is the price's move over 24 hours in per cent.
	Change24hPct *float64 `json:"change_24h_pct"`
	// LiquidityUSD is what stands in the token's pools, on both sides.
	LiquidityUSD *float64 `json:"liquidity_usd"`
	Pools        *int     `json:"pools"`
	Volume24hUSD *float64 `json:"volume_24h_usd"`
	MarketCapUSD *float64 `json:"market_cap_usd"`
	// Members are nil where the deployment has none.
	Members *Members `json:"members"`
	// Day is the price in USD over the last 24 hours, oldest first, evenly spaced; empty if unknown. SinceLaunch says that it begins at the
	// launch of a younger token, and so does Change24hPct.
	Day         []float64 `json:"day"`
	SinceLaunch bool      `json:"since_launch"`
	// PricedAt is the time of PriceUSD in Unix seconds; 0 is unknown.
	PricedAt int64 `json:"priced_at"`
}

// Launch is a launched token's card.
type Launch struct {
	Asset

	// Venue is the launch venue's label, and Own says that it is one of the platform's families.
	Venue string `json:"venue"`
	Own   bool   `json:"own"`
	// Stage is where the launch stands.
	Stage Stage `json:"stage"`
	// Curve is nil where there is none or its progress is unknown.
	Curve *Curve `json:"curve"`
	// Pool is what stands in the pool once there is one.
	LiquidityUSD *float64 `json:"liquidity_usd"`
	PriceUSD     *float64 `json:"price_usd"`
	Change24hPct *float64 `json:"change_24h_pct"`
	MarketCapUSD *float64 `json:"market_cap_usd"`
	Volume24hUSD *float64 `json:"volume_24h_usd"`
	// CreatedAt is Unix seconds, and AgeS the age in seconds, rounded down to what is drawn.
	CreatedAt int64 `json:"created_at"`
	AgeS      int64 `json:"age_s"`
	Holders   *int  `json:"holders"`
	// HoldersSource says why Holders are nil: indexing, stale or unavailable.
	HoldersSource string `json:"holders_source,omitempty"`
	// GatePass says whether the launch clears the board's bar; GateFails names the bars that it doesn't, in words.
	GatePass  bool     `json:"gate_pass"`
	GateFails []string `json:"gate_fails"`
	// Creator is an address, and CreatorHandle its member's name where the member shows the wallet.
	Creator       string `json:"creator"`
	CreatorHandle string `json:"creator_handle"`
	// Day is the price in USD over the last 24 hours, oldest first, evenly spaced; empty if unknown. It is drawn for a
	// graduated or live launch; the others show their curve. SinceLaunch is Token's.
	Day         []float64 `json:"day"`
	SinceLaunch bool      `json:"since_launch"`
}

// Stage of a launch.
type Stage string

// The stages of a launch. A live launch has had a pool from the start.
const (
	StageCurve     Stage = "curve"
	StageCompleted Stage = "completed"
	StageGraduated Stage = "graduated"
	StageLive      Stage = "live"
)

// Curve is how far a bonding curve has come.
type Curve struct {
	ProgressPct float64 `json:"progress_pct"` // 0..100
	// Basis is "tokens_sold" or "funds_raised".
	Basis string `json:"basis"`
	// Raised and Target are amounts with their symbol, ready to read; Target may be empty.
	Raised string `json:"raised"`
	Target string `json:"target"`
}

// Trader is a wallet's card. Profit is by wac-v1: see package pnl.
type Trader struct {
	Wallet string `json:"wallet"`
	// Handle and Face are those of a member who shows the wallet, else empty.
	Handle string `json:"handle"`
	Face   []byte `json:"face,omitempty"`
	// Chains are the labels of those on which the wallet has traded.
	Chains []string `json:"chains"`
	Day    Profit   `json:"day"`  // the last 24 hours
	Week   Profit   `json:"week"` // the last 7 days
	// Best is the week's best position-sell; nil without one.
	Best *Best `json:"best"`
	// Line is the realised profit in USD summed over the last 7 days, oldest first, evenly spaced.
	Line []float64 `json:"line"`
	// LastTradeAt is Unix seconds.
	LastTradeAt int64 `json:"last_trade_at"`
}

// Profit is what was realised in a window.
type Profit struct {
	RealisedUSD *float64 `json:"realised_usd"`
	// RealisedPct is of the cost of what was sold; nil below a cost of 1 USD.
	RealisedPct *float64 `json:"realised_pct"`
	// NetUSD is after gas, where gas is known.
	NetUSD *float64 `json:"net_usd"`
	Sells  int      `json:"sells"`
	Wins   int      `json:"wins"`
	// ExcludedUSD are proceeds of tokens without a known cost: no part of the profit.
	ExcludedUSD float64 `json:"excluded_usd"`
}

// Best is the best sale of a window.
type Best struct {
	Symbol string   `json:"symbol"`
	Chain  string   `json:"chain"`
	PnLUSD float64  `json:"pnl_usd"`
	PnLPct *float64 `json:"pnl_pct"`
}

// Kind is KindToken.
func (*Token) Kind() Kind { return KindToken }

// Kind is KindLaunch.
func (*Launch) Kind() Kind { return KindLaunch }

// Kind is KindTrader.
func (*Trader) Kind() Kind { return KindTrader }

// Key is a hash of a card's kind and data and of Version, in hexadecimal digits: what its bytes are cached under.
func Key(c Card) (string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("sharecard: %w", err)
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %s ", Version, c.Kind())
	_, _ = h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)), nil
}
