package traction

import "testing"

// A table of few wallets is looked through and has no slots; a larger one's are at most three quarters full.
func TestSlotsOfTheWallets(t *testing.T) {
	t.Parallel()
	slots := func(n int) int {
		switch {
		case n <= 16:
			return 0
		case n <= 24:
			return 32
		case n <= 48:
			return 64
		default:
			return 128
		}
	}
	var s wallets
	for n := 1; n <= 96; n++ {
		s.get(uint64(n) << 3)
		if len(s.slots) != slots(n) {
			t.Fatalf("%d wallets have %d slots, want %d", n, len(s.slots), slots(n))
		}
	}
	for _, left := range []int{49, 48, 25, 24, 17, 16, 1, 0} {
		s.keep(func(w *walletSums) bool { return w.key <= uint64(left)<<3 })
		if len(s.list) != left || len(s.slots) != slots(left) {
			t.Fatalf("%d wallets in %d slots are left, want %d in %d", len(s.list), len(s.slots), left, slots(left))
		}
		for n := 1; n <= 96; n++ {
			if w := s.find(uint64(n) << 3); (w != nil) != (n <= left) || w != nil && w.key != uint64(n)<<3 {
				t.Fatalf("of %d wallets wallet %d is %+v", left, n, w)
			}
		}
	}
}

// The list of wallets moves when its room is used up alone, into a quarter more.
func TestRoomOfTheWallets(t *testing.T) {
	t.Parallel()
	var s wallets
	for n := range 1000 {
		room := cap(s.list)
		var first *walletSums
		if n > 0 {
			first = &s.list[0]
		}
		s.get(uint64(n + 1))
		switch {
		case n < room && &s.list[0] != first:
			t.Fatalf("the list of %d wallets moved with room for %d", n, room)
		case n == room && cap(s.list) != n+n/4+2:
			t.Fatalf("the list of %d wallets took room for %d, want %d", n, cap(s.list), n+n/4+2)
		}
	}
}

// What keep frees is given back where it is more than a quarter of what is left and two wallets.
func TestKeepGivesRoomBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		room, left, want int
	}{
		{"a quarter and two more", 22, 16, 22},
		{"one more than that", 23, 16, 16},
		{"all of it", 22, 0, 0},
		{"two, with none left", 2, 0, 2},
	} {
		s := wallets{list: make([]walletSums, 0, c.room)}
		for n := range min(c.left+1, c.room) {
			s.get(uint64(n + 1))
		}
		s.keep(func(w *walletSums) bool { return w.key <= uint64(c.left) })
		if len(s.list) != c.left || cap(s.list) != c.want {
			t.Errorf("%s: %d wallets have room for %d, want %d with %d", c.name, len(s.list), cap(s.list), c.left, c.want)
		}
	}
	s := wallets{list: make([]walletSums, 0, 100)}
	s.get(1)
	s.keep(func(*walletSums) bool { return true })
	if cap(s.list) != 100 {
		t.Errorf("keeping all gave room back: %d are left of 100", cap(s.list))
	}
}
