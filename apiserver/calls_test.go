package apiserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// callOf is a record of a call of a token on base at half of its price of now.
func callOf(tb testing.TB, by, id, mint, text string, refs ...member.TokenRef) member.Record {
	tb.Helper()
	return member.Record{ID: member.ID(by), Call: &member.CallRecord{
		ID: member.CallID(id), Chain: "base", Mint: address(tb, mint), Text: text, Refs: refs, Price: member.CallPrice{USD: 1, Block: 100, Time: clock.Unix() - 2},
	}}
}

// judge has one call stand as a change of its standing says.
func judge(tb testing.TB, st *store.Store, id string, change func(*member.Standing)) {
	tb.Helper()
	lease, err := st.Social.Leases.Acquire(tb.Context(), "test", time.Minute.Milliseconds())
	if err != nil || lease == nil {
		tb.Fatal("no lease", err)
	}
	c, err := st.Social.Calls.Call(tb.Context(), member.CallID(id))
	if err != nil {
		tb.Fatal(err)
	}
	change(&c.Standing)
	if err := st.Social.Calls.Judge(tb.Context(), lease, []social.Judged{{Number: c.Number, Standing: c.Standing}}, clock.Unix()); err != nil {
		tb.Fatal(err)
	}
}

func newCalls(tb testing.TB, c *client, after int64) contract.LiveSince {
	tb.Helper()
	return get[contract.LiveSince](tb, c, fmt.Sprintf("/api/live/since?call=%d", after))
}

// TestCalls: a call is told with how it stands now, and anew when its outcome changes; who leaves, and what is deleted, is told no more.
func TestCalls(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1}, member.Record{ID: "u2", Handle: "Grace", JoinedAt: 1})
			o := options(t, st)
			begun := time.Now()
			o.Now = func() time.Time { return clock.Add(time.Since(begun)) } // what was read of a call ages
			c := startWith(t, o)
			writeMembers(t, st, 2, callOf(t, "u1", "c1", token, ""), callOf(t, "u2", "c2", bare, "gm"))
			eventually(t, "two calls are told", func() bool { return len(newCalls(t, c, 0).Calls) == 2 })
			all := newCalls(t, c, 0)
			first, second := all.Calls[0], all.Calls[1]
			if first.ID != 1 || first.Handle != "ada" || first.Mint != token || first.Chain != "base" || first.Symbol != hostile || first.PriceAtCallUSD != 1 ||
				first.PeakMultiple != nil || first.UnknownReasons["peak_multiple"] == "" || !near(first.MultipleNow, 2) || first.Outcome != contract.CallOutcomeOpen || first.Text != "" || first.Rich != nil {
				t.Errorf("the first call is %+v", first)
			}
			if second.ID != 2 || second.MultipleNow != nil || second.UnknownReasons["multiple_now"] == "" || second.Text != "gm" || second.Rich == nil {
				t.Errorf("a call of a token without a price is %+v", second)
			}
			if s := newCalls(t, c, 1); len(s.Calls) != 1 || s.Calls[0].ID != 2 || s.Cursor.Call != 2 {
				t.Errorf("after the first call: %+v", s)
			}

			judge(t, st, "c1", func(s *member.Standing) { s.PeakUSD = 1.5 })
			eventually(t, "a peak is told", func() bool { return near(newCalls(t, c, 0).Calls[0].PeakMultiple, 1.5) })
			if s := newCalls(t, c, 2); len(s.Calls) != 0 {
				t.Errorf("a peak is told as something new: %+v", s)
			}
			judge(t, st, "c1", func(s *member.Standing) { s.PeakUSD, s.Outcome = 2, member.CallWin })
			eventually(t, "a win is told", func() bool { return newCalls(t, c, 2).Cursor.Call == 4 })
			if s := newCalls(t, c, 2); !slices.Equal(s.Retracted.Calls, []int64{1}) || len(s.Calls) != 1 || s.Calls[0].ID != 4 || s.Calls[0].Outcome != contract.CallOutcomeWin {
				t.Errorf("a win is told as %+v", s)
			}

			landing := get[contract.LandingLive](t, c, "/api/platform/landing-live")
			if len(landing.Calls) != 2 || landing.Calls[0].ID != 4 || landing.Calls[1].ID != 2 || landing.Calls[1].Text != "" || landing.Calls[1].Rich != nil {
				t.Errorf("the landing page has the calls %+v", landing.Calls)
			}
			if len(landing.Launches) != 1 || landing.Launches[0].Mint != token || landing.Launches[0].MarketCapUSD == nil || landing.Launches[0].ImageURL != nil {
				t.Errorf("the landing page has the launches %+v", landing.Launches)
			}

			writeMembers(t, st, 3, member.Record{ID: "u1", Deleted: true})
			eventually(t, "who left isn't named", func() bool { return len(newCalls(t, c, 0).Calls) == 1 })
			writeMembers(t, st, 4, member.Record{Deleted: true, Call: &member.CallRecord{ID: "c2"}})
			eventually(t, "a deletion is told", func() bool { return slices.Equal(newCalls(t, c, 4).Retracted.Calls, []int64{2}) })
			if landing := get[contract.LandingLive](t, c, "/api/platform/landing-live"); len(landing.Calls) != 0 {
				t.Errorf("the landing page has the calls %+v", landing.Calls)
			}
		})
	}
}

// TestRichTexts: names in a call's text are looked up when it is told.
func TestRichTexts(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	o := options(t, st)
	only := chains()
	only.Chains = slices.DeleteFunc(only.Chains, func(c catalog.Chain) bool { return c.ID == "bsc" })
	o.Catalog = catalog.NewLive(only)
	writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1})
	c := startWith(t, o)
	const pepe = "0x7000000000000000000000000000000000000001"
	text := "😀 @ADA @nobody $PEPPE $PEPE $DOGE $PEP\u0420E " + pepe + " " + unmet + " https://a.example/x."
	writeMembers(t, st, 2, callOf(t, "u1", "c1", token, text, member.TokenRef{Symbol: "doge", Chain: "base", Mint: address(t, pepe)}))
	eventually(t, "the call is told", func() bool { return len(newCalls(t, c, 0).Calls) == 1 })
	call := newCalls(t, c, 0).Calls[0]
	if call.Text != text {
		t.Errorf("the text is %q", call.Text)
	}
	has := []string{}
	runes := []rune(text)
	say := func(text string, s contract.RichSpan, more ...any) {
		if string(runes[s.Start:s.End]) != text {
			t.Errorf("%q stands at %+v", text, s)
		}
		has = append(has, strings.TrimSuffix(text+" "+fmt.Sprintln(more...), "\n"))
	}
	for _, m := range call.Rich.Mentions {
		say(m.Text, m.Span, m.Handle, m.Exists)
	}
	for _, m := range call.Rich.Tags {
		say(m.Text, m.Span, m.Resolved, m.Chain, m.Mint)
	}
	for _, m := range call.Rich.Addresses {
		chain := "none"
		if m.Chain != nil {
			chain = *m.Chain
		}
		say(m.Text, m.Span, chain)
	}
	for _, m := range call.Rich.Links {
		say(m.Text, m.Span, m.URL)
	}
	want := []string{
		"@ADA ADA true", "@nobody nobody false",
		"$PEPPE true base 0x7000000000000000000000000000000000000003", // the only one on a chain that is declared
		"$PEPE false  ", "$DOGE true base " + pepe, "$PEP\u0420E false  ",
		pepe + " base", unmet + " none", strings.Repeat(" https://a.example/x", 2)[1:],
	}
	if !slices.Equal(has, want) {
		t.Errorf("the text names\n%s\nwant\n%s", strings.Join(has, "\n"), strings.Join(want, "\n"))
	}
	writeMembers(t, st, 3, member.Record{ID: "u2", Handle: "nobody", JoinedAt: 1})
	eventually(t, "a new member is one", func() bool { return newCalls(t, c, 0).Calls[0].Rich.Mentions[1].Exists })
	writeMembers(t, st, 4, member.Record{ID: "u2", Handle: "somebody", JoinedAt: 1})
	eventually(t, "a handle that was given up names nobody", func() bool { return !newCalls(t, c, 0).Calls[0].Rich.Mentions[1].Exists })
}

// TestCallsInEvents: the stream tells calls without their texts, which may be long.
func TestCallsInEvents(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1})
	s := follow(t, answering(t, st, nil), "", nil)
	s.next(t)
	writeMembers(t, st, 2, callOf(t, "u1", "c1", token, strings.Repeat("<", 16<<10)))
	_, data := s.next(t)
	event := parse[contract.LiveSince](t, data)
	if len(event.Calls) != 1 || event.Calls[0].Handle != "ada" || event.Calls[0].Text != "" || len(data) > 4<<10 {
		t.Errorf("an event of %d bytes with the calls %+v", len(data), event.Calls)
	}
}

// TestLongCalls: of calls whose texts are too long together the newest are told.
func TestLongCalls(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	var records []member.Record
	for n := range 20 {
		records = append(records, member.Record{ID: member.ID(fmt.Sprint("u", n)), Handle: fmt.Sprint("h", n), JoinedAt: 1})
	}
	for n := range 20 {
		records = append(records, callOf(t, fmt.Sprint("u", n), fmt.Sprint("c", n), token, strings.Repeat("x", 16<<10)))
	}
	writeMembers(t, st, 1, records...)
	c := start(t, st)
	eventually(t, "they are told", func() bool { return len(newCalls(t, c, 0).Calls) > 0 })
	if s := newCalls(t, c, 0); len(s.Calls) != 16 || !s.Truncated.Call || s.Calls[0].ID != 5 || s.Cursor.Call != 20 {
		t.Errorf("%d calls of 20, from %d on, and more are said to be there: %v", len(s.Calls), s.Calls[0].ID, s.Truncated.Call)
	}
	if s := newCalls(t, c, 4); len(s.Calls) != 16 || s.Truncated.Call {
		t.Errorf("of the last 16, %d calls, and more are said to be there: %v", len(s.Calls), s.Truncated.Call)
	}
}

// TestManyCalls: of more than 200 new calls the newest are told, and a landing page has twelve.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	var records []member.Record
	for n := range 201 {
		records = append(records, member.Record{ID: member.ID(fmt.Sprint("u", n)), Handle: fmt.Sprint("h", n), JoinedAt: 1})
	}
	for n := range 201 {
		records = append(records, callOf(t, fmt.Sprint("u", n), fmt.Sprint("c", n), token, ""))
	}
	writeMembers(t, st, 1, records...)
	c := start(t, st)
	eventually(t, "they are told", func() bool { return len(newCalls(t, c, 0).Calls) > 0 })
	if s := newCalls(t, c, 0); len(s.Calls) != 200 || !s.Truncated.Call || s.Calls[0].ID != 2 {
		t.Errorf("%d calls, and more are said to be there: %v", len(s.Calls), s.Truncated.Call)
	}
	if s := newCalls(t, c, 1); len(s.Calls) != 200 || s.Truncated.Call {
		t.Errorf("after the first, %d calls, and more are said to be there: %v", len(s.Calls), s.Truncated.Call)
	}
	landing := get[contract.LandingLive](t, c, "/api/platform/landing-live")
	if len(landing.Calls) != 12 || landing.Calls[0].ID != 201 || landing.Calls[11].ID != 190 {
		t.Errorf("the landing page has %d calls", len(landing.Calls))
	}
}

// TestOldCalls: a call is kept longer than trades. Who comes back from before it is told that trades may be missing.
func TestOldCalls(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			call := func(id string, age time.Duration) {
				records := []member.Record{{ID: member.ID(id), Handle: id, JoinedAt: 1, UpdatedAt: 1}, callOf(t, id, id, token, "")}
				records[1].UpdatedAt = 1
				if applied, _, err := st.Social.Registry.Apply(t.Context(), records, false, clock.Add(-age).Unix()); err != nil || applied[1].Err != nil {
					t.Fatal(err, applied)
				}
			}
			call("u1", time.Duration(store.StreamKept)+time.Minute)
			call("u2", time.Duration(store.StreamKept)-2*time.Hour)
			c := start(t, st)
			since := func(cursor int) contract.LiveSince {
				return get[contract.LiveSince](t, c, fmt.Sprintf("/api/live/since?trade=%d&call=%d", cursor, cursor))
			}
			eventually(t, "they are told", func() bool { return len(since(0).Calls) == 2 })
			if s := since(0); !s.Truncated.Trade || s.Calls[0].ID != 1 {
				t.Errorf("from before the old call on, trades are said to be missing: %v", s.Truncated.Trade)
			}
			if s := since(1); s.Truncated.Trade || s.Truncated.Call || len(s.Calls) != 1 {
				t.Errorf("from the old call on, %d calls, and items are said to be missing: %+v", len(s.Calls), s.Truncated)
			}
		})
	}
}
