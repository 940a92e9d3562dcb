package boards

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestBodiesHaveTheirRoom keeps bodies as far as there is room, which one that takes another's place gives back.
func TestBodiesHaveTheirRoom(t *testing.T) {
	t.Parallel()
	k := newCardBodies()
	first, next, other := bodyKey{mint: markettest.Address(readtest.Wrapped)}, bodyKey{mint: markettest.Address(readtest.Wrapped), withClones: true}, bodyKey{chain: "base"}
	was, is := &Card{}, &Card{verdict: verdict{rank: 1}}
	for _, step := range []struct {
		key    bodyKey
		card   *Card
		length int
		kept   bool
	}{{first, was, bodyRoom / 2, true}, {next, was, bodyRoom / 2, true}, {other, was, 1, false}, {first, is, bodyRoom/2 - 1, true}, {other, was, 1, true}} {
		c := cardBody{card: step.card}
		c.body = make([]byte, step.length)
		k.put(step.key, c)
		if _, ok := k.get(step.key, cardBody{card: step.card}); ok != step.kept {
			t.Errorf("of %d bytes there are %d left; the body is kept: %v", bodyRoom, k.room, ok)
		}
	}
	if _, ok := k.get(first, cardBody{card: was}); ok {
		t.Error("a card that changed has the body of the last one")
	}
	if _, ok := k.get(first, cardBody{card: is, stale: true}); ok {
		t.Error("a card has the same body while its chain stands still")
	}
}
