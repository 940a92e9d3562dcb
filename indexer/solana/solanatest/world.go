package solanatest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The programs and tokens of a World.
const (
	PumpFun      = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P"
	PumpSwap     = "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA"
	RaydiumAMMv4 = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"
	RaydiumCPMM  = "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C"
	LaunchLab    = "LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj"
	MeteoraDBC   = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"
	MeteoraDAMM  = "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG"
	TokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	WSOL         = "So11111111111111111111111111111111111111112"
	USDC         = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

	vote = "Vote111111111111111111111111111111111111111"
)

// World makes a chain by seed, in which people launch tokens and trade them: on curves of pump.fun, LaunchLab and DBC, in the pools that these move to (of
// PumpSwap, CPMM and DAMM v2), and SOL for USDC in a pool of Raydium's AMM v4. The programs are stood in for by a constant product; balances are those that the
// transactions tell.
type World struct {
	Blocks []Made

	rng   *rand.Rand
	state state
	// after are the states after each block.
	after []state
	forks int
}

// state is what a fork takes back.
type state struct {
	held   map[holding]uint64
	curves []curve
	pools  []pool
	made   int // tokens and transactions so far, for their names
}

// holding is a token account. An owner's own has no name; a pool's has one where its owner holds for others, too.
type holding struct{ token, owner, name string }

// key is the token account's.
func (h holding) key() string {
	if h.name != "" {
		return h.name
	}
	return account(h.token, h.owner)
}

func (s *state) clone() state {
	return state{held: maps.Clone(s.held), curves: slices.Clone(s.curves), pools: slices.Clone(s.pools), made: s.made}
}

type curve struct {
	program                                      string // pump.fun, LaunchLab or DBC
	holder                                       string // has the tokens
	token, account, creator                      string
	virtualSOL, virtualToken, realSOL, realToken uint64
	complete, migrated                           bool
}

type pool struct {
	program              string // PumpSwap, CPMM or DAMM v2
	account, base, quote string
	holder               string // has what is in it
	virtual              int64
}

// Name is the base58 of a key that a text names.
func Name(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return base58.Encode(sum[:])
}

const people = 6

func person(n int) string { return Name("person %d", n) }

// AMMHolder has what all pools of the AMM v4 have.
const AMMHolder = "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1"

// SOLPool is the pool of SOL for USDC.
var SOLPool = Name("pool of SOL")

// NewWorld makes the chain's first blocks, among them one that makes the pool of SOL.
func NewWorld(seed uint64) *World {
	w := &World{rng: rand.New(rand.NewPCG(seed, 0)), state: state{held: map[holding]uint64{}}}
	w.add()
	w.add(w.makeSOLPool())
	w.add(w.launch())
	return w
}

// Held are the balances after the last block, of a token by owner.
func (w *World) Held(token string) map[string]uint64 {
	out := map[string]uint64{}
	for h, n := range w.state.held {
		if h.token == token && n > 0 {
			out[h.owner] += n
		}
	}
	return out
}

// USDCSupply is how much there is of USDC after the last block.
func (w *World) USDCSupply() uint64 {
	supply := uint64(OlderUSDC)
	for _, n := range w.Held(USDC) {
		supply += n
	}
	return supply
}

// Launched is a token that was launched: by which program, who holds the curve, whether that is full, and the pool that it moved to ("" before).
type Launched struct {
	Token, Program, Holder string
	Complete               bool
	Pool                   string
}

// Launches are the tokens that were launched.
func (w *World) Launches() (out []Launched) {
	for i := range w.state.curves {
		c := &w.state.curves[i]
		l := Launched{Token: c.token, Program: c.program, Holder: c.holder, Complete: c.complete}
		if c.migrated {
			l.Pool = w.poolOf(c).account
		}
		out = append(out, l)
	}
	return out
}

// poolOf is the pool that a curve's funds were moved to.
func (w *World) poolOf(c *curve) *pool {
	i := slices.IndexFunc(w.state.pools, func(p pool) bool { return p.base == c.token })
	return &w.state.pools[i]
}

// Grow makes blocks, one in four of them without any trade.
func (w *World) Grow(blocks int) {
	for range blocks {
		var txs []json.RawMessage
		if w.rng.IntN(4) > 0 {
			for range 1 + w.rng.IntN(4) {
				txs = append(txs, w.act())
			}
		}
		w.add(append(txs, w.noise())...)
	}
}

// Fork takes blocks back, but for the first three, and makes one more in their place, with other slots.
func (w *World) Fork(depth int) {
	left := len(w.Blocks) - min(depth, len(w.Blocks)-firstBlocks)
	w.Blocks, w.after = w.Blocks[:left:left], w.after[:left]
	w.state = w.after[left-1].clone()
	w.forks++
	w.Grow(depth + 1)
}

// firstBlocks are those that NewWorld makes.
const firstBlocks = 3

// add makes a block, some slots after the last one.
func (w *World) add(txs ...json.RawMessage) {
	b := Made{Header: market.Header{Number: 100, Time: 1_790_000_000, Parent: market.Hash{1}}, ParentSlot: 99, Txs: txs}
	if n := len(w.Blocks); n > 0 {
		last := &w.Blocks[n-1]
		b.ParentSlot, b.Parent = last.Number, last.Hash
		b.Number, b.Time = last.Number+1+uint64(max(w.rng.IntN(8)-4, 0)), last.Time+int64(w.rng.IntN(2))
	}
	b.Hash = sha256.Sum256(fmt.Appendf(b.Parent[:], "%d %d %d", b.Number, w.forks, len(txs)))
	w.Blocks, w.after = append(w.Blocks, b), append(w.after, w.state.clone())
}

// noise is a transaction that means nothing: a vote, or one that failed.
func (w *World) noise() json.RawMessage {
	t := w.begin(person(0))
	t.call(vote, nil, nil)
	if w.rng.IntN(2) == 0 {
		t.failed = true
		t.event(t.call(PumpFun, nil, nil), PumpFun, "TradeEvent", []byte("nothing"))
	}
	return t.end()
}

// act is what somebody does.
func (w *World) act() json.RawMessage {
	switch n := w.rng.IntN(20); {
	case n == 0 || len(w.state.curves) == 0:
		return w.launch()
	case n < 4:
		return w.tradeSOL()
	case n < 6:
		return w.give()
	case n == 6:
		return w.bridge()
	default:
		i := w.rng.IntN(len(w.state.curves))
		switch c := &w.state.curves[i]; {
		case c.migrated:
			return w.tradePool(c)
		case c.complete:
			return w.migrate(c)
		default:
			return w.tradeCurve(c)
		}
	}
}

// makeSOLPool makes the pool of SOL for USDC, and gives people of both.
func (w *World) makeSOLPool() json.RawMessage {
	t := w.begin(person(0))
	for n := range people {
		t.move(WSOL, "", person(n), 1_000e9)
		t.move(USDC, "", person(n), 500_000e6)
	}
	t.move(WSOL, "", AMMHolder, 100_000e9)
	t.move(USDC, "", AMMHolder, 15_000_000e6)
	t.decimals[WSOL], t.decimals[USDC] = 9, 6
	t.call(RaydiumAMMv4, []string{
		TokenProgram, Name("ata"), Name("system"), Name("rent"), SOLPool, AMMHolder, Name("orders"), Name("lp"), WSOL, USDC, account(WSOL, AMMHolder),
		account(USDC, AMMHolder),
	}, append([]byte{1, 254}, numbers(0, 15_000_000e6, 100_000e9)...))
	return t.end()
}

// tradeSOL swaps SOL for USDC, or the other way, and logs it as the AMM does.
func (w *World) tradeSOL() json.RawMessage {
	who, sells := person(w.rng.IntN(people)), w.rng.IntN(2) == 0
	t := w.begin(who)
	coin, pc := t.held(WSOL, AMMHolder), t.held(USDC, AMMHolder)
	var given, got, direction uint64
	if sells {
		given, direction = min(t.held(WSOL, who), 1e9+uint64(w.rng.IntN(50e9))), 2
		got = product(pc, given, coin+given)
		t.move(WSOL, who, AMMHolder, given)
		t.move(USDC, AMMHolder, who, got)
	} else {
		given, direction = min(t.held(USDC, who), 100e6+uint64(w.rng.IntN(5_000e6))), 1
		got = product(coin, given, pc+given)
		t.move(USDC, who, AMMHolder, given)
		t.move(WSOL, AMMHolder, who, got)
	}
	accounts := []string{
		TokenProgram, SOLPool, AMMHolder, Name("orders"), account(WSOL, AMMHolder), account(USDC, AMMHolder), Name("market"), Name("bids"), Name("asks"),
		Name("events"), Name("coins"), Name("pcs"), Name("signer"), account(WSOL, who), account(USDC, who), who,
	}
	t.call(RaydiumAMMv4, accounts, append([]byte{9}, numbers(given, 0)...))
	line := append([]byte{3}, numbers(given, 0, direction, given, coin, pc, got)...)
	t.logs = append(t.logs, "Program "+RaydiumAMMv4+" invoke [1]", "Program log: ray_log: "+base64.StdEncoding.EncodeToString(line),
		"Program "+RaydiumAMMv4+" success")
	return t.end()
}

// product is a·b/c, of numbers whose product has more than 64 bits.
func product(a, b, c uint64) uint64 {
	var out, x, y, z market.Amount
	x.SetUint64(a)
	y.SetUint64(b)
	z.SetUint64(c)
	_, _ = out.MulDivOverflow(&x, &y, &z)
	return out.Uint64()
}

// give moves a launched token from one to another.
func (w *World) give() json.RawMessage {
	from, to := person(w.rng.IntN(people)), person(w.rng.IntN(people))
	t := w.begin(from)
	token := w.state.curves[w.rng.IntN(len(w.state.curves))].token
	if n := t.held(token, from); n > 0 && from != to {
		t.move(token, from, to, 1+uint64(w.rng.Int64N(int64(n))))
	}
	return t.end()
}

// OlderUSDC is how much of USDC those have who aren't of the world: their accounts are older than its first block.
const OlderUSDC = 1_000_000_000_000_000

// bridge makes USDC for somebody, or burns somebody's, as coins do that move between chains.
func (w *World) bridge() json.RawMessage {
	who, n := person(w.rng.IntN(people)), 1e6+uint64(w.rng.IntN(1e9))
	t := w.begin(who)
	if w.rng.IntN(2) == 0 {
		t.move(USDC, "", who, n)
	} else {
		t.move(USDC, who, "", min(t.held(USDC, who), n))
	}
	return t.end()
}

// Borsh's forms.
func numbers(list ...uint64) (out []byte) {
	for _, n := range list {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return out
}

func text(format string, args ...any) []byte {
	s := fmt.Appendf(nil, format, args...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func keys(list ...string) (out []byte) {
	for _, k := range list {
		var key [32]byte
		base58.Decode(key[:], k)
		out = append(out, key[:]...)
	}
	return out
}

// account is an owner's token account.
func account(token, owner string) string { return Name("account of %s of %s", token, owner) }

// builder makes a transaction.
type builder struct {
	w        *World
	list     []string
	outer    []call
	inner    map[int][]call
	logs     []string
	moved    map[holding]uint64 // what the holdings that it moves had before
	decimals map[string]int
	failed   bool
}

func (w *World) begin(payer string) *builder {
	return &builder{w: w, list: []string{payer}, inner: map[int][]call{}, moved: map[holding]uint64{}, decimals: map[string]int{WSOL: 9}}
}

func (t *builder) place(key string) int {
	if i := slices.Index(t.list, key); i >= 0 {
		return i
	}
	t.list = append(t.list, key)
	return len(t.list) - 1
}

func (t *builder) places(list []string) []int {
	out := []int{}
	for _, key := range list {
		out = append(out, t.place(key))
	}
	return out
}

// call calls a program, and gives the instruction's place in the message; callFrom calls one from within such an instruction.
func (t *builder) call(program string, accounts []string, data []byte) int {
	height := 1
	t.outer = append(t.outer, call{Program: t.place(program), Accounts: t.places(accounts), Data: base58.Encode(data), Height: &height})
	return len(t.outer) - 1
}

func (t *builder) callFrom(at int, program string, accounts []string, data []byte) {
	height := 2
	t.inner[at] = append(t.inner[at], call{Program: t.place(program), Accounts: t.places(accounts), Data: base58.Encode(data), Height: &height})
}

// event is a program's call of itself by which it tells one: from an instruction of the message, or (tellFrom) from what that called last.
func (t *builder) event(at int, program, name string, body []byte) {
	t.tell(at, 2, program, name, body)
}

func (t *builder) tellFrom(at int, program, name string, body []byte) {
	t.tell(at, 3, program, name, body)
}

func (t *builder) tell(at, height int, program, name string, body []byte) {
	disc := sha256.Sum256([]byte("event:" + name))
	data := slices.Concat([]byte{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d}, disc[:8], body)
	t.inner[at] = append(t.inner[at], call{Program: t.place(program), Accounts: t.places([]string{Name("authority")}), Data: base58.Encode(data), Height: &height})
}

func (t *builder) held(token, owner string) uint64 {
	return t.w.state.held[holding{token: token, owner: owner}]
}

// move moves tokens between owners' own accounts; from nobody they are made, to nobody burned.
func (t *builder) move(token, from, to string, n uint64) {
	t.shift(holding{token: token, owner: from}, holding{token: token, owner: to}, n)
}

// shift moves tokens; from nobody's account they are made, to nobody's burned.
func (t *builder) shift(from, to holding, n uint64) {
	for _, h := range []holding{from, to} {
		if _, seen := t.moved[h]; !seen && h.owner != "" {
			t.moved[h] = t.w.state.held[h]
		}
	}
	if from.owner != "" {
		t.w.state.held[from] -= n
	}
	if to.owner != "" {
		t.w.state.held[to] += n
	}
}

// end is the transaction as a node tells it. A node tells balances of a transaction's token accounts in their order.
func (t *builder) end() json.RawMessage {
	t.w.state.made++
	type balance struct {
		Account int            `json:"accountIndex"`
		Mint    string         `json:"mint"`
		Owner   string         `json:"owner"`
		Amount  map[string]any `json:"uiTokenAmount"`
	}
	pre, post := []balance{}, []balance{}
	for _, h := range slices.SortedFunc(maps.Keys(t.moved), func(a, b holding) int { return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.key(), b.key())) }) {
		decimals, ok := t.decimals[h.token]
		if !ok {
			decimals = 6
		}
		at := t.place(h.key())
		tell := func(n uint64) balance {
			return balance{at, h.token, h.owner, map[string]any{"amount": strconv.FormatUint(n, 10), "decimals": decimals}}
		}
		if t.moved[h] > 0 {
			pre = append(pre, tell(t.moved[h]))
		}
		if now := t.w.state.held[h]; now > 0 || t.moved[h] == 0 {
			post = append(post, tell(now))
		}
	}
	byAccount := func(a, b balance) int { return cmp.Compare(a.Account, b.Account) }
	slices.SortFunc(pre, byAccount)
	slices.SortFunc(post, byAccount)
	inner := []any{}
	for _, at := range slices.Sorted(maps.Keys(t.inner)) {
		inner = append(inner, map[string]any{"index": at, "instructions": t.inner[at]})
	}
	var failure any
	if t.failed {
		failure = map[string]any{"InstructionError": []any{0, "Custom"}}
	}
	signature := sha256.Sum256(fmt.Appendf(nil, "transaction %d of fork %d", t.w.state.made, t.w.forks))
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{
			"err": failure, "fee": 5000, "innerInstructions": inner, "logMessages": t.logs, "preTokenBalances": pre, "postTokenBalances": post,
			"loadedAddresses": map[string]any{"writable": []string{}, "readonly": []string{}},
		},
		"transaction": signed{
			Message:    message{Keys: t.list, Instructions: t.outer},
			Signatures: []string{base58.Encode(append(signature[:], signature[:]...))},
		},
		"version": 0,
	})
	if err != nil {
		panic(err) // it has nothing that JSON can't have
	}
	return raw
}
