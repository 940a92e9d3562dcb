package member_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

func account(n int) market.Address {
	var word [32]byte
	word[31] = byte(n + 1)
	return market.EVMAddress(word)
}

// anyRecord draws a record of few members, handles, wallets and times, so that they meet.
func anyRecord() *rapid.Generator[member.Record] {
	return rapid.Custom(func(t *rapid.T) member.Record {
		rec := member.Record{
			ID: member.ID(rapid.SampledFrom([]string{"u1", "u2", "u3"}).Draw(t, "id")), UpdatedAt: rapid.Int64Range(1, 6).Draw(t, "updated_at"),
			Deleted: rapid.IntRange(0, 4).Draw(t, "deleted") == 0,
		}
		if rapid.Bool().Draw(t, "wallet") {
			rec.Wallet = &member.WalletRecord{
				Family: chainconfig.EVM, Address: account(rapid.IntRange(0, 2).Draw(t, "address")), Chain: rapid.SampledFrom([]string{"", "base"}).Draw(t, "chain"),
				Public: rapid.Bool().Draw(t, "public"), Since: rapid.Int64Range(0, 150).Draw(t, "since"),
			}
			if rapid.IntRange(0, 2).Draw(t, "proof") == 0 {
				rec.Wallet.Proof = &member.Proof{Text: rapid.SampledFrom([]string{"challenge", "another"}).Draw(t, "text"), Signature: "s"}
				rec.Wallet.Proof.CheckedAt = rapid.SampledFrom([]int64{0, 50, 90, 400}).Draw(t, "checked_at")
				rec.Wallet.Names, rec.Wallet.Signed = rapid.Bool().Draw(t, "names"), rapid.Bool().Draw(t, "signed")
				rec.Wallet.IssuedAt = rapid.SampledFrom([]int64{40, 80}).Draw(t, "issued_at")
			}
			return rec
		}
		if rapid.IntRange(0, 2).Draw(t, "post") == 0 {
			anyPost(t, &rec)
			return rec
		}
		rec.JoinedAt = rapid.Int64Range(1, 150).Draw(t, "joined_at")
		rec.Handle = rapid.SampledFrom([]string{"ada", "ADA", "bob", "cleo"}).Draw(t, "handle")
		return rec
	})
}

// stateOf is everything that a registry has, without the numbers of changes.
func stateOf(r *member.Registry) string {
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(r.Members)) {
		m := *r.Members[id]
		m.Change = 0
		fmt.Fprintf(&out, "%+v\n", m)
	}
	var wallets []string
	for _, w := range r.Wallets {
		v := *w
		v.Change = 0
		wallets = append(wallets, fmt.Sprintf("%+v\n", v))
	}
	slices.Sort(wallets)
	for _, id := range slices.Sorted(maps.Keys(r.Posts)) {
		p := *r.Posts[id]
		p.Change = 0
		fmt.Fprintf(&out, "%+v\n", p)
	}
	return out.String() + fmt.Sprint(wallets)
}

// isAfter reports whether one of the numbers is higher, and none lower.
func isAfter(now, before member.Changes) bool {
	return now != before && now.Members >= before.Members && now.Calls >= before.Calls && now.Posts >= before.Posts
}

// anyPost draws the rest of a record of few posts, which answer each other.
func anyPost(t *rapid.T, rec *member.Record) {
	id := rapid.SampledFrom([]member.PostID{"p1", "p2", "p3"})
	rec.Post = &member.PostRecord{ID: id.Draw(t, "post")}
	if rec.Deleted {
		rec.ID = ""
		return
	}
	rec.Post.Kind = rapid.SampledFrom([]member.PostKind{member.PostAlone, member.PostReply}).Draw(t, "kind")
	if rec.Post.Kind == member.PostReply {
		rec.Post.Parent = id.Draw(t, "parent")
	}
	rec.Post.Text = rapid.SampledFrom([]string{"gm", "gn"}).Draw(t, "text")
	rec.Post.PostedAt = rapid.Int64Range(0, 150).Draw(t, "posted_at")
}

// TestRecordsAtAnyTime holds what must be so after any records: no handle and no wallet is two members', numbers only ascend, what is repeated or
// refused changes nothing.
func TestRecordsAtAnyTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := member.NewRegistry(100, member.Changes{})
		r.Challenges["challenge"] = true
		for _, rec := range rapid.SliceOfN(anyRecord(), 1, 30).Draw(t, "records") {
			r.Now += rapid.Int64Range(0, 20).Draw(t, "passed")
			before, last := stateOf(r), r.Last
			outcome, err := r.Apply(&rec)
			if written := err == nil && outcome == member.Written; !written && (stateOf(r) != before || r.Last != last) {
				t.Fatalf("%+v is %s (%v) and changes\n%s\nto\n%s", rec, outcome, err, before, stateOf(r))
			} else if written && !isAfter(r.Last, last) {
				t.Fatalf("%+v is written without a number", rec)
			}
			after := stateOf(r)
			if again, err2 := r.Apply(&rec); err == nil && outcome == member.Written {
				repeated := again == member.Unchanged || again == member.Older // the leaving itself is what no older record comes after
				if !repeated || stateOf(r) != after {
					t.Fatalf("%+v again is %s (%v)", rec, again, err2)
				}
			}
			owners := map[string]member.ID{}
			for id, m := range r.Members {
				key := member.HandleKey(m.Handle)
				if other, taken := owners[key]; taken {
					t.Fatalf("%s is %s's and %s's", key, other, id)
				}
				owners[key] = id
				if r.Handles[key] != id {
					t.Fatalf("the handle %s names %s, and %s has it", key, r.Handles[key], id)
				}
			}
			for id, p := range r.Posts {
				if isDeleted := p.DeletedAt > 0; isDeleted != (p.Text == "") {
					t.Fatalf("the post %s is %+v", id, p)
				}
			}
			for key, w := range r.Wallets {
				everywhere := r.Wallets[member.WalletKey{Family: key.Family, Address: key.Address}]
				if w.RemovedAt == 0 && everywhere != nil && everywhere.RemovedAt == 0 && everywhere.Number != w.Number {
					t.Fatalf("%v is two members'", key)
				}
				if p := w.Proof; p != nil && (p.Text != "challenge" || p.CheckedAt < w.TakenAwayAt) && p.CheckedAt != 50 && p.CheckedAt != 90 {
					t.Fatalf("%v is proved by %+v", key, p)
				}
			}
		}
	})
}

// TestTheLatestDecides: of records of one member and their wallet with different times, whatever was written of an older one before, or comes again after,
// the latest decides. Those of the wallet come after the member's first.
func TestTheLatestDecides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := []member.Record{{ID: "u1", Handle: "first", JoinedAt: 1, UpdatedAt: 1}}
		for i := range 4 {
			rec := member.Record{ID: "u1", Handle: fmt.Sprintf("h%d", rapid.IntRange(0, 9).Draw(t, "handle")), JoinedAt: 1, UpdatedAt: int64(i + 2)}
			if rapid.Bool().Draw(t, "wallet") {
				rec.Wallet = &member.WalletRecord{Family: chainconfig.EVM, Address: account(1), Public: rapid.Bool().Draw(t, "public")}
				rec.Deleted = i > 0 && rapid.Bool().Draw(t, "deleted")
			}
			records = append(records, rec)
		}
		in := member.NewRegistry(100, member.Changes{})
		for i := range records {
			_, _ = in.Apply(&records[i]) // a wallet that isn't there can't be taken away
		}
		want := stateOf(in)
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 4)).Draw(t, "again") {
			if outcome, err := in.Apply(&records[i]); outcome == member.Written || err != nil && !errors.Is(err, member.ErrNoWallet) {
				t.Fatalf("%+v again is %s, %v", records[i], outcome, err)
			}
		}
		if got := stateOf(in); got != want {
			t.Fatalf("sent again it is\n%s\nwas\n%s", got, want)
		}
		if got := in.Members["u1"]; got.UpdatedAt > 5 {
			t.Fatalf("it is %+v", got)
		}
	})
}

func TestDates(t *testing.T) {
	t.Parallel()
	r := member.NewRegistry(1000, member.Changes{})
	apply := func(rec member.Record) {
		t.Helper()
		if _, err := r.Apply(&rec); err != nil {
			t.Fatal(err)
		}
	}
	wallet := func(at int64, change func(*member.WalletRecord)) member.Record {
		w := &member.WalletRecord{Family: chainconfig.EVM, Address: account(1)}
		change(w)
		return member.Record{ID: "u1", UpdatedAt: at, Wallet: w}
	}
	since := func() int64 {
		return r.Wallets[member.WalletKey{Family: chainconfig.EVM, Address: account(1)}].Since
	}
	apply(member.Record{ID: "u1", Handle: "ada", JoinedAt: 500, UpdatedAt: 1})
	apply(wallet(2, func(w *member.WalletRecord) { w.Since = 400 })) // an export's, from before the member joined
	if since() != 500 {
		t.Errorf("it counts since %d, want 500", since())
	}
	r.Now = 2000
	apply(wallet(3, func(w *member.WalletRecord) { w.Public = true })) // what is changed later doesn't move it
	if since() != 500 {
		t.Errorf("it counts since %d, want 500", since())
	}
	apply(member.Record{ID: "u1", UpdatedAt: 4, Deleted: true, Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: account(1)}})
	apply(wallet(5, func(*member.WalletRecord) {})) // taken away and given again
	if since() != 2000 {
		t.Errorf("it counts since %d, want 2000", since())
	}
}

// TestContractsAreNobodys has a wallet that is a pool.
func TestContractsAreNobodys(t *testing.T) {
	t.Parallel()
	r := member.NewRegistry(100, member.Changes{})
	r.Contracts[member.WalletKey{Family: chainconfig.EVM, Address: account(1)}] = true
	if _, err := r.Apply(&member.Record{ID: "u1", Handle: "ada", JoinedAt: 1, UpdatedAt: 1}); err != nil {
		t.Fatal(err)
	}
	for _, chain := range []string{"", "base"} {
		rec := member.Record{ID: "u1", UpdatedAt: 1, Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: account(1), Chain: chain}}
		if _, err := r.Apply(&rec); !errors.Is(err, member.ErrKeptByOthers) {
			t.Errorf("on %q: %v", chain, err)
		}
	}
}
