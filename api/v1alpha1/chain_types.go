package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChainKind is the kind of a Chain's manifest.
const ChainKind = "Chain"

// What an omitted field means; the fields' markers say the same to the API server.
const (
	DefaultMinLiquidityUSD  Decimal = "1000"
	DefaultHolders          Holders = HoldersLaunches
	DefaultReorgBlocks      int64   = 64
	DefaultFinalityDepth    int64   = 64
	DefaultWeight           int32   = 1
	DefaultUniswapV2FeePips int32   = 3000
	DefaultOrder            int32   = 1000
	DefaultMaxLag                   = 2 * time.Minute
	DefaultPlatformFeeBps   int32   = 80
	DefaultPastDays         int64   = 90
)

// Chain declares one blockchain: its name, its nodes, the assets and exchanges that Boardwalk trusts there, and how much of its data is kept. One
// indexer runs for each accepted Chain that isn't suspended.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories=boardwalk,shortName=bwc
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.spec.id`
// +kubebuilder:printcolumn:name="Family",type=string,JSONPath=`.spec.family`
// +kubebuilder:printcolumn:name="Chain ID",type=integer,JSONPath=`.spec.chainID`,priority=1
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Lag",type=string,JSONPath=`.status.lag`
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Chain struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec ChainSpec `json:"spec"`
	// +kubebuilder:default:={"observedGeneration":-1}
	// +optional
	Status ChainStatus `json:"status,omitzero"`
}

// ChainList is a list of chains.
//
// +kubebuilder:object:root=true
type ChainList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Chain `json:"items"`
}

// ChainSpec is the declaration of one chain. The platform team writes it.
//
// +kubebuilder:validation:XValidation:rule="self.family != 'EVM' || has(self.chainID)",message="an EVM chain needs chainID: write the number that its nodes answer to eth_chainId, 8453 for Base",fieldPath=".chainID"
// +kubebuilder:validation:XValidation:rule="self.family == 'EVM' || !has(self.chainID)",message="chainID is for family EVM alone: leave it out",fieldPath=".chainID"
// +kubebuilder:validation:XValidation:rule="self.family == oldSelf.family",message="family can't change: delete this Chain and declare another with a new id",fieldPath=".family"
// +kubebuilder:validation:XValidation:rule="!has(self.chainID) || !has(oldSelf.chainID) || self.chainID == oldSelf.chainID",message="chainID can't change: delete this Chain and declare another with a new id",fieldPath=".chainID"
// +kubebuilder:validation:XValidation:rule="(self.family == 'EVM') == self.nativeAsset.wrapped.startsWith('0x')",message="nativeAsset.wrapped must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".nativeAsset.wrapped"
// +kubebuilder:validation:XValidation:rule="self.quoteAssets.all(q, (self.family == 'EVM') == q.address.startsWith('0x'))",message="every quoteAssets[].address must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".quoteAssets"
// +kubebuilder:validation:XValidation:rule="!has(self.majors) || self.majors.all(m, (self.family == 'EVM') == m.address.startsWith('0x'))",message="every majors[].address must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".majors"
// +kubebuilder:validation:XValidation:rule="!has(self.trust) || !has(self.trust.lockers) || self.trust.lockers.all(a, (self.family == 'EVM') == a.startsWith('0x'))",message="every trust.lockers[] must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".trust.lockers"
// +kubebuilder:validation:XValidation:rule="!has(self.platformFee) || self.platformFee.recipients.all(a, (self.family == 'EVM') == a.startsWith('0x'))",message="every platformFee.recipients[] must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".platformFee.recipients"
// +kubebuilder:validation:XValidation:rule="!has(self.platformFee) || !has(self.platformFee.routers) || self.platformFee.routers.all(a, (self.family == 'EVM') == a.startsWith('0x'))",message="every platformFee.routers[] must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".platformFee.routers"
// +kubebuilder:validation:XValidation:rule="!has(self.exchanges) || self.exchanges.all(x, (self.family == 'EVM') == x.factory.startsWith('0x'))",message="every exchanges[].factory must be an address of the chain's family: 0x and 40 hexadecimal digits on EVM, base58 on Solana",fieldPath=".exchanges"
// +kubebuilder:validation:XValidation:rule="!has(self.exchanges) || self.exchanges.all(x, (self.family == 'Solana') == (x.protocol in ['PumpSwap', 'RaydiumAMMv4', 'RaydiumCPMM', 'MeteoraDAMMv2']))",message="every exchanges[].protocol must be of the chain's family: PumpSwap, RaydiumAMMv4, RaydiumCPMM and MeteoraDAMMv2 are of Solana, the others of EVM",fieldPath=".exchanges"
// +kubebuilder:validation:XValidation:rule="self.family == 'Solana' || !has(self.genesisHash)",message="genesisHash is for family Solana alone: leave it out",fieldPath=".genesisHash"
// +kubebuilder:validation:XValidation:rule="has(self.genesisHash) == has(oldSelf.genesisHash) && (!has(self.genesisHash) || self.genesisHash == oldSelf.genesisHash)",message="genesisHash can't change: delete this Chain and declare another with a new id",fieldPath=".genesisHash"
// +kubebuilder:validation:XValidation:rule="self.family == 'Solana' || !has(self.rpc) || !has(self.rpc.endpoints) || self.rpc.endpoints.all(e, !has(e.protocol) || e.protocol == 'JSONRPC')",message="endpoints of protocol YellowstoneGRPC are for family Solana alone: leave protocol out",fieldPath=".rpc.endpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.rpc) || !has(self.rpc.endpoints) || size(self.rpc.endpoints) == 0 || self.rpc.endpoints.exists(e, !has(e.protocol) || e.protocol == 'JSONRPC')",message="endpoints of protocol YellowstoneGRPC can't be asked anything: add one of protocol JSONRPC",fieldPath=".rpc.endpoints"
// +kubebuilder:validation:XValidation:rule="(has(self.suspend) && self.suspend) || (has(self.rpc) && has(self.rpc.endpoints) && size(self.rpc.endpoints) > 0)",message="a running chain needs a node: add one under rpc.endpoints, or write suspend: true",fieldPath=".rpc.endpoints"
type ChainSpec struct {
	// ID is the name of the chain in the public API and in the database: 1 to 32 characters of a-z, 0-9 and -, with a letter or digit at both ends
	// (for example base). It can't be "all", and it can't change.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="id can't change: delete this Chain and declare another"
	// +kubebuilder:validation:XValidation:rule="self != 'all'",message="all means every chain in the public API: choose another id"
	ID string `json:"id"`

	// Label is the name that people read, 1 to 48 characters (for example BNB Chain).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=48
	// +kubebuilder:validation:Pattern=`^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^\s|\s$|[\x00-\x1f\x7f]')`,message="a label has no space at either end and no control character"
	Label string `json:"label"`

	// Family is the kind of chain: EVM (chains that run Ethereum's virtual machine) or Solana. It can't change.
	Family Family `json:"family"`

	// ChainID is the number that the nodes of an EVM chain answer to eth_chainId, 1 to 9007199254740991 (for example 8453 for Base). Family EVM requires it;
	// on family Solana it must be left out. It can't change.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	// +optional
	ChainID *int64 `json:"chainID,omitempty"`

	// GenesisHash is the hash that the nodes of a Solana chain answer to getGenesisHash: base58, 32 to 44 characters. On family EVM it must be left out. It
	// can't change, and can't be added or removed later. Default: 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d (Solana's mainnet).
	//
	// +kubebuilder:validation:MinLength=32
	// +kubebuilder:validation:MaxLength=44
	// +kubebuilder:validation:Pattern=`^[1-9A-HJ-NP-Za-km-z]{32,44}$`
	// +optional
	GenesisHash string `json:"genesisHash,omitempty"`

	// MinTradeUSD is the value of the smallest trade that the platform offers on this chain, in USD, 0 to 1000000 (for example "2.0"). A member counts as
	// being in a token only after a purchase of at least this value.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) <= 1000000.0",message="minTradeUSD must be at most 1000000"
	MinTradeUSD Decimal `json:"minTradeUSD"`

	// BlockTime is the usual time between two blocks of the chain, 50ms to 5m (for example 250ms). Where the node doesn't announce new blocks by itself, the
	// indexer asks for them at about this pace, but at least once and at most 5 times a second.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('50ms') && duration(self) <= duration('5m')",message="blockTime must be from 50ms to 5m"
	BlockTime metav1.Duration `json:"blockTime"`

	// NativeAsset is the chain's own coin (for example ETH or SOL).
	NativeAsset NativeAsset `json:"nativeAsset"`

	// QuoteAssets are the assets in which tokens are priced, 1 to 16, in order of preference. A pool is followed only if one of its two assets is in this
	// list. Assets with a peg come first, because the others are priced in them.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.address.startsWith('0x') ? b.address.lowerAscii() == a.address.lowerAscii() : b.address == a.address))",message="two quote assets have one address: keep one of them"
	// +kubebuilder:validation:XValidation:rule="self.map(q, has(q.peg) ? 0 : 1).isSorted()",message="a quote asset with a peg stands after one that has none: list pegged assets first, the others are priced in them"
	// +listType=map
	// +listMapKey=symbol
	QuoteAssets []QuoteAsset `json:"quoteAssets"`

	// Majors are the large tokens that the list of majors in the public API shows, up to 64. Their holders are counted where tracking.holders is Declared or
	// All. Left out: the list shows no token of this chain.
	//
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.address.startsWith('0x') ? b.address.lowerAscii() == a.address.lowerAscii() : b.address == a.address))",message="two majors have one address: keep one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.asset.lowerAscii() == a.asset.lowerAscii()))",message="two majors have one asset code (upper or lower case doesn't matter): rename one of them"
	// +listType=map
	// +listMapKey=asset
	// +optional
	Majors []Major `json:"majors,omitempty"`

	// Exchanges are the exchanges whose pools count on this chain, up to 32. Pools of any other factory are ignored. Left out: no exchange's pools count.
	//
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.factory.startsWith('0x') ? b.factory.lowerAscii() == a.factory.lowerAscii() : b.factory == a.factory))",message="two exchanges have one factory: keep one of them"
	// +listType=map
	// +listMapKey=name
	// +optional
	Exchanges []Exchange `json:"exchanges,omitempty"`

	// RPC lists the chain's nodes. Left out: the chain must be suspended.
	//
	// +optional
	RPC RPC `json:"rpc,omitzero"`

	// Start is the place from which on the chain is read. It counts when the chain is indexed for the first time, and again for each later generation of the
	// index (indexer.generation); with {now: true} a later generation begins at the block at which the served index began. Default: {now: true}.
	//
	// +kubebuilder:default={now: true}
	// +optional
	Start *Start `json:"start,omitempty"`

	// Tracking says which data of the chain is kept and counted. Left out: each of its fields has its default.
	//
	// +kubebuilder:default={}
	// +optional
	Tracking Tracking `json:"tracking,omitzero"`

	// Retention says how long trades and 1-minute candles are kept. Left out: both are kept for good.
	//
	// +optional
	Retention Retention `json:"retention,omitzero"`

	// ReorgBlocks is the depth of the deepest reorganisation that can be undone, in blocks, 1 to 10000. A deeper one stops the chain's indexer until a
	// person acts. A larger number takes more rows in the database. Default: 64.
	//
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	ReorgBlocks *int64 `json:"reorgBlocks,omitempty"`

	// FinalityDepth is the number of blocks below the head from which on a block counts as final, 1 to 1000000, where the node of an EVM chain knows no
	// finalized tag. A rollup needs hundreds or thousands of blocks. It has no effect on family Solana. Default: 64.
	//
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	FinalityDepth *int64 `json:"finalityDepth,omitempty"`

	// Trust declares facts that the trust checks of tokens need and can't read from the chain. Left out: no contract counts as a locker.
	//
	// +optional
	Trust Trust `json:"trust,omitzero"`

	// PlatformFee declares the accounts and contracts by which the chain shows the platform's fee. A new generation of the index uses the declaration for
	// all of the chain's past: add new recipients, and keep former ones in the list. Left out: no fee counts in the members' profit.
	//
	// +optional
	PlatformFee *PlatformFee `json:"platformFee,omitempty"`

	// FetchMetadata says whether the indexer fetches the descriptions and pictures of tokens. It fetches them from public addresses alone. With
	// false they stay unknown. Default: true.
	//
	// +kubebuilder:default=true
	// +optional
	FetchMetadata *bool `json:"fetchMetadata,omitempty"`

	// Order is the chain's place in lists, 0 to 10000: a lower number comes first. Chains with the same number are listed by age, then by name.
	// Default: 1000.
	//
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Order *int32 `json:"order,omitempty"`

	// Indexer configures the chain's indexer: its index, its allowed delay, its CPU and memory, and the nodes of the cluster that it runs on. Left out: each
	// of its fields has its default.
	//
	// +optional
	Indexer Indexer `json:"indexer,omitzero"`

	// Suspend stops the chain's indexer. The chain stays in the public API, with the data that was indexed before. Default: false.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// Family is a kind of chain: EVM (chains that run Ethereum's virtual machine) or Solana.
//
// +kubebuilder:validation:Enum=EVM;Solana
type Family string

// The families.
const (
	FamilyEVM    Family = "EVM"
	FamilySolana Family = "Solana"
)

// Decimal is a number of 0 or more, written in quotes: up to 10 digits, and up to 9 more after a point (for example "2.0").
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]{0,9})(\.[0-9]{1,9})?$`
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[0-9]+(\.[0-9]+)?$')`,message=`write a number in quotes that has neither sign nor exponent, such as "2.0"`
type Decimal string

// Address is the address of a contract or account. On an EVM chain: 0x and 40 hexadecimal digits, all in lower case, all in upper case, or with a
// correct EIP-55 checksum (for example 0x4200000000000000000000000000000000000006). On Solana: a base58 key of 32 bytes (for example
// So11111111111111111111111111111111111111112).
//
// +kubebuilder:validation:MinLength=32
// +kubebuilder:validation:MaxLength=44
// +kubebuilder:validation:Pattern=`^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`
// +kubebuilder:validation:XValidation:rule="self != '0x0000000000000000000000000000000000000000'",message="the zero address is no contract: write the wrapped coin's address for the native coin, and leave out what has none"
type Address string

// EVMAddress is the address of a contract on an EVM chain: 0x and 40 hexadecimal digits, all in lower case, all in upper case, or with a correct EIP-55
// checksum (for example 0x4200000000000000000000000000000000000006).
//
// +kubebuilder:validation:MinLength=42
// +kubebuilder:validation:MaxLength=42
// +kubebuilder:validation:Pattern=`^0x[0-9a-fA-F]{40}$`
// +kubebuilder:validation:XValidation:rule="self != '0x0000000000000000000000000000000000000000'",message="the zero address is no contract: write the deployed one, and leave out what has none"
type EVMAddress string

// Symbol is the short code of an asset: 1 to 16 letters, digits, dots, underscores and hyphens (for example WETH).
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
type Symbol string

// NativeAsset is the chain's own coin.
type NativeAsset struct {
	// Symbol is the short code of the coin itself, 1 to 16 characters (for example ETH).
	Symbol Symbol `json:"symbol"`
	// Wrapped is the address of the contract (EVM) or mint (Solana) that stands for the coin in pools (for example
	// 0x4200000000000000000000000000000000000006, which is WETH on Base).
	Wrapped Address `json:"wrapped"`
}

// QuoteAsset is an asset in which tokens are priced.
type QuoteAsset struct {
	// Symbol is the short code of the token itself, 1 to 16 characters (for example WETH or USDC). No two quote assets have the same one.
	Symbol Symbol `json:"symbol"`
	// Address is the address of the token's contract (EVM) or mint (Solana). No two quote assets have the same one.
	Address Address `json:"address"`
	// Peg declares the asset's price in USD. Left out: the asset is priced by its own pools.
	//
	// +optional
	Peg *Peg `json:"peg,omitempty"`
}

// Peg is a declared price, with the limit up to which it is used.
type Peg struct {
	// USD is the declared price of one whole token, in USD, above 0 and up to 1000000 (for example "1").
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 1000000.0",message="peg.usd must be above 0 and at most 1000000; leave peg out for an asset without one"
	USD Decimal `json:"usd"`
	// MaxDeviationPct is the largest difference between the peg and the price in the asset's own pools at which the peg is used, in percent of the peg,
	// above 0 and up to 50 (for example "2"). At a larger difference the price in the pools is used instead.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 50.0",message="peg.maxDeviationPct must be above 0 and at most 50"
	MaxDeviationPct Decimal `json:"maxDeviationPct"`
}

// Major is a large token. Lists show it under the code of the asset that it stands for.
type Major struct {
	// Asset is the code under which lists show the token, 1 to 16 characters (for example ETH for WETH). Upper or lower case doesn't matter. No two majors
	// have the same one.
	Asset Symbol `json:"asset"`
	// Address is the address of the token's contract (EVM) or mint (Solana). No two majors have the same one.
	Address Address `json:"address"`
}

// Exchange is one deployment of a pool protocol on the chain.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || size(self.hooks) == 0 || self.protocol == 'UniswapV4'",message="hooks are for protocol UniswapV4 alone: leave them out",fieldPath=".hooks"
// +kubebuilder:validation:XValidation:rule="!has(self.positionManager) || self.protocol == 'UniswapV4'",message="positionManager is for protocol UniswapV4 alone: leave it out",fieldPath=".positionManager"
// +kubebuilder:validation:XValidation:rule="!has(self.feePips) || self.protocol == 'UniswapV2' || self.protocol == 'Solidly'",message="feePips is for protocols UniswapV2 and Solidly alone, the others' pools say their fee: leave it out",fieldPath=".feePips"
type Exchange struct {
	// Name is the name of the exchange within the chain: 1 to 32 characters of a-z, 0-9 and -, with a letter or digit at both ends (for example uniswap-v3).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Protocol says how the exchange's pools work. A copy of an exchange has the protocol of its original.
	// On EVM chains: UniswapV2 (Uniswap V2 and its copies, such as PancakeSwap V2), UniswapV3 (Uniswap V3 and its copies, but not PancakeSwap V3), UniswapV4
	// (Uniswap V4, all of whose pools are in one PoolManager), PancakeSwapV3 (PancakeSwap V3, whose Swap event differs from Uniswap V3's), Solidly (the
	// older pools of Velodrome V2 and Aerodrome), Slipstream (the pools with concentrated liquidity of Velodrome and Aerodrome).
	// On Solana: PumpSwap (pump.fun's exchange), RaydiumAMMv4 (Raydium's AMM v4), RaydiumCPMM (Raydium's constant-product pools, CPMM), MeteoraDAMMv2
	// (Meteora's DAMM v2).
	Protocol Protocol `json:"protocol"`
	// Factory is the address of the contract that announces the exchange's pools: with UniswapV4 the PoolManager, on Solana the program. No two exchanges
	// have the same one.
	Factory Address `json:"factory"`
	// Hooks are the hook contracts whose pools may price a token, up to 64, for protocol UniswapV4 alone. Pools without a hook always may, and so may a pool
	// that the launch or the graduation of a token at a declared venue names. Left out: no other pool with a hook prices a token.
	//
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a hook is listed twice: keep one of them"
	// +listType=set
	// +optional
	Hooks []EVMAddress `json:"hooks,omitempty"`
	// PositionManager is the address of Uniswap's PositionManager, for protocol UniswapV4 alone. The indexer asks it for the tokens and the fee of a pool
	// that is older than the index. For a pool that it doesn't know the indexer searches past blocks for the pool's creation, with up to 200 requests.
	// Left out: the indexer searches for every older pool but those without a hook that have a usual fee.
	//
	// +optional
	PositionManager *EVMAddress `json:"positionManager,omitempty"`
	// FeePips is the fee of the exchange's pools in hundredths of a basis point, 1 to 100000 (for example 2500, which is 0.25 %). It is for the protocols
	// UniswapV2 and Solidly alone. Default: 3000 for UniswapV2, unknown for Solidly.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	FeePips *int32 `json:"feePips,omitempty"`
}

// Protocol is the kind of an exchange's pools.
//
// +kubebuilder:validation:Enum=UniswapV2;UniswapV3;UniswapV4;PancakeSwapV3;Solidly;Slipstream;PumpSwap;RaydiumAMMv4;RaydiumCPMM;MeteoraDAMMv2
type Protocol string

// Start is either a block or the chain's head. Exactly one of block and now is written.
//
// +kubebuilder:validation:XValidation:rule="has(self.block) != (has(self.now) && self.now)",message="write either {block: N} or {now: true}, exactly one of the two"
type Start struct {
	// Block is the number of the first block that is read, 0 to 9007199254740991; 0 reads the whole chain. On Solana it is the number of a slot. Left out:
	// now must be true.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	// +optional
	Block *int64 `json:"block,omitempty"`
	// Now says that the chain is read from the head on, as the head is when the chain is indexed for the first time. Default: false where block is written.
	//
	// +optional
	Now bool `json:"now,omitempty"`
}

// Retention is the time for which trades and 1-minute candles are kept, by the time of the chain's blocks. The records of members' wallets are kept in
// any case.
type Retention struct {
	// Trades is the time for which trades are kept, at least 24h (for example 720h). Left out: trades are kept for good.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retention.trades must be at least 24h; leave it out to keep trades for good"
	// +optional
	Trades *metav1.Duration `json:"trades,omitempty"`
	// MinuteCandles is the time for which 1-minute candles are kept, at least 24h (for example 2160h). Candles of a longer time are always kept for good.
	// Left out: 1-minute candles are kept for good, too.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retention.minuteCandles must be at least 24h; leave it out to keep them for good"
	// +optional
	MinuteCandles *metav1.Duration `json:"minuteCandles,omitempty"`
}

// Trust declares facts that the trust checks of tokens need and can't read from the chain.
type Trust struct {
	// Lockers are the contracts that hold liquidity for good or for a stated time, up to 32. A pool's shares that a locker holds count as
	// locked (trust check lp_burned_locked), and a locker isn't one of the ten largest holders (top10_share). Take a contract out of the list
	// once it locks nothing any more. Left out: there are no lockers.
	//
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.startsWith('0x') ? b.lowerAscii() == a.lowerAscii() : b == a))",message="a locker is listed twice: keep one of them"
	// +listType=set
	// +optional
	Lockers []Address `json:"lockers,omitempty"`
}

// PlatformFee declares the accounts and contracts by which a chain shows the platform's fee: the part of a member's transaction that reached a
// recipient.
//
// +kubebuilder:validation:XValidation:rule="!has(self.routers) || self.routers.all(a, !self.recipients.exists(b, a.startsWith('0x') ? b.lowerAscii() == a.lowerAscii() : b == a))",message="a router is a recipient, too: what traders send to it would all be fees; have it send fees to another account"
type PlatformFee struct {
	// Recipients are the accounts that receive the fee, 1 to 16. A payment of a member to one of them is a fee if it is in a quote asset or in a token that
	// the member trades in the same transaction.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.startsWith('0x') ? b.lowerAscii() == a.lowerAscii() : b == a))",message="a recipient is listed twice: keep one of them"
	// +listType=set
	Recipients []Address `json:"recipients"`

	// Routers are the platform's contracts whose log FeePaid(address payer, address recipient, address asset, uint256 amount) is trusted, up to 16. The log
	// says whose fee the router sent; for a fee in the chain's own coin (asset 0) it is the only evidence. A router can't be a recipient. Routers have no
	// effect on family Solana. Left out: there are none.
	//
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.startsWith('0x') ? b.lowerAscii() == a.lowerAscii() : b == a))",message="a router is listed twice: keep one of them"
	// +listType=set
	// +optional
	Routers []Address `json:"routers,omitempty"`

	// Bps is the fee of a buy or a sell in hundredths of a percent, 1 to 1000 (for example 80, which is 0.8 %). Fees of another share count, too, and are
	// marked as different. Default: 80.
	//
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Bps *int32 `json:"bps,omitempty"`
}
