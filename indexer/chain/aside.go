package chain

// The reasons for which something is set aside.
const (
	// NoAnswer: nodes that work give no answer of the contract, and don't say that it refused.
	NoAnswer = "no answer"
	// AnswerTooLong: the contract answers more than is taken.
	AnswerTooLong = "answer too long"
	// EndpointsDiffer: endpoints answer differently, and no two alike.
	EndpointsDiffer = "endpoints differ"
	// Outvoted: an endpoint said what two others, or a header, contradict.
	Outvoted = "contradicted"
	// CallContradicted: an endpoint answered a call in another way than two others.
	CallContradicted = "contradicted about a contract"
	// DeniedLogs: a block's header denies logs that all endpoints which answer have.
	DeniedLogs = "logs that the header denies"
	// UnknownHeaderHash: the chain's headers are hashed by rules that aren't known, and prove less.
	UnknownHeaderHash = "a header's hash by other rules"
	// RepeatedLogIndex: two logs of a block have one index, by all endpoints that answer.
	RepeatedLogIndex = "repeated log index"
)

// Aside is something that was set aside, so that the block could be indexed.
type Aside struct {
	// Kind is "contract", "block" or "endpoint", Subject the contract's address, the block's number or the endpoint's name.
	Kind, Subject string
	// Reason is one of the reasons above.
	Reason string
}
