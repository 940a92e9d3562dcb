package differ

import (
	"strings"
	"testing"
)

// TestDifferencesAreTold: rows that differ, lack or are too many are each told, and equal ones aren't.
func TestDifferencesAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, want []string
		told       string
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, ""},
		{[]string{"a"}, []string{"a", "b"}, "0 rows that a fresh index hasn't, 1 that it has besides"},
		{[]string{"a", "b", "c"}, []string{"a"}, "2 rows that a fresh index hasn't, 0 that it has besides"},
		{[]string{"a"}, []string{"b"}, "1 rows that a fresh index hasn't, 1 that it has besides"},
	} {
		told := strings.Join(Tables(map[string][]string{"trades": c.have}, map[string][]string{"trades": c.want}), "\n")
		if (c.told == "") != (told == "") || !strings.Contains(told, c.told) {
			t.Errorf("%v and %v: %q, want %q", c.have, c.want, told, c.told)
		}
	}
}
