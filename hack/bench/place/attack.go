package place

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// plan is what an attacker does to have a token of its own on the board. The search varies it.
type plan struct {
	Venue site `json:"venue"`
	// SeedUSD is bought by one wallet in the block of the launch.
	SeedUSD float64 `json:"seed_usd"`
	// Wallets buy for BuyUSD each, within SpanS of DelayS after the launch; sizes differ by the factor e^(±Jitter). Each buys again for AgainUSD
	// every AgainS; NewAnHour more come.
	Wallets   int     `json:"wallets"`
	BuyUSD    float64 `json:"buy_usd"`
	Jitter    float64 `json:"jitter"`
	DelayS    float64 `json:"delay_s"`
	SpanS     float64 `json:"span_s"`
	AgainUSD  float64 `json:"again_usd"`
	AgainS    float64 `json:"again_s"`
	NewAnHour int     `json:"new_an_hour"`
	// SellS is how long after a purchase a wallet sells all that it has; 0 for never.
	SellS float64 `json:"sell_s"`
	// PassOn is the share of each purchase that is passed on to another wallet, which sells it at once: Sellers of them, by turns.
	PassOn  float64 `json:"pass_on"`
	Sellers int     `json:"sellers"`
	// Holders are given a little of the token after the launch, HoldersAnHour more later.
	Holders       int `json:"holders"`
	HoldersAnHour int `json:"holders_an_hour"`
	// WashUSD is traded to and fro after the launch, WashAnHour later on, by the creator or by WashWallets others, in the venue's pool or in a pair of
	// the attacker's own, which has PairUSD.
	WashUSD     float64 `json:"wash_usd"`
	WashAnHour  float64 `json:"wash_an_hour"`
	WashWallets int     `json:"wash_wallets"`
	PairUSD     float64 `json:"pair_usd"`
	Source      source  `json:"source"`
	Funding     funding `json:"funding"`
	// LeadS is how long before their first purchase wallets are paid.
	LeadS float64 `json:"lead_s"`
	// Tokens are attacked with the same wallets at the same time.
	Tokens int `json:"tokens"`
}

// attack runs a plan on a chain.
type attack struct {
	*plan

	in     *inputs
	chain  *chain
	rng    *rand.Rand
	made   accounts
	ledger ledger
	boss   *account // who has the money
	// exchanges are the wallets of exchanges, which pay many others.
	exchanges []*account
	wallets   []*account
	sellers   []*account
	// on gives the token of somebody else that is attacked; nil where the plan launches its own.
	on      func() *token
	tokens  []*token
	seeds   []*account // by token, who bought first
	washers []*account
	// ended says that everything is sold and nothing is done any more.
	ended   bool
	launchS int64
}

// start plans an attack that launches its tokens, or begins to trade that of on, at a time. exchanges pay where the plan says so.
func start(c *chain, p *plan, in *inputs, seed uint64, exchanges []*account, launchAt int64, on func() *token) *attack {
	a := &attack{
		plan: p, in: in, chain: c, rng: rand.New(rand.NewPCG(seed, 1<<40)), made: accounts{seed: seed, kind: attackWallets}, exchanges: exchanges,
		launchS: launchAt, on: on,
	}
	a.boss = a.made.next(0)
	lead := int64(p.LeadS)
	c.at(launchAt-lead, func() { a.wallets = append(a.wallets, a.recruit(p.Wallets, p.BuyUSD)...) })
	c.at(launchAt-lead, func() { a.sellers, a.washers = a.recruit(p.sellers(), 0), a.recruit(p.WashWallets, p.chunk()) })
	if on != nil {
		c.at(launchAt, func() { a.trade(on()) })
		return a
	}
	for i := range p.Tokens {
		c.at(launchAt, func() { a.launch(i) })
	}
	return a
}

// check says what of a plan makes no sense.
func (p *plan) check() error {
	switch {
	case p.Tokens < 1 || p.Tokens > mostTokens:
		return fmt.Errorf("tokens is %d: it must be from 1 to %d", p.Tokens, mostTokens)
	case p.LeadS > warmS-hour:
		return fmt.Errorf("lead_s is %v: it must be at most %d", p.LeadS, warmS-hour)
	}
	for _, v := range variables {
		if x := *v.of(p); math.IsNaN(x) || x < 0 || x > mostOfAny {
			return fmt.Errorf("%s is %v: it must be from 0 to %d", v.name, x, int64(mostOfAny))
		}
	}
	for _, c := range counts {
		if n := *c.of(p); n < 0 || n > mostWallets {
			return fmt.Errorf("%s is %d: it must be from 0 to %d", c.name, n, mostWallets)
		}
	}
	return nil
}

// What a plan may have at most.
const (
	mostTokens  = 8
	mostWallets = 100_000
	mostOfAny   = 1e9
)

func (p *plan) sellers() int {
	if p.PassOn == 0 {
		return 0
	}
	return p.Sellers
}

// chunk is what is traded to and fro at once, in USD.
func (p *plan) chunk() float64 {
	if p.PairUSD > 0 {
		return p.PairUSD / 2
	}
	return 1000
}

// agedNonce is how many transactions a wallet has sent that was made older than it is needed for.
const agedNonce = 20

// recruit gets wallets and pays each its first coins.
func (a *attack) recruit(n int, usd float64) []*account {
	out := make([]*account, n)
	born := a.chain.now
	if a.Source != fresh {
		born -= 30 * day
	}
	for i := range out {
		if out[i] = a.made.next(born); a.Source != fresh {
			out[i].nonce = agedNonce
		}
	}
	a.spendWallets(float64(n) * a.in.walletUSD(a.Source, a.Funding))
	if a.Source == rented {
		a.rent(n)
	}
	a.ledger.tied += usd * float64(n) * a.LeadS
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

// pay gives wallets coins, as the plan says. The coins themselves stay the attacker's.
func (a *attack) pay(to []*account, each uint64) {
	switch a.Funding {
	case fanOut:
		for _, who := range to {
			a.send(gasTransfer, &transaction{signer: a.boss, payments: []payment{{a.boss, who, each, plain}}})
		}
	case inChain:
		from := a.boss
		for i, who := range to {
			a.send(gasTransfer, &transaction{signer: from, payments: []payment{{from, who, each * uint64(len(to)-i), plain}}})
			from = who
		}
	case disperse, inSilence:
		how := logged
		if a.Funding == inSilence {
			how = silent
		}
		const most = 400
		for len(to) > 0 {
			n := min(most, len(to))
			t := &transaction{signer: a.boss}
			for _, who := range to[:n] {
				t.payments = append(t.payments, payment{a.boss, who, each, how})
			}
			a.send(gasDisperse*float64(n), t)
			to = to[n:]
		}
	case fromExchanges:
		for _, who := range to {
			from := a.exchanges[a.rng.IntN(len(a.exchanges))]
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

// launch makes the i-th token and plans everything that is done with it.
func (a *attack) launch(i int) {
	creator := a.made.next(a.chain.now)
	a.pay([]*account{creator}, coins(a.chunk()))
	t := &token{name: fmt.Sprint("Bought ", i), symbol: fmt.Sprint("B", i), creator: creator}
	a.spendGas(gasLaunch)
	a.chain.launch(t, &venues[a.Venue], lab.AddressOf(a.made.seed, attackTokens, 2*i), lab.AddressOf(a.made.seed, attackTokens, 2*i+1))
	a.trade(t)
}

// trade plans everything that is done with a token.
func (a *attack) trade(t *token) {
	seed := a.made.next(a.chain.now)
	a.pay([]*account{seed}, coins(a.SeedUSD+a.chunk()))
	a.tokens, a.seeds = append(a.tokens, t), append(a.seeds, seed)
	a.buy(t, seed, a.SeedUSD)
	if a.PairUSD > 0 {
		a.openPair(t, seed)
	}
	a.hold(t, seed, a.Holders)
	a.every(a.HoldersAnHour, func() { a.hold(t, seed, 1) })
	a.wash(t)
	for _, who := range a.wallets {
		a.buyer(t, who, a.chain.now+int64(a.DelayS+a.rng.Float64()*a.SpanS))
	}
	if len(a.tokens) == 1 {
		a.every(a.NewAnHour, a.another)
	}
}

// openPair makes a pair of the attacker's own from half of what it may have in tokens.
func (a *attack) openPair(t *token, who *account) {
	want := a.PairUSD / 2
	a.buy(t, who, want*1.05)
	if t.main.kind == pair {
		return // the curve is full by that: the pair that it left is there
	}
	paid := a.chain.openPair(who, t, uint64(want/t.main.priceUSD()*million))
	a.spendGas(gasPair)
	a.ledger.move(dollars(paid), a.chain.now)
}

// hold gives a little of the token to accounts that never had any.
func (a *attack) hold(t *token, from *account, n int) {
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

// buyer plans a wallet's purchases from a time on.
func (a *attack) buyer(t *token, who *account, at int64) {
	a.chain.at(at, func() {
		a.purchase(t, who, a.BuyUSD)
	})
	if a.AgainUSD <= 0 || a.AgainS <= 0 {
		return
	}
	var again func()
	again = func() {
		if a.ended {
			return
		}
		a.purchase(t, who, a.AgainUSD)
		a.chain.at(a.chain.now+int64(a.AgainS), again)
	}
	a.chain.at(at+int64(a.AgainS), again)
}

// purchase has a wallet buy, and do with it what the plan says.
func (a *attack) purchase(t *token, who *account, usd float64) {
	a.buy(t, who, usd*math.Exp(a.Jitter*(2*a.rng.Float64()-1)))
	a.passOn(t, who)
	if a.SellS > 0 && !a.ended {
		a.chain.at(a.chain.now+1+int64(a.SellS), func() {
			if !a.ended {
				a.sell(t, who)
			}
		})
	}
}

// passOn has part of what a wallet bought sold by another.
func (a *attack) passOn(t *token, who *account) {
	n := uint64(float64(t.balances[who]) * a.PassOn)
	if n == 0 || len(a.sellers) == 0 || a.ended {
		return
	}
	seller := a.sellers[a.rng.IntN(len(a.sellers))]
	a.spendGas(gasToken)
	a.chain.give(who, t, n, []*account{seller})
	a.chain.at(a.chain.now+blockS, func() { a.sell(t, seller) })
}

// another is a wallet more.
func (a *attack) another() {
	who := a.recruit(1, a.BuyUSD)[0]
	a.wallets = append(a.wallets, who)
	for _, t := range a.tokens {
		a.buyer(t, who, a.chain.now+int64(a.LeadS))
	}
}

// every does something so many times an hour until the attack ends.
func (a *attack) every(anHour int, do func()) {
	if anHour <= 0 {
		return
	}
	pause := max(1, int64(hour/anHour))
	var next func()
	next = func() {
		if !a.ended {
			do()
			a.chain.at(a.chain.now+pause, next)
		}
	}
	a.chain.at(a.launchS+int64(a.DelayS)+pause, next)
}

// wash trades a token to and fro.
func (a *attack) wash(t *token) {
	step := func(usd float64) {
		who := t.creator
		if a.on != nil {
			who = a.seeds[0]
		}
		if len(a.washers) > 0 {
			who = a.washers[a.rng.IntN(len(a.washers))]
		}
		a.toAndFro(t, who, usd)
	}
	for left := a.WashUSD; left > 0; left -= 2 * a.chunk() {
		a.chain.at(a.chain.now+blockS+int64(a.rng.Float64()*max(a.SpanS, 60)), func() { step(min(a.chunk(), left/2)) })
	}
	if a.WashAnHour > 0 {
		a.every(max(1, int(a.WashAnHour/(2*a.chunk()))), func() { step(min(a.chunk(), a.WashAnHour/2)) })
	}
}

// toAndFro has an account buy and sell the same within a block.
func (a *attack) toAndFro(t *token, who *account, usd float64) {
	p := t.main
	if t.own != nil {
		p = t.own
	}
	if a.ended {
		return
	}
	before := t.balances[who]
	a.spendGas(2*gasSwap + gasApproval)
	a.bought(p, who, usd)
	a.sold(pairNow(p), who, t.balances[who]-before)
}

// bought has an account buy, and books it.
func (a *attack) bought(p *pool, who *account, usd float64) {
	paid, fee := a.chain.buy(who, p, coins(usd), false)
	a.ledger.fees += dollars(fee) * a.lost(p)
	a.ledger.move(dollars(paid), a.chain.now)
}

// sold has an account sell, and books it.
func (a *attack) sold(p *pool, who *account, tokens uint64) {
	got, fee := a.chain.sell(who, p, tokens, false)
	a.ledger.fees += dollars(fee) * a.lost(p)
	a.ledger.move(-dollars(got), a.chain.now)
}

// lost is which part of a pool's fee the attacker doesn't get back.
func (a *attack) lost(p *pool) float64 {
	switch {
	case p.owner != nil:
		return 0
	case a.on != nil:
		return 1
	default:
		return 1 - p.creatorShare
	}
}

// pairNow is where what was bought in a pool is sold: the purchase may have filled the curve.
func pairNow(p *pool) *pool {
	if p.kind == curve && p.left() == 0 {
		return p.token.main
	}
	return p
}

func (a *attack) buy(t *token, who *account, usd float64) {
	if a.ended || usd <= 0 {
		return
	}
	a.spendGas(gasSwap)
	a.bought(t.main, who, usd)
}

func (a *attack) sell(t *token, who *account) {
	a.spendGas(gasSwap + gasApproval)
	a.sold(t.main, who, t.balances[who])
}

// end takes out all that can be had again: whoever has tokens worth more than the gas sells them.
func (a *attack) end() {
	a.ended = true
	for i, t := range a.tokens {
		if t.own != nil {
			a.spendGas(gasLiquidity)
			a.ledger.move(-dollars(a.chain.closePair(t.own)), a.chain.now)
		}
		all := append([]*account{a.seeds[i]}, a.wallets...)
		if a.on == nil {
			all = append(all, t.creator)
		}
		for _, who := range append(append(all, a.sellers...), a.washers...) {
			if worth := float64(t.balances[who]) / million * t.main.priceUSD(); worth > 2*a.in.gasUSD(gasSwap+gasApproval) {
				a.sell(t, who)
			}
		}
		if a.on == nil {
			a.ledger.move(-dollars(uint64(t.creatorFees)), a.chain.now)
			t.creatorFees = 0
		}
	}
}
