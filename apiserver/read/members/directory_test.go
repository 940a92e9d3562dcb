package members

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

var wallets = markettest.Addresses("0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002", "0x0000000000000000000000000000000000000003")

// TestFollowing holds a directory that follows at any rhythm to what the registry says of each wallet, and its version to what it gives.
func TestFollowing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		st := storetest.Open(t, "sqlite")
		d := NewDirectory(st.Social.Registry)
		gave, version := map[member.WalletKey]string{}, d.Version()
		ids := rapid.SampledFrom([]member.ID{"u1", "u2", "u3"})
		now := int64(1_000_000)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"member", "wallet", "follow", "time"}).Draw(rt, "step") {
			case "member":
				r := member.Record{ID: ids.Draw(rt, "member"), Deleted: rapid.Bool().Draw(rt, "leaves")}
				if !r.Deleted {
					r.Handle, r.JoinedAt = string(r.ID)+rapid.SampledFrom([]string{"", "_b"}).Draw(rt, "handle"), 1
				}
				write(t, st, now, r)
			case "wallet":
				write(t, st, now, member.Record{
					ID: ids.Draw(rt, "member"), Deleted: rapid.IntRange(0, 3).Draw(rt, "removed") == 0,
					Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: rapid.SampledFrom(wallets).Draw(rt, "wallet"), Public: rapid.IntRange(0, 3).Draw(rt, "public") > 0},
				})
			case "time":
				now += rapid.SampledFrom([]int64{1, 7200, 91 * 86_400}).Draw(rt, "seconds")
				if _, err := st.Social.Upkeep.Clean(t.Context(), now); err != nil {
					rt.Fatal(err)
				}
			case "follow":
				if err := d.Follow(t.Context()); err != nil {
					rt.Fatal(err)
				}
				should, is := named(t, rt, st), map[member.WalletKey]string{}
				for _, w := range wallets {
					k := member.WalletKey{Family: chainconfig.EVM, Address: w}
					if is[k] = d.Of(k.Family, k.Address, "base"); is[k] != should[k] {
						rt.Fatalf("%s is %q, and should be %q", w, is[k], should[k])
					}
				}
				owners := owners(t, rt, st)
				for _, w := range wallets {
					got, ok := d.Owner(chainconfig.EVM, w, "base")
					if want, has := owners[w]; ok != has || got != want {
						rt.Fatalf("%s is %+v's (%v), and should be %+v's (%v)", w, got, ok, want, has)
					}
					if m, known := d.Member(got.Number); ok && (!known || m != got.Member) {
						rt.Fatalf("%d is %+v, and should be %+v", got.Number, m, got.Member)
					}
				}
				followed(t, rt, st, d)
				for k := range is {
					if is[k] != gave[k] && d.Version() == version {
						rt.Fatalf("%v was %q, is %q, and the version is the same", k, gave[k], is[k])
					}
				}
				gave, version = is, d.Version()
			}
			now++
		}
	})
}

// write writes a record. One that the registry refuses, as of a member who isn't there, changes nothing.
func write(t *testing.T, st *store.Store, now int64, r member.Record) {
	t.Helper()
	r.UpdatedAt = now * 1_000_000
	if _, _, err := st.Social.Registry.Apply(t.Context(), []member.Record{r}, false, now); err != nil {
		t.Fatal(err)
	}
}

// named asks the registry who is there, one by one.
func named(t *testing.T, rt *rapid.T, st *store.Store) map[member.WalletKey]string {
	t.Helper()
	out := map[member.WalletKey]string{}
	for _, id := range []member.ID{"u1", "u2", "u3"} {
		m, theirs, err := st.Social.Registry.Member(t.Context(), id)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range theirs {
			if theirs[i].Public {
				out[theirs[i].Key()] = m.Handle
			}
		}
	}
	return out
}

// owners asks the registry whose each wallet is, one by one.
func owners(t *testing.T, rt *rapid.T, st *store.Store) map[market.Address]Wallet {
	t.Helper()
	out := map[market.Address]Wallet{}
	for _, id := range []member.ID{"u1", "u2", "u3"} {
		m, theirs, err := st.Social.Registry.Member(t.Context(), id)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range theirs {
			w := &theirs[i]
			out[w.Address] = Wallet{
				Member:   Member{Number: m.Number, Handle: m.Handle, AvatarURL: m.AvatarURL, JoinedAt: m.JoinedAt},
				IsPublic: w.Public, IsProved: w.Proof != nil, Since: w.Since,
			}
		}
	}
	return out
}

// followed wants a directory to name the members that the registry has, by number and by handle, and nobody else.
func followed(t *testing.T, rt *rapid.T, st *store.Store, d *Directory) {
	t.Helper()
	numbers, handles := map[member.Number]string{}, map[string]bool{}
	for _, id := range []member.ID{"u1", "u2", "u3"} {
		m, _, err := st.Social.Registry.Member(t.Context(), id)
		if err != nil {
			rt.Fatal(err)
		}
		if m != nil && m.LeftAt == 0 {
			numbers[m.Number], handles[m.Handle] = m.Handle, true
		}
	}
	for n := range member.Number(10) { // of three members
		if m, ok := d.Member(n); ok != (numbers[n] != "") || m.Handle != numbers[n] || ok && m.Number != n {
			rt.Fatalf("%d is %+v (%t), and should be %q", n, m, ok, numbers[n])
		}
	}
	for _, handle := range []string{"u1", "u1_b", "u2", "u2_b", "u3", "u3_b"} {
		if m, ok := d.Named(handle); ok != handles[handle] || ok && (m.Handle != handle || numbers[m.Number] != handle) || d.Has(handle) != ok {
			rt.Fatalf("%s is %+v (%t), and should be %t", handle, m, ok, handles[handle])
		}
	}
	if d.Count() != len(numbers) {
		rt.Fatalf("there are %d members, and should be %d", d.Count(), len(numbers))
	}
}

// TestAMemberComesBack has a member leave, be erased and join again while a directory doesn't follow: their old wallet isn't theirs any more.
func TestAMemberComesBack(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	d := NewDirectory(st.Social.Registry)
	follow := func(want string) {
		t.Helper()
		if err := d.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := d.Of(chainconfig.EVM, wallets[0], "base"); got != want {
			t.Errorf("the wallet is %q, and should be %q", got, want)
		}
	}
	joins := member.Record{ID: "u1", Handle: "u1", JoinedAt: 1}
	write(t, st, 10, joins)
	write(t, st, 11, member.Record{ID: "u1", Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: wallets[0], Public: true}})
	follow("u1")
	write(t, st, 12, member.Record{ID: "u1", Deleted: true})
	const later = 91 * 86_400 // the handle is free again
	if erased, err := st.Social.Upkeep.Clean(t.Context(), later); err != nil || erased != 1 {
		t.Fatalf("%d were erased: %v", erased, err)
	}
	if _, err := st.Social.Upkeep.Clean(t.Context(), 2*later); err != nil {
		t.Fatal(err)
	}
	write(t, st, 2*later, joins)
	follow("")
}
