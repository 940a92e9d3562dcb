// Package solana checks the tokens of Solana: who may make more, freeze or take tokens, what their extensions do, whether holders can move and sell them, how much the
// largest hold, and liquidity.
package solana

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// Version changes with what the checks find.
const Version = "6"

const checkerID = "boardwalk-solana"

// Node is what the checks need of a chain's nodes.
type Node interface {
	// Token tells a token as it is now, and what an account, which may be none, has of it.
	Token(ctx context.Context, token, creator market.Address) (solana.Token, error)
	// MadeIn tells how much of a token there was after the transaction that made it.
	MadeIn(ctx context.Context, tx market.TxID, token market.Address) (supply uint64, known bool, err error)
	// Holdings tells what some owners have of a token of a program, in the accounts where they usually have it.
	Holdings(ctx context.Context, token, program market.Address, owners []market.Address) ([]solana.Holding, error)
	// Simulate tells what a transaction would come to on a state that is no earlier than a slot's, and what watched accounts have before and after. Its error has
	// solana.ErrNotSimulated in its tree where no node simulates any.
	Simulate(ctx context.Context, transaction []byte, noEarlier uint64, watched ...market.Address) (solana.Simulated, error)
	// SimulateElsewhere is Simulate by another node than the one that told something before; knows is false where no other one simulates any.
	SimulateElsewhere(ctx context.Context, told *solana.Simulated, transaction []byte, noEarlier uint64, watched ...market.Address) (out solana.Simulated, knows bool, err error)
	// Transaction gives what up to so many nodes tell of a transaction; nothing where none has it.
	Transaction(ctx context.Context, tx market.TxID, most int) ([]json.RawMessage, error)
	// Liquidity tells a pool's shares, and what some owners have of them; known is false where its account is none of its protocol and program.
	Liquidity(ctx context.Context, pool *market.Pool, owners []market.Address) (told solana.Liquidity, known bool, err error)
}

var _ Node = solana.Accounts{}

// Looker looks at the tokens of a chain of Solana's family.
type Looker struct {
	chain   string
	node    Node
	now     func() time.Time
	lockers []market.Address
	// wrapped is SOL's wrapped form, and symbols are those of declared quote assets. venues are the protocols of the declared venues.
	wrapped market.Address
	symbols map[market.Address]string
	venues  map[string]chainconfig.VenueProtocol
	// holders are accounts that hold what all pools or curves of a program have, and those that venues and exchanges declare.
	holders map[market.Address]bool
}

// New asks nobody anything.
func New(cfg *chainconfig.Chain, node Node, now func() time.Time) *Looker {
	l := &Looker{
		chain: cfg.ID, node: node, now: now, lockers: cfg.Trust.Lockers,
		wrapped: cfg.Native.Wrapped, symbols: map[market.Address]string{}, venues: map[string]chainconfig.VenueProtocol{},
		holders: map[market.Address]bool{},
	}
	for _, q := range cfg.Quotes {
		l.symbols[q.Address] = q.Symbol
	}
	l.symbols[l.wrapped] = cfg.Native.Symbol
	for _, x := range cfg.Exchanges {
		l.holders[x.Protocol.Holder()] = true
	}
	for _, v := range cfg.Venues {
		l.venues[v.ID] = v.Protocol
		l.holders[v.Protocol.Holder()] = true
		for _, a := range v.Contracts {
			l.holders[a] = true
		}
	}
	return l
}

// Look checks a token. whole is false if a node might tell more on another try. The only error is check.ErrNoCode.
func (l *Looker) Look(ctx context.Context, known *check.Known) (r *trust.Report, whole bool, err error) {
	k := &look{l: l, known: known}
	var creator market.Address
	if known.Launch != nil {
		creator = known.Launch.Creator
	}
	told, err := l.node.Token(ctx, known.Token.Mint, creator)
	if err == nil && !told.Exists {
		return nil, false, check.ErrNoCode
	}
	k.told, k.failed = told, err != nil
	k.index = check.Indexed{Known: known, Market: mainMarket(known), Now: known.Block.Time}
	k.first(ctx)
	if !k.failed {
		k.askShares(ctx)
		k.trySales(ctx) // last, since it may take all the time that is left
	}
	return k.report(), !k.failed && !k.firstFailed && !k.saleFailed && !k.sharesFailed, nil
}

// mainMarket is where the token is traded; nil where nothing is known of that. A curve that the token has left for a pool that isn't indexed is no market any more.
func mainMarket(known *check.Known) *market.Pool {
	return known.MainPool(func(p *market.Pool) bool {
		return p.Base == known.Token.Mint && (p.Protocol != market.BondingCurve || known.Launch != nil && known.Launch.OnCurve())
	})
}

// first looks for the oldest supply that is known: that of an older token a fact tells, that of a launched one the transaction that made it.
func (k *look) first(ctx context.Context) {
	first, launch := k.known.First, k.known.Launch
	switch {
	case first != nil && first.HasSupply:
		k.oldest, k.hasOldest = first.Supply, true
		k.oldestFrom = k.index.Evidence(k.token().String(), "the oldest known supply is "+first.Supply.Dec())
	case launch != nil && !launch.Tx.IsNone() && k.told.Extensions[layout.TransferFee] == nil: // what such a token withholds is in no balance
		supply, known, err := k.l.node.MadeIn(ctx, launch.Tx, k.token())
		k.firstFailed, k.hasOldest = err != nil, known && err == nil
		k.oldest.SetUint64(supply)
		k.oldestFrom = trust.Evidence{Kind: "log", Ref: launch.Tx.String(), Block: launch.Block, Detail: "it made a supply of " + k.oldest.Dec()}
	}
}

// look is one check under way.
type look struct {
	l      *Looker
	known  *check.Known
	index  check.Indexed
	told   solana.Token
	failed bool // no node told anything
	// oldest is the oldest supply that is known, if hasOldest; firstFailed says that no node told it.
	oldest                 market.Amount
	oldestFrom             trust.Evidence
	hasOldest, firstFailed bool
	// trials are what was tried of holders' sales; unsold is why nothing is known where there are none, and saleFailed says that no node answered.
	trials     []trial
	unsold     string
	saleFailed bool
	// isHookUnread says that the program that decides about transfers ended a sale, and that its error doesn't say that it refuses it.
	isHookUnread bool
	// shares are those of the token's pool, if knowsShares; sharesFailed says that no node answered.
	shares                    solana.Liquidity
	knowsShares, sharesFailed bool
}

// checks are how each rule's check is made, and where its figure is from.
var checks = map[string]struct {
	make   func(*look, trust.Rule) trust.Check
	source string
}{
	trust.HoneypotSell:    {(*look).honeypot, check.FromSimulation},
	trust.TransferTax:     {(*look).transferTax, check.FromAccounts},
	trust.FreezeAuthority: {(*look).freeze, check.FromAccounts},
	trust.MintAuthority:   {(*look).mint, check.FromAccounts},
	trust.Extensions:      {(*look).extensions, check.FromAccounts},
	trust.MetadataMutable: {(*look).mutable, check.FromAccounts},
	trust.SupplyChange:    {(*look).supplyChange, check.FromAccounts},
	trust.LPBurnedLocked:  {(*look).lpBurned, check.FromAccounts},
	trust.LiquidityDepth:  {func(k *look, r trust.Rule) trust.Check { return k.index.Depth(r) }, check.FromReserves},
	trust.Top10Share:      {(*look).top10, check.FromAccounts},
	trust.BundleShare:     {func(k *look, r trust.Rule) trust.Check { return k.index.Bundle(r, k.supply()) }, check.FromSwaps},
	trust.CreatorHolding:  {(*look).creatorHolding, check.FromAccounts},
	trust.CreatorHistory:  {func(k *look, r trust.Rule) trust.Check { return k.index.CreatorHistory(r) }, check.FromLaunches},
	trust.PairAge:         {func(k *look, r trust.Rule) trust.Check { return k.index.PairAge(r) }, check.FromSwaps},
}

func (k *look) report() *trust.Report {
	b := k.known.Block
	r := &trust.Report{
		Chain: k.l.chain, Mint: k.known.Token.Mint.String(), Block: trust.Block{Number: b.Number, Hash: base58.Encode(b.Hash[:])}, At: time.Unix(b.Time, 0).UTC(),
		CheckedAt: k.l.now().UTC().Truncate(time.Second), Checker: trust.Checker{ID: checkerID, Version: Version},
	}
	if k.index.Market != nil {
		r.Pair = k.index.Market.ID.String()
	}
	for _, rule := range trust.SolanaRules {
		how := checks[rule.ID]
		c := how.make(k, rule)
		if c.Source == "" {
			c.Source = how.source
		}
		r.Checks = append(r.Checks, c)
	}
	return r
}

// account is evidence that a node told of an account.
func (k *look) account(key market.Address, format string, args ...any) trust.Evidence {
	return trust.Evidence{Kind: "account", Ref: key.String(), Block: k.told.Slot, Detail: fmt.Sprintf(format, args...)}
}

func with(c trust.Check, evidence ...trust.Evidence) trust.Check {
	c.Evidence = append(c.Evidence, evidence...)
	return c
}

func (k *look) token() market.Address { return k.known.Token.Mint }

func (k *look) supply() market.Amount {
	if !k.failed {
		return *new(market.Amount).SetUint64(k.told.Supply)
	}
	return k.known.Token.Supply
}

// transferTax is what Token-2022 withholds of a transfer: the higher of its two rates, of which one holds until some epoch. It warns where somebody may
// raise it.
func (k *look) transferTax(rule trust.Rule) trust.Check {
	if k.failed {
		return rule.Unknown(trust.CallFailed)
	}
	const olderAt, newerAt, rateAt = 72, 90, 16
	fee, ok := k.told.Extensions[layout.TransferFee]
	switch {
	case !ok:
		return with(rule.Measure(0), k.account(k.token(), "it has no fee on transfers"))
	case len(fee) < newerAt+rateAt+2:
		return rule.Unknown(trust.CallFailed)
	}
	older, newer := binary.LittleEndian.Uint16(fee[olderAt+rateAt:]), binary.LittleEndian.Uint16(fee[newerAt+rateAt:])
	c := with(rule.Measure(float64(max(older, newer))/100),
		k.account(k.token(), "its transfer fee is %d, and from some epoch on %d, hundredths of a percent", older, newer))
	if who := keyAt(fee, 0); !who.IsNone() {
		if c.Result == trust.Pass {
			c.Result, c.Severity = trust.Warn, trust.High
		}
		c = with(c, k.account(k.token(), "%s may set another fee", who))
	}
	return c
}

// authority warns where somebody may do something: who could do it has not done it yet.
func (k *look) authority(rule trust.Rule, who market.Address, may string) trust.Check {
	switch {
	case k.failed:
		return rule.Unknown(trust.CallFailed)
	case who.IsNone():
		return with(rule.Pass(false), k.account(k.token(), "nobody may %s", may))
	default:
		return with(rule.Judge(trust.Warn, rule.Severity, true), k.account(k.token(), "%s may %s", who, may))
	}
}

func (k *look) freeze(rule trust.Rule) trust.Check {
	return k.authority(rule, k.told.FreezeAuthority, "freeze accounts")
}

func (k *look) mint(rule trust.Rule) trust.Check {
	return k.authority(rule, k.told.MintAuthority, "make more of it")
}

// extensions fail where the token takes power from whoever holds it, and warn where somebody may yet do so.
func (k *look) extensions(rule trust.Rule) trust.Check {
	if k.failed {
		return rule.Unknown(trust.CallFailed)
	}
	const frozen = 2
	var bad, may []string
	if _, ok := k.told.Extensions[layout.NonTransferable]; ok {
		bad = append(bad, "nobody can transfer it")
	}
	if state := k.told.Extensions[layout.DefaultAccountState]; len(state) > 0 && state[0] == frozen {
		bad = append(bad, "new accounts of it are frozen")
	}
	if who := keyAt(k.told.Extensions[layout.PermanentDelegate], 0); !who.IsNone() {
		bad = append(bad, who.String()+" may take anybody's tokens")
	}
	hook := k.told.Extensions[layout.TransferHook]
	if program := keyAt(hook, hookProgramAt); !program.IsNone() {
		may = append(may, "program "+program.String()+" decides about each transfer")
	}
	if who := keyAt(hook, 0); !who.IsNone() {
		may = append(may, who.String()+" may set a program that decides about each transfer")
	}
	const paused = 32 // a byte, after who may pause
	pausable := k.told.Extensions[layout.Pausable]
	if len(pausable) > paused && pausable[paused] != 0 {
		bad = append(bad, "all transfers are paused")
	}
	if who := keyAt(pausable, 0); !who.IsNone() {
		may = append(may, who.String()+" may pause all transfers")
	}
	c := rule.Pass(nil)
	switch {
	case len(bad) > 0:
		c = rule.Judge(trust.Fail, trust.Critical, nil)
	case len(may) > 0:
		c = rule.Judge(trust.Warn, trust.High, nil)
	}
	detail := strings.Join(append(bad, may...), "; ")
	if detail == "" {
		detail = "none of its extensions gives anybody power over others' tokens"
	}
	return with(c, k.account(k.token(), "%s", detail))
}

// keyAt is the key at a place in an extension; none where it is all zeros, or not there.
func keyAt(b []byte, at int) market.Address {
	if len(b) < at+32 || [32]byte(b[at:at+32]) == [32]byte{} {
		return market.Address{}
	}
	return market.SolanaAddress([32]byte(b[at : at+32]))
}

func (k *look) mutable(rule trust.Rule) trust.Check {
	switch {
	case k.failed:
		return rule.Unknown(trust.CallFailed)
	case !k.told.HasMetadata:
		return rule.Unknown(trust.NotIndexed)
	case k.told.Mutable:
		return with(rule.Judge(trust.Warn, rule.Severity, true), k.account(k.told.Metadata, "whoever may change it can give it another name and picture"))
	default:
		return with(rule.Pass(false), k.account(k.told.Metadata, "nobody can change its name and picture"))
	}
}

// supplyChange holds the supply against the oldest one that is known. Less is no harm.
func (k *look) supplyChange(rule trust.Rule) trust.Check {
	switch {
	case k.failed || k.firstFailed:
		return rule.Unknown(trust.CallFailed)
	case !k.hasOldest || k.oldest.IsZero():
		return rule.Unknown(trust.NotIndexed)
	}
	c := rule.Measure(math.Round((float64(k.told.Supply)/k.oldest.Float64()-1)*1e6) / 1e4)
	return with(c, k.oldestFrom, k.account(k.token(), "its supply is %d", k.told.Supply))
}

func (k *look) top10(rule trust.Rule) trust.Check {
	return k.index.Top10(rule, k.supply(), k.isMarket)
}

// isMarket reports whether an account holds tokens for a market, or locks them.
func (k *look) isMarket(a market.Address) bool {
	pool := slices.ContainsFunc(k.known.Pools, func(p market.Pool) bool { return p.ID == a })
	curve := k.known.Launch != nil && k.known.Launch.Curve == a
	return pool || curve || k.l.holders[a] || slices.Contains(k.l.lockers, a)
}

func (k *look) creatorHolding(rule trust.Rule) trust.Check {
	supply := k.supply()
	switch {
	case k.known.Launch == nil || k.known.Launch.Creator.IsNone() || supply.IsZero():
		return rule.Unknown(trust.NotIndexed)
	case k.failed || !k.told.KnowsCreator:
		return rule.Unknown(trust.CallFailed)
	}
	has := new(market.Amount).SetUint64(k.told.CreatorHas)
	holding := k.account(k.known.Launch.Creator, "it has %d", k.told.CreatorHas)
	holding.Block = k.told.CreatorSlot // its accounts are an answer of their own, which may be of another slot than the token's
	return with(rule.Measure(check.Share(*has, supply)), holding, k.account(k.token(), "its supply is %s", supply.Dec()))
}
