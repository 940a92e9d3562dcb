package solana

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// told is a node that tells one token.
type told struct {
	token solana.Token
	err   error
	// made is what the launch's transaction made; 0 isn't told.
	made    uint64
	madeErr error
	// held is what an owner has of it; heldErr says that no node tells.
	held    map[market.Address]uint64
	heldErr error
	// fails is why a transfer of an owner's tokens fails; simulates is why it isn't simulated, and that of nobody's why none is.
	fails     map[market.Address]string
	simulates map[market.Address]error
	// sales are what nodes tell of transactions, and sold is what a sale by an owner comes to.
	sales             map[market.TxID][]json.RawMessage
	sold              map[market.Address]solana.Simulated
	salesErr, soldErr error
	// elsewhere is what another node tells of a simulation with an owner's tokens; nil where there is no other node. elsewhereErr says that it doesn't answer.
	elsewhere    map[market.Address]solana.Simulated
	elsewhereErr error
	offered      map[market.Address]uint64 // is filled with what each owner offers, unless it is nil
	asked        map[market.TxID]int       // is filled with how often a transaction is asked for, unless it is nil
	// shares are the pool's; noShares says that its account is another one, sharesErr that no node tells.
	shares    solana.Liquidity
	noShares  bool
	sharesErr error
}

func (n told) Liquidity(context.Context, *market.Pool, []market.Address) (solana.Liquidity, bool, error) {
	return n.shares, !n.noShares && n.sharesErr == nil, n.sharesErr
}

func (n told) Holdings(_ context.Context, _, _ market.Address, owners []market.Address) (out []solana.Holding, err error) {
	for _, o := range owners {
		account := o.Bytes()[1:]
		account[31] = 1
		out = append(out, solana.Holding{Owner: o, Account: market.SolanaAddress([32]byte(account)), Amount: n.held[o]})
	}
	return out, n.heldErr
}

func (n told) Transaction(_ context.Context, tx market.TxID, _ int) ([]json.RawMessage, error) {
	if n.asked != nil {
		n.asked[tx]++
	}
	return n.sales[tx], n.salesErr
}

func (n told) Simulate(_ context.Context, transaction []byte, _ uint64, watched ...market.Address) (solana.Simulated, error) {
	owner := ownerIn(transaction)
	if err := n.simulates[owner]; err != nil {
		return solana.Simulated{}, err
	}
	if len(watched) > 0 {
		if n.offered != nil { // the amount stands before the least output, at the end of the data
			n.offered[owner] = binary.LittleEndian.Uint64(transaction[len(transaction)-16:])
		}
		return n.sold[owner], n.soldErr
	}
	return solana.Simulated{Slot: 15, Err: n.fails[owner]}, n.simulates[market.Address{}]
}

func (n told) SimulateElsewhere(_ context.Context, _ *solana.Simulated, transaction []byte, _ uint64, _ ...market.Address) (solana.Simulated, bool, error) {
	return n.elsewhere[ownerIn(transaction)], n.elsewhere != nil, n.elsewhereErr
}

// ownerIn is who pays for a transaction.
func ownerIn(transaction []byte) market.Address {
	const firstKeyAt = 1 + 64 + 4
	return market.SolanaAddress([32]byte(transaction[firstKeyAt : firstKeyAt+32]))
}

func (n told) MadeIn(context.Context, market.TxID, market.Address) (supply uint64, known bool, err error) {
	return n.made, n.made > 0, n.madeErr
}

func (n told) Token(context.Context, market.Address, market.Address) (solana.Token, error) {
	return n.token, n.err
}

func key(n byte) market.Address { return market.SolanaAddress([32]byte{n}) }

// known is a token on a curve that it was launched on.
func known() *check.Known {
	mint, amount := key(1), func(n uint64) market.Amount { return *new(market.Amount).SetUint64(n) }
	return &check.Known{
		Token:  market.Token{Mint: mint, HasSupply: true, Supply: amount(1000), Holders: market.Holders{Status: market.HoldersCurrent, Count: 3}},
		Block:  market.Header{Number: 9, Time: 10_000},
		Launch: &market.Launch{Mint: mint, Venue: "pump-fun", Creator: key(2), State: market.LaunchOnCurve, Curve: key(3), CreatedAt: 1000, Block: 4},
		Pools:  []market.Pool{{ID: market.CurveID(mint), Protocol: market.BondingCurve, Base: mint, Quote: key(9), Locked: 10}}, USD: map[market.Address]float64{key(9): 200},
		Holders: []check.Holding{{Account: key(3), Amount: amount(600)}, {Account: key(4), Amount: amount(300)}, {Account: market.LaunchLabHolder, Amount: amount(100)}},
		First:   &market.TokenFact{HasSupply: true, Supply: amount(1000)}, HasFirstTrades: true,
	}
}

// clean is what a node tells of it.
func clean() solana.Token {
	return solana.Token{Slot: 12, Exists: true, Program: key(30), Supply: 1000, Metadata: key(8), HasMetadata: true, CreatorHas: 40, CreatorSlot: 14, KnowsCreator: true}
}

func reportOf(t *testing.T, n Node, k *check.Known) (r *trust.Report, whole bool) {
	t.Helper()
	l := New(&chainconfig.Chain{
		ID: "solana", Native: chainconfig.Native{Symbol: "SOL", Wrapped: key(9)}, Quotes: []chainconfig.Quote{{Symbol: "SOL", Address: key(9)}, {Symbol: "USD", Address: key(10)}},
		Venues: []chainconfig.Venue{{ID: "launchlab", Protocol: chainconfig.RaydiumLaunchLab}, {ID: "pump-fun", Protocol: chainconfig.PumpFun}},
	}, n, func() time.Time { return time.Unix(20_000, 0) })
	r, whole, err := l.Look(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return r, whole
}

// TestCleanToken: nothing is wrong with it, and all that is known has evidence.
func TestCleanToken(t *testing.T) {
	t.Parallel()
	r, whole := reportOf(t, told{token: clean()}, known())
	want := map[string]trust.Result{trust.HoneypotSell: trust.Unknown} // no holder has tokens in the usual account
	for i, c := range r.Checks {
		result := want[c.ID]
		if result == "" {
			result = trust.Pass
		}
		if c.ID != trust.SolanaRules[i].ID || c.Result != result || c.Source == "" || c.Result != trust.Unknown && len(c.Evidence) == 0 {
			t.Errorf("%+v", c)
		}
	}
	if !whole || len(r.Checks) != len(trust.SolanaRules) || r.Verdict() != trust.OK || r.Find(trust.Top10Share).Value != 30.0 || r.Find(trust.CreatorHolding).Value != 4.0 {
		t.Errorf("whole %t, %s: %+v", whole, r.Verdict(), r)
	}
	if r.Block.Hash != base58.Encode(make([]byte, 32)) {
		t.Errorf("the block is %s", r.Block.Hash)
	}
	if e := r.Find(trust.MintAuthority).Evidence[0]; e.Block != 12 || e.Ref != key(1).String() || e.Kind != "account" {
		t.Errorf("the evidence is %+v", e)
	}
	held := []trust.Evidence{{Kind: "account", Ref: key(2).String(), Block: 14, Detail: "it has 40"}, {Kind: "account", Ref: key(1).String(), Block: 12, Detail: "its supply is 1000"}}
	if e := r.Find(trust.CreatorHolding).Evidence; !slices.Equal(e, held) {
		t.Errorf("the evidence of what the creator has is %+v, want %+v", e, held)
	}
}

// fee is the extension of a token whose rates are so many hundredths of a percent.
func fee(older, newer uint16) []byte {
	b := make([]byte, 108)
	binary.LittleEndian.PutUint16(b[88:], older)
	binary.LittleEndian.PutUint16(b[106:], newer)
	return b
}

// TestPowers: each power that somebody has over other people's tokens shows.
func TestPowers(t *testing.T) {
	t.Parallel()
	someone, program := key(7), key(6)
	bytes := func(a market.Address) []byte { return a.Bytes()[1:] }
	for name, c := range map[string]struct {
		change   func(*solana.Token)
		id       string
		result   trust.Result
		severity trust.Severity
		value    any
	}{
		"freezing":          {func(s *solana.Token) { s.FreezeAuthority = someone }, trust.FreezeAuthority, trust.Warn, trust.Critical, true},
		"minting":           {func(s *solana.Token) { s.MintAuthority = someone }, trust.MintAuthority, trust.Warn, trust.High, true},
		"another name":      {func(s *solana.Token) { s.Mutable = true }, trust.MetadataMutable, trust.Warn, trust.Low, true},
		"no description":    {func(s *solana.Token) { s.HasMetadata = false }, trust.MetadataMutable, trust.Unknown, trust.Low, nil},
		"no transfer":       {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.NonTransferable: nil} }, trust.Extensions, trust.Fail, trust.Critical, nil},
		"frozen accounts":   {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.DefaultAccountState: {2}} }, trust.Extensions, trust.Fail, trust.Critical, nil},
		"accounts as usual": {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.DefaultAccountState: {1}} }, trust.Extensions, trust.Pass, trust.Critical, nil},
		"taking":            {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.PermanentDelegate: bytes(someone)} }, trust.Extensions, trust.Fail, trust.Critical, nil},
		"taking by nobody":  {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.PermanentDelegate: make([]byte, 32)} }, trust.Extensions, trust.Pass, trust.Critical, nil},
		"a hook": {func(s *solana.Token) {
			s.Extensions = map[uint16][]byte{layout.TransferHook: append(bytes(someone), bytes(program)...)}
		}, trust.Extensions, trust.Warn, trust.High, nil},
		"a hook of no program": {func(s *solana.Token) {
			s.Extensions = map[uint16][]byte{layout.TransferHook: make([]byte, 64)}
		}, trust.Extensions, trust.Pass, trust.Critical, nil},
		"a hook to come": {func(s *solana.Token) {
			s.Extensions = map[uint16][]byte{layout.TransferHook: append(bytes(someone), make([]byte, 32)...)}
		}, trust.Extensions, trust.Warn, trust.High, nil},
		"paused": {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.Pausable: append(bytes(someone), 1)} }, trust.Extensions, trust.Fail, trust.Critical, nil},
		"a fee to come": {func(s *solana.Token) {
			s.Extensions = map[uint16][]byte{layout.TransferFee: append(bytes(someone), fee(0, 0)[32:]...)}
		}, trust.TransferTax, trust.Warn, trust.High, 0.0},
		"pausing":            {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.Pausable: append(bytes(someone), 0)} }, trust.Extensions, trust.Warn, trust.High, nil},
		"a fee of 12 %":      {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.TransferFee: fee(0, 1200)} }, trust.TransferTax, trust.Fail, trust.High, 12.0},
		"a fee until later":  {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.TransferFee: fee(3100, 0)} }, trust.TransferTax, trust.Fail, trust.Critical, 31.0},
		"a fee of 10 %":      {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.TransferFee: fee(1000, 1000)} }, trust.TransferTax, trust.Pass, trust.Critical, 10.0},
		"half a fee":         {func(s *solana.Token) { s.Extensions = map[uint16][]byte{layout.TransferFee: fee(0, 0)[:107]} }, trust.TransferTax, trust.Unknown, trust.Critical, nil},
		"more of it":         {func(s *solana.Token) { s.Supply = 1001 }, trust.SupplyChange, trust.Fail, trust.High, 0.1},
		"less of it":         {func(s *solana.Token) { s.Supply = 900 }, trust.SupplyChange, trust.Pass, trust.High, -10.0},
		"a creator who kept": {func(s *solana.Token) { s.CreatorHas = 201 }, trust.CreatorHolding, trust.Fail, trust.High, 20.1},
		"an unknown creator": {func(s *solana.Token) { s.KnowsCreator = false }, trust.CreatorHolding, trust.Unknown, trust.High, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := clean()
			c.change(&token)
			r, _ := reportOf(t, told{token: token}, known())
			if got := r.Find(c.id); got.Result != c.result || got.Severity != c.severity || got.Value != c.value {
				t.Errorf("%+v, want %s of severity %s and %v", got, c.result, c.severity, c.value)
			}
		})
	}
}

// TestNoAnswer: what a node would tell is unknown, and the rest is said.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	r, whole := reportOf(t, told{err: errors.New("nobody answers")}, known())
	if whole || r.Find(trust.MintAuthority).Result != trust.Unknown || r.Find(trust.Extensions).UnknownReason != trust.CallFailed || r.Find(trust.Top10Share).Value != 30.0 ||
		r.Verdict() != trust.VerdictUnknown {
		t.Errorf("whole %t, %s: %+v", whole, r.Verdict(), r)
	}
	l := New(&chainconfig.Chain{}, told{}, time.Now)
	if _, _, err := l.Look(t.Context(), known()); !errors.Is(err, check.ErrNoCode) {
		t.Errorf("no token there: %v", err)
	}
}

// TestAfterTheCurve: only liquidity that nobody can take out counts.
func TestAfterTheCurve(t *testing.T) {
	t.Parallel()
	amount := func(n uint64) market.Amount { return *new(market.Amount).SetUint64(n) }
	token := key(40)
	whole := layout.Shares{Token: token, Whole: amount(1000)}
	held := func(list ...uint64) (out []solana.Holding) {
		for i, n := range list {
			out = append(out, solana.Holding{Owner: []market.Address{nobody[0], nobody[1], key(50)}[i], Account: key(byte(60 + i)), Amount: n})
		}
		return out
	}
	for name, c := range map[string]struct {
		told   solana.Liquidity
		untold bool
		err    error
		result trust.Result
		value  any
		why    string
		refs   []market.Address
	}{
		"burned":                    {told: solana.Liquidity{Shares: whole, Left: 1}, result: trust.Pass, value: 99.9, refs: []market.Address{token}},
		"burned and issued anew":    {told: solana.Liquidity{Shares: whole, Left: 60}, result: trust.Warn, value: 94.0, refs: []market.Address{token}},
		"at the limit":              {told: solana.Liquidity{Shares: whole, Left: 50}, result: trust.Pass, value: 95.0, refs: []market.Address{token}},
		"with nobody and a locker":  {told: solana.Liquidity{Shares: whole, Left: 1000, Held: held(10, 20, 930)}, result: trust.Pass, value: 96.0, refs: []market.Address{key(60), key(61), key(62)}},
		"not locked":                {told: solana.Liquidity{Shares: whole, Left: 1000, Held: held(0, 0, 0)}, result: trust.Fail, value: 0.0, refs: []market.Address{key(7)}},
		"more than were issued":     {told: solana.Liquidity{Shares: whole, Left: 1001, Held: held(0, 0, 1000)}, result: trust.Unknown, why: trust.PositionOwnerUnknown},
		"more held than issued":     {told: solana.Liquidity{Shares: whole, Left: 0, Held: held(5000)}, result: trust.Pass, value: 100.0, refs: []market.Address{token, key(60)}},
		"positions kept for good":   {told: solana.Liquidity{Shares: layout.Shares{Whole: amount(1000), Locked: amount(950)}}, result: trust.Pass, value: 95.0, refs: []market.Address{key(7)}},
		"some kept for good":        {told: solana.Liquidity{Shares: layout.Shares{Whole: amount(1000), Locked: amount(940)}}, result: trust.Unknown, why: trust.PositionOwnerUnknown, refs: []market.Address{key(7)}},
		"positions of other people": {told: solana.Liquidity{Shares: layout.Shares{Whole: amount(1000)}}, result: trust.Unknown, why: trust.PositionOwnerUnknown},
		"no shares":                 {told: solana.Liquidity{Shares: layout.Shares{Token: token}}, result: trust.Unknown, why: trust.PositionOwnerUnknown},
		"another account":           {untold: true, result: trust.Unknown, why: trust.PositionOwnerUnknown},
		"no answer":                 {err: errors.New("no answer"), result: trust.Unknown, why: trust.CallFailed},
	} {
		k := known()
		k.Launch.State = market.LaunchGraduated
		k.Pools = []market.Pool{{ID: key(7), Protocol: market.PumpSwap, Factory: key(70), Base: k.Token.Mint, Quote: key(9), Locked: 10}}
		c.told.Slot = 33
		r, complete := reportOf(t, told{token: clean(), shares: c.told, noShares: c.untold, sharesErr: c.err}, k)
		got := r.Find(trust.LPBurnedLocked)
		if got.Result != c.result || got.Value != c.value || got.UnknownReason != c.why || complete != (c.err == nil) {
			t.Errorf("%s: complete %t, %+v", name, complete, got)
		}
		var refs []market.Address
		for _, e := range got.Evidence {
			a, err := market.ParseSolanaAddress(e.Ref)
			if err != nil || e.Kind != "account" || e.Block != 33 {
				t.Errorf("%s: the evidence is %+v", name, e)
			}
			refs = append(refs, a)
		}
		if !slices.Equal(refs, c.refs) {
			t.Errorf("%s: the evidence is of %v, want %v", name, refs, c.refs)
		}
	}
	k := known()
	k.Launch.State, k.Pools = market.LaunchGraduated, nil
	if r, _ := reportOf(t, told{token: clean()}, k); r.Find(trust.LPBurnedLocked).UnknownReason != trust.NoPool || r.Find(trust.LiquidityDepth).UnknownReason != trust.NoPool {
		t.Errorf("without a pool: %+v", r)
	}
	for _, a := range nobody {
		if a.IsNone() {
			t.Error("the text of an owner is none")
		}
	}
}

// TestSupplySinceTheLaunch: of a launched token the transaction that made it tells the oldest supply.
func TestSupplySinceTheLaunch(t *testing.T) {
	t.Parallel()
	withFee := clean() // what it withholds is in no balance, so that their sum isn't the supply
	withFee.Extensions = map[uint16][]byte{layout.TransferFee: fee(100, 100)}
	for name, c := range map[string]struct {
		node  told
		want  trust.Result
		value any
		why   string
		whole bool
	}{
		"as much":      {told{token: clean(), made: 1000}, trust.Pass, 0.0, "", true},
		"less":         {told{token: clean(), made: 2000}, trust.Pass, -50.0, "", true},
		"twice":        {told{token: clean(), made: 500}, trust.Fail, 100.0, "", true},
		"not told":     {told{token: clean()}, trust.Unknown, nil, trust.NotIndexed, true},
		"with a fee":   {told{token: withFee, made: 500}, trust.Unknown, nil, trust.NotIndexed, true},
		"not answered": {told{token: clean(), madeErr: errors.New("no answer")}, trust.Unknown, nil, trust.CallFailed, false},
	} {
		k := known()
		k.First, k.Launch.Tx = nil, market.SolanaTx([64]byte{7})
		r, whole := reportOf(t, c.node, k)
		got := r.Find(trust.SupplyChange)
		if got.Result != c.want || got.Value != c.value || got.UnknownReason != c.why || whole != c.whole {
			t.Errorf("%s: whole %t, %+v", name, whole, got)
		}
		if c.want != trust.Unknown && (got.Evidence[0].Kind != "log" || got.Evidence[0].Ref != k.Launch.Tx.String() || got.Evidence[0].Block != 4) {
			t.Errorf("%s: the evidence is %+v", name, got.Evidence)
		}
	}
}
