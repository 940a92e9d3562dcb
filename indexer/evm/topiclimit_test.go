package evm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// watchReads gives a function that says how many bytes of answers are read or decoded now.
func watchReads(reads *rpc.InFlight) func() int64 {
	var used atomic.Int64
	reads.Watch = used.Store
	return used.Load
}

// logNode answers eth_getLogs from logs of its own, and refuses filters of more topics than it takes.
type logNode struct {
	*fakeNode
	logs []nodeLog
	// most is how many topics a filter may have, 0 any number; refusal is what is said to others, with the number asked for as %[1]d and most as %[2]d.
	most    int
	refusal string
	// before is told of each filter before it is answered, with its topics; it may be nil.
	before func(asked int, topics []string)
	// asked has the topics of each filter, refused how many of them were refused.
	asked   [][]string
	refused int
}

func newLogNode(t *testing.T, most int, refusal string, logs ...nodeLog) *logNode {
	t.Helper()
	n := &logNode{most: most, refusal: refusal, logs: logs}
	n.fakeNode = newFakeNode(t, func(method string, params []json.RawMessage) (result, refusal string) {
		if method != "eth_getLogs" {
			return `"0x1"`, ""
		}
		return n.getLogs(t, params[0])
	})
	return n
}

func (n *logNode) getLogs(t *testing.T, raw json.RawMessage) (result, refusal string) {
	t.Helper()
	var q struct {
		BlockHash *string
		Topics    []json.RawMessage
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		t.Error(err)
	}
	var all []string
	places := make([][]string, len(q.Topics))
	for i, raw := range q.Topics {
		if json.Unmarshal(raw, &places[i]) != nil {
			places[i] = []string{""}
			_ = json.Unmarshal(raw, &places[i][0])
		}
		all = append(all, places[i]...)
	}
	n.asked = append(n.asked, all)
	if n.before != nil {
		n.before(len(n.asked), all)
	}
	if n.most > 0 && len(all) > n.most {
		n.refused++
		return "", fmt.Sprintf(`{"code":-32602,"message":%q}`, said(n.refusal, len(all), n.most))
	}
	out := []nodeLog{}
	for _, l := range n.logs {
		fits := q.BlockHash == nil || *q.BlockHash == l.BlockHash
		for i, p := range places {
			fits = fits && len(l.Topics) > i && slices.Contains(p, l.Topics[i])
		}
		if fits {
			out = append(out, l)
		}
	}
	answer, err := json.Marshal(out)
	if err != nil {
		t.Error(err)
	}
	return string(answer), ""
}

// said is a refusal with its numbers, if it names any.
func said(text string, asked, most int) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, asked, most)
}

// topicNo is a topic of a test.
func topicNo(i int) (t [32]byte) {
	binary.BigEndian.PutUint64(t[24:], uint64(i+1))
	return t
}

// nodeLog is a log as a node answers it.
type nodeLog struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     string   `json:"blockNumber"`
	TxHash    string   `json:"transactionHash"`
	TxIndex   string   `json:"transactionIndex"`
	BlockHash string   `json:"blockHash"`
	Index     string   `json:"logIndex"`
}

func topicsTo(n int) (out [][32]byte) {
	for i := range n {
		out = append(out, topicNo(i))
	}
	return out
}

func logOf(topic [32]byte, block, index int, further ...string) nodeLog {
	return nodeLog{
		Address: "0x" + strings.Repeat("ab", 20), Topics: append([]string{topicText(topic)}, further...), Data: "0x", Block: rpc.HexQuantity(uint64(block)),
		TxHash: "0x" + strings.Repeat("cd", 32), TxIndex: "0x0", BlockHash: "0x" + strings.Repeat("ef", 32), Index: rpc.HexQuantity(uint64(index)),
	}
}

// manyLogs are logs of several blocks whose topics alternate, so that each filter has some of each block.
func manyLogs(topics int) (out []nodeLog) {
	for block := range 3 {
		for index := range 2 * topics {
			out = append(out, logOf(topicNo((index*7+block)%topics), 7+block, index))
		}
	}
	return out
}

func places(logs []decode.Log) (out []string) {
	for i := range logs {
		out = append(out, fmt.Sprintf("%d/%d", logs[i].Block, logs[i].Index))
	}
	return out
}

const atMostTopics = "invalid params: at most %[2]d topics"

// TestATopicLimitIsLearned: an endpoint that takes only so many topics in a filter is asked with several, whose logs are all that there are, in the order
// of the chain. Once it has refused a filter it is sent no other that it has to refuse.
func TestATopicLimitIsLearned(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ topics, filters int }{{1, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {18, 5}} {
		t.Run(strconv.Itoa(tt.topics), func(t *testing.T) {
			t.Parallel()
			n := newLogNode(t, 4, atMostTopics, manyLogs(tt.topics)...)
			e := sourceOf(t, time.Now, n.URL).pool.List[0]
			inFlight := watchReads(e.Reads)
			q := logQuestion{where: map[string]any{"fromBlock": "0x7", "toBlock": "0x9"}, topics: topicsTo(tt.topics)}
			var want []string
			for _, l := range n.logs {
				block, _ := strconv.ParseUint(l.Block, 0, 64)
				index, _ := strconv.ParseUint(l.Index, 0, 64)
				want = append(want, fmt.Sprintf("%d/%d", block, index))
			}
			for round := range 2 {
				n.asked, n.refused = nil, 0
				logs, got, err := e.logs(t.Context(), &q)
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
				if n.refused != refused || len(n.asked) != refused+tt.filters {
					t.Errorf("round %d: %d filters, of which %d were refused; want %d besides %d", round, len(n.asked), n.refused, tt.filters, refused)
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
		e := &endpoint{}
		if learnt := e.learnTopics(&rpc.NodeError{Code: -32602, Message: message}, 18); learnt != (most > 0) || e.topicsLen != most {
			t.Errorf("%q: %v, and filters of %d topics; want %d", message, learnt, e.topicsLen, most)
		}
	}
	e := &endpoint{}
	for _, err := range []error{nil, rpc.ErrTooLong, rpc.StatusError{Code: http.StatusBadRequest}, errors.New("too many topics")} {
		if e.learnTopics(err, 18) {
			t.Errorf("%v is taken for a refusal of topics", err)
		}
	}
}

// TestALimitWithoutANumber is found by halving.
func TestALimitWithoutANumber(t *testing.T) {
	t.Parallel()
	n := newLogNode(t, 4, "exceed max topics", manyLogs(18)...)
	e := sourceOf(t, time.Now, n.URL).pool.List[0]
	logs, _, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, topics: topicsTo(18)})
	if err != nil || len(logs) != len(n.logs) || e.topicsLen != 4 || n.refused != 2 {
		t.Errorf("%d logs of %d, %v; filters of %d topics after %d refusals", len(logs), len(n.logs), err, e.topicsLen, n.refused)
	}
}

// TestWordsThatAreNotAboutTopics: a node that refuses a filter of one topic in the same words means something else. It is asked with one filter again.
func TestWordsThatAreNotAboutTopics(t *testing.T) {
	t.Parallel()
	n := newLogNode(t, -1, "")
	refuse := true
	n.answer = func(method string, params []json.RawMessage) (string, string) {
		if refuse && method == "eth_getLogs" {
			n.refused++
			return "", `{"code":-32000,"message":"too many topics"}`
		}
		return n.getLogs(t, params[0])
	}
	e := sourceOf(t, time.Now, n.URL).pool.List[0]
	q := logQuestion{where: map[string]any{}, topics: topicsTo(8)}
	for round, want := range []int{4, 1} { // 8, 4, 2, 1; then 8 alone
		n.refused = 0
		if _, _, err := e.logs(t.Context(), &q); err == nil || n.refused != want {
			t.Errorf("round %d: %v after %d refusals, want %d", round, err, n.refused, want)
		}
	}
	refuse, n.asked = false, nil
	if _, _, err := e.logs(t.Context(), &q); err != nil || len(n.asked) != 1 {
		t.Errorf("then %v, with %d filters", err, len(n.asked))
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
		"and the header has some more": {2, 4, 9, func(part [][32]byte) bool { return slices.Contains(part, topicNo(0)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newLogNode(t, 4, atMostTopics)
			there := manyLogs(9)[:9]
			n.before = func(asked int, _ []string) {
				if asked >= tt.arrive {
					n.logs = there
				}
			}
			e := sourceOf(t, time.Now, n.URL).pool.List[0]
			inFlight := watchReads(e.Reads)
			e.topicsLen = 4
			logs, got, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, topics: topicsTo(9), mayHold: tt.mayHold})
			if err != nil || len(logs) != tt.logs || len(n.asked) != tt.filters {
				t.Errorf("%d logs and %v after %d filters; want %d after %d", len(logs), err, len(n.asked), tt.logs, tt.filters)
			}
			if got.Done(); inFlight() != 0 {
				t.Errorf("%d bytes stay in flight", inFlight())
			}
		})
	}
	t.Run("a quiet topic", func(t *testing.T) {
		t.Parallel()
		n := newLogNode(t, 4, atMostTopics, logOf(topicNo(0), 7, 0))
		e := sourceOf(t, time.Now, n.URL).pool.List[0]
		e.topicsLen = 4
		for _, want := range []int{4, 2} { // the second part twice, or once where the header has none of it
			n.asked = nil
			q := logQuestion{where: map[string]any{}, topics: topicsTo(8), mayHold: func([][32]byte) bool { return want == 4 }}
			if _, _, err := e.logs(t.Context(), &q); err != nil || len(n.asked) != min(want, 3) {
				t.Errorf("%v after %d filters, want %d", err, len(n.asked), min(want, 3))
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
			n := newLogNode(t, 4, atMostTopics, manyLogs(9)...)
			asked := 0
			n.answer = func(method string, params []json.RawMessage) (string, string) {
				if asked++; asked == 2 {
					n.asked = append(n.asked, nil)
					return "", tt.says
				}
				return n.getLogs(t, params[0])
			}
			e := sourceOf(t, time.Now, n.URL).pool.List[0]
			inFlight := watchReads(e.Reads)
			e.topicsLen = 4
			logs, got, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, topics: topicsTo(9)})
			if (err != nil) != tt.err || len(n.asked) != tt.filters || err == nil && len(logs) != len(n.logs) {
				t.Errorf("%d logs of %d, %v after %d filters; want %d", len(logs), len(n.logs), err, len(n.asked), tt.filters)
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
	n := newLogNode(t, 4, atMostTopics)
	n.answer = func(string, []json.RawMessage) (string, string) {
		all, _ := json.Marshal(manyLogs(9))
		return string(all), ""
	}
	e := sourceOf(t, time.Now, n.URL).pool.List[0]
	inFlight := watchReads(e.Reads)
	e.topicsLen = 4
	if logs, _, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, topics: topicsTo(9)}); !errors.Is(err, rpc.ErrGarbage) || inFlight() != 0 {
		t.Errorf("%d logs, %v; %d bytes in flight", len(logs), err, inFlight())
	}
}

// TestDisorderStaysVisible: lists that are out of order are so when they are put together, and whoever reads a range refuses them.
func TestDisorderStaysVisible(t *testing.T) {
	t.Parallel()
	at := func(list ...uint64) (out []decode.Log) {
		for _, b := range list {
			out = append(out, decode.Log{Block: b})
		}
		return out
	}
	last := &chain.Header{}
	last.Number = 9
	if err := areOfRange(merged([][]decode.Log{at(7, 7, 9), at(7, 8), nil}), 7, last); err != nil {
		t.Errorf("lists in order are refused: %v", err)
	}
	for name, lists := range map[string][][]decode.Log{"first": {at(8, 7), at(7, 9)}, "second": {at(7, 9), at(9, 8)}} {
		if err := areOfRange(merged(lists), 7, last); !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCreationsOfPoolsWithinALimit: an event's own topic counts as one, so that a filter of four has three pools.
func TestCreationsOfPoolsWithinALimit(t *testing.T) {
	t.Parallel()
	var logs []nodeLog
	for i := range 7 {
		logs = append(logs, logOf(decode.TopicV4Initialize, 7, i, topicText(topicNo(i))))
	}
	n := newLogNode(t, 4, atMostTopics, logs...)
	e := sourceOf(t, time.Now, n.URL).pool.List[0]
	got, _, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, event: decode.TopicV4Initialize, topics: topicsTo(7)})
	if err != nil || len(got) != 7 || len(n.asked) != 4 {
		t.Errorf("%d logs of 7 and %v, with %v", len(got), err, n.asked)
	}
	for _, asked := range n.asked[1:] {
		if len(asked) > 4 || asked[0] != topicText(decode.TopicV4Initialize) {
			t.Errorf("a filter has %v", asked)
		}
	}
	// A node that takes one topic can't be asked for a pool by its event.
	n.most, e.topicsLen, n.asked = 1, 0, nil
	if _, _, err := e.logs(t.Context(), &logQuestion{where: map[string]any{}, event: decode.TopicV4Initialize, topics: topicsTo(7)}); err == nil || len(n.asked) > 3 {
		t.Errorf("%v after %d filters", err, len(n.asked))
	}
}

// TestQuestionsAreTheCallersOwn: a question is asked of one endpoint after the other, so that no filter may change it.
func TestQuestionsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	q := logQuestion{where: map[string]any{"blockHash": "0x1"}, topics: topicsTo(5)}
	before := maps.Clone(q.where)
	q.params(q.topics[:4])
	if !maps.Equal(q.where, before) {
		t.Errorf("the question is %v", q.where)
	}
}

// TestABlockAtATopicLimit reads a block by its hash from an endpoint with a limit: its digest is that of an endpoint without one.
func TestABlockAtATopicLimit(t *testing.T) {
	t.Parallel()
	hash := market.Hash{1}
	var digests [][32]byte
	for _, most := range []int{0, 4, 2, 1} {
		n := newLogNode(t, most, atMostTopics)
		s := sourceOf(t, time.Now, n.URL)
		s.topics = topicsTo(9)
		for _, l := range manyLogs(9)[:18] {
			l.BlockHash = hash.String()
			n.logs = append(n.logs, l)
		}
		var h chain.Header
		h.Number, h.Hash = 7, hash
		r, err := s.Block(t.Context(), h)
		if err != nil {
			t.Fatalf("%d topics: %v", most, err)
		}
		digests = append(digests, restsOn(&r).answer.digest)
		if restsOn(&r).answer.logs != 18 || digests[0] != restsOn(&r).answer.digest {
			t.Errorf("%d topics: %d logs with digest %x, want 18 with %x", most, restsOn(&r).answer.logs, restsOn(&r).answer.digest, digests[0])
		}
	}
}
