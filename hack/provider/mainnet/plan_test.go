package mainnet

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
)

// TestAnIndexWithinAPlan indexes stand-ins behind what providers' small plans allow: so many calls or units a second, those of a batch added up,
// so many blocks a range. The index has to get to the head.
func TestAnIndexWithinAPlan(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quicknode", "public", "alchemy-free", "infura"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile, err := node.ProfileOf(name)
			if err != nil {
				t.Fatal(err)
			}
			profile.Latency = node.Latency{}
			s := start(t, Options{Chain: "base", Txs: 20, Logs: 80, VolumeV2: 24, VolumeV3: 8, Past: 25}, profile)
			st := s.index(t)
			counts := s.node.Counts()
			t.Logf("%d calls, refused %v", counts.AllCalls, counts.Refused)
			s.compare(t, st)
		})
	}
}
