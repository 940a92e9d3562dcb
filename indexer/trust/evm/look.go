package evm

import (
	"context"
	"errors"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// look is one check under way: what is known, what was asked, what was answered.
type look struct {
	c     *Looker
	mint  market.Address
	known *check.Known

	// Where the token is traded. noMarket says why nowhere; pool may be nil on a curve.
	pool            *market.Pool
	target, funding probe.Market
	noMarket        string
	sizes           [2]market.Amount

	// block is the one after which the node was asked.
	block market.Header
	answers
}

// answers are those of one block's state.
type answers struct {
	// failed says that some lack, gone that it is for want of the block's state.
	failed, gone bool

	state  state
	behind behind
	// code is the token's, or that of the contract that it stands for; nil while unknown.
	code *runtime

	trades  []trade
	powers  []power
	refused string // why nothing was simulated
}

// state has the answers about the token itself, which are asked for at once.
type state struct {
	code, implementation, beacon, admin, proxiable *evm.Question
	owner, getOwner, pending, paused, supply       *evm.Question
	creatorHas, gasPrice                           *evm.Question
	siblings                                       []*evm.Question
	liquidity                                      liquidity
}

// behind has the answers about the token's owner and the contracts behind the token.
type behind struct {
	logic       market.Address
	logicCode   *evm.Question
	ownerCode   *evm.Question
	adminCode   *evm.Question
	adminOwner  *evm.Question
	beaconLogic *evm.Question
	beaconOwner *evm.Question
}

func view(to market.Address, signature string, args ...[]byte) *evm.Question {
	q := &evm.Question{To: to, Data: hash.Selector(signature)}
	for _, a := range args {
		q.Data = append(q.Data, a...)
	}
	return q
}

func codeOf(a market.Address) *evm.Question { return &evm.Question{Kind: evm.AskCode, To: a} }

func slotOf(a market.Address, slot [32]byte) *evm.Question {
	return &evm.Question{Kind: evm.AskStorage, To: a, Slot: slot}
}

// questions are those that were made.
func questions(list ...*evm.Question) (out []*evm.Question) {
	for _, q := range list {
		if q != nil {
			out = append(out, q)
		}
	}
	return out
}

// read asks the node about the newest indexed block, or about the newest at all where that one's state is gone: a short way
// behind the head is no reason to know nothing. A report is of one block, so that all is asked again then. What fails is left
// unanswered and makes its checks unknown: the error is ErrNoCode alone.
func (l *look) read(ctx context.Context) error {
	l.block = l.known.Block
	err := l.readAt(ctx)
	if !l.gone {
		return err
	}
	head, e := l.c.node.Head(ctx)
	if e == nil && head.Number >= l.block.Number {
		l.block, l.answers = head.Header.Header, answers{}
		return l.readAt(ctx)
	}
	return err
}

// readAt asks all of one block, in at most four batches, and stops where its state turns out to be gone.
func (l *look) readAt(ctx context.Context) error {
	if !l.ask(ctx, l.firstQuestions()) {
		l.refused = trust.CallFailed
		return nil
	}
	if l.state.code.OK && len(l.state.code.Answer) == 0 {
		return check.ErrNoCode
	}
	l.ask(ctx, l.secondQuestions())
	l.ask(ctx, l.beaconQuestions())
	if l.gone {
		l.refused = trust.CallFailed
		return nil
	}
	if code := l.logicCode(); code != nil {
		r := readRuntime(code)
		l.code = &r
	}
	l.simulate(ctx)
	return nil
}

func (l *look) firstQuestions() []*evm.Question {
	s, m := &l.state, l.mint
	s.code = codeOf(m)
	s.implementation, s.beacon = slotOf(m, slotImplementation), slotOf(m, slotBeacon)
	s.admin, s.proxiable = slotOf(m, slotAdmin), slotOf(m, slotProxiable)
	s.owner, s.getOwner, s.pending = view(m, "owner()"), view(m, "getOwner()"), view(m, "pendingOwner()")
	s.paused, s.supply = view(m, "paused()"), view(m, "totalSupply()")
	s.gasPrice = &evm.Question{Kind: evm.AskGasPrice}
	if launch := l.known.Launch; launch != nil && !launch.Creator.IsNone() {
		s.creatorHas = view(m, "balanceOf(address)", probe.Address(launch.Creator))
	}
	for _, a := range l.known.Siblings {
		s.siblings = append(s.siblings, codeOf(a))
	}
	out := questions(s.code, s.implementation, s.beacon, s.admin, s.proxiable, s.owner, s.getOwner, s.pending, s.paused, s.supply,
		s.creatorHas, s.gasPrice)
	return append(append(out, s.siblings...), l.askLiquidity()...)
}

func (l *look) secondQuestions() []*evm.Question {
	b := &l.behind
	if owner := l.owner(); owner.live {
		b.ownerCode = codeOf(owner.account)
	}
	p := l.proxy()
	if !p.logic.IsNone() {
		b.logic, b.logicCode = p.logic, codeOf(p.logic)
	}
	if !p.admin.IsNone() {
		b.adminCode, b.adminOwner = codeOf(p.admin), view(p.admin, "owner()")
	}
	if !p.beacon.IsNone() {
		b.beaconLogic, b.beaconOwner = view(p.beacon, "implementation()"), view(p.beacon, "owner()")
	}
	return questions(b.ownerCode, b.logicCode, b.adminCode, b.adminOwner, b.beaconLogic, b.beaconOwner)
}

func (l *look) beaconQuestions() []*evm.Question {
	b := &l.behind
	if b.beaconLogic == nil {
		return nil
	}
	logic, ok := b.beaconLogic.Address()
	if !ok {
		return nil
	}
	b.logic, b.logicCode = logic, codeOf(logic)
	return questions(b.logicCode)
}

// logicCode is the code that decides what the token does; nil while unknown.
func (l *look) logicCode() []byte {
	switch {
	case l.behind.logicCode != nil && l.behind.logicCode.OK:
		return l.behind.logicCode.Answer
	case l.behind.logicCode == nil && l.proxy().kind == proxyNone && l.state.code.OK:
		return l.state.code.Answer
	}
	return nil
}

// ask sends a batch.
func (l *look) ask(ctx context.Context, list []*evm.Question) bool {
	if len(list) == 0 || l.gone {
		return !l.gone
	}
	err := l.c.node.Ask(ctx, l.at(), list)
	if err != nil {
		l.failed, l.gone = true, errors.Is(err, evm.ErrStateGone)
		l.c.o.Log.WarnContext(ctx, "a token's check lacks answers", "mint", l.mint.String(), "err", err.Error())
	}
	return err == nil
}

func (l *look) at() chain.Ref { return chain.Ref{Number: l.block.Number, Hash: l.block.Hash} }

// report makes all checks of what was answered.
func (l *look) report() *trust.Report {
	r := &trust.Report{
		Chain: l.c.cfg.ID, Mint: l.mint.String(), Block: trust.Block{Number: l.block.Number, Hash: l.block.Hash.String()},
		At: time.Unix(l.block.Time, 0).UTC(), CheckedAt: l.c.o.Now().UTC().Truncate(time.Second),
		Checker: trust.Checker{ID: checkerID, Version: Version},
	}
	if l.pool != nil {
		r.Pair = l.pool.ID.String()
	}
	for _, rule := range trust.Rules {
		found := checks[rule.ID](l, rule)
		if found.Source == "" {
			found.Source = sourceOf[rule.ID]
		}
		r.Checks = append(r.Checks, found)
	}
	return r
}

// sourceOf is where the figure of each check is from.
var sourceOf = map[string]string{
	trust.HoneypotSell: check.FromSimulation, trust.BuyTax: check.FromSimulation, trust.SellTax: check.FromSimulation, trust.TransferTax: check.FromSimulation,
	trust.Pausable: check.FromSimulation, trust.Blacklist: check.FromSimulation, trust.Mintable: check.FromSimulation,
	trust.SupplyChange: check.FromAccounts, trust.Ownership: check.FromAccounts, trust.Proxy: check.FromAccounts, trust.CodeKnown: check.FromAccounts,
	trust.SourceVerified: check.FromAccounts, trust.LPBurnedLocked: check.FromAccounts, trust.LiquidityDepth: check.FromReserves,
	trust.Top10Share: check.FromTransfers, trust.BundleShare: check.FromSwaps, trust.CreatorHolding: check.FromAccounts,
	trust.CreatorHistory: check.FromLaunches, trust.PairAge: check.FromSwaps,
}

// checks are how each rule's check is made.
var checks = map[string]func(*look, trust.Rule) trust.Check{
	trust.HoneypotSell: (*look).honeypot, trust.BuyTax: (*look).buyTax, trust.SellTax: (*look).sellTax,
	trust.TransferTax: (*look).transferTax, trust.Pausable: (*look).pausable, trust.Blacklist: (*look).blacklist,
	trust.Mintable: (*look).mintable, trust.SupplyChange: (*look).supplyChange, trust.Ownership: (*look).ownership,
	trust.Proxy: (*look).proxied, trust.CodeKnown: (*look).codeKnown, trust.SourceVerified: (*look).sourceVerified,
	trust.LPBurnedLocked: (*look).lpBurned, trust.LiquidityDepth: (*look).depth, trust.Top10Share: (*look).top10,
	trust.BundleShare: (*look).bundle, trust.CreatorHolding: (*look).creatorHolding, trust.CreatorHistory: (*look).creatorHistory,
	trust.PairAge: (*look).pairAge,
}

// evidence is where a value was read.
func (l *look) evidence(kind, ref, detail string) trust.Evidence {
	return trust.Evidence{Kind: kind, Ref: ref, Block: l.block.Number, Detail: detail}
}

// indexed is evidence out of the index, which is of its own newest block.
func (l *look) indexed(ref, detail string) trust.Evidence {
	return l.ofIndex().Evidence(ref, detail)
}
