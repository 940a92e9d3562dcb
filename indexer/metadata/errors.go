package metadata

import (
	"slices"
	"time"
)

// Kind is why something could not be fetched; it is fit for a metric's label.
type Kind string

// The kinds that stay as they are, however often one tries.
const (
	// BadReference: it is no URI of a known form.
	BadReference Kind = "bad_reference"
	// Unsupported: no gateway is configured for its network.
	Unsupported Kind = "unsupported"
	// Refused: its address is not public, or its port is not that of a web server.
	Refused Kind = "refused"
	// NotFound: its host says that it isn't there.
	NotFound Kind = "not_found"
	// Denied: its host answers in a way that leads to nothing.
	Denied Kind = "denied"
	// TooLarge: it has too many bytes, levels or pixels.
	TooLarge Kind = "too_large"
	// NotJSON and NotPicture: it is something else.
	NotJSON    Kind = "not_json"
	NotPicture Kind = "not_picture"
)

// The kinds that may pass.
const (
	// Unreachable: its name is not known, its host takes no connection, or none that can be trusted.
	Unreachable Kind = "unreachable"
	// TooSlow: it took too long.
	TooSlow Kind = "too_slow"
	// Busy: its host says that it can't answer now.
	Busy Kind = "busy"
	// Waiting: it was not tried, because its host is left alone for a while.
	Waiting Kind = "waiting"
	// Broken: a fetch panicked.
	Broken Kind = "broken"
)

var passing = []Kind{Unreachable, TooSlow, Busy, Waiting, Broken}

// Error says why a reference could not be fetched. Its text may name the host, never the rest of a URL: the query may have a key.
type Error struct {
	Kind Kind
	// Until is when the host may be asked again; zero where it didn't say.
	Until time.Time

	text  string
	cause error
	// overload says that the host itself asked to be spared, lost that it has not answered for hours.
	overload, lost bool
}

func (e *Error) Error() string { return e.text }

// Unwrap gives what an outer layer reported. Its text may have parts of a URL: it is for errors.Is, not for a log.
func (e *Error) Unwrap() error { return e.cause }

// Passing reports whether trying again later may help.
func (e *Error) Passing() bool { return slices.Contains(passing, e.Kind) }

func newError(k Kind, text string) *Error { return &Error{Kind: k, text: text} }

// worse is the error of two to report for one reference: one that may pass leaves hope for the reference as a whole.
func worse(a, b *Error) *Error {
	switch {
	case a == nil:
		return b
	case b == nil || a.Passing() || !b.Passing():
		return a
	}
	return b
}

// joined is the error of a document whose metadata and picture failed with a and b; either may be nil. It may pass if one of
// them may.
func joined(a, b *Error) error {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return b.says("picture: " + b.text)
	case b == nil:
		return a.says("metadata: " + a.text)
	}
	return worse(a, b).says("metadata: " + a.text + "; picture: " + b.text)
}

// says is the same error in other words.
func (e *Error) says(text string) *Error {
	out := *e
	out.text, out.cause = text, e
	return &out
}
