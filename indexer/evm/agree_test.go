package evm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// blockNode has a block's logs by what it is asked for how many times, the last of which it repeats: a number of logs, or -1 for
// an error. Its own header's bloom allows everything or nothing.
func blockNode(t *testing.T, h chain.Header, full bool, says ...int) *nodetest.Node {
	t.Helper()
	asked := 0
	return nodetest.New(t, func(method string, _ []json.RawMessage) (string, string) {
		if method == "eth_getBlockByNumber" {
			return blocktest.Header(h.Number, full, "5208"), ""
		}
		n := says[min(asked, len(says)-1)]
		if asked++; n < 0 {
			return "", `{"code":-32000,"message":"no"}`
		}
		return transferLogs(h, []int{0, 1, 2, 3}[:n]...), ""
	})
}

func blockFive(t *testing.T, full bool) chain.Header {
	t.Helper()
	h, err := block.ParseHeader(json.RawMessage(blocktest.Header(5, full, "5208")))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestAgree reads a block from one endpoint, asks the others, and wants the logs that two have.
func TestAgree(t *testing.T) {
	t.Parallel()
	type says []int
	for name, tt := range map[string]struct {
		nodes                     []says
		logs                      int
		changed, agreed, doubtful bool
		outvoted                  []int
	}{
		"two agree":               {nodes: []says{{2}, {2}}, logs: 2, agreed: true},
		"one of three forges":     {nodes: []says{{3}, {2}, {2}}, logs: 2, changed: true, agreed: true, outvoted: []int{0}},
		"another one forges":      {nodes: []says{{2}, {3}, {2}}, logs: 2, agreed: true, outvoted: []int{1}},
		"two differ":              {nodes: []says{{3}, {2}}, logs: 3, doubtful: true},
		"the second fails":        {nodes: []says{{3}, {-1}}, logs: 3},
		"one alone":               {nodes: []says{{3}}, logs: 3},
		"the second was too soon": {nodes: []says{{3}, {2, 3}}, logs: 3, agreed: true},
		"the first was too soon":  {nodes: []says{{2, 3}, {3}}, logs: 3, changed: true, agreed: true},
		"three differ":            {nodes: []says{{1}, {2}, {3}}, logs: 1, doubtful: true},
	} {
		h := blockFive(t, true)
		var urls []string
		for _, n := range tt.nodes {
			urls = append(urls, blockNode(t, h, true, n...).URL)
		}
		var asides []chain.Aside
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause, s.aside = time.Millisecond, func(a chain.Aside) { asides = append(asides, a) }
		r, err := s.Block(t.Context(), h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		changed, err := s.Agree(t.Context(), h, &r)
		if err != nil || changed != tt.changed || r.Agreed != tt.agreed || r.Doubtful != tt.doubtful || len(r.Txs) != tt.logs {
			t.Errorf("%s: changed %v, agreed %v, doubtful %v with %d logs, %v; want %+v", name, changed, r.Agreed, r.Doubtful, len(r.Txs), err, tt)
		}
		if (len(asides) > 0) != (tt.doubtful || len(tt.outvoted) > 0) {
			t.Errorf("%s: told %+v", name, asides)
		}
		for i, e := range s.pool.List {
			want := len(tt.outvoted) > 0 && tt.outvoted[0] == i
			if e.IsDistrusted() != want {
				t.Errorf("%s: endpoint %d is distrusted: %v, want %v", name, i, !want, want)
			}
		}
	}
}

// TestTheBetterRecordWins has two endpoints differ of which one was outvoted before.
func TestTheBetterRecordWins(t *testing.T) {
	t.Parallel()
	h := blockFive(t, true)
	s := sourceOf(t, time.Now, blockNode(t, h, true, 3).URL, blockNode(t, h, true, 2).URL)
	s.rereadPause = time.Millisecond
	r, err := s.Block(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	s.outvoted(s.pool.List[0])
	if !r.Suspect() {
		t.Error("a block of an endpoint that was outvoted since is no suspect")
	}
	changed, err := s.Agree(t.Context(), h, &r)
	if err != nil || !changed || !r.Doubtful || len(r.Txs) != 2 {
		t.Errorf("changed %v to %d logs, doubtful %v, %v; want the second endpoint's 2", changed, len(r.Txs), r.Doubtful, err)
	}
}

// TestLogsThatTheHeaderDenies reads a block whose header, or the one that the logs' endpoint has, allows no logs.
func TestLogsThatTheHeaderDenies(t *testing.T) {
	t.Parallel()
	type node struct {
		says int
		full bool
	}
	for name, tt := range map[string]struct {
		nodes       []node
		logs        int
		headersFail bool
		aside       string
	}{
		"another has none":                  {[]node{{2, false}, {0, false}}, 0, false, chain.Outvoted},
		"the header was the lie":            {[]node{{2, true}, {0, false}}, 2, false, ""},
		"alone":                             {[]node{{2, false}}, 2, false, chain.DeniedLogs},
		"two have them: the chain is so":    {[]node{{2, false}, {2, false}}, 2, true, ""},
		"two have others: nothing is shown": {[]node{{2, false}, {3, false}}, 2, false, chain.DeniedLogs},
		"nobody else answers":               {[]node{{2, false}, {-1, false}}, 2, false, chain.DeniedLogs},
	} {
		h := blockFive(t, false)
		var urls []string
		for _, n := range tt.nodes {
			urls = append(urls, blockNode(t, h, n.full, n.says).URL)
		}
		reason := ""
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause, s.aside = time.Millisecond, func(a chain.Aside) { reason = a.Reason }
		r, err := s.Block(t.Context(), h)
		if err != nil || len(r.Txs) != tt.logs || s.headersFail.Load() != tt.headersFail || reason != tt.aside {
			t.Errorf("%s: %d logs, headers fail %v, told %q, %v; want %+v", name, len(r.Txs), s.headersFail.Load(), reason, err, tt)
		}
	}
}

// TestDigestsTellLogsApart changes each part of a log that counts.
func TestDigestsTellLogsApart(t *testing.T) {
	t.Parallel()
	logs := func() []decode.Log {
		return []decode.Log{{Address: [20]byte{1}, NumTopics: 2, Topics: [4][32]byte{{1}, {2}}, Data: []byte{1, 2}, TxHash: market.Hash{1}, Index: 3}}
	}
	seen := map[[32]byte]string{digestOf(logs()): "nothing", digestOf(nil): "all"}
	for name, change := range map[string]func(l *decode.Log){
		"address": func(l *decode.Log) { l.Address[0]++ }, "topic": func(l *decode.Log) { l.Topics[1][0]++ }, "topics": func(l *decode.Log) { l.NumTopics++ },
		"data": func(l *decode.Log) { l.Data[1]++ }, "length": func(l *decode.Log) { l.Data = l.Data[:1] }, "tx": func(l *decode.Log) { l.TxHash[0]++ },
		"index": func(l *decode.Log) { l.Index++ },
	} {
		l := logs()
		change(&l[0])
		sum := digestOf(l)
		if same, ok := seen[sum]; ok {
			t.Errorf("changing the %s gives the digest of changing the %s", name, same)
		}
		seen[sum] = name
	}
}
