package indexer

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// another serves what a node answers, with each answer of who has a token changed.
func another(t *testing.T, node string, change func([]byte) []byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q, err := http.NewRequestWithContext(r.Context(), http.MethodPost, node, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		q.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		answer, _ := io.ReadAll(resp.Body)
		if bytes.Contains(body, []byte("getProgramAccounts")) {
			answer = change(answer)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// withoutOne is an answer of getProgramAccounts without its first account.
func withoutOne(answer []byte) []byte {
	var a map[string]any
	if json.Unmarshal(answer, &a) != nil {
		return answer
	}
	if result, ok := a["result"].(map[string]any); ok {
		if list, ok := result["value"].([]any); ok && len(list) > 0 {
			result["value"] = list[1:]
		}
	}
	out, _ := json.Marshal(a)
	return out
}

// refused answers that a method isn't served.
func refused([]byte) []byte {
	return []byte(`{"jsonrpc":"2.0","id":0,"error":{"code":-32010,"message":"this node serves no getProgramAccounts"}}`)
}

// wantCounted holds the counted tokens against the chain's accounts.
func (l *localSolana) wantCounted(t *testing.T, st *store.Store) {
	t.Helper()
	for _, token := range l.tokens() {
		rows, err := st.Tokens.Now(t.Context(), []market.Address{addressOfKey(token)})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 1 && rows[0].Holders.Status == market.HoldersCurrent {
			l.wantHolders(t, st, token)
		}
	}
}

// tokens are USDC and the launched ones.
func (l *localSolana) tokens() []svm.Key {
	out := []svm.Key{simnet.USDC}
	for _, c := range l.Curves() {
		out = append(out, c.Token)
	}
	return out
}

// anchored are the tokens that an index counts holders of, and those that it has begun to.
func (l *localSolana) anchored(t *testing.T, st *store.Store) (counted, waiting int) {
	t.Helper()
	var tokens []market.Address
	for _, token := range l.tokens() {
		tokens = append(tokens, addressOfKey(token))
	}
	rows, err := st.Tokens.Now(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		switch rows[i].Holders.Status {
		case market.HoldersCurrent:
			counted++
		case market.HoldersIndexing:
			waiting++
		case market.HoldersNone, market.HoldersUnavailable:
			t.Errorf("%s: %+v", rows[i].Mint, rows[i].Holders)
		}
	}
	return counted, waiting
}

// TestSolanaHolders begins to index a chain at its head, of SPL Token's and Token-2022's tokens that are older: nodes tell who has them. One endpoint leaves accounts
// out, and another refuses to tell; two others decide. After forks and a restart each count is what the chain's accounts say.
func TestSolanaHolders(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 9)
			l.grow(t, 40)
			var lies atomic.Int64
			c := l.config(t)
			c.Start, c.Tracking.Holders, c.ReorgBlocks = chainconfig.Start{Now: true}, chainconfig.HoldersAll, 40
			same := func(text []byte) []byte { return text }
			lie := func(answer []byte) []byte {
				lies.Add(1)
				return withoutOne(answer)
			}
			// The liar stands first and has the greatest weight, so that it is asked among the first two whatever the others' latency is.
			c.Endpoints = append([]chainconfig.Endpoint{{URL: another(t, l.Chain.URL(), lie), Weight: 100}}, c.Endpoints...)
			for _, url := range []string{another(t, l.Chain.URL(), refused), another(t, l.Chain.URL(), same)} {
				c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: url, Weight: 1})
			}
			st := storetest.Open(t, kind)
			end := startSolana(t, st, c)
			l.await(t, st)
			begun, counted, waiting := len(l.Curves()), 0, 0
			for round := range 120 {
				if l.grow(t, 3); round%5 == 4 && round < 40 {
					if err := l.Fork(t.Context(), 1+round%7); err != nil {
						t.Fatal(err)
					}
					l.grow(t, 8)
				}
				if round == 20 {
					end()
					l.grow(t, 5)
					end = startSolana(t, st, c)
				}
				l.await(t, st)
				if counted, waiting = l.anchored(t, st); round >= 40 && waiting == 0 {
					break
				}
				if round >= 40 {
					time.Sleep(500 * time.Millisecond) // nodes are asked beside the loop
				}
			}
			l.wantCounted(t, st)
			end()
			if waiting > 0 || counted <= len(l.Curves())-begun+1 {
				t.Errorf("the holders of %d tokens are counted, and of %d not yet; %d were launched before the index began, of %d", counted, waiting, begun, len(l.Curves()))
			}
			if lies.Load() == 0 {
				t.Error("nobody lied")
			}
		})
	}
}
