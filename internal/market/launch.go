package market

import "github.com/holiman/uint256"

// Launched announces a token of a launch venue.
type Launched struct {
	// Venue is the id of the declared venue whose contract logged it.
	Venue          string
	Token, Creator Address
	// Name and Symbol are empty where the log has none: then the token's own count.
	Name, Symbol string
	// Metadata is where the token's description is, as the log has it: a URI, an IPFS hash, or JSON. Image is the URI of its
	// picture where the log has one by itself.
	Metadata, Image string
	// Curve is the contract that holds the bonding curve; none for a live pool. The rest describes the curve.
	Curve Address
	Rules CurveRules
	// Quote is what the curve takes: Native for the chain's own coin, none when the log doesn't tell. Then a CurveFact does.
	Quote Address
	// SaleBase is what the curve sells in all and TargetQuote what it wants to raise; 0 when unknown.
	SaleBase, TargetQuote Amount
	// Reserves are those of the fresh curve as far as Tells says.
	Reserves CurveReserves
	Tells    CurveField
	// FeeBps is the curve's fee in basis points; 0 when unknown.
	FeeBps uint32
	// Pool is the live pool, where the log names it, and Hooks its Uniswap V4 hook. The venue vouches for both.
	Pool, Hooks Address
}

// CurveTrade is one trade with a bonding curve.
type CurveTrade struct {
	// Venue is empty where a contract of the token's own logs it: then Curve, which logged it, must be one that a venue
	// announced, and Token is none.
	Venue        string
	Curve, Token Address
	Trader       Address
	Sell         bool
	// BaseAmount and QuoteAmount are what the trader got and gave, fees included.
	BaseAmount, QuoteAmount Amount
	// Raised is by how much the quote that the curve keeps rose, or fell by a sale.
	Raised Amount
	// After is the curve after the trade as far as Tells says.
	After CurveReserves
	Tells CurveField
	// Buyback is a trade of the curve with itself: it moves the curve, and is nobody's trade.
	Buyback bool
}

// CurveSet sets what a curve's announcement left open; what is none or 0 stays.
type CurveSet struct {
	Venue        string
	Curve, Token Address
	Quote        Address // Native for the chain's own coin
	// SaleBase is what the curve sells in all.
	SaleBase, TargetQuote Amount
	FeeBps                uint32
	// State is the curve's state as far as Tells says, where a log of its own tells it: before its first trade, or beside a
	// trade of the same transaction, whose effect it has in it already, whichever of the two logs comes first.
	State CurveReserves
	Tells CurveField
}

// CurveCompleted says that a curve is full and takes no more trades.
type CurveCompleted struct {
	Venue        string
	Curve, Token Address
}

// Graduated says that a token moved from its curve to a pool.
type Graduated struct {
	Venue        string
	Curve, Token Address
	// Pool is none where the log doesn't name it.
	Pool Address
}

// CurveKey names the curve of one token in the contract that holds it.
type CurveKey struct{ Curve, Token Address }

// CurveFact is the answer of a curve's contract to the question in which asset the curve is traded, if no log tells it.
type CurveFact struct {
	CurveKey
	// Known is false where the answer can't be believed, and Reason says why: what the curve takes stays unknown.
	Known  bool
	Reason string
	// Quote is Native for the chain's own coin. It need not be declared on the chain.
	Quote Address
}

func (CurveFact) isFact() {}

func (Launched) isEvent()       {}
func (CurveTrade) isEvent()     {}
func (CurveSet) isEvent()       {}
func (CurveCompleted) isEvent() {}
func (Graduated) isEvent()      {}

// CurveRules are the pure rules of a venue protocol's curve.
type CurveRules struct {
	Pricing CurvePricing
	Basis   ProgressBasis
	// FillsUp says that the curve is complete as soon as its progress is 100 %, without a log of its own.
	FillsUp bool
}

// CurvePricing is how a curve's price follows from its state.
type CurvePricing string

// The ways.
const (
	// PriceReserves is virtual quote over virtual base: a constant product.
	PriceReserves CurvePricing = "reserves"
	// PricePosted is what the last trade's log says.
	PricePosted CurvePricing = "posted"
	// PriceExecuted is that of the last trade: its quote, without fees, over its base.
	PriceExecuted CurvePricing = "executed"
)

// ProgressBasis is what a curve's progress counts.
type ProgressBasis string

// The bases. A curve without one has no known progress.
const (
	TokensSold  ProgressBasis = "tokens_sold"
	FundsRaised ProgressBasis = "funds_raised"
)

// CurveReserves is the state of a bonding curve. Amounts are raw.
type CurveReserves struct {
	// VirtualBase and VirtualQuote make the price of a constant-product curve.
	VirtualBase, VirtualQuote Amount
	// RealBase is left for sale, RealQuote is raised.
	RealBase, RealQuote Amount
	// Price is the price of 10^d base units in quote units, if the price is posted or executed; d is the pricing's Decimals.
	Price Amount
}

const (
	// postedDecimals are the decimals of a posted price: most launched tokens have 18, so that it is the price of a whole token.
	postedDecimals = 18
	// executedDecimals are more, since a whole token may cost less than the quote's smallest unit.
	executedDecimals = 36
	// leastExecuted is how many units of either side a trade has to move for its price to count: contracts round to units, so
	// that a sale of one may be worth nothing, or one.
	leastExecuted = 1_000_000
)

// Decimals scales CurveReserves.Price.
func (p CurvePricing) Decimals() uint8 {
	if p == PriceExecuted {
		return executedDecimals
	}
	return postedDecimals
}

// take overwrites the fields that a log tells.
func (c *CurveReserves) take(told CurveReserves, tells CurveField) {
	if tells&TellsVirtual != 0 {
		c.VirtualBase, c.VirtualQuote = told.VirtualBase, told.VirtualQuote
	}
	if tells&TellsBase != 0 {
		c.RealBase = told.RealBase
	}
	if tells&TellsQuote != 0 {
		c.RealQuote = told.RealQuote
	}
	if tells&TellsPrice != 0 {
		c.Price = told.Price
	}
}

// CurveField is a set of fields of CurveReserves.
type CurveField uint8

// The fields.
const (
	TellsVirtual CurveField = 1 << iota // VirtualBase and VirtualQuote
	TellsBase                           // RealBase
	TellsQuote                          // RealQuote
	TellsPrice                          // Price
)

// LaunchState is how far a launched token is.
type LaunchState string

// The states. A curve that is full is completed; it is graduated once the pool is there.
const (
	LaunchLive      LaunchState = "not_applicable"
	LaunchOnCurve   LaunchState = "curve"
	LaunchCompleted LaunchState = "completed"
	LaunchGraduated LaunchState = "graduated"
)

// Launch is what is derived of a launched token.
type Launch struct {
	Mint    Address
	Venue   string // the venue's id
	Creator Address
	// Name, Symbol, Metadata and Image are those of the announcement.
	Name, Symbol, Metadata, Image string
	Block                         uint64
	LogIndex                      uint64
	CreatedAt                     int64 // unix seconds
	Tx                            TxID

	// Curve is the contract that holds the curve; none for a live pool.
	Curve Address
	Rules CurveRules
	// Quote is what the curve takes, the wrapped form for the native coin; none while unknown.
	Quote                 Address
	SaleBase, TargetQuote Amount // 0 while unknown
	FeeBps                uint32
	Reserves              CurveReserves
	// Traded is set by the curve's first trade.
	Traded bool
	// Progress is in percent, 0 to 100; HasProgress is false while what it counts is unknown.
	Progress    float64
	HasProgress bool

	State       LaunchState
	CompletedAt int64 // unix seconds; 0 before
	GraduatedAt int64 // unix seconds; 0 before
	GraduatedTx TxID
	// Pool is the pool that the token moved to, or began in; none while unknown.
	Pool Address
	// Unvalued is true until the token has a price in USD for the first time.
	Unvalued bool
}

// Begin sets a curve's first state from its announcement.
func (l *Launch) Begin(e *Launched) {
	l.Reserves = CurveReserves{RealBase: e.SaleBase}
	l.Tell(e.Reserves, e.Tells)
}

// Tell sets the fields of the curve's state that a log tells.
func (l *Launch) Tell(state CurveReserves, tells CurveField) {
	l.Reserves.take(state, tells)
	l.Count()
}

// Book moves the curve's state on by a trade: by its amounts, and then to what the log tells of the state after it.
func (l *Launch) Book(e *CurveTrade) {
	c := &l.Reserves
	if e.Sell {
		add(&c.RealBase, &e.BaseAmount)
		subtract(&c.RealQuote, &e.Raised)
	} else {
		subtract(&c.RealBase, &e.BaseAmount)
		add(&c.RealQuote, &e.Raised)
	}
	if !c.VirtualBase.IsZero() {
		if e.Sell {
			add(&c.VirtualBase, &e.BaseAmount)
			subtract(&c.VirtualQuote, &e.Raised)
		} else {
			subtract(&c.VirtualBase, &e.BaseAmount)
			add(&c.VirtualQuote, &e.Raised)
		}
	}
	c.take(e.After, e.Tells)
	if l.Rules.Pricing == PriceExecuted && !e.BaseAmount.LtUint64(leastExecuted) && !e.Raised.LtUint64(leastExecuted) {
		var unit, paid Amount
		unit.Exp(uint256.NewInt(10), uint256.NewInt(executedDecimals))
		if _, over := paid.MulDivOverflow(&e.Raised, &unit, &e.BaseAmount); !over {
			c.Price = paid
		}
	}
	if !l.Traded && l.SaleBase.IsZero() && !e.Sell && e.Tells&TellsBase != 0 {
		l.SaleBase = c.RealBase
		add(&l.SaleBase, &e.BaseAmount) // the first buy shows what was there before it
	}
	l.Traded = true
	l.Count()
}

// add and subtract stop at the ends: a contract may log what it likes.
func add(a, b *Amount) {
	if _, over := a.AddOverflow(a, b); over {
		a.SetAllOne()
	}
}

func subtract(a, b *Amount) {
	if _, under := a.SubOverflow(a, b); under {
		a.Clear()
	}
}

// Count computes the progress anew: 100 (1 - RealBase / SaleBase) of what is sold, or 100 RealQuote / TargetQuote of what is
// raised, 0 to 100.
func (l *Launch) Count() {
	l.Progress, l.HasProgress = 0, false
	switch {
	case l.Rules.Basis == TokensSold && !l.SaleBase.IsZero():
		var sold Amount
		sold.Set(&l.SaleBase)
		subtract(&sold, &l.Reserves.RealBase)
		l.Progress, l.HasProgress = 100*(sold.Float64()/l.SaleBase.Float64()), true
	case l.Rules.Basis == FundsRaised && !l.TargetQuote.IsZero():
		l.Progress, l.HasProgress = 100*min(1, l.Reserves.RealQuote.Float64()/l.TargetQuote.Float64()), true
	}
}

// OnCurve reports whether the token is on a bonding curve still, full or not.
func (l *Launch) OnCurve() bool { return l.State == LaunchOnCurve || l.State == LaunchCompleted }

// RaisedByAll is what a constant product has raised once it has sold everything: quote x sale / left, rounded up, as curves do when
// somebody buys the last tokens. It is 0 where that is no amount.
func RaisedByAll(quote, sale, left *Amount) (raised Amount) {
	if left.IsZero() {
		return raised
	}
	if _, over := raised.MulDivOverflow(quote, sale, left); over {
		return Amount{}
	}
	var rest Amount
	if rest.MulMod(quote, sale, left); !rest.IsZero() {
		if _, over := raised.AddOverflow(&raised, uint256.NewInt(1)); over {
			return Amount{}
		}
	}
	return raised
}
