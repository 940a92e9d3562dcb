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

// Chain declares one chain: what it is called, where its nodes are, which of its assets and exchanges are believed, and
// how much of it is kept. One indexer runs per Chain that isn't suspended.
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

// ChainSpec is what a platform team says about a chain.
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
	// ID names the chain in the public API ("base") and in the database. It can't change.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="id can't change: delete this Chain and declare another"
	// +kubebuilder:validation:XValidation:rule="self != 'all'",message="all means every chain in the public API: choose another id"
	ID string `json:"id"`

	// Label is the name that people read ("BNB Chain").
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=48
	// +kubebuilder:validation:Pattern=`^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^\s|\s$|[\x00-\x1f\x7f]')`,message="a label has no space at either end and no control character"
	Label string `json:"label"`

	// Family is the kind of chain; it can't change.
	Family Family `json:"family"`

	// ChainID is what an EVM chain's nodes answer to eth_chainId; left out on other families. It can't change.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	// +optional
	ChainID *int64 `json:"chainID,omitempty"`

	// GenesisHash is what a Solana chain's nodes answer to getGenesisHash. Left out it is the mainnet's, and left out it is on other families. It can't
	// change.
	//
	// +kubebuilder:validation:MinLength=32
	// +kubebuilder:validation:MaxLength=44
	// +kubebuilder:validation:Pattern=`^[1-9A-HJ-NP-Za-km-z]{32,44}$`
	// +optional
	GenesisHash string `json:"genesisHash,omitempty"`

	// MinTradeUSD is the smallest trade that the platform offers on this chain, in USD, up to 1000000.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) <= 1000000.0",message="minTradeUSD must be at most 1000000"
	MinTradeUSD Decimal `json:"minTradeUSD"`

	// BlockTime is the usual time between blocks, 50ms to 5m: the pace at which the head is read.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('50ms') && duration(self) <= duration('5m')",message="blockTime must be from 50ms to 5m"
	BlockTime metav1.Duration `json:"blockTime"`

	NativeAsset NativeAsset `json:"nativeAsset"`

	// QuoteAssets are the assets against which tokens are priced, in order of preference. A pool is followed only if one
	// of its sides is among them.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.address.lowerAscii() == a.address.lowerAscii()))",message="two quote assets have one address: keep one of them"
	// +kubebuilder:validation:XValidation:rule="self.map(q, has(q.peg) ? 0 : 1).isSorted()",message="a quote asset with a peg stands after one that has none: list pegged assets first, the others are priced in them"
	// +listType=map
	// +listMapKey=symbol
	QuoteAssets []QuoteAsset `json:"quoteAssets"`

	// Majors are the large tokens that the majors list shows; their holders are counted.
	//
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.address.lowerAscii() == a.address.lowerAscii()))",message="two majors have one address: keep one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.asset.lowerAscii() == a.asset.lowerAscii()))",message="two majors have one asset code (upper or lower case doesn't matter): rename one of them"
	// +listType=map
	// +listMapKey=asset
	// +optional
	Majors []Major `json:"majors,omitempty"`

	// Exchanges are the deployments whose pools are believed. Pools of any other factory are ignored.
	//
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.factory.lowerAscii() == a.factory.lowerAscii()))",message="two exchanges have one factory: keep one of them"
	// +listType=map
	// +listMapKey=name
	// +optional
	Exchanges []Exchange `json:"exchanges,omitempty"`

	// RPC says where the chain's nodes are. Only a suspended chain can do without.
	//
	// +optional
	RPC RPC `json:"rpc,omitzero"`

	// Start says from where on the chain is read; it counts when the chain is indexed for the first time. Left out, it
	// is the head as it is then.
	//
	// +kubebuilder:default={now: true}
	// +optional
	Start *Start `json:"start,omitempty"`

	// Tracking bounds what is kept.
	//
	// +kubebuilder:default={}
	// +optional
	Tracking Tracking `json:"tracking,omitzero"`

	// Retention is how long rows are kept.
	//
	// +optional
	Retention Retention `json:"retention,omitzero"`

	// ReorgBlocks is the deepest reorganisation that can be undone, in blocks. Deeper ones stop the chain's indexer until
	// a human acts. Every block of it costs rows.
	//
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	ReorgBlocks *int64 `json:"reorgBlocks,omitempty"`

	// FinalityDepth is how many blocks below the head a block is called final where the node knows no finalized tag. On
	// rollups that is thousands of blocks.
	//
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	FinalityDepth *int64 `json:"finalityDepth,omitempty"`

	// Trust is what the chain's trust checks can't read from the chain.
	//
	// +optional
	Trust Trust `json:"trust,omitzero"`

	// PlatformFee says how the chain shows the platform's fee. Left out, no fee counts in the members' profit. An index that is made anew goes by it for all of the
	// chain's past: add recipients, and leave former ones in.
	//
	// +optional
	PlatformFee *PlatformFee `json:"platformFee,omitempty"`

	// FetchMetadata says whether the indexer fetches launched tokens' descriptions and pictures, from public addresses alone.
	// Without it they stay unknown.
	//
	// +kubebuilder:default=true
	// +optional
	FetchMetadata *bool `json:"fetchMetadata,omitempty"`

	// Order is the chain's place in lists: lower comes first. Chains of one order are listed by age, then by name.
	//
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Order *int32 `json:"order,omitempty"`

	// Indexer is what the chain's indexer gets of the cluster, and what is asked of it.
	//
	// +optional
	Indexer Indexer `json:"indexer,omitzero"`

	// Suspend stops the chain's indexer. The chain stays in the public API, with what was indexed before.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// Family is a kind of chain.
//
// +kubebuilder:validation:Enum=EVM;Solana
type Family string

// The families.
const (
	FamilyEVM    Family = "EVM"
	FamilySolana Family = "Solana"
)

// Decimal is a number that isn't negative, written as text: up to 10 digits, a point and up to 9 more.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]{0,9})(\.[0-9]{1,9})?$`
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[0-9]+(\.[0-9]+)?$')`,message=`write a number in quotes that has neither sign nor exponent, such as "2.0"`
type Decimal string

// Address is a contract: 0x and 40 hexadecimal digits on an EVM chain, in one case or with a right EIP-55 checksum; a
// base58 key of 32 bytes on Solana.
//
// +kubebuilder:validation:MinLength=32
// +kubebuilder:validation:MaxLength=44
// +kubebuilder:validation:Pattern=`^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`
// +kubebuilder:validation:XValidation:rule="self != '0x0000000000000000000000000000000000000000'",message="the zero address is no contract: write the wrapped coin's address for the native coin, and leave out what has none"
type Address string

// EVMAddress is a contract on an EVM chain: 0x and 40 hexadecimal digits, in one case or with a right EIP-55 checksum.
//
// +kubebuilder:validation:MinLength=42
// +kubebuilder:validation:MaxLength=42
// +kubebuilder:validation:Pattern=`^0x[0-9a-fA-F]{40}$`
// +kubebuilder:validation:XValidation:rule="self != '0x0000000000000000000000000000000000000000'",message="the zero address is no contract: write the deployed one, and leave out what has none"
type EVMAddress string

// Symbol is a short code of an asset.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
type Symbol string

// NativeAsset is the chain's own coin.
type NativeAsset struct {
	// Symbol of the coin itself ("ETH").
	Symbol Symbol `json:"symbol"`
	// Wrapped is the contract or mint that stands for the coin in pools (WETH).
	Wrapped Address `json:"wrapped"`
}

// QuoteAsset is an asset against which tokens are priced.
type QuoteAsset struct {
	// Symbol of the token itself ("WETH", "USDC").
	Symbol  Symbol  `json:"symbol"`
	Address Address `json:"address"`
	// Peg declares the asset's price. Without it the asset is priced by its own pools.
	//
	// +optional
	Peg *Peg `json:"peg,omitempty"`
}

// Peg is a declared price with the bound beyond which it isn't believed.
type Peg struct {
	// USD is the price of one whole token, above 0 and up to 1000000.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 1000000.0",message="peg.usd must be above 0 and at most 1000000; leave peg out for an asset without one"
	USD Decimal `json:"usd"`
	// MaxDeviationPct is how far, in percent, the asset's own pools may be from the peg before they are believed
	// instead: above 0 and up to 50.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 50.0",message="peg.maxDeviationPct must be above 0 and at most 50"
	MaxDeviationPct Decimal `json:"maxDeviationPct"`
}

// Major is a large token, shown under the code of the asset that it stands for.
type Major struct {
	// Asset is the code ("ETH" for WETH); upper or lower case doesn't matter.
	Asset   Symbol  `json:"asset"`
	Address Address `json:"address"`
}

// Exchange is one deployment of a pool protocol.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || size(self.hooks) == 0 || self.protocol == 'UniswapV4'",message="hooks are for protocol UniswapV4 alone: leave them out",fieldPath=".hooks"
// +kubebuilder:validation:XValidation:rule="!has(self.positionManager) || self.protocol == 'UniswapV4'",message="positionManager is for protocol UniswapV4 alone: leave it out",fieldPath=".positionManager"
// +kubebuilder:validation:XValidation:rule="!has(self.feePips) || self.protocol == 'UniswapV2' || self.protocol == 'Solidly'",message="feePips is for protocols UniswapV2 and Solidly alone, the others' pools say their fee: leave it out",fieldPath=".feePips"
type Exchange struct {
	// Name identifies the exchange within the chain ("uniswap-v3").
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Protocol says how its pools work. A fork has its original's: PancakeSwap V2 is UniswapV2. PancakeSwap V3 differs
	// from UniswapV3. Velodrome's and Aerodrome's older pools are Solidly, those with concentrated liquidity Slipstream. PumpSwap, RaydiumAMMv4,
	// RaydiumCPMM and MeteoraDAMMv2 are of Solana.
	Protocol Protocol `json:"protocol"`
	// Factory is the contract that announces pools; on UniswapV4 the PoolManager, on Solana the program.
	Factory Address `json:"factory"`
	// Hooks are the UniswapV4 hook contracts whose pools may price a token. Pools without a hook always may.
	//
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a hook is listed twice: keep one of them"
	// +listType=set
	// +optional
	Hooks []EVMAddress `json:"hooks,omitempty"`
	// PositionManager is Uniswap's PositionManager on UniswapV4. It tells what a pool is that is older than the index, whose creation is
	// looked for in the past otherwise, as far as 200 requests go.
	//
	// +optional
	PositionManager *EVMAddress `json:"positionManager,omitempty"`
	// FeePips is the fee of UniswapV2 and Solidly pools, in hundredths of a basis point: 2500 is 0.25 %. Left out it is
	// 3000 for UniswapV2.
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

// RPC is the chain's nodes.
type RPC struct {
	// Endpoints share the requests by weight; one that fails is left aside for a while.
	//
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Endpoints []Endpoint `json:"endpoints,omitempty"`
}

// Endpoint is a node or a provider.
//
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !self.url.matches('^https?://[^/?#]*@')",fieldPath=".url",message="url has a user or password, which everybody sees who may read the resource: put it into a Secret and write urlFrom"
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.urlFrom)",message="write either url or urlFrom.secretKeyRef, exactly one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.computeUnits) || has(self.computeUnitsPerDay)",fieldPath=".computeUnits",message="computeUnits says what calls count of computeUnitsPerDay: write that too, or leave computeUnits out"
type Endpoint struct {
	// URL of the JSON-RPC service, http or https. Whoever may read the Chain, or the ConfigMap that is made of it, sees it: use
	// urlFrom for one that contains a key.
	//
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/]+\S*$`
	// +optional
	URL string `json:"url,omitempty"`
	// URLFrom takes the URL from a Secret in the Chain's namespace; a change is noticed without a restart.
	//
	// +optional
	URLFrom *URLSource `json:"urlFrom,omitempty"`
	// Protocol is what the endpoint speaks: JSONRPC, or YellowstoneGRPC for one of family Solana that sends blocks by itself as soon as they are there. Such a one saves
	// asking for each block, and stands beside one of JSONRPC, of which all else is asked. Its URL is that of the gRPC service, http or https; what follows the
	// host is sent as the token x-token.
	//
	// +kubebuilder:default=JSONRPC
	// +optional
	Protocol EndpointProtocol `json:"protocol,omitempty"`
	// Weight is the share of requests that this endpoint gets.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// RequestsPerSecond is how many calls the node takes in a second; each call of a batch counts. Left out it is learnt from the node's refusals.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// RequestsPerDay is a hard cap, counted in calls per UTC day. Left out there is none.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000000
	// +optional
	RequestsPerDay *int64 `json:"requestsPerDay,omitempty"`
	// ComputeUnitsPerDay is a hard cap, counted in the provider's compute units (some call them credits) per UTC day; each call of a batch
	// counts. Left out there is none.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	ComputeUnitsPerDay *int64 `json:"computeUnitsPerDay,omitempty"`
	// ComputeUnits is what a call of each method counts. What is left out is as in docs/costs.md.
	//
	// +optional
	ComputeUnits *ComputeUnits `json:"computeUnits,omitempty"`
}

// ComputeUnits is what calls count of a plan, by their method.
type ComputeUnits struct {
	// EthCall is what an eth_call counts, 26 where it is left out.
	//
	// +optional
	EthCall *Units `json:"eth_call,omitempty"`
	// EthGetLogs is what an eth_getLogs counts, 60 where it is left out.
	//
	// +optional
	EthGetLogs *Units `json:"eth_getLogs,omitempty"`
	// EthGetBlockByNumber is what an eth_getBlockByNumber counts; where it is left out, as much as other.
	//
	// +optional
	EthGetBlockByNumber *Units `json:"eth_getBlockByNumber,omitempty"`
	// EthGetBlockReceipts is what an eth_getBlockReceipts counts; where it is left out, as much as other.
	//
	// +optional
	EthGetBlockReceipts *Units `json:"eth_getBlockReceipts,omitempty"`
	// Other is what a call of any other method counts, 20 where it is left out.
	//
	// +optional
	Other *Units `json:"other,omitempty"`
}

// Units is what one call counts.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=100000
type Units int64

// EndpointProtocol is what an endpoint speaks.
//
// +kubebuilder:validation:Enum=JSONRPC;YellowstoneGRPC
type EndpointProtocol string

// The protocols of endpoints.
const (
	JSONRPC         EndpointProtocol = "JSONRPC"
	YellowstoneGRPC EndpointProtocol = "YellowstoneGRPC"
)

// URLSource is where a URL is kept.
type URLSource struct {
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// SecretKeyRef is one key of a Secret in the Chain's namespace.
type SecretKeyRef struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-_a-zA-Z0-9]([-._a-zA-Z0-9]*)$`
	Key string `json:"key"`
}

// Start is a block or the head.
//
// +kubebuilder:validation:XValidation:rule="has(self.block) != (has(self.now) && self.now)",message="write either {block: N} or {now: true}, exactly one of the two"
type Start struct {
	// Block is the first block that is read; 0 reads the whole chain.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	// +optional
	Block *int64 `json:"block,omitempty"`
	// Now starts at the head as it is when the chain is indexed for the first time.
	//
	// +optional
	Now bool `json:"now,omitempty"`
}

// Retention is how long rows are kept, in the chain's own time; what is left out is kept for good. Members' trades are
// always kept.
type Retention struct {
	// Trades, at least 24h.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retention.trades must be at least 24h; leave it out to keep trades for good"
	// +optional
	Trades *metav1.Duration `json:"trades,omitempty"`
	// MinuteCandles, at least 24h. Longer candles are kept for good.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retention.minuteCandles must be at least 24h; leave it out to keep them for good"
	// +optional
	MinuteCandles *metav1.Duration `json:"minuteCandles,omitempty"`
}

// Trust is what a chain's trust checks can't read from the chain.
type Trust struct {
	// Lockers are contracts that hold liquidity for good or for a stated time. A pool's shares that they have count as locked
	// (lp_burned_locked), and a token's holders are counted without them. Left out there are none: a contract that no longer
	// locks anything must not stand here.
	//
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a locker is listed twice: keep one of them"
	// +listType=set
	// +optional
	Lockers []Address `json:"lockers,omitempty"`
}

// PlatformFee says by which accounts and contracts a chain shows the platform's fee: what of a member's transaction reached a recipient.
//
// +kubebuilder:validation:XValidation:rule="!has(self.routers) || self.routers.all(a, !self.recipients.exists(b, b.lowerAscii() == a.lowerAscii()))",message="a router is a recipient, too: what traders send to it would all be fees; have it send fees to another account"
type PlatformFee struct {
	// Recipients are the accounts that the fee goes to. What members send them in the tokens that they trade, or in quote assets, is fee.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a recipient is listed twice: keep one of them"
	// +listType=set
	Recipients []Address `json:"recipients"`

	// Routers are the platform's contracts whose log FeePaid(address payer, address recipient, address asset, uint256 amount) is believed: it says whose
	// fee the router sent, and tells of the chain's own coin (asset 0), of which no other log does. Left out there are none.
	//
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a router is listed twice: keep one of them"
	// +listType=set
	// +optional
	Routers []Address `json:"routers,omitempty"`

	// Bps is the fee of a buy or a sell in hundredths of a percent. Fees that are another share count all the same, and are marked.
	//
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Bps *int32 `json:"bps,omitempty"`
}
