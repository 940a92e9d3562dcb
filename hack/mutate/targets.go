package main

import (
	"strings"
	"time"
)

// target is a package that is mutated.
type target struct {
	path string
	// files are the files that are mutated, without ".go"; none stands for every file of the package.
	files []string
	// flags are given to the package's test binary, besides those that every package gets.
	flags []string
	// slow are tests, as a regular expression without anchors, that run only where all others let a mutant live: a mutant that dies costs
	// little then.
	slow string
	// limit ends the tests of a mutant that runs for ever: many times as long as they take on a busy machine.
	limit time.Duration
}

const (
	// pureLimit is for packages whose tests take up to a second, and wideLimit for those that take up to four.
	pureLimit = 20 * time.Second
	wideLimit = time.Minute
)

// propertyFlags make property tests short and the same in each run: a survivor has to be one every time.
func propertyFlags(checks string) []string {
	return []string{"-rapid.checks=" + checks, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s"}
}

// targets returns the packages, those of few mutants first.
func targets() []target {
	return []target{
		{path: "internal/price", flags: propertyFlags("100"), limit: pureLimit},
		{path: "internal/candle", flags: propertyFlags("100"), limit: pureLimit},
		{path: "internal/funding", flags: propertyFlags("50"), limit: pureLimit},
		{path: "internal/pnl", flags: propertyFlags("50"), limit: pureLimit},
		{path: "internal/traction", flags: propertyFlags("50"), limit: pureLimit},
		{path: "internal/board", flags: propertyFlags("100"), limit: pureLimit},
		{path: "internal/trust", flags: propertyFlags("100"), limit: pureLimit},
		{path: "apiserver/limit", flags: propertyFlags("20"), limit: wideLimit},
		{
			path: "indexer/derive", flags: propertyFlags("20"), limit: wideLimit,
			slow: "TestMoreLaunchesThanTheCacheHolds|TestReorgs|TestAFloodOfPools|TestBatchesDoNotMatter|TestRewindForgetsWhatItTouches",
		},
		{path: "indexer/evm/hash", limit: pureLimit},
		{path: "indexer/evm/decode", flags: propertyFlags("20"), limit: wideLimit, slow: "TestTooManyLogsForTheirBytes"},
	}
}

// names returns the targets' paths, separated by commas.
func names() string {
	var paths []string
	for _, t := range targets() {
		paths = append(paths, t.path)
	}
	return strings.Join(paths, ", ")
}
