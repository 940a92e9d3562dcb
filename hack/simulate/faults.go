package main

import (
	"context"
	"maps"
	"slices"
)

// kind is how bad a fault of an endpoint is.
type kind int

// An error says itself that it is none of the answer; an omission leaves out what is there; a lie says what isn't so.
const (
	errorFault kind = iota
	omission
	lie
)

// nodeFault is something that an endpoint can do wrong.
type nodeFault struct {
	kind kind
	// lasting faults are told by other endpoints' answers alone, of which one block in ten is held against: whoever has one has it
	// until it is found out.
	lasting bool
	// ofHead faults are of what is told as the newest block. A liar is likely to have one.
	ofHead bool
	// apart faults are drawn by drawPruned alone.
	apart bool
	// whole answers instead of the node, or spoils the whole answer; calls spoils the answers of single calls.
	whole func(*exchange)
	calls func(*node, *call)
}

// statePruned is the fault of nodes that have the newest state alone.
const statePruned = "state pruned"

// anyFaults are those of any node, evmFaults and solanaFaults what nodes of one family do besides.
var anyFaults = map[string]nodeFault{
	"connection dropped": {whole: func(x *exchange) { x.drop = true }},
	"502":                {whole: func(x *exchange) { x.status, x.text = 502, "<html>Bad Gateway</html>" }},
	"HTML with 200":      {whole: func(x *exchange) { x.text = "<html>rate limited</html>" }},
	"cut short":          {whole: func(x *exchange) { x.cut = true }},
	"null":               {whole: func(x *exchange) { x.text = "null" }},
	"429":                {whole: func(x *exchange) { x.status, x.text = 429, "too many requests" }},
	"stall":              {whole: func(x *exchange) { x.stall = true }},
	"wrong id":           {calls: func(_ *node, c *call) { c.wrongID = true }},
	"rate limited":       {calls: func(_ *node, c *call) { c.fail(-32005, "rate limit exceeded") }},
	"internal error":     {calls: func(_ *node, c *call) { c.fail(-32603, "Internal error") }},
}

var evmFaults = map[string]nodeFault{
	"no logs":           {kind: omission, calls: noLogs},
	"no block":          {kind: omission, calls: noBlock},
	"no receipts":       {kind: omission, calls: noReceipts},
	"three behind":      {kind: omission, calls: headBy(-3)},
	"head far behind":   {kind: omission, ofHead: true, calls: headBy(-60)},
	"head frozen":       {kind: omission, ofHead: true, calls: headFrozen},
	statePruned:         {kind: omission, apart: true, calls: pruned},
	"logs twice":        {kind: omission, calls: logsTwice},
	"logs out of order": {kind: omission, calls: logsReversed},

	"one log index for two":   {kind: lie, calls: repeatedIndex},
	"amounts":                 {kind: lie, lasting: true, calls: amounts},
	"a log invented":          {kind: lie, calls: invented},
	"half of the logs":        {kind: lie, lasting: true, calls: halfOfLogs},
	"time ahead by an hour":   {kind: lie, calls: timeBy(3600)},
	"year 9999":               {kind: lie, calls: timeIs(253370764800)},
	"time before the parent":  {kind: lie, calls: timeBy(-7200)},
	"a bloom of zeros":        {kind: lie, calls: noBloom},
	"another parent":          {kind: lie, calls: anotherParent},
	"head far ahead":          {kind: lie, ofHead: true, calls: headBy(1000)},
	"head ahead, with blocks": {kind: lie, ofHead: true, calls: headWithBlocks(1000)},
	"head flapping":           {kind: lie, ofHead: true, calls: flaps(headBy)},
	"head of the year 10000":  {kind: lie, ofHead: true, calls: headTime(beyondFormat)},
	"logs of the year 10000":  {kind: lie, calls: logTimes(beyondFormat)},
	"no balances":             {kind: lie, calls: noBalances},
	"no supply":               {kind: lie, calls: noSupply},
	"balances of its own":     {kind: lie, calls: balancesLie},
	"decimals of its own":     {kind: lie, calls: decimalsLie},
	"receipts of its own":     {kind: lie, calls: receiptsLie},
	"another fork":            {kind: lie, calls: nil, whole: func(x *exchange) { x.fork = true }},
	"another block's logs":    {kind: lie, calls: foreignLogs},
	"every block's logs gone": {kind: lie, calls: noLogs},
}

// faultsOf are the names of the faults of a kind that are drawn for a family, in order.
func faultsOf(family string, k kind) []string {
	var names []string
	all := faultsOfFamily(family)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if f := all[name]; f.kind == k && !f.apart {
			names = append(names, name)
		}
	}
	return names
}

// headFaults are the names of a family's lies and omissions of the newest block, in order.
func headFaults(family string) []string {
	var names []string
	all := faultsOfFamily(family)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].ofHead {
			names = append(names, name)
		}
	}
	return names
}

// event is something that happens to the chain, to a process or to the database.
type event struct {
	// on is the database that it is for; empty is both. "never" ends another, and "written" stands in plans that people write alone.
	on string
	// evm says that it is for EVM chains alone.
	evm bool
	// least and most bound N; until is what ends it, if anything has to.
	least, most int
	until       string
	do          func(*run, context.Context, int) error
}

// table has every event by its name.
var table = map[string]event{
	"reorg":                {least: 1, most: 12, do: (*run).reorg},
	"rollback":             {least: 1, most: 12, do: (*run).rollback},
	"hours without blocks": {least: 1, most: 5, do: (*run).gap},
	"burst of blocks":      {least: 10, most: 40, do: (*run).burst},
	"flood of pools":       {evm: true, least: 50, most: 300, do: (*run).floodPools},
	"hostile contracts":    {evm: true, do: (*run).hostileContracts},
	"flood of trades":      {evm: true, on: "written", do: (*run).floodTrades},
	"flood of ticks":       {evm: true, on: "written", do: (*run).floodTicks},

	"kill -9":            {do: (*run).kill},
	"kill -9 of the API": {on: "postgres", do: (*run).killAPI},
	"terminate":          {do: (*run).terminate},
	"stop":               {until: "continue", do: (*run).freeze},
	"continue":           {on: "never", do: (*run).thaw},
	"stop the holder":    {on: "written", do: (*run).freezeHolder},
	"end the holder":     {on: "written", do: (*run).endHolder},
	"clock ahead":        {least: 30, most: 600, until: "clock right", do: (*run).clockAhead},
	"clock behind":       {least: 30, most: 600, until: "clock right", do: (*run).clockBehind},
	"clock right":        {on: "never", do: (*run).clockRight},
	"disk full":          {on: "sqlite", until: "disk has room", do: (*run).diskFull},
	"disk has room":      {on: "never", do: (*run).diskHasRoom},

	"connections cut":       {on: "postgres", do: (*run).cut},
	"connections swallowed": {on: "postgres", do: (*run).swallow},
	"database slow":         {on: "postgres", least: 5, most: 60, until: "database quick", do: (*run).slow},
	"database quick":        {on: "never", do: (*run).quick},
	"rows kept":             {until: "rows back", do: (*run).keepRows},
	"rows back":             {on: "never", do: (*run).rowsBack},
}
