// Package profit reads what members realised and which tokens they are in: sums over the chains' rows of members' wallets. What is cached goes by
// members' numbers; whoever answers asks the directory who they are, so that renames and leavings hold at once.
package profit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/compact"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// again is the age from which on sums of wallets are made anew for who asks. Sums that take long are made more seldom: most of the time is left for the rest.
	again     = 10 * time.Second
	againCost = 20 // times as long as they take
	// long is the age from which on who asks waits for new ones.
	long = time.Minute
	// sumTime bounds the making of sums.
	sumTime = 20 * time.Second
	hour    = 60 * 60
	// mostTraders is how many of the first traders a board has: ten times what an answer shows, since some may have left.
	mostTraders = 1_000
	// kept bounds how many sums of each kind are remembered: of every chain alone, and of all.
	kept = 64
)

// Chain is a chain whose members' wallets are summed up.
type Chain struct {
	ID     string
	Family chainconfig.Family
}

// Reader reads profit. Any number of goroutines may ask.
type Reader struct {
	wallets   store.Wallets
	buckets   Buckets
	directory *members.Directory
	now       func() time.Time
	boards    *recent.Cache[string, made[*Board]]
	series    *recent.Cache[string, made[*Series]]
	closed    *recent.Cache[string, recent.Dated[Point]]
	flight    singleflight.Group
	// versions counts the boards.
	versions atomic.Int64
}

// Buckets has what members realised in stretches of time that can't change any more. It is social.Profit.
type Buckets interface {
	ProfitBuckets(ctx context.Context, width, from, to int64) ([]social.ProfitBucket, error)
	FirstProfitBucket(ctx context.Context, width int64) (open int64, ok bool, err error)
}

// NewReader makes a reader.
func NewReader(w store.Wallets, b Buckets, d *members.Directory, now func() time.Time) *Reader {
	return &Reader{
		wallets: w, buckets: b, directory: d, now: now, boards: recent.New[string, made[*Board]](kept), series: recent.New[string, made[*Series]](kept),
		closed: recent.New[string, recent.Dated[Point]](closedPoints),
	}
}

// Board is what members realised in a window, the highest gain first.
type Board struct {
	// Version is another one for each board.
	Version int64
	// From is exclusive and To inclusive; unix seconds.
	From, To int64
	Traders  []Trader
}

// Trader is what one member realised.
type Trader struct {
	Member member.Number
	pnl.Window
	// Wallets lists the member's wallets that sold, the highest gain first.
	Wallets []WalletShare
}

// WalletShare is what one of a member's wallets realised.
type WalletShare struct {
	Family   chainconfig.Family
	Chain    string
	Wallet   market.Address
	Realised market.USD
}

// Board sums up what members realised on some chains in (to - 24 h, to], unix seconds: those with a sale that counts, without those who moved more than a
// fifth of their volume away. stale says that it is an old answer, since there is no new one for now.
// With provedAlone wallets are left out that the platform alone vouches for.
func (r *Reader) Board(ctx context.Context, chains []Chain, to int64, provedAlone bool) (b *Board, stale bool, err error) {
	key := fmt.Sprint(provedAlone, keyOf(chains))
	return remembered(ctx, r, r.boards, "board "+key, func(ctx context.Context) (*Board, error) { return r.sumBoard(ctx, chains, to, provedAlone) })
}

// made is a value with when it was made, and for how long that took.
type made[V any] struct {
	value V
	at    time.Time
	took  time.Duration
}

// isFresh reports whether the value is the answer at an age without being made anew.
func (m *made[V]) isFresh(age time.Duration) bool {
	return age < max(again, min(againCost*m.took, long/2))
}

// remembered is a value that was made a moment ago. One that is older is the answer once more while it is made anew, once for all who ask; only the first to ask,
// and who asks after a long while, wait for that. Where it can't be made, the last one is the answer, and stale.
func remembered[V any](ctx context.Context, r *Reader, cache *recent.Cache[string, made[V]], key string, sum func(context.Context) (V, error),
) (v V, stale bool, err error) {
	hit, had := cache.Get(key)
	age := r.now().Sub(hit.at)
	if had && hit.isFresh(age) {
		return hit.value, false, nil
	}
	next := r.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sumTime) // the first caller's going away must not take it from the others
		defer cancel()
		at := r.now()
		value, err := sum(ctx)
		if err == nil {
			cache.Put(key, made[V]{value, at, r.now().Sub(at)})
		}
		return value, err
	})
	if had && age < long {
		return hit.value, false, nil
	}
	var out singleflight.Result
	select {
	case out = <-next:
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
	if out.Err != nil && had {
		return hit.value, true, nil
	}
	if out.Err != nil {
		return v, false, out.Err
	}
	v, ok := out.Val.(V)
	if !ok {
		return v, false, fmt.Errorf("profit: %s gave a %T", key, out.Val)
	}
	return v, false, nil
}

func keyOf(chains []Chain) string {
	return strings.Join(ids(chains), " ")
}

func ids(chains []Chain) []string {
	out := make([]string, len(chains))
	for i := range chains {
		out[i] = chains[i].ID
	}
	return out
}

// sums collects what wallets realised, by their members. There are very many, of which a board has few.
type sums struct {
	of          *compact.Map[member.Number, memberSum]
	shares      *compact.Map[shareKey, share]
	families    map[string]chainconfig.Family
	directory   *members.Directory
	provedAlone bool
}

// memberSum is what a member realised.
type memberSum struct {
	number member.Number
	market.Profit
	best *pnl.Sale // nil while there was no gain
}

// shareKey names a member's wallet, whose address tells its family.
type shareKey struct {
	number member.Number
	wallet market.Address
}

// share is what a wallet realised. The chain is the first that it did so on.
type share struct {
	shareKey

	chain    string
	realised market.USD
}

func newSums(chains []Chain, d *members.Directory, provedAlone bool) *sums {
	s := &sums{families: map[string]chainconfig.Family{}, directory: d, provedAlone: provedAlone}
	s.of = compact.New(func(m *memberSum) member.Number { return m.number })
	s.shares = compact.New(func(s *share) shareKey { return s.shareKey })
	for _, c := range chains {
		s.families[c.ID] = c.Family
	}
	return s
}

// owner is whose a wallet is, if it counts.
func (s *sums) owner(wallet market.Address, chain string) (w members.Wallet, ok bool) {
	w, ok = s.directory.Owner(s.families[chain], wallet, chain)
	return w, ok && (w.IsProved || !s.provedAlone)
}

// add adds what a wallet realised. The best sale may be none, which gained nothing.
func (s *sums) add(n member.Number, chain string, wallet market.Address, p *market.Profit, best *pnl.Sale) {
	m := s.of.Find(n)
	if m == nil {
		m = s.of.At(s.of.Put(memberSum{number: n}))
	}
	m.Add(p)
	if best.Realised.Sign() > 0 && (m.best == nil || pnl.Better(best, m.best)) {
		m.best = new(*best) // most are none, or not the best
	}
	key := shareKey{n, wallet}
	w := s.shares.Find(key)
	if w == nil {
		w = s.shares.At(s.shares.Put(share{shareKey: key, chain: chain}))
	}
	w.realised = w.realised.Add(p.Realised())
}

// traders are the first that a board has, the highest gain first.
func (s *sums) traders(from, to int64) (out []Trader) {
	all := make([]*memberSum, 0, s.of.Len())
	for m := range s.of.All() {
		if w := (pnl.Window{Profit: m.Profit}); m.Sales > 0 && !w.MovesAway() {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *memberSum) int {
		x, y := a.Realised(), b.Realised()
		return cmp.Or(y.Cmp(x), cmp.Compare(a.number, b.number))
	})
	places := map[member.Number]int{}
	for i, m := range all[:min(len(all), mostTraders)] {
		places[m.number] = i
		out = append(out, Trader{Member: m.number, Window: pnl.Window{From: from, To: to, Profit: m.Profit, Best: m.best}})
	}
	for w := range s.shares.All() {
		if i, ok := places[w.number]; ok {
			out[i].Wallets = append(out[i].Wallets, WalletShare{Family: s.families[w.chain], Chain: w.chain, Wallet: w.wallet, Realised: w.realised})
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Wallets, func(a, b WalletShare) int {
			return cmp.Or(b.Realised.Cmp(a.Realised), a.Wallet.Compare(b.Wallet), cmp.Compare(a.Chain, b.Chain))
		})
	}
	return out
}

// sumBoard adds up the whole hours in the window, and the entries at its ends.
func (r *Reader) sumBoard(ctx context.Context, chains []Chain, to int64, provedAlone bool) (*Board, error) {
	from := to - pnl.Day
	first, last := from+hour-from%hour, to+1-(to+1)%hour // hours open in [first, last)
	s := newSums(chains, r.directory, provedAlone)
	for h, err := range r.wallets.Hours(ctx, ids(chains), first, last) {
		if err != nil {
			return nil, err
		}
		owner, ok := s.owner(h.Wallet, h.Chain)
		if !ok || int64(owner.Number) != h.Member || h.Open < owner.Since-hour {
			continue
		}
		s.add(owner.Number, h.Chain, h.Wallet, &h.Profit, &pnl.Sale{
			Position: pnl.Position{Wallet: h.Wallet, Token: pnl.Token{Chain: h.Chain, Mint: h.Best.Token}}, At: h.Best.At, Realised: h.Best.Gain,
		})
	}
	for _, end := range [][2]int64{{from + 1, first - 1}, {last, to}} {
		if err := r.addEntries(ctx, s, ids(chains), end[0], end[1]); err != nil {
			return nil, err
		}
	}
	return &Board{Version: r.versions.Add(1), From: from, To: to, Traders: s.traders(from, to)}, nil
}

// addEntries adds up the entries of a part of an hour, both ends included.
func (r *Reader) addEntries(ctx context.Context, s *sums, chains []string, from, to int64) error {
	if from > to {
		return nil
	}
	type order struct {
		wallet market.Address
		token  pnl.Token
		tx     market.TxID
	}
	sales := map[order]*pnl.Sale{}
	owners := map[order]member.Number{}
	for e, err := range r.wallets.Between(ctx, chains, from, to) {
		if err != nil {
			return err
		}
		owner, ok := s.owner(e.Wallet, e.Chain)
		if !ok || e.Time < owner.Since {
			continue
		}
		var p market.Profit
		bookEntry(&p, &e.Entry)
		s.add(owner.Number, e.Chain, e.Wallet, &p, &pnl.Sale{})
		if !realises(&e.Entry) {
			continue
		}
		k := order{e.Wallet, pnl.Token{Chain: e.Chain, Mint: e.Token}, e.Tx}
		sale := sales[k]
		if sale == nil {
			sale = &pnl.Sale{Position: pnl.Position{Wallet: e.Wallet, Token: k.token}, At: e.Time}
			sales[k], owners[k] = sale, owner.Number
		}
		sale.Realised = sale.Realised.Add(e.Proceeds.Sub(e.Cost))
	}
	for k, sale := range sales {
		var p market.Profit
		pnl.Conclude(&p, sale.Realised)
		s.add(owners[k], k.token.Chain, k.wallet, &p, sale)
	}
	return nil
}

// realises reports whether an entry is of a sale that counts, of something that had a basis.
func realises(e *market.Entry) bool {
	return e.Kind == market.Sold && e.Counts && e.HasUSD && (e.Cost.Sign() > 0 || e.Proceeds.Sign() > 0)
}

// bookEntry adds an entry to what a stretch of time came to, as pnl.Book did when the entry was made.
func bookEntry(p *market.Profit, e *market.Entry) {
	entry := pnl.Entry{Kind: e.Kind, NanoUSD: e.NanoUSD, HasUSD: e.HasUSD, GasNanoUSD: e.GasNanoUSD, HasGas: e.HasGas, Ineligible: !e.Counts}
	pnl.Book(p, &entry, &pnl.Effect{
		Charged: e.Fee, Cost: e.Cost, Proceeds: e.Proceeds, Excluded: pnl.Nano(e.NanoUSD).Sub(e.Fee).Sub(e.Proceeds), MovedOut: e.MovedOut,
	})
}
