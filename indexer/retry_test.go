package indexer

import (
	"testing"
	"time"
)

// TestDoubtPause holds the pause between two questions for what one endpoint alone says, with a clock that is set back.
func TestDoubtPause(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	var p doubtPause
	if !p.isOver(now) {
		t.Error("a pause that never began isn't over")
	}
	p.begin(now)
	for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		if p.isOver(now) || p.isOver(now.Add(want-1)) || !p.isOver(now.Add(want)) {
			t.Errorf("the pause isn't %s long", want)
		}
		if !p.isOver(now.Add(-time.Hour)) {
			t.Errorf("a clock that is set back by an hour prolongs a pause of %s", want)
		}
		p.begin(now)
	}
}
