package indexer_test

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// oneMore is a number that a contract answered, made wrong in its last digit.
func oneMore(result json.RawMessage) json.RawMessage {
	out := []byte(string(result))
	if len(out) == 2+2+64 { // quotes, 0x and a word
		if out[66]++; out[66] == '9'+1 || out[66] == 'f'+1 {
			out[66] = '0'
		}
	}
	return out
}

// TestNoNodeAloneEndsATokensHolders samples balances and supplies through a node that tells wrong ones, beside an honest
// one: every count of holders and every supply stays, at the head and when the past is read.
func TestNoNodeAloneEndsATokensHolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 70)
	var lies atomic.Int64
	liar := w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		if !callOf(method, params, selector("balanceOf(address)"), selector("totalSupply()")) {
			return result
		}
		lies.Add(1)
		return oneMore(result)
	})
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: liar, Weight: 50}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := runImpatient(t, cfg, st)
	w.await(t, st)
	for range 14 {
		w.trade(t, 10)
		w.await(t, st)
	}
	stop()
	if lies.Load() < 40 {
		t.Errorf("only %d answers were false: the test shows little", lies.Load())
	}
	rebasing := w.rebasing(t)
	n := 0
	for mint, tok := range tokens(t, st) {
		if mint == rebasing {
			continue
		}
		n++
		if tok.Holders.Status == market.HoldersUnavailable || tok.Holders.Strikes > 0 || tok.SupplyStrikes > 0 {
			t.Errorf("%s is %+v after a node's false answers", tok.Symbol, tok)
		}
	}
	if n < 8 {
		t.Errorf("%d tokens are indexed: the test shows little", n)
	}
}

// TestANodeAloneIsAskedAgain samples through one node that tells each balance and supply wrongly when it is asked for the
// first time.
func TestANodeAloneIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 70)
	var mu sync.Mutex
	asked := map[string]bool{}
	flaky := w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		if !callOf(method, params, selector("balanceOf(address)"), selector("totalSupply()")) {
			return result
		}
		mu.Lock()
		defer mu.Unlock()
		key := string(params[0]) + string(params[1])
		if asked[key] {
			return result
		}
		asked[key] = true
		return oneMore(result)
	})
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: flaky, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := runImpatient(t, cfg, st)
	w.await(t, st)
	for range 14 {
		w.trade(t, 10)
		w.await(t, st)
	}
	stop()
	rebasing := w.rebasing(t)
	for mint, tok := range tokens(t, st) {
		if mint != rebasing && tok.Holders.Status == market.HoldersUnavailable {
			t.Errorf("%s is %+v after answers that the node took back", tok.Symbol, tok)
		}
	}
}
