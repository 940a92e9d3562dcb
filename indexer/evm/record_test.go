package evm

import (
	"testing"
	"time"
)

// TestRecordsOfOneURLTwice declares an endpoint twice: a database takes one record of it.
func TestRecordsOfOneURLTwice(t *testing.T) {
	t.Parallel()
	s := sourceOf(t, time.Now, "http://127.0.0.1:1/", "http://127.0.0.1:1/")
	first, second := s.pool.List[0], s.pool.List[1]
	s.outvoted(first)
	s.outvoted(second)
	s.outvoted(second)
	if got := s.Records(); len(got) != 1 || got[0].Outvoted != 2 {
		t.Errorf("the records are %+v, want one that says 2", got)
	}
}
