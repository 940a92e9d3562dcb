package poolstate

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestAPoolIsAskedWithinTheLimits: as much as is asked in one call fits into a deployless one, and no way asks more than a probe shows.
func TestAPoolIsAskedWithinTheLimits(t *testing.T) {
	t.Parallel()
	probe := manycalls.ByDeployless.Data(LargestProbe())
	r := v3Reader{pool: market.EVMAddress([32]byte{31: 1}), way: manycalls.ByDeployless}
	for name, tt := range map[string]struct {
		question     string
		atOnce, most int
	}{"words": {r.word(-7), wordsAtOnce, wordLength}, "ticks": {r.tick(-7), ticksAtOnce, tickLength}} {
		var questions []string
		for range tt.atOnce {
			questions = append(questions, tt.question)
		}
		calls := r.together(append(questions, tt.question))
		if len(calls) != 2 || calls[0].Questions != tt.atOnce || calls[1].Questions != 1 {
			t.Fatalf("%s: %d calls", name, len(calls))
		}
		data := calls[0].Data
		if len(data) < 2*tt.atOnce*questionLength || len(data) > len(probe) || tt.atOnce*(3+tt.most) > wordsAtOnce*(3+wordLength) {
			t.Errorf("%s: a call has %d digits, a probe %d", name, len(data), len(probe))
		}
		if q := calls[0].Data[len(data)-2*questionLength:]; strings.TrimPrefix(tt.question, "0x") != q {
			t.Errorf("%s: it asks %s", name, q)
		}
	}
}
