package judge

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/member"
)

// TestDocument replays the example of docs/calls.md.
func TestDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/calls.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		closing
		held  float64
		known uint64
	}
	var rows []row
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			continue
		}
		var n [5]float64
		isRow := true
		for i := range n {
			if n[i], err = strconv.ParseFloat(strings.TrimSpace(cells[i+1]), 64); err != nil {
				isRow = false
			}
		}
		if isRow {
			rows = append(rows, row{closing{uint64(n[0]), int64(n[1]), n[2]}, n[3], uint64(n[4])})
		}
	}
	if len(rows) != 7 {
		t.Fatalf("%d rows were read", len(rows))
	}
	var h held
	at, peak := 0, 0.
	for block := rows[0].block; block <= rows[len(rows)-1].known; block++ {
		second := int64(block-rows[0].block) * 4
		found := func(from closing) {
			r := rows[at]
			if at++; from.block != r.block || from.usd != r.held || block != r.known {
				t.Errorf("from block %d on %v USD are held, known by block %d; the page says %+v", from.block, from.usd, block, r)
			}
			peak = max(peak, from.usd)
		}
		for _, r := range rows {
			if r.block == block {
				if r.time != second {
					t.Errorf("block %d is at second %d", block, second)
				}
				h.add(r.closing, found)
			}
		}
		h.advance(block, second, found)
	}
	for _, said := range []string{
		fmt.Sprintf("a multiple of **%v**", peak/rows[0].usd), "is a **win**", "**ten blocks and twenty seconds**", "`win` once the peak is twice the price",
	} {
		if !strings.Contains(string(doc), said) {
			t.Errorf("docs/calls.md doesn't say %q", said)
		}
	}
	if at != len(rows) || holdBlocks != 10 || holdSeconds != 20 || member.WinMultiple != 2 || member.CallsADay != 5 || member.CallSpan != 7*24*60*60 {
		t.Errorf("%d rows were replayed, or the rules are others by now", at)
	}
}
