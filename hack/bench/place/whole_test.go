package place

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// product is a board as the API server has it: it follows a database that an indexer writes.
type product struct {
	t         *testing.T
	store     *store.Store
	lease     *store.Lease
	directory *members.Directory
	inTokens  *tokenmembers.Index
	ranker    *boards.Ranker
	in        *declared.Catalog
	now       int64
}

func newProduct(t *testing.T) *product {
	t.Helper()
	p := &product{t: t, store: storetest.Open(t, "sqlite")}
	var err error
	if p.lease, err = p.store.Leases.Acquire(t.Context(), chainID, "test", time.Hour); err != nil {
		t.Fatal(err)
	}
	p.directory = members.NewDirectory(p.store.Social)
	p.inTokens = tokenmembers.New(p.store.Wallets, p.directory)
	p.ranker = boards.NewRanker(p.store, p.inTokens, board.DefaultGate(), func() time.Time { return time.Unix(p.now, 0) }, slog.New(slog.DiscardHandler))
	doc := document()
	c := catalog.Chain{ID: chainID, Family: doc.Family, Native: doc.Native, Quotes: doc.Quotes}
	var list []catalog.Venue
	for _, id := range []string{curveVenue, poolVenue} {
		list = append(list, catalog.Venue{ID: id, Filter: id, Chains: []catalog.VenueChain{{Chain: chainID, Open: true}}})
	}
	p.in = declared.New(&catalog.Catalog{Chains: []catalog.Chain{c}, Venues: list})
	return p
}

// commit writes what a batch of blocks changed.
func (p *product) commit(c *market.Changes, last market.Header) {
	p.t.Helper()
	if err := p.store.Commit(p.t.Context(), p.lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number, Changes: *c,
		Head: store.HeadStatus{Number: last.Number, Time: last.Time, Safe: last.Number, Final: last.Number, FinalTime: last.Time},
	}); err != nil {
		p.t.Fatal(err)
	}
}

// rank takes in what was committed, ranks anew, and gives Running, best first.
func (p *product) rank(ctx context.Context, now int64) (out []boards.Shown) {
	p.t.Helper()
	p.now = now
	status, ok, err := p.store.Chain(ctx, chainID)
	if err == nil && ok {
		err = p.directory.Follow(ctx)
	}
	if err == nil {
		err = p.inTokens.Follow(ctx, map[string]tokenmembers.Chain{chainID: {Family: chainconfig.EVM, Status: status}})
	}
	if err == nil {
		err = p.ranker.Refresh(ctx, map[string]store.ChainStatus{chainID: status}, p.in)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.ranker.Wait()
	for q := (boards.PageQuery{Sort: boards.SortRunning, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 100}); ; {
		page := p.ranker.Ranking().Board(1, p.in, false).Page(q)
		out = append(out, page.Cards...)
		if q.After = page.Next; page.Next == nil {
			return out
		}
	}
}

// TestTheRefereeJudgesAsTheProductDoes has honest people and an attacker trade on one chain. At each ranking the launches of Running, their order and their
// scores are the same in the API server's ranking, which reads the database, and in the referee's, which has no database.
func TestTheRefereeJudgesAsTheProductDoes(t *testing.T) {
	t.Parallel()
	p := populations[1]
	p.launchesADay = 5000
	r := newReferee()
	c := newChain(r.take)
	full := newProduct(t)
	const end = genesis + 4*hour
	o := settle(c, &p, 3, all)
	a := newAttack(c, &plan{
		Venue: 1, SeedUSD: 3000, Wallets: 40, BuyUSD: 40, Jitter: 0.4, DelayS: 60, SpanS: 900, AgainUSD: 10, AgainS: 1200, PassOn: 0.3, Sellers: 10, Holders: 40,
		WashUSD: 12_000, WashWallets: 3, PairUSD: 4000, Funding: disperse, LeadS: 600, Tokens: 2,
	}, &allInputs[1], 9, o.from[:exchangeWallets], genesis+3*hour)
	r.changed = func(changes *market.Changes, last market.Header) { full.commit(changes, last) }
	most, attackers := 0, 0
	for at := int64(genesis); at < end; at += rankS {
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			t.Fatal(err)
		}
		if at < genesis+2*hour {
			continue
		}
		want, got := r.running(), full.rank(t.Context(), at)
		if len(got) != len(want) {
			t.Fatalf("%d s: Running has %d launches, the referee %d", at-genesis, len(got), len(want))
		}
		for i, card := range got {
			if card.Launch.Mint != want[i].mint || int(card.Rank) != i+1 || math.Abs(card.Score-want[i].score) > 1e-9*want[i].score {
				t.Fatalf("%d s: place %d has %s with rank %d and %v %+v, by the referee %s with %v %+v", at-genesis, i+1, card.Launch.Mint, card.Rank, card.Score, card.Parts, want[i].mint,
					want[i].score, want[i].parts)
			}
			if slices.ContainsFunc(a.tokens, func(t *token) bool { return t.address == card.Launch.Mint }) {
				attackers++
			}
		}
		most = max(most, len(got))
	}
	if most < places || attackers == 0 {
		t.Fatalf("Running had %d launches at most, %d times one of the attacker's: too few to show anything", most, attackers)
	}
}

// TestATrialIsWhatHappensOnTheBoard has an attacker on the board itself, and not beside it: its scores are those of its trial.
func TestATrialIsWhatHappensOnTheBoard(t *testing.T) {
	t.Parallel()
	p := populations[1]
	p.launchesADay = 800
	b, err := standingsOf(&p, 5, 4*hour, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	attacker := plan{Venue: 2, SeedUSD: 3000, Wallets: 30, BuyUSD: 60, Holders: 40, WashUSD: 12_000, Tokens: 1, LeadS: 100, SpanS: 600}
	alone, err := try(&attacker, &allInputs[0], b, holdAnHour, 9)
	if err != nil {
		t.Fatal(err)
	}
	if !alone.reached {
		t.Fatalf("the plan holds no place, so that nothing is shown: %+v", alone)
	}
	r := newReferee()
	c := newChain(r.take)
	o := settle(c, &p, 5, all)
	a := newAttack(c, &attacker, &allInputs[0], 9, o.from[:exchangeWallets], genesis+warmS)
	a.afterLaunch = func(t *token) { b.snipe(c, t, b.clonePayers(), 9) }
	place := map[int64]int{}
	for at := int64(genesis + warmS - rankS); at <= genesis+warmS+alone.endsS; at += rankS {
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			t.Fatal(err)
		}
		if at < genesis+warmS {
			r.running()
			continue
		}
		place[at] = 1 + slices.IndexFunc(r.running(), func(s standing) bool { return s.mint == a.tokens[0].address })
	}
	for _, at := range slices.Sorted(maps.Keys(place)) {
		if n := place[at]; at >= genesis+warmS+alone.endsS-hour && (n < 1 || n > places) {
			t.Errorf("%d s after the launch it has place %d, in its trial one of the first ten", at-genesis-warmS, n)
		}
	}
	if fmt.Sprint(a.ledger.gas) == "0" {
		t.Error("the attacker paid no gas")
	}
}
