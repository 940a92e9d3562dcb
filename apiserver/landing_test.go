package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestLandingStats: what members traded is unknown where nobody is a member; the sums are those of their hours.
func TestLandingStats(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			s := get[contract.LandingStats](t, start(t, st), "/api/platform/landing-stats")
			if s.Members != nil || s.Trades != nil || s.VolumeUSD != nil || s.Since != nil || s.UnknownReasons["members"] != contract.UnknownReasonUnavailable {
				t.Errorf("where nobody is a member: %+v", s)
			}
			if s.Launches != 2 || s.Graduated != 1 || s.TokensTraded != 10 || s.Chains != 3 {
				t.Errorf("launches, tokens and chains: %+v", s)
			}
			withProfit(t, st)
			c := start(t, st)
			eventually(t, "the members are known", func() bool {
				s = get[contract.LandingStats](t, c, "/api/platform/landing-stats")
				return s.Members != nil && *s.Members == 3 && s.Trades != nil && *s.Trades > 0
			})
			hours, volume := 0, 0.
			for h, err := range st.Wallets.Hours(t.Context(), []string{"base"}, 0, clock.Unix()) {
				if err != nil {
					t.Fatal(err)
				}
				hours, volume = hours+1, volume+h.Volume.Dollars()
			}
			if *s.Trades != 2*hours || hours == 0 || *s.VolumeUSD == volume || *s.VolumeUSD < 0.995*volume || *s.VolumeUSD > 1.005*volume {
				t.Errorf("of %d hours with a volume of %v: %d trades, %v USD", hours, volume, *s.Trades, *s.VolumeUSD)
			}
			if first := clock.Unix() - clock.Unix()%3600 - 7200; s.Since == nil || s.Since.Unix() != first {
				t.Errorf("since %v, want %d", s.Since, first)
			}
			if res, body := c.do(t, http.MethodGet, "/api/platform/landing-stats", nil); res.StatusCode != http.StatusOK || strings.Contains(string(body), `"stale":true`) {
				t.Errorf("%d %s", res.StatusCode, body)
			}
		})
	}
}
