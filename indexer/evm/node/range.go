package node

import (
	"errors"
	"net"
	"net/http"
	"regexp"
	"strconv"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// RangeError says that a range of blocks is too much for an endpoint; Fits is how many it suggested, 0 if none.
type RangeError struct {
	Fits uint64
	Err  error
}

func (e *RangeError) Error() string { return e.Err.Error() }
func (e *RangeError) Unwrap() error { return e.Err }

var (
	tooMuch   = regexp.MustCompile(`(?i)range|too many|more than|limit|exceed|too (large|big|long)|size|results|timeout|timed out`)
	tooOften  = regexp.MustCompile(`(?i)rate.?limit|too many requests|per second|throttl|quota|capacity|credits`)
	suggested = regexp.MustCompile(`\[(0x[0-9a-fA-F]+), ?(0x[0-9a-fA-F]+)\]`)
)

// AsRangeError tells a refusal of too wide a range from other errors: providers agree on no code.
func AsRangeError(err error) error {
	var refusal *rpc.NodeError
	var status rpc.StatusError
	var network net.Error
	switch {
	case errors.As(err, &refusal):
		// A text that names a range that works is never about rates, whatever else it says.
		m := suggested.FindStringSubmatch(refusal.Message)
		if m == nil && (!tooMuch.MatchString(refusal.Message) || askedTooOften.MatchString(refusal.Message)) {
			return err
		}
		out := &RangeError{Err: err}
		if m != nil {
			from, err0 := strconv.ParseUint(m[1], 0, 64)
			to, err1 := strconv.ParseUint(m[2], 0, 64)
			if err0 == nil && err1 == nil && to >= from {
				out.Fits = to - from + 1
			}
		}
		return out
	case errors.As(err, &status) && (status.Code == http.StatusRequestEntityTooLarge || tookTooLong(status.Code)),
		errors.Is(err, rpc.ErrTooLong), errors.As(err, &network) && network.Timeout():
		return &RangeError{Err: err}
	default:
		return err
	}
}
