package members_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// TestOverdueRows: the metrics say for how long rows are kept beyond their time: a challenge beyond 5 minutes, the answer to a key beyond 7 days, and what is known of a member
// who left beyond an hour.
func TestOverdueRows(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		hold := func(what string, want ...string) {
			t.Helper()
			var told []string
			if !wait.Until(in.t.Context(), 20*time.Millisecond, func() bool {
				families, err := in.metrics.Gather()
				if err != nil {
					t.Fatal(err)
				}
				told = nil
				for _, f := range families {
					if f.GetName() == "boardwalk_members_overdue_seconds" {
						for _, m := range f.GetMetric() {
							told = append(told, m.GetLabel()[0].GetValue()+" "+time.Duration(m.GetGauge().GetValue()*1e9).Truncate(time.Minute).String())
						}
					}
				}
				return slices.Equal(told, want)
			}) {
				t.Fatalf("%s:\n%s", what, strings.Join(told, "\n"))
			}
		}
		in.member("u1", "ada")
		in.challenge("u1", "evm", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
		in.member("u2", "bob")
		if got := in.put("/v1/members/u2", `{"handle":"bobby","joined_at":"2026-01-01T00:00:00Z","updated_at":"`+in.tick()+`"}`, "Idempotency-Key", "k"); got != "written" {
			t.Fatal(got)
		}
		if a := in.do(http.MethodDelete, "/v1/members/u1?updated_at="+in.tick(), nil); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		in.clock.add(time.Minute)
		hold("nothing is", "answers 0s", "challenges 0s", "handles 0s", "members 0s", "proofs 0s")
		in.clock.add(2 * time.Hour)
		hold("two hours later", "answers 0s", "challenges 1h56m0s", "handles 0s", "members 1h1m0s", "proofs 0s")
	})
}
