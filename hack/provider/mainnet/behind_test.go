package mainnet

import (
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

var suffices = regexp.MustCompile(`^the chain makes 4[2-5],[0-9]{3} blocks a day at [0-9.]+ calls each; the endpoints allow 60,000 requests a day: ([0-9,]+) would suffice$`)

// TestAPlanThatIsTooSmallIsTold follows a chain with a block every two seconds at an endpoint that allows 60,000 calls a day, which are fewer than
// one and a half for each block. It is told how many would suffice, and with as many nothing is told any more. The clock is the chain's: it goes on
// with each block.
func TestAPlanThatIsTooSmallIsTold(t *testing.T) {
	t.Parallel()
	const window = 2 * time.Minute
	s := start(t, Options{Chain: "base", Txs: 2, Logs: 8, VolumeV2: 4, VolumeV3: 2, Past: 5}, profiles.Profile{Client: "Geth", Rate: profiles.Rate{PerDay: 60_000}})
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	s.options.Now, s.options.PlanWindow, s.options.PlanPause = now, window, 20*time.Millisecond
	// goOn makes blocks, each when the one before is indexed, until the state is as wanted.
	goOn := func(st *store.Store, what string, most time.Duration, is func(p chainconfig.Plan) bool) {
		t.Helper()
		for end := now().Add(most); !is(s.indexer.State().Plan); {
			if now().After(end) {
				t.Fatalf("after %s the plan isn't %s: %+v", most, what, s.indexer.State().Plan)
			}
			if _, err := s.Chain.Extend(time.Unix(0, clock.Add(int64(2*time.Second)))); err != nil {
				t.Fatal(err)
			}
			s.await(t, st)
		}
	}

	s.cfg.Endpoints[0].RequestsPerDay = 60_000
	st, stop := s.run(t)
	s.await(t, st)
	goOn(st, "told", 5*window, func(p chainconfig.Plan) bool { return p.Behind != "" })
	plan := s.indexer.State().Plan
	stop()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", plan)
	m := suffices.FindStringSubmatch(plan.Behind)
	if m == nil || plan.Unit != chainconfig.PlanCalls || plan.PerDay != 60_000 {
		t.Fatalf("it says %+v", plan)
	}
	enough, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
	if err != nil || enough < plan.Needed || enough > 2*plan.Needed {
		t.Fatalf("%d would suffice for %d, %v", enough, plan.Needed, err)
	}
	if behind := s.gauge(t, "boardwalk_behind_plan"); behind != 1 {
		t.Errorf("the metric is %g", behind)
	}

	s.cfg.Endpoints[0].RequestsPerDay, s.metrics = enough, prometheus.NewRegistry()
	st, stop = s.run(t)
	defer stop()
	goOn(st, "measured", 5*window, func(p chainconfig.Plan) bool {
		if p.Behind != "" {
			t.Fatalf("with what was told to suffice it says %+v", p)
		}
		return p.Needed > 0
	})
	t.Logf("%+v", s.indexer.State().Plan)
	for end := now().Add(window); now().Before(end); {
		goOn(st, "as it was", window, func(p chainconfig.Plan) bool { return p.Behind != "" || !now().Before(end) })
	}
	if p := s.indexer.State().Plan; p.Behind != "" || s.gauge(t, "boardwalk_behind_plan") != 0 {
		t.Errorf("with what was told to suffice it says %+v", p)
	}
}

// gauge is the value of a metric of one chain.
func (s *standIn) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
