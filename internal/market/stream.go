package market

// StreamKind says what an item of the stream is.
type StreamKind string

// The kinds. Each is numbered by the one counter that all share, so that the numbers of a kind ascend and have gaps.
const (
	StreamTrade  StreamKind = "trade"
	StreamLaunch StreamKind = "launch"
	// StreamCall is a member's call of a token, which no block brings.
	StreamCall StreamKind = "call"
	// StreamRunning is a launch that passes the launch board's quality bar for the first time, which no block brings.
	StreamRunning StreamKind = "running"
	// StreamReset is no item: the database lost some that had been told, and cursors below its number are worth nothing.
	StreamReset StreamKind = "reset"
)

// StreamItem is what a block adds to the stream that clients follow by cursor: a member's trade, or a launch that has a value in USD for the first time.
type StreamItem struct {
	Kind  StreamKind
	Token Address
	Time  int64 // unix seconds
	// Trade is set for trades alone.
	Trade StreamTradeRef
}

// StreamTradeRef names a member's trade: what a wallet bought, or sold, of one token in one transaction, in however many pools.
type StreamTradeRef struct {
	Wallet Address
	Member int64
	Block  uint64
	Tx     TxID
	Sell   bool
}
