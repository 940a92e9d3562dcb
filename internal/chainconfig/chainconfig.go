// Package chainconfig is the plain document that one indexer runs on: a chain, resolved and checked. The operator
// hands it over in a ConfigMap; `boardwalk up` makes the same one in memory from the same manifests.
package chainconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Chain is everything an indexer needs to know, and nothing else: an indexer is started anew for another document.
type Chain struct {
	ID string `json:"id"`
	// Generation says which index of the chain is wanted: if it is above the generation of the index that is served, the chain is indexed anew beside that index.
	// 0 is 1.
	Generation int64 `json:"generation,omitempty"`
	// AskAnew has the next generation ask again what nodes told the index that is served; else that is used.
	AskAnew bool   `json:"ask_anew,omitempty"`
	Family  Family `json:"family"`
	// EVMChainID is what eth_chainId must answer; 0 on other families.
	EVMChainID uint64 `json:"evm_chain_id,omitempty"`
	// GenesisHash is what getGenesisHash must answer on Solana, in base58; empty is that of the mainnet, and on other families.
	GenesisHash string `json:"genesis_hash,omitempty"`
	// MinTradeUSD is the smallest trade that the platform offers, in USD.
	MinTradeUSD float64 `json:"min_trade_usd"`
	// BlockTime is the usual time between blocks: the pace at which the head is read.
	BlockTime Duration `json:"block_time"`

	Native    Native     `json:"native"`
	Quotes    []Quote    `json:"quotes"`
	Majors    []Major    `json:"majors"`
	Exchanges []Exchange `json:"exchanges"`
	// Venues are the launch venues that have contracts on the chain, open ones and closed ones: tokens of a closed venue trade on.
	Venues []Venue `json:"venues,omitempty"`

	Endpoints []Endpoint `json:"endpoints"`
	Start     Start      `json:"start"`
	Tracking  Tracking   `json:"tracking"`
	Retention Retention  `json:"retention"`
	// ReorgBlocks is the undo horizon: the deepest reorg that can be rewound.
	ReorgBlocks uint64 `json:"reorg_blocks"`
	// FinalityDepth is used as the finality label where the node knows no finalized tag; in blocks.
	FinalityDepth uint64 `json:"finality_depth"`

	Trust Trust `json:"trust,omitzero"`
	// PlatformFee says how the chain shows the platform's fee; without it no fee counts.
	PlatformFee *PlatformFee `json:"platform_fee,omitempty"`
	// FetchMetadata says whether tokens' descriptions and pictures are fetched; nil is yes.
	FetchMetadata *bool `json:"fetch_metadata,omitempty"`
}

// PlatformFee says by which contracts and accounts the chain shows the platform's fee.
type PlatformFee struct {
	// Recipients are the accounts that the fee goes to.
	Recipients []market.Address `json:"recipients"`
	// Routers are the contracts whose FeePaid logs are believed.
	Routers []market.Address `json:"routers,omitempty"`
	// Bps is the fee in hundredths of a percent of what is traded.
	Bps uint32 `json:"bps"`
}

// Trust is what the chain's trust checks can't read from the chain.
type Trust struct {
	// Lockers are contracts that hold liquidity for good or for a stated time.
	Lockers []market.Address `json:"lockers,omitempty"`
}

// Family is the kind of chain.
type Family string

// The chain families.
const (
	EVM    Family = "EVM"
	Solana Family = "Solana"
)

// FamilyOf is the family on whose chains an address is; empty for none.
func FamilyOf(a market.Address) Family {
	switch a.Kind() {
	case market.EVMAccount, market.NativeCoin, market.V4Pool, market.EVMCurve:
		return EVM
	case market.SolanaKey, market.SolanaCurve:
		return Solana
	case market.NoAddress:
	}
	return ""
}

// HasPastStates reports whether nodes of the family can be asked what an account held after an earlier block. Solana's tell of the newest state alone. An
// unknown family is taken for EVM.
func (f Family) HasPastStates() bool { return f != Solana }

// CoinDecimals are those of the own coin of a family's chains; 0 for an unknown family.
func (f Family) CoinDecimals() uint8 {
	switch f {
	case EVM:
		return 18
	case Solana:
		return 9
	default:
		return 0
	}
}

// CountsPools reports whether pools and venues' contracts count as holders of a token. On Solana they do: holders there are the owners of token accounts,
// whoever they are.
func (f Family) CountsPools() bool { return f == Solana }

// KeepsSupplies reports whether a program of the chain keeps the supplies of all tokens, and not each token's contract its own.
func (f Family) KeepsSupplies() bool { return f == Solana }

// Native is the chain's own coin and the contract that wraps it.
type Native struct {
	Symbol  string         `json:"symbol"`
	Wrapped market.Address `json:"wrapped"`
}

// Quote is a declared quote asset; the order of a chain's list is the order of preference.
type Quote struct {
	Symbol  string         `json:"symbol"`
	Address market.Address `json:"address"`
	// PegUSD is the declared price in USD; 0 when the asset is priced by its pools alone.
	PegUSD float64 `json:"peg_usd,omitempty"`
	// PegBoundPct is how far, in percent, its own pools may price it from the peg before they are believed instead.
	PegBoundPct float64 `json:"peg_bound_pct,omitempty"`
}

// Major is a large token that the majors list shows under the code of its unwrapped asset.
type Major struct {
	Asset   string         `json:"asset"`
	Address market.Address `json:"address"`
}

// Exchange is a deployment of a pool protocol. Uniswap V4's factory is its PoolManager.
type Exchange struct {
	Name     string          `json:"name"`
	Protocol market.Protocol `json:"protocol"`
	Factory  market.Address  `json:"factory"` // on Solana the program
	// Hooks are the V4 hook contracts whose pools may price a token.
	Hooks []market.Address `json:"hooks,omitempty"`
	// PositionManager is the V4 contract that knows what most pools are; it may be missing.
	PositionManager market.Address `json:"position_manager,omitzero"`
	// FeePips is the fee of pools whose creation event doesn't carry one, in hundredths of a basis point.
	FeePips uint32 `json:"fee_pips,omitempty"`
}

// Endpoint is one RPC endpoint. Exactly one of URL and URLFile is set: a file is read again when it changes.
type Endpoint struct {
	URL     string `json:"url,omitempty"`
	URLFile string `json:"url_file,omitempty"`
	// Protocol is what it speaks; empty is JSON-RPC.
	Protocol EndpointProtocol `json:"protocol,omitempty"`
	// Weight is the share of requests among healthy endpoints.
	Weight int `json:"weight"`
	// RequestsPerSecond is how many calls a second may have; 0 is not known.
	RequestsPerSecond int64 `json:"requests_per_second,omitempty"`
	// RequestsPerDay is a hard cap; 0 is none.
	RequestsPerDay int64 `json:"requests_per_day,omitempty"`
	// ComputeUnitsPerDay is a hard cap in the provider's compute units; 0 is none.
	ComputeUnitsPerDay int64 `json:"compute_units_per_day,omitempty"`
	// ComputeUnits is what a call counts, by its method; OtherMethods is the key of all that aren't named. What is left out is as in
	// docs/costs.md.
	ComputeUnits map[string]int64 `json:"compute_units,omitempty"`
}

// EndpointProtocol is what an endpoint speaks.
type EndpointProtocol string

// YellowstoneGRPC is the protocol of endpoints that send Solana's blocks by themselves.
const YellowstoneGRPC EndpointProtocol = "YellowstoneGRPC"

// OtherMethods is the key of Endpoint.ComputeUnits that stands for the methods that it doesn't name.
const OtherMethods = "other"

// Start says from which block on the chain is indexed.
type Start struct {
	// Now starts at the head as it is when the indexer first runs.
	Now   bool   `json:"now,omitempty"`
	Block uint64 `json:"block,omitempty"`
}

// Tracking bounds what is kept.
type Tracking struct {
	// MinLiquidityUSD is the liquidity from which on a pool's trades and candles are kept.
	MinLiquidityUSD float64 `json:"min_liquidity_usd"`
	// CountedLiquidityUSD is the liquidity that a pool must have for its trades to count for members.
	CountedLiquidityUSD float64 `json:"counted_liquidity_usd,omitempty"`
	Holders             Holders `json:"holders"`
	// Caps bound what is read of a token's past to count its holders; zero fields are the defaults.
	Caps HolderCaps `json:"caps,omitzero"`
	// PastDays is how long before a wallet counts for its member what it did is read from the nodes, where the index began later; 0 reads nothing.
	PastDays int64 `json:"past_days,omitempty"`
}

// HolderCaps bound what is read of a token's past to count its holders.
type HolderCaps struct {
	// Accounts with a balance, and Transfers that are read.
	Accounts  int64 `json:"accounts,omitempty"`
	Transfers int64 `json:"transfers,omitempty"`
	// Days is how long the reading may take.
	Days int64 `json:"days,omitempty"`
}

// The caps of a chain that declares none: what a token on a small or young chain has, and what costs some 15 GB of answers.
const (
	DefaultHolderAccounts  = 5_000_000
	DefaultHolderTransfers = 20_000_000
	DefaultHolderDays      = 7
)

// WithDefaults puts the defaults in.
func (c HolderCaps) WithDefaults() HolderCaps {
	return HolderCaps{
		Accounts: cmp.Or(c.Accounts, DefaultHolderAccounts), Transfers: cmp.Or(c.Transfers, DefaultHolderTransfers),
		Days: cmp.Or(c.Days, DefaultHolderDays),
	}
}

// String tells caps apart.
func (c HolderCaps) String() string {
	return fmt.Sprintf("%d accounts, %d transfers, %d days", c.Accounts, c.Transfers, c.Days)
}

// Holders says which tokens have their balances followed.
type Holders string

// HoldersLaunches follows launched tokens; HoldersDeclared majors, too, whose past is read; HoldersAll follows every token that is seen, for
// small chains.
const (
	HoldersLaunches Holders = "Launches"
	HoldersDeclared Holders = "Declared"
	HoldersAll      Holders = "All"
)

// Retention is how long, in chain time, rows are kept; 0 keeps them for good.
type Retention struct {
	Trades        Duration `json:"trades,omitempty"`
	MinuteCandles Duration `json:"minute_candles,omitempty"`
}

// Duration is a time.Duration written as text ("2s").
type Duration time.Duration

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("read duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

// CheckAddresses names each address that is missing, or of another family than the chain's.
func (c *Chain) CheckAddresses() error {
	kind, allowed := market.EVMAccount, "0x and 40 hexadecimal digits, not all zero"
	if c.Family == Solana {
		kind, allowed = market.SolanaKey, "base58 of 32 bytes"
	}
	var errs []error
	check := func(a market.Address, field string, names ...any) {
		if a.Kind() != kind {
			errs = append(errs, fmt.Errorf("chain %s: %s is %q; allowed: %s", c.ID, fmt.Sprintf(field, names...), a, allowed))
		}
	}
	check(c.Native.Wrapped, "native.wrapped")
	for _, q := range c.Quotes {
		check(q.Address, "the address of quote %s", q.Symbol)
	}
	for _, m := range c.Majors {
		check(m.Address, "the address of major %s", m.Asset)
	}
	for _, x := range c.Exchanges {
		check(x.Factory, "the factory of exchange %s", x.Name)
		for _, h := range x.Hooks {
			check(h, "a hook of exchange %s", x.Name)
		}
		if !x.PositionManager.IsNone() {
			check(x.PositionManager, "the position manager of exchange %s", x.Name)
		}
	}
	for _, v := range c.Venues {
		for _, a := range v.Contracts {
			check(a, "a contract of venue %s", v.ID)
		}
	}
	for _, l := range c.Trust.Lockers {
		check(l, "trust.lockers")
	}
	if f := c.PlatformFee; f != nil {
		for _, a := range f.Recipients {
			check(a, "platform_fee.recipients")
		}
		for _, a := range f.Routers {
			check(a, "platform_fee.routers")
		}
	}
	return errors.Join(errs...)
}

// Load reads the JSON document at path.
func Load(path string) (*Chain, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read chain document: %w", err)
	}
	var c Chain
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("chain document %s: %w", path, err)
	}
	if c.ID == "" {
		return nil, errors.New("chain document " + path + " has no id: write it with the operator or with `boardwalk up`")
	}
	if err := c.CheckAddresses(); err != nil {
		return nil, fmt.Errorf("chain document %s: %w", path, err)
	}
	return &c, nil
}
