package apiserver_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestMembersOnTheBoard: a card counts and names the members who are in the token, whether they show their wallets or not, until they leave; the score counts them, too.
func TestMembersOnTheBoard(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			c := start(t, st)
			card := func() contract.LaunchCard {
				page := get[contract.LaunchBoard](t, c, "/api/launch/launches?sort=new&chain=base")
				i := slices.IndexFunc(page.Launches, func(l contract.LaunchCard) bool { return l.Mint == token })
				if i < 0 {
					t.Fatalf("the launch isn't on the board: %+v", page)
				}
				return page.Launches[i]
			}
			if l := card(); l.Members.Count != nil || l.Members.UnknownReasons["count"] == "" || l.Traction.Parts.Members != nil || l.Traction.Parts.UnknownReasons["members"] == "" {
				t.Errorf("while no member is known, the card has %+v, and the score %+v", l.Members, l.Traction.Parts)
			}
			newTraders(t, st).block(t, []trade{{adasWallet, token, false, 10, 20}, {gracesWallet, token, false, 10, 20}})
			eventually(t, "the card names who bought", func() bool { return slices.Equal(card().Members.Handles, []string{"ada", "Grace"}) })
			if l := card(); l.Members.Count == nil || *l.Members.Count != 2 {
				t.Errorf("with two members in the token, the card has %+v", l.Members)
			}
			c = start(t, st) // which ranks anew
			eventually(t, "the score counts who bought", func() bool { n := card().Traction.Parts.Members; return n != nil && *n == 2 })
			live := get[contract.MarketLive](t, c, "/api/market/live?per_chain=50")
			for _, l := range live.Tokens {
				want := 0
				if l.Mint == token && l.Chain == "base" {
					want = 2
				}
				if l.Traction.Parts.Members == nil || *l.Traction.Parts.Members != want {
					t.Errorf("the live list has %+v of %s on %s, and not %d members", l.Traction.Parts, l.Mint, l.Chain, want)
				}
			}
			writeMembers(t, st, 9, member.Record{ID: "u2", Deleted: true})
			for asked := 0; asked < 10_000 && len(card().Members.Handles) == 2; asked++ { // answers are kept: one that is made while who left is taken in must not be
				continue
			}
			eventually(t, "who left isn't named", func() bool {
				return slices.Equal(card().Members.Handles, []string{"ada"}) && *card().Members.Count == 1
			})
			writeMembers(t, st, 10, member.Record{ID: "u1", Handle: "countess", JoinedAt: 1})
			eventually(t, "who renamed has the new name", func() bool { return slices.Equal(card().Members.Handles, []string{"countess"}) })
		})
	}
}
