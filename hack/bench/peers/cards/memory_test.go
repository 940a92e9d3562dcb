package cards

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	list := []memoryAt{{bytes: 1}} // before any card
	for i := 1; i <= 10; i++ {
		list = append(list, memoryAt{cards: i * memoryEvery, bytes: int64(100 + 10*i)})
	}
	ratio, first, last := growth(list)
	if first != 115 || last != 195 || ratio != 195.0/115 {
		t.Errorf("from %v to %v, %v times as much", first, last, ratio)
	}
	if ratio, _, _ := growth([]memoryAt{{bytes: 1}, {bytes: 50}}); ratio != 1 {
		t.Errorf("one reading grew %v times", ratio)
	}
}

func TestDrawAsTold(t *testing.T) {
	t.Parallel()
	var drawn atomic.Int64
	same := func(context.Context) ([]byte, error) {
		drawn.Add(1)
		return []byte("picture"), nil
	}
	file := t.TempDir() + "/picture"
	var out bytes.Buffer
	if err := drawAsTold(t.Context(), strings.NewReader("draw 20\nsave "+file+"\n"), &out, 3, same); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "\"ready\"\n\"done\"\n\"done\"\n" || drawn.Load() != 21 {
		t.Errorf("it drew %d and said %q", drawn.Load(), got)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "picture" {
		t.Errorf("it saved %q: %v", raw, err)
	}
	another := func(context.Context) ([]byte, error) { return []byte{byte(drawn.Add(1))}, nil }
	out.Reset()
	if err := drawAsTold(t.Context(), strings.NewReader("draw 2\n"), &out, 1, another); err == nil || out.String() != "\"ready\"\n" {
		t.Errorf("other bytes are no error: %v, and it said %q", err, out.String())
	}
	if err := drawAsTold(t.Context(), strings.NewReader("paint\n"), &out, 1, same); err == nil {
		t.Error("an unknown word is no error")
	}
}

// TestMeasuredCard holds the card against the limits of what the renderer takes.
func TestMeasuredCard(t *testing.T) {
	t.Parallel()
	c, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if first, last := c.Day[0], c.Day[len(c.Day)-1]; len(c.Day) != sharecard.MaxPoints || first >= last {
		t.Errorf("%d points from %v to %v", len(c.Day), first, last)
	}
}
