package market

// Change is one row before and after a commit. A nil Before means that the row is new, a nil After that it goes.
type Change[K comparable, V any] struct {
	Key           K
	Before, After *V
}

// Balance is an account's derived balance of a token.
type Balance struct {
	Amount Amount
	// IsPool marks the account of a pool or curve, or a contract of an exchange or a launch venue: no trader, and none of the largest holders. Whether it
	// is counted as a holder, the family of the chain says. The row stays when it is empty.
	IsPool bool
}

// QueuedTransfer is a transfer of a token whose history is still being read; it waits for the merge.
type QueuedTransfer struct {
	Token, From, To Address
	Block           uint64
	Seq             uint32 // its order in the block
	Amount          Amount
}

// DroppedTrades counts trades that waited for their pool's liquidity and ceased to without an answer: since the pool had younger ones, since the
// chain had too many, or since they were too old.
type DroppedTrades struct{ OfPool, OfChain, Aged int }

// Changes is everything that one commit writes. Values are absolute.
type Changes struct {
	Tokens   []Change[Address, Token]
	Pools    []Change[Address, Pool]
	Ticks    []Change[Address, TickMap]
	Candles  []Change[CandleKey, Candle]
	Balances []Change[BalanceKey, Balance]
	Quotes   []Change[Address, QuotePrice]
	Launches []Change[Address, Launch]
	Trades   []Trade
	Queued   []QueuedTransfer
	// Waiting are trades that wait until it is known whether their pools' liquidity suffices.
	Waiting []Change[TradeKey, Trade]
	// Dropped are those that waited in vain.
	Dropped DroppedTrades
	// Jobs are those that are being merged.
	Jobs []Change[Address, HolderJob]

	Watched   []Change[Address, WatchedWallet]
	Positions []Change[PositionKey, Position]
	Hours     []Change[HourKey, WalletHour]
	Entries   []Entry
	// Reworked are earlier entries, of which what they realised has changed.
	Reworked []Change[EntryKey, Entry]
	Fees     []Fee
	// Payments has a row for each block that was read with its transactions, even if it has no payment. PaymentsFrom is the oldest block
	// whose row is still needed, if HasPaymentsFrom.
	Payments        []BlockPayments
	PaymentsFrom    uint64
	HasPaymentsFrom bool
	// Stream is what the blocks add to the stream, in their order. No reorg undoes it: what it takes back is told as well.
	Stream []StreamItem
}

// Touched names the rows that something put back or took away: what was cached of them, their absence too, holds no more.
type Touched struct {
	Tokens, Pools, Launches []Address
	// Ticks are the pools whose tick maps are meant.
	Ticks    []Address
	Candles  []CandleKey
	Balances []BalanceKey
	// Bases are the base tokens of Pools: which pools of theirs are listed may be different. Curves are the contracts that
	// Launches name as their curves'.
	Bases, Curves []Address
	// Watched are watched wallets.
	Watched   []Address
	Positions []PositionKey
	Hours     []HourKey
}

// Wanted names the rows that must be loaded before blocks can be applied.
type Wanted struct {
	Pools    []Address // by id, each with its tick map
	PoolsOf  []Address // the listed pools of these base tokens, without tick maps
	PairsOf  []Address // the pools of these base tokens that have an account of their own, listed or not
	Tokens   []Address
	Candles  []CandleKey
	Balances []BalanceKey
	Launches []Address // by mint
	Curves   []Address // by contract

	Watched   []Address
	Positions []PositionKey
	Hours     []HourKey
	TradesOf  []Address   // all trades of these wallets; of one that has more than are copied, one more than that
	BooksOf   [][]Address // all entries, positions and hours of the wallets of these members; of a member with more entries than MostReworked, one more than that
	// Expire is the range of 1-minute candles (bucket opens, both inclusive) that leave the 24 h window; empty when
	// ExpireFrom > ExpireTo.
	ExpireFrom, ExpireTo int64
}

// Pair is a pool with an account of its own.
type Pair struct{ ID, Base Address }

// OwnCurve is a contract that holds the curve of one launched token; Mint is none where several launches name the contract.
type OwnCurve struct{ Contract, Mint Address }

// Rows are loaded rows. What was wanted and isn't here doesn't exist.
type Rows struct {
	Pools    []Pool
	Pairs    []Pair // of PairsOf
	Ticks    map[Address]TickMap
	Tokens   []Token
	Candles  []Candle
	Launches []Launch
	Curves   []OwnCurve
	Balances map[BalanceKey]Balance

	Watched   []WatchedWallet
	Positions map[PositionKey]Position
	Hours     []WalletHour
	Past      map[Address][]Trade // of TradesOf, in no order
	Entries   []Entry             // of BooksOf, in no order
}

// Beginning is what derivation starts with; everything else is loaded as it is needed.
type Beginning struct {
	// Last is the newest committed block; zero before the first.
	Last Header
	// Pending are the tokens that wait for another reference pool.
	Pending []Token
	Quotes  []QuotePrice
	// Recounts are the tokens that are counted anew.
	Recounts []Address
	// Jobs are those that are being merged.
	Jobs []HolderJob
	// Waiting are the trades that wait for their pools' liquidity, in no order.
	Waiting []Trade
	// OwnCurves reports whether the curve of any launch is held by a contract that no venue declares.
	OwnCurves bool
	// Watched are all wallets that are watched; for a state that goes back those of Touched are enough.
	Watched []WatchedWallet
}
