package indexer_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestTheDeclarationIsCheckedBesideTheIndex declares contracts that are there, and one that comes later: its lack is told by its name, keeps no
// block from being indexed, and is told no more once it is there.
func TestTheDeclarationIsCheckedBesideTheIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	cfg := w.config()
	cfg.Trust.Lockers = markettest.Addresses(nothing)
	ix := start(t, cfg, indexer.Options{ChecksDeclaration: true, DeclarationPause: 100 * time.Millisecond})
	const wrong = "locker " + nothing + ": there is no contract at this address"
	awaitState(t, ix, "at the head, with the locker missing", func(s *chainconfig.State) bool {
		d := s.Declaration
		return s.Phase == chainconfig.PhaseFollowing && d.Checked && len(d.Wrong) == 1 && strings.HasPrefix(d.Wrong[0], wrong) && len(d.Look) == 0
	})
	if err := w.node.Call(t.Context(), nil, "anvil_setCode", nothing, switchable); err != nil {
		t.Fatal(err)
	}
	awaitState(t, ix, "all as declared", func(s *chainconfig.State) bool {
		return s.Declaration.Checked && len(s.Declaration.Wrong) == 0
	})
}

// TestADeclarationThatIsRightIsAskedForOnce counts the requests that nothing else makes here: those for code.
func TestADeclarationThatIsRightIsAskedForOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	var code atomic.Int64
	forward, _ := w.behind(t, 0)
	counting := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("eth_getCode")) {
			code.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(out, r)
	}))
	t.Cleanup(counting.Close)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersLaunches // whose tokens' first blocks are looked for otherwise
	cfg.Endpoints[0].URL = counting.URL
	cfg.Quotes[0].Symbol = "USDX"
	ix := start(t, cfg, indexer.Options{ChecksDeclaration: true, DeclarationPause: 20 * time.Millisecond})
	awaitState(t, ix, "checked", func(s *chainconfig.State) bool { return s.Declaration.Checked })
	s := state(t, ix)
	if d := s.Declaration; len(d.Wrong) > 0 || len(d.Look) != 1 || !strings.Contains(d.Look[0], "quote asset USDX "+cfg.Quotes[0].Address.String()) {
		t.Errorf("it says %+v; want the other symbol alone", d)
	}
	time.Sleep(500 * time.Millisecond) // 25 pauses
	if n := code.Load(); n != 1 {
		t.Errorf("the node was asked for code %d times, want once", n)
	}
}

// TestADeclarationThatCannotBeAskedIsNotKnown: silent nodes are neither right nor wrong, their URL is told to nobody, and the answer comes with
// them. A node of another chain is wrong.
func TestADeclarationThatCannotBeAskedIsNotKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	m, url := w.behind(t, 0)
	const key = "k3y-of-the-node"
	cfg := w.config()
	cfg.Endpoints[0].URL = url + "/v2/" + key
	m.down.Store(true)
	ix := start(t, cfg, indexer.Options{ChecksDeclaration: true, DeclarationPause: 50 * time.Millisecond})
	awaitState(t, ix, "said to be not checked", func(s *chainconfig.State) bool {
		return !s.Declaration.Checked && s.Declaration.Unasked != "" && len(s.Declaration.Wrong) == 0
	})
	if s := state(t, ix); strings.Contains(s.Declaration.Unasked, key) || strings.Contains(s.Declaration.Unasked, "127.0.0.1") {
		t.Errorf("it tells the URL: %q", s.Declaration.Unasked)
	}
	m.down.Store(false)
	awaitState(t, ix, "checked", func(s *chainconfig.State) bool {
		return s.Declaration.Checked && s.Declaration.Unasked == "" && len(s.Declaration.Wrong) == 0
	})

	other := w.config()
	other.EVMChainID = 4242
	ix = start(t, other, indexer.Options{ChecksDeclaration: true, DeclarationPause: 50 * time.Millisecond})
	awaitState(t, ix, "said to be another chain's", func(s *chainconfig.State) bool {
		d := s.Declaration
		return !d.Checked && len(d.Wrong) == 1 && strings.Contains(d.Wrong[0], "endpoint 1: ") && strings.Contains(d.Wrong[0], "is declared with chainID 4242")
	})
}

// TestManyWrongAddressesAreToldInPart: what is told is bounded whatever is declared.
func TestManyWrongAddressesAreToldInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	cfg := w.config()
	for i := range 30 {
		cfg.Trust.Lockers = append(cfg.Trust.Lockers, markettest.Address(fmt.Sprintf("0x%040x", 0xbad00+i)))
	}
	ix := start(t, cfg, indexer.Options{ChecksDeclaration: true})
	awaitState(t, ix, "checked", func(s *chainconfig.State) bool { return s.Declaration.Checked })
	if d := state(t, ix).Declaration; len(d.Wrong) != 17 || d.Wrong[16] != "14 more" {
		t.Errorf("it tells %d that are wrong: %q", len(d.Wrong), d.Wrong)
	}
}
