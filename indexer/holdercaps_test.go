package indexer_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestHolderCaps: with one account or transfer more than the caps allow the count is given up, what was read and
// what waits goes, nothing waits any more, and the count is tried again when the caps are others.
func TestHolderCaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 120) // the start is beyond the reach of reorgs, however deep
	cfg := w.config()
	cfg.Start.Block = 60
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	cfg.ReorgBlocks, cfg.FinalityDepth = 8, 8
	cfg.Majors = []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(w.Wrapped)}}
	mint := mustAddress(t, w.Wrapped)
	// until trades until the token's holders have a status, and gives them.
	until := func(st *store.Store, want market.HolderStatus) (h market.Holders) {
		t.Helper()
		for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			w.trade(t, 1)
			w.await(t, st)
			if h = tokens(t, st)[mint].Holders; h.Status == want {
				return h
			}
		}
		t.Fatalf("the holders are %+v, want them %s", h, want)
		return h
	}
	dsn := storetest.DSN(t, "sqlite")
	first := storetest.OpenAt(t, dsn)
	deep := *cfg
	deep.ReorgBlocks = 32 // the job stays for as long
	stop := run(t, &deep, first, 0)
	until(first, market.HoldersCurrent)
	stop()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(dsn, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var accounts, transfers int64
	if err := db.QueryRowContext(t.Context(), "SELECT accounts, transfers FROM holder_jobs").Scan(&accounts, &transfers); err != nil {
		t.Fatal(err)
	}
	if accounts < 3 || transfers < 3 {
		t.Fatalf("%d accounts and %d transfers were read: the test shows nothing", accounts, transfers)
	}
	for name, test := range map[string]struct {
		caps chainconfig.HolderCaps
		want market.HolderStatus
	}{
		"one account more":  {chainconfig.HolderCaps{Accounts: accounts - 1}, market.HoldersUnavailable},
		"one transfer more": {chainconfig.HolderCaps{Transfers: transfers - 1}, market.HoldersUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			st := storetest.Open(t, "sqlite")
			capped := *cfg
			capped.Tracking.Caps = test.caps
			stop := run(t, &capped, st, 0)
			h := until(st, test.want)
			if test.want == market.HoldersCurrent {
				stop()
				return
			}
			if h.Reason != market.ReasonTooMany {
				t.Errorf("the holders are %+v", h)
			}
			gone := func() bool {
				q, err := st.Jobs.Queued(t.Context(), "base", mint, 0, 0, 1)
				staged, e := st.Jobs.StagedFrom(t.Context(), "base", mint, market.Address{}, 1)
				if err != nil || e != nil {
					t.Fatal(err, e)
				}
				return len(q)+len(staged) == 0
			}
			for deadline := time.Now().Add(60 * time.Second); !gone(); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("what was read or waits is still there")
				}
				w.trade(t, 1)
				w.await(t, st)
			}
			w.trade(t, 4)
			w.await(t, st)
			if !gone() {
				t.Error("transfers wait for nothing")
			}
			stop()
			stop = recounting(t, &capped, st)
			w.trade(t, 12)
			w.await(t, st)
			if _, running := recountOf(t, st, mint); running {
				t.Error("it is counted anew although the caps are the same")
			}
			stop()
			stop = recounting(t, cfg, st)
			until(st, market.HoldersCurrent)
			stop()
		})
	}
}
