package v1alpha1

// Tracking bounds what is kept of a chain.
type Tracking struct {
	// MinLiquidityUSD is the liquidity, in USD, from which on a pool's trades and candles are kept; launches are kept
	// whatever they have. Up to 1000000000.
	//
	// +kubebuilder:default="1000"
	// +kubebuilder:validation:XValidation:rule="double(self) <= 1000000000.0",message="tracking.minLiquidityUSD must be at most 1000000000"
	// +optional
	MinLiquidityUSD Decimal `json:"minLiquidityUSD,omitempty"`
	// CountedLiquidityUSD is the liquidity, in USD, that a pool must have for its trades to count in members' profit, and for a purchase to make its
	// member one of those who are in the token. Trades on curves of declared venues count whatever is on the curve. Where it isn't written it is that
	// of the launch board's default quality bar: 25000 on the chain ethereum, 5000 elsewhere. Above 0 and up to 1000000000.
	//
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0 && double(self) <= 1000000000.0",message="tracking.countedLiquidityUSD must be above 0 and at most 1000000000"
	// +optional
	CountedLiquidityUSD Decimal `json:"countedLiquidityUSD,omitempty"`
	// Holders says whose balances are followed: Launches follows launched tokens, Declared majors, too, whose transfers of all time are
	// read first, and All every token that is seen, which only small chains can afford. On family Solana nodes tell instead who has a token that is older than the index, where they
	// serve getProgramAccounts. After a change the holders of tokens that aren't
	// followed any more are given up; after one to All, tokens that were known before stay without.
	//
	// +kubebuilder:default=Launches
	// +optional
	Holders Holders `json:"holders,omitempty"`
	// HolderCaps bound what is read of one token's past to count its holders. A token beyond one of them has no count of holders: the
	// reading stops and what it found is dropped. After a change such a token is counted anew.
	//
	// +optional
	HolderCaps HolderCaps `json:"holderCaps,omitzero"`
	// PastDays is how many days before a wallet counts for its member its trades and transfers are read from the nodes, where the chain's first indexed
	// block is later than that: 90 where it isn't written. They give what the wallet sells a basis, and count for nobody. It begins a day after the index
	// did, and takes nodes that have the blocks of that time. 0 reads nothing. Trades that the index has itself are known whatever is written here.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3650
	// +optional
	PastDays *int64 `json:"pastDays,omitempty"`
}

// HolderCaps bound what is read of one token's past.
type HolderCaps struct {
	// Accounts is the most accounts with a balance: 5000000 where it isn't written. Each takes some 600 bytes of disk while it is counted.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	// +optional
	Accounts *int64 `json:"accounts,omitempty"`
	// Transfers is the most transfers that are read: 20000000 where it isn't written. A node's answer has some 700 bytes for each. It means nothing on family Solana.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000000
	// +optional
	Transfers *int64 `json:"transfers,omitempty"`
	// Days is how long the reading may take: 7 where it isn't written.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=365
	// +optional
	Days *int64 `json:"days,omitempty"`
}

// Holders says which tokens have their balances followed.
//
// +kubebuilder:validation:Enum=Launches;Declared;All
type Holders string

// The choices of Holders.
const (
	HoldersLaunches Holders = "Launches"
	HoldersDeclared Holders = "Declared"
	HoldersAll      Holders = "All"
)
