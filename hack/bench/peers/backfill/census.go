package backfill

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// census is the count that everybody is held against: made here from the node's logs alone, with nothing of the
// indexer's, slowly and plainly.
type census struct {
	*theChain
	quotes map[string]bool
	// factories are the exchanges' contracts, by what they log.
	factories map[string]market.Protocol
	wrapped   string

	logs, transfers int
	tracked         map[string]*censusPool // pools with a quote side
	tokens          map[string]bool
	balances        map[[2]string]*big.Int // by token and account
	trades          int
	base, quote     big.Int // sums over all trades
	minutes         map[string]bool
}

type censusPool struct {
	protocol market.Protocol
	baseIs0  bool
}

// rawLog is a log as the node writes it.
type rawLog struct {
	Address, Data, BlockNumber, BlockTimestamp string
	Topics                                     []string
}

var (
	sigTransfer    = eventTopic("Transfer(address,address,uint256)")
	sigDeposit     = eventTopic("Deposit(address,uint256)")
	sigWithdrawal  = eventTopic("Withdrawal(address,uint256)")
	sigPairCreated = eventTopic("PairCreated(address,address,address,uint256)")
	sigPoolCreated = eventTopic("PoolCreated(address,address,uint24,int24,address)")
	sigSwapV2      = eventTopic("Swap(address,uint256,uint256,uint256,uint256,address)")
	sigSwapV3      = eventTopic("Swap(address,address,int256,int256,uint160,uint128,int24)")
)

func eventTopic(signature string) string { return anvil.ToHex(anvil.Keccak([]byte(signature))) }

func newCensus(c *theChain) *census {
	n := &census{
		theChain: c, quotes: map[string]bool{}, factories: map[string]market.Protocol{},
		wrapped: c.cfg.Native.Wrapped.String(), tracked: map[string]*censusPool{}, tokens: map[string]bool{},
		balances: map[[2]string]*big.Int{}, minutes: map[string]bool{},
	}
	for _, q := range c.cfg.Quotes {
		n.quotes[q.Address.String()] = true
	}
	for _, x := range c.cfg.Exchanges {
		n.factories[x.Factory.String()] = x.Protocol
	}
	return n
}

func countChain(ctx context.Context, c *theChain) (*census, error) {
	n := newCensus(c)
	const blocksAtOnce = 50
	for from := uint64(0); from <= c.head; from += blocksAtOnce {
		var logs []rawLog
		where := map[string]string{"fromBlock": hexOf(from), "toBlock": hexOf(min(from+blocksAtOnce-1, c.head))}
		request := []anvil.Request{{Method: "eth_getLogs", Params: []any{where}, Result: &logs}}
		if err := c.node.Batch(ctx, request); err != nil {
			return nil, err
		}
		if request[0].Err != nil {
			return nil, request[0].Err
		}
		for i := range logs {
			n.log(&logs[i])
		}
	}
	n.dropPairTokens()
	return n, nil
}

// dropPairTokens forgets pairs' own liquidity tokens, which are no tokens here.
func (n *census) dropPairTokens() {
	for pool := range n.tracked {
		delete(n.tokens, pool)
	}
}

func (n *census) log(l *rawLog) {
	n.logs++
	if len(l.Topics) == 0 {
		return
	}
	l.Address = strings.ToLower(l.Address)
	words := len(l.Data) / 64
	switch topic := l.Topics[0]; {
	case topic == sigTransfer && len(l.Topics) == 3 && words >= 1: // with 4 topics it is an NFT's
		n.transfers++
		n.move(l.Address, account(l.Topics[1]), account(l.Topics[2]), l.word(0))
	case topic == sigDeposit && l.Address == n.wrapped && len(l.Topics) == 2 && words >= 1:
		n.move(l.Address, nobody, account(l.Topics[1]), l.word(0))
	case topic == sigWithdrawal && l.Address == n.wrapped && len(l.Topics) == 2 && words >= 1:
		n.move(l.Address, account(l.Topics[1]), nobody, l.word(0))
	case topic == sigPairCreated && n.factories[l.Address] == market.UniswapV2 && words >= 1:
		n.pool(market.UniswapV2, l, 0)
	case topic == sigPoolCreated && n.factories[l.Address] == market.UniswapV3 && words >= 2:
		n.pool(market.UniswapV3, l, 1)
	case topic == sigSwapV2 && words >= 4:
		n.swap(market.UniswapV2, l, new(big.Int).Sub(l.word(0), l.word(2)), new(big.Int).Sub(l.word(1), l.word(3)))
	case topic == sigSwapV3 && words >= 5:
		n.swap(market.UniswapV3, l, signed(l.word(0)), signed(l.word(1)))
	}
}

const nobody = "0x0000000000000000000000000000000000000000"

func (n *census) move(token, from, to string, amount *big.Int) {
	n.tokens[token] = true
	if from != nobody {
		n.add(token, from, new(big.Int).Neg(amount))
	}
	if to != nobody {
		n.add(token, to, amount)
	}
}

func (n *census) add(token, account string, amount *big.Int) {
	key := [2]string{token, account}
	if n.balances[key] == nil {
		n.balances[key] = new(big.Int)
	}
	n.balances[key].Add(n.balances[key], amount)
}

func (n *census) pool(protocol market.Protocol, l *rawLog, word int) {
	if len(l.Topics) < 3 {
		return
	}
	token0, token1 := account(l.Topics[1]), account(l.Topics[2])
	if !n.quotes[token0] && !n.quotes[token1] {
		return
	}
	n.tokens[token0], n.tokens[token1] = true, true
	n.tracked[account(fmt.Sprintf("0x%064x", l.word(word)))] = &censusPool{protocol, n.base0(token0, token1)}
}

// base0 tells whether token0 is what is traded: the quote asset that is declared first is not.
func (n *census) base0(token0, token1 string) bool {
	for _, q := range n.cfg.Quotes {
		switch q.Address.String() {
		case token0:
			return false
		case token1:
			return true
		}
	}
	return false
}

func (n *census) swap(protocol market.Protocol, l *rawLog, amount0, amount1 *big.Int) {
	p := n.tracked[l.Address]
	if p == nil || p.protocol != protocol || amount0.Sign()*amount1.Sign() >= 0 {
		return // not a pool of ours, or nothing was exchanged
	}
	n.trades++
	if !p.baseIs0 {
		amount0, amount1 = amount1, amount0
	}
	n.base.Add(&n.base, amount0.Abs(amount0))
	n.quote.Add(&n.quote, amount1.Abs(amount1))
	at, _ := strconv.ParseInt(strings.TrimPrefix(l.BlockTimestamp, "0x"), 16, 64)
	n.minutes[l.Address+" "+strconv.FormatInt(at/60, 10)] = true
}

func (n *census) rows() *rows {
	r := &rows{
		trades: n.trades, candles: len(n.minutes), tokens: len(n.tokens), base: n.base, quote: n.quote, volume: n.base,
	}
	for key, amount := range n.balances {
		if amount.Sign() != 0 && n.tokens[key[0]] {
			r.balances++
			r.held.Add(&r.held, amount)
		}
	}
	return r
}

// word is the i-th word of the data, unsigned.
func (l *rawLog) word(i int) *big.Int {
	v, _ := new(big.Int).SetString(l.Data[2+64*i:2+64*(i+1)], 16)
	return v
}

func signed(v *big.Int) *big.Int {
	if v.Bit(255) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return v
}

func account(topic string) string { return "0x" + strings.ToLower(topic[26:]) }

func hexOf(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
