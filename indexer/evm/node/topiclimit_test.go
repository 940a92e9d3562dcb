package node

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// watchReads gives a function that says how many bytes of answers are read or decoded now.
func watchReads(reads *rpc.InFlight) func() int64 {
	var used atomic.Int64
	reads.Watch = used.Store
	return used.Load
}

func places(logs []decode.Log) (out []string) {
	for i := range logs {
		out = append(out, fmt.Sprintf("%d/%d", logs[i].Block, logs[i].Index))
	}
	return out
}

// TestATopicLimitIsLearned: an endpoint that takes only so many topics in a filter is asked with several, whose logs are all that there are, in the order
// of the chain. Once it has refused a filter it is sent no other that it has to refuse.
func TestATopicLimitIsLearned(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ topics, filters int }{{1, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {18, 5}} {
		t.Run(strconv.Itoa(tt.topics), func(t *testing.T) {
			t.Parallel()
			n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics, nodetest.ManyLogs(tt.topics)...)
			e := endpointAt(t, n.URL)
			inFlight := watchReads(e.Reads)
			q := LogQuestion{Where: map[string]any{"fromBlock": "0x7", "toBlock": "0x9"}, Topics: nodetest.TopicsTo(tt.topics)}
			var want []string
			for _, l := range n.Logs {
				block, _ := strconv.ParseUint(l.Block, 0, 64)
				index, _ := strconv.ParseUint(l.Index, 0, 64)
				want = append(want, fmt.Sprintf("%d/%d", block, index))
			}
			for round := range 2 {
				n.Asked, n.Refused = nil, 0
				logs, got, err := e.Logs(t.Context(), &q)
				if err != nil {
					t.Fatal(err)
				}
				if have := places(logs); !slices.Equal(have, want) {
					t.Errorf("round %d: the logs are %v, want %v", round, have, want)
				}
				if inFlight() != got.Taken() || got.Taken() == 0 {
					t.Errorf("%d bytes are in flight, and %d are on the reply", inFlight(), got.Taken())
				}
				if got.Done(); inFlight() != 0 {
					t.Errorf("%d bytes stay in flight", inFlight())
				}
				refused := 0
				if round == 0 && tt.topics > 4 {
					refused = 1
				}
				if n.Refused != refused || len(n.Asked) != refused+tt.filters {
					t.Errorf("round %d: %d filters, of which %d were refused; want %d besides %d", round, len(n.Asked), n.Refused, tt.filters, refused)
				}
			}
		})
	}
}

// TestWordsOfTopicLimits has refusals of too many topics, and others.
func TestWordsOfTopicLimits(t *testing.T) {
	t.Parallel()
	for message, most := range map[string]int{ // how many topics a filter has after one of 18; 0: it isn't about them
		"invalid params: at most 4 topics":                    4,
		"too many topics":                                     9,
		"too many topics: max 4, got 18":                      4,
		"exceed max topics":                                   9,
		"exceeds the maximum number of topics (4)":            4,
		"cannot have more than 4 topics in a filter":          4,
		"topics limit exceeded: 18 > 4":                       4,
		"number of filter topics must not exceed 4":           4,
		"1 filter has at most 4 topics":                       4,
		"only 4 topics are allowed":                           4,
		"too many log topics":                                 9,
		"query exceeds max block range 50":                    0,
		"query returned more than 10000 results":              0,
		"more than 10000 results, narrow the topics":          0,
		"eth_getLogs needs an address or topics":              0,
		"invalid topic 0x12":                                  0,
		"topics: block range limit exceeded":                  0,
		"rate limit exceeded: too many topics per second":     0,
		"max results 20000 for these topics, limit the range": 0,
		"limit exceeded":                                      0,
	} {
		e := &Endpoint{}
		if learnt := e.LearnTopics(&rpc.NodeError{Code: -32602, Message: message}, 18); learnt != (most > 0) || e.topicsLen != most {
			t.Errorf("%q: %v, and filters of %d topics; want %d", message, learnt, e.topicsLen, most)
		}
	}
	e := &Endpoint{}
	for _, err := range []error{nil, rpc.ErrTooLong, rpc.StatusError{Code: http.StatusBadRequest}, errors.New("too many topics")} {
		if e.LearnTopics(err, 18) {
			t.Errorf("%v is taken for a refusal of topics", err)
		}
	}
}

// TestALimitWithoutANumber is found by halving.
func TestALimitWithoutANumber(t *testing.T) {
	t.Parallel()
	n := nodetest.NewLogNode(t, 4, "exceed max topics", nodetest.ManyLogs(18)...)
	e := endpointAt(t, n.URL)
	logs, _, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(18)})
	if err != nil || len(logs) != len(n.Logs) || e.topicsLen != 4 || n.Refused != 2 {
		t.Errorf("%d logs of %d, %v; filters of %d topics after %d refusals", len(logs), len(n.Logs), err, e.topicsLen, n.Refused)
	}
}

// TestWordsThatAreNotAboutTopics: a node that refuses a filter of one topic in the same words means something else. It is asked with one filter again.
func TestWordsThatAreNotAboutTopics(t *testing.T) {
	t.Parallel()
	n := nodetest.NewLogNode(t, -1, "")
	refuse := true
	n.Answer = func(method string, params []json.RawMessage) (string, string) {
		if refuse && method == "eth_getLogs" {
			n.Refused++
			return "", `{"code":-32000,"message":"too many topics"}`
		}
		return n.GetLogs(t, params[0])
	}
	e := endpointAt(t, n.URL)
	q := LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(8)}
	for round, want := range []int{4, 1} { // 8, 4, 2, 1; then 8 alone
		n.Refused = 0
		if _, _, err := e.Logs(t.Context(), &q); err == nil || n.Refused != want {
			t.Errorf("round %d: %v after %d refusals, want %d", round, err, n.Refused, want)
		}
	}
	refuse, n.Asked = false, nil
	if _, _, err := e.Logs(t.Context(), &q); err != nil || len(n.Asked) != 1 {
		t.Errorf("then %v, with %d filters", err, len(n.Asked))
	}
}

// TestAPartWithoutLogsIsAskedForAgain: a node that gets a block's logs between two filters doesn't have the index lose those of the first one. Parts of
// which the header says that there are none aren't asked for again.
func TestAPartWithoutLogsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arrive, filters, logs int // with which filter the logs are there, and what comes of it
		mayHold               func(topics [][32]byte) bool
	}{
		"all there":                    {1, 3, 9, nil},
		"after the first filter":       {2, 4, 9, nil},
		"after the second filter":      {3, 5, 9, nil},
		"after the last one":           {4, 3, 0, nil}, // whoever reads an empty answer asks again
		"and the header has some":      {3, 5, 9, func([][32]byte) bool { return true }},
		"and the header has none":      {1, 3, 9, func([][32]byte) bool { return false }},
		"and the header has some more": {2, 4, 9, func(part [][32]byte) bool { return slices.Contains(part, nodetest.TopicNo(0)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics)
			there := nodetest.ManyLogs(9)[:9]
			n.Before = func(asked int, _ []string) {
				if asked >= tt.arrive {
					n.Logs = there
				}
			}
			e := endpointAt(t, n.URL)
			inFlight := watchReads(e.Reads)
			e.topicsLen = 4
			logs, got, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(9), MayHold: tt.mayHold})
			if err != nil || len(logs) != tt.logs || len(n.Asked) != tt.filters {
				t.Errorf("%d logs and %v after %d filters; want %d after %d", len(logs), err, len(n.Asked), tt.logs, tt.filters)
			}
			if got.Done(); inFlight() != 0 {
				t.Errorf("%d bytes stay in flight", inFlight())
			}
		})
	}
	t.Run("a quiet topic", func(t *testing.T) {
		t.Parallel()
		n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics, nodetest.LogOf(nodetest.TopicNo(0), 7, 0))
		e := endpointAt(t, n.URL)
		e.topicsLen = 4
		for _, want := range []int{4, 2} { // the second part twice, or once where the header has none of it
			n.Asked = nil
			q := LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(8), MayHold: func([][32]byte) bool { return want == 4 }}
			if _, _, err := e.Logs(t.Context(), &q); err != nil || len(n.Asked) != min(want, 3) {
				t.Errorf("%v after %d filters, want %d", err, len(n.Asked), min(want, 3))
			}
		}
	})
}

// TestOnePartFails: what a part is refused for is the question's refusal, the rest of the answer is given back, and of a rate's refusal that part alone is
// asked for again.
func TestOnePartFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says    string
		filters int
		err     bool
	}{
		"a range that is too wide": {`{"code":-32602,"message":"query exceeds max block range 50"}`, 2, true},
		"the rate":                 {`{"code":-32005,"message":"rate limited"}`, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics, nodetest.ManyLogs(9)...)
			asked := 0
			n.Answer = func(method string, params []json.RawMessage) (string, string) {
				if asked++; asked == 2 {
					n.Asked = append(n.Asked, nil)
					return "", tt.says
				}
				return n.GetLogs(t, params[0])
			}
			e := endpointAt(t, n.URL)
			inFlight := watchReads(e.Reads)
			e.topicsLen = 4
			logs, got, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(9)})
			if (err != nil) != tt.err || len(n.Asked) != tt.filters || err == nil && len(logs) != len(n.Logs) {
				t.Errorf("%d logs of %d, %v after %d filters; want %d", len(logs), len(n.Logs), err, len(n.Asked), tt.filters)
			}
			if got.Done(); inFlight() != 0 {
				t.Errorf("%d bytes stay in flight", inFlight())
			}
		})
	}
}

// TestANodeThatIgnoresTopics gives the same logs to each filter. They aren't taken as often.
func TestANodeThatIgnoresTopics(t *testing.T) {
	t.Parallel()
	n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics)
	n.Answer = func(string, []json.RawMessage) (string, string) {
		all, _ := json.Marshal(nodetest.ManyLogs(9))
		return string(all), ""
	}
	e := endpointAt(t, n.URL)
	inFlight := watchReads(e.Reads)
	e.topicsLen = 4
	if logs, _, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Topics: nodetest.TopicsTo(9)}); !errors.Is(err, rpc.ErrGarbage) || inFlight() != 0 {
		t.Errorf("%d logs, %v; %d bytes in flight", len(logs), err, inFlight())
	}
}

// TestDisorderStaysVisible: lists that are out of order are so when they are put together, so that whoever reads a range refuses them.
func TestDisorderStaysVisible(t *testing.T) {
	t.Parallel()
	at := func(list ...uint64) (out []decode.Log) {
		for _, b := range list {
			out = append(out, decode.Log{Block: b})
		}
		return out
	}
	isInOrder := func(lists [][]decode.Log) bool {
		return slices.IsSortedFunc(merged(lists), func(a, b decode.Log) int { return cmp.Compare(a.Block, b.Block) })
	}
	if !isInOrder([][]decode.Log{at(7, 7, 9), at(7, 8), nil}) {
		t.Error("lists in order are put together out of order")
	}
	for name, lists := range map[string][][]decode.Log{"first": {at(8, 7), at(7, 9)}, "second": {at(7, 9), at(9, 8)}} {
		if isInOrder(lists) {
			t.Errorf("%s: the list out of order is put in order", name)
		}
	}
}

// TestCreationsOfPoolsWithinALimit: an event's own topic counts as one, so that a filter of four has three pools.
func TestCreationsOfPoolsWithinALimit(t *testing.T) {
	t.Parallel()
	var logs []nodetest.Log
	for i := range 7 {
		logs = append(logs, nodetest.LogOf(decode.TopicV4Initialize, 7, i, nodetest.TopicText(nodetest.TopicNo(i))))
	}
	n := nodetest.NewLogNode(t, 4, nodetest.AtMostTopics, logs...)
	e := endpointAt(t, n.URL)
	got, _, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Event: decode.TopicV4Initialize, Topics: nodetest.TopicsTo(7)})
	if err != nil || len(got) != 7 || len(n.Asked) != 4 {
		t.Errorf("%d logs of 7 and %v, with %v", len(got), err, n.Asked)
	}
	for _, asked := range n.Asked[1:] {
		if len(asked) > 4 || asked[0] != nodetest.TopicText(decode.TopicV4Initialize) {
			t.Errorf("a filter has %v", asked)
		}
	}
	// A node that takes one topic can't be asked for a pool by its event.
	n.Most, e.topicsLen, n.Asked = 1, 0, nil
	if _, _, err := e.Logs(t.Context(), &LogQuestion{Where: map[string]any{}, Event: decode.TopicV4Initialize, Topics: nodetest.TopicsTo(7)}); err == nil || len(n.Asked) > 3 {
		t.Errorf("%v after %d filters", err, len(n.Asked))
	}
}

// TestQuestionsAreTheCallersOwn: a question is asked of one endpoint after the other, so that no filter may change it.
func TestQuestionsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	q := LogQuestion{Where: map[string]any{"blockHash": "0x1"}, Topics: nodetest.TopicsTo(5)}
	before := maps.Clone(q.Where)
	q.Params(q.Topics[:4])
	if !maps.Equal(q.Where, before) {
		t.Errorf("the question is %v", q.Where)
	}
}

// endpointAt is the endpoint of a chain at an address.
func endpointAt(t *testing.T, url string) *Endpoint {
	t.Helper()
	pool, err := NewPool(&chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, Endpoints: []chainconfig.Endpoint{{URL: url, Weight: 1}},
	}, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return pool.List[0]
}
