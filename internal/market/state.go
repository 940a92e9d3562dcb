package market

import "math"

// Token is a token's derived state.
type Token struct {
	Mint         Address
	Name, Symbol string
	// HasDecimals is false until they are known; such a token has no price.
	HasDecimals bool
	Decimals    uint8
	HasSupply   bool
	Supply      Amount
	// SupplyStrikes is how many answers of the contract in a row contradicted the supply that follows from its transfers. From
	// SupplyUntold on transfers don't tell it, and it is unknown for good.
	SupplyStrikes int32
	// FirstBlock and FirstSeenAt are the number and the time (unix seconds) of the first block that brought the token to our notice.
	FirstBlock  uint64
	FirstSeenAt int64
	// Pool is the reference pool, which prices the token; none without one.
	Pool Address
	// Candidate is a pool that has been 1.5 times as deep as the reference since block CandidateSince, whose time is CandidateAt (unix seconds).
	Candidate      Address
	CandidateSince uint64
	CandidateAt    int64
	Holders        Holders
	// SinceCreation says that every transfer of the token was booked in its own block, from the token's first on. Where a past
	// was read later, which block ended that is chance.
	SinceCreation bool
}

// SupplyUntold is how many answers in a row show that a token's transfers don't tell its supply: one could be a node's fault.
const SupplyUntold = 2

// Holders is a token's holder count, with the status that says whether the count is right.
type Holders struct {
	Status HolderStatus
	// Reason says why the count is unavailable; empty otherwise.
	Reason HolderReason
	// Count is the number of accounts with a balance, without pools and the zero address.
	Count int64
	// Strikes is how many samples in a row the contract contradicted.
	Strikes int32
	// Gained is by how many the count grew lately.
	Gained Growth
}

// growthHalfLife is after how many seconds a change counts half in a Growth.
const growthHalfLife = 30 * 60

// Growth is the sum of a count's changes, each of which halves after every growthHalfLife: it needs no list of them. The zero value is
// none.
type Growth struct {
	// Sum is as of At, in unix seconds. It is below 0 where the count fell.
	Sum float64
	At  int64
}

// Add takes a change in. Changes come in order of time.
func (g *Growth) Add(by int64, at int64) {
	g.Sum, g.At = g.decayed(at)+float64(by), at
}

// Now is by how much the count grew lately; 0 where it fell.
func (g *Growth) Now(at int64) float64 { return max(0, g.decayed(at)) }

func (g *Growth) decayed(at int64) float64 {
	return g.Sum * math.Exp2(-float64(max(0, at-g.At))/growthHalfLife)
}

// HolderStatus is the state of a token's holder count.
type HolderStatus string

// The holder states. HoldersNone is a token whose balances are not followed.
const (
	HoldersNone        HolderStatus = ""
	HoldersIndexing    HolderStatus = "indexing"
	HoldersCurrent     HolderStatus = "current"
	HoldersUnavailable HolderStatus = "unavailable"
)

// HolderReason is why a token's count of holders was given up.
type HolderReason string

// The reasons of HoldersUnavailable.
const (
	ReasonNegative HolderReason = "derived_balance_negative"
	ReasonSample   HolderReason = "balance_sample_differs"
	// ReasonTooMany is a token with more accounts or transfers than are read to count its holders.
	ReasonTooMany HolderReason = "too_many"
	// ReasonUntold is a token of which nodes didn't tell who has it.
	ReasonUntold HolderReason = "untold"
)

// Pool is a pool's derived state.
type Pool struct {
	ID             Address
	Protocol       Protocol
	Factory        Address
	Token0, Token1 Address
	FeePips        uint32
	TickSpacing    int32
	Hooks          Address
	Stable         bool
	CreatedBlock   uint64
	CreatedAt      int64 // unix seconds; 0 when the pool is older than our index

	// Base is the priced side and Quote the declared one; BaseIs0 says which is token0.
	Base, Quote Address
	BaseIs0     bool
	// Untrusted says why the pool may not price its base; empty when it may.
	Untrusted UntrustedReason
	// Unlisted is true of a pool that isn't among those of its base: nothing was ever in it, or ListedPools others are deeper. Such a pool
	// neither prices its base nor is told among its pools.
	Unlisted bool

	Reserve0, Reserve1 Amount
	// Virtual1 is what a pool of PumpSwap adds to Reserve1 for its price alone.
	Virtual1     SignedAmount
	SqrtPriceX96 Amount
	Liquidity    Amount
	Tick         int32
	// Window is the part of a pool of ranges whose ticks are known, where not all are: Locked and the reserves are what lies within it, which is no
	// more than what the pool has.
	Window TickWindow

	// Price is of one whole base in whole quotes at the last block's close; 0 while unknown.
	Price float64
	// Depth is the quote, in whole units, that sellers can take out within 2 % of the price.
	Depth float64
	// Locked is the pool's liquidity in whole quotes: the quote side and the base side at the pool's price, the
	// latter counted no higher than the former.
	Locked float64

	LastTradeAt int64 // unix seconds
	Day         Window
	// CountsSince is the time of the block since which the pool, whenever something happened in it, was trusted and held at least what
	// tracking.countedLiquidityUSD says; a curve is no exception. Unix seconds, 0 while that isn't so.
	CountsSince int64
}

// ListedPools is the most pools of one base token that are listed. Anyone can make any number of pools of any token.
const ListedPools = 64

// UntrustedReason is why a pool prices nothing.
type UntrustedReason string

// The reasons of Pool.Untrusted.
const (
	Trusted          UntrustedReason = ""
	UntrustedFactory UntrustedReason = "factory_not_declared"
	UntrustedHook    UntrustedReason = "hook_not_declared"
	UntrustedTicks   UntrustedReason = "ticks_unknown"
)

// Window is a pool's rolling sum over the last 24 hours of chain time, to the minute.
type Window struct {
	VolumeUSD   Amount // in 1e-9 USD
	Buys, Sells int64
	// ReferenceUSD is the price before the window. While the pool is younger than it, it is the price that the pool opened with, before any
	// trade, where that is known, else the first one ever.
	ReferenceUSD float64
	// ReferenceQuote is the price before the window in whole quotes; ReferenceUSD is that at what the quote was worth when the price was
	// made, which may be long before the window. It is 0 while unknown.
	ReferenceQuote float64
}

// Trade is a swap of a tracked pool.
type Trade struct {
	Block    uint64
	LogIndex uint64 // Log.Index
	Time     int64  // unix seconds
	Tx       TxID
	Pool     Address
	Base     Address
	// Trader is none where no account's balance shows the trade: then it counts as nobody.
	Trader Address
	Sell   bool
	// BaseAmount and QuoteAmount are raw.
	BaseAmount, QuoteAmount Amount
	// TraderAmount is what arrived in the trader's wallet, where that is less than BaseAmount, or left it, where that is more: the
	// token taxes its transfers, or a router kept a part. 0 says that it is BaseAmount.
	TraderAmount Amount
	// TraderBefore is the trader's balance of the base before the trade's transaction. HasTraderBefore is false unless the base's
	// balances are followed since its creation and the transaction changed this one. A base that is a quote asset has neither.
	TraderBefore    Amount
	HasTraderBefore bool
	// NanoUSD is the trade's value in 1e-9 USD, rounded once; HasUSD is false when the quote had no price.
	NanoUSD int64
	HasUSD  bool
	// CloseUSD and CloseNative are the pool's price at the close of the trade's block, in USD and in the chain's
	// native coin; 0 when unknown.
	CloseUSD, CloseNative float64
	// Funding is where the trader's coins came from, of trades of launched tokens alone.
	Funding Funding
}

// FundingState says what is known of where an account's coins came from.
type FundingState uint8

// The states of a funding.
const (
	// FundingUnknown says that the trade's block was read without its transactions, or before enough blocks were read with them.
	FundingUnknown FundingState = iota
	// FundingSeen says that the payments of the window tell which account the trader's coins came from.
	FundingSeen
	// FundingNotSeen says that they don't: nobody paid the trader, or a new account did whose own coins came from nobody knows where.
	FundingNotSeen
)

// AgeState says what is known of how long an account has sent transactions.
type AgeState uint8

// The states of an age.
const (
	// AgeUnknown says that the account didn't send the trade's transaction, as a contract, or that the chain's blocks don't tell.
	AgeUnknown AgeState = iota
	// AgeNew says that the account sent its first transaction within the window.
	AgeNew
	// AgeOld says that it had sent one before the window.
	AgeOld
)

// Funding is where a trader's coins came from, and since when the trader has sent transactions, by the blocks of a window of time up to the trade.
type Funding struct {
	State FundingState
	// Funder is the account that paid the trader the most within the window, or, if that one is new, the account that its coins came from. At is when the trader was
	// first paid by the account that paid the most (unix seconds). Both are set if FundingSeen.
	Funder Address
	At     int64
	Age    AgeState
	// First is the time of the trader's first transaction (unix seconds), if AgeNew.
	First int64
}

// TradeKey names a trade.
type TradeKey struct{ Block, LogIndex uint64 }

// Key is the trade's name.
func (t *Trade) Key() TradeKey { return TradeKey{t.Block, t.LogIndex} }

// Traded is what arrived in the trader's wallet by a purchase, or left it by a sale.
func (t *Trade) Traded() Amount {
	if t.TraderAmount.IsZero() {
		return t.BaseAmount
	}
	return t.TraderAmount
}

// Tick is what a trade adds to a series of prices in one currency.
type Tick struct {
	Time    int64   // unix seconds
	Price   float64 // at the close of its block; 0 when unknown
	NanoUSD int64   // in 1e-9 USD
	Block   uint64
}

// CandleKey names a stored candle. Open is the unix second at which its bucket opens.
type CandleKey struct {
	Pool     Address
	Interval int32 // seconds: 60, 300, 3600 or 86400
	Open     int64
}

// CandleSpan is a stretch of stored candles of one width: those that open in [From, To), unix seconds.
type CandleSpan struct {
	Interval int32
	From, To int64
}

// Candle is a bucket of a pool's trades. Its prices are those at the close of the blocks in which the pool traded, so
// that what happens inside one block moves no candle.
type Candle struct {
	CandleKey
	USD, Native OHLC
	// VolumeUSD is in 1e-9 USD, VolumeQuote and VolumeBase are raw.
	VolumeUSD, VolumeQuote, VolumeBase Amount
	Buys, Sells                        int64
	// LastBlock is the newest block in it.
	LastBlock uint64
}

// OHLC is open, high, low and close.
type OHLC struct{ Open, High, Low, Close float64 }

// Add takes p as the next price.
func (o *OHLC) Add(p float64) {
	if o.Open == 0 {
		*o = OHLC{p, p, p, p}
		return
	}
	o.High, o.Low, o.Close = max(o.High, p), min(o.Low, p), p
}

// StoredIntervals are the candle widths that are kept, in seconds.
var StoredIntervals = [...]int32{60, 300, 3600, 86400}

// BalanceKey names a balance.
type BalanceKey struct{ Token, Account Address }

// QuotePrice is the USD price of a declared quote asset at the last block's close; USD 0 while unknown.
type QuotePrice struct {
	Asset Address
	USD   float64
	// Pegged is true while the declared peg stands.
	Pegged bool
	// DayUSD is the price before the last 24 hours of chain time, as Window has it; 0 while unknown.
	DayUSD float64
}
