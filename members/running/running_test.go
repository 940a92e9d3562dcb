package running_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/running"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// now is the time of all tests.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fakeBoard answers as an API server does, well or badly. It is a stand-in: no real one can be made to lie.
type fakeBoard struct {
	// pages are the answers, by the cursor that asks for them.
	pages map[string]string
	asked []string
}

func (b *fakeBoard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.asked = append(b.asked, r.URL.String())
	body, ok := b.pages[r.URL.Query().Get("before")]
	if !ok {
		http.Error(w, "no such page", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte(body))
}

// mint is the address of a token.
func mint(n int) string { return fmt.Sprintf("0x%040x", n) }

// page is a page of the board with tokens that were launched a time ago. next is the cursor of the page after it; empty is none.
func page(next string, age time.Duration, mints ...string) string {
	var cards []string
	for _, m := range mints {
		cards = append(cards, fmt.Sprintf(`{"chain":"base","mint":%q,"created_at":%q,"gate_pass":true}`, m, now.Add(-age).Format(time.RFC3339)))
	}
	cursor := "null"
	if next != "" {
		cursor = `"` + next + `"`
	}
	return `{"launches":[` + strings.Join(cards, ",") + `],"next_before":` + cursor + `}`
}

// told lists what the stream tells of launches in Running, in its order.
func told(t *testing.T, st *store.Store) (mints []string) {
	t.Helper()
	items, err := st.Stream.Before(t.Context(), 1<<53, market.StreamRunning, market.Address{}, 5_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range slices.Backward(items) {
		if it.Time != now.Unix() || it.Chain != "base" {
			t.Errorf("the stream has %+v", it)
		}
		mints = append(mints, it.Token.String())
	}
	return mints
}

// newFollower makes a follower of a fake board.
func newFollower(t *testing.T, to running.Stream, b http.Handler) *running.Follower {
	t.Helper()
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	f, err := running.New(server.URL+"/", to, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lease takes the lease to tell under.
func lease(t *testing.T, st *store.Store) *social.Lease {
	t.Helper()
	l, err := st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// counted counts what a follower tells.
type counted struct {
	running.Stream

	launches int
}

func (c *counted) Tell(ctx context.Context, l *social.Lease, launches []social.LaunchAt, now int64) error {
	c.launches += len(launches)
	return c.Stream.Tell(ctx, l, launches, now)
}

// TestLook: each launch is told once, whichever page it is on, and whoever looks. Of those of one look the best gets the highest number.
func TestLook(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			b := &fakeBoard{pages: map[string]string{"": page("next", time.Hour, mint(1), mint(2)), "next": page("", time.Hour, mint(3), mint(2))}}
			to := &counted{Stream: st.Social.Running}
			f, l := newFollower(t, to, b), lease(t, st)
			look := func(f *running.Follower, asked int, want ...string) {
				t.Helper()
				to.launches = 0
				if err := f.Look(t.Context(), l); err != nil {
					t.Fatal(err)
				}
				if got := told(t, st); !slices.Equal(got, want) || to.launches != asked {
					t.Fatalf("told are %v after %d were to be; want %v and %d", got, to.launches, want, asked)
				}
			}
			look(f, 3, mint(2), mint(3), mint(1))
			if !slices.Equal(b.asked, []string{"/api/launch/launches?limit=100&sort=running", "/api/launch/launches?before=next&limit=100&sort=running"}) {
				t.Errorf("it asked for %v", b.asked)
			}
			look(f, 0, mint(2), mint(3), mint(1))
			b.pages[""] = page("", time.Hour) // all leave Running
			look(f, 0, mint(2), mint(3), mint(1))
			b.pages[""] = page("", time.Hour, mint(1), mint(4)) // one comes back
			look(f, 2, mint(2), mint(3), mint(1), mint(4))
			look(newFollower(t, to, b), 2, mint(2), mint(3), mint(1), mint(4))
			f.Forget()
			look(f, 2, mint(2), mint(3), mint(1), mint(4))
			for range 39 {
				look(f, 0, mint(2), mint(3), mint(1), mint(4))
			}
			look(f, 2, mint(2), mint(3), mint(1), mint(4))
		})
	}
}

// TestBadBoards: what can't be read is told later, and leaves out nothing else.
func TestBadBoards(t *testing.T) {
	t.Parallel()
	const span = 7 * 24 * time.Hour // for which the stream keeps items
	hour := time.Hour
	var thousand []string
	endless := map[string]string{}
	for i := range 12 {
		var some []string
		for j := range 100 {
			some = append(some, mint(1+i*100+j))
		}
		before := ""
		if i > 0 {
			before = strconv.Itoa(i)
		}
		endless[before] = page(strconv.Itoa(i+1), hour, some...)
		if i < 10 {
			thousand = append(thousand, some...)
		}
	}
	for name, c := range map[string]struct {
		pages map[string]string
		want  []string
		fails string
	}{
		"an error":                     {map[string]string{}, nil, "500"},
		"an error after a page":        {map[string]string{"": page("x", hour, mint(1))}, []string{mint(1)}, "500"},
		"no JSON":                      {map[string]string{"": "<html>"}, nil, "read the launch board"},
		"too much":                     {map[string]string{"": `{"launches":[` + strings.Repeat(" ", 8<<20) + `]}`}, nil, "more than 8388608 bytes"},
		"a token that is none":         {map[string]string{"": page("", hour, mint(1), "0x12", mint(2))}, []string{mint(1), mint(2)}, `"0x12"`},
		"the zero address":             {map[string]string{"": page("", hour, mint(0))}, nil, "a token"},
		"figures that stand still":     {map[string]string{"": `{"stale":true,` + page("", hour, mint(1))[1:]}, nil, "stale"},
		"as old as the stream forgets": {map[string]string{"": page("", span-hour, mint(1))}, nil, ""},
		"a second younger":             {map[string]string{"": page("", span-hour-time.Second, mint(1))}, []string{mint(1)}, ""},
		"pages without an end":         {endless, thousand, ""},
		"nothing":                      {map[string]string{"": `{}`}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, "sqlite")
			f, l := newFollower(t, st.Social.Running, &fakeBoard{pages: c.pages}), lease(t, st)
			err := f.Look(t.Context(), l)
			if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("it says %v; want %q", err, c.fails)
			}
			got := told(t, st)
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("told are %d: %.200v; want %d", len(got), got, len(c.want))
			}
		})
	}
}

// brokenStream refuses what it is told until it works.
type brokenStream struct {
	running.Stream

	works bool
}

var errBroken = errors.New("the database is gone")

func (s *brokenStream) Tell(ctx context.Context, l *social.Lease, launches []social.LaunchAt, now int64) error {
	if !s.works {
		return errBroken
	}
	return s.Stream.Tell(ctx, l, launches, now)
}

// TestALaterLookTells: what the database didn't take is told by the next look.
func TestALaterLookTells(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	broken := &brokenStream{Stream: st.Social.Running}
	f, l := newFollower(t, broken, &fakeBoard{pages: map[string]string{"": page("", time.Hour, mint(1))}}), lease(t, st)
	if err := f.Look(t.Context(), l); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if broken.works = true; f.Look(t.Context(), l) != nil || !slices.Equal(told(t, st), []string{mint(1)}) {
		t.Errorf("told are %v", told(t, st))
	}
}

// TestAnotherServerIsAsked: after a look that failed the next one makes a new connection, which may lead to another API server.
func TestAnotherServerIsAsked(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	b := &fakeBoard{pages: map[string]string{"": page("", time.Hour, mint(1))}}
	var from []string
	f, l := newFollower(t, st.Social.Running, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		b.ServeHTTP(w, r)
	})), lease(t, st)
	for _, p := range []string{page("", time.Hour, mint(1)), `{"stale":true}`, page("", time.Hour, mint(1))} {
		b.pages[""] = p
		_ = f.Look(t.Context(), l)
	}
	if len(from) != 3 || from[0] != from[1] || from[1] == from[2] {
		t.Errorf("it asked from %v", from)
	}
}

// TestWithoutTheLease: who has lost the lease tells nothing.
func TestWithoutTheLease(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			l, err := st.Social.Leases.Acquire(t.Context(), "first", 1)
			if err != nil {
				t.Fatal(err)
			}
			for next := (*social.Lease)(nil); next == nil; {
				if next, err = st.Social.Leases.Acquire(t.Context(), "second", time.Hour.Milliseconds()); err != nil {
					t.Fatal(err)
				}
			}
			err = st.Social.Running.Tell(t.Context(), l, []social.LaunchAt{{Chain: "base", Mint: markettest.Address(mint(1))}}, now.Unix())
			if !errors.Is(err, social.ErrLeaseLost) || told(t, st) != nil {
				t.Errorf("it says %v, and told are %v", err, told(t, st))
			}
		})
	}
}

// TestAddresses: an address that can't be one of an API server is refused.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://api.example.com/": true, "http://[::]:8080": true,
		(&url.URL{Scheme: "http", Host: "[fe80::1%eth0]:8080"}).String(): true, "": false, "127.0.0.1:8080": false, "ftp://a": false, "http://": false,
		"http://user:word@a": false, "http://a?b": false, "http://a#b": false,
	} {
		if _, err := running.New(address, nil, time.Now); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
