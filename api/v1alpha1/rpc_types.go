package v1alpha1

// RPC lists the chain's nodes.
type RPC struct {
	// Endpoints are the nodes or providers that the indexer asks, up to 8. They share the calls by weight, and an endpoint that fails gets no calls for a
	// while. Left out: the chain must be suspended.
	//
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Endpoints []Endpoint `json:"endpoints,omitempty"`
}

// Endpoint is a node or a provider of nodes. It has exactly one of url and urlFrom.
//
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !self.url.matches('^https?://[^/?#]*@')",fieldPath=".url",message="url has a user or password, which everybody sees who may read the resource: put it into a Secret and write urlFrom"
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.urlFrom)",message="write either url or urlFrom.secretKeyRef, exactly one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.computeUnits) || has(self.computeUnitsPerDay)",fieldPath=".computeUnits",message="computeUnits says what calls count of computeUnitsPerDay: write that too, or leave computeUnits out"
type Endpoint struct {
	// URL is the address of the node's service, http or https, up to 2048 characters (for example https://node.example.com). Everybody who may read the
	// Chain, or the ConfigMap that the operator makes of it, sees the URL: write urlFrom for one that contains a key. Left out: urlFrom is required.
	//
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/]+\S*$`
	// +optional
	URL string `json:"url,omitempty"`
	// URLFrom takes the URL from a Secret in the Chain's namespace. The indexer notices a change of the Secret without a restart. Outside a cluster a
	// running chain can't use it. Left out: url is required.
	//
	// +optional
	URLFrom *URLSource `json:"urlFrom,omitempty"`
	// Protocol is the protocol that the endpoint speaks: JSONRPC, or YellowstoneGRPC (for family Solana alone), by which a node sends each block as soon as
	// it is confirmed. A YellowstoneGRPC endpoint saves most requests for blocks. It needs a JSONRPC endpoint beside it, which is asked for everything else.
	// Its URL is that of the gRPC service; the path of the URL is sent as the token x-token. Default: JSONRPC.
	//
	// +kubebuilder:default=JSONRPC
	// +optional
	Protocol EndpointProtocol `json:"protocol,omitempty"`
	// Weight is the endpoint's share of the calls in proportion to the weights of the other endpoints, 1 to 1000. Of two equally fast endpoints with the
	// weights 3 and 1 the first one gets three calls of four. Default: 1.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// RequestsPerSecond is the largest number of calls that the node takes in a second, 1 to 100000. Each call of a batch counts. Left out: the indexer
	// learns the number from the node's refusals.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	// RequestsPerDay is the largest number of calls that the indexer makes in a UTC day, 1 to 10000000000. Each call of a batch counts. A restart of the
	// indexer begins the count anew. Left out: there is no limit.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000000
	// +optional
	RequestsPerDay *int64 `json:"requestsPerDay,omitempty"`
	// ComputeUnitsPerDay is the largest number of the provider's compute units (some providers call them credits) that the indexer uses in a UTC day, 1 to
	// 1000000000000. Each call of a batch counts. A restart of the indexer begins the count anew. Left out: there is no limit.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	// +optional
	ComputeUnitsPerDay *int64 `json:"computeUnitsPerDay,omitempty"`
	// ComputeUnits is the number of compute units that a call counts, by method. It requires computeUnitsPerDay. Left out: each method counts its default.
	//
	// +optional
	ComputeUnits *ComputeUnits `json:"computeUnits,omitempty"`
}

// ComputeUnits is the number of compute units that a call counts, by method.
type ComputeUnits struct {
	// EthCall is the number of compute units that an eth_call counts, 0 to 100000. Default: 26.
	//
	// +optional
	EthCall *Units `json:"eth_call,omitempty"`
	// EthGetLogs is the number of compute units that an eth_getLogs counts, 0 to 100000. Default: 60.
	//
	// +optional
	EthGetLogs *Units `json:"eth_getLogs,omitempty"`
	// EthGetBlockByNumber is the number of compute units that an eth_getBlockByNumber counts, 0 to 100000. Default: the value of other.
	//
	// +optional
	EthGetBlockByNumber *Units `json:"eth_getBlockByNumber,omitempty"`
	// EthGetBlockReceipts is the number of compute units that an eth_getBlockReceipts counts, 0 to 100000. Default: the value of other.
	//
	// +optional
	EthGetBlockReceipts *Units `json:"eth_getBlockReceipts,omitempty"`
	// Other is the number of compute units that a call of any other method counts, 0 to 100000. On family Solana it doesn't change the methods getBlock
	// (always 40), getBlocks and getMultipleAccounts (always 20). Default: 20.
	//
	// +optional
	Other *Units `json:"other,omitempty"`
}

// Units is the number of compute units that one call counts, 0 to 100000.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=100000
type Units int64

// EndpointProtocol is a protocol that an endpoint speaks: JSONRPC or YellowstoneGRPC.
//
// +kubebuilder:validation:Enum=JSONRPC;YellowstoneGRPC
type EndpointProtocol string

// The protocols of endpoints.
const (
	JSONRPC         EndpointProtocol = "JSONRPC"
	YellowstoneGRPC EndpointProtocol = "YellowstoneGRPC"
)

// URLSource is the place where a URL is kept.
type URLSource struct {
	// SecretKeyRef is the Secret, and the key in it, that has the URL as its value.
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// SecretKeyRef is one key of a Secret in the Chain's namespace.
type SecretKeyRef struct {
	// Name is the name of the Secret (for example rpc-base).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
	// Key is the key of the Secret whose value is used (for example url).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-_a-zA-Z0-9]([-._a-zA-Z0-9]*)$`
	Key string `json:"key"`
}
