package people_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// counts are the requests that the intake took: how many of each kind.
type counts struct {
	mu    sync.Mutex
	taken map[string]int
	// deleted are the paths of deletions, in their order.
	deleted []string
}

var ids = regexp.MustCompile(`(local|evm|solana):[A-Za-z0-9:]+`)

func (c *counts) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusOK {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.taken[r.Method+" "+ids.ReplaceAllString(r.URL.Path, "$1")]++
		if r.Method == http.MethodDelete {
			c.deleted = append(c.deleted, r.URL.Path)
		}
	}
	return res, err
}

// seeded is a world of fifty members in rounds, with a token that can be called.
type seeded struct {
	*intake
	*counts

	clock  *clock
	people *people.People
	store  *store.Store
	market *written.Market
}

// every is the time of a round of `make run`.
const every = 20 * time.Second

func newSeeded(t *testing.T) *seeded {
	t.Helper()
	node, accounts := newNode(t, 8453)
	c := newClock()
	s := &seeded{intake: newIntake(t, "postgres", c.Now), counts: &counts{taken: map[string]int{}}, clock: c}
	s.store = storetest.OpenAt(t, s.dsn)
	s.market = written.NewMarket(t, s.store, c.Now().Unix()-60)
	s.people = people.New(people.Options{
		Intake: s.client(s.counts), Chains: []people.Chain{{ID: "base", Node: node}}, Traders: accounts[1:35], Solana: signers(50),
		Tokens: []people.Token{{Chain: "base", Mint: s.market.Token.String(), Symbol: "DOG"}}, Seed: 1, Every: every, Now: c.Tick,
	})
	return s
}

// rounds has members live for some rounds, until one after which ends is true.
func (s *seeded) rounds(most int, ends func() bool) {
	s.t.Helper()
	for i := range most {
		s.market.Block(s.t, int64(every/time.Second), nil, written.TradeAt(s.market.Pair, 10, 100_000)...)
		if err := s.people.Round(s.t.Context()); err != nil {
			s.t.Fatalf("round %d: %v", i, err)
		}
		s.clock.add(every)
		if ends() {
			return
		}
	}
}

func never() bool { return false }

// TestComingsAndGoings counts what members do in three hours.
func TestComingsAndGoings(t *testing.T) {
	t.Parallel()
	s := newSeeded(t)
	s.rounds(1, never)
	if want := 50 - 8; s.taken["PUT /v1/members/local"] != want {
		t.Errorf("%d members are there from the start, want %d", s.taken["PUT /v1/members/local"], want)
	}
	_, before := s.export()
	fewest := 50
	s.rounds(3*60*3, func() bool {
		if s.taken["DELETE /v1/members/local"] == 0 {
			return false
		}
		_, of := s.export()
		fewest = min(fewest, len(of))
		return false
	})
	want := map[string]int{
		// 42 members at the start and 8 late ones, each with their wallets; the others are changes.
		"PUT /v1/members/local": 70, "PUT /v1/members/local/wallets/evm": 50, "PUT /v1/members/local/wallets/solana": 73, "POST /v1/wallet-challenges": 73,
		"DELETE /v1/members/local": 15, "POST /v1/presence": 541,
		"PUT /v1/calls/local": 61, "DELETE /v1/calls/local": 13, "PUT /v1/posts/local": 541, "DELETE /v1/posts/local": 26,
	}
	if !maps.Equal(s.taken, want) {
		t.Errorf("the intake took\n%v, want\n%v", s.taken, want)
	}
	if fewest < 30 {
		t.Errorf("there were %d members at a time", fewest)
	}
	_, of := s.export()
	now := strings.Join(slices.Concat(slices.Collect(maps.Values(of))...), "")
	for what, is := range map[string]bool{
		"nobody has another handle":      regexp.MustCompile(`"handle":"local_\d+_2"`).MatchString(now),
		"nobody has an avatar":           strings.Contains(now, `"avatar_url":"https://example.com/`),
		"no wallet is hidden":            strings.Contains(now, `"public":false`),
		"wallets of Solana are attested": !regexp.MustCompile(`"solana".*"attested":true`).MatchString(now),
	} {
		if !is {
			t.Error(what)
		}
	}
	if shown, was := publicOnes(of), publicOnes(before); !slices.ContainsFunc(slices.Collect(maps.Keys(was)), func(wallet string) bool {
		public, ok := shown[wallet]
		return ok && public != was[wallet]
	}) {
		t.Error("no wallet is shown that was hidden before, or hidden that was shown")
	}
}

// publicOnes says of each wallet of an export whether it is public.
func publicOnes(of map[string][]string) map[string]bool {
	public := map[string]bool{}
	for _, texts := range of {
		for _, text := range wallets(texts) {
			public[regexp.MustCompile(`"address":"[^"]*"`).FindString(text)] = strings.Contains(text, `"public":true`)
		}
	}
	return public
}

// leaves has members live until one of them leaves, and gives the id.
func (s *seeded) leaves() (id string) {
	s.t.Helper()
	known := len(s.deleted)
	s.rounds(3*60, func() bool {
		for _, path := range s.deleted[known:] {
			if id = strings.TrimPrefix(path, "/v1/members/"); id != path {
				return true
			}
		}
		id = ""
		return false
	})
	if id == "" {
		s.t.Fatal("nobody leaves within an hour")
	}
	return id
}

// comesBack has members live until one of them is exported again, and reports whether that was within an hour.
func (s *seeded) comesBack(id string) bool {
	s.t.Helper()
	back := false
	s.rounds(3*60, func() bool {
		_, of := s.export()
		back = len(of[id]) > 0
		return back
	})
	return back
}

// checkAbsent checks that nothing of the intake names a member who has left.
func (s *seeded) checkAbsent(id string) {
	s.t.Helper()
	lines, _ := s.export()
	for _, l := range lines {
		if l.ID == id || l.Member == id || strings.HasPrefix(l.Handle+"_", strings.Replace(id, ":", "_", 1)+"_") {
			s.t.Errorf("%s has left, and the export has %+v", id, l)
		}
	}
	if err := s.client(nil).Do(s.t.Context(), http.MethodGet, "/v1/members/"+id, nil, nil); err == nil {
		s.t.Errorf("%s has left, and is answered", id)
	}
}

// returns has members live until one has left and comes back, and gives the id. absent, if set, is what happens while one is away.
func (s *seeded) returns(absent func()) (id string) {
	s.t.Helper()
	for range 20 {
		id := s.leaves()
		if absent != nil {
			absent()
		}
		s.checkAbsent(id)
		if s.comesBack(id) {
			return id
		}
	}
	s.t.Fatal("of twenty who left nobody comes back")
	return ""
}

// TestMembersLeaveAndComeBack follows a member who leaves: the export has nothing of them then, and all their wallets again once they are back, as they were.
func TestMembersLeaveAndComeBack(t *testing.T) {
	t.Parallel()
	s := newSeeded(t)
	s.rounds(1, never)
	_, before := s.export()
	id := s.returns(nil)
	if _, of := s.export(); !slices.Equal(wallets(of[id]), wallets(before[id])) {
		t.Errorf("%s came back with\n%s, had\n%s", id, wallets(of[id]), wallets(before[id]))
	}
}

// TestMembersComeBackLate has the intake erase whoever is away, as when this program was suspended for two hours: they join anew, and don't delete what they
// wrote before, which the intake doesn't have any more.
func TestMembersComeBackLate(t *testing.T) {
	t.Parallel()
	s := newSeeded(t)
	s.rounds(2*60, never)
	for range 6 {
		_, before := s.export()
		id := s.returns(func() {
			s.clock.add(2 * time.Hour)
			s.market.Block(t, 2*60*60, nil, written.TradeAt(s.market.Pair, 10, 100_000)...)
			if _, err := s.store.Social.Upkeep.Clean(t.Context(), s.clock.Now().Unix()); err != nil {
				t.Fatal(err)
			}
		})
		if _, of := s.export(); len(wallets(of[id])) != len(wallets(before[id])) {
			t.Errorf("%s joined anew with\n%s, had\n%s", id, wallets(of[id]), wallets(before[id]))
		}
		s.rounds(60, never)
	}
}
