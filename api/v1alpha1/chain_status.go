package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChainStatus is the state of the chain as the operator saw it last. The operator writes it.
type ChainStatus struct {
	// ObservedGeneration is the generation of the spec (metadata.generation) that the conditions are about. It is -1 before the operator has seen the
	// resource.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the conditions of the chain: Accepted (the spec is valid, and no older Chain has its ids), Available (the indexer runs), Synced (the
	// indexer is within indexer.maxLag of the chain's head), Ready (all of these are true, or the chain is suspended), Stalled (only while nothing goes on
	// before a person acts), AsDeclared (each declared address has a contract of the declared kind) and Reindexing (a new generation of the index is being
	// made).
	//
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Lag is the rough delay of the indexer behind the chain: <15s, <2m or more (2 minutes or longer). The exact blocks and seconds are in the indexer's
	// metrics. Left out: the delay isn't known, or no indexer should run.
	//
	// +optional
	Lag Lag `json:"lag,omitempty"`
	// LastAccepted is the spec that was accepted last, as JSON. While a later spec is invalid (reason Invalid), the chain is served and indexed as this one
	// says, except for suspend, which counts at once. Left out: no spec was accepted, or the spec is longer than 262144 bytes.
	//
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	LastAccepted string `json:"lastAccepted,omitempty"`
}

// AnnotationForceRollout on a Chain, with any value but "false", has its indexer changed at once when something is new for all indexers: the
// database's address isn't tried before, and no other waits for it.
const AnnotationForceRollout = "boardwalk.dev/force-rollout"

// MaxLastAccepted bounds ChainStatus.LastAccepted, in bytes.
const MaxLastAccepted = 262144

// Lag is a rough delay, so that the status doesn't change with every block: <15s, <2m or more (2 minutes or longer).
//
// +kubebuilder:validation:Enum="<15s";"<2m";more
type Lag string

// The lags.
const (
	LagUnder15s Lag = "<15s"
	LagUnder2m  Lag = "<2m"
	LagMore     Lag = "more"
)

// Conditions of a Chain.
const (
	// ConditionAccepted says whether the chain is run at all: its spec makes sense, and no older Chain has its id.
	// LaunchVenues have it too.
	ConditionAccepted = "Accepted"
	// ConditionAvailable says whether the chain's indexer runs.
	ConditionAvailable = "Available"
	// ConditionSynced says whether the indexer is as close to the chain's head as spec.indexer.maxLag asks.
	ConditionSynced = "Synced"
	// ConditionReady is true when all of the above are, and has the reason of the first that isn't.
	ConditionReady = "Ready"
	// ConditionAsDeclared says whether the chain's nodes have a contract at each declared address, that answers as its protocol does. It is
	// unknown until they could be asked. It keeps nothing from being indexed, and Ready doesn't depend on it.
	ConditionAsDeclared = "AsDeclared"
	// ConditionReindexing is true while another generation of the chain's index is made beside the one that is served. It is unknown until the
	// indexer answers. Ready doesn't depend on it.
	ConditionReindexing = "Reindexing"
	// ConditionStalled is true while nothing goes on before a person acts, with the reason of Ready, and is left out otherwise: kstatus reads it,
	// and with it Flux, Argo CD and Helm's --wait. LaunchVenues have it too.
	ConditionStalled = "Stalled"
)

// Reasons of a Chain's conditions.
const (
	// ReasonAccepted: the chain is run.
	ReasonAccepted = "Accepted"
	// ReasonInvalid: the spec makes no sense in a way that the schema can't state; the message says what to write, and whether the
	// chain is served as it was last accepted.
	ReasonInvalid = "Invalid"
	// ReasonDuplicateID: an older Chain or LaunchVenue of the namespace has the same spec.id. The oldest wins.
	ReasonDuplicateID = "DuplicateID"
	// ReasonDuplicateChainID: an older Chain of the namespace has the same spec.chainID. The oldest wins.
	ReasonDuplicateChainID = "DuplicateChainID"
	// ReasonNotAccepted: Accepted is false, so that no indexer is started or changed. One that ran before runs on.
	ReasonNotAccepted = "NotAccepted"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonConflict: an object of the name that the indexer's would have isn't the operator's.
	ReasonConflict = "Conflict"
	// ReasonApplyFailed: the API server refused one of the indexer's objects; the message repeats why.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonIndexerRunning: the indexer's pod is ready.
	ReasonIndexerRunning = "IndexerRunning"
	// ReasonIndexerStarting: the indexer's pod isn't ready yet, or the indexer hasn't read a block yet.
	ReasonIndexerStarting = "IndexerStarting"
	// ReasonIndexerUnavailable: the indexer's pod is gone or doesn't get ready, and neither it nor Kubernetes says why.
	ReasonIndexerUnavailable = "IndexerUnavailable"
	// ReasonUnschedulable: no node takes the indexer's pod; the message repeats the scheduler's.
	ReasonUnschedulable = "Unschedulable"
	// ReasonSecretMissing: there is no such Secret, or no such key in it; the message names it.
	ReasonSecretMissing = "SecretMissing"
	// ReasonImageUnavailable: the indexer's image can't be pulled; the message repeats the kubelet's.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonPodRefused: the kubelet can't start the indexer's container as it is described; the message repeats the kubelet's.
	ReasonPodRefused = "PodRefused"
	// ReasonOutOfMemory: the indexer was ended since it needed more memory than its limit.
	ReasonOutOfMemory = "OutOfMemory"
	// ReasonIndexerCrashing: the indexer ends with an error, which the message repeats.
	ReasonIndexerCrashing = "IndexerCrashing"
	// ReasonDatabaseUnreachable: nobody answers at the database's address, or the login is refused; the message says which.
	ReasonDatabaseUnreachable = "DatabaseUnreachable"
	// ReasonAtHead: the indexer is within spec.indexer.maxLag of the head.
	ReasonAtHead = "AtHead"
	// ReasonCatchingUp: the indexer reads the chain's past.
	ReasonCatchingUp = "CatchingUp"
	// ReasonBehind: the indexer is further behind than spec.indexer.maxLag; the message says why, and where the endpoints allow too little, what
	// would suffice. Before it is as far behind, Synced is true with that as its message.
	ReasonBehind = "Behind"
	// ReasonRangeMissing: the indexer has waited for ten minutes for blocks that no endpoint has, although later ones follow them; the message says which.
	ReasonRangeMissing = "RangeMissing"
	// ReasonEndpointUnreachable: the indexer is behind, and no endpoint answers; the message repeats what each said.
	ReasonEndpointUnreachable = "EndpointUnreachable"
	// ReasonWrongChain: all endpoints serve another chain than the declared one.
	ReasonWrongChain = "WrongChain"
	// ReasonHalted: the indexer has stopped and needs a human; with Reindexing, the making of the other generation has stopped. The message says for what.
	ReasonHalted = "Halted"
	// ReasonUnreachable: the indexer's operations endpoint doesn't answer the operator.
	ReasonUnreachable = "Unreachable"
	// ReasonReady: the chain is served.
	ReasonReady = "Ready"
	// ReasonAsDeclared: every declared address is as declared; the message has what a person should look at all the same.
	ReasonAsDeclared = "AsDeclared"
	// ReasonWrongDeclaration: something declared can't be right; the message says what, and what to do.
	ReasonWrongDeclaration = "WrongDeclaration"
	// ReasonIndexing: another generation is indexed; the message says how far it has come, and what it takes in all.
	ReasonIndexing = "Indexing"
	// ReasonInterrupted: another generation can't go on, which is tried again; the message says why.
	ReasonInterrupted = "Interrupted"
	// ReasonServed: the generation that is wanted is served.
	ReasonServed = "Served"
	// ReasonNotAsked: the nodes weren't asked about this declaration yet, or not all of it; the message says why.
	ReasonNotAsked = "NotAsked"
)
