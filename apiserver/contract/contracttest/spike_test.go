package contracttest

import "testing"

func TestSpike(t *testing.T) { New(t) }
