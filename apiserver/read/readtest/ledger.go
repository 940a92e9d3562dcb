// Package readtest has a store for tests, and writes launches into it.
package readtest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// Wrapped is the contract of the wrapped coin of every chain but Solana, and WrappedSOL is the mint of Solana's.
const (
	Wrapped    = "0x4200000000000000000000000000000000000006"
	WrappedSOL = "So11111111111111111111111111111111111111112"
)

// Solana is the id of a chain of Solana's family. A ledger has the chain if the test asks for it, beside Chains.
const Solana = "solana"

// WrappedOn is the address of a chain's wrapped coin.
func WrappedOn(chain string) market.Address {
	if chain == Solana {
		return markettest.Address(WrappedSOL)
	}
	return markettest.Address(Wrapped)
}

// Ledger is a store that a test writes launches into, with the time of its chains.
type Ledger struct {
	t      *testing.T
	Store  *store.Store
	Now    int64
	Blocks map[string]uint64
	Mints  map[string][]market.Address
	Leases map[string]*store.Lease
	// births are where launches were announced, which stays whatever becomes of them.
	births map[launchKey]birth
	// rows are what each block of a chain left, so that a commit says what it replaces, which is what a reorg brings back.
	rows map[string][]ledgerRows
	// records is how many records of members were written.
	records int64
}

type ledgerRows struct {
	launches  map[market.Address]market.Launch
	pools     map[market.Address]market.Pool
	tokens    map[market.Address]market.Token
	positions map[market.PositionKey]market.Position
	watched   map[market.Address]market.WatchedWallet
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

// Chains and Venues are the ids that the catalogue of Catalog declares.
var (
	Chains = []string{"base", "bsc"}
	Venues = []string{"boardwalk", "four-meme", "clanker"}
)

// New makes a ledger of Chains, and of more chains, on an embedded database. Each chain has a block with the price of its coin.
func New(t *testing.T, more ...string) *Ledger {
	t.Helper()
	w := &Ledger{
		t: t, Store: storetest.Open(t, "sqlite"), Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).Unix(), Blocks: map[string]uint64{},
		Mints: map[string][]market.Address{}, Leases: map[string]*store.Lease{}, births: map[launchKey]birth{}, rows: map[string][]ledgerRows{},
	}
	for _, chain := range slices.Concat(Chains, more) {
		l, err := w.Store.Leases.Acquire(t.Context(), chain, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		w.Leases[chain], w.rows[chain] = l, make([]ledgerRows, 1)
		w.Commit(chain, func(ch *market.Changes) {
			ch.Quotes = append(ch.Quotes, changed(WrappedOn(chain), market.QuotePrice{Asset: WrappedOn(chain), USD: 2000}))
		})
	}
	return w
}

func changed[K comparable, V any](k K, v V) market.Change[K, V] {
	return market.Change[K, V]{Key: k, After: &v}
}

// Commit makes a block of a chain with some changes.
func (w *Ledger) Commit(chain string, change func(*market.Changes)) {
	w.t.Helper()
	n := w.Blocks[chain] + 1
	w.Blocks[chain] = n
	h := market.Header{Number: n, Hash: market.Hash{byte(n), byte(n >> 8), 1}, Parent: market.Hash{byte(n - 1), byte((n - 1) >> 8), 1}, Time: w.Now}
	c := &store.Commit{Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: n, Time: w.Now, Final: 1, FinalTime: w.Now}}
	change(&c.Changes)
	before := w.rows[chain][n-1]
	w.rows[chain] = append(w.rows[chain], ledgerRows{
		replaced(before.launches, c.Changes.Launches), replaced(before.pools, c.Changes.Pools), replaced(before.tokens, c.Changes.Tokens),
		replaced(before.positions, c.Changes.Positions), replaced(before.watched, c.Changes.Watched),
	})
	if err := w.Store.Commit(w.t.Context(), w.Leases[chain], c); err != nil {
		w.t.Fatal(err)
	}
}

// replaced notes in changes what they replace, and gives the rows with them.
func replaced[K comparable, V any](rows map[K]V, changes []market.Change[K, V]) map[K]V {
	next := make(map[K]V, len(rows)+len(changes))
	maps.Copy(next, rows)
	for i := range changes {
		if was, ok := rows[changes[i].Key]; ok {
			changes[i].Before = &was
		}
		next[changes[i].Key] = *changes[i].After
	}
	return next
}

// Rewind takes back the blocks after a number.
func (w *Ledger) Rewind(chain string, to uint64) {
	w.t.Helper()
	if _, err := w.Store.Rewind(w.t.Context(), w.Leases[chain], to); err != nil {
		w.t.Fatal(err)
	}
	w.Blocks[chain], w.rows[chain] = to, w.rows[chain][:to+1]
	maps.DeleteFunc(w.births, func(k launchKey, b birth) bool { return k.chain == chain && b.block > to })
}

// Launch is what a test decides about a launch.
type Launch struct {
	Name, Symbol, Venue string
	State               market.LaunchState
	Progress, Locked    float64
	Volume              uint64
	Holders             int64
	CreatedAt           int64
	Buyers              int
}

// Untell deletes the lists of what the chain's commits changed. An earlier version's commits have none.
func (w *Ledger) Untell(chain string) {
	w.t.Helper()
	if _, err := w.Store.Inspect.Database().Write.ExecContext(w.t.Context(), "DELETE FROM commits WHERE chain = ?", chain); err != nil {
		w.t.Fatal(err)
	}
}

// Set writes a launch with its token and its pool, and trades.
func (w *Ledger) Set(ch *market.Changes, chain string, mint market.Address, log uint64, l Launch) {
	coin := WrappedOn(chain)
	pool := market.Pool{
		ID: market.CurveID(mint), Protocol: market.BondingCurve, Factory: coin, Token0: mint, Token1: coin, Base: mint, Quote: coin,
		BaseIs0: true, Price: 0.00001, Locked: l.Locked, LastTradeAt: w.Now,
	}
	if l.Locked == 0 {
		pool.Price = 0
	}
	if l.Buyers == 0 && l.Volume == 100 {
		pool.LastTradeAt = 0 // never traded
	}
	pool.Day.VolumeUSD.SetUint64(l.Volume * 1e9)
	born, ok := w.births[launchKey{chain, mint}]
	if !ok || born.block > w.Blocks[chain] {
		born = birth{w.Blocks[chain], log, l.CreatedAt}
		w.births[launchKey{chain, mint}] = born
	}
	row := market.Launch{
		Mint: mint, Venue: l.Venue, Creator: coin, Name: l.Name, Symbol: l.Symbol, Block: born.block, LogIndex: born.log, CreatedAt: born.createdAt,
		State: l.State, Curve: coin, Rules: market.CurveRules{Basis: market.TokensSold}, Progress: l.Progress, HasProgress: true,
		Traded: l.Buyers > 0,
	}
	if l.State == market.LaunchGraduated {
		row.GraduatedAt = w.Now
	}
	ch.Launches = append(ch.Launches, changed(mint, row))
	ch.Pools = append(ch.Pools, changed(pool.ID, pool))
	ch.Tokens = append(ch.Tokens, changed(mint, market.Token{
		Mint: mint, Name: l.Name, Symbol: l.Symbol, HasDecimals: true, Decimals: 18, FirstSeenAt: born.createdAt, Pool: pool.ID,
		Holders: market.Holders{Status: market.HoldersCurrent, Count: l.Holders},
	}))
	for i := range l.Buyers {
		ch.Trades = append(ch.Trades, market.Trade{
			Block: w.Blocks[chain], LogIndex: log*1000 + uint64(i), Time: w.Now, Pool: pool.ID, Base: mint, Trader: markettest.Address(fmt.Sprintf("0xb0%038x", i)),
			NanoUSD: 50e9, HasUSD: true, CloseUSD: 0.02,
		})
	}
}

// Has reports whether a launch was announced, and not taken back since.
func (w *Ledger) Has(chain string, mint market.Address) bool {
	_, there := w.births[launchKey{chain, mint}]
	return there
}

// Trade writes a trade in a launch's pool, which changes no more than the pool.
func (w *Ledger) Trade(ch *market.Changes, chain string, mint market.Address, log uint64) {
	w.Set(ch, chain, mint, log, Launch{Locked: 3, Volume: 20_000, Buyers: 1})
	ch.Launches, ch.Tokens = nil, nil
}

// Join writes a member with a wallet.
func (w *Ledger) Join(id member.ID, wallet market.Address) {
	w.t.Helper()
	w.Apply(member.Record{ID: id, Handle: string(id), JoinedAt: 1}, member.Record{ID: id, Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: wallet}})
}

// Apply writes records of members, as of now.
func (w *Ledger) Apply(records ...member.Record) {
	w.t.Helper()
	for i := range records {
		records[i].UpdatedAt = w.Now*1_000_000 + w.records
		w.records++
	}
	if _, _, err := w.Store.Social.Registry.Apply(w.t.Context(), records, false, w.Now); err != nil {
		w.t.Fatal(err)
	}
}

// Sync has each chain's index take in whose wallets are whose: it forgets what it keeps of those that are another's or nobody's now, and watches them for their members
// from a block on.
func (w *Ledger) Sync(accounts ...market.Address) {
	w.t.Helper()
	for _, chain := range Chains {
		for _, a := range accounts {
			owner, err := w.Store.Social.Registry.WalletOn(w.t.Context(), chainconfig.EVM, a, chain)
			if err != nil {
				w.t.Fatal(err)
			}
			number := int64(0)
			if owner != nil && !owner.MemberLeft {
				number = int64(owner.Number)
			}
			was := w.Watched(chain, a)
			if was == number {
				continue
			}
			if was > 0 {
				w.forget(chain, a)
			}
			if number > 0 {
				w.Commit(chain, func(ch *market.Changes) {
					ch.Watched = append(ch.Watched, changed(a, market.WatchedWallet{Wallet: a, Member: number}))
				})
			}
		}
	}
}

// Watched is the number of the member for whom a chain's index watches a wallet; 0 for none.
func (w *Ledger) Watched(chain string, a market.Address) int64 {
	rows := w.rows[chain]
	return rows[len(rows)-1].watched[a].Member
}

// Holding are what wallets are in on a chain.
func (w *Ledger) Holding(chain string) map[market.PositionKey]market.Position {
	rows := w.rows[chain]
	return rows[len(rows)-1].positions
}

// forget has a chain's index forget a wallet.
func (w *Ledger) forget(chain string, a market.Address) {
	for more := true; more; {
		var err error
		if more, err = w.Store.Wallets.Forget(w.t.Context(), w.Leases[chain], a); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range w.rows[chain] {
		delete(w.rows[chain][i].watched, a)
		maps.DeleteFunc(w.rows[chain][i].positions, func(k market.PositionKey, _ market.Position) bool { return k.Wallet == a })
	}
}

// Hold writes an entry of a member's wallet, after which the member is in a token or isn't.
func (w *Ledger) Hold(ch *market.Changes, chain string, wallet, mint market.Address, isIn bool) {
	ch.Entries = append(ch.Entries, market.Entry{Wallet: wallet, Block: w.Blocks[chain], Seq: uint32(len(ch.Entries)), Time: w.Now, Token: mint, Kind: market.CameIn})
	k := market.PositionKey{Wallet: wallet, Token: mint}
	ch.Positions = append(ch.Positions, changed(k, market.Position{IsIn: isIn}))
}

// Catalog declares Chains and more chains, and the ledger's venues on each of them.
func Catalog(more ...string) *catalog.Catalog {
	c := &catalog.Catalog{}
	chains := slices.Concat(Chains, more)
	for _, id := range chains {
		family := chainconfig.EVM
		if id == Solana {
			family = chainconfig.Solana
		}
		c.Chains = append(c.Chains, catalog.Chain{ID: id, Family: family, Native: chainconfig.Native{Wrapped: WrappedOn(id)}})
	}
	for _, id := range Venues {
		v := catalog.Venue{ID: id, Filter: id, Ownership: catalog.Outside}
		for _, chain := range chains {
			v.Chains = append(v.Chains, catalog.VenueChain{Chain: chain})
		}
		c.Venues = append(c.Venues, v)
	}
	return c
}
