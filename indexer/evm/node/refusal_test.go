package node

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// blamed are the faults by their names in nodetest.Refusals.
var blamed = map[string]Fault{
	"unknown": FaultUnknown, "contract": FaultContract, "node": FaultNode, "state": FaultState, "size": FaultSize,
}

func TestFaultsByClient(t *testing.T) {
	t.Parallel()
	for _, r := range nodetest.Refusals {
		if got := FaultOf(&rpc.NodeError{Code: r.Code, Message: r.Message}); got != blamed[r.Fault] {
			t.Errorf("%s's %d %q is the fault %d, want that of %s", r.Client, r.Code, r.Message, got, r.Fault)
		}
	}
}

func TestOverwhelmed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{rpc.StatusError{Code: http.StatusRequestEntityTooLarge}, true},
		{rpc.StatusError{Code: http.StatusGatewayTimeout}, true},
		{rpc.StatusError{Code: 524}, true},
		{rpc.StatusError{Code: http.StatusTooManyRequests}, false},
		{rpc.StatusError{Code: http.StatusUnauthorized}, false},
		{fmt.Errorf("read: %w", rpc.ErrTooLong), true},
		{fmt.Errorf("read: %w", rpc.ErrGarbage), false},
		{&rpc.NodeError{Code: -32003, Message: "response too large"}, true},
		{&rpc.NodeError{Code: -32003, Message: "EVM error: InvalidJump"}, false},
	} {
		if got := Overwhelmed(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestRateRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{rpc.StatusError{Code: http.StatusTooManyRequests}, true},
		{rpc.StatusError{Code: http.StatusBadGateway}, false},
		{&rpc.NodeError{Code: 429, Message: "Your app has exceeded its compute units per second capacity"}, true},
		{&rpc.NodeError{Code: -32007, Message: "50/second request limit reached - reduce calls per second"}, true},
		{&rpc.NodeError{Code: -32005, Message: "exceeded project rate limit"}, true},
		{&rpc.NodeError{Code: -32016, Message: "over rate limit"}, true},
		{rpc.BatchError{NodeError: &rpc.NodeError{Code: -32016, Message: "over rate limit"}}, true},
		{&rpc.NodeError{Code: 3, Message: "execution reverted: over rate limit"}, false},
		{&rpc.NodeError{Code: -32000, Message: "execution reverted: too many requests"}, false},
		{&RangeError{Err: &rpc.NodeError{Code: -32005, Message: "query returned more than 10000 results, rate limit"}}, false},
		{&rpc.NodeError{Code: -32000, Message: "header not found"}, false},
		{rpc.ErrGarbage, false},
	} {
		if got := RateRefused(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}
