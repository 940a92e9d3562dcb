package view

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

const wrapped = "0x4200000000000000000000000000000000000006"

// ledger is a store that a test writes launches into, with the time of its chains.
type ledger struct {
	t      *testing.T
	st     *store.Store
	now    int64
	blocks map[string]uint64
	mints  map[string][]market.Address
	leases map[string]*store.Lease
	// births are where launches were announced, which stays whatever becomes of them.
	births map[launchKey]birth
	// rows are what each block of a chain left, so that a commit says what it replaces, which is what a reorg brings back.
	rows map[string][]ledgerRows
}

type ledgerRows struct {
	launches map[market.Address]market.Launch
	pools    map[market.Address]market.Pool
	tokens   map[market.Address]market.Token
}

// launchKey names a launch.
type launchKey struct {
	chain string
	mint  market.Address
}

type birth struct {
	block     uint64
	log       uint64
	createdAt int64
}

var (
	ledgerChains = []string{"base", "bsc"}
	ledgerVenues = []string{"boardwalk", "four-meme", "clanker"}
)

func newLedger(t *testing.T) *ledger {
	t.Helper()
	w := &ledger{
		t: t, st: storetest.Open(t, "sqlite"), now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).Unix(), blocks: map[string]uint64{},
		mints: map[string][]market.Address{}, leases: map[string]*store.Lease{}, births: map[launchKey]birth{}, rows: map[string][]ledgerRows{},
	}
	for _, chain := range ledgerChains {
		l, err := w.st.Acquire(t.Context(), chain, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		w.leases[chain], w.rows[chain] = l, make([]ledgerRows, 1)
		w.commit(chain, func(ch *market.Changes) {
			ch.Quotes = append(ch.Quotes, changed(evm(wrapped), market.QuotePrice{Asset: evm(wrapped), USD: 2000}))
		})
	}
	return w
}

func evm(s string) market.Address {
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

func changed[K comparable, V any](k K, v V) market.Change[K, V] {
	return market.Change[K, V]{Key: k, After: &v}
}

func (w *ledger) commit(chain string, change func(*market.Changes)) {
	w.t.Helper()
	n := w.blocks[chain] + 1
	w.blocks[chain] = n
	h := market.Header{Number: n, Hash: market.Hash{byte(n), byte(n >> 8), 1}, Parent: market.Hash{byte(n - 1), byte((n - 1) >> 8), 1}, Time: w.now}
	c := &store.Commit{Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: n, Time: w.now, Final: 1, FinalTime: w.now}}
	change(&c.Changes)
	before := w.rows[chain][n-1]
	w.rows[chain] = append(w.rows[chain], ledgerRows{
		replaced(before.launches, c.Changes.Launches), replaced(before.pools, c.Changes.Pools), replaced(before.tokens, c.Changes.Tokens),
	})
	if err := w.st.Commit(w.t.Context(), w.leases[chain], c); err != nil {
		w.t.Fatal(err)
	}
}

// replaced notes in changes what they replace, and gives the rows with them.
func replaced[V any](rows map[market.Address]V, changes []market.Change[market.Address, V]) map[market.Address]V {
	next := make(map[market.Address]V, len(rows)+len(changes))
	maps.Copy(next, rows)
	for i := range changes {
		if was, ok := rows[changes[i].Key]; ok {
			changes[i].Before = &was
		}
		next[changes[i].Key] = *changes[i].After
	}
	return next
}

// rewind takes back the blocks after a number.
func (w *ledger) rewind(chain string, to uint64) {
	w.t.Helper()
	if _, err := w.st.Rewind(w.t.Context(), w.leases[chain], to); err != nil {
		w.t.Fatal(err)
	}
	w.blocks[chain], w.rows[chain] = to, w.rows[chain][:to+1]
	maps.DeleteFunc(w.births, func(k launchKey, b birth) bool { return k.chain == chain && b.block > to })
}

// launched is what a test decides about a launch.
type launched struct {
	name, symbol, venue string
	state               market.LaunchState
	progress, locked    float64
	volume              uint64
	holders             int64
	createdAt           int64
	buyers              int
}

// set writes a launch with its token and its pool, and trades.
func (w *ledger) set(ch *market.Changes, chain string, mint market.Address, log uint64, l launched) {
	pool := market.Pool{
		ID: market.CurveID(mint), Protocol: market.BondingCurve, Factory: evm(wrapped), Token0: mint, Token1: evm(wrapped), Base: mint, Quote: evm(wrapped),
		BaseIs0: true, Price: 0.00001, Locked: l.locked, LastTradeAt: w.now,
	}
	if l.locked == 0 {
		pool.Price = 0
	}
	if l.buyers == 0 && l.volume == 100 {
		pool.LastTradeAt = 0 // never traded
	}
	pool.Day.VolumeUSD.SetUint64(l.volume * 1e9)
	born, ok := w.births[launchKey{chain, mint}]
	if !ok || born.block > w.blocks[chain] {
		born = birth{w.blocks[chain], log, l.createdAt}
		w.births[launchKey{chain, mint}] = born
	}
	row := market.Launch{
		Mint: mint, Venue: l.venue, Creator: evm(wrapped), Name: l.name, Symbol: l.symbol, Block: born.block, LogIndex: born.log, CreatedAt: born.createdAt,
		State: l.state, Curve: evm(wrapped), Rules: market.CurveRules{Basis: market.TokensSold}, Progress: l.progress, HasProgress: true,
		Traded: l.buyers > 0,
	}
	if l.state == market.LaunchGraduated {
		row.GraduatedAt = w.now
	}
	ch.Launches = append(ch.Launches, changed(mint, row))
	ch.Pools = append(ch.Pools, changed(pool.ID, pool))
	ch.Tokens = append(ch.Tokens, changed(mint, market.Token{
		Mint: mint, Name: l.name, Symbol: l.symbol, HasDecimals: true, Decimals: 18, FirstSeenAt: born.createdAt, Pool: pool.ID,
		Holders: market.Holders{Status: market.HoldersCurrent, Count: l.holders},
	}))
	for i := range l.buyers {
		ch.Trades = append(ch.Trades, market.Trade{
			Block: w.blocks[chain], LogIndex: log*1000 + uint64(i), Time: w.now, Pool: pool.ID, Base: mint, Trader: evm(fmt.Sprintf("0xb0%038x", i)),
			NanoUSD: 50e9, HasUSD: true, CloseUSD: 0.02,
		})
	}
}

// has reports whether a launch was announced, and not taken back since.
func (w *ledger) has(chain string, mint market.Address) bool {
	_, there := w.births[launchKey{chain, mint}]
	return there
}

// trade writes a trade in a launch's pool, which changes no more than the pool.
func (w *ledger) trade(ch *market.Changes, chain string, mint market.Address, log uint64) {
	w.set(ch, chain, mint, log, launched{locked: 3, volume: 20_000, buyers: 1})
	ch.Launches, ch.Tokens = nil, nil
}

// ledgerCatalog declares the ledger's chains, and its venues on each of them.
func ledgerCatalog() *catalog.Catalog {
	c := &catalog.Catalog{}
	for _, id := range ledgerChains {
		c.Chains = append(c.Chains, catalog.Chain{ID: id, Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: markettest.Address(wrapped)}})
	}
	for _, id := range ledgerVenues {
		v := catalog.Venue{ID: id, Filter: id, Ownership: catalog.Outside}
		for _, chain := range ledgerChains {
			v.Chains = append(v.Chains, catalog.VenueChain{Chain: chain})
		}
		c.Venues = append(c.Venues, v)
	}
	return c
}
