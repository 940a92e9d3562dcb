package members

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// past is how far back the members' trades go, in hours.
const past = 7 * 24

// size is how many members there are, and how many entries their wallets have.
type size struct{ members, entries int }

// people are the members of the board's world: every second one has two wallets, and one wallet in two is shown. What their wallets have is written as an indexer would
// have derived it.
type people struct {
	size

	on     *board.Measurement
	chains []board.Chain
	// wallets are the members' wallets, and numbers whose they are.
	wallets []market.Address
	numbers []int64
	// rank draws wallets, a few of which trade much.
	rank  *lab.Zipf
	rng   *rand.Rand
	hours map[hourOf]*market.WalletHour
}

// hourOf is an hour of a wallet on a chain.
type hourOf struct {
	chain string
	market.HourKey
}

func newPeople(on *board.Measurement, s size) *people {
	p := &people{size: s, on: on, chains: on.Chains(), rng: rand.New(rand.NewPCG(1, 7)), hours: map[hourOf]*market.WalletHour{}}
	for n := range s.members {
		p.wallets = append(p.wallets, lab.AddressOf(41, 1, n))
		if n%2 == 1 {
			p.wallets = append(p.wallets, lab.AddressOf(41, 2, n))
		}
	}
	p.rank = lab.NewZipf(len(p.wallets), 0.5)
	return p
}

// write writes them into an empty database.
func (p *people) write(ctx context.Context) error {
	if err := p.join(ctx); err != nil {
		return err
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	for i := range p.chains {
		if err := p.watch(ctx, &p.chains[i]); err != nil {
			return err
		}
		if err := p.trade(ctx, &p.chains[i]); err != nil {
			return err
		}
	}
	if _, err := p.on.Store().Inspect.Database().Write.ExecContext(ctx, "ANALYZE"); err != nil { // as a database does by itself in time
		return fmt.Errorf("analyze the tables: %w", err)
	}
	return nil
}

// read reads whose the wallets are.
func (p *people) read(ctx context.Context) error {
	numbers, err := numbersOf(ctx, p.on.Store().Social.Registry)
	if err != nil {
		return err
	}
	for n := range p.members {
		for range 1 + n%2 {
			p.numbers = append(p.numbers, numbers[member.ID("u"+strconv.Itoa(n))])
		}
	}
	return nil
}

// join writes the members and their wallets.
func (p *people) join(ctx context.Context) error {
	progress := lab.NewProgress("members join", int64(p.members))
	var records []member.Record
	wallet := 0
	for n := range p.members {
		id := member.ID("u" + strconv.Itoa(n))
		records = append(records, member.Record{ID: id, Handle: "member_" + strconv.Itoa(n), JoinedAt: 1, UpdatedAt: 1})
		for range 1 + n%2 {
			records = append(records, member.Record{ID: id, UpdatedAt: 1, Wallet: &member.WalletRecord{
				Family: chainconfig.EVM, Address: p.wallets[wallet], Public: wallet%2 == 0, Since: 1,
			}})
			wallet++
		}
		if len(records) < 1000 && n < p.members-1 {
			continue
		}
		if _, written, err := p.on.Store().Social.Registry.Apply(ctx, records, true, lab.WorldEnd); err != nil || !written {
			return fmt.Errorf("members join: all were written %t: %w", written, err)
		}
		records = records[:0]
		progress.At(int64(n))
	}
	progress.End()
	return nil
}

func numbersOf(ctx context.Context, s social.Registry) (map[member.ID]int64, error) {
	out := map[member.ID]int64{}
	for after := int64(0); ; {
		list, err := s.Changes(ctx, after, 10_000)
		if err != nil || len(list) == 0 {
			return out, err
		}
		for i := range list {
			if after = list[i].Number; list[i].Member != nil {
				out[list[i].Member.ID] = int64(list[i].Member.Number)
			}
		}
	}
}

// rowsAtOnce is how many entries one commit of the seeding has, or how many wallets that are watched.
const rowsAtOnce = 20_000

// watch has a chain's index watch all wallets.
func (p *people) watch(ctx context.Context, c *board.Chain) error {
	for from := 0; from < len(p.wallets); from += rowsAtOnce {
		changes := &market.Changes{}
		for i, a := range p.wallets[from:min(from+rowsAtOnce, len(p.wallets))] {
			lab.Changed(&changes.Watched, a, market.WatchedWallet{Wallet: a, Member: p.numbers[from+i], Since: 1})
		}
		if err := c.Add(ctx, changes); err != nil {
			return err
		}
	}
	return nil
}

// trade writes what members traded on a chain, hour by hour.
func (p *people) trade(ctx context.Context, c *board.Chain) error {
	tokens := lab.NewZipf(len(c.Mints), 1)
	n := p.entries * c.Share / 100
	progress := lab.NewProgress(c.ID+": members trade", int64(n))
	done := 0
	for h := range past {
		changes, from := &market.Changes{}, lab.WorldEnd-lab.WorldEnd%3600-int64(past-1-h)*3600
		for want := n * (h + 1) / past; done < want; done++ {
			at := min(from+p.rng.Int64N(3600), lab.WorldEnd)
			e := market.Entry{
				Block: c.BlockAt(at), Seq: uint32(done), Time: at, Tx: lab.TxOf(c.BlockAt(at), uint64(done)), Token: c.Mints[tokens.Draw(p.rng)], Pool: lab.AddressOf(41, 3, 0),
				NanoUSD: 1e9 + p.rng.Int64N(500e9), Amount: lab.RawAmount(1000, 18),
			}
			if p.rng.IntN(2) == 0 {
				e.Kind = market.Sold
			}
			p.add(c.ID, changes, e)
			if len(changes.Entries) == rowsAtOnce || done == want-1 {
				p.close(c.ID, changes)
				if err := c.Add(ctx, changes); err != nil {
					return err
				}
				changes = &market.Changes{}
			}
		}
		progress.At(int64(done))
	}
	progress.End()
	return nil
}

// add has a member make a trade: an entry, and what follows from it but for the hour.
func (p *people) add(chain string, changes *market.Changes, e market.Entry) {
	w := p.rank.Draw(p.rng)
	e.Wallet, e.HasUSD, e.Counts, e.Player = p.wallets[w], true, true, p.numbers[w]
	usd := market.NanoUSD(e.NanoUSD)
	h := p.hour(chain, market.HourKey{Wallet: e.Wallet, Member: p.numbers[w], Open: e.Time - e.Time%3600})
	h.Trades, h.Volume = h.Trades+1, h.Volume.Add(usd)
	if e.Kind == market.Sold {
		e.Proceeds, e.Cost = usd, market.NanoUSD(p.rng.Int64N(2*e.NanoUSD+1))
		h.Proceeds, h.Cost, h.Sales = h.Proceeds.Add(e.Proceeds), h.Cost.Add(e.Cost), h.Sales+1
		if gain := (market.BestSale{Token: e.Token, At: e.Time, Gain: e.Proceeds.Sub(e.Cost)}); gain.Better(&h.Best) {
			h.Best = gain
		}
	}
	changes.Entries = append(changes.Entries, e)
	if e.Kind == market.Bought {
		k := market.PositionKey{Wallet: e.Wallet, Token: e.Token}
		lab.Changed(&changes.Positions, k, market.Position{Quantity: e.Amount, Cost: usd, IsIn: true})
	}
}

func (p *people) hour(chain string, k market.HourKey) *market.WalletHour {
	h := p.hours[hourOf{chain, k}]
	if h == nil {
		h = &market.WalletHour{HourKey: k}
		p.hours[hourOf{chain, k}] = h
	}
	return h
}

// close adds the hours in which there were entries, and leaves a position once.
func (p *people) close(chain string, changes *market.Changes) {
	seen := map[market.HourKey]bool{}
	for i := range changes.Entries {
		e := &changes.Entries[i]
		k := market.HourKey{Wallet: e.Wallet, Member: e.Player, Open: e.Time - e.Time%3600}
		if !seen[k] {
			seen[k] = true
			lab.Changed(&changes.Hours, k, *p.hour(chain, k))
		}
	}
	held := map[market.PositionKey]bool{}
	kept := changes.Positions[:0]
	for _, c := range changes.Positions {
		if !held[c.Key] {
			held[c.Key] = true
			kept = append(kept, c)
		}
	}
	changes.Positions = kept
}

// oneIn: members make one in so many of the trades that arrive.
const oneIn = 10

// follow has members make some of the trades that arrive.
func (p *people) follow() {
	for i := range p.chains {
		chain := p.chains[i].ID
		own := &people{size: p.size, wallets: p.wallets, numbers: p.numbers, rank: p.rank, rng: rand.New(rand.NewPCG(2, uint64(i))), hours: map[hourOf]*market.WalletHour{}}
		p.on.OnBlock(chain, func(block market.Header, changes *market.Changes) { own.arrive(chain, block, changes) })
	}
}

// arrive has members make some of a block's trades.
func (p *people) arrive(chain string, block market.Header, changes *market.Changes) {
	for i := range changes.Trades {
		t := &changes.Trades[i]
		if p.rng.IntN(oneIn) > 0 {
			continue
		}
		e := market.Entry{
			Block: t.Block, Seq: uint32(i), Time: t.Time, Tx: t.Tx, Token: t.Base, Pool: t.Pool, LogIndex: t.LogIndex, NanoUSD: t.NanoUSD, Amount: t.BaseAmount,
		}
		if t.Sell {
			e.Kind = market.Sold
		}
		p.add(chain, changes, e)
		e = changes.Entries[len(changes.Entries)-1]
		t.Trader = e.Wallet
		changes.Stream = append(changes.Stream, market.StreamItem{
			Kind: market.StreamTrade, Token: e.Token, Time: block.Time,
			Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: e.Player, Block: e.Block, Tx: e.Tx, Sell: t.Sell},
		})
	}
	p.close(chain, changes)
}

// inTokens asks who is in twenty tokens of a chain.
func (p *people) inTokens(rng *rand.Rand, drawn map[string]*lab.Zipf) string {
	c := &p.chains[rng.IntN(len(p.chains))]
	if drawn[c.ID] == nil {
		drawn[c.ID] = lab.NewZipf(len(c.Mints), 1)
	}
	var mints []string
	for range 20 {
		mints = append(mints, c.ID+":"+c.Mints[drawn[c.ID].Draw(rng)].String())
	}
	return "/api/live/members-in?mints=" + strings.Join(mints, ",")
}
