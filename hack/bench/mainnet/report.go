package mainnet

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
)

func (f *followed) heading() error {
	return lab.Heading(os.Stdout, fmt.Sprintf("A stand-in of %s, no mainnet: a block every %s with about %d transactions and %d logs, endpoint %q.", f.Chain,
		f.net.BlockTime(), f.Txs, f.Logs, f.endpoint))
}

// addMemory adds the peak of the indexer's memory.
func (f *followed) addMemory(t *lab.Table) {
	peak := f.indexer.Peak.Load()
	t.Add("peak memory of the indexer", fmt.Sprintf("%d MB", peak>>20), fmt.Sprintf("%d MB", wantedIndexer>>20), lab.Verdict(peak < wantedIndexer))
}

func (f *followed) reportPast(used *lab.Reading) error {
	if err := f.heading(); err != nil {
		return err
	}
	judged := ""
	if f.Chain == "base" && f.PastSpan == 2*time.Hour {
		judged = lab.Verdict(used.Server+used.Database <= wantedPastCPU)
	}
	t := lab.NewTable("", ">measured", ">wanted", "")
	t.Add("blocks", strconv.FormatUint(f.net.Chain.Head().Number-f.net.Chain.Genesis(), 10), "", "")
	t.Add("CPU of the indexer and the database", fmt.Sprintf("%.1f s + %.1f s", used.Server.Seconds(), used.Database.Seconds()),
		fmt.Sprintf("%.0f s for 2 h of base", wantedPastCPU.Seconds()), judged)
	t.Add("wall time", used.Wall.Round(100*time.Millisecond).String(), "", "")
	f.addMemory(t)
	t.Add("cores of all programs of the machine", fmt.Sprintf("%.2f", used.Cores(used.All)), "", "")
	return lab.WriteTables(os.Stdout, t, f.asked(&node.Counts{}, 0))
}

func (f *followed) reportHead(m *atHead) error {
	if err := f.heading(); err != nil {
		return err
	}
	at := func(q float64) string { return fmt.Sprintf("%.0f ms", lab.Milliseconds(lab.Quantile(m.took, q))) }
	t := lab.NewTable("", ">measured", ">wanted", "")
	t.Add("blocks", strconv.Itoa(len(m.took)), "", "")
	t.Add("announced to committed, median", at(0.5), "", "")
	t.Add("announced to committed, p99", at(0.99), fmt.Sprintf("%.0f ms + latency", lab.Milliseconds(wantedCommit)),
		lab.Verdict(lab.Quantile(m.took, 0.99) < wantedCommit+f.latency))
	t.Add("longest", at(1), "", "")
	t.Add("cores of the indexer and the database", fmt.Sprintf("%.3f + %.3f", m.Cores(m.Server), m.Cores(m.Database)), fmt.Sprint(wantedHeadCores),
		lab.Verdict(m.Cores(m.Server+m.Database) <= wantedHeadCores))
	f.addMemory(t)
	t.Add("blocks behind at the end", strconv.FormatUint(m.behind, 10), "", "")
	return lab.WriteTables(os.Stdout, t, f.asked(&m.before, m.Wall))
}

// asked is what the endpoint was asked after before, and what that makes a day; 0 is no time to reckon with.
func (f *followed) asked(before *node.Counts, over time.Duration) *lab.Table {
	counts := f.node.Counts()
	t := lab.NewTable("method", ">calls", ">units", ">calls a day", ">units a day")
	aDay := func(n int64) string {
		if over == 0 {
			return ""
		}
		return fmt.Sprintf("%.0f", float64(n)*24*float64(time.Hour)/float64(over))
	}
	add := func(method string, calls, units int64) {
		t.Add(method, strconv.FormatInt(calls, 10), strconv.FormatInt(units, 10), aDay(calls), aDay(units))
	}
	for _, m := range slices.Sorted(maps.Keys(counts.Calls)) {
		add(m, counts.Calls[m]-before.Calls[m], counts.Units[m]-before.Units[m])
	}
	add("all", counts.AllCalls-before.AllCalls, counts.AllUnits-before.AllUnits)
	return t
}
