package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

const (
	// mostRunes is how much of what a node says is repeated.
	mostRunes = 200
	// fewBlocks and fewCalls are so little at once that reading takes markedly longer.
	fewBlocks, fewCalls = 500, 20
	// oldHead is how old a node's newest block may be on any chain, oldBlocks how many block times.
	oldHead   = time.Minute
	oldBlocks = 20
	// fastestPoll and slowestPoll bound the pace at which the head is asked for (docs/costs.md).
	fastestPoll, slowestPoll = 200 * time.Millisecond, time.Second
)

// writer puts a report together.
type writer struct {
	chain *chainconfig.Chain
	now   time.Time
	// asked is how many endpoints there are, nodes are those that serve the chain.
	asked    int
	nodes    []evm.Capabilities
	declared []chain.Declared
	// unasked is why the declared addresses could not be asked.
	unasked  error
	findings []Finding
}

func (w *writer) find(s Severity, format string, args ...any) {
	w.findings = append(w.findings, Finding{s, fmt.Sprintf(format, args...)})
}

// said cleans what a node said, or an error that may repeat it.
func said(text string) string { return plain.AtMost(text, mostRunes) }

// addNode takes an endpoint's answers in.
func (w *writer) addNode(n evm.Capabilities) {
	w.asked++
	switch {
	case errors.Is(n.Err, rpc.ErrWrongChain):
		w.find(Wrong, "%s: %s", n.Endpoint, said(n.Err.Error()))
	case n.Err != nil:
		w.find(Missing, "%s can't be asked: %s. Look whether its URL is right, and whether this machine reaches it", n.Endpoint, said(n.Err.Error()))
	default:
		w.nodes = append(w.nodes, n)
	}
}

func (w *writer) report() *Report {
	r := &Report{Chain: w.chain.ID}
	if len(w.nodes) == 0 {
		r.Summary = [3]string{
			fmt.Sprintf("chain id %d is served by none of %d endpoints; the declared addresses were not checked", w.chain.EVMChainID, w.asked),
			"what the nodes can do isn't known",
			"no figure can be had",
		}
		if !slices.ContainsFunc(w.findings, func(f Finding) bool { return f.Severity == Wrong }) {
			w.find(Wrong, "no endpoint answers: give the URL of a node of chain id %d", w.chain.EVMChainID)
		}
		r.Findings = w.findings
		return r
	}
	w.findAddresses()
	for _, n := range w.nodes {
		w.findLacks(&n)
	}
	r.Summary = [3]string{w.checked(), w.abilities(), w.meaning()}
	slices.SortStableFunc(w.findings, func(a, b Finding) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	r.Findings = w.findings
	return r
}

// rank is the order in which findings stand.
var rank = map[Severity]int{Wrong: 0, Missing: 1, Look: 2}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (w *writer) findAddresses() {
	if w.unasked != nil {
		w.find(Missing, "the declared addresses can't be checked: %s", said(w.unasked.Error()))
	}
	w.findings = append(w.findings, FindAddresses(w.declared)...)
}

// FindAddresses says which declared addresses aren't as they should be, with what to do.
func FindAddresses(declared []chain.Declared) (findings []Finding) {
	find := func(s Severity, format string, args ...any) {
		findings = append(findings, Finding{s, fmt.Sprintf(format, args...)})
	}
	for _, d := range declared {
		what := d.What + " " + d.Address.String()
		switch {
		case d.Wrong != "":
			find(Wrong, "%s: %s. Take the address from its publisher's documents, or leave the entry out", what, d.Wrong)
		case d.Unknown != "":
			find(Missing, "%s: %s. Check again later, or with another node", what, d.Unknown)
		case d.Symbol != "":
			find(Look, "%s: %s, %q. See that it is the token that is meant", what, d.Note, plain.Text(d.Symbol))
		case d.Note != "":
			find(Look, "%s: %s. See that the address and the protocol are right", what, d.Note)
		}
	}
	return findings
}

// findLacks says what an endpoint lacks, and what to do.
func (w *writer) findLacks(n *evm.Capabilities) {
	lacks := func(format string, args ...any) { w.find(Missing, n.Endpoint+" "+format, args...) }
	blockTime := time.Duration(w.chain.BlockTime)
	if age := w.now.Sub(time.Unix(n.Head.Time, 0)).Round(time.Second); age > max(oldHead, oldBlocks*blockTime) {
		lacks("has a newest block that is %s old: wait until it is in sync, or use another node", age)
	}
	switch {
	case n.LatestState == node.No:
		lacks("doesn't answer questions about the newest state: use another node")
	case n.StateByNewest:
		lacks("answers questions about old blocks with the newest state, without a word: use a node that keeps state, or one that says it doesn't")
	case n.RecentState == node.No:
		lacks("has the newest state alone: what is asked of a block is missing once the next one is there. Use a node that keeps the last 64 blocks' state at least")
	case n.OldState == node.No:
		lacks("has no state of old blocks: use an archive node if figures of before the start count")
	}
	if n.Overrides == node.No {
		lacks("takes no state overrides in eth_call: use a node or plan that does, beside it if you like, to have trades simulated")
	}
	switch {
	case n.Logs == node.No && n.LogBlocks == 0:
		lacks("refuses the eth_getLogs filter of this chain's events, even for one block: it can't be indexed over this endpoint. Use another node or plan")
	case n.LogBlocks > 0 && n.LogBlocks < min(fewBlocks, n.Head.Number+1):
		lacks("gives logs of %s at once: the past is read slowly. Use a plan with %d or more if the start is far back", count(int(n.LogBlocks), "block"), fewBlocks)
	}
	if n.LogFilters > 1 {
		lacks("takes %s in one log filter: the logs of a block, and of a range of the past, take %d requests. Use a node that takes more if its calls are counted",
			count(n.LogTopics, "topic"), n.LogFilters)
	}
	if n.BatchCalls > 0 && n.BatchCalls < fewCalls {
		lacks("takes %s at once: new tokens cost more round trips. Use a node or plan that takes %d or more", count(n.BatchCalls, "call"), fewCalls)
	}
	if n.ManyCalls == node.No {
		lacks("answers many calls in one by neither way: Multicall3 isn't on the chain, and an eth_call without a contract's address is refused. A concentrated pool " +
			"that is older than the index takes up to 300 calls, and has no price where many ticks lie around it. Use a node that takes such a call")
	}
	if n.Heads == node.No {
		lacks("announces no new blocks by WebSocket at its own address: the head is polled. Use a node with WebSocket there to have blocks sooner")
	}
	if n.Finality == node.No {
		lacks("doesn't know which block is final: spec.finalityDepth, %d blocks, says it instead. See that it is what the chain's documents say", w.chain.FinalityDepth)
	}
	for _, answer := range []struct {
		of   node.Answer
		what string
	}{
		{n.LatestState, "the newest state"}, {n.OldState, "old state"}, {n.Overrides, "state overrides"}, {n.Logs, "logs"}, {n.Finality, "the final block"},
	} {
		if answer.of == node.Unknown {
			lacks("could not be asked about %s, perhaps for its rate: check again later", answer.what)
		}
	}
}

// checked is the first line.
func (w *writer) checked() string {
	newest := w.nodes[0].Head
	var clients []string
	for _, n := range w.nodes {
		if n.Head.Number > newest.Number {
			newest = n.Head
		}
		if name := plain.Text(n.Client); name != "" && !slices.Contains(clients, name) {
			clients = append(clients, name)
		}
	}
	good := countGood(w.declared)
	by := ""
	if len(clients) > 0 {
		by = " (" + strings.Join(clients, ", ") + ")"
	}
	age := max(0, w.now.Sub(time.Unix(newest.Time, 0)).Round(time.Second))
	return fmt.Sprintf("chain id %d is served by %d of %d endpoints%s, whose block %d is %s old; %d of %d declared addresses are as declared",
		w.chain.EVMChainID, len(w.nodes), w.asked, by, newest.Number, age, good, len(w.declared))
}

// countGood is how many declared addresses are as declared.
func countGood(declared []chain.Declared) (good int) {
	for _, d := range declared {
		if d.Wrong == "" && d.Unknown == "" {
			good++
		}
	}
	return good
}

// which says which endpoints can do something.
func (w *writer) which(can func(*evm.Capabilities) node.Answer) string {
	var names []string
	unknown := 0
	for i := range w.nodes {
		switch can(&w.nodes[i]) {
		case node.Yes:
			names = append(names, w.nodes[i].Endpoint)
		case node.Unknown:
			unknown++
		case node.No:
		}
	}
	switch {
	case len(names) == len(w.nodes):
		return "yes"
	case len(names) > 0:
		return strings.Join(names, ", ") + " alone"
	case unknown > 0:
		return "not known"
	}
	return "no"
}

func (w *writer) any(can func(*evm.Capabilities) node.Answer) bool {
	return slices.ContainsFunc(w.nodes, func(n evm.Capabilities) bool { return can(&n) == node.Yes })
}

func oldState(n *evm.Capabilities) node.Answer  { return n.OldState }
func overrides(n *evm.Capabilities) node.Answer { return n.Overrides }
func heads(n *evm.Capabilities) node.Answer     { return n.Heads }

// most is the greatest of a number that endpoints have, and as words where it isn't known.
func (w *writer) most(of func(*evm.Capabilities) uint64, noun string) (n uint64, words string) {
	for i := range w.nodes {
		n = max(n, of(&w.nodes[i]))
	}
	if n == 0 {
		return 0, "an unknown number of " + noun + "s"
	}
	return n, count(int(n), noun)
}

func (w *writer) blocksAtOnce() (uint64, string) {
	return w.most(func(n *evm.Capabilities) uint64 { return n.LogBlocks }, "block")
}

// abilities is the second line.
func (w *writer) abilities() string {
	_, blocks := w.blocksAtOnce()
	_, calls := w.most(func(n *evm.Capabilities) uint64 { return uint64(n.BatchCalls) }, "call")
	return fmt.Sprintf("state of old blocks (archive): %s; state overrides: %s; logs of %s and %s at once; new blocks by WebSocket: %s",
		w.which(oldState), w.which(overrides), blocks, calls, w.which(heads))
}

// requestsOfDay is how many requests for logs a day of the past takes at the endpoint that needs the fewest.
func (w *writer) requestsOfDay() (fewest uint64) {
	day := uint64(24*time.Hour) / uint64(w.chain.BlockTime)
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.LogBlocks == 0 {
			continue
		}
		if requests := (day + n.LogBlocks - 1) / n.LogBlocks * uint64(max(n.LogFilters, 1)); fewest == 0 || requests < fewest {
			fewest = requests
		}
	}
	return fewest
}

// meaning is the third line.
func (w *writer) meaning() string {
	var parts []string
	if blocks, _ := w.blocksAtOnce(); blocks > 0 && w.chain.BlockTime > 0 {
		parts = append(parts, fmt.Sprintf("a day of the past takes %d requests or more", w.requestsOfDay()))
	} else {
		parts = append(parts, "nothing can be said of prices and trades, which come from logs")
	}
	if w.any(oldState) {
		parts = append(parts, "supplies are those of their block")
	} else {
		parts = append(parts, "supplies of before the start, and market caps by them, come late or not at all")
	}
	if w.any(overrides) {
		parts = append(parts, "trust checks simulate trades")
	} else {
		parts = append(parts, "trust checks of selling and taxes stay unknown")
	}
	if w.any(heads) {
		parts = append(parts, "blocks are read as they are announced")
	} else {
		parts = append(parts, fmt.Sprintf("new blocks are asked for every %s", max(fastestPoll, min(time.Duration(w.chain.BlockTime), slowestPoll))))
	}
	return "that means: " + strings.Join(parts, "; ")
}
