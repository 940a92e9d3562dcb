package node

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// Some nodes take few topics in one filter: HyperEVM's own takes four. How many an endpoint takes is learnt from its refusal. From then on it is
// asked with several filters for the same blocks, each with a part of the topics, and their logs are put together in the order of the chain.
//
// A node that answers one filter may get the block's logs before it answers the next. So a part without logs beside a part with some is asked
// for again once all were asked for, unless the block's header says that it has none of them.

// anyTopics is the number of topics of an endpoint that refused a filter of one topic, too: its words are about something else.
const anyTopics = -1

// LogQuestion is a question for logs.
type LogQuestion struct {
	// Where names the blocks and, if not all, the contracts.
	Where map[string]any
	// Event is the first topic of the logs, where Topics are their second ones, or their third ones if Third is set; it is zero where topics are their first
	// ones.
	Event [32]byte
	Third bool
	// Topics lists the topics that are asked for: each log has one of them.
	Topics [][32]byte
	// Single says that the logs are of one block, so that they can't be asked for in fewer blocks.
	Single bool
	// MayHold reports whether the blocks may hold a log with one of the topics; it is nil where nothing is known of them.
	MayHold func(topics [][32]byte) bool
}

// Params is the parameter of eth_getLogs for a part of the topics.
func (q *LogQuestion) Params(part [][32]byte) []any {
	list := make([]string, len(part))
	for i, t := range part {
		list[i] = topicText(t)
	}
	where := maps.Clone(q.Where)
	switch q.Place() {
	case 0:
		where["topics"] = []any{list}
	case 1:
		where["topics"] = []any{topicText(q.Event), list}
	default:
		where["topics"] = []any{topicText(q.Event), nil, list}
	}
	return []any{where}
}

// Place is at which place of a log its topic is.
func (q *LogQuestion) Place() int {
	switch {
	case q.Event == [32]byte{}:
		return 0
	case q.Third:
		return 2
	}
	return 1
}

// Parts are the topics in parts, each for a filter of at most so many topics, of which there is at least one. 0 and anyTopics are any number.
func (q *LogQuestion) Parts(most int) [][][32]byte {
	if most <= 0 {
		return [][][32]byte{q.Topics}
	}
	return slices.Collect(slices.Chunk(q.Topics, max(most-q.Place(), 1)))
}

func topicText(w [32]byte) string { return "0x" + hex.EncodeToString(w[:]) }

// Logs asks for logs, by as many filters as the endpoint needs. They count as in flight until the caller says that it is done with the reply,
// which has them no more: they take about as much as it did.
func (e *Endpoint) Logs(ctx context.Context, q *LogQuestion) ([]decode.Log, *rpc.Reply, error) {
	for {
		parts := q.Parts(e.TopicsAtOnce())
		var logs []decode.Log
		var got *rpc.Reply
		var err error
		if len(parts) == 1 {
			logs, got, err = e.logsOf(ctx, q, parts[0], 0)
		} else {
			logs, got, err = e.logsOfAll(ctx, q, parts)
		}
		if err == nil || !e.LearnTopics(err, len(parts[0])+q.Place()) || len(parts[0]) == 1 {
			return logs, got, err
		}
	}
}

// logsWithin asks for the logs of one filter, and reads at most so many bytes.
func (e *Endpoint) logsWithin(ctx context.Context, params []any, most int64) ([]decode.Log, *rpc.Reply, error) {
	got, err := e.PostCall(ctx, "eth_getLogs", params, most)
	if err != nil {
		return nil, nil, err
	}
	logs, err := decode.ParseLogs(got.Raw)
	if refusal, ok := errors.AsType[*rpc.NodeError](err); ok {
		e.Redact(refusal)
	}
	if err != nil {
		got.Done()
		return nil, nil, err
	}
	got.Free()
	return logs, got, nil
}

// logsOf asks for the logs with some of the topics. Taken is how many bytes of the answer other parts have.
func (e *Endpoint) logsOf(ctx context.Context, q *LogQuestion, part [][32]byte, taken int64) ([]decode.Log, *rpc.Reply, error) {
	params := q.Params(part)
	logs, got, err := e.logsWithin(ctx, params, max(e.Reads.Most-taken, rpc.FirstPiece))
	if q.Single && errors.Is(err, rpc.ErrTooLong) {
		return e.logsWithin(ctx, params, max(e.Reads.Whole-taken, rpc.FirstPiece))
	}
	return logs, got, err
}

// logsOfAll asks for the logs with all topics, part by part. All of them are on one hold, as one answer's are.
func (e *Endpoint) logsOfAll(ctx context.Context, q *LogQuestion, parts [][][32]byte) ([]decode.Log, *rpc.Reply, error) {
	r := partsReading{e: e, q: q, parts: parts, found: make([][]decode.Log, len(parts))}
	if err := r.read(ctx); err != nil {
		r.got.Done()
		return nil, nil, err
	}
	return merged(r.found), r.got, nil
}

// partsReading is a question that is asked part by part.
type partsReading struct {
	e     *Endpoint
	q     *LogQuestion
	parts [][][32]byte
	found [][]decode.Log
	// got is the first part's reply, on whose hold the others are, too; nil before.
	got *rpc.Reply
	// refusals counts the refusals for the rate since the last answer, waits how often the endpoint was waited for.
	refusals, waits int
}

func (r *partsReading) read(ctx context.Context) error {
	some := false
	for i := range r.parts {
		if err := r.ask(ctx, i); err != nil {
			return err
		}
		some = some || len(r.found[i]) > 0
	}
	for i, part := range r.parts {
		if !some || len(r.found[i]) > 0 || r.q.MayHold != nil && !r.q.MayHold(part) {
			continue
		}
		if err := r.ask(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for a part. Where the endpoint refuses it for its rate and has answered another, it alone is asked for again.
func (r *partsReading) ask(ctx context.Context, i int) error {
	for {
		within, taken := ctx, int64(0)
		if r.got != nil {
			within, taken = r.got.Within(ctx), r.got.Taken()
		}
		logs, got, err := r.e.logsOf(within, r.q, r.parts[i], taken)
		if err == nil {
			if r.got == nil {
				r.got = got
			} else {
				r.got.Join(got)
			}
			r.found[i], r.refusals = logs, 0
			return AreAskedFor(logs, r.parts[i], r.q.Place())
		}
		if r.got == nil || !RateRefused(err) || r.refusals+1 == rpc.RefusedRounds || r.waits == rpc.MostWaitsRefused || !r.e.WaitRefused(ctx) {
			return err
		}
		r.refusals, r.waits = r.refusals+1, r.waits+1
	}
}

// AreAskedFor refuses logs that a filter with some topics at a place leaves out: of a node that doesn't look at them a log would count as often as
// there are parts.
func AreAskedFor(logs []decode.Log, topics [][32]byte, place int) error {
	for i := range logs {
		if l := &logs[i]; l.NumTopics <= place || !slices.Contains(topics, l.Topics[place]) {
			return fmt.Errorf("%w: a log of block %d that wasn't asked for", rpc.ErrGarbage, l.Block)
		}
	}
	return nil
}

// merged puts the lists of several filters together, by block and index. A list that is out of order leaves the whole so: whoever reads it finds
// out. Of logs that stand at one place, that of the earlier list is first.
func merged(lists [][]decode.Log) []decode.Log {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	out := make([]decode.Log, 0, n)
	for len(out) < n {
		var next *decode.Log
		from := 0
		for i, l := range lists {
			if len(l) > 0 && (next == nil || isBefore(&l[0], next)) {
				next, from = &l[0], i
			}
		}
		out, lists[from] = append(out, *next), lists[from][1:]
	}
	return out
}

func isBefore(a, b *decode.Log) bool {
	return a.Block < b.Block || a.Block == b.Block && a.Index < b.Index
}

// TopicsAtOnce is how many topics the endpoint takes in one filter; 0 while it took all, and anyTopics where that isn't what it refuses.
func (e *Endpoint) TopicsAtOnce() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.topicsLen
}

// LearnTopics learns from the refusal of a filter of so many topics how many the endpoint takes. It is false where the refusal is about
// something else.
func (e *Endpoint) LearnTopics(err error, asked int) bool {
	if !tooManyTopics(err) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.topicsLen == anyTopics:
		return false
	case asked == 1:
		e.topicsLen = anyTopics
		return false
	}
	if fewer := fewerTopics(err, asked); e.topicsLen == 0 || fewer < e.topicsLen {
		e.topicsLen = fewer
	}
	return true
}

var (
	// topicsRefused are words for too many topics, topicsUnconcerned words that make it another thing that is too much.
	topicsRefused = regexp.MustCompile(`(?i)\b(at most|up to|only|more than|too many|max(imum)?( number)?( of)?|limit(ed)?( of| to)?|` +
		`exceed(s|ed|ing)?( the)?( max(imum)?| limit)?( number)?( of)?|supports?|allows?)[ :]+(\d+ )?((log|event|filter|sub)[ -]?){0,2}topics?\b|` +
		`\btopics?\b[^.;,]{0,40}?\b(too many|at most|up to|more than|max(imum)?|limit(ed)?|exceed(s|ed|ing)?)\b`)
	topicsUnconcerned = regexp.MustCompile(`(?i)range|block|results?\b|responses?\b|requests?\b|rate\b|size|bytes`)
)

// tooManyTopics reports whether a node refused a filter for its number of topics. A contract can't bring that about.
func tooManyTopics(err error) bool {
	refusal, ok := errors.AsType[*rpc.NodeError](err)
	if !ok || RateRefused(err) {
		return false
	}
	said := topicsRefused.FindString(refusal.Message)
	return said != "" && !topicsUnconcerned.MatchString(said)
}

// fewerTopics says how many topics to name in a filter that was refused: the number that the refusal names, or half of the former. Where it names several
// it is the greatest, since a lower one may be of something else and a higher one is refused again.
func fewerTopics(err error, asked int) int {
	refused, _ := errors.AsType[*rpc.NodeError](err)
	best := 0
	for _, allowed := range refused.Numbers() {
		if allowed < asked {
			best = max(best, allowed)
		}
	}
	if best > 0 {
		return best
	}
	return asked / 2
}
