package recent

import "testing"

// TestWhatIsPutInAgainStays puts in many values, and one of them again and again.
func TestWhatIsPutInAgainStays(t *testing.T) {
	t.Parallel()
	const most = 8
	c := New[int, string](most)
	c.Put(0, "first")
	for i := 1; i < 100; i++ {
		c.Put(i, "another")
		if i%3 == 0 {
			c.Put(0, "again")
		}
		if n := len(c.young) + len(c.old); n > most {
			t.Fatalf("%d values are kept, want at most %d", n, most)
		}
		if v, ok := c.Get(i); !ok || v != "another" {
			t.Errorf("the newest value is %q", v)
		}
	}
	if v, ok := c.Get(0); !ok || v != "again" {
		t.Errorf("the value that was put in again is %q", v)
	}
	if _, ok := c.Get(90); ok {
		t.Error("a value is there after nine others")
	}
}

// TestAValueIsReplacedInItsPlace: a key that is there takes no other's place.
func TestAValueIsReplacedInItsPlace(t *testing.T) {
	t.Parallel()
	c := New[int, int](4)
	c.Put(1, 1)
	for i := range 100 {
		c.Put(2, i)
	}
	if v, ok := c.Get(1); !ok || v != 1 {
		t.Errorf("%d, %t", v, ok)
	}
	if v, _ := c.Get(2); v != 99 {
		t.Errorf("%d, want 99", v)
	}
}

func TestTheSmallestCache(t *testing.T) {
	t.Parallel()
	c := New[int, int](0)
	c.Put(1, 1)
	if v, ok := c.Get(1); !ok || v != 1 {
		t.Errorf("%d, %t", v, ok)
	}
}
