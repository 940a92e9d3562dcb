package yellowstone

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Limits say how a stream of blocks behaves that a provider has by Yellowstone gRPC. The zero value is no stream.
type Limits struct {
	Offered bool
	// Token is what a reader sends as x-token; NoToken is said to a reader that sends another one.
	Token   string
	NoToken Refusal
	// Streams is how many streams there may be at a time; 0 is any number.
	Streams int
	TooMany Refusal
	// MostMessage is how many bytes a message may have; 0 is any number. TooLong ends a stream instead of a longer message, and may have the message's length as
	// %[1]d and the limit as %[2]d.
	MostMessage int
	TooLong     Refusal
	// Kept is of how many slots below the newest one blocks are sent again to a reader that asks for them (from_slot); 0 is of none, and NoReplay is said then. Gone
	// may have the slot as %[1]d and the first kept one as %[2]d.
	Kept           uint64
	NoReplay, Gone Refusal
	// PingEvery is the time between two pings; 0 sends none. IdleAfter is how long a reader may send nothing before Idle ends its stream; 0 is for ever.
	PingEvery, IdleAfter time.Duration
	Idle                 Refusal
	// MissEvery is which of the blocks no stream sends: every third, if it is 3; 0 is none.
	MissEvery int
	// Faults are what becomes of the streams, in a circle: once the first fault has come, the next stream has the second one.
	Faults []Fault
}

// Fault is what becomes of a stream. The zero value ends it without an error before the first block.
type Fault struct {
	// After is how many blocks the stream sends as it should.
	After int
	// Lag is by how much each of the next Blocks comes later than it is there. Ends ends the stream after them.
	Lag    time.Duration
	Blocks int
	// Cut sends the first half of the next message, and goes on.
	Cut bool
	// Stops sends nothing more, no ping either, and leaves the stream open.
	Stops bool
	Ends  Refusal
}

// ReportedFaults are those that readers of the plugin's streams have reported, as often as a short trial needs. The profile that has them says who reported which.
func ReportedFaults() []Fault {
	return []Fault{
		{After: 5, Ends: tooSlow},
		{After: 5, Cut: true},
		{After: 2, Blocks: 5, Lag: 3 * time.Second, Ends: shutDown},
		{After: 5},
		{After: 5, Stops: true},
	}
}

// The names by which a stand-in's counter counts faults.
const (
	blockLeftOut  = "block left out"
	messageCut    = "message cut"
	blockLate     = "block late"
	streamEnded   = "stream ended"
	streamStopped = "stream stopped"
)

// MissingFaults are the faults of such streams that didn't come yet, where came counts them by their names. A message that is too long needs a block of that length, so it
// isn't one of them.
func (l *Limits) MissingFaults(came map[string]int64) (names []string) {
	if l.MissEvery > 0 {
		names = append(names, blockLeftOut)
	}
	for _, f := range l.Faults {
		if f.Blocks > 0 {
			names = append(names, blockLate)
		}
		switch {
		case f.Cut:
			names = append(names, messageCut)
		case f.Stops:
			names = append(names, streamStopped)
		default:
			names = append(names, streamEnded)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return came[name] > 0 })
}

// Refusal is a status of gRPC with which a stream ends. The zero value is an end without an error.
type Refusal struct {
	Code    codes.Code
	Message string
}

// Err is the refusal with values in its message; it is nil for an end without an error.
func (r Refusal) Err(values ...any) error {
	if strings.Contains(r.Message, "%") {
		r.Message = fmt.Sprintf(r.Message, values...)
	}
	return status.Error(r.Code, r.Message)
}
