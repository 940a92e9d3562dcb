package chainconfig_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestEffort holds the rule of each family at the ends of its ranges, and the words that say it.
func TestEffort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family      chainconfig.Family
		first, last uint64
		calls       uint64
		want        string
	}{
		{chainconfig.EVM, 7, 7, 2, "some 2 calls for 1 blocks, where a node gives the logs of 1000 at once"},
		{chainconfig.EVM, 1, 1000, 2, "some 2 calls for 1000 blocks, "},
		{chainconfig.EVM, 1, 1001, 4, "some 4 calls for 1001 blocks, "},
		{chainconfig.EVM, 9, 8, 2, "some 2 calls for 1 blocks, "}, // it has no block yet
		{"", 1, 1001, 4, "some 4 calls for 1001 blocks, where a node gives the logs of 1000 at once"},
		{chainconfig.Solana, 7, 7, 2, "some 2 calls for 1 slots (one for each slot that has a block, one for each 512 slots, and a tenth more where there are several " +
			"endpoints), which bring some 1 GB where blocks are as long as on the mainnet, or a fifth of that where nodes compress"},
		{chainconfig.Solana, 1, 512, 513, "some 513 calls for 512 slots ("},
		{chainconfig.Solana, 1, 513, 515, "some 515 calls for 513 slots ("},
		{chainconfig.Solana, 1, 216_000, 216_422, "which bring some 3456 GB where "}, // a day
	} {
		e := chainconfig.EffortOf(c.family, c.first, c.last, 5)
		if e.Family != c.family || e.Calls != c.calls || e.Bytes != 5 {
			t.Errorf("%s, blocks %d to %d: %+v; want %d calls", c.family, c.first, c.last, e, c.calls)
		}
		if said := e.Reading(); !strings.Contains(said, c.want) {
			t.Errorf("it says %q, want %q in it", said, c.want)
		}
	}
}

// TestEffortOfAnOlderIndexer reads an answer that names no family.
func TestEffortOfAnOlderIndexer(t *testing.T) {
	t.Parallel()
	var r chainconfig.Reindexing
	if err := json.Unmarshal([]byte(`{"generation":2,"phase":"Starting","first":1,"effort":{"blocks":1001,"calls":4,"bytes":5}}`), &r); err != nil {
		t.Fatal(err)
	}
	if said := r.Effort.Reading(); said != "some 4 calls for 1001 blocks, where a node gives the logs of 1000 at once (20 times as many where it gives those of 50, and more where it takes few topics)" {
		t.Errorf("it says %q", said)
	}
	if raw, err := json.Marshal(chainconfig.EffortOf(chainconfig.Solana, 1, 513, 5)); err != nil || string(raw) != `{"family":"Solana","blocks":513,"calls":515,"bytes":5}` {
		t.Errorf("an effort is written as %s, %v", raw, err)
	}
}
