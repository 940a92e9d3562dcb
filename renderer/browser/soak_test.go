package browser

import (
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsLeftAfterManyCardsAndKills kills browsers and their processes while pictures are drawn; begin's cleanup sees
// that nothing is left. BOARDWALK_TEST_SOAK makes it a thousand pictures and fifty kills.
func TestNothingIsLeftAfterManyCardsAndKills(t *testing.T) {
	pictures, kills, kinds := 60, 4, []string{"renderer"}
	if os.Getenv("BOARDWALK_TEST_SOAK") != "" {
		// A killed zygote takes the tabs with it, which the browser doesn't tell: each costs half a deadline.
		pictures, kills, kinds = 1000, 50, []string{"renderer", "gpu-process", "zygote", "utility"}
	}
	w := begin(t, Options{Tabs: 2, RecycleAfter: pictures / 5, Deadline: 20 * time.Second, Patience: 20 * time.Second})
	expected := w.mustDraw(sample(1))
	var drawn, failed atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for drawn.Load()+failed.Load() < int64(pictures) {
				png, err := w.picture(sample(1))
				switch {
				case err != nil:
					failed.Add(1)
					time.Sleep(w.RetryAfter())
				case string(png) != string(expected):
					t.Error("another picture")
				default:
					drawn.Add(1)
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range kills {
		for drawn.Load()+failed.Load() < int64(n*pictures/kills) {
			time.Sleep(time.Millisecond)
		}
		i := w.running()
		pids := []int{i.pid}
		for _, kind := range kinds {
			pids = append(pids, w.kind(i, kind)...)
		}
		victim := pids[random.IntN(len(pids))]
		if n == 0 {
			victim = i.pid
		}
		_ = syscall.Kill(victim, syscall.SIGKILL) // it may be gone
	}
	all.Wait()
	t.Logf("%d drawn, %d failed, %d kills; browsers: %.0f ended, %.0f hung, %.0f lost their tabs, %.0f replaced after their count",
		drawn.Load(), failed.Load(), kills, w.replaced(reasonEnded), w.replaced(reasonHung), w.replaced(reasonTab), w.replaced(reasonCards))
	if failed.Load() > int64(kills) {
		t.Errorf("%d pictures failed, more than there were kills", failed.Load())
	}
}
