package tokenmembers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	ids      = []member.ID{"u1", "u2", "u3"}
	accounts = markettest.Addresses("0xd000000000000000000000000000000000000001", "0xd000000000000000000000000000000000000002", "0xd000000000000000000000000000000000000003",
		"0xd000000000000000000000000000000000000004")
	mints = markettest.Addresses("0xa000000000000000000000000000000000000001", "0xa000000000000000000000000000000000000002")
)

// following is an index with what it follows.
type following struct {
	*tokenmembers.Index

	ledger    *readtest.Ledger
	directory *members.Directory
	// said is what was said as of each pair of versions, the directory's and the index's.
	said map[[2]int64]string
}

func newFollowing(w *readtest.Ledger) *following {
	d := members.NewDirectory(w.Store.Social.Registry)
	return &following{tokenmembers.New(w.Store.Wallets, d), w, d, map[[2]int64]string{}}
}

func (f *following) follow(ctx context.Context) error {
	list, err := f.ledger.Store.Chains(ctx)
	if err != nil {
		return err
	}
	chains := map[string]tokenmembers.Chain{}
	for _, s := range list {
		chains[s.ID] = tokenmembers.Chain{Family: chainconfig.EVM, Status: s}
	}
	if err := f.directory.Follow(ctx); err != nil {
		return err
	}
	return errors.Join(f.sayTheSame(), f.Follow(ctx, chains), f.sayTheSame())
}

// sayTheSame is an error where something else was said before as of the same versions: whoever keeps an answer by them would keep an old one.
func (f *following) sayTheSame() error {
	var says strings.Builder
	for _, chain := range readtest.Chains {
		for _, mint := range mints {
			fmt.Fprintln(&says, chain, mint, f.IsKnown(chain), f.In(chain, mint, len(ids)))
		}
	}
	at := [2]int64{f.directory.Version(), f.Version()}
	before, ok := f.said[at]
	if f.said[at] = says.String(); ok && before != says.String() {
		return fmt.Errorf("as of %v it was said\n%sand now\n%s", at, before, says.String())
	}
	return nil
}

// gatedReader waits for a value from gate before each AllIn.
type gatedReader struct {
	tokenmembers.Reader

	gate chan struct{}
}

func (r gatedReader) AllIn(ctx context.Context, chain string) iter.Seq2[store.WalletIn, error] {
	<-r.gate
	return r.Reader.AllIn(ctx, chain)
}

// TestAReorgWhileAChainIsRead reorganises a chain while all of it is read: the Follow that notices starts the next reading at once.
func TestAReorgWhileAChainIsRead(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	gate := make(chan struct{}, 100)
	d := members.NewDirectory(w.Store.Social.Registry)
	f := &following{tokenmembers.New(gatedReader{w.Store.Wallets, gate}, d), w, d, map[[2]int64]string{}}
	look := func() {
		if err := f.follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.Apply(member.Record{ID: "u1", Handle: "a", JoinedAt: 1})
	w.Apply(member.Record{ID: "u1", Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: accounts[0]}})
	w.Sync(accounts...)
	for range 3 {
		w.Commit("bsc", func(*market.Changes) {})
	}
	for range readtest.Chains {
		gate <- struct{}{}
	}
	look()
	w.Rewind("bsc", w.Blocks["bsc"]-1)
	look() // begins to read, and waits at the gate
	w.Rewind("bsc", w.Blocks["bsc"]-1)
	w.Commit("bsc", func(ch *market.Changes) { w.Hold(ch, "bsc", accounts[0], mints[0], true) })
	gate <- struct{}{}
	f.Wait()
	gate <- struct{}{}
	look()
	f.Wait()
	look()
	if in := f.In("bsc", mints[0], 3); in.Count != 1 {
		t.Errorf("in the token there are %+v", in)
	}
}

// owners asks the registry who is there.
func owners(ctx context.Context, rt *rapid.T, st *store.Store) (of map[market.Address]members.Member) {
	of = map[market.Address]members.Member{}
	for _, id := range ids {
		m, wallets, err := st.Social.Registry.Member(ctx, id)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range wallets {
			of[wallets[i].Address] = members.Member{Number: m.Number, Handle: m.Handle, JoinedAt: m.JoinedAt}
		}
	}
	return of
}

// TestFollowing has wallets come into tokens and go, change hands and names, on chains with reorgs: an index that follows at any rhythm says who is in which token as
// a look at all rows does.
func TestFollowing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := readtest.New(t)
		f := newFollowing(w)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			chain := rapid.SampledFrom(readtest.Chains).Draw(rt, "chain")
			switch rapid.SampledFrom([]string{"trade", "trade", "trade", "reorg", "member", "wallet", "sync", "time", "follow"}).Draw(rt, "step") {
			case "trade":
				w.Commit(chain, func(ch *market.Changes) {
					for _, wallet := range rapid.SliceOfNDistinct(rapid.SampledFrom(accounts), 1, 3, rapid.ID).Draw(rt, "wallets") {
						if w.Watched(chain, wallet) > 0 {
							w.Hold(ch, chain, wallet, rapid.SampledFrom(mints).Draw(rt, "mint"), rapid.IntRange(0, 2).Draw(rt, "in") > 0)
						}
					}
				})
			case "reorg":
				if depth := uint64(rapid.IntRange(1, 2).Draw(rt, "depth")); w.Blocks[chain] >= 2+depth {
					w.Rewind(chain, w.Blocks[chain]-depth)
				}
			case "sync":
				w.Sync(accounts...)
			case "member":
				r := member.Record{ID: rapid.SampledFrom(ids).Draw(rt, "member"), Deleted: rapid.IntRange(0, 2).Draw(rt, "leaves") == 0}
				if !r.Deleted {
					r.Handle, r.JoinedAt = rapid.SampledFrom([]string{"a", "B", "z"}).Draw(rt, "handle")+string(r.ID), 1
				}
				w.Apply(r)
			case "wallet":
				w.Apply(member.Record{
					ID: rapid.SampledFrom(ids).Draw(rt, "owner"), Deleted: rapid.IntRange(0, 3).Draw(rt, "taken away") == 0,
					Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: rapid.SampledFrom(accounts).Draw(rt, "wallet"), Chain: rapid.SampledFrom([]string{"", "bsc"}).Draw(rt, "of")},
				})
			case "time":
				w.Now += rapid.SampledFrom([]int64{1, 60, 4_000}).Draw(rt, "seconds")
			case "follow":
				if err := f.follow(t.Context()); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for range 2 { // what is read anew is taken in by the second
			if err := f.follow(t.Context()); err != nil {
				rt.Fatal(err)
			}
			f.Wait()
		}
		if err := f.follow(t.Context()); err != nil {
			rt.Fatal(err)
		}
		for _, chain := range readtest.Chains {
			for _, mint := range mints {
				in := map[member.Number]members.Member{}
				for k, p := range w.Holding(chain) {
					owner, ok := f.directory.Owner(chainconfig.EVM, k.Wallet, chain)
					if ok && p.IsIn && k.Token == mint && w.Watched(chain, k.Wallet) == int64(owner.Number) {
						in[owner.Number] = owner.Member
					}
				}
				want := slices.SortedFunc(maps.Values(in), func(a, b members.Member) int {
					return cmp.Compare(member.HandleKey(a.Handle), member.HandleKey(b.Handle))
				})
				got := f.In(chain, mint, len(ids))
				if got.Count != len(want) || fmt.Sprint(got.First) != fmt.Sprint(want) {
					rt.Fatalf("in %s of %s there are %d, %v, want %v", mint, chain, got.Count, got.First, want)
				}
				if some := f.In(chain, mint, 1); some.Count != got.Count || len(some.First) != min(1, len(want)) {
					rt.Fatalf("of one there are %+v", some)
				}
				for _, m := range owners(t.Context(), rt, w.Store) {
					if _, is := in[m.Number]; f.Has(chain, mint, m) != is {
						rt.Fatalf("%s is in %s of %s: %t", m.Handle, mint, chain, !is)
					}
				}
			}
		}
	})
}

// TestALeaverChangesTheVersion: a look that takes in nothing but that a member left makes another version, for they aren't counted any more.
func TestALeaverChangesTheVersion(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	f := newFollowing(w)
	w.Apply(member.Record{ID: "u1", Handle: "a", JoinedAt: 1})
	w.Apply(member.Record{ID: "u2", Handle: "b", JoinedAt: 1}) // who stays: without anybody nothing is counted
	w.Apply(member.Record{ID: "u1", Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: accounts[0]}})
	w.Sync(accounts...)
	w.Commit("bsc", func(ch *market.Changes) { w.Hold(ch, "bsc", accounts[0], mints[0], true) })
	for _, want := range []int{1, 0} {
		if err := f.follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if in := f.In("bsc", mints[0], 3); in.Count != want {
			t.Errorf("in the token there are %+v, want %d", in, want)
		}
		w.Apply(member.Record{ID: "u1", Deleted: true})
	}
}
