package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// announced is a launch in block n, as the i-th of it.
func announced(n, i int) market.Launch {
	return market.Launch{
		Mint: address(100*n + i), Block: uint64(n), LogIndex: uint64(i), Metadata: fmt.Sprintf("ipfs://%d.%d", n, i), Image: "i",
		State: market.LaunchOnCurve,
	}
}

func commitNo(t *testing.T, s *store.Store) int64 {
	t.Helper()
	status, _, err := s.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return status.CommitNo
}

// TestMetadataComesBack writes every field and reads it in each way, before and after it is written over.
func TestMetadataComesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			if err := s.Metadata.Save(ctx, l, nil); err != nil || commitNo(t, s) != 0 {
				t.Errorf("saving nothing: %v, and the commit number is %d", err, commitNo(t, s))
			}
			picture := bytes.Repeat([]byte{0, 1, 0xff, '\\'}, 20_000)
			full := store.TokenMetadata{
				Mint: address(1), ImageURL: "https://i/?a=1&b=\u2028", Website: "https://w", X: "https://x.com/x", Telegram: "t.me/t",
				Description: "d\u202e😀\n'\"$1?", Image: picture, Status: store.MetadataFetched, Reason: "r", Attempts: 3, NextAt: 1 << 40, FetchedAt: 1 << 41,
			}
			bare := store.TokenMetadata{Mint: address(2), Status: store.MetadataFailed}
			if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{full, bare}); err != nil {
				t.Fatal(err)
			}
			read := func(seen int64, want ...store.TokenMetadata) {
				t.Helper()
				got, err := s.Metadata.Since(ctx, "base", seen)
				if err != nil || len(got) != len(want) {
					t.Fatalf("changed since %d: %+v, %v; want %+v", seen, got, err, want)
				}
				for i := range want {
					image := want[i].Image
					want[i].Image = nil
					if !slices.ContainsFunc(got, func(m store.TokenMetadata) bool { return reflect.DeepEqual(m, want[i]) }) {
						t.Errorf("changed since %d: %+v, want %+v among them", seen, got, want[i])
					}
					if at, ok, err := s.Metadata.At(ctx, "base", want[i].Mint); err != nil || !ok || !reflect.DeepEqual(at, want[i]) {
						t.Errorf("metadata is %+v, %v, %v; want %+v", at, ok, err, want[i])
					}
					if got, err := s.Metadata.Image(ctx, "base", want[i].Mint); err != nil || !bytes.Equal(got, image) {
						t.Errorf("the picture has %d bytes, %v; want %d", len(got), err, len(image))
					}
				}
			}
			read(0, full, bare)
			read(1)
			bare.Image, full.Image, full.Description = picture[:9], nil, ""
			if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{bare}); err != nil {
				t.Fatal(err)
			}
			if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{full}); err != nil {
				t.Fatal(err)
			}
			read(1, full, bare)
			read(2, full)
			read(3)
			for _, chain := range []string{"base", "bsc"} {
				mint := address(3)
				if chain == "bsc" {
					mint = address(1)
				}
				if _, ok, err := s.Metadata.At(ctx, chain, mint); ok || err != nil {
					t.Errorf("metadata of a token without any: %v, %v", ok, err)
				}
				if image, err := s.Metadata.Image(ctx, chain, mint); image != nil || err != nil {
					t.Errorf("the picture of a token without any: %v, %v", image, err)
				}
			}
		})
	}
}

// TestMetadataDue asks what is to be fetched while launches come, are fetched, fail, and are taken back and come again.
func TestMetadataDue(t *testing.T) {
	t.Parallel()
	const second = 1_700_000_000
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			truth := map[market.Address]market.Launch{}
			commit := func(n int, list ...market.Launch) {
				t.Helper()
				if err := s.Commit(ctx, l, launchCommit(n, truth, list...)); err != nil {
					t.Fatal(err)
				}
			}
			due := func(now int64, limit int, want ...string) {
				t.Helper()
				jobs, err := s.Metadata.Due(ctx, "base", now, limit)
				var got []string
				for _, j := range jobs {
					if j.Image != "i" {
						t.Errorf("a job is %+v", j)
					}
					got = append(got, fmt.Sprintf("%d %s %d", int(j.Mint.Bytes()[18])<<8|int(j.Mint.Bytes()[19]), j.Metadata, j.Attempts))
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("due at %d: %q, %v; want %q", now, got, err, want)
				}
			}
			save := func(mint market.Address, attempts int32, next int64) {
				t.Helper()
				if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{{Mint: mint, Attempts: attempts, NextAt: next}}); err != nil {
					t.Fatal(err)
				}
			}
			commit(1, announced(1, 0), announced(1, 1))
			commit(2, announced(2, 1), announced(2, 0))
			due(second+9, 9, "201 ipfs://2.1 0", "200 ipfs://2.0 0", "101 ipfs://1.1 0", "100 ipfs://1.0 0")
			due(second+9, 3, "201 ipfs://2.1 0", "200 ipfs://2.0 0", "101 ipfs://1.1 0")
			due(second+9, 0)
			save(address(100), 2, second+8)
			save(address(201), 1, second+7)
			save(address(101), 5, 0) // never again
			due(second+9, 9, "200 ipfs://2.0 0", "201 ipfs://2.1 1", "100 ipfs://1.0 2")
			due(second+9, 2, "200 ipfs://2.0 0", "201 ipfs://2.1 1")
			due(second+7, 9, "200 ipfs://2.0 0", "201 ipfs://2.1 1")
			traded := announced(1, 1) // a row that a commit writes over stays fetched
			traded.Traded = true
			commit(3, traded)
			due(second+9, 9, "200 ipfs://2.0 0", "201 ipfs://2.1 1", "100 ipfs://1.0 2")
			for _, block := range []uint64{2, 1} {
				if _, err := s.Rewind(ctx, l, block); err != nil {
					t.Fatal(err)
				}
			}
			due(second+9, 9, "100 ipfs://1.0 2")
			again := announced(2, 1)
			again.Metadata = "ipfs://another"
			delete(truth, again.Mint)
			commit(2, again)
			due(second+9, 9, "201 ipfs://another 0", "100 ipfs://1.0 2")
			if m, ok, err := s.Metadata.At(ctx, "base", again.Mint); !ok || err != nil || m.Attempts != 1 {
				t.Errorf("the reorg took metadata back: %+v, %v, %v", m, ok, err)
			}
			if other, err := s.Metadata.Due(ctx, "bsc", second+9, 9); err != nil || len(other) != 0 {
				t.Errorf("due on another chain: %v, %v", other, err)
			}
		})
	}
}

// TestMetadataOfALostBranch: what was fetched for an announcement that a reorg took back is not that of the launch which has
// the address now.
func TestMetadataOfALostBranch(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			truth := map[market.Address]market.Launch{}
			lost := announced(2, 1)
			kept := lost
			kept.Metadata = "ipfs://another"
			if err := errors.Join(s.Commit(ctx, l, launchCommit(1, truth)), s.Commit(ctx, l, launchCommit(2, truth, lost))); err != nil {
				t.Fatal(err)
			}
			due := func(want string) store.MetadataJob {
				t.Helper()
				jobs, err := s.Metadata.Due(ctx, "base", 9, 9)
				if err != nil || len(jobs) != 1 || jobs[0].Metadata != want {
					t.Fatalf("due: %+v, %v; want %s", jobs, err, want)
				}
				return jobs[0]
			}
			job := due("ipfs://2.1")
			if _, err := s.Rewind(ctx, l, 1); err != nil {
				t.Fatal(err)
			}
			delete(truth, lost.Mint)
			if err := s.Commit(ctx, l, launchCommit(2, truth, kept)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{{Mint: job.Mint, Job: &job}}); err != nil {
					t.Fatal(err)
				}
				if job.Metadata != kept.Metadata {
					job = due("ipfs://another")
				}
			}
			if jobs, err := s.Metadata.Due(ctx, "base", 9, 9); err != nil || len(jobs) != 0 {
				t.Errorf("due after it was fetched: %+v, %v", jobs, err)
			}
		})
	}
}

// TestTrustReports writes reports and asks which launches have waited longest for one.
func TestTrustReports(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			// Tokens 101 to 104 are launched and traded, 102 in two pools; 105 long ago, 106 never, and 107 is no launch.
			c := launchCommit(1, map[market.Address]market.Launch{}, announced(1, 1), announced(1, 2), announced(1, 3), announced(1, 4),
				announced(1, 5), announced(1, 6))
			for i, p := range [][2]int64{{101, 1000}, {102, 1001}, {102, 1002}, {102, 10}, {103, 1003}, {104, 2000}, {105, 999}, {106, 0}, {107, 1004}} {
				c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{Key: poolID(i), After: &market.Pool{
					ID: poolID(i), Factory: address(901), Token0: address(int(p[0])), Token1: address(900), Base: address(int(p[0])), Quote: address(900),
					LastTradeAt: p[1],
				}})
			}
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			due := func(before int64, limit int, want ...market.Address) {
				t.Helper()
				if got, err := s.Trust.Due(ctx, "base", before, 1000, market.Amount{}, limit); err != nil || !slices.Equal(got, want) {
					t.Errorf("without a report since %d: %v, %v; want %v", before, got, err, want)
				}
			}
			due(500, 9, address(104), address(103), address(102), address(101))
			due(500, 2, address(104), address(103))
			rows := []store.TrustRow{
				{Mint: address(103), CheckedAt: 400, Verdict: "ok", Report: []byte(`{"checks":[]}`)},
				{Mint: address(101), CheckedAt: 300, Verdict: "danger", Critical: true, Report: []byte("null")},
				{Mint: address(107), CheckedAt: 1, Verdict: "unknown", Report: bytes.Repeat([]byte(`{"a":"\u0000"}`), 1000)},
			}
			if err := s.Trust.Save(ctx, l, rows); err != nil {
				t.Fatal(err)
			}
			due(500, 9, address(104), address(102), address(101), address(103))
			due(400, 9, address(104), address(102), address(101))
			due(300, 9, address(104), address(102))
			for i, r := range rows {
				if got, ok, err := s.Trust.At(ctx, "base", r.Mint); err != nil || !ok || !reflect.DeepEqual(got, r) {
					t.Errorf("the report is %+v, %v, %v; want %+v", got, ok, err, r)
				}
				rows[i].Report = nil
			}
			since, err := s.Trust.Since(ctx, "base", 1)
			slices.SortFunc(since, func(a, b store.TrustRow) int { return -a.Mint.Compare(b.Mint) })
			if want := []store.TrustRow{rows[2], rows[0], rows[1]}; err != nil || !reflect.DeepEqual(since, want) {
				t.Errorf("changed since 1: %+v, %v; want %+v", since, err, want)
			}
			again := store.TrustRow{Mint: address(103), CheckedAt: 600, Verdict: "caution", Report: []byte("1")}
			if err := s.Trust.Save(ctx, l, []store.TrustRow{again}); err != nil {
				t.Fatal(err)
			}
			due(601, 9, address(104), address(102), address(101), address(103))
			again.Report = nil
			if since, err = s.Trust.Since(ctx, "base", 2); err != nil || !reflect.DeepEqual(since, []store.TrustRow{again}) {
				t.Errorf("changed since 2: %+v, %v; want %+v", since, err, again)
			}
			if _, ok, err := s.Trust.At(ctx, "base", address(102)); ok || err != nil {
				t.Errorf("the report of an unchecked token: %v, %v", ok, err)
			}
		})
	}
}

// TestBesideTheLease saves with a lease that another indexer took: nothing changes, not even the commit number.
func TestBesideTheLease(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			first := lease(t, s)
			if err := s.Commit(ctx, first, launchCommit(1, map[market.Address]market.Launch{}, announced(1, 0))); err != nil {
				t.Fatal(err)
			}
			second := lease(t, s) // the same holder, as after a restart
			m, r := []store.TokenMetadata{{Mint: address(100)}}, []store.TrustRow{{Mint: address(100), Report: []byte("1")}}
			for what, err := range map[string]error{"metadata": s.Metadata.Save(ctx, first, m), "trust": s.Trust.Save(ctx, first, r)} {
				if !errors.Is(err, store.ErrLeaseLost) {
					t.Errorf("%s with a lost lease: %v", what, err)
				}
			}
			_, described, err := s.Metadata.At(ctx, "base", address(100))
			_, checked, err2 := s.Trust.At(ctx, "base", address(100))
			jobs, err3 := s.Metadata.Due(ctx, "base", 1, 1)
			if described || checked || len(jobs) != 1 || commitNo(t, s) != 1 || errors.Join(err, err2, err3) != nil {
				t.Errorf("described %v, checked %v, jobs %v, commit %d, %v, %v, %v", described, checked, jobs, commitNo(t, s), err, err2, err3)
			}
			if err := errors.Join(s.Metadata.Save(ctx, second, m), s.Trust.Save(ctx, second, r)); err != nil || commitNo(t, s) != 3 {
				t.Errorf("with the good lease: %v, commit %d", err, commitNo(t, s))
			}
		})
	}
}

// TestBesideCommits saves metadata and reports while blocks are committed and taken back. A reader that goes from one commit
// number to the next meets every row, and no number is given twice.
func TestBesideCommits(t *testing.T) {
	t.Parallel()
	const rounds = 60
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // it takes seconds, and longer on a busy machine
			defer stop()
			var writers sync.WaitGroup
			writers.Go(func() {
				for n := 1; n <= rounds; n++ {
					c := launchCommit(n, map[market.Address]market.Launch{}, announced(n, 0))
					if err := s.Commit(ctx, l, c); err != nil {
						t.Error(err)
					}
					if n%5 == 0 {
						_, err := s.Rewind(ctx, l, uint64(n-1))
						if err := errors.Join(err, s.Commit(ctx, l, c)); err != nil {
							t.Error(err)
						}
					}
				}
			})
			for part := range 2 {
				writers.Go(func() {
					for n := 1; n <= rounds; n++ {
						if err := s.Metadata.Save(ctx, l, []store.TokenMetadata{{Mint: address(100*n + part)}, {Mint: address(7 + part), Attempts: int32(n)}}); err != nil {
							t.Error(err)
						}
						if err := s.Trust.Save(ctx, l, []store.TrustRow{{Mint: address(100*n + part), CheckedAt: int64(n), Report: []byte("1")}}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			done := make(chan struct{})
			go func() {
				writers.Wait()
				close(done)
			}()
			seen, described, checked, launched := int64(0), map[market.Address]int32{}, map[market.Address]bool{}, map[market.Address]bool{}
			for last := false; ; {
				chains, err := s.Chains(ctx)
				if err != nil || len(chains) != 1 {
					t.Fatal(chains, err)
				}
				metadata, err := s.Metadata.Since(ctx, "base", seen)
				reports, err2 := s.Trust.Since(ctx, "base", seen)
				changed, err3 := s.ChangedSince(ctx, map[string]int64{"base": seen})
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatal(err)
				}
				for _, mint := range changed["base"].Launches {
					launched[mint] = true
				}
				for _, m := range metadata {
					described[m.Mint] = m.Attempts
				}
				for _, r := range reports {
					checked[r.Mint] = true
				}
				seen = chains[0].CommitNo
				if last {
					break
				}
				select {
				case <-done:
					last = true
				default:
				}
			}
			if want := int64(rounds + 2*rounds/5 + 4*rounds); seen != want {
				t.Errorf("%d commit numbers were given, want %d", seen, want)
			}
			if len(described) != 2*rounds+2 || described[address(7)] != rounds || described[address(8)] != rounds || len(checked) != 2*rounds || len(launched) != rounds {
				t.Errorf("met %d descriptions (the newest of two is %d and %d), %d reports, %d launches", len(described), described[address(7)],
					described[address(8)], len(checked), len(launched))
			}
		})
	}
}
