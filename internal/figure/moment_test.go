package figure

import (
	"math"
	"testing"
)

func TestAMomentThatCannotBeMeantIsNotWritten(t *testing.T) {
	t.Parallel()
	for unix, want := range map[int64]struct{ day, minute string }{
		math.MinInt64: {}, -1: {}, 0: {}, mostUnix + 1: {}, math.MaxInt64: {},
		1:             {"1 Jan 1970", "1 Jan 1970, 00:00 UTC"},
		1_700_000_059: {"14 Nov 2023", "14 Nov 2023, 22:14 UTC"},
		mostUnix:      {"31 Dec 9999", "31 Dec 9999, 23:59 UTC"},
	} {
		if day, minute := Day(unix), Minute(unix); day != want.day || minute != want.minute {
			t.Errorf("%d is written %q and %q, %q and %q are wanted", unix, day, minute, want.day, want.minute)
		}
	}
}
