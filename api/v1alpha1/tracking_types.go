package v1alpha1

// Tracking says which data of a chain is kept and counted.
type Tracking struct {
	// MinLiquidityUSD is the liquidity from which on a pool's trades and candles are kept, in USD, 0 to 1000000000 (for example "1000"). Trades of launched
	// tokens are kept whatever the liquidity is. Default: 1000 USD.
	//
	// +kubebuilder:default="1000"
	// +kubebuilder:validation:XValidation:rule="double(self) <= 1000000000.0",message="tracking.minLiquidityUSD must be at most 1000000000"
	// +optional
	MinLiquidityUSD Decimal `json:"minLiquidityUSD,omitempty"`
	// CountedLiquidityUSD is the liquidity that a pool must have for its trades to count in members' profit, and for a purchase there to make its member one
	// of those who are in the token, in USD, above 0 and up to 1000000000. Trades on curves of declared venues count whatever the liquidity is. Default:
	// 25000 USD on the chain with the id ethereum, 5000 USD on all others.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 1000000000.0",message="tracking.countedLiquidityUSD must be above 0 and at most 1000000000"
	// +optional
	CountedLiquidityUSD Decimal `json:"countedLiquidityUSD,omitempty"`
	// Holders says of which tokens the holders are counted: Launches (tokens that are launched at declared venues), Declared (these and the majors, all of
	// whose past transfers are read first) or All (every token that the index meets, which only small chains can afford). On family Solana no past transfers
	// are read: nodes that serve getProgramAccounts tell the holders of a token that is older than the index.
	// After a change the counts of tokens that are no longer followed are dropped, and after a change to All the tokens that were known before get no count.
	// Default: Launches.
	//
	// +kubebuilder:default=Launches
	// +optional
	Holders Holders `json:"holders,omitempty"`
	// HolderCaps are the limits on what is read of one token's past to count its holders. A token beyond a limit has no count of holders: the reading stops,
	// and what was read is dropped. After a change of a limit such a token is counted again. Left out: each limit has its default.
	//
	// +optional
	HolderCaps HolderCaps `json:"holderCaps,omitzero"`
	// PastDays is a number of days, 0 to 3650. For so many days before the time from which on a wallet counts for its member, the indexer reads from the
	// nodes what the wallet did, if the chain's index began after the first of these days; 0 reads nothing. The trades and transfers found give later sales
	// a cost basis, and don't count in the member's profit themselves. The reading begins a day after the index did, and needs nodes that have the blocks of
	// that time. Default: 90.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3650
	// +optional
	PastDays *int64 `json:"pastDays,omitempty"`
}

// HolderCaps are the limits on what is read of one token's past to count its holders.
type HolderCaps struct {
	// Accounts is the largest number of accounts with a balance, 1 to 100000000. Each takes some 600 bytes of disk while it is counted. Default: 5000000.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	// +optional
	Accounts *int64 `json:"accounts,omitempty"`
	// Transfers is the largest number of transfers that are read, 1 to 10000000000. Each takes some 700 bytes of a node's answer. It has no effect on family
	// Solana. Default: 20000000.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000000
	// +optional
	Transfers *int64 `json:"transfers,omitempty"`
	// Days is the longest time for which one token's past is read, in days, 1 to 365. Default: 7.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=365
	// +optional
	Days *int64 `json:"days,omitempty"`
}

// Holders says of which tokens the holders are counted: Launches, Declared or All.
//
// +kubebuilder:validation:Enum=Launches;Declared;All
type Holders string

// The choices of Holders.
const (
	HoldersLaunches Holders = "Launches"
	HoldersDeclared Holders = "Declared"
	HoldersAll      Holders = "All"
)
