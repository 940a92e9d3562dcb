package board

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func mint(n int) market.Address {
	var w [32]byte
	w[30], w[31] = byte(n>>8), byte(n)
	return market.EVMAddress(w)
}

func TestFolder(t *testing.T) {
	t.Parallel()
	const start, day = 1_700_000_000, 86400
	f := NewFolder[market.Address]()
	for i, c := range []struct {
		at           int64
		name, ticker string
		head         int // the launch that it folds into; its own number when none
	}{
		0:  {0, "Pepe", "PEPE", 0},
		1:  {10, "pépe", "FROG", 0},        // by name
		2:  {20, "Green Frog", "$pepe", 0}, // by ticker
		3:  {30, "Froggy", "FROG", 3},      // launch 1 was a clone, so nobody's head
		4:  {40, "Green Frog", "GF", 4},
		5:  {50, "Froggy", "pepe", 0},     // two heads: the older one
		6:  {60, "PEPE", "froggy", 0},     // a name is no ticker
		7:  {70, "frog", "gf", 4},         //
		8:  {80, "", "$", 8},              // nothing is like nothing
		9:  {90, " ", "", 9},              //
		10: {day - 1, "PEPE", "x", 0},     //
		11: {day, "PEPE", "x", 11},        // the first head has had its day
		12: {day + 29, "Froggy", "y", 3},  //
		13: {day + 31, "Froggy", "x", 11}, //
		14: {day + 32, "Froggy", "y", 14}, //
	} {
		head, folded := f.Add(start+c.at, mint(i), c.name, c.ticker)
		if head != mint(c.head) || folded != (i != c.head) {
			t.Errorf("launch %d folds (%v) into %s, want %d", i, folded, head, c.head)
		}
	}
	if head, folded := f.Add(start+day+33, mint(11), "PEPE", "x"); folded || head != mint(11) {
		t.Errorf("a head that comes again folds (%v) into %s", folded, head)
	}
}

// Keys that are kept say what their texts do, also when all launches are folded anew.
func TestFolderAddsByKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type launch struct{ name, symbol string }
		text := rapid.SampledFrom([]string{"", "Pepe", " pépe", "$FROG", "frog", "Moon"})
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) launch {
			return launch{text.Draw(t, "name"), text.Draw(t, "symbol")}
		}), 1, 20).Draw(t, "launches")
		byKeys := NewFolder[market.Address]()
		keys := make([]Keys, len(list))
		for i, l := range list {
			keys[i] = byKeys.Keys(l.name, l.symbol)
		}
		for range 2 {
			byText := NewFolder[market.Address]()
			for i, l := range list {
				at := int64(i) * CloneWindow / 5
				head, folded := byKeys.AddKeys(at, mint(i), keys[i])
				if want, is := byText.Add(at, mint(i), l.name, l.symbol); head != want || folded != is {
					t.Fatalf("by keys launch %d folds (%v) into %s, by its texts (%v) into %s", i, folded, head, is, want)
				}
			}
			byKeys.Reset()
		}
	})
}

// A folder says what one would say that looks through all launches of the last day, and keeps no more than their heads.
func TestFolderEqualsLookingThroughAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type launch struct {
			at           int64
			mint         market.Address
			name, ticker string
		}
		name := rapid.SampledFrom([]string{"", "$", "a", "A", "b", "c", "ç", "d d", "dd", "e"})
		var heads []launch
		f := NewFolder[market.Address]()
		now := rapid.Int64Range(1, 2_000_000_000).Draw(t, "start")
		for i := range rapid.IntRange(1, 120).Draw(t, "launches") {
			now += rapid.SampledFrom([]int64{0, 1, 600, 3 * 3600, 86399, 86400}).Draw(t, "step")
			l := launch{now, mint(i), name.Draw(t, "name"), name.Draw(t, "ticker")}
			n, ticker := normalise(l.name), normalise(l.ticker)
			want, folded := l.mint, false
			living := 0
			for _, h := range heads {
				if now-h.at >= 86400 {
					continue
				}
				living++
				if !folded && (n != "" && normalise(h.name) == n || ticker != "" && normalise(h.ticker) == ticker) {
					want, folded = h.mint, true
				}
			}
			if !folded {
				heads = append(heads, l)
				living++
			}
			got, gotFolded := f.Add(l.at, l.mint, l.name, l.ticker)
			if got != want || gotFolded != folded {
				t.Fatalf("launch %d (%q, %q) folds (%v) into %s, want (%v) %s", i, l.name, l.ticker, gotFolded, got, folded, want)
			}
			if len(f.heads) != living || len(f.names) > living || len(f.tickers) > living {
				t.Fatalf("%d heads, %d names and %d tickers are kept for %d", len(f.heads), len(f.names), len(f.tickers), living)
			}
		}
	})
}

// A folder's room holds what lives and what has had its time since the heads were moved to its front. They move when the room is used up,
// and into more room where they fill half of it.
func TestFolderTakesRoomAsItNeedsIt(t *testing.T) {
	t.Parallel()
	const room = 64 // the first one
	for _, c := range []struct {
		name    string
		expired int // of the heads that fill the room
		want    int // room after one more head
	}{
		{"one less than half of the heads live", room/2 + 1, room},
		{"half of the heads live", room / 2, 4*room/2 + 64},
		{"all live", 0, 4*room + 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := NewFolder[market.Address]()
			at := int64(1_700_000_000)
			for i := range room {
				if i == c.expired {
					at += CloneWindow
				}
				f.AddKeys(at, mint(i), Keys{})
			}
			if i := 2; c.expired > 0 { // while there is room, nothing moves
				if len(f.heads) != room-c.expired || &f.heads[i] != &f.room[c.expired+i] {
					t.Fatalf("%d heads don't lie where they were put, before the room was used up", len(f.heads))
				}
			}
			f.AddKeys(at, mint(room), Keys{})
			if len(f.room) != c.want || len(f.heads) != room-c.expired+1 || &f.heads[0] != &f.room[0] {
				t.Errorf("%d heads in a room of %d, want %d at the front of a room of %d", len(f.heads), len(f.room), room-c.expired+1, c.want)
			}
			for i, h := range f.heads {
				if h.launch != mint(c.expired+i) {
					t.Fatalf("head %d is launch %s, want %d", i, h.launch, c.expired+i)
				}
			}
		})
	}
}

// A launch whose time is before that of the one ahead of it, as two chains' clocks allow, is taken for simultaneous.
func TestFolderBearsWithTime(t *testing.T) {
	t.Parallel()
	const start, day = 1_700_000_000, 86400
	f := NewFolder[market.Address]()
	f.Add(start, mint(1), "a", "a")
	f.Add(start-10*day, mint(2), "b", "b")
	for i, c := range []struct {
		at   int64
		name string
		head int
	}{{start - 5*day, "a", 1}, {start + day - 1, "a", 1}, {start + day - 1, "b", 2}, {start + day, "b", 13}} {
		if head, folded := f.Add(c.at, mint(10+i), c.name, ""); head != mint(c.head) || folded != (c.head < 10) {
			t.Errorf("launch %d folds (%v) into %s, want %d", 10+i, folded, head, c.head)
		}
	}
}

func BenchmarkFolderAdd(b *testing.B) {
	for what, name := range map[string]string{"short": "Token %d", "long": "Tökén №%d " + strings.Repeat("很长的名字", 10)} {
		b.Run(what, func(b *testing.B) {
			f := NewFolder[market.Address]()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.Add(1_700_000_000+int64(i), mint(i), fmt.Sprintf(name, i), "TICK")
			}
		})
	}
}

// Names that show nothing are one name, however they are written: none of them can be told from another. What has no name at all
// may be anything still.
func TestNamesThatShowNothingAreOne(t *testing.T) {
	t.Parallel()
	const start = 1_700_000_000
	f := NewFolder[market.Address]()
	for i, name := range []string{
		"\u200b", " ", "\u200b\u200b", "\u0301\u0301", "\u2800", "\ufeff\u200d", "\u3164", "\u202e \u202c", "\u00a0\t", "\u115f\u1160", "\ufe0f", "\u0e31",
	} {
		head, folded := f.Add(start+int64(i), mint(i), name, fmt.Sprintf("T%d", i))
		if head != mint(0) || folded != (i > 0) {
			t.Errorf("the name %+q folds (%v) into %s, want the first that shows nothing", name, folded, head)
		}
	}
	for i, ticker := range []string{"\u2060", "\u200b \u0300"} {
		head, folded := f.Add(start+int64(20+i), mint(20+i), fmt.Sprintf("Name %d", i), ticker)
		if head != mint(20) || folded != (i > 0) {
			t.Errorf("the ticker %+q folds (%v) into %s", ticker, folded, head)
		}
	}
	for i := range 2 {
		if head, folded := f.Add(start+30, mint(30+i), "", ""); folded {
			t.Errorf("without a name launch %d folds into %s", 30+i, head)
		}
	}
}
