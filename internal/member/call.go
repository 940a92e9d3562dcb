package member

import (
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// CallID is the platform's app's own name of a call. Nothing public shows it.
type CallID string

// Call is a member's claim that a token's price will rise, which is compared with the chain for seven days.
type Call struct {
	ID CallID
	// Number is Boardwalk's own name of the call. Nothing public shows it either.
	Number int64
	// Member is who called.
	Member Number
	// Chain is the id of a chain.
	Chain string
	Mint  market.Address
	// Text may be empty. Refs say which tokens the text's tickers mean.
	Text string
	Refs []TokenRef
	// CalledAt is unix seconds.
	CalledAt int64
	Price    CallPrice
	// UpdatedAt is as that of Member. DeletedAt is when the app deleted the call, in unix seconds; 0 if it wasn't deleted.
	UpdatedAt, DeletedAt int64
	Standing
	// Change is the number of the last change of any call that changed this one.
	Change int64
}

// CallPrice is the price of a token that is called, by the newest block when the call comes.
type CallPrice struct {
	// USD is the highest price of the last blocks and seconds, which the call is compared with. CloseUSD is the price by the newest block.
	USD, CloseUSD float64

	Block uint64
	// Time is the block's. FinalTime is the time of the chain's final block: after a reorg, another block with this number can't be earlier. Unix seconds.
	Time, FinalTime int64
}

// CallOutcome is how a call ended.
type CallOutcome string

// The outcomes.
const (
	// CallOpen is a call that hasn't won or lost yet.
	CallOpen CallOutcome = "open"
	// CallWin is a call after which the token's price was held at WinMultiple times the price at the call.
	CallWin CallOutcome = "win"
	// CallLoss is a call after which the price wasn't held there within CallSpan, or that was deleted while it was open.
	CallLoss CallOutcome = "loss"
)

// The rules of calls.
const (
	// CallSpan is how long a call stands, in seconds of its chain's time.
	CallSpan = 7 * 24 * 60 * 60
	// WinMultiple times its price makes a call a win.
	WinMultiple = 2
	// CallsADay is the most calls of a member in 24 hours.
	CallsADay = 5
	// callDay are those 24 hours, in seconds.
	callDay = 24 * 60 * 60
	// backDating is how far before its receipt a call may be dated, in seconds.
	backDating = 60
)

// Standing is how a call stands by the blocks that were looked at.
type Standing struct {
	Outcome CallOutcome
	// DecidedAt is when the call was won or lost, in the chain's time; unix seconds, 0 while it is open.
	DecidedAt int64
	// PeakUSD is the highest price that was held since the call; 0 while none was.
	PeakUSD float64
	// PeakBlock and PeakHash name the block by which that was known.
	PeakBlock uint64
	PeakHash  market.Hash
	// SureUSD is the peak by a final block. After a reorg or a restart prices are looked for from SureBlock on, whose time is at least SureTime.
	SureUSD   float64
	SureBlock uint64
	SureTime  int64
	// Settled says that the outcome and the peak stay as they are.
	Settled bool
}

// Deadline is when the call's time ends; unix seconds of its chain's time.
func (c *Call) Deadline() int64 { return c.CalledAt + CallSpan }

// CallRecord is a call as the app writes it. Record.ID names its member. A deletion has the call's ID alone, and no member.
type CallRecord struct {
	ID    CallID
	Chain string
	Mint  market.Address
	Text  string
	Refs  []TokenRef
	// CalledAt is the app's own time of the call, in unix seconds; 0 stands for the time at which the record comes.
	CalledAt int64

	// Price is the token's, and NoPrice says why there is none. Only a call that isn't there yet needs it.
	Price   CallPrice
	NoPrice error
}

// The errors of a record of a call that has the right form and can't be written.
var (
	ErrNoCall       = errors.New("there is no such call")
	ErrCallTaken    = errors.New("the call is another member's")
	ErrCallFixed    = errors.New("a call's token can't be changed: delete it, and call the other token")
	ErrCallDeleted  = errors.New("the call was deleted, and none comes back")
	ErrCallLate     = fmt.Errorf("called_at is more than %d s ago: a call's price is that of its receipt", backDating)
	ErrManyCalls    = fmt.Errorf("the member has made %d calls in 24 hours, which is as many as are allowed", CallsADay)
	ErrCallOpen     = errors.New("the member has an open call of this token")
	ErrNotIndexed   = errors.New("the chain isn't indexed here")
	ErrChainBehind  = errors.New("the chain's newest blocks aren't indexed at the moment: try again")
	ErrUnknownToken = errors.New("no such token is known on the chain")
	ErrUnpriced     = errors.New("the token has no price in a trusted pool")
	ErrThinPool     = errors.New("the pool that prices the token holds less than the chain asks for (tracking.countedLiquidityUSD), or nothing has happened in it since that is noted")
)
