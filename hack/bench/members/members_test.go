package members

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestMain is the child that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(lab.Main("test", lab.Serve(map[string]func() *catalog.Catalog{board.Name: board.Catalog})))
	}
	os.Exit(m.Run())
}

// TestMembers measures a small world for a moment, in which members' trades arrive.
func TestMembers(t *testing.T) {
	t.Setenv("BOARDWALK_CACHE", t.TempDir())
	o := &lab.Options{Rounds: 1, Duration: 2 * time.Second, DB: lab.SQLite, Clients: 100, Rate: 20, Size: lab.MarketSize{Launches: 1000, Trades: 1000, Seed: 4}}
	s := size{members: 100, entries: 1000}
	if err := on(t.Context(), o, s, func(m *measurement) error {
		m.arriving = 500
		return m.Served(t.Context(), func(api *lab.Served) error {
			r, err := m.round(t.Context(), api, 0)
			if err != nil {
				return err
			}
			for kind, name := range kinds {
				if n := len(r.of.Of(kind, http.StatusOK)); n == 0 {
					t.Errorf("%s was never answered", name)
				}
			}
			for _, target := range []string{"/api/feed/trades?filter=new", "/api/leaderboard"} {
				a, err := lab.Fetch(context.WithoutCancel(t.Context()), api.Address, target)
				if err != nil {
					return err
				}
				if len(a.Body) < 1000 { // of which each item is about as long
					t.Errorf("%s has nothing: %s", target, a.Body)
				}
			}
			a, err := lab.Fetch(context.WithoutCancel(t.Context()), api.Address, m.people.inTokens(rand.New(rand.NewPCG(1, 1)), map[string]*lab.Zipf{}))
			if err != nil {
				return err
			}
			if !strings.Contains(string(a.Body), `"handle":"member_`) {
				t.Errorf("nobody is in twenty tokens: %s", a.Body)
			}
			if told, err := m.Store().Stream.Before(context.WithoutCancel(t.Context()), 1<<53, market.StreamRunning, market.Address{}, 1); err != nil || len(told) == 0 {
				t.Errorf("no launch is told: %v", err)
			}
			if len(r.left) != leavers {
				t.Errorf("%d members left", len(r.left))
			}
			m.runs = append(m.runs, *r)
			if rows := len(m.report().Rows); rows != len(kinds) {
				t.Errorf("the report has %d rows", rows)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
}
