package node

import (
	"errors"
	"net/http"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// TestRangeErrors tells a range that is too wide, which is halved, from a node that is asked too often, which is left alone.
func TestRangeErrors(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct {
		narrow bool
		fits   uint64
	}{
		"query returned more than 10000 results. Try with this block range [0x64, 0xc7]": {true, 100},
		"Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the " +
			"response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the " +
			"response size limit, this block range should work: [0x0, 0x1f]": {true, 32},
		"eth_getLogs is limited to a 1000 range":                      {true, 0},
		"block range is too large":                                    {true, 0},
		"Block range limit exceeded":                                  {true, 0},
		"query exceeds max results 20000":                             {true, 0},
		"rate limit exceeded":                                         {false, 0},
		"Too Many Requests":                                           {false, 0},
		"Your app has exceeded its compute units per second capacity": {false, 0},
		"daily request quota exceeded":                                {false, 0},
		"execution reverted":                                          {false, 0},
		"Response is too big":                                         {true, 0},
		"daily request limit reached":                                 {false, 0},
		"50/second request limit reached - reduce calls per second":   {false, 0},
	} {
		err := AsRangeError(&rpc.NodeError{Code: -32005, Message: message})
		narrow, ok := errors.AsType[*RangeError](err)
		if ok != want.narrow || (ok && narrow.Fits != want.fits) {
			t.Errorf("%q is taken for %#v, want narrow %v with %d", message, err, want.narrow, want.fits)
		}
	}
	for err, want := range map[error]bool{
		rpc.StatusError{Code: http.StatusRequestEntityTooLarge}: true, rpc.StatusError{Code: http.StatusGatewayTimeout}: true,
		rpc.StatusError{Code: http.StatusTooManyRequests}: false, rpc.StatusError{Code: http.StatusBadGateway}: false, rpc.ErrTooLong: true,
		rpc.StatusError{Code: 520}: true, rpc.StatusError{Code: 521}: false, rpc.StatusError{Code: 522}: true, rpc.StatusError{Code: 523}: false, rpc.StatusError{Code: 524}: true,
	} {
		if _, ok := errors.AsType[*RangeError](AsRangeError(err)); ok != want {
			t.Errorf("%v: narrow is %v, want %v", err, ok, want)
		}
	}
}
