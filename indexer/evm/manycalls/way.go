package manycalls

import (
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"
)

// Way is how many questions come into one call. Multicall3 and a deployless call are asked as many, so that what is read is the same by either.
type Way uint8

// The ways.
const (
	ByMulticall3 Way = iota
	// ByDeployless is a call without a contract's address.
	ByDeployless
	// Alone is a call for each question.
	Alone
)

// Data is the data of a call that makes calls, of which Alone makes the first, in hexadecimal with 0x. A deployless call gives at most so many bytes of each answer.
func (w Way) Data(calls []Call, most int) string {
	data := calls[0].Data
	switch w {
	case ByMulticall3:
		data = Multicall3(calls)
	case ByDeployless:
		data = Deployless(calls, most)
	case Alone:
	}
	return "0x" + hex.EncodeToString(data)
}

// Answers reads the answers to n calls; ok is false where they can't be read.
func (w Way) Answers(raw []byte, n int) (answers []Answer, ok bool) {
	switch w {
	case ByMulticall3:
		return Multicall3Answers(raw, n)
	case ByDeployless:
		return DeploylessAnswers(raw, n)
	case Alone:
	}
	return []Answer{{OK: true, Data: raw}}, n == 1
}

// IsMissing reports whether the answer to a call, which a node may have refused, shows that there is no such way: a call of an account without code
// succeeds, and answers nothing.
func (w Way) IsMissing(raw []byte, refused bool, n int) bool {
	switch w {
	case ByMulticall3:
		return !refused && len(raw) == 0
	case ByDeployless:
		_, ok := DeploylessAnswers(raw, n)
		return refused || !ok
	case Alone:
	}
	return false
}

// Ways are the ways to ask: the first, and the next after one that is missing.
type Ways interface {
	First() Way
	Next(missing Way) Way
}

// KnownFor is how long it counts that Multicall3 is missing on a chain, and that an endpoint takes deployless calls or takes none.
const KnownFor = time.Hour

// Chain remembers that Multicall3 is missing on a chain.
type Chain struct{ until atomic.Int64 } // nanoseconds of Unix time

// Ways are the ways to ask now. Deployless reports whether the endpoints take deployless calls; it has to give one answer for one question to several
// endpoints, or they would be asked in several ways and their answers couldn't be compared.
func (c *Chain) Ways(now time.Time, deployless func() bool) Ways { return &waysNow{c, now, deployless} }

type waysNow struct {
	chain      *Chain
	now        time.Time
	deployless func() bool
}

// First leaves Multicall3 out where it was missing lately, and where that changes nothing that is read: by calls of their own fewer questions are asked.
func (w *waysNow) First() Way {
	if w.now.UnixNano() < w.chain.until.Load() && w.deployless() {
		return ByDeployless
	}
	return ByMulticall3
}

// Next is the way after one that is missing.
func (w *waysNow) Next(missing Way) Way {
	if missing == ByMulticall3 {
		w.chain.until.Store(w.now.Add(KnownFor).UnixNano())
		if w.deployless() {
			return ByDeployless
		}
	}
	return Alone
}

// AgainAfter is after which time an endpoint is asked again that didn't show clearly whether it takes deployless calls.
const AgainAfter = time.Minute

// Taken is whether an endpoint takes deployless calls, as far as that is known.
type Taken struct {
	mu sync.Mutex
	// doubted says that the last failure that counted as an answer may have had another reason.
	known, takes, doubted bool
	until                 time.Time
}

// Learn notes that the endpoint takes deployless calls or takes none.
func (t *Taken) Learn(takes bool, now time.Time) { t.note(true, takes, false, now.Add(KnownFor)) }

// Forget notes that nobody knows.
func (t *Taken) Forget(now time.Time) { t.note(false, false, false, now.Add(AgainAfter)) }

// Doubt notes a failure that may have another reason than that the endpoint takes none. It counts for a short while, unless the one before was the same.
func (t *Taken) Doubt(now time.Time) {
	t.mu.Lock()
	again := t.doubted
	t.mu.Unlock()
	pause := AgainAfter
	if again {
		pause = KnownFor
	}
	t.note(true, false, true, now.Add(pause))
}

func (t *Taken) note(known, takes, doubted bool, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known, t.takes, t.doubted, t.until = known, takes, doubted, until
}

// TakesNone reports whether the endpoint is known to take none.
func (t *Taken) TakesNone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known && !t.takes
}

// At is what is known at a time. Where it is old the endpoint has to be asked again.
func (t *Taken) At(now time.Time) (known, takes, old bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known, t.takes, !now.Before(t.until)
}

// Probe is a question that shows whether an endpoint takes deployless calls: as many calls of the precompiled contract that answers its data, each with so many bytes.
func Probe(n, data int) []Call {
	calls := make([]Call, n)
	for i := range calls {
		calls[i] = Call{To: [20]byte{19: 4}, Data: make([]byte, data)}
		for k := range calls[i].Data {
			calls[i].Data[k] = byte(i + k + 1)
		}
	}
	return calls
}

// IsProbed reports whether an answer is that to a probe, of which each call gives at most so many bytes.
func IsProbed(probe []Call, most int, raw []byte) bool {
	answers, ok := DeploylessAnswers(raw, len(probe))
	for i := range answers {
		ok = ok && answers[i].OK && string(answers[i].Data) == string(probe[i].Data[:min(most, len(probe[i].Data))])
	}
	return ok
}
