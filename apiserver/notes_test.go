package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// noteOn is a record of a note on a member's trade: what they bought, or sold, of a token in the i-th transaction of a block of newTraders.
func noteOn(tb testing.TB, by, id, mint string, block, i byte, text string) member.Record {
	tb.Helper()
	return member.Record{ID: member.ID(by), Post: &member.PostRecord{
		ID: member.PostID(id), Kind: member.PostAlone, Text: text, Trade: member.TradeRef{Chain: "base", Tx: txOf(block, i), Mint: address(tb, mint)},
	}}
}

// txOf is the i-th transaction of a block of newTraders.
func txOf(block, i byte) market.TxID { return market.EVMTx(market.Hash{7, block, i}) }

// TestNotes: a trade is told with the note that its author wrote to it, by what the note says and names now.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			x := newTraders(t, st)
			o := options(t, st)
			begun := time.Now()
			o.Now = func() time.Time { return clock.Add(time.Since(begun)) } // what was read of a note ages
			c := startWith(t, o)
			writeMembers(t, st, 2, noteOn(t, "u2", "p0", token, 101, 0, "not hers"))
			x.block(t, []trade{{adasWallet, token, false, 10, 20}, {gracesWallet, token, false, 10, 20}})
			list := func() []contract.FeedTrade {
				trades, _, _ := feedItems(t, c, "filter=new&limit=100")
				return trades
			}
			eventually(t, "two trades are told", func() bool { return len(list()) == 2 })
			for _, tr := range list() {
				if tr.Note != nil || tr.UnknownReasons["note"] != contract.UnknownReasonNotApplicable {
					t.Errorf("without a note: %+v", tr)
				}
			}
			ofGrace, ofAda := 0, 1
			writeMembers(t, st, 3, noteOn(t, "u1", "p1", token, 101, 0, "with @grace"), noteOn(t, "u2", "p2", token, 101, 1, "<private>"))
			eventually(t, "the notes are told", func() bool { l := list(); return l[ofAda].Note != nil && l[ofGrace].Note != nil })
			note := list()[ofAda].Note
			if note.Text != "with @grace" || len(note.Rich.Mentions) != 1 || !note.Rich.Mentions[0].Exists || note.Rich.Mentions[0].Span != (contract.RichSpan{Start: 5, End: 11}) {
				t.Errorf("the note is %+v", note)
			}
			if l := list(); l[ofAda].UnknownReasons["note"] != "" || l[ofGrace].Note.Text != "<private>" || l[ofGrace].Tx != nil {
				t.Errorf("with notes, the trades are %+v", l)
			}
			writeMembers(t, st, 4, noteOn(t, "u1", "p3", token, 101, 0, "a second one"), noteOn(t, "u1", "p1", token, 101, 0, "changed"))
			eventually(t, "a change is told", func() bool { return list()[ofAda].Note.Text == "changed" })
			writeMembers(t, st, 5, member.Record{Deleted: true, Post: &member.PostRecord{ID: "p1"}})
			eventually(t, "the second note takes its place", func() bool { n := list()[ofAda].Note; return n != nil && n.Text == "a second one" })
			writeMembers(t, st, 6, member.Record{ID: "u1", Deleted: true})
			eventually(t, "who left isn't named", func() bool { return len(list()) == 1 })
		})
	}
}

// TestLongNotes: an answer with long notes has fewer items, and says that others follow; the stream leaves long notes out.
func TestLongNotes(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	x := newTraders(t, st)
	c := startWith(t, options(t, st))
	events := follow(t, answering(t, st, nil), "", nil)
	events.next(t)
	long := strings.Repeat("<", 16<<10) // six bytes each in JSON
	const n = 20
	var notes []member.Record
	var trades []trade
	for i := range n {
		notes = append(notes, noteOn(t, "u1", fmt.Sprintf("p%d", i), token, 101, byte(i), long))
		trades = append(trades, trade{adasWallet, token, false, 10, 20})
	}
	writeMembers(t, st, 2, notes...)
	x.block(t, trades)
	var since contract.LiveSince
	eventually(t, "the trades are told", func() bool {
		since = get[contract.LiveSince](t, c, "/api/live/since?trade=0")
		return len(since.Trades) > 0
	})
	if len(since.Trades) >= n || !since.Truncated.Trade || parse[contract.FeedTrade](t, since.Trades[len(since.Trades)-1]).ID != n {
		t.Errorf("%d trades are told, truncated %t", len(since.Trades), since.Truncated.Trade)
	}
	seen := map[int64]bool{}
	for query := "filter=new&limit=100"; ; {
		trades, _, next := feedItems(t, c, query)
		for _, tr := range trades {
			if seen[tr.ID] || tr.Note == nil || tr.Note.Text != long {
				t.Errorf("the trade %d is told twice or without its note", tr.ID)
			}
			seen[tr.ID] = true
		}
		if next == nil {
			break
		}
		query = "filter=new&limit=100&before=" + *next
	}
	if len(seen) != n {
		t.Errorf("%d of %d trades are on the pages of the feed", len(seen), n)
	}
	told := 0
	for told < n {
		_, data := events.next(t)
		for _, raw := range parse[contract.LiveSince](t, data).Trades {
			tr := parse[contract.FeedTrade](t, raw)
			if told++; tr.Note != nil || tr.UnknownReasons["note"] != contract.UnknownReasonUnavailable {
				t.Errorf("the stream tells %+v", tr)
			}
		}
	}
}
