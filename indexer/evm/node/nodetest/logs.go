package nodetest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// LogNode answers eth_getLogs from logs of its own, and refuses filters of more topics than it takes.
type LogNode struct {
	*Node
	Logs []Log
	// Most is how many topics a filter may have, 0 any number; Refusal is what is said to others, with the number asked for as %[1]d and Most as %[2]d.
	Most    int
	Refusal string
	// Before is told of each filter before it is answered, with its topics; it may be nil.
	Before func(asked int, topics []string)
	// Asked has the topics of each filter, Refused how many of them were refused.
	Asked   [][]string
	Refused int
}

// NewLogNode starts a node with logs.
func NewLogNode(t *testing.T, most int, refusal string, logs ...Log) *LogNode {
	t.Helper()
	n := &LogNode{Most: most, Refusal: refusal, Logs: logs}
	n.Node = New(t, func(method string, params []json.RawMessage) (result, refusal string) {
		if method != "eth_getLogs" {
			return `"0x1"`, ""
		}
		return n.GetLogs(t, params[0])
	})
	return n
}

// GetLogs answers eth_getLogs.
func (n *LogNode) GetLogs(t *testing.T, raw json.RawMessage) (result, refusal string) {
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
	n.Asked = append(n.Asked, all)
	if n.Before != nil {
		n.Before(len(n.Asked), all)
	}
	if n.Most > 0 && len(all) > n.Most {
		n.Refused++
		return "", fmt.Sprintf(`{"code":-32602,"message":%q}`, said(n.Refusal, len(all), n.Most))
	}
	out := []Log{}
	for _, l := range n.Logs {
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

// TopicNo is a topic of a test.
func TopicNo(i int) (t [32]byte) {
	binary.BigEndian.PutUint64(t[24:], uint64(i+1))
	return t
}

// Log is a log as a node answers it.
type Log struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     string   `json:"blockNumber"`
	TxHash    string   `json:"transactionHash"`
	TxIndex   string   `json:"transactionIndex"`
	BlockHash string   `json:"blockHash"`
	Index     string   `json:"logIndex"`
}

// TopicsTo are the first topics of a test.
func TopicsTo(n int) (out [][32]byte) {
	for i := range n {
		out = append(out, TopicNo(i))
	}
	return out
}

// LogOf is a log with a topic and further ones.
func LogOf(topic [32]byte, block, index int, further ...string) Log {
	return Log{
		Address: "0x" + strings.Repeat("ab", 20), Topics: append([]string{TopicText(topic)}, further...), Data: "0x", Block: rpc.HexQuantity(uint64(block)),
		TxHash: "0x" + strings.Repeat("cd", 32), TxIndex: "0x0", BlockHash: "0x" + strings.Repeat("ef", 32), Index: rpc.HexQuantity(uint64(index)),
	}
}

// ManyLogs are logs of several blocks whose topics alternate, so that each filter has some of each block.
func ManyLogs(topics int) (out []Log) {
	for block := range 3 {
		for index := range 2 * topics {
			out = append(out, LogOf(TopicNo((index*7+block)%topics), 7+block, index))
		}
	}
	return out
}

// TopicText is a topic as a node writes it.
func TopicText(w [32]byte) string { return "0x" + hex.EncodeToString(w[:]) }

// AtMostTopics is a refusal of too many topics.
const AtMostTopics = "invalid params: at most %[2]d topics"
