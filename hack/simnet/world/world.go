package world

import (
	"encoding/binary"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
)

// Protocol is a kind of exchange, spelled as in a Chain's spec.exchanges.
type Protocol string

// The protocols that a world can have contracts of.
const (
	UniswapV2     Protocol = "UniswapV2"
	UniswapV3     Protocol = "UniswapV3"
	UniswapV4     Protocol = "UniswapV4"
	PancakeSwapV3 Protocol = "PancakeSwapV3"
	Solidly       Protocol = "Solidly"
	Slipstream    Protocol = "Slipstream"
)

// Pool is a place where two tokens are swapped. Token0 is the lower address; on Uniswap V4 it may be
// 0, the native currency.
type Pool struct {
	Protocol Protocol
	// Address is the pool's contract; empty on Uniswap V4, whose pools have an ID instead.
	Address string
	ID      string
	Token0  string
	Token1  string
	// Fee is in hundredths of a basis point: 3000 is 0.3 %. It is 0 on Solidly and Slipstream, whose factories have it.
	Fee         int
	TickSpacing int
	// Stable says that a Solidly pool is on the curve for two assets of one price.
	Stable bool
	Hooks  string
	// Factory is the contract that announced the pool; on Uniswap V4 the PoolManager.
	Factory string
	// Trap is empty for honest pools and else tells what the pool is there to catch.
	Trap Trap
}

// Trap is the trick that a pool plays.
type Trap string

const (
	// TrapUnquoted is a pool of two undeclared tokens, at a price that makes one look like a fortune.
	TrapUnquoted Trap = "unquoted"
	// TrapHook is a Uniswap V4 pool whose hook nobody declared.
	TrapHook Trap = "hook"
	// TrapOneTick is a pool whose little money lies in one tick, at an absurd price.
	TrapOneTick Trap = "one tick"
	// TrapOneSided is a pool that holds only its own token, at an absurd price.
	TrapOneSided Trap = "one-sided"
	// TrapThin is a shallow pool at an absurd price beside the token's honest one.
	TrapThin Trap = "thin"
)

// Key is what names the pool on its chain, its address or its V4 id.
func (p Pool) Key() string {
	if p.Protocol == UniswapV4 {
		return p.ID
	}
	return p.Address
}

// Has tells whether a token is one side of the pool.
func (p Pool) Has(token string) bool { return p.Token0 == token || p.Token1 == token }

// Other is the pool's other side.
func (p Pool) Other(token string) string {
	if p.Token0 == token {
		return p.Token1
	}
	return p.Token0
}

// Native is a chain's own currency.
type Native struct {
	Symbol        string
	WrappedName   string
	WrappedSymbol string
	USD           float64
}

// Routers are the contracts that users call. V3Positions is the NFT position manager. Those of Uniswap
// V4, of PancakeSwap V3 and of Solidly are simnet's own.
type Routers struct {
	UniswapV2     string
	UniswapV3     string
	V3Positions   string
	UniswapV4     string
	PancakeSwapV3 string
	// PancakeSwapV2 is of the factory of that name.
	PancakeSwapV2 string
	Solidly       string
	// Aggregator splits trades over several pools. It holds the tokens itself in between.
	Aggregator string
	// Platform is the platform's own, which takes its fee for FeeRecipient.
	Platform string
}

// FeeRecipient is the account that the platform's fee goes to.
const FeeRecipient = "0x000000000000000000000000000000000000fee5"

// UniswapV3Exchange is an exchange of Uniswap V3's kind: its factory and the two contracts that users call.
type UniswapV3Exchange struct {
	Factory, Router, Positions string
}

// SlipstreamExchange is a stand-in's factory and the contract that users call.
type SlipstreamExchange struct {
	Factory, Router string
}

// World is one chain with everything that Deploy put there. Addresses are lower-case hexadecimal
// with 0x.
type World struct {
	Node    *anvil.Node
	ChainID uint64
	Native  Native

	Wrapped string
	// The two stable coins; what they are called and how many decimals they have is their places' choice.
	StableUSDC6 string // USDC, 6 decimals
	StableUSD18 string // USDT, 18 decimals

	// The factories of exchanges that were not deployed are empty (DeployOptions.Classic).
	UniswapV2Factory     string
	UniswapV3Factory     string
	UniswapV4PoolManager string
	PancakeSwapV3Factory string
	// PancakeSwapV2Factory is of a second exchange of Uniswap V2's kind, which only some worlds have (Places).
	PancakeSwapV2Factory string
	// MoreUniswapV3 are further exchanges of Uniswap V3's kind, which only some worlds have (Places).
	MoreUniswapV3 []UniswapV3Exchange
	// SolidlyFactory and Slipstream are stand-ins of simnet's own, which only some worlds have (Places).
	SolidlyFactory string
	Slipstream     []SlipstreamExchange
	Routers        Routers
	// Hook is of Uniswap V4 pools that nobody should trust.
	Hook string
	// EntryPoint is ERC-4337's. SmartAccounts trade through it, in bundles that traders send.
	EntryPoint    string
	SmartAccounts []string
	// Pump is the contract by which package attack pumps a price, Traps are the Uniswap V4 pools that it has opened.
	Pump  string
	Traps []Pool

	// Tokens begins with the wrapped native asset, USDC and USDT.
	Tokens []Token
	Pools  []Pool

	// Accounts are all unlocked accounts: the deployer, who provides most liquidity, collects transfer
	// fees and launches tokens, the traders, and the spare ones, of which the first is behind the
	// fixtures and nothing here uses the others after deployment.
	Accounts []string
	Deployer string
	Traders  []string
	Spare    []string

	// Venues are the launch venues, VenueOwner is who deployed them and gets their fees, and Wallets are who launches and
	// trades there. These accounts are impersonated: the node takes their transactions unsigned, and eth_accounts doesn't
	// list them.
	Venues     []venues.Venue
	VenueOwner string
	Wallets    []string
}

// spareCount is how many accounts are spare.
const spareCount = 5

// Token finds a token by address.
func (w *World) Token(address string) (Token, bool) {
	for _, token := range w.Tokens {
		if token.Address == address {
			return token, true
		}
	}
	return Token{}, false
}

// Asset is Token for the sides of pools, one of which may be the native currency.
func (w *World) Asset(address string) Token {
	if address == anvil.ZeroAddress {
		native := w.Tokens[0]
		native.Address, native.Name, native.Symbol = anvil.ZeroAddress, w.Native.Symbol, w.Native.Symbol
		return native
	}
	token, _ := w.Token(address)
	return token
}

// TokensLike are the tokens of one behaviour.
func (w *World) TokensLike(behaviour Behaviour) []Token {
	var found []Token
	for _, token := range w.Tokens {
		if token.Behaviour == behaviour {
			found = append(found, token)
		}
	}
	return found
}

// Units is an amount of whole tokens in a token's smallest unit. It is exact to 15 digits.
func Units(amount float64, decimals int) *big.Int {
	scaled := new(big.Float).SetPrec(200).SetFloat64(amount)
	scaled.Mul(scaled, new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	n, _ := scaled.Int(nil)
	return n
}

// Float is a number as far as a float64 can tell it.
func Float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// Portion is a part of an amount, to a billionth.
func Portion(amount *big.Int, part float64) *big.Int {
	scaled := new(big.Int).Mul(amount, big.NewInt(int64(part*1e9)))
	return scaled.Div(scaled, big.NewInt(1e9))
}

// Venue finds a venue by id.
func (w *World) Venue(id string) (venues.Venue, bool) {
	for _, venue := range w.Venues {
		if venue.ID == id {
			return venue, true
		}
	}
	return venues.Venue{}, false
}

// MadeUpAddress is an address of a kind; nobody has its key.
func MadeUpAddress(kind string, i uint64) string {
	return anvil.ToHex(anvil.Keccak([]byte(kind), binary.BigEndian.AppendUint64(nil, i))[12:])
}
