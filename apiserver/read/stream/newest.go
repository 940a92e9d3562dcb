// Package stream keeps the newest members' trades, their calls and the launches of the stream in memory, in the order of their numbers, and reads older ones from the database.
// It knows neither members' names nor tokens' prices: the callers look those up.
package stream

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Trade is what a member bought, or sold, of one token in one transaction. It is never changed, but for Body.
type Trade struct {
	Number        int64
	Chain         string
	Token, Wallet market.Address
	Member        member.Number
	Time          int64 // unix seconds
	Tx            market.TxID
	Sell          bool
	store.StreamTrade

	// Body keeps the trade's JSON as it was encoded last, so that it is encoded anew only when something in it has changed.
	Body Body
}

// Launch is a launched token. It enters the stream when it has a value in USD for the first time, and again when it passes the quality bar for the first time.
type Launch struct {
	Number int64
	Chain  string
	Token  market.Address
	Time   int64 // unix seconds
}

// Call is a member's call of a token, as it was made or decided.
type Call struct {
	Number int64
	Chain  string
	Token  market.Address
	// Call is the number of the call itself, which it keeps when it is told anew.
	Call int64
	Time int64 // unix seconds, of the clock
}

// Retraction says that an item is taken back: by a reorg, or since its wallet is a member's no longer.
type Retraction struct {
	Number int64
	Kind   market.StreamKind
	// Retracts is the number of the item that is taken back.
	Retracts int64
}

// Newest are the newest items as they were at one look. It is never changed.
type Newest struct {
	// Head is the highest number that is known to be taken, of whatever kind.
	Head int64
	// Trades, Launches, Running, Calls and Retractions are in the order of their numbers. Running are launches that passed the quality bar for the first time.
	Trades      []*Trade
	Launches    []Launch
	Running     []Launch
	Calls       []Call
	Retractions []Retraction
	// TradesFrom, LaunchesFrom, RunningFrom and CallsFrom are numbers above which memory has every item of the kind that stands. RetractionsFrom is
	// a number above which it has every retraction.
	TradesFrom, LaunchesFrom, RunningFrom, CallsFrom, RetractionsFrom int64
	// ResetAt is a number: cursors below it are of a stream that the database has lost a part of.
	ResetAt int64
	// Oldest is a number: when the newest items were read, the database had none with this number or a lower one.
	Oldest int64

	// kept is how many items of a kind, and how many retractions, are kept at most; up to an eighth more may be there before they are trimmed.
	kept int
}

// Since are the items after a cursor.
type Since[T any] struct {
	Items []T
	// Retracted are the numbers of items up to the cursor that were taken back after it.
	Retracted []int64
	// IsTruncated says that there were more than are told, or that the cursor is older than what memory has.
	IsTruncated bool
}

// TradesSince are the trades after a cursor, the newest of them if they are more than most.
func (n *Newest) TradesSince(cursor int64, most int) Since[*Trade] {
	return since(n, market.StreamTrade, n.Trades, numberOfTrade, n.TradesFrom, cursor, most)
}

// LaunchesSince are the launches after a cursor, the newest of them if they are more than most.
func (n *Newest) LaunchesSince(cursor int64, most int) Since[Launch] {
	return since(n, market.StreamLaunch, n.Launches, numberOfLaunch, n.LaunchesFrom, cursor, most)
}

// CallsSince are the calls after a cursor, the newest of them if they are more than most.
func (n *Newest) CallsSince(cursor int64, most int) Since[Call] {
	return since(n, market.StreamCall, n.Calls, numberOfCall, n.CallsFrom, cursor, most)
}

// At is the stream as it was at a number.
func (n *Newest) At(number int64) *Newest {
	out := *n
	if out.Head = min(n.Head, number); out.ResetAt > out.Head {
		out.ResetAt = 0
	}
	out.Trades = n.Trades[:above(n.Trades, numberOfTrade, out.Head)]
	out.Launches = n.Launches[:above(n.Launches, numberOfLaunch, out.Head)]
	out.Running = n.Running[:above(n.Running, numberOfLaunch, out.Head)]
	out.Calls = n.Calls[:above(n.Calls, numberOfCall, out.Head)]
	out.Retractions = n.Retractions[:above(n.Retractions, numberOfRetraction, out.Head)]
	return &out
}

// Next is the stream as it was when it had at most so many more items of each kind, and retractions, than at a number.
func (n *Newest) Next(number int64, most int) *Newest {
	return n.At(min(
		headAfter(n.Trades, numberOfTrade, number, most, n.Head), headAfter(n.Launches, numberOfLaunch, number, most, n.Head),
		headAfter(n.Calls, numberOfCall, number, most, n.Head), headAfter(n.Retractions, numberOfRetraction, number, most, n.Head),
	))
}

// headAfter is the number of the last of the items after a number that are at most so many, or head where there are no more.
func headAfter[T any](items []T, numberOf func(T) int64, number int64, most int, head int64) int64 {
	if i := above(items, numberOf, number) + most; i < len(items) {
		return numberOf(items[i-1])
	}
	return head
}

func numberOfTrade(t *Trade) int64 { return t.Number }

func numberOfLaunch(l Launch) int64 { return l.Number }

func numberOfCall(c Call) int64 { return c.Number }

func numberOfRetraction(r Retraction) int64 { return r.Number }

func since[T any](n *Newest, kind market.StreamKind, items []T, number func(T) int64, from, cursor int64, most int) (out Since[T]) {
	out.Items, out.IsTruncated = items[above(items, number, cursor):], cursor < max(from, n.RetractionsFrom)
	if over := len(out.Items) - most; over > 0 {
		out.Items, out.IsTruncated = out.Items[over:], true
	}
	later := n.Retractions[above(n.Retractions, numberOfRetraction, cursor):]
	for _, r := range slices.Backward(later) {
		if r.Kind != kind || r.Retracts > cursor { // nobody who asks from there has seen it
			continue
		}
		if len(out.Retracted) == most {
			out.IsTruncated = true
			break
		}
		out.Retracted = append(out.Retracted, r.Retracts)
	}
	slices.Sort(out.Retracted)
	return out
}

// above is the place of the first item whose number is above one.
func above[T any](items []T, number func(T) int64, n int64) int {
	i, _ := slices.BinarySearchFunc(items, n, func(item T, n int64) int {
		return cmp.Or(cmp.Compare(number(item), n), -1)
	})
	return i
}

// TradesBelow are the trades in memory with numbers below one, in the order of their numbers.
func (n *Newest) TradesBelow(number int64) []*Trade {
	return n.Trades[:above(n.Trades, numberOfTrade, number-1)]
}

// RunningBelow are the launches in Running in memory with numbers below one, in the order of their numbers.
func (n *Newest) RunningBelow(number int64) []Launch {
	return n.Running[:above(n.Running, numberOfLaunch, number-1)]
}

// OlderThan is the number below which items are to be read whose newest above from are in memory, of those below a number; 0 where there are none.
func (n *Newest) OlderThan(from, below int64) int64 {
	if from <= n.Oldest {
		return 0
	}
	return min(from+1, below)
}

// with is the same with more rows, which are in the order of their numbers and come after all others. trades are what the entries of trades come to: one
// without entries is left out, and its retraction will follow.
func (n *Newest) with(rows []store.StreamItem, trades map[int64]store.StreamTrade) *Newest {
	next := *n
	gone := map[int64]bool{}
	for i := range rows {
		it := &rows[i]
		next.Head = max(next.Head, it.Number)
		switch {
		case it.Retracts > 0:
			next.Retractions = append(next.Retractions, Retraction{it.Number, it.Kind, it.Retracts})
			gone[it.Retracts] = true
		case it.Kind == market.StreamTrade:
			if sum, ok := trades[it.Number]; ok {
				next.Trades = append(next.Trades, newTrade(it, sum))
			}
		case it.Kind == market.StreamReset:
			next.ResetAt = it.Number
		case it.Kind == market.StreamLaunch:
			next.Launches = append(next.Launches, newLaunch(it))
		case it.Kind == market.StreamRunning:
			next.Running = append(next.Running, newLaunch(it))
		case it.Kind == market.StreamCall:
			next.Calls = append(next.Calls, newCall(it))
		}
	}
	if len(gone) > 0 {
		next.Trades = slices.DeleteFunc(slices.Clone(next.Trades), func(t *Trade) bool { return gone[t.Number] })
		next.Launches = slices.DeleteFunc(slices.Clone(next.Launches), func(l Launch) bool { return gone[l.Number] })
		next.Running = slices.DeleteFunc(slices.Clone(next.Running), func(l Launch) bool { return gone[l.Number] })
		next.Calls = slices.DeleteFunc(slices.Clone(next.Calls), func(c Call) bool { return gone[c.Number] })
	}
	next.trim()
	return &next
}

// trim drops the oldest items of what has too many. Appending to what is left copies it in time, so that nothing keeps what was dropped for long.
func (n *Newest) trim() {
	most := n.kept + n.kept/8
	if over := len(n.Trades) - n.kept; len(n.Trades) > most {
		n.TradesFrom, n.Trades = n.Trades[over-1].Number, slices.Clone(n.Trades[over:])
	}
	if over := len(n.Launches) - n.kept; len(n.Launches) > most {
		n.LaunchesFrom, n.Launches = n.Launches[over-1].Number, slices.Clone(n.Launches[over:])
	}
	if over := len(n.Running) - n.kept; len(n.Running) > most {
		n.RunningFrom, n.Running = n.Running[over-1].Number, slices.Clone(n.Running[over:])
	}
	if over := len(n.Calls) - n.kept; len(n.Calls) > most {
		n.CallsFrom, n.Calls = n.Calls[over-1].Number, slices.Clone(n.Calls[over:])
	}
	if over := len(n.Retractions) - n.kept; len(n.Retractions) > most {
		n.RetractionsFrom, n.Retractions = n.Retractions[over-1].Number, slices.Clone(n.Retractions[over:])
	}
}

func newTrade(it *store.StreamItem, sum store.StreamTrade) *Trade {
	return &Trade{
		Number: it.Number, Chain: it.Chain, Token: it.Token, Wallet: it.Trade.Wallet, Member: member.Number(it.Trade.Member), Time: it.Time,
		Tx: it.Trade.Tx, Sell: it.Trade.Sell, StreamTrade: sum,
	}
}

func newLaunch(it *store.StreamItem) Launch {
	return Launch{Number: it.Number, Chain: it.Chain, Token: it.Token, Time: it.Time}
}

func newCall(it *store.StreamItem) Call {
	return Call{Number: it.Number, Chain: it.Chain, Token: it.Token, Call: it.Call, Time: it.Time}
}
