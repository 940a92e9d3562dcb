package chain

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// volume makes transactions up. The same seed, number and fork give the same ones after the same states.
type volume struct {
	seed     uint64
	txs      int
	shapes   *shapes
	shape    wheel
	pools    []pool
	pool     wheel
	tokens   []Address
	token    wheel
	units    []float64 // of a whole token
	wrapped  Address
	routers  [2]Address // of Uniswap V2 and V3
	accounts []Address
	others   []Address // contracts that log something else
}

const (
	accountCount, otherCount = 4_000, 120
	// usualPart is the median of what a trade gives as a part of the pool, biggestPart the most.
	usualPart, biggestPart = 0.001, 0.012
	// returning is how strongly trades bring a price back.
	returning = 3
)

var (
	topicTransfer   = keccak([]byte("Transfer(address,address,uint256)"))
	topicApproval   = keccak([]byte("Approval(address,address,uint256)"))
	topicDeposit    = keccak([]byte("Deposit(address,uint256)"))
	topicWithdrawal = keccak([]byte("Withdrawal(address,uint256)"))
	topicSync       = keccak([]byte("Sync(uint112,uint112)"))
	topicSwapV2     = keccak([]byte("Swap(address,uint256,uint256,uint256,uint256,address)"))
	topicSwapV3     = keccak([]byte("Swap(address,address,int256,int256,uint160,uint128,int24)"))
)

// newVolume makes blocks of about as many transactions and logs.
func newVolume(w *world.World, pools []pool, seed uint64, txs, logs int) (*volume, error) {
	s, err := readShapes(shapesText)
	if err != nil {
		return nil, err
	}
	v := &volume{seed: seed, txs: txs, shapes: s, pools: pools, wrapped: address(w.Wrapped)}
	if txs > 0 {
		if v.shape, err = s.wheel(float64(logs) / float64(txs)); err != nil {
			return nil, err
		}
	}
	v.routers = [2]Address{address(w.Routers.UniswapV2), address(w.Routers.UniswapV3)}
	v.tokens = []Address{v.wrapped, address(w.StableUSDC6), address(w.StableUSD18)}
	for i := range pools {
		for _, t := range []Address{pools[i].token0, pools[i].token1} {
			if !slices.Contains(v.tokens, t) {
				v.tokens = append(v.tokens, t)
			}
		}
	}
	for i := range v.tokens {
		decimals := 18
		if i < len(w.Tokens) && i < 3 {
			decimals = w.Tokens[i].Decimals
		}
		v.units = append(v.units, math.Pow10(decimals))
	}
	v.token, v.pool = popularity(s.tokens, len(v.tokens)), popularity(s.pools, max(len(pools), 1))
	for i := range accountCount {
		v.accounts = append(v.accounts, v.account("account", uint64(i)))
	}
	for i := range otherCount {
		v.others = append(v.others, v.account("contract", uint64(i)))
	}
	return v, nil
}

// account is an address that nobody has the key of.
func (v *volume) account(what string, i uint64) Address {
	sum := v.hash(what, i)
	return Address(sum[:20])
}

func (v *volume) hash(what string, parts ...uint64) Hash {
	b := binary.BigEndian.AppendUint64([]byte(what), v.seed)
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, p)
	}
	return keccak(standInSource, b)
}

// block gives a block's made-up transactions, and changes the states.
func (v *volume) block(number, fork uint64, states *poolStates) []Tx {
	rng := rand.New(rand.NewPCG(v.seed^number<<20, fork))
	out := make([]Tx, v.txs)
	for i := range out {
		m := &maker{volume: v, rng: rng, states: states}
		out[i] = m.tx(v.shapes.all[v.shape.draw(rng)])
		out[i].Hash = v.hash("tx", number, fork, uint64(i))
	}
	return out
}

// maker makes one transaction.
type maker struct {
	*volume
	rng    *rand.Rand
	states *poolStates
	sender Address
	legs   []leg
	swaps  []madeSwap
	// deposited and withdrawn are the wrapped coins of the first and the last route.
	deposited, withdrawn uint256.Int
}

// leg is a transfer that belongs to a swap.
type leg struct {
	token, from, to Address
	amount          uint256.Int
}

// madeSwap is a swap that was decided, to be logged.
type madeSwap struct {
	pool    *pool
	after   poolState
	zero    bool
	in, out uint256.Int
	to      Address
}

func (m *maker) tx(s shape) Tx {
	// Few accounts send many transactions.
	m.sender = m.accounts[int(math.Pow(m.rng.Float64(), 3)*float64(len(m.accounts)))]
	tx := Tx{From: m.sender, To: m.others[m.rng.IntN(len(m.others))], Type: 2, Gas: 21_000}
	m.decide(s)
	if len(m.swaps) > 0 {
		tx.To = m.router(m.swaps[0].pool)
	}
	for _, kind := range s {
		tx.Logs = append(tx.Logs, m.log(kind))
		tx.Gas += 30_000
	}
	return tx
}

func (m *maker) router(p *pool) Address {
	if p.v3 {
		return m.routers[1]
	}
	return m.routers[0]
}

// decide makes the swaps of a shape, in routes: one goes on until wrapped coins are taken out.
func (m *maker) decide(s shape) {
	var route []string
	for i, kind := range s {
		if kind == "S" || kind == "3" {
			route = append(route, kind)
		}
		if kind == "W" || i == len(s)-1 {
			if len(route) > 0 && len(m.pools) > 0 {
				m.route(route, slices.Contains(s, "D"), kind == "W")
			}
			route = nil
		}
	}
}

// route makes a route of swaps. Where coins are deposited it begins with wrapped ones, else, where they are withdrawn, it ends with them.
func (m *maker) route(kinds []string, deposited, withdrawn bool) {
	first := len(m.swaps)
	var token Address // what the next swap is given
	var amount uint256.Int
	for i, kind := range kinds {
		last := i == len(kinds)-1
		needsWrapped := deposited && i == 0 || withdrawn && last || len(kinds) > 1
		p := m.choose(kind == "3", needsWrapped, token)
		s := &(*m.states)[p]
		one := madeSwap{pool: &m.pools[p]}
		switch {
		case i > 0:
			one.zero = m.pools[p].token0 == token
		case deposited:
			one.zero = m.pools[p].token0 == m.wrapped
		case len(kinds) > 1 || withdrawn:
			one.zero = m.pools[p].token0 != m.wrapped
		default:
			lean := returning * math.Log(m.pools[p].price(s)/m.pools[p].opening)
			one.zero = m.rng.Float64() < 0.5+max(-0.45, min(0.45, lean)) // a high price falls when token0 is given
		}
		if i == 0 {
			part := min(biggestPart, usualPart*math.Exp(m.rng.NormFloat64()))
			amount = ofFloat(part * m.pools[p].depth(s, one.zero))
		}
		one.in = amount
		one.out = m.pools[p].swap(s, one.zero, &one.in)
		one.after, amount, token = *s, one.out, m.pools[p].gives(one.zero)
		m.swaps = append(m.swaps, one)
	}
	if deposited {
		m.deposited = m.swaps[first].in
	}
	if withdrawn {
		m.withdrawn = amount
	}
	m.follow(m.swaps[first:], deposited, withdrawn)
}

// follow notes the transfers of a route: into the first pool, from each to the next, and out of the last.
func (m *maker) follow(route []madeSwap, deposited, withdrawn bool) {
	from := m.sender
	if deposited {
		from = m.router(route[0].pool)
	}
	for i := range route {
		p := route[i].pool
		m.legs = append(m.legs, leg{p.gives(!route[i].zero), from, p.address, route[i].in})
		from = p.address
		switch {
		case i < len(route)-1:
			route[i].to = route[i+1].pool.address
		case withdrawn && !deposited:
			route[i].to = m.router(p)
		default:
			route[i].to = m.sender
		}
	}
	last := &route[len(route)-1]
	m.legs = append(m.legs, leg{last.pool.gives(last.zero), from, last.to, last.out})
}

// gives is the token that the pool gives where token0, or token1, is given to it.
func (p *pool) gives(zero bool) Address {
	if zero {
		return p.token1
	}
	return p.token0
}

// choose draws a pool of a kind, as popular pools are drawn more often, that has wrapped coins where they are needed.
func (m *maker) choose(v3, wrapped bool, token Address) int {
	fits := func(i int) bool {
		p := &m.pools[i]
		has := func(t Address) bool { return p.token0 == t || p.token1 == t }
		return p.v3 == v3 && (!wrapped || has(m.wrapped)) && (token == (Address{}) || has(token))
	}
	for range 200 {
		if i := m.pool.draw(m.rng); fits(i) {
			return i
		}
	}
	return max(0, slices.IndexFunc(m.pools, func(p pool) bool { return p.v3 == v3 && (p.token0 == m.wrapped || p.token1 == m.wrapped) }))
}

func ofFloat(x float64) (n uint256.Int) {
	if x < 1 {
		x = 1
	}
	mantissa, exponent := math.Frexp(x)
	n.SetUint64(uint64(math.Ldexp(mantissa, 53)))
	if exponent > 53 {
		n.Lsh(&n, uint(exponent-53))
	} else {
		n.Rsh(&n, uint(53-exponent))
	}
	return n
}

// log makes one log of a kind.
func (m *maker) log(kind string) Log {
	switch kind {
	case "T":
		t := m.transfer()
		return Log{t.token, []Hash{topicTransfer, padded(t.from), padded(t.to)}, wordsOf(&t.amount)}
	case "A":
		t := m.token.draw(m.rng)
		amount := m.amount(t)
		return Log{m.tokens[t], []Hash{topicApproval, padded(m.sender), padded(m.routers[0])}, wordsOf(&amount)}
	case "D", "W":
		topic, amount := topicDeposit, m.deposited
		if kind == "W" {
			topic, amount = topicWithdrawal, m.withdrawn
		}
		if amount.IsZero() {
			amount = m.amount(0)
		}
		return Log{m.wrapped, []Hash{topic, padded(m.routers[0])}, wordsOf(&amount)}
	case "N", "B":
		topic := topicTransfer
		if kind == "B" {
			topic = topicApproval
		}
		return Log{m.others[m.rng.IntN(len(m.others))], []Hash{topic, padded(m.anybody()), padded(m.sender), m.random()}, nil}
	case "Y":
		if len(m.swaps) > 0 {
			s := &m.swaps[0]
			return Log{s.pool.address, []Hash{topicSync}, wordsOf(&s.after.reserve0, &s.after.reserve1)}
		}
	case "S", "3":
		if len(m.swaps) > 0 {
			return m.swap()
		}
	}
	return m.other(kind)
}

// swap logs the next of the swaps.
func (m *maker) swap() Log {
	s := m.swaps[0]
	m.swaps = m.swaps[1:]
	var none uint256.Int
	if s.pool.v3 {
		amount0, amount1 := s.in, s.out
		if s.zero {
			amount1.Neg(&amount1)
		} else {
			amount0, amount1 = amount1, amount0
			amount0.Neg(&amount0)
		}
		tick := *uint256.NewInt(uint64(max(s.after.tick, -s.after.tick)))
		if s.after.tick < 0 {
			tick.Neg(&tick)
		}
		return Log{
			s.pool.address,
			[]Hash{topicSwapV3, padded(m.routers[1]), padded(s.to)},
			wordsOf(&amount0, &amount1, &s.after.sqrtPrice, &s.pool.liquidity, &tick),
		}
	}
	topics := []Hash{topicSwapV2, padded(m.routers[0]), padded(s.to)}
	if s.zero {
		return Log{s.pool.address, topics, wordsOf(&s.in, &none, &none, &s.out)}
	}
	return Log{s.pool.address, topics, wordsOf(&none, &s.in, &s.out, &none)}
}

// transfer is the next transfer of a swap, or else somebody's.
func (m *maker) transfer() leg {
	if len(m.legs) > 0 {
		l := m.legs[0]
		m.legs = m.legs[1:]
		return l
	}
	t := m.token.draw(m.rng)
	return leg{m.tokens[t], m.sender, m.anybody(), m.amount(t)}
}

// other is a log of a kind that nobody here knows: "o2.64" has 2 topics and 64 bytes of data.
func (m *maker) other(kind string) Log {
	topics, size, _ := strings.Cut(strings.TrimPrefix(kind, "o"), ".")
	n, _ := strconv.Atoi(topics)
	bytes, _ := strconv.Atoi(size)
	l := Log{Address: m.others[m.rng.IntN(len(m.others))], Data: make([]byte, bytes)}
	for i := range n {
		if i == 0 {
			l.Topics = append(l.Topics, m.hash(kind))
		} else {
			l.Topics = append(l.Topics, padded(m.anybody()))
		}
	}
	for i := 0; i < bytes; i += 32 {
		amount := m.amount(0)
		word := amount.Bytes32()
		copy(l.Data[i:], word[:])
	}
	return l
}

func (m *maker) anybody() Address { return m.accounts[m.rng.IntN(len(m.accounts))] }

func (m *maker) random() (h Hash) {
	for i := 0; i < len(h); i += 8 {
		binary.BigEndian.PutUint64(h[i:], m.rng.Uint64())
	}
	return h
}

// amount is some amount of a token: around ten of them.
func (m *maker) amount(token int) uint256.Int {
	return ofFloat(m.units[token] * 10 * math.Exp(2*m.rng.NormFloat64()))
}

func padded(a Address) (h Hash) {
	copy(h[12:], a[:])
	return h
}

func wordsOf(values ...*uint256.Int) []byte {
	out := make([]byte, 0, 32*len(values))
	for _, v := range values {
		word := v.Bytes32()
		out = append(out, word[:]...)
	}
	return out
}
