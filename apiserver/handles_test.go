package apiserver_test

import (
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// writeMembers writes records of members, later than all before.
func writeMembers(tb testing.TB, st *store.Store, at int64, records ...member.Record) {
	tb.Helper()
	for i := range records {
		records[i].UpdatedAt = at
	}
	applied, _, err := st.Social.Registry.Apply(tb.Context(), records, false, clock.Unix())
	if err != nil {
		tb.Fatal(err)
	}
	for i, a := range applied {
		if a.Err != nil {
			tb.Fatalf("record %d: %v", i, a.Err)
		}
	}
}

// TestHandles: members are named with the wallets that they show, from when they show them until they hide them or leave.
func TestHandles(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			c, e, _ := drawing(t, st)
			wallet := func(id, text string, public bool) member.Record {
				return member.Record{ID: member.ID(id), Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: address(t, text), Public: public}}
			}
			of := [2]map[string]*string{{}, {}} // the names in pictures, by their ETags
			named := func() (board, launched, card, trades string) {
				t.Helper()
				for _, l := range get[contract.LaunchBoard](t, c, "/api/launch/launches?sort=new").Launches {
					if l.Creator.Address == creator {
						board = said(t, l.Creator)
					}
				}
				launched = said(t, get[contract.LaunchedToken](t, c, "/api/launch/token/"+token).Creator.LaunchCreator)
				for i, target := range []string{"/api/pnl-card/launch/" + token + ".png", "/api/pnl-card/trader/" + trader + ".png"} {
					res, body := c.do(t, http.MethodGet, target, nil)
					if res.StatusCode != http.StatusOK {
						t.Fatalf("%s: %d %s", target, res.StatusCode, body)
					}
					tag := res.Header.Get("ETag")
					if of[i][tag] == nil { // a picture that is new was drawn just now
						if i == 0 {
							of[i][tag] = new(newest[*sharecard.Launch](e).CreatorHandle)
						} else {
							of[i][tag] = new(newest[*sharecard.Trader](e).Handle)
						}
					}
					*[]*string{&card, &trades}[i] = *of[i][tag]
				}
				return board, launched, card, trades
			}
			become := func(what, creates, trades string) {
				t.Helper()
				eventually(t, what, func() bool {
					board, launched, card, trader := named()
					return board == creates && launched == creates && card == creates && trader == trades
				})
			}
			become("nobody is named", "", "")
			writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1}, member.Record{ID: "u2", Handle: "bob", JoinedAt: 1}, wallet("u1", creator, true), wallet("u2", trader, false))
			become("who shows a wallet is named", "ada", "")
			writeMembers(t, st, 2, member.Record{ID: "u1", Handle: "countess", JoinedAt: 1}, wallet("u2", trader, true))
			become("by the name that they have by now", "countess", "bob")
			writeMembers(t, st, 3, wallet("u1", creator, false), member.Record{ID: "u2", Deleted: true})
			become("who hides it or has left isn't named", "", "")
			writeMembers(t, st, 4, member.Record{ID: "u1", Handle: "again", JoinedAt: 1}, member.Record{ID: "u2", Handle: "bobby", JoinedAt: 1}, wallet("u1", creator, true))
			become("and is again", "again", "bobby")
			// No card can be drawn any more: the picture that stands in is one of before they were named.
			e.set(true)
			writeMembers(t, st, 5, member.Record{ID: "u2", Deleted: true})
			eventually(t, "no picture names who has left", func() bool {
				res, _ := c.do(t, http.MethodGet, "/api/pnl-card/trader/"+trader+".png", nil)
				old := of[1][res.Header.Get("ETag")]
				return res.StatusCode == http.StatusOK && old != nil && *old == ""
			})
		})
	}
}

// TestMembersAloneUnread takes the members' table away: the markets are read all the same, and after a minute nobody is named.
func TestMembersAloneUnread(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "sqlite")
	st := storetest.OpenAt(t, dsn)
	fill(t, st)
	writeMembers(
		t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1},
		member.Record{ID: "u1", Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: address(t, creator), Public: true}},
	)
	c, _, ahead := drawing(t, st)
	named := func() string {
		return said(t, get[contract.LaunchedToken](t, c, "/api/launch/token/"+token).Creator.LaunchCreator)
	}
	eventually(t, "she is named", func() bool { return named() == "ada" })
	db, err := sql.Open("sqlite", strings.TrimPrefix(dsn, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("ALTER TABLE members RENAME TO members_away")
	exec("UPDATE sequences SET last = last + 1 WHERE stream = 'registry'") // there is a change, which can't be read
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	next := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: clock.Unix()}
	if err := st.Commit(t.Context(), l, &store.Commit{
		Last: next, Blocks: []market.Header{next}, Head: store.HeadStatus{Number: 101, Time: next.Time, Safe: 90, Final: 80, FinalTime: next.Time - 60, SilentFrom: next.Time + 3600},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the markets are read", func() bool {
		return slices.ContainsFunc(get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains, func(h contract.ChainHeartbeat) bool { return h.HeadLagS != nil && *h.HeadLagS == 0 })
	})
	ahead(30 * time.Second)
	if named() != "ada" {
		t.Error("she isn't named any more after half a minute")
	}
	ahead(31 * time.Second)
	eventually(t, "nobody is named of whom nothing has been known for a minute", func() bool { return named() == "" })
	exec("ALTER TABLE members_away RENAME TO members")
	eventually(t, "she is named again", func() bool { return named() == "ada" })
}

// newest is the card of a kind that was drawn last.
func newest[C sharecard.Card](e *easel) (c C) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, drawn := range e.drawn {
		if d, ok := drawn.(C); ok {
			c = d
		}
	}
	return c
}

// said is a creator's handle, which is null with a reason or there without one.
func said(t *testing.T, c contract.LaunchCreator) string {
	t.Helper()
	if c.Handle == nil {
		if c.UnknownReasons["handle"] != contract.UnknownReasonNotApplicable {
			t.Errorf("the handle is null: %v", c.UnknownReasons)
		}
		return ""
	}
	return *c.Handle
}
