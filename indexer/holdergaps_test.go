package indexer_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// asked is what an indexer asked a node about one contract.
type asked struct {
	ranges, codes int    // eth_getLogs that were answered, eth_getCode
	last          uint64 // the newest block of the ranges
}

// meter stands between an indexer and a node, counts, and answers for 16 blocks of logs of one contract at most.
type meter struct {
	node string
	mute bool // calls for a supply are made to a function that no token has
	mu   sync.Mutex
	of   map[string]asked
}

const meterRange = 16

func (w *testWorld) metered(t *testing.T, cfg *chainconfig.Chain) *meter {
	t.Helper()
	m := &meter{node: w.node.URL(), of: map[string]asked{}}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	cfg.Endpoints = []chainconfig.Endpoint{{URL: s.URL, Weight: 1}}
	return m
}

func (m *meter) about(token string) asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[strings.ToLower(token)]
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tooWide := m.count(body); tooWide != "" {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":%q}}`, tooWide)
		return
	}
	if m.mute {
		body = bytes.ReplaceAll(body, []byte(selector("totalSupply()")), []byte(selector("none()")))
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, m.node, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(w, res.Body)
}

// count notes what a request asks for; a range of logs that is too wide it refuses, with the one that isn't.
func (m *meter) count(body []byte) (tooWide string) {
	type call struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	calls := make([]call, 1)
	if json.Unmarshal(body, &calls[0]) != nil && json.Unmarshal(body, &calls) != nil {
		panic(http.ErrAbortHandler)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range calls {
		switch c.Method {
		case "eth_getCode":
			var contract string
			_ = json.Unmarshal(c.Params[0], &contract)
			a := m.of[contract]
			a.codes++
			m.of[contract] = a
		case "eth_getLogs":
			var f struct{ Address, FromBlock, ToBlock string }
			if json.Unmarshal(c.Params[0], &f) != nil || f.Address == "" {
				continue
			}
			from, err0 := strconv.ParseUint(f.FromBlock, 0, 64)
			to, err1 := strconv.ParseUint(f.ToBlock, 0, 64)
			if err0 != nil || err1 != nil || to-from >= meterRange {
				return fmt.Sprintf("range too wide, use [0x%x, 0x%x]", from, from+meterRange-1)
			}
			a := m.of[f.Address]
			a.ranges++
			a.last = max(a.last, to)
			m.of[f.Address] = a
		}
	}
	return ""
}

// awaitHolders trades until the holders of tokens are current, and holds all that are followed against their contracts.
func (w *testWorld) awaitHolders(t *testing.T, st *store.Store, mints ...string) {
	t.Helper()
	open := func(known map[market.Address]market.Token) bool {
		return slices.ContainsFunc(mints, func(m string) bool {
			return known[mustAddress(t, m)].Holders.Status != market.HoldersCurrent
		})
	}
	for deadline := time.Now().Add(90 * time.Second); ; {
		w.trade(t, 1)
		w.await(t, st)
		known := tokens(t, st)
		if !open(known) {
			break
		}
		if time.Now().After(deadline) {
			for _, m := range mints {
				t.Logf("%s: %+v", m, known[mustAddress(t, m)].Holders)
			}
			t.Fatal("the holders aren't current")
		}
	}
	w.trade(t, 2)
	w.await(t, st)
	for _, m := range mints {
		w.holdHolders(t, st, mustAddress(t, m))
	}
}

// holdHolders holds a token's balances and holders against its contract: nobody has more or less, and nobody else has any.
func (w *testWorld) holdHolders(t *testing.T, st *store.Store, mint market.Address) {
	t.Helper()
	balances, err := st.Balances.All(t.Context(), "base", mint)
	if err != nil {
		t.Fatal(err)
	}
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	sum, holders := new(big.Int), int64(0)
	for account, b := range balances {
		if len(account.Bytes()) != market.EVMAddressLen {
			continue // a V4 pool: its manager holds the tokens
		}
		has, err := w.BalanceOf(t.Context(), mint.String(), account.String())
		if err != nil {
			t.Fatal(err)
		}
		if b.Amount.ToBig().Cmp(has) != 0 {
			t.Errorf("%s: %s has %s, derived is %s", mint, account, has, b.Amount.Dec())
		}
		sum.Add(sum, has)
		if !b.IsPool {
			holders++
		}
	}
	supply := new(big.Int).SetBytes(w.ethCall(t, mint.String(), selector("totalSupply()"), status.Last.Number))
	if sum.Cmp(supply) != 0 {
		t.Errorf("%s: those with a balance have %s of %s", mint, sum, supply)
	}
	if h := tokens(t, st)[mint].Holders; h.Status != market.HoldersCurrent || h.Count != holders || holders < 3 {
		t.Errorf("%s: %d accounts have a balance; the holders are %+v", mint, holders, h)
	}
}

func mustAddress(t *testing.T, s string) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// launchAndBuy launches a token on each venue and has it bought.
func (w *testWorld) launchAndBuy(t *testing.T) (mints []string) {
	t.Helper()
	for _, v := range w.Venues {
		l := w.launch(t, v)
		for _, wallet := range w.Wallets[10:13] {
			if _, err := launch.Buy(t.Context(), w.World, l, wallet, big.NewInt(1e16)); err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
		}
		mints = append(mints, l.Token)
	}
	return mints
}

// TestHoldersOfLaunchesWithoutOldState: a node that has dropped the states of launches' blocks costs no look at their past, nor
// at that of launches that are seen as they happen.
func TestHoldersOfLaunchesWithoutOldState(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, 48, 40, venues.All...)
	past := w.launchAndBuy(t)
	w.trade(t, 70)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	cfg.Start.Block = 20
	cfg.Majors = nil
	m := w.metered(t, cfg)
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	defer stop()
	w.awaitHolders(t, st, past...)
	fresh := w.launchAndBuy(t)
	w.await(t, st)
	for mint, tok := range tokens(t, st) {
		if slices.Contains(fresh, mint.String()) && tok.Holders.Status != market.HoldersCurrent {
			t.Errorf("a launch that was seen has holders %+v", tok.Holders)
		}
	}
	w.awaitHolders(t, st, append(past, fresh...)...)
	for what, mints := range map[string][]string{"past": past, "seen": fresh} {
		for _, mint := range mints {
			if a := m.about(mint); a != (asked{}) {
				t.Errorf("of a %s launch %d ranges of logs and %d codes were asked", what, a.ranges, a.codes)
			}
		}
	}
}

// TestHoldersOfATokenWithoutASupply: nothing proves that such a token had no holders before its launch but a look, which is short
// where the nodes tell when it was made.
func TestHoldersOfATokenWithoutASupply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40, venues.Flap)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	m := w.metered(t, cfg)
	m.mute = true
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	defer stop()
	w.await(t, st)
	mints := w.launchAndBuy(t)
	w.trade(t, 32)
	w.awaitHolders(t, st, mints...)
	if a := m.about(mints[0]); a.ranges != 1 {
		t.Errorf("%d ranges of logs were asked, want 1", a.ranges)
	}
}

// announcer is a contract that logs what it is called with: three topics and the rest.
const announcer = "0x60603603" + "6060600037" + "604035" + "602035" + "600035" + "60603603" + "6000" + "a3" + "00"

// announce has a contract say that it launches a token, as the platform's own curve says it.
func (w *testWorld) announce(t *testing.T, contract, token string) {
	t.Helper()
	word := func(v uint64) string { return fmt.Sprintf("%064x", v) }
	address := func(a string) string { return strings.Repeat("0", 24) + strings.TrimPrefix(a, "0x") }
	text := word(1) + hex.EncodeToString([]byte("T")) + strings.Repeat("0", 62)
	topic := hex.EncodeToString(keccak([]byte(
		"TokenLaunched(address,address,string,string,string,address,uint256,uint256,uint256,uint256,uint16)")))
	data := topic + address(token) + address(w.Wallets[0]) +
		word(9*32) + word(11*32) + word(13*32) + address(w.Wrapped) + word(1e18) + word(1e18) + word(1e18) + word(1e18) + word(100) +
		text + text + text
	w.transact(t, w.Wallets[0], contract, data)
}

// transact sends and mines a transaction.
func (w *testWorld) transact(t *testing.T, from, to, data string) {
	t.Helper()
	var sent string
	if err := w.node.Call(t.Context(), &sent, "eth_sendTransaction", map[string]string{
		"from": from, "to": to, "data": "0x" + strings.TrimPrefix(data, "0x"), "gas": "0x5b8d80", "gasPrice": "0x0",
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	var receipt struct{ Status string }
	if err := w.node.Call(t.Context(), &receipt, "eth_getTransactionReceipt", sent); err != nil || receipt.Status != "0x1" {
		t.Fatalf("the transaction to %s: %+v, %v", to, receipt, err)
	}
}

// TestHoldersOfTokensOlderThanTheirLaunch: tokens have holders, and go on being moved, before a venue launches them; one of them
// has a pair and is known. Nothing between is lost, and only what was before the launch is read.
func TestHoldersOfTokensOlderThanTheirLaunch(t *testing.T) {
	t.Parallel()
	for name, states := range map[string]int{"all states": 0, "few states": 48} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, states, 40, venues.Flap)
			const contract = "0x00000000000000000000000000000000000a4040"
			if err := w.node.Call(t.Context(), nil, "anvil_setCode", contract, announcer); err != nil {
				t.Fatal(err)
			}
			cfg := w.config()
			cfg.Tracking.Holders = chainconfig.HoldersDeclared
			cfg.Venues = []chainconfig.Venue{{ID: "announcer", Protocol: chainconfig.VenueProtocol(venues.BoardwalkCurve), Contracts: markettest.Addresses(contract)}}
			m := w.metered(t, cfg)
			st := storetest.Open(t, "sqlite")
			stop := run(t, cfg, st, 0)
			defer stop()
			known, unknown := w.launch(t, w.Venues[0]), w.launch(t, w.Venues[0])
			move := func(first, n int) {
				for _, wallet := range w.Wallets[first : first+n] {
					for _, l := range []*launch.Launch{known, unknown} {
						if _, err := launch.Buy(t.Context(), w.World, l, wallet, big.NewInt(1e16)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			move(10, 4)
			factory := w.Exchanges()[slices.IndexFunc(w.Exchanges(), func(x world.Exchange) bool { return x.Protocol == world.UniswapV2 })]
			address := func(a string) string { return strings.Repeat("0", 24) + strings.TrimPrefix(a, "0x") }
			w.transact(t, w.Wallets[5], factory.Factory, selector("createPair(address,address)")+address(known.Token)+address(w.Wrapped))
			w.trade(t, 40) // the pair's block is final
			w.await(t, st)
			if tok, ok := tokens(t, st)[mustAddress(t, known.Token)]; !ok || tok.Holders.Status != market.HoldersNone {
				t.Fatalf("before its launch the token is %+v", tok)
			}
			move(14, 4) // and these aren't
			latest, err := w.node.Latest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w.announce(t, contract, known.Token)
			w.announce(t, contract, unknown.Token)
			move(18, 2)
			w.awaitHolders(t, st, known.Token, unknown.Token)
			for _, l := range []*launch.Launch{known, unknown} {
				if a := m.about(l.Token); a.ranges == 0 || a.last > latest.Number+1 {
					t.Errorf("%d ranges of logs were asked, the last up to block %d; the first launch is in %d", a.ranges, a.last, latest.Number+1)
				}
			}
		})
	}
}
