package evm

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestHeadersWithoutAHash reads headers from a node that says a hash of zeros.
func TestHeadersWithoutAHash(t *testing.T) {
	t.Parallel()
	hash := regexp.MustCompile(`"hash":"0x[0-9a-f]{64}"`)
	node := nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		number, err := rpc.ParseQuantity(params[0])
		if err != nil {
			t.Error(err)
		}
		return hash.ReplaceAllString(blocktest.Header(number, true, "5208"), `"hash":"0x`+strings.Repeat("0", 64)+`"`), ""
	})
	got, err := sourceOf(t, time.Now, node.URL).Headers(t.Context(), market.Header{}, 5, 6)
	if !errors.Is(err, rpc.ErrGarbage) {
		t.Errorf("it gave %+v, %v; want an error", got, err)
	}
}
