package main

import (
	"encoding/json"
	"testing"
	"time"
)

// TestTheHeartbeatSaysHowOldItIs: its lag and the time of the newest indexed block are held against a block that nodes have told, whatever else is told.
func TestTheHeartbeatSaysHowOldItIs(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for answer, isWrong := range map[string]bool{
		`{"as_of":"2026-06-01T11:59:00Z","chains":[{"status":"ok","head_lag_s":0}]}`:                                                false,
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"down","head_lag_s":18000}]}`:                                          false,
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"down","head_lag_s":18060,"unknown_reasons":{"head_lag_s":"stale"}}]}`: false,
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"down","head_lag_s":37}]}`:                                             false, // the database can't be read
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"down","head_lag_s":null}]}`:                                           false, // nothing is indexed
		`{"as_of":"2026-06-01T07:00:00Z","chains":[]}`:                                                                              false,
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"slow","head_lag_s":37}]}`:                                             true,
		`{"as_of":"2026-06-01T07:00:00Z","chains":[{"status":"down","head_lag_s":130}]}`:                                            true,
		`{"as_of":"2026-06-01T11:58:20Z","chains":[{"status":"ok","head_lag_s":9}]}`:                                                true,
		`{"as_of":"2026-06-01T11:58:20Z","chains":[{"status":"ok","head_lag_s":10}]}`:                                               false,
	} {
		var beat heartbeat
		if err := json.Unmarshal([]byte(answer), &beat); err != nil {
			t.Fatal(err)
		}
		if wrong := beat.isTooNew(before); (wrong != "") != isWrong {
			t.Errorf("%s: %q", answer, wrong)
		}
	}
}

// TestWhoTellsHeads: an index can't know of blocks that no endpoint tells.
func TestWhoTellsHeads(t *testing.T) {
	t.Parallel()
	always := func(fault string, from, to int) []NodeFault {
		return []NodeFault{{Fault: fault, From: from, To: to, Percent: 100}}
	}
	p := &Plan{Nodes: []Node{{Faults: []NodeFault{{Fault: "head frozen", From: 10, Percent: 100, Ever: true}}}, {Faults: always("stall", 20, 30)}}}
	for block, want := range map[int]bool{5: true, 15: true, 20: false, 30: false, 31: true, -1: true} {
		if p.tellsHeads(block) != want {
			t.Errorf("at block %d: %t", block, !want)
		}
	}
	p.Nodes[1].Faults[0].Percent = 50
	if !p.tellsHeads(25) {
		t.Error("an endpoint that answers every other request tells no head")
	}
	p.Nodes[1].Faults = always(statePruned, 20, 30)
	if !p.tellsHeads(25) {
		t.Error("an endpoint without older states tells no head")
	}
}

// TestASettledHead: a block counts once an index has had time to hear of it, and not while the index can't.
func TestASettledHead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := time.Unix(1_780_000_000, 0)
	w := &watch{heads: []seenHead{{now.Add(-2 * settled), at}, {now.Add(-settled - time.Second), at.Add(time.Hour)}, {now, at.Add(2 * time.Hour)}}}
	if head, ok := w.settledHead(); !ok || !head.Equal(at.Add(time.Hour)) {
		t.Errorf("%s, %t", head, ok)
	}
	w.excuse()
	if head, ok := w.settledHead(); ok {
		t.Errorf("%s counts, and the index could not hear of it", head)
	}
}
