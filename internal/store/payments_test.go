package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// paid is a block with payments, of a branch.
func paid(n int, branch byte, payments ...market.Payment) market.BlockPayments {
	h := hash(n)
	h[1] = branch
	b := market.BlockPayments{Number: uint64(n), Hash: h, Time: header(n).Time, Payments: payments}
	for i := range n % 3 {
		b.Firsts = append(b.Firsts, address(100*n+i))
	}
	return b
}

// commitPaid commits a block that was read with its transactions.
func commitPaid(t *testing.T, s *store.Store, l *store.Lease, b *market.BlockPayments, from int) {
	t.Helper()
	last := market.Header{Number: b.Number, Hash: b.Hash, Time: b.Time}
	c := &store.Commit{Last: last, Blocks: []market.Header{last}, Undo: true}
	c.Changes.Payments, c.Changes.PaymentsFrom, c.Changes.HasPaymentsFrom = []market.BlockPayments{*b}, uint64(max(0, from)), from >= 0
	if err := s.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}

func wantPaid(t *testing.T, s *store.Store, index string, want ...market.BlockPayments) {
	t.Helper()
	got, err := all(s.Payments(t.Context(), index, 0, 1_000_000))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("the payments of %s are\n%+v, %v; want\n%+v", index, got, err, want)
	}
}

// TestPayments writes blocks with payments and without, reads them back to the bit and in pieces, takes some back, and lets old ones go.
func TestPayments(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			var most market.Amount
			most.SetAllOne().Rsh(&most, 128)
			first := paid(1, 0, market.Payment{From: address(1), To: address(2), Amount: amount(1)}, market.Payment{From: address(3), To: address(1), Amount: most})
			second, third := paid(2, 0), paid(3, 0, market.Payment{From: address(1), To: address(2), Amount: amount(7)})
			for _, b := range []market.BlockPayments{first, second, third} {
				commitPaid(t, s, l, &b, -1)
			}
			wantPaid(t, s, "base", first, second, third)
			wantPaid(t, s, "another")
			if got, err := all(s.Payments(t.Context(), "base", 2, 1)); err != nil || len(got) != 1 || got[0].Number != 2 {
				t.Errorf("one block from the second on is %+v, %v", got, err)
			}
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			wantPaid(t, s, "base", first)
			other := paid(2, 1, third.Payments...)
			commitPaid(t, s, l, &other, 2)
			wantPaid(t, s, "base", other)
			far := paid(10_000, 0)
			commitPaid(t, s, l, &far, 9_999)
			wantPaid(t, s, "base", far)

			tooMuch := paid(10_001, 0, market.Payment{From: address(1), To: address(2), Amount: huge(0)})
			c := &store.Commit{Last: header(10_001), Undo: true, Changes: market.Changes{Payments: []market.BlockPayments{tooMuch}}}
			if err := s.Commit(t.Context(), l, c); err == nil || !strings.Contains(err.Error(), "payments: block 10001") {
				t.Errorf("a payment of 256 bits is written: %v", err)
			}
			c.Changes.Payments[0].Payments = []market.Payment{{From: address(1), To: poolID(2), Amount: amount(1)}}
			if err := s.Commit(t.Context(), l, c); err == nil || !strings.Contains(err.Error(), "payments: block 10001") {
				t.Errorf("a payment to a pool's id is written: %v", err)
			}
		})
	}
}

// TestPaymentsGoInPieces: one commit deletes the rows of 5,000 numbers of blocks at most, and later commits go on.
func TestPaymentsGoInPieces(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			c := &store.Commit{Last: header(12_000)}
			for n := 1; n <= 12_000; n++ {
				c.Changes.Payments = append(c.Changes.Payments, paid(n, 0))
			}
			if err := s.Commit(t.Context(), l, c); err != nil {
				t.Fatal(err)
			}
			for i, want := range []int{7_000 + 1, 2_000 + 2, 3} {
				b := paid(12_001+i, 0)
				commitPaid(t, s, l, &b, 12_001)
				got, err := all(s.Payments(t.Context(), "base", 0, 1_000_000))
				if err != nil || len(got) != want {
					t.Fatalf("after %d commits there are %d rows, %v; want %d", i+1, len(got), err, want)
				}
			}
		})
	}
}

// TestStrayPayments: a binary that knows no payments takes blocks back and leaves their rows. They go before they are read.
func TestStrayPayments(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			l := lease(t, s)
			blocks := []market.BlockPayments{paid(1, 0), paid(2, 0), paid(3, 0), paid(4, 0)}
			for i := range blocks {
				commitPaid(t, s, l, &blocks[i], -1)
			}
			before, _, err := s.Chain(t.Context(), "base")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.DropStrayPayments(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if after, _, err := s.Chain(t.Context(), "base"); err != nil || after != before {
				t.Errorf("without stray rows something is written: %+v, %v; before %+v", after, err, before)
			}
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			db := raw(t, kind, dsn)
			defer func() { _ = db.Close() }()
			for _, b := range blocks[1:] { // what that binary leaves
				q := "INSERT INTO payments (chain, block, hash, time, body, firsts) VALUES ('base', %d, decode('%x', 'hex'), 5, '', '')"
				if kind == "sqlite" {
					q = "INSERT INTO payments (chain, block, hash, time, body, firsts) VALUES ('base', %d, X'%x', 5, X'', X'')"
				}
				must(t, db, fmt.Sprintf(q, b.Number, b.Hash[:]))
			}
			other := paid(2, 1)
			last := market.Header{Number: 2, Hash: other.Hash, Time: other.Time}
			if err := s.Commit(t.Context(), l, &store.Commit{Last: last, Blocks: []market.Header{last}, Undo: true}); err != nil {
				t.Fatal(err)
			}
			if err := s.DropStrayPayments(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			wantPaid(t, s, "base", blocks[0])
		})
	}
}

// TestBrokenPayments: a row that is no list of payments is refused, and so is a trade with a funding that there isn't. The error names the table.
func TestBrokenPayments(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			l := lease(t, s)
			if err := s.Commit(t.Context(), l, commitOf(1, 2, map[string]*market.Changes{})); err != nil {
				t.Fatal(err)
			}
			db := raw(t, kind, dsn)
			defer func() { _ = db.Close() }()
			must(t, db, "UPDATE payments SET body = hash") // 32 bytes
			if _, err := all(s.Payments(t.Context(), "base", 0, 1)); err == nil || !strings.Contains(err.Error(), "payments") || !strings.Contains(err.Error(), "32 bytes") {
				t.Errorf("32 bytes are read as payments: %v", err)
			}
			for _, set := range []string{"funding = 0", "funding = 3", "funding = 1, funder = NULL, funded_at = 1", "funding = 1, funder = base, funded_at = NULL"} {
				must(t, db, "UPDATE trades SET "+set)
				if _, err := s.Inspect.Trades(t.Context(), "base", 0, 0); err == nil || !strings.Contains(err.Error(), "trades") {
					t.Errorf("trades with %s are read: %v", set, err)
				}
			}
		})
	}
}

// TestFlowsTellFundings reads back where the traders' coins came from as rankings do.
func TestFlowsTellFundings(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			c := commitOf(1, 12, map[string]*market.Changes{})
			for i := range c.Changes.Pools {
				c.Changes.Pools[i].After.Untrusted = market.Trusted
			}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			flows, err := all(s.Trades.Flows(t.Context(), "base", 0, 0))
			if err != nil || len(flows) != 8 { // those that are valued
				t.Fatalf("%d flows, %v", len(flows), err)
			}
			n := 0
			for i := range c.Changes.Trades {
				if !c.Changes.Trades[i].HasUSD {
					continue
				}
				if want := c.Changes.Trades[i].Funding; flows[n].Funding != want {
					t.Errorf("the funding of trade %d is %+v, want %+v", i, flows[n].Funding, want)
				}
				n++
			}
		})
	}
}
