package node

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// logQuestion is the parameter of eth_getLogs.
type logQuestion struct {
	FromBlock, ToBlock, BlockHash *string
	Address                       json.RawMessage
	Topics                        []json.RawMessage
}

// oneOrMore reads a text, a list of texts, or null.
func oneOrMore(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '[' {
		var list []string
		err := json.Unmarshal(raw, &list)
		return list, err
	}
	var one string
	err := json.Unmarshal(raw, &one)
	return []string{one}, err
}

func (q *logQuestion) filter() (f chain.Filter, topics int, err error) {
	addresses, err := oneOrMore(q.Address)
	if err != nil {
		return f, 0, err
	}
	for _, text := range addresses {
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil || len(b) != 20 {
			return f, 0, hex.ErrLength
		}
		f.Addresses = append(f.Addresses, chain.Address(b))
	}
	for _, raw := range q.Topics {
		list, err := oneOrMore(raw)
		if err != nil {
			return f, 0, err
		}
		var oneOf []chain.Hash
		for _, text := range list {
			h, err := hash(text)
			if err != nil {
				return f, 0, err
			}
			oneOf, topics = append(oneOf, h), topics+1
		}
		f.Topics = append(f.Topics, oneOf)
	}
	return f, topics, nil
}

func (n *Node) getLogs(c *call) {
	var q logQuestion
	if err := json.Unmarshal(c.param(0), &q); err != nil {
		c.refuse(badParameter(0, "an unreadable filter"))
		return
	}
	f, topics, err := q.filter()
	limits := &n.profile.Logs
	switch {
	case err != nil:
		c.refuse(badParameter(0, err.Error()))
	case limits.Topics > 0 && topics > limits.Topics:
		n.counts.refused("topics")
		c.refuse(said(limits.TooManyTopics, topics, limits.Topics))
	case q.BlockHash != nil:
		n.logsByHash(c, *q.BlockHash, &f)
	default:
		n.logsOfRange(c, &q, &f)
	}
}

func (n *Node) logsByHash(c *call, text string, f *chain.Filter) {
	h, err := hash(text)
	if err != nil {
		c.refuse(badParameter(0, err.Error()))
		return
	}
	b, _ := n.byHash(h)
	if b == nil {
		c.refuse(n.unknownBlock("unknown block"))
		return
	}
	out, logs := n.appendLogs(c, []byte("["), b, f)
	if c.refusal != nil {
		return
	}
	if most := n.profile.Logs.Results; most > 0 && logs > most {
		n.counts.refused("results")
		c.refuse(n.tooMany(b.Number, b.Number))
		return
	}
	out = append(out, ']')
	c.result = out
}

// appendLogs appends what a filter takes of a block's logs, if the node has them yet.
func (n *Node) appendLogs(c *call, dst []byte, b *chain.Block, f *chain.Filter) ([]byte, int) {
	if b.Excludes(f) {
		return dst, 0
	}
	if n.now().Sub(b.Made) < n.profile.Heads.LateLogs {
		n.counts.refused("late logs")
		return dst, 0
	}
	txs, ok := n.txs(c, b)
	if !ok {
		return dst, 0
	}
	return b.AppendLogs(dst, txs, f, n.profile.LogTimes)
}

// end is the block number at an end of a range; known is false where the tag names no block.
func (n *Node) end(text *string) (number uint64, bad *profiles.Refusal) {
	if text == nil {
		return n.head().Number, nil
	}
	if number, err := strconv.ParseUint(strings.TrimPrefix(*text, "0x"), 16, 64); err == nil && strings.HasPrefix(*text, "0x") {
		return number, nil
	}
	raw, _ := json.Marshal(*text) // a string
	b, _, bad := n.named(raw)
	if bad == nil && b == nil {
		bad = badParameter(0, "unknown block")
	}
	if bad != nil {
		return 0, bad
	}
	return b.Number, nil
}

func (n *Node) logsOfRange(c *call, q *logQuestion, f *chain.Filter) {
	from, bad := n.end(q.FromBlock)
	to, alsoBad := n.end(q.ToBlock)
	if bad == nil {
		bad = alsoBad
	}
	limits, head := &n.profile.Logs, n.head().Number
	switch width := to - from + 1; {
	case bad != nil:
		c.refuse(bad)
	case from > to:
		c.refuse(&profiles.Refusal{Code: -32602, Message: "invalid block range params"})
	case limits.Ahead.Message != "" && (from > head || limits.Strict && to > head):
		n.counts.refused("ahead")
		c.refuse(said(limits.Ahead, head))
	case limits.Range > 0 && width > limits.Range:
		n.counts.refused("range")
		c.refuse(said(limits.TooWide, width, limits.Range, hexOf(from), hexOf(from+limits.Range-1)))
	default:
		n.logsBetween(c, max(from, n.chain.First()), min(to, head), f)
	}
}

func (n *Node) logsBetween(c *call, from, to uint64, f *chain.Filter) {
	out, total := []byte("["), 0
	for number := from; number <= to; number++ {
		b := n.chain.Block(number)
		if b == nil {
			break // a reorg came in between
		}
		before := len(out)
		if total > 0 {
			out = append(out, ',')
		}
		var logs int
		if out, logs = n.appendLogs(c, out, b, f); logs == 0 {
			out = out[:before]
		}
		if c.refusal != nil {
			return
		}
		total += logs
		if most := n.profile.Logs.Results; most > 0 && total > most {
			n.counts.refused("results")
			c.refuse(n.tooMany(from, max(number, from+1)-1))
			return
		}
		if most := n.profile.Logs.Bytes; most > 0 && len(out) > most {
			n.counts.refused("answer")
			c.refuse(said(n.profile.Logs.TooLong, hexOf(from), hexOf(max(number, from+1)-1)))
			return
		}
	}
	out = append(out, ']')
	c.result = out
}

// tooMany refuses a question with too many logs, and names a range that works.
func (n *Node) tooMany(from, fits uint64) *profiles.Refusal {
	l := &n.profile.Logs
	if l.Decimal {
		return said(l.TooMany, l.Results, strconv.FormatUint(from, 10), strconv.FormatUint(fits, 10))
	}
	return said(l.TooMany, l.Results, hexOf(from), hexOf(fits))
}

func hexOf(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
