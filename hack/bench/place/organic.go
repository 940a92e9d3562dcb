package place

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// kinds of addresses of the simulation, for lab.AddressOf.
const (
	organicWallets = 41 + iota
	organicTokens
	organicPools
	exchanges
	bridges
	attackWallets
	attackTokens
	strangers
)

// organic launches tokens and trades them as a population does.
type organic struct {
	*population

	chain *chain
	seed  uint64
	// alone says that only some launches are simulated. Then each buyer is a new wallet: there are no other launches that a wallet may have bought before.
	alone   bool
	made    accounts
	from    []*account // exchanges' wallets, then bridges
	bundler *account
	// others and terminal are the wallets that trade launches: those that trade few, and those of terminals.
	others, terminal recentTraders
	// paid are wallets that got their first coins on this chain and haven't bought yet, by when that was.
	paid   []*account
	wealth map[*account]float64
	tokens map[int]*token // by when they were launched
	// honest are the tokens that nobody bundles or washes.
	honest map[*token]bool
}

// all has settle plan all launches.
func all(int) bool { return true }

// settle plans a population's launches on a chain, from its beginning on, but for those that aren't wanted.
func settle(c *chain, p *population, seed uint64, wanted func(n int) bool) *organic {
	const until = genesis + endsS
	o := &organic{
		population: p, chain: c, seed: seed, made: accounts{seed: seed, kind: organicWallets}, wealth: make(map[*account]float64),
		honest: make(map[*token]bool), tokens: make(map[int]*token),
	}
	for i := range exchangeWallets {
		o.from = append(o.from, &account{address: lab.AddressOf(seed, exchanges, i), nonce: agedNonce})
	}
	for i := range 2 {
		o.from = append(o.from, &account{address: lab.AddressOf(seed, bridges, i), nonce: agedNonce})
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	o.bundler = o.made.next(0)
	at, buyersOfAll := float64(genesis), 0.0
	for n := 0; ; n++ {
		at += rng.ExpFloat64() * day / (p.launchesADay * p.traded)
		if at >= until {
			break
		}
		if buyers := p.buyers.draw(rng); buyers >= leastBuyers {
			buyersOfAll += buyers
			if !wanted(n) {
				o.alone = true
				continue
			}
			c.at(int64(at), func() { o.launch(n, buyers) })
		}
	}
	if o.alone {
		return o // those who trade others are of no interest then
	}
	for range int(buyersOfAll / p.perDay * payments) {
		c.at(genesis+rng.Int64N(endsS), func() { o.pay(rng) })
	}
	return o
}

// pay gives a wallet its first coins.
func (o *organic) pay(rng *rand.Rand) {
	who := o.wallet(o.chain.now, rng)
	from, how := o.funder(rng), plain
	if slices.Contains(o.from[exchangeWallets:], from) {
		how = silent // a bridge's contract pays
	}
	o.chain.send(&transaction{signer: from, payments: []payment{{from, who, coins(firstCoins.draw(rng)), how}}})
	o.paid = append(o.paid, who)
}

// wallet makes a wallet.
func (o *organic) wallet(born int64, rng *rand.Rand) *account {
	who := o.made.next(born)
	o.wealth[who] = lognormal{1, o.buyUSD.sigma * wealthShare}.draw(rng)
	if rng.Float64() < o.smart {
		who.bundler = o.bundler
	}
	return who
}

// rng draws what happens to the n-th token.
func (o *organic) rng(n int) *rand.Rand { return rand.New(rand.NewPCG(o.seed, uint64(n)+1)) }

// launch makes the n-th token and plans its trades.
func (o *organic) launch(n int, buyers float64) {
	rng := o.rng(n)
	t := &token{name: fmt.Sprint("Token ", n), symbol: fmt.Sprint("T", n), creator: o.newcomer(rng)}
	at := &venues[0]
	if rng.Float64() < rangedShare {
		at = &venues[1]
	}
	o.chain.launch(t, at, lab.AddressOf(o.seed, organicTokens, n), lab.AddressOf(o.seed, organicPools, n))
	o.tokens[n], o.honest[t] = t, true
	if rng.Float64() < creatorBuys {
		o.chain.buy(t.creator, t.main, coins(creatorUSD.draw(rng)), false)
		if rng.Float64() < creatorSells {
			o.chain.at(o.chain.now+int64(creatorHold.draw(rng)), func() { o.sell(t, t.creator, 1, false) })
		}
	}
	if rng.Float64() < o.bundled {
		o.bundle(t, rng)
	}
	o.snipe(t, rng)
	life := lifetime(rng)
	for range poisson(rng, buyers) {
		o.chain.at(t.launchedAt+int64(arrival(rng, life)), func() { o.buyer(t, rng) })
	}
	if rng.Float64() < o.washed {
		o.wash(t, rng, life)
	}
}

// bundle has accounts of the creator buy in the block of the launch.
func (o *organic) bundle(t *token, rng *rand.Rand) {
	o.honest[t] = false
	n := o.bundleFrom + rng.IntN(o.bundleTo-o.bundleFrom+1)
	// whole is what bundleSupply of the tokens costs in a constant product, before the fee, in gwei.
	whole := max(0, float64(t.main.quote)*o.bundleSupply*supply/(float64(t.main.base)-o.bundleSupply*supply))
	for range n {
		who := o.made.next(o.chain.now)
		o.chain.send(&transaction{signer: t.creator, payments: []payment{{t.creator, who, uint64(whole / float64(n)), plain}}})
		o.chain.buy(who, t.main, uint64(whole/float64(n)), false)
		o.chain.at(o.chain.now+int64(creatorHold.draw(rng)), func() { o.sell(t, who, 1, false) })
	}
}

// snipe has strangers buy in the first two blocks.
func (o *organic) snipe(t *token, rng *rand.Rand) {
	if rng.Float64() >= o.sniped {
		return
	}
	for n := 1; n == 1 || rng.Float64() < 1-1/o.snipers; n++ {
		who, usd, hold := o.someone(rng), o.sniperUSD.draw(rng), sniperHold.draw(rng)
		o.chain.at(o.chain.now+int64(rng.IntN(2))*blockS, func() {
			o.chain.buy(who, t.main, coins(usd), false)
			o.chain.at(o.chain.now+1+int64(hold), func() { o.sell(t, who, 1, false) })
		})
	}
}

// buyer has somebody buy, and plans what becomes of it.
func (o *organic) buyer(t *token, rng *rand.Rand) {
	who := o.someone(rng)
	usd := lognormal{o.buyUSD.median * o.wealth[who], o.buyUSD.sigma * math.Sqrt(1-wealthShare*wealthShare)}.draw(rng)
	o.chain.buy(who, t.main, coins(usd), rng.Float64() < routed)
	hold := int64(o.holdS.draw(rng))
	if rng.Float64() < o.again {
		o.chain.at(o.chain.now+1+int64(float64(hold)*rng.Float64()), func() { o.chain.buy(who, t.main, coins(usd), rng.Float64() < routed) })
	}
	if rng.Float64() < o.neverSell {
		return
	}
	if rng.Float64() < 0.7 {
		o.chain.at(o.chain.now+1+hold, func() { o.sell(t, who, 1, rng.Float64() < routed) })
		return
	}
	o.chain.at(o.chain.now+1+hold, func() { o.sell(t, who, 0.5, rng.Float64() < routed) })
	o.chain.at(o.chain.now+1+2*hold, func() { o.sell(t, who, 1, rng.Float64() < routed) })
}

// sell has an account sell a share of what it has.
func (o *organic) sell(t *token, who *account, share float64, routed bool) {
	o.chain.sell(who, t.main, uint64(float64(t.balances[who])*share), routed)
}

// wash has bots trade a token to and fro while it lives, for six hours at most. Each trade is as large as a buyer's.
func (o *organic) wash(t *token, rng *rand.Rand, life float64) {
	o.honest[t] = false
	bots := make([]*account, 4)
	for i := range bots {
		bots[i] = o.made.next(o.chain.now)
		o.chain.send(&transaction{signer: t.creator, payments: []payment{{t.creator, bots[i], coins(o.buyUSD.median * 10), plain}}})
	}
	every := 20 + rng.Float64()*100
	end := o.chain.now + int64(min(life, 6*hour))
	var step func()
	step = func() {
		who := bots[rng.IntN(len(bots))]
		if t.balances[who] > 0 {
			o.sell(t, who, 1, false)
		} else {
			o.chain.buy(who, t.main, coins(o.buyUSD.draw(rng)), false)
		}
		if next := o.chain.now + 1 + int64(rng.ExpFloat64()*every); next < end {
			o.chain.at(next, step)
		}
	}
	o.chain.at(o.chain.now+60, step)
}

// someone is who buys: mostly one who bought before.
func (o *organic) someone(rng *rand.Rand) *account {
	tokens, of := o.perDay, &o.others
	if rng.Float64() < o.terminals {
		tokens, of = terminalTokens, &o.terminal
	}
	if who := of.draw(rng, o.chain.now); who != nil && !o.alone && rng.Float64() < 1-1/tokens {
		return who
	}
	who := o.newcomer(rng)
	of.add(who, o.chain.now)
	return who
}

// newcomer is a wallet of some age that has nothing to do with launches so far.
func (o *organic) newcomer(rng *rand.Rand) *account {
	return o.firstAfter(o.chain.now-int64(min(walletAge.draw(rng), oldest)), rng)
}

// firstAfter is a wallet that nobody bought with: one that was paid first after a time, or else at it.
func (o *organic) firstAfter(born int64, rng *rand.Rand) *account {
	if born < genesis {
		who := o.wallet(born, rng)
		who.nonce = 1 + uint64(float64(genesis-born)/day*transactionsADay.draw(rng))
		return who
	}
	i, _ := slices.BinarySearchFunc(o.paid, born, func(a *account, born int64) int { return cmp.Compare(a.born, born) })
	if i == len(o.paid) {
		o.pay(rng)
	}
	who := o.paid[i]
	o.paid = slices.Delete(o.paid, i, i+1)
	return who
}

// funder is who pays a wallet its first coins.
func (o *organic) funder(rng *rand.Rand) *account {
	switch u := rng.Float64(); {
	case u < fromExchange:
		return anExchange(o.from[:exchangeWallets], rng)
	case u >= fromExchange+fromBridge:
		if who := o.others.draw(rng, o.chain.now); who != nil {
			return who
		}
	}
	return o.from[exchangeWallets+rng.IntN(2)]
}

// anExchange is one of the exchanges' wallets; the first three pay some half of all.
func anExchange(list []*account, rng *rand.Rand) *account {
	return list[int(float64(len(list))*math.Pow(rng.Float64(), 4))]
}

// recentTraders are wallets that trade launches for a day each.
type recentTraders struct {
	list []*account
	// since is when each came; those of more than a day ago are before first.
	since []int64
	first int
}

func (c *recentTraders) add(who *account, now int64) {
	c.list, c.since = append(c.list, who), append(c.since, now)
}

// draw is one of those who came within a day; nil where nobody did.
func (c *recentTraders) draw(rng *rand.Rand, now int64) *account {
	for c.first < len(c.list) && c.since[c.first] <= now-day {
		c.first++
	}
	if c.first == len(c.list) {
		return nil
	}
	return c.list[c.first+rng.IntN(len(c.list)-c.first)]
}

// poisson is how many of a process there are that has so many in the mean.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, left := 0, math.Exp(-mean)
	for p := rng.Float64(); p > left; p *= rng.Float64() {
		n++
	}
	return n
}
