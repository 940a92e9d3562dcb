package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LaunchVenueKind is the kind of a LaunchVenue's manifest.
const LaunchVenueKind = "LaunchVenue"

// LaunchVenue declares one place where tokens are launched: its name, the protocol of its contracts, and the chains on which it should be open.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories=boardwalk,shortName=bwv
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.spec.id`
// +kubebuilder:printcolumn:name="Ownership",type=string,JSONPath=`.spec.ownership`
// +kubebuilder:printcolumn:name="Protocol",type=string,JSONPath=`.spec.protocol`
// +kubebuilder:printcolumn:name="Open",type=string,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Closed on",type=string,JSONPath=`.status.closedOn`
// +kubebuilder:printcolumn:name="Default",type=boolean,JSONPath=`.spec.default`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type LaunchVenue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec LaunchVenueSpec `json:"spec"`
	// +kubebuilder:default:={"observedGeneration":-1}
	// +optional
	Status LaunchVenueStatus `json:"status,omitzero"`
}

// LaunchVenueList is a list of venues.
//
// +kubebuilder:object:root=true
type LaunchVenueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []LaunchVenue `json:"items"`
}

// LaunchVenueSpec is the declaration of one launch venue. The platform team writes it.
//
// +kubebuilder:validation:XValidation:rule="(self.ownership == 'Own') != has(self.filterValue)",message="own venues stand under the filter value ours and have no filterValue; every other venue needs one, such as pump-fun",fieldPath=".filterValue"
// +kubebuilder:validation:XValidation:rule="self.ownership != 'Outside' || has(self.badge)",message="an outside venue's tokens carry its badge: write one under badge",fieldPath=".badge"
// +kubebuilder:validation:XValidation:rule="self.ownership != 'Own' || !has(self.badge)",message="own venues carry no badge: leave badge out",fieldPath=".badge"
// +kubebuilder:validation:XValidation:rule="!has(self.default) || !self.default || self.ownership == 'Own'",message="only an own venue can be the default: leave default out, or write ownership: Own",fieldPath=".default"
// +kubebuilder:validation:XValidation:rule="(self.marketModel == 'LivePool') == (self.protocol in ['ClankerV3', 'ClankerV4'])",message="marketModel doesn't fit the protocol: tokens of ClankerV3 and ClankerV4 are live pools without a curve (LivePool), those of every other protocol start on a curve (BondingCurve)",fieldPath=".marketModel"
// +kubebuilder:validation:XValidation:rule="self.ownership == 'Outside' || self.chains.all(c, c.tradesInApp)",message="tokens of own and further venues trade in the app on every chain: write tradesInApp: true",fieldPath=".chains"
// +kubebuilder:validation:XValidation:rule="!(self.protocol in ['PumpFun', 'MeteoraDBC', 'RaydiumLaunchLab']) || self.chains.all(c, !has(c.contracts) || size(c.contracts) == 0)",message="this protocol is of Solana: write programAccounts in place of contracts",fieldPath=".chains"
// +kubebuilder:validation:XValidation:rule="self.protocol in ['PumpFun', 'MeteoraDBC', 'RaydiumLaunchLab'] || self.chains.all(c, !has(c.programAccounts) || size(c.programAccounts) == 0)",message="this protocol is of EVM chains: write contracts in place of programAccounts",fieldPath=".chains"
type LaunchVenueSpec struct {
	// ID is the name of the venue in the public API and in the database: 1 to 32 characters of a-z, 0-9 and -, with a letter or digit at both ends
	// (for example four-meme). It can't change.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="id can't change: delete this LaunchVenue and declare another"
	ID string `json:"id"`

	// Label is the name that people read, 1 to 48 characters (for example four.meme).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=48
	// +kubebuilder:validation:Pattern=`^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^\s|\s$|[\x00-\x1f\x7f]')`,message="a label has no space at either end and no control character"
	Label string `json:"label"`

	// Ownership says whose venue it is: Own (the platform's), Further (another launch system that the platform offers, listed under a filter value as
	// outside launchpads are) or Outside (somebody else's launchpad).
	Ownership Ownership `json:"ownership"`

	// Protocol is the protocol of the venue's contracts or programs: it decides which of their events are read. It can't change.
	// On EVM chains: BoardwalkCurve (the platform's own contract), FourMemeV1 (four.meme's TokenManager, for tokens of before September 2024), FourMemeV2
	// (four.meme's TokenManager2), Flap (Flap's Portal), PonsV2 (Pons v2), NadFun (nad.fun), ClankerV3 (Clanker 3.1), ClankerV4 (Clanker 4).
	// On Solana: PumpFun (pump.fun), MeteoraDBC (Meteora's Dynamic Bonding Curve), RaydiumLaunchLab (Raydium LaunchLab).
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="protocol can't change: delete this LaunchVenue and declare another with a new id"
	Protocol VenueProtocol `json:"protocol"`

	// FilterValue is the value of the launch board's parameter launchpad for which the board shows the venue's tokens, 1 to 32 characters of a-z, 0-9 and -
	// (for example pump-fun). Several venues may have the same value. It can't be "all" or "ours". Ownership Further and Outside require it; with ownership
	// Own it must be left out. Left out: the board shows the tokens for the value ours.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['all', 'ours'])",message="all and ours have a meaning of their own in the public API: choose another filterValue"
	// +optional
	FilterValue string `json:"filterValue,omitempty"`

	// Badge is the short text on the cards of the venue's tokens, 1 to 16 characters (for example four.meme). Ownership Outside requires it, and with
	// ownership Own it must be left out. Left out: the cards have no badge.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'^\s|\s$|[\x00-\x1f\x7f]')`,message="a badge has no space at either end and no control character"
	// +optional
	Badge string `json:"badge,omitempty"`

	// MarketModel is the first market of a token: BondingCurve, or LivePool for a token that has a pool from its first block on. LivePool is for the
	// protocols ClankerV3 and ClankerV4, BondingCurve for all others.
	MarketModel MarketModel `json:"marketModel"`

	// Default says that new launches go to this venue if nobody chooses another one. There is one such venue for each family of chains, of ownership Own; if
	// several have true, the oldest one counts. Default: false.
	//
	// +optional
	Default bool `json:"default,omitempty"`

	// Order is the venue's place in lists, 0 to 10000: a lower number comes first. Venues with the same number are listed by age, then by name.
	// Default: 1000.
	//
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Order *int32 `json:"order,omitempty"`

	// Chains are the chains on which the venue is, 1 to 32.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=chain
	Chains []VenueChain `json:"chains"`
}

// Ownership says whose venue it is: Own, Further or Outside.
//
// +kubebuilder:validation:Enum=Own;Further;Outside
type Ownership string

// The ownerships.
const (
	OwnershipOwn     Ownership = "Own"
	OwnershipFurther Ownership = "Further"
	OwnershipOutside Ownership = "Outside"
)

// VenueProtocol is the protocol of a venue's contracts or programs. BoardwalkCurve is the platform's own contract on EVM chains; PumpFun, MeteoraDBC and
// RaydiumLaunchLab are protocols of Solana.
//
// +kubebuilder:validation:Enum=BoardwalkCurve;FourMemeV1;FourMemeV2;Flap;PonsV2;NadFun;ClankerV3;ClankerV4;PumpFun;MeteoraDBC;RaydiumLaunchLab
type VenueProtocol string

// MarketModel is the first market of a token: BondingCurve or LivePool.
//
// +kubebuilder:validation:Enum=BondingCurve;LivePool
type MarketModel string

// The market models.
const (
	MarketModelBondingCurve MarketModel = "BondingCurve"
	MarketModelLivePool     MarketModel = "LivePool"
)

// VenueState says whether tokens can be launched: Open or Closed.
//
// +kubebuilder:validation:Enum=Open;Closed
type VenueState string

// The states.
const (
	VenueOpen   VenueState = "Open"
	VenueClosed VenueState = "Closed"
)

// VenueChain is the venue on one chain.
//
// +kubebuilder:validation:XValidation:rule="self.tradesInApp || has(self.linkTemplate)",message="tokens that don't trade in the app need a place to trade: write linkTemplate, such as https://four.meme/token/{mint}",fieldPath=".linkTemplate"
type VenueChain struct {
	// Chain is the name (metadata.name) of a Chain in the same namespace (for example base).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Chain string `json:"chain"`

	// WantedState says whether the venue should be open on the chain: Open or Closed. A venue that should be open is still closed while a check fails
	// (status.chains says which). The tokens of a closed venue are indexed and traded as before. Default: Open.
	//
	// +kubebuilder:default=Open
	// +optional
	WantedState VenueState `json:"wantedState,omitempty"`

	// Contracts are the addresses of the venue's contracts on an EVM chain, up to 16. Events of other contracts don't count, except those of a token's own
	// curve that a contract of the list announced (PonsV2). Left out: the venue is closed on an EVM chain, with the reason NoContracts.
	//
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.lowerAscii() == a.lowerAscii()))",message="a contract is listed twice: keep one of them"
	// +listType=atomic
	// +optional
	Contracts []EVMAddress `json:"contracts,omitempty"`

	// ProgramAccounts are the accounts on Solana by which a launch is known as the venue's, up to 16: the launch program, or the configuration accounts that
	// launches name. Left out: the venue is closed on Solana, with the reason NoContracts.
	//
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	// +optional
	ProgramAccounts []SolanaAddress `json:"programAccounts,omitempty"`

	// TradesInApp says whether people trade the venue's tokens in the app before the tokens graduate. With false the cards of these tokens link to
	// linkTemplate until then. Ownership Own and Further require true. Default: false.
	//
	// +kubebuilder:default=false
	// +optional
	TradesInApp bool `json:"tradesInApp"`

	// LinkTemplate is the address of a token's page at the venue, https, up to 256 characters, with {mint} in place of the token's address (for example
	// https://four.meme/token/{mint}). It is required where tradesInApp is false. Left out: tradesInApp must be true, with which no card needs the link.
	//
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^https://[^\x00-\x20\x7f/?#{}]+/([^\x00-\x20\x7f{}]|\{mint\})*$`
	// +kubebuilder:validation:XValidation:rule=`self.matches('^https://[^/{}]+/') && self.contains('{mint}') && !self.replace('{mint}', '').matches('[{}]')`,message="linkTemplate must be https:// with a host and a path, with {mint} where the token's address goes and no other braces, as in https://four.meme/token/{mint}"
	// +optional
	LinkTemplate string `json:"linkTemplate,omitempty"`
}

// SolanaAddress is the address of an account on Solana: a base58 key of 32 bytes (for example So11111111111111111111111111111111111111112).
//
// +kubebuilder:validation:MinLength=32
// +kubebuilder:validation:MaxLength=44
// +kubebuilder:validation:Pattern=`^[1-9A-HJ-NP-Za-km-z]{32,44}$`
type SolanaAddress string

// LaunchVenueStatus is the state of the venue as the operator saw it last. The operator writes it.
type LaunchVenueStatus struct {
	// ObservedGeneration is the generation of the spec (metadata.generation) that this status is about. It is -1 before the operator has seen the resource.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the conditions of the venue: Accepted (the spec is valid, and no older venue has the id), Ready (the venue is open wherever it should
	// be open), Default (only with spec.default: the venue is the default of its family of chains) and Stalled (only while nothing goes on before a person
	// acts).
	//
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Chains are the venue's states on its chains, one for each entry of spec.chains.
	//
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=chain
	// +optional
	Chains []VenueChainStatus `json:"chains,omitempty"`
	// Open is the number of chains on which the venue is open, a slash, and the number of chains on which it should be open (for example 2/3).
	//
	// +kubebuilder:validation:MaxLength=8
	// +optional
	Open string `json:"open,omitempty"`
	// ClosedOn lists the chains on which the venue is closed, each with the reason (for example base (IndexerDown)).
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ClosedOn string `json:"closedOn,omitempty"`
}

// VenueChainStatus is the venue's state on one chain.
type VenueChainStatus struct {
	// Chain is the name (metadata.name) of the Chain.
	//
	// +kubebuilder:validation:MaxLength=253
	Chain string `json:"chain"`
	// State says whether tokens can be launched on the chain: Open or Closed.
	State VenueState `json:"state"`
	// Reason is the reason for the state, in one word: that of the first check that failed (for example IndexerDown), or Open.
	//
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// Message says the reason in a sentence for people, and what to do. Left out: the venue is open.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// LastTransitionTime is the time at which the state last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// ConditionDefault of a LaunchVenue with spec.default says whether it is the default of its family of chains.
const ConditionDefault = "Default"

// Reasons of a LaunchVenue's conditions, besides those that a Chain has too: Accepted, Invalid, DuplicateID.
const (
	// ReasonDefault: the venue is its family's default.
	ReasonDefault = "Default"
	// ReasonDuplicateDefault: an older venue is the default of the same family of chains. The oldest wins.
	ReasonDuplicateDefault = "DuplicateDefault"
	// ReasonOpen: the venue is open wherever it is wanted open.
	ReasonOpen = "Open"
	// ReasonSomeClosed: the venue is closed on some chain on which it is wanted open; status.chains says why.
	ReasonSomeClosed = "SomeClosed"
	// ReasonAllClosed: the venue is closed on every chain on which it is wanted open.
	ReasonAllClosed = "AllClosed"
	// ReasonWantedClosed: the venue is wanted open nowhere. As a reason in status.chains: not on this chain.
	ReasonWantedClosed = "WantedClosed"
)

// Further reasons in a LaunchVenue's status.chains, in the order in which they are looked for.
const (
	// ReasonVenueNotAccepted: the venue's condition Accepted is false.
	ReasonVenueNotAccepted = "VenueNotAccepted"
	// ReasonChainNotFound: the namespace has no Chain of the name.
	ReasonChainNotFound = "ChainNotFound"
	// ReasonChainNotAccepted: the Chain's condition Accepted is false.
	ReasonChainNotAccepted = "ChainNotAccepted"
	// ReasonWrongFamily: the protocol isn't one of the chain's family.
	ReasonWrongFamily = "WrongFamily"
	// ReasonChainSuspended: the Chain is suspended.
	ReasonChainSuspended = "ChainSuspended"
	// ReasonNoContracts: neither contracts nor programAccounts are declared.
	ReasonNoContracts = "NoContracts"
	// ReasonDuplicateContract: an older venue declares a contract of this one on the same chain, and has it there.
	ReasonDuplicateContract = "DuplicateContract"
	// ReasonIndexerDown: the chain's indexer hasn't answered for some time.
	ReasonIndexerDown = "IndexerDown"
	// ReasonIndexerHalted: the chain's indexer needs a human.
	ReasonIndexerHalted = "IndexerHalted"
	// ReasonIndexerOutdated: the indexer doesn't know of the venue, or of its contracts, yet.
	ReasonIndexerOutdated = "IndexerOutdated"
	// ReasonIndexerStarting, which a Chain has too: the chain's indexer hasn't answered yet, or hasn't read a block yet.

	// ReasonIndexerBehind: the indexer is further behind than the chain's spec.indexer.maxLag.
	ReasonIndexerBehind = "IndexerBehind"
	// ReasonContractUnknown: the nodes haven't told yet whether a contract is paused, or there is no contract.
	ReasonContractUnknown = "ContractUnknown"
	// ReasonContractPaused: a contract of the venue says that it is paused.
	ReasonContractPaused = "ContractPaused"
)
