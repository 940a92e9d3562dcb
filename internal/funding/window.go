// Package funding finds where an account's coins came from, by the payments of a chain's newest blocks. It is pure: it knows no database and no
// clock.
package funding

import (
	"math"
	"slices"
	"sort"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Bounds say which payments count at a block.
type Bounds struct {
	// Seconds is how much older than the block a payment's block may be.
	Seconds int64
	// Payments is the most payments that count. The newest blocks count that together have no more; the payments of the block itself count in any case.
	Payments int
	// OfAccount is how many payments to one account are looked at: the newest.
	OfAccount int
}

// Default are the bounds of every chain. Strangers have to pay an account a thousand times to hide who paid it more. A window that is full takes some 60 MB, if each payment goes to another account: 60 bytes a
// payment, up to an eighth more for what was dropped, and the index by account (BenchmarkWindow).
var Default = Bounds{Seconds: 24 * 60 * 60, Payments: 500_000, OfAccount: 1024}

// gapSeconds is for how long at most, by the times of blocks, blocks may have been read without their transactions for what was known before to count on: a program
// that starts again reads what it missed without. A payment within such a gap isn't seen.
const gapSeconds = 10 * 60

// markSeconds is after how many seconds without payments a block is kept all the same, so that a chain without payments forgets blocks, too.
const markSeconds = 60 * 60

// Window is the payments of a chain's newest blocks. What it says is a function of the newest block and those before it which were read with their
// transactions without a gap: it is the same whatever was taken back, and whatever Forget has dropped.
type Window struct {
	bounds Bounds
	// last is the newest block, and now its time.
	last uint64
	now  int64
	// ended is the first block that was read without its transactions so long after the newest span that no block goes on from that; 0 while there is none.
	ended uint64
	// spans are the stretches of blocks that were read with their transactions, oldest first.
	spans []span
	// blocks are those that have payments, those that begin a span, and one of each hour. payments are theirs.
	blocks   queue[block]
	payments queue[payment]
	// first is the number of the oldest payment of the queue. Numbers begin anew after 2^32; they are compared by their distance from first.
	first uint32
	// newest has the number of the newest payment to each account.
	newest map[account]uint32
	// used says that the window ever had a block.
	used bool

	// covered says that the newest block was read with its transactions; from is the number of the oldest payment that counts at it, and reaches
	// says that every payment that could count is known.
	covered, reaches bool
	from             uint32
	// told has what was told at the newest block of accounts that somebody paid: one block may ask for the same account many times.
	told map[account]market.Funding
	// since is from when on all payments are known at the newest block.
	since int64
}

type account [market.EVMAddressLen]byte

// span is a stretch of blocks, both ends included; until is the time of the last. From is the first block of this span, or of an earlier one between which and this
// there are no gaps but short ones, and since the time of that block.
type span struct {
	first, last, from uint64
	since, until      int64
}

type block struct {
	number uint64
	time   int64
	// first is the number that the block's first payment has, or would have.
	first uint32
}

// payment has 60 bytes.
type payment struct {
	from, to account
	amount   [16]byte
	// before is the number of the payment to the same account before this one; this one's own number says that there is none.
	before uint32
}

// New makes a window without blocks.
func New(b Bounds) *Window { return &Window{bounds: b, newest: make(map[account]uint32)} }

// Counted are those payments of a block that tell where coins came from: not those to oneself or of nothing. Amounts of more than 128 bits, which no
// coin has, are cut to the most that 128 bits tell.
func Counted(all []market.Payment) []market.Payment {
	var most market.Amount
	most.Not(&most).Rsh(&most, 128)
	var out []market.Payment
	for _, p := range all {
		if p.From == p.To || p.Amount.IsZero() || p.From.Kind() != market.EVMAccount || p.To.Kind() != market.EVMAccount {
			continue
		}
		if p.Amount.Gt(&most) {
			p.Amount = most
		}
		out = append(out, p)
	}
	return out
}

// Accounts leaves out what is no account of an EVM chain: some chains have transactions of their own that nobody sends.
func Accounts(all []market.Address) []market.Address {
	return slices.DeleteFunc(slices.Clone(all), func(a market.Address) bool { return a.Kind() != market.EVMAccount })
}

// Add takes in a block that was read with its transactions, and its payments as Counted gives them. It is newer than the window's last.
func (w *Window) Add(b *market.BlockPayments) {
	begins := true
	w.used, w.ended = true, 0
	if n := len(w.spans); n > 0 && w.spans[n-1].last+1 == b.Number {
		w.spans[n-1].last, w.spans[n-1].until, begins = b.Number, b.Time, false
	} else {
		next := span{first: b.Number, last: b.Number, from: b.Number, since: b.Time, until: b.Time}
		if n > 0 && b.Time-w.spans[n-1].until <= gapSeconds {
			next.from, next.since = w.spans[n-1].from, w.spans[n-1].since
		}
		w.spans = append(w.spans, next)
	}
	blocks := w.blocks.list()
	if begins || len(b.Payments) > 0 || b.Time >= blocks[len(blocks)-1].time+markSeconds {
		w.blocks.push(block{number: b.Number, time: b.Time, first: w.end()})
	}
	for i := range b.Payments {
		p := &b.Payments[i]
		number, amount := w.end(), p.Amount.Bytes32()
		next := payment{from: accountOf(p.From), to: accountOf(p.To), amount: [16]byte(amount[16:]), before: number}
		if before, ok := w.newest[next.to]; ok {
			next.before = before
		}
		w.newest[next.to] = number
		w.payments.push(next)
	}
	w.last, w.now = b.Number, b.Time
	w.settle()
}

// Pass says that blocks up to one were read without their transactions, those that the window hasn't.
func (w *Window) Pass(number uint64, time int64) {
	if number > w.last {
		w.last = number
		if n := len(w.spans); n > 0 && w.ended == 0 && time-w.spans[n-1].until > gapSeconds {
			w.ended = number
		}
		w.settle()
	}
}

// Rewind goes back to an earlier block.
func (w *Window) Rewind(to market.Header) {
	if w.last <= to.Number {
		return
	}
	if w.ended > to.Number {
		w.ended = 0
	}
	for n := len(w.spans); n > 0 && w.spans[n-1].last > to.Number; n-- {
		if w.spans[n-1].first <= to.Number {
			w.spans[n-1].last, w.spans[n-1].until = to.Number, to.Time
			break
		}
		w.spans = w.spans[:n-1]
	}
	blocks := w.blocks.list()
	if n := after(blocks, to.Number); n < len(blocks) {
		end := blocks[n].first
		list := w.payments.list()
		for w.end() != end {
			at := len(list) - 1
			if p := &list[at]; w.place(p.before) < at {
				w.newest[p.to] = p.before
			} else {
				delete(w.newest, p.to)
			}
			list = list[:at]
			w.payments.cut(at)
		}
		w.blocks.cut(n)
	}
	w.last, w.now = to.Number, to.Time
	w.settle()
}

// Forget drops what counts no more at a block or at any later one. No Rewind goes below the block.
func (w *Window) Forget(horizon uint64) {
	w.spans = slices.Delete(w.spans, 0, w.overSpans(horizon))
	blocks := w.blocks.list()
	gone := len(blocks)
	if len(w.spans) > 0 {
		s := w.spans[0]
		gone = from(blocks, s.from)
		if n := after(blocks, horizon); s.from <= horizon && n > 0 {
			// The block before the window's first stays: it shows that the window is full.
			gone = max(gone, w.start(n, s, blocks[n-1].number, blocks[n-1].time)-1)
		}
	}
	if gone == 0 {
		return
	}
	first := w.end()
	if gone < len(blocks) {
		first = blocks[gone].first
	}
	dropped := w.payments.list()[:w.place(first)]
	for i := range dropped {
		if to := dropped[i].to; w.newest[to] == w.first+uint32(i) {
			delete(w.newest, to)
		}
	}
	w.payments.drop(len(dropped))
	w.blocks.drop(gone)
	w.first = first
}

// overSpans is how many of the spans can be dropped: those below the horizon, but for one that the next block may go on from, if all after it were taken back.
func (w *Window) overSpans(horizon uint64) int {
	n := 0
	for n < len(w.spans) && w.spans[n].last < horizon {
		n++
	}
	switch {
	case n == 0, n < len(w.spans) && w.spans[n].first <= horizon:
		return n
	case n == len(w.spans) && w.ended > 0 && w.ended <= horizon:
		return n
	}
	return n - 1
}

// Oldest is the oldest block that the window needs to be made anew; none below it counts any more. ok is false while it never had a block.
func (w *Window) Oldest() (number uint64, ok bool) {
	if blocks := w.blocks.list(); len(blocks) > 0 {
		return blocks[0].number, true
	}
	return w.last + 1, w.used
}

// settle says what counts at the newest block.
func (w *Window) settle() {
	w.told = nil
	w.covered = len(w.spans) > 0 && w.spans[len(w.spans)-1].last == w.last
	if !w.covered {
		return
	}
	s, blocks := w.spans[len(w.spans)-1], w.blocks.list()
	w.from, w.since = w.end(), max(s.since, w.now-w.bounds.Seconds)
	n := w.start(len(blocks), s, w.last, w.now)
	if n < len(blocks) {
		w.from = blocks[n].first
	}
	if n > from(blocks, s.from) && blocks[n-1].time >= w.now-w.bounds.Seconds { // payments of the time are beyond the bound of payments
		w.since = blocks[n-1].time + 1
	}
	known := w.end() - blocks[from(blocks, s.from)].first
	w.reaches = s.since <= w.now-w.bounds.Seconds || int64(known) >= int64(w.bounds.Payments)
}

// start is the place, among the window's first n blocks, of the oldest one whose payments count at a block of the span; n where none does.
func (w *Window) start(n int, s span, number uint64, now int64) int {
	blocks, end := w.blocks.list(), w.end()
	if n < len(blocks) {
		end = blocks[n].first
	}
	byTime := sort.Search(n, func(i int) bool { return blocks[i].time >= now-w.bounds.Seconds })
	byCount := sort.Search(n, func(i int) bool { return int64(end-blocks[i].first) <= int64(w.bounds.Payments) })
	if byCount == n && n > 0 && blocks[n-1].number == number {
		byCount = n - 1
	}
	return max(byTime, byCount, from(blocks[:n], s.from))
}

// Of tells where an account's coins came from at the newest block.
func (w *Window) Of(a market.Address) market.Funding {
	if !w.covered || a.Kind() != market.EVMAccount {
		return market.Funding{}
	}
	number, ok := w.newest[accountOf(a)]
	if !ok || w.place(number) < w.place(w.from) {
		if !w.reaches {
			return market.Funding{}
		}
		return market.Funding{State: market.FundingNotSeen}
	}
	to := accountOf(a)
	out, known := w.told[to]
	if known {
		return out
	}
	most := w.mostPaid(w.place(number))
	var word [32]byte
	copy(word[12:], most.from[:])
	out = market.Funding{State: market.FundingSeen, Funder: market.EVMAddress(word), At: w.timeOf(most.first)}
	if w.told == nil {
		w.told = make(map[account]market.Funding)
	}
	w.told[to] = out
	return out
}

// payer is an account that paid another: how much in all, and the place of its first payment.
type payer struct {
	from  account
	sum   market.Amount
	first int
}

// mostPaid finds the account that paid an account the most within the window, given the place of the newest payment to it. Of accounts that paid as much it is the
// one whose first payment is the earliest.
func (w *Window) mostPaid(at int) payer {
	list, oldest := w.payments.list(), w.place(w.from)
	payers := make([]payer, 0, 8)
	places := make(map[account]int)
	for range w.bounds.OfAccount {
		p := &list[at]
		i, known := places[p.from]
		if !known {
			i = len(payers)
			places[p.from], payers = i, append(payers, payer{from: p.from})
		}
		var amount market.Amount
		amount.SetBytes16(p.amount[:])
		payers[i].sum.Add(&payers[i].sum, &amount)
		payers[i].first = at
		before := w.place(p.before)
		if before < oldest || before >= at {
			break
		}
		at = before
	}
	most := &payers[0]
	for i := range payers {
		if c := payers[i].sum.Cmp(&most.sum); c > 0 || c == 0 && payers[i].first < most.first {
			most = &payers[i]
		}
	}
	return *most
}

// timeOf is the time of the block that has the payment at a place.
func (w *Window) timeOf(at int) int64 {
	blocks := w.blocks.list()
	return blocks[sort.Search(len(blocks), func(i int) bool { return w.place(blocks[i].first) > at })-1].time
}

// end is the number of the next payment.
func (w *Window) end() uint32 { return w.first + uint32(len(w.payments.list())) }

// place is where the payment with a number is in the queue; the number of one that was dropped gives a place beyond the queue.
func (w *Window) place(number uint32) int { return int(number - w.first) }

// from is the place of the first block with at least a number, after that of the first with a higher one.
func from(blocks []block, number uint64) int {
	return sort.Search(len(blocks), func(i int) bool { return blocks[i].number >= number })
}

func after(blocks []block, number uint64) int {
	if number == math.MaxUint64 {
		return len(blocks)
	}
	return from(blocks, number+1)
}

// accountOf is an EVM account's 20 bytes.
func accountOf(a market.Address) (out account) {
	a.AppendTo(out[:0])
	return out
}
