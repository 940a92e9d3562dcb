package contracts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// tokenNode answers calls of a token: decimals and supply, which are words, or -1 for a refusal. Where the state is gone it answers for its
// newest block alone.
type tokenNode struct {
	decimals, supply int
	gone             bool
}

// lateNode doesn't have block 5 yet, nor the contract.
var lateNode = tokenNode{decimals: -3}

// silent is a node that never answers a call.
var silent = tokenNode{decimals: -2}

// start gives the node's URL; asked counts the batches of calls that a silent one was sent.
func (n tokenNode) start(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	if n == silent {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), "eth_call") {
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":"0x1"}`)
				return
			}
			asked.Add(1)
			<-r.Context().Done()
		}))
		t.Cleanup(s.Close)
		return s.URL, asked
	}
	return nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		if method != "eth_call" || len(params) < 2 {
			return "null", ""
		}
		if n.gone && string(params[1]) != `"latest"` {
			return "", `{"code":-32000,"message":"missing trie node"}`
		}
		if n == lateNode {
			if string(params[1]) == `"latest"` {
				return `"0x"`, ""
			}
			return "", `{"code":-32000,"message":"header not found"}`
		}
		value := -1
		switch q := string(params[0]); {
		case strings.Contains(q, callDecimals):
			value = n.decimals
		case strings.Contains(q, ethcall.TotalSupply):
			value = n.supply
		}
		if value < 0 {
			return "", `{"code":3,"message":"execution reverted"}`
		}
		return fmt.Sprintf(`"0x%064x"`, value), ""
	}).URL, asked
}

// startPatient is a source of nodes that gives each of them all the time that it takes to vouch, but for a silent one, whose time is over once it was
// asked. A busy machine may take longer than the default to pass an honest node's answer on, and then the node would count as silent.
func startPatient(t *testing.T, now func() time.Time, nodes ...tokenNode) (s *source, silentAsked *atomic.Int64) {
	t.Helper()
	var urls []string
	silentAsked = new(atomic.Int64)
	for _, n := range nodes {
		url, asked := n.start(t)
		urls = append(urls, url)
		if n == silent {
			silentAsked = asked
		}
	}
	s = sourceOf(t, now, urls...)
	s.within = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		before := silentAsked.Load()
		go func() {
			if wait.Until(ctx, time.Millisecond, func() bool { return silentAsked.Load() > before }) {
				cancel()
			}
		}()
		return ctx, cancel
	}
	return s, silentAsked
}

// unhurried gives an endpoint all the time that it takes to vouch.
func unhurried(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// TestTwoVouchForATokensFacts asks endpoints for a token's decimals and supply.
func TestTwoVouchForATokensFacts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes            []tokenNode
		decimals, supply int // -1 is none
		unsure           bool
		told             string
	}{
		"one alone":                        {nodes: []tokenNode{{3, 7, false}}, decimals: 3, supply: 7},
		"two agree":                        {nodes: []tokenNode{{18, 7, false}, {18, 7, false}}, decimals: 18, supply: 7},
		"the first of three lies":          {nodes: []tokenNode{{3, 7, false}, {18, 7, false}, {18, 7, false}}, decimals: 18, supply: 7, told: chain.CallContradicted},
		"the second of three lies":         {nodes: []tokenNode{{18, 7, false}, {3, 8, false}, {18, 7, false}}, decimals: 18, supply: 7, told: chain.CallContradicted},
		"the first denies decimals":        {nodes: []tokenNode{{-1, 7, false}, {18, 7, false}, {18, 7, false}}, decimals: 18, supply: 7, told: chain.CallContradicted},
		"two differ":                       {nodes: []tokenNode{{3, 7, false}, {18, 7, false}}, decimals: 3, supply: 7, unsure: true, told: chain.EndpointsDiffer},
		"two differ in the supply":         {nodes: []tokenNode{{18, 7, false}, {18, 8, false}}, decimals: 18, supply: 7, unsure: true, told: chain.EndpointsDiffer},
		"the second is silent":             {nodes: []tokenNode{{18, 7, false}, silent}, decimals: 18, supply: 7, unsure: true},
		"the second of three is silent":    {nodes: []tokenNode{{18, 7, false}, silent, {18, 7, false}}, decimals: 18, supply: 7},
		"the second has no state":          {nodes: []tokenNode{{18, 7, false}, {18, 9, true}}, decimals: 18, supply: 7},
		"the liar alone has the state":     {nodes: []tokenNode{{3, 7, false}, {18, 9, true}, {18, 9, true}}, decimals: 18, supply: 7, told: chain.CallContradicted},
		"the second has no state, differs": {nodes: []tokenNode{{18, 7, false}, {3, 9, true}}, decimals: 18, supply: 7, unsure: true},
		"the others are late":              {nodes: []tokenNode{{18, 7, false}, lateNode, lateNode}, decimals: 18, supply: 7, unsure: true},
		"nobody has the state":             {nodes: []tokenNode{{18, 7, true}, {18, 7, true}}, decimals: 18, supply: -1},
		"neither has decimals":             {nodes: []tokenNode{{-1, -1, false}, {-1, -1, false}}, decimals: -1, supply: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := startPatient(t, time.Now, tt.nodes...)
			told := ""
			s.aside = func(a chain.Aside) { told = a.Reason }
			facts, unsure, err := s.Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
			if err != nil {
				t.Fatal(err)
			}
			want := market.TokenFact{Token: tokenAt(1)}
			if tt.decimals >= 0 {
				want.HasDecimals, want.Decimals = true, uint8(tt.decimals)
			}
			if tt.supply >= 0 {
				want.HasSupply = true
				want.Supply.SetUint64(uint64(tt.supply))
			}
			if facts[0] != want || unsure[0] != tt.unsure || told != tt.told {
				t.Errorf("%+v, unsure %v, told %q; want %+v, %v, %q", facts[0], unsure[0], told, want, tt.unsure, tt.told)
			}
			for _, e := range s.pool.List {
				if e.IsDistrusted() {
					t.Errorf("%s is distrusted for a contract's answer", e.Name)
				}
			}
		})
	}
}

// TestTheBetterRecordDecidesFacts has two endpoints differ of which the first was outvoted before.
func TestTheBetterRecordDecidesFacts(t *testing.T) {
	t.Parallel()
	s, _ := startPatient(t, time.Now, tokenNode{3, 7, false}, tokenNode{18, 7, false})
	s.pool.List[0].Outvote()
	facts, unsure, err := s.Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
	if err != nil || facts[0].Decimals != 18 || !unsure[0] {
		t.Errorf("%+v, unsure %v, %v; want the decimals of the endpoint that nobody contradicted, and unsure", facts[0], unsure, err)
	}
}

// TestASlowEndpointIsLeftAlone has an endpoint take too long to vouch: it isn't asked again for a while.
func TestASlowEndpointIsLeftAlone(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	honest, _ := tokenNode{18, 7, false}.start(t)
	slow, asked := silent.start(t)
	s := sourceOf(t, func() time.Time { return now }, honest, slow)
	s.vouchTime = time.Second
	ask := func() (batches int64) {
		t.Helper()
		_, unsure, err := s.Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
		if err != nil || !unsure[0] {
			t.Fatalf("unsure %v, %v", unsure, err)
		}
		return asked.Load()
	}
	first := ask()
	if second := ask(); first == 0 || second != first {
		t.Errorf("asked for %d batches, and then for %d", first, second-first)
	}
	now = now.Add(9 * s.vouchTime)
	if third := ask(); third == first {
		t.Error("not asked again after the pause")
	}
}

// contractNode answers calls by contract and function (the first 10 characters of the data); what isn't listed reverts.
func contractNode(t *testing.T, answers map[string]market.Address) *nodetest.Node {
	t.Helper()
	return nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		var asked struct{ To, Data string }
		if err := json.Unmarshal(params[0], &asked); err != nil {
			t.Error(err)
		}
		a, ok := answers[asked.To+" "+asked.Data[:10]]
		if !ok {
			return "", `{"code":3,"message":"execution reverted"}`
		}
		return `"0x` + word(a) + `"`, ""
	})
}

// TestTwoVouchForAPool asks three endpoints, the first of which lies, what pool a contract is.
func TestTwoVouchForAPool(t *testing.T) {
	t.Parallel()
	pool, factory, a, b, c := tokenAt(1), tokenAt(2), tokenAt(3), tokenAt(4), tokenAt(5)
	answers := func(factoryOf, token1, confirmed market.Address) map[string]market.Address {
		return map[string]market.Address{
			pool.String() + " " + callFactory: factoryOf, pool.String() + " " + callToken0: a, pool.String() + " " + callToken1: token1,
			factory.String() + " " + callGetPair: confirmed,
		}
	}
	honest := answers(factory, b, pool)
	none := map[string]market.Address{}
	of := func(token1 market.Address) market.PoolFact {
		return market.PoolFact{Pool: pool, Known: true, Info: market.PoolCreated{
			Protocol: market.UniswapV2, Factory: factory, Pool: pool, Token0: a, Token1: token1,
		}}
	}
	undeclared := market.PoolFact{Pool: pool, Reason: undeclaredFactory}
	for name, tt := range map[string]struct {
		nodes  []map[string]market.Address
		want   market.PoolFact
		unsure bool
	}{
		"all agree":                        {nodes: []map[string]market.Address{honest, honest, honest}, want: of(b)},
		"another token":                    {nodes: []map[string]market.Address{answers(factory, c, pool), honest, honest}, want: of(b)},
		"a pool that is none":              {nodes: []map[string]market.Address{honest, answers(tokenAt(9), b, pool), answers(tokenAt(9), b, pool)}, want: undeclared},
		"a pool that its factory denies":   {nodes: []map[string]market.Address{honest, answers(factory, b, c), answers(factory, b, c)}, want: market.PoolFact{Pool: pool, Reason: "its factory does not know it"}},
		"a factory that isn't declared":    {nodes: []map[string]market.Address{answers(tokenAt(9), b, pool), honest, honest}, want: of(b)},
		"tokens that don't count":          {nodes: []map[string]market.Address{answers(factory, tokenAt(9), pool), honest, honest}, want: of(b)},
		"no pool at all":                   {nodes: []map[string]market.Address{none, honest, honest}, want: of(b)},
		"two differ about what it is":      {nodes: []map[string]market.Address{honest, none}, want: of(b), unsure: true},
		"two differ about whether it is":   {nodes: []map[string]market.Address{none, honest}, want: market.PoolFact{Pool: pool, Reason: "it answers no factory or tokens"}, unsure: true},
		"nobody else says that it is none": {nodes: []map[string]market.Address{none, nil}, want: market.PoolFact{Pool: pool, Reason: "it answers no factory or tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, answers := range tt.nodes {
				n := contractNode(t, answers)
				if urls = append(urls, n.URL); answers == nil {
					n.Close()
				}
			}
			s := sourceOf(t, time.Now, urls...)
			s.within = unhurried
			exchanges := []chainconfig.Exchange{{Name: "X", Protocol: market.UniswapV2, Factory: factory}}
			facts, unsure, err := s.Contracts().PoolFacts(t.Context(), chain.Ref{Number: 5}, exchanges, []market.Address{pool}, func(f market.PoolFact) bool {
				return f.Known && f.Info.Token1 != tokenAt(9)
			})
			if err != nil || facts[0] != tt.want || unsure[0] != tt.unsure {
				t.Errorf("%+v, unsure %v, %v; want %+v, %v", facts, unsure, err, tt.want, tt.unsure)
			}
		})
	}
}

// TestStrangersHaveFewCallsVouchedFor counts the calls that a contract costs which swaps like a pool and is none.
func TestStrangersHaveFewCallsVouchedFor(t *testing.T) {
	t.Parallel()
	contract := tokenAt(1)
	for name, tt := range map[string]struct {
		answers map[string]market.Address
		calls   int
	}{
		"of another factory": {map[string]market.Address{
			contract.String() + " " + callFactory: tokenAt(9), contract.String() + " " + callToken0: tokenAt(3), contract.String() + " " + callToken1: tokenAt(4),
			contract.String() + " " + callFee: tokenAt(1), contract.String() + " " + callTickSpacing: tokenAt(1), contract.String() + " " + callStable: tokenAt(1),
		}, 1},
		"that has no pool's functions": {nil, 3},
	} {
		first, second := contractNode(t, tt.answers), contractNode(t, tt.answers)
		s := sourceOf(t, time.Now, first.URL, second.URL)
		s.within = unhurried
		facts, unsure, err := s.Contracts().PoolFacts(t.Context(), chain.Ref{Number: 5}, nil, []market.Address{contract}, func(f market.PoolFact) bool { return f.Known })
		if err != nil || facts[0].Known || unsure[0] || first.Count("eth_call") != len(poolCalls) || second.Count("eth_call") != tt.calls {
			t.Errorf("%s: %+v, unsure %v, %v; the first was asked %d times, the second %d, want %d", name, facts, unsure, err, first.Count("eth_call"),
				second.Count("eth_call"), tt.calls)
		}
	}
}
