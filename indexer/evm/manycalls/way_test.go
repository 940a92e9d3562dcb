package manycalls

import (
	"testing"
	"time"
)

// TestWhichWayIsMissing: by an empty answer Multicall3 is, by a refusal it may be there; deployless calls are missing where they have no answer of theirs.
func TestWhichWayIsMissing(t *testing.T) {
	t.Parallel()
	deployless, multicall := []byte{answerFormat, 1, 0, 0}, make([]byte, 96)
	for name, tt := range map[string]struct {
		way     Way
		raw     []byte
		refused bool
		want    bool
	}{
		"Multicall3 answers nothing":                {ByMulticall3, nil, false, true},
		"Multicall3 answers":                        {ByMulticall3, multicall, false, false},
		"Multicall3 is refused":                     {ByMulticall3, nil, true, false},
		"a deployless call answers":                 {ByDeployless, deployless, false, false},
		"a deployless call answers nothing":         {ByDeployless, nil, false, true},
		"a deployless call is refused":              {ByDeployless, nil, true, true},
		"a deployless call has others' answers":     {ByDeployless, multicall, false, true},
		"a call of its own answers nothing":         {Alone, nil, false, false},
		"a call of its own is refused":              {Alone, nil, true, false},
		"a deployless call answers for another one": {ByDeployless, append(deployless, 1, 0, 0), false, true},
	} {
		if got := tt.way.IsMissing(tt.raw, tt.refused, 1); got != tt.want {
			t.Errorf("%s: it is missing: %v", name, got)
		}
	}
}

// TestWays: that Multicall3 is missing counts for a while where deployless calls read the same, and at no time where they don't.
func TestWays(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1_700_000_000, 0)
	for _, takes := range []bool{true, false} {
		var c Chain
		first := func(after time.Duration) Way { return c.Ways(begin.Add(after), func() bool { return takes }).First() }
		if first(0) != ByMulticall3 {
			t.Error("Multicall3 isn't asked first")
		}
		want := map[bool]Way{true: ByDeployless, false: Alone}[takes]
		if next := c.Ways(begin, func() bool { return takes }).Next(ByMulticall3); next != want {
			t.Errorf("after Multicall3 comes %d, want %d", next, want)
		}
		if next := c.Ways(begin, func() bool { return takes }).Next(ByDeployless); next != Alone {
			t.Errorf("after deployless calls comes %d", next)
		}
		if got := first(KnownFor - 1); takes && got != ByDeployless || !takes && got != ByMulticall3 {
			t.Errorf("within its time the first way is %d", got)
		}
		if first(KnownFor) != ByMulticall3 {
			t.Error("Multicall3 isn't asked any more")
		}
	}
}

// TestIsProbed: a probe shows something by its own answer alone.
func TestIsProbed(t *testing.T) {
	t.Parallel()
	const n, most = 3, 4
	probe := Probe(n, most+1)
	good := []byte{answerFormat}
	for _, c := range probe {
		good = append(append(good, 1, 0, most), c.Data[:most]...)
	}
	if !IsProbed(probe, most, good) {
		t.Fatal("a good answer shows nothing")
	}
	for at := range good {
		bad := append([]byte(nil), good...)
		bad[at] ^= 1
		if IsProbed(probe, most, bad) {
			t.Errorf("with another byte %d the answer is taken", at)
		}
	}
	if IsProbed(probe, most, nil) {
		t.Error("no answer is taken")
	}
}
