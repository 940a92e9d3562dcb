package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Plan is everything that happens to the system under one seed. It is fixed before anything runs and names blocks, commits and
// requests, never moments.
type Plan struct {
	Seed uint64 `json:"seed"`
	// Family is "solana", or empty for an EVM chain.
	Family string `json:"family,omitempty"`
	// Database is "sqlite", where everything runs in one process, or "postgres", with an indexer and an API server of their own.
	Database string `json:"database"`
	// Second starts a second indexer of the same chain, which waits for the first one's lease.
	Second bool `json:"second,omitempty"`
	// Blocks is how many blocks are made before the faults stop.
	Blocks int    `json:"blocks"`
	Nodes  []Node `json:"nodes"`
	// Stream is an endpoint that streams blocks, beside the nodes; nil is none.
	Stream *Stream `json:"stream,omitempty"`
	// Events are in the order of their blocks.
	Events []Event `json:"events"`
	// Commits says what becomes of commits, by their number since the start. PostgreSQL alone has them.
	Commits map[int64]string `json:"commits,omitempty"`
	// ReorgBlocks is the undo horizon, Retention for how many hours trades are kept; 0 is the usual horizon, and for good.
	ReorgBlocks int `json:"reorg_blocks,omitempty"`
	Retention   int `json:"retention_h,omitempty"`
}

// Node is how one of the chain's endpoints behaves.
type Node struct {
	// Client is whose error texts it has; see clientTexts.
	Client string `json:"client"`
	// MaxBatch is the most calls of a batch, MaxAnswer the most bytes of an answer; 0 is no limit.
	MaxBatch int `json:"max_batch,omitempty"`
	// Weight is the weight that it is declared with; 0 is none.
	Weight    int `json:"weight,omitempty"`
	MaxAnswer int `json:"max_answer,omitempty"`
	// LatencyMS is how many milliseconds an answer is on its way. PerSecond is the most calls of a second, each of a batch counted; 0 is no
	// limit. RetryAfter has refusals beyond it say when to ask again.
	LatencyMS  int  `json:"latency_ms,omitempty"`
	PerSecond  int  `json:"calls_per_s,omitempty"`
	RetryAfter bool `json:"retry_after,omitempty"`
	// Faults are what it does wrong, and when.
	Faults []NodeFault `json:"faults,omitempty"`
}

// NodeFault is a fault of an endpoint while blocks From to To are the newest. It meets Percent of the requests: which ones follows from
// the seed and the request's number at this endpoint.
type NodeFault struct {
	Fault   string `json:"fault"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Percent int    `json:"percent"`
	// Ever says that it is how the node's program is: it begins with From and doesn't stop with the faults.
	Ever bool `json:"ever,omitempty"`
}

// meets reports whether a fault is there while a block is the newest; -1 once all faults have stopped.
func (f *NodeFault) meets(block int) bool {
	if f.Ever {
		return block < 0 || block >= f.From
	}
	return block >= f.From && block <= f.To
}

// tellsHeads reports whether an index can hear of the newest block while that is a given one: from an endpoint without a fault that meets all of its requests. A node
// that lacks older states tells heads all the same.
func (p *Plan) tellsHeads(block int) bool {
	return slices.ContainsFunc(p.Nodes, func(n Node) bool {
		return !slices.ContainsFunc(n.Faults, func(f NodeFault) bool { return f.Percent == 100 && f.meets(block) && f.Fault != statePruned })
	})
}

// Event happens once, before block At is made. N is a depth, a number of things or a number of seconds, as its fault says.
type Event struct {
	At int    `json:"at"`
	Do string `json:"do"`
	N  int    `json:"n,omitempty"`
}

// firstPart is when the past has been read: lies begin after it, since what a node says of the past rests on one endpoint.
const firstPart = 4

// reorgBlocks is the undo horizon of the simulated chain. Blocks that a liar forged are found out within it.
const reorgBlocks = 400

// draw makes the plan of a seed, for a chain of a family.
func draw(seed uint64, family string) *Plan {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &Plan{Seed: seed, Family: family, Database: "postgres", Blocks: 90 + rng.IntN(40)}
	if seed%3 == 0 { // so that any short list of seeds has both
		p.Database = "sqlite"
	}
	p.Second = p.Database == "postgres" && rng.IntN(3) == 0
	p.drawNodes(rng)
	p.drawEvents(rng)
	if p.Database == "postgres" && rng.IntN(2) == 0 {
		p.Commits = map[int64]string{}
		for range 1 + rng.IntN(3) {
			p.Commits[int64(20+rng.IntN(p.Blocks))] = pick(rng, []string{"commit lost before", "commit lost after"})
		}
	}
	p.drawMore(rng)
	p.drawLimits()
	p.drawPruned()
	p.drawStream()
	return p
}

// mostTicks is the most ticks that a flood makes, by two.
const mostTicks = 8000

// drawMore draws what came later than the rest, so that a seed keeps the rest of its plan.
func (p *Plan) drawMore(rng *rand.Rand) {
	faults := faultsOfFamily(p.Family)
	at := firstPart + 10 + rng.IntN(p.Blocks/2)
	// A node that gives logs twice gives two logs one index. One that lies besides would never be believed, and never found out.
	if rng.IntN(4) == 0 && !p.lying() && p.Family == familyEVM {
		p.Nodes[0].Faults = append(p.Nodes[0].Faults, NodeFault{Fault: "logs twice", From: at, To: p.Blocks, Percent: 100, Ever: true})
	}
	unlimited := !slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.MaxAnswer > 0 })
	if rng.IntN(4) == 0 && unlimited && p.Family == familyEVM {
		p.Events = append(p.Events, Event{At: at, Do: "flood of ticks", N: mostTicks - rng.IntN(1000)})
		slices.SortStableFunc(p.Events, func(a, b Event) int { return a.At - b.At })
	}
	// A liar that is asked as often as the others is found out, or left aside, after a few lies.
	if rng.IntN(3) > 0 && slices.ContainsFunc(p.Nodes[0].Faults, func(f NodeFault) bool { return faults[f.Fault].kind == lie }) {
		p.Nodes[0].Weight = pick(rng, []int{10, 50})
	}
}

// lying reports whether an endpoint lies in a way that only the others' answers tell; see nodeFault.lasting.
func (p *Plan) lying() bool {
	faults := faultsOfFamily(p.Family)
	for _, n := range p.Nodes {
		for _, f := range n.Faults {
			if faults[f.Fault].lasting {
				return true
			}
		}
	}
	return false
}

// lyingFor is for how many blocks more an endpoint may lie in such a way before it is found out; 0 where none does.
func (p *Plan) lyingFor() int {
	switch {
	case p.Stream != nil && slices.ContainsFunc(p.Stream.Lies, func(f NodeFault) bool { return streamLies[f.Fault].lasting }):
		return untilStreamFound
	case p.lying():
		return untilFound
	}
	return 0
}

// drawNodes keeps to what the oracles hold for: lies of one in three, omissions and errors of one in two, passing errors of all. An
// endpoint that lies does so to the end, and beside it the last one has no faults: with a liar, a majority has to be right.
func (p *Plan) drawNodes(rng *rand.Rand) {
	count := pick(rng, []int{1, 2, 2, 3, 3, 3, 3}) // with three there can be a liar
	p.Nodes = make([]Node, count)
	liar := false
	for i := range p.Nodes {
		n := &p.Nodes[i]
		n.Client = pick(rng, clients)
		if p.Family == familySolana {
			n.Client = ""
		}
		if rng.IntN(3) == 0 {
			n.MaxBatch = pick(rng, []int{3, 10, 40})
		}
		if rng.IntN(3) == 0 {
			n.MaxAnswer = pick(rng, []int{1 << 20, 2 << 20})
		}
		worst := errorFault
		if i == 0 && count > 1 {
			worst = omission
		}
		if i == 0 && count > 2 && rng.IntN(6) > 0 {
			worst = lie
		}
		if liar && i == count-1 {
			break
		}
		for range 1 + rng.IntN(3) {
			n.Faults = append(n.Faults, p.drawNodeFault(rng, worst))
		}
		switch {
		case worst == lie:
			liar = true
			n.Faults = append(n.Faults, p.drawLies(rng)...)
		case i == 0 && count == 2 && rng.IntN(3) == 0 && p.Family == familyEVM: // the receipts decide between two
			liar = true
			n.Faults = append(n.Faults, NodeFault{Fault: "half of the logs", From: firstPart + 6, To: p.Blocks, Percent: 100})
		}
	}
}

// drawLies draws a lie of any kind, a false head, or both.
func (p *Plan) drawLies(rng *rand.Rand) (faults []NodeFault) {
	what := rng.IntN(4)
	if what > 1 {
		faults = append(faults, NodeFault{Fault: pick(rng, faultsOf(p.Family, lie)), From: firstPart + 6, To: p.Blocks, Percent: 100})
	}
	if what < 3 { // a false head, to the very end: one of three mustn't keep the others' head from being reached
		f := NodeFault{Fault: pick(rng, headFaults(p.Family)), From: firstPart + 6 + rng.IntN(p.Blocks/3), To: p.Blocks, Ever: true}
		f.Percent = pick(rng, []int{20, 60, 100})
		faults = append(faults, f)
	}
	return faults
}

func (p *Plan) drawNodeFault(rng *rand.Rand, worst kind) NodeFault {
	var names []string
	for k := errorFault; k <= min(worst, omission); k++ {
		names = append(names, faultsOf(p.Family, k)...)
	}
	f := NodeFault{Fault: pick(rng, names), Percent: pick(rng, []int{5, 20, 50, 100})}
	f.From = rng.IntN(p.Blocks / 2)
	f.To = f.From + 5 + rng.IntN(p.Blocks/3)
	if len(p.Nodes) == 1 && faultsOfFamily(p.Family)[f.Fault].kind == omission {
		f.Percent = min(f.Percent, 20)
	}
	return f
}

// drawEvents also sees to it that what begins ends.
func (p *Plan) drawEvents(rng *rand.Rand) {
	var names []string
	for name, e := range table {
		if (e.on == "" || e.on == p.Database) && (!e.evm || p.Family == familyEVM) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for at := firstPart; at < p.Blocks; at += 2 + rng.IntN(9) {
		e := Event{At: at, Do: pick(rng, names)}
		what := table[e.Do]
		if what.most > 0 {
			e.N = what.least + rng.IntN(what.most-what.least+1)
		}
		if what.until != "" {
			end := min(at+2+rng.IntN(8), p.Blocks)
			p.Events = append(p.Events, Event{At: end, Do: what.until, N: e.N})
		}
		p.Events = append(p.Events, e)
	}
	slices.SortStableFunc(p.Events, func(a, b Event) int { return a.At - b.At })
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

// says is the plan in a line for people.
func (p *Plan) says() string {
	of := ""
	if p.Family != familyEVM {
		of = " of " + p.Family
	}
	if p.Stream != nil {
		of += " with a stream"
	}
	return fmt.Sprintf("seed %d%s: %s, %d endpoints, %d blocks, %d events", p.Seed, of, p.Database, len(p.Nodes), p.Blocks, len(p.Events))
}
