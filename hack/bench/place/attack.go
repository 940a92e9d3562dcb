package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// attack runs a plan on a chain.
type attack struct {
	*plan

	in     *inputs
	chain  *chain
	rng    *rand.Rand
	made   accounts
	ledger ledger
	// owner has the money, and last is the newest wallet that was paid in a chain of payments.
	owner, last *account
	// exchanges are the wallets of exchanges, which pay many others.
	exchanges []*account
	// everybody has all accounts that have coins or tokens of the attacker.
	everybody                 []*account
	wallets, sellers, washers []*account
	// target gives the token of somebody else that is attacked; nil where the plan launches its own.
	target func() *token
	tokens []*token
	// seeds bought first, by token.
	seeds    []*account
	approved map[approval]bool
	// afterLaunch is called in the block of each launch of the attacker's.
	afterLaunch func(*token)
	// ended says that everything is sold and nothing is done any more.
	ended   bool
	beginsS int64
}

// approval lets a pool take an account's tokens.
type approval struct {
	who  *account
	pool *pool
}

// newAttack plans an attack that launches its tokens at a time, or begins to trade the target then.
func newAttack(c *chain, p *plan, in *inputs, seed uint64, exchanges []*account, begins int64) *attack {
	a := &attack{
		plan: p, in: in, chain: c, rng: rand.New(rand.NewPCG(seed, 1<<40)), made: accounts{seed: seed, kind: attackWallets}, exchanges: exchanges,
		beginsS: begins, approved: make(map[approval]bool), afterLaunch: func(*token) {},
	}
	a.owner = a.made.next(0)
	a.owner.nonce = agedNonce
	c.at(begins-int64(p.LeadS), func() {
		a.wallets = a.recruit(p.Wallets, float64(p.Tokens)*p.BuyUSD*math.Exp(p.Jitter))
		if p.PassOn > 0 && !p.Ring {
			a.sellers = a.recruit(p.Sellers, 0)
		}
		a.washers = a.recruit(p.WashWallets, p.chunk())
	})
	for i := range p.Tokens {
		c.at(begins, func() { a.begin(i) })
	}
	return a
}

// chunk is what is traded to and fro at once, in USD.
func (p *plan) chunk() float64 {
	if p.PairUSD > 0 {
		return p.PairUSD / 2
	}
	return 1000
}

// agedNonce is how many transactions a wallet has sent that was made before it was needed.
const agedNonce = 20

// recruit gets wallets, and pays each its first coins.
func (a *attack) recruit(n int, usd float64) []*account {
	out := make([]*account, n)
	born, sent := a.chain.now, uint64(0)
	switch a.Source {
	case fresh:
	case dayOld:
		born, sent = born-25*hour, 1
		a.spendGas(2 * gasTransfer * float64(n)) // it was paid a little, and sent a transaction
	case aged, rented:
		born, sent = born-30*day, agedNonce
	}
	for i := range out {
		out[i] = a.made.next(born)
		out[i].nonce = sent
	}
	a.everybody = append(a.everybody, out...)
	a.spendWallets(float64(n) * a.in.walletUSD(a.Source, a.Funding))
	if a.Source == rented {
		a.rent(n)
	}
	a.pay(out, coins(usd+1))
	return out
}

// rent pays for wallets that are rented, for each day that begins.
func (a *attack) rent(n int) {
	if !a.ended {
		a.spendWallets(float64(n) * a.in.rented)
		a.chain.at(a.chain.now+day, func() { a.rent(n) })
	}
}

func (a *attack) spendWallets(usd float64) {
	a.ledger.wallets += usd
	a.ledger.move(usd, a.chain.now)
}

// pay gives wallets coins, as the plan says.
func (a *attack) pay(to []*account, each uint64) {
	for _, who := range to {
		who.coins += each
	}
	a.ledger.move(dollars(each)*float64(len(to)), a.chain.now)
	switch a.Funding {
	case fanOut:
		for _, who := range to {
			a.send(gasTransfer, &transaction{signer: a.owner, payments: []payment{{a.owner, who, each, plain}}})
		}
	case inChain:
		for i, who := range to {
			from := a.last
			if from == nil || from == who {
				from = a.owner
			}
			a.send(gasTransfer, &transaction{signer: from, payments: []payment{{from, who, each * uint64(len(to)-i), plain}}})
			a.last = who
		}
	case disperse, inSilence:
		how := logged
		if a.Funding == inSilence {
			how = silent
		}
		const most = 400
		for len(to) > 0 {
			n := min(most, len(to))
			t := &transaction{signer: a.owner}
			for _, who := range to[:n] {
				t.payments = append(t.payments, payment{a.owner, who, each, how})
			}
			a.send(gasDisperse*float64(n), t)
			to = to[n:]
		}
	case fromExchanges:
		for _, who := range to {
			from := anExchange(a.exchanges, a.rng)
			a.chain.send(&transaction{signer: from, payments: []payment{{from, who, each, plain}}})
		}
	}
}

// send has the chain do something that costs the attacker gas.
func (a *attack) send(gas float64, t *transaction) {
	a.spendGas(gas)
	a.chain.send(t)
}

func (a *attack) spendGas(units float64) {
	usd := a.in.gasUSD(units)
	a.ledger.gas += usd
	a.ledger.move(usd, a.chain.now)
}

// begin makes the i-th token, if the attacker has tokens of its own, and plans everything that is done with it.
func (a *attack) begin(i int) {
	seed := a.recruit(1, a.SeedUSD+a.chunk()+a.PairUSD)[0]
	a.seeds = append(a.seeds, seed)
	if a.target != nil {
		a.planTrades(a.target(), seed, seed)
		return
	}
	t := &token{name: fmt.Sprint("Bought ", i), symbol: fmt.Sprint("B", i), creator: a.recruit(1, a.chunk())[0]}
	a.spendGas(gasLaunch)
	a.chain.launch(t, &venues[a.Venue], lab.AddressOf(a.made.seed, attackTokens, 2*i), lab.AddressOf(a.made.seed, attackTokens, 2*i+1))
	a.planTrades(t, seed, t.creator)
	a.afterLaunch(t)
}

// planTrades plans everything that is done with a token. washer trades to and fro where no wallets are for that.
func (a *attack) planTrades(t *token, seed, washer *account) {
	a.tokens = append(a.tokens, t)
	a.buy(t.main, seed, a.SeedUSD)
	if a.PairUSD > 0 {
		a.addLiquidity(t, seed)
	}
	a.giveDust(t, seed, a.Holders)
	a.repeat(a.HoldersAnHour, func() { a.giveDust(t, seed, 1) })
	a.planWash(t, washer)
	for _, who := range a.wallets {
		a.planPurchases(t, who, a.chain.now+int64(a.DelayS+a.rng.Float64()*a.SpanS))
	}
	if len(a.tokens) == 1 {
		a.repeat(a.NewAnHour, a.addWallet)
	}
}

// addLiquidity puts half of the pair's USD as tokens, and as much in coins, into a pair of the attacker's own, and takes it out again where the plan says
// so.
func (a *attack) addLiquidity(t *token, who *account) {
	if a.ended {
		return
	}
	tokens := uint64(a.PairUSD / 2 / t.main.priceUSD() * million)
	if have := t.balances[who]; have < tokens {
		a.buy(t.main, who, a.PairUSD/2*1.05*float64(tokens-have)/float64(tokens))
	}
	a.topUp(who, coins(a.PairUSD))
	made := t.own != nil
	who.coins -= a.chain.fillPair(who, t, tokens)
	gas := float64(gasPair)
	if made {
		gas = gasLiquidity
	}
	a.spendGas(gas)
	if a.PairInS > 0 {
		a.chain.at(a.chain.now+1+int64(a.PairInS), func() { a.takeLiquidity(t) })
		a.chain.at(a.chain.now+2+int64(a.PairInS+a.PairOutS), func() { a.addLiquidity(t, who) })
	}
}

func (a *attack) takeLiquidity(t *token) {
	if t.own == nil || t.own.quote == 0 {
		return
	}
	a.spendGas(gasLiquidity)
	t.own.owner.coins += a.chain.closePair(t.own)
}

// giveDust gives a little of the token to accounts that never had any.
func (a *attack) giveDust(t *token, from *account, n int) {
	const most = 300
	for n > 0 {
		to := make([]*account, min(n, most))
		for i := range to {
			to[i] = a.made.next(a.chain.now)
		}
		a.spendGas(gasToken * float64(len(to)))
		a.chain.give(from, t, million, to)
		n -= len(to)
	}
}

// planPurchases plans a wallet's purchases from a time on.
func (a *attack) planPurchases(t *token, who *account, at int64) {
	a.chain.at(at, func() { a.purchase(t, who, a.BuyUSD) })
	if a.AgainUSD <= 0 || a.AgainS <= 0 {
		return
	}
	var again func()
	again = func() {
		if !a.ended {
			a.purchase(t, who, a.AgainUSD)
			a.chain.at(a.chain.now+int64(a.AgainS), again)
		}
	}
	a.chain.at(at+int64(a.AgainS), again)
}

// purchase has a wallet buy, and do with what it got as the plan says.
func (a *attack) purchase(t *token, who *account, usd float64) {
	if a.ended {
		return
	}
	before := t.balances[who]
	a.buy(t.main, who, usd*math.Exp(a.Jitter*(2*a.rng.Float64()-1)))
	a.passOn(t, who, t.balances[who]-before)
	if a.SellS > 0 {
		a.chain.at(a.chain.now+1+int64(a.SellS), func() {
			if !a.ended {
				a.sell(t.main, who, t.balances[who])
			}
		})
	}
}

// passOn has part of what a wallet bought sold by another: by one of the sellers, or in a ring by the wallet after it.
func (a *attack) passOn(t *token, who *account, bought uint64) {
	n := uint64(float64(bought) * a.PassOn)
	if n == 0 {
		return
	}
	var seller *account
	switch {
	case a.Ring:
		seller = a.wallets[(slices.Index(a.wallets, who)+1)%len(a.wallets)]
	case len(a.sellers) > 0:
		seller = a.sellers[a.rng.IntN(len(a.sellers))]
	}
	if seller == nil || seller == who {
		return
	}
	a.spendGas(gasToken)
	a.chain.give(who, t, n, []*account{seller})
	a.chain.at(a.chain.now+blockS, func() {
		if !a.ended {
			a.sell(t.main, seller, n)
		}
	})
}

// addWallet recruits one wallet more.
func (a *attack) addWallet() {
	who := a.recruit(1, float64(a.Tokens)*a.BuyUSD*math.Exp(a.Jitter))[0]
	a.wallets = append(a.wallets, who)
	for _, t := range a.tokens {
		a.planPurchases(t, who, a.chain.now+int64(a.LeadS))
	}
}

// repeat does something so many times an hour until the attack ends.
func (a *attack) repeat(anHour int, do func()) {
	if anHour <= 0 {
		return
	}
	n := 0
	var next func()
	plan := func() {
		n++
		a.chain.at(a.beginsS+int64(a.DelayS)+int64(float64(n)*hour/float64(anHour)), next)
	}
	next = func() {
		if !a.ended {
			do()
			plan()
		}
	}
	plan()
}

// planWash plans the volume to and fro.
func (a *attack) planWash(t *token, washer *account) {
	trade := func(usd float64) {
		who := washer
		if len(a.washers) > 0 {
			who = a.washers[a.rng.IntN(len(a.washers))]
		}
		a.buyAndSell(t, who, usd)
	}
	// A purchase and a sale make twice their value.
	for left := a.WashUSD; left > 0; left -= 2 * a.chunk() {
		usd := min(a.chunk(), left/2)
		a.chain.at(a.chain.now+blockS+int64(a.rng.Float64()*max(a.SpanS, 60)), func() { trade(usd) })
	}
	if a.WashAnHour > 0 {
		n := math.Ceil(a.WashAnHour / (2 * a.chunk()))
		a.repeat(int(n), func() { trade(a.WashAnHour / (2 * n)) })
	}
}

// buyAndSell has an account buy, and sell the same within the block.
func (a *attack) buyAndSell(t *token, who *account, usd float64) {
	p := t.main
	if t.own != nil && t.own.quote > 0 {
		p = t.own
	}
	before := t.balances[who]
	a.buy(p, who, usd)
	if p.kind == curve && p.left() == 0 {
		p = t.main // the purchase has filled the curve
	}
	a.sell(p, who, t.balances[who]-before)
}

// buy has an account buy in a pool.
func (a *attack) buy(p *pool, who *account, usd float64) {
	if a.ended || usd <= 0 {
		return
	}
	a.topUp(who, coins(usd))
	a.spendGas(gasSwap)
	paid, fee := a.chain.buy(who, p, coins(usd), false)
	who.coins -= paid
	a.ledger.fees += dollars(fee) * a.lostShare(p)
}

// topUp pays an account what it lacks.
func (a *attack) topUp(who *account, need uint64) {
	if who.coins < need {
		a.pay([]*account{who}, need-who.coins)
	}
}

// sell has an account sell in a pool.
func (a *attack) sell(p *pool, who *account, tokens uint64) {
	if tokens == 0 {
		return
	}
	if key := (approval{who, p}); !a.approved[key] {
		a.approved[key] = true
		a.spendGas(gasApproval)
	}
	a.spendGas(gasSwap)
	got, fee := a.chain.sell(who, p, tokens, false)
	who.coins += got
	a.ledger.fees += dollars(fee) * a.lostShare(p)
}

// lostShare is the part of a pool's fee that the attacker doesn't get back.
func (a *attack) lostShare(p *pool) float64 {
	switch {
	case p.owner != nil:
		return 0
	case a.target != nil:
		return 1
	default:
		return 1 - p.creatorShare
	}
}

// end takes out all that can be had again: whoever has tokens worth more than the gas sells them, and whoever has coins sends them to the owner.
func (a *attack) end() {
	a.ended = true
	for _, t := range a.tokens {
		a.takeLiquidity(t)
		for _, who := range a.everybody {
			if worth := float64(t.balances[who]) / million * t.main.priceUSD(); worth > 2*a.in.gasUSD(gasSwap+gasApproval) {
				a.sell(t.main, who, t.balances[who])
			}
		}
		if a.target == nil {
			a.ledger.move(-dollars(t.creatorFees()), a.chain.now)
		}
	}
	for _, who := range a.everybody {
		if gas := a.in.gasUSD(gasTransfer); dollars(who.coins) > gas {
			a.spendGas(gasTransfer)
			a.ledger.move(-dollars(who.coins), a.chain.now)
			who.coins = 0
		}
	}
}
