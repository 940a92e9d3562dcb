// Package solana has a local Solana on which people launch tokens and trade them: on curves of pump.fun, of Meteora's DBC and of Raydium's LaunchLab, and in the
// pools of PumpSwap, DAMM v2, CPMM and AMM v4 that these move to; and SOL for USDC in pools of PumpSwap and of Raydium's AMM v4. Solana's own runtime executes each transaction, and its own token programs move the tokens. The protocols' programs can't be had: a stand-in is
// at the address of each (standin), which is told what to do; this package does the protocols' arithmetic. Instructions and events are encoded by the protocols' own
// descriptions, and by other people's of Raydium's, through Anchor's coder.
package solana

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/standin"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
)

// The protocols' programs.
var (
	PumpFun  = svm.MustKey("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
	PumpSwap = svm.MustKey("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")
	DBC      = svm.MustKey("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN")
	DAMM     = svm.MustKey("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG")
	DAMMv1   = svm.MustKey("Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB")
)

// WSOL, USDC and USDT are the coins that tokens are traded for.
var (
	WSOL = svm.MustKey("So11111111111111111111111111111111111111112")
	USDC = svm.MustKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	USDT = svm.MustKey("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

	wsol = programs.Coin{Mint: WSOL, Program: programs.Token, Decimals: 9}
	usdc = programs.Coin{Mint: USDC, Program: programs.Token, Decimals: 6}
)

// Programs are those of curves.
var Programs = []svm.Key{PumpFun, DBC, LaunchLab}

// DBCConfig is the configuration account of DBC that the world's curves have.
var DBCConfig = svm.SignerOf("configuration of DBC").Key

// World is a local Solana with people.
type World struct {
	Chain *svm.Chain
	// People trade. The first one also completes what anybody may.
	People []svm.Signer

	rng *rand.Rand
	// table has what many transactions name. One in two takes it from there.
	table svm.Table
	state
	// blockHash is the head's, which transactions name, slot and time when it was.
	blockHash svm.Key
	slot      uint64
	time      time.Time
	// queue are the transactions of the next block.
	queue []queued
	// hasPlatform is Options.Platform.
	hasPlatform bool
	// past are the states after the newest blocks, for forks.
	past     []past
	keepPast int
}

// state is what a fork takes back.
type state struct {
	held   map[holding]uint64 // what people have of tokens
	curves []*Curve
	pools  []*Pool
	made   int // tokens so far
	trades int
}

// queued is a signed transaction, and whether it is meant to fail.
type queued struct {
	raw   []byte
	fails bool
}

type holding struct{ token, owner svm.Key }

type past struct {
	slot      uint64
	time      time.Time
	blockHash svm.Key
	state     state
}

func (s *state) clone() state {
	out := state{held: maps.Clone(s.held), made: s.made, trades: s.trades}
	for _, c := range s.curves {
		copied := *c
		out.curves = append(out.curves, &copied)
	}
	for _, p := range s.pools {
		copied := *p
		out.pools = append(out.pools, &copied)
	}
	for i, c := range s.curves {
		if at := slices.Index(s.pools, c.Pool); at >= 0 {
			out.curves[i].Pool = out.pools[at]
		}
	}
	return out
}

// Options say how a world begins.
type Options struct {
	Seed   uint64
	People int
	// Platform has some purchases go through a platform, which takes a fee.
	Platform bool
	// KeepPast is how many blocks a fork can take back.
	KeepPast int
}

// Coins that everybody begins with, and what the pools of the coins have.
const (
	personSOL, personUSDC = 1_000_000, 5_000_000
	poolSOL, poolUSDC     = 100_000, 15_000_000
	lamports, microUSD    = 1_000_000_000, 1_000_000
	setAccountLamports    = 10 * lamports
	wsolPeople            = 5 // as many keep wrapped SOL; the others wrap what they pay, and unwrap what they get
	wsolOfPeople          = 10_000
	stableDec             = 6
)

// Deploy puts the protocols' stand-ins, the coins, the people and two pools of SOL for USDC on a chain, in two blocks. The chain is the world's alone from then on.
func Deploy(ctx context.Context, chain *svm.Chain, o Options) (*World, error) {
	w := &World{Chain: chain, keepPast: o.KeepPast, hasPlatform: o.Platform, rng: rand.New(rand.NewPCG(o.Seed, 0)), state: state{held: map[holding]uint64{}}}
	elf := standin.Program()
	for _, program := range []svm.Key{PumpFun, PumpSwap, DBC, DAMM, DAMMv1, LaunchLab, CPMM, AMMv4, programs.Metadata} {
		if err := chain.AddProgram(ctx, program, elf); err != nil {
			return nil, err
		}
	}
	bank := svm.SignerOf("bank")
	mint := append(append([]byte{1, 0, 0, 0}, bank.Key[:]...), make([]byte, programs.MintLen-36)...)
	mint[44], mint[45] = stableDec, 1
	fund := map[svm.Key]uint64{bank.Key: personSOL * lamports, pumpFees: setAccountLamports, FeeRecipient: FeeRecipientBegins}
	for range o.People {
		p := svm.SignerOf(fmt.Sprintf("person %d of %d", len(w.People), o.Seed))
		w.People = append(w.People, p)
		fund[p.Key] = personSOL * lamports
	}
	for _, k := range slices.SortedFunc(maps.Keys(fund), func(a, b svm.Key) int { return slices.Compare(a[:], b[:]) }) {
		if err := chain.SetAccount(ctx, k, fund[k], programs.System, nil); err != nil {
			return nil, err
		}
	}
	for _, stable := range []svm.Key{USDC, USDT} {
		if err := chain.SetAccount(ctx, stable, programs.Rent(programs.MintLen), programs.Token, mint); err != nil {
			return nil, err
		}
	}
	if err := w.placeAccounts(ctx, bank.Key, tokentext.New(o.Seed)); err != nil {
		return nil, err
	}
	var err error
	if w.blockHash, err = chain.BlockHash(ctx); err != nil {
		return nil, err
	}
	if w.slot, err = chain.Head(ctx); err != nil {
		return nil, err
	}
	if w.time, err = chain.TimeOf(ctx, w.slot); err != nil {
		return nil, err
	}
	for i, p := range w.People {
		t := w.begin(bank, p)
		t.add(usdc.OpenAccount(bank.Key, p.Key), programs.MintTo(programs.Token, USDC, usdc.Account(p.Key), bank.Key, personUSDC*microUSD))
		w.held[holding{USDC, p.Key}] = personUSDC * microUSD
		if i < wsolPeople {
			t.add(wsol.OpenAccount(bank.Key, p.Key), programs.Pay(p.Key, wsol.Account(p.Key), wsolOfPeople*lamports), programs.SyncNative(wsol.Account(p.Key)))
		}
		if err := t.send(); err != nil {
			return nil, err
		}
	}
	t := w.begin(bank)
	t.add(usdc.OpenAccount(bank.Key, bank.Key), programs.MintTo(programs.Token, USDC, usdc.Account(bank.Key), bank.Key, 2*poolUSDC*microUSD))
	t.add(wsol.OpenAccount(bank.Key, bank.Key), programs.Pay(bank.Key, wsol.Account(bank.Key), 2*poolSOL*lamports), programs.SyncNative(wsol.Account(bank.Key)))
	if err := t.send(); err != nil {
		return nil, err
	}
	if err := w.Mine(ctx, w.slot+1, w.time); err != nil {
		return nil, err
	}
	t = w.begin(bank)
	w.createPumpSwapPool(ctx, t, bank, wsol, usdc, poolSOL*lamports, poolUSDC*microUSD)
	w.createAMM(ctx, t, bank, poolSOL*lamports, poolUSDC*microUSD)
	if err := t.send(); err != nil {
		return nil, err
	}
	if err := w.Mine(ctx, w.slot+1, w.time); err != nil {
		return nil, err
	}
	return w, nil
}

// describeCoins gives SOL and USDC, which nobody launched, the accounts of Metaplex that they have on the mainnet. Here the URIs carry what they lead to.
func (w *World) describeCoins(ctx context.Context, authority svm.Key, names *tokentext.Inventor) error {
	for _, c := range []struct {
		mint         svm.Key
		name, symbol string
	}{{WSOL, "Wrapped SOL", "SOL"}, {USDC, "USD Coin", "USDC"}} {
		key, _ := derived(programs.Metadata, []byte("metadata"), programs.Metadata[:], c.mint[:])
		data := programs.MetadataOf(c.mint, authority, c.name, c.symbol, names.Describe(c.name, c.symbol))
		if err := w.Chain.SetAccount(ctx, key, programs.Rent(len(data)), programs.Metadata, data); err != nil {
			return err
		}
	}
	return nil
}

// placeAccounts puts the coins' descriptions, which name an authority, the lookup table and the configurations of venues on the chain.
func (w *World) placeAccounts(ctx context.Context, authority svm.Key, names *tokentext.Inventor) error {
	if err := w.describeCoins(ctx, authority, names); err != nil {
		return err
	}
	w.table = svm.Table{Key: svm.SignerOf("lookup table").Key, Addresses: []svm.Key{
		programs.System, programs.Token, programs.Token2022, programs.Accounts, WSOL, USDC, pumpFees, dbcAuthority, dammAuthority, DBCConfig, wsol.Account(pumpFees),
	}}
	for _, p := range w.People[:min(len(w.People), wsolPeople)] {
		w.table.Addresses = append(w.table.Addresses, wsol.Account(p.Key))
	}
	owner, data := w.table.Account()
	if err := w.Chain.SetAccount(ctx, w.table.Key, programs.Rent(len(data)), owner, data); err != nil {
		return err
	}
	if err := w.Chain.SetAccount(ctx, LaunchLabPlatform, programs.Rent(0), LaunchLab, nil); err != nil {
		return err
	}
	config := append([]byte{0x1a, 0x6c, 0x0e, 0x7b, 0x74, 0xe6, 0x81, 0x2b}, make([]byte, dbcConfigLen-8)...)
	return w.Chain.SetAccount(ctx, DBCConfig, programs.Rent(len(config)), DBC, config)
}

// Mine makes a block of what people did. Every transaction of it has to do what it is meant to.
func (w *World) Mine(ctx context.Context, slot uint64, at time.Time) error {
	b := svm.Block{Slot: slot, Time: at}
	for _, q := range w.queue {
		b.Transactions = append(b.Transactions, q.raw)
	}
	mined, err := w.Chain.Mine(ctx, b)
	if err != nil {
		return err
	}
	for i := range mined.Results {
		if err := mined.Results[i].Failed(); (err != nil) != w.queue[i].fails {
			return fmt.Errorf("transaction %d of slot %d: meant to fail: %v, got: %w", i, slot, w.queue[i].fails, err)
		}
	}
	w.queue = nil
	if w.blockHash, err = svm.ParseKey(mined.BlockHash); err != nil {
		return err
	}
	w.slot, w.time = slot, at
	if w.keepPast > 0 {
		w.past = append(w.past, past{slot: slot, time: at, blockHash: w.blockHash, state: w.clone()})
		w.past = w.past[max(0, len(w.past)-w.keepPast-1):]
	}
	return nil
}

// Fork takes the newest blocks back, as many as Options.KeepPast at most; others may be made in their place.
func (w *World) Fork(ctx context.Context, depth int) error {
	at := len(w.past) - 1 - depth
	if at < 0 {
		return fmt.Errorf("a fork of %d blocks, and %d are kept", depth, len(w.past)-1)
	}
	p := w.past[at]
	if err := w.Chain.Revert(ctx, p.slot); err != nil {
		return err
	}
	w.past, w.queue = w.past[:at+1], nil
	w.slot, w.time, w.blockHash, w.state = p.slot, p.time, p.blockHash, p.state.clone()
	return nil
}

// Slot is the newest block's.
func (w *World) Slot() uint64 { return w.slot }

// Time is the newest block's.
func (w *World) Time() time.Time { return w.time }

// Trades is how many trades there were.
func (w *World) Trades() int { return w.trades }

// Pools are all pools: those of SOL, and those that curves moved to.
func (w *World) Pools() []*Pool { return w.pools }

// Curves are the tokens that were launched, the oldest first.
func (w *World) Curves() []*Curve { return w.curves }

// amount is a product of two numbers over a third, rounded down.
func amount(a, b, c uint64) uint64 {
	n := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	return n.Div(n, new(big.Int).SetUint64(c)).Uint64()
}

// sqrtPrice is the root of a / b with 64 fractional bits.
func sqrtPrice(a, b uint64) string {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(a), 128)
	return n.Sqrt(n.Div(n, new(big.Int).SetUint64(b))).String()
}

// Has is what a person has of a token.
func (w *World) Has(token, owner svm.Key) uint64 { return w.held[holding{token, owner}] }

// gains adds to what a person has. Wrapped SOL isn't counted: everybody wraps what they pay.
func (w *World) gains(token, owner svm.Key, n uint64) {
	if token != WSOL {
		w.held[holding{token, owner}] += n
	}
}

// loses takes from what a person has.
func (w *World) loses(token, owner svm.Key, n uint64) {
	if token != WSOL {
		w.held[holding{token, owner}] -= n
	}
}
