package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
)

// spent is what catching up took: CPU of the indexer, the database and all programs of the machine.
type spent struct {
	indexer, database, wall, all time.Duration
}

func (f *followed) reportPast(args []string, s spent) error {
	if err := heading(os.Stdout, "mainnet", args, f.about()); err != nil {
		return err
	}
	peak := f.memory()
	t := newTable("", ">measured", ">wanted", "")
	t.add("blocks", strconv.FormatUint(f.net.Chain.Head().Number-f.net.Chain.Genesis(), 10), "", "")
	t.add("CPU of the indexer and the database", fmt.Sprintf("%.1f s + %.1f s", s.indexer.Seconds(), s.database.Seconds()),
		fmt.Sprintf("%.0f s for 2 h of base", wantedPastCPU.Seconds()), f.pastVerdict(s.indexer+s.database))
	t.add("wall time", s.wall.Round(100*time.Millisecond).String(), "", "")
	t.add("peak memory of the indexer", fmt.Sprintf("%d MB", peak>>20), fmt.Sprintf("%d MB", wantedIndexer>>20), verdict(peak < wantedIndexer))
	t.add("cores of all programs of the machine", fmt.Sprintf("%.2f", s.all.Seconds()/s.wall.Seconds()), "", "")
	return errors.Join(t.write(os.Stdout), f.asked(&node.Counts{}, 0))
}

func (f *followed) pastVerdict(cpu time.Duration) string {
	if f.Chain != "base" || f.PastSpan != 2*time.Hour {
		return ""
	}
	return verdict(cpu <= wantedPastCPU)
}

func (f *followed) reportHead(m atHead, args []string) error {
	if err := heading(os.Stdout, "mainnet", args, f.about()); err != nil {
		return err
	}
	p99, peak := quantile(m.took, 0.99), f.memory()
	cores := func(d time.Duration) float64 { return d.Seconds() / m.wall.Seconds() }
	t := newTable("", ">measured", ">wanted", "")
	t.add("blocks", strconv.Itoa(len(m.took)), "", "")
	t.add("announced to committed, median", fmt.Sprintf("%.0f ms", milliseconds(quantile(m.took, 0.5))), "", "")
	t.add("announced to committed, p99", fmt.Sprintf("%.0f ms", milliseconds(p99)), fmt.Sprintf("%.0f ms + latency", milliseconds(wantedCommit)),
		verdict(p99 < wantedCommit+f.latency))
	t.add("longest", fmt.Sprintf("%.0f ms", milliseconds(quantile(m.took, 1))), "", "")
	t.add("cores of the indexer and the database", fmt.Sprintf("%.3f + %.3f", cores(m.indexer), cores(m.database)), fmt.Sprint(wantedHeadCores),
		verdict(cores(m.indexer+m.database) <= wantedHeadCores))
	t.add("peak memory of the indexer", fmt.Sprintf("%d MB", peak>>20), fmt.Sprintf("%d MB", wantedIndexer>>20), verdict(peak < wantedIndexer))
	t.add("blocks behind at the end", strconv.FormatUint(m.behind, 10), "", "")
	return errors.Join(t.write(os.Stdout), f.asked(&m.before, m.wall))
}

func (f *followed) about() string {
	return fmt.Sprintf("A stand-in of %s, no mainnet: a block every %s with about %d transactions and %d logs, endpoint %q.", f.Chain, f.net.BlockTime(), f.Txs, f.Logs,
		f.endpoint)
}

// asked writes what the endpoint was asked after before, and what that makes a day; 0 is no time to reckon with.
func (f *followed) asked(before *node.Counts, over time.Duration) error {
	counts := f.node.Counts()
	t := newTable("method", ">calls", ">units", ">calls a day", ">units a day")
	aDay := func(n int64) string {
		if over == 0 {
			return ""
		}
		return fmt.Sprintf("%.0f", float64(n)*24*float64(time.Hour)/float64(over))
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, m := range slices.Sorted(maps.Keys(counts.Calls)) {
		calls, units := counts.Calls[m]-before.Calls[m], counts.Units[m]-before.Units[m]
		t.add(m, count(calls), count(units), aDay(calls), aDay(units))
	}
	calls, units := counts.AllCalls-before.AllCalls, counts.AllUnits-before.AllUnits
	t.add("all", count(calls), count(units), aDay(calls), aDay(units))
	return t.write(os.Stdout)
}
