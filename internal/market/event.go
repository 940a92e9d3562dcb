package market

// Header identifies a block. Time is in unix seconds.
type Header struct {
	Number uint64
	Hash   Hash
	Parent Hash
	Time   int64
}

// Block is what a chain's block means to us: the events decoded from its logs, in log order, grouped by transaction,
// and the facts that calls pinned to this block answered.
type Block struct {
	Header
	Txs   []Tx
	Facts []Fact
	// Payments are those that the block's transactions make, in their order, if HasPayments: the block was read with its transactions. Such a block
	// is never left out of a batch, whatever is in it: a block that is left out counts as one that was read without.
	Payments    []Payment
	HasPayments bool
	// Firsts are the accounts that sent their first transaction in the block, if HasPayments.
	Firsts []Address
}

// Payment moves Amount of the chain's own coin, in raw units, by a transaction itself. A payment that a contract makes within a transaction is none.
type Payment struct {
	From, To Address
	Amount   Amount
}

// BlockPayments is what is kept of a block that was read with its transactions.
type BlockPayments struct {
	Number   uint64
	Hash     Hash
	Time     int64 // unix seconds
	Payments []Payment
	Firsts   []Address
}

// Tx is one transaction's decoded logs in log order. Transactions without any are left out of a block.
type Tx struct {
	ID   TxID
	Logs []Log
	// Payer paid Fee, in raw units of the chain's own coin, for the transaction; none where blocks don't tell who did.
	Payer Address
	Fee   uint64
	// Sender signed the transaction, and had sent Nonce others before; none where the block was read without its transactions.
	Sender Address
	Nonce  uint64
}

// Log is one decoded log. Index is the log's place in its block, below 2^63: the log's number on an EVM chain; of another family, whatever puts its
// transactions, instructions and inner instructions in order.
type Log struct {
	Index uint64
	Event Event
}

// Event is one of the event types of this file.
type Event interface{ isEvent() }

// Transfer moves Amount of Token. From is none for a mint, To for a burn.
type Transfer struct {
	Token, From, To Address
	Amount          Amount
}

// Wrap is a deposit into, or (Unwrap) a withdrawal from, a wrapped native coin of the WETH9 kind, which logs neither
// as a Transfer.
type Wrap struct {
	Token, Account Address
	Amount         Amount
	Unwrap         bool
}

// BalanceChange is by how much a transaction changes an owner's balance of a token, of chains that tell balances in place of transfers. The changes of
// all owners together, and of what is Withheld, are what was minted or, below zero, burnt.
type BalanceChange struct {
	Token, Owner Address
	Change       SignedAmount
	// Before is what the owner had in those of their accounts that the transaction touches, where HasBefore: all that they had, but of who has the token in several.
	Before    Amount
	HasBefore bool
}

// Withheld is by how much a transaction changes what a token withholds of transfers: part of its supply, and of nobody's balance.
type Withheld struct {
	Token  Address
	Change SignedAmount
}

// AsTransfer is the transfer from or to nobody that the change amounts to.
func (e BalanceChange) AsTransfer() Transfer {
	t := Transfer{Token: e.Token, To: e.Owner, Amount: e.Change.Abs}
	if e.Change.Neg {
		t.From, t.To = e.Owner, Address{}
	}
	return t
}

// PoolCreated announces a pool. Pair contracts and V3 pools are named by address, V4 pools by id.
type PoolCreated struct {
	Protocol Protocol
	// Factory is the contract that logged it; Uniswap V4's is the PoolManager. Whether it may be believed is not
	// the decoder's to say.
	Factory        Address
	Pool           Address
	Token0, Token1 Address
	// FeePips is the swap fee in hundredths of a basis point; 0 where the log doesn't carry it.
	FeePips     uint32
	TickSpacing int32
	// Hooks is the V4 hook contract; none where there is no hook.
	Hooks Address
	// Stable marks a Solidly pool on the x³y+y³x curve.
	Stable bool
	// SqrtPriceX96 and Tick are the first price where the same log sets it (V4); derivation adds the one that a Slipstream pool logged before
	// its creation. Zero elsewhere.
	SqrtPriceX96 Amount
	Tick         int32
	// Liquidity is what a pool of one range (Meteora DAMM v2) is made with, where the same event tells it.
	Liquidity Amount
	// Seen says that no creation is told: the pool may be older than what is read, and something that happened in it tells what it is.
	Seen bool
}

// Reserves sets the reserves of a pool of two reserves (Sync).
type Reserves struct {
	Pool               Address
	Reserve0, Reserve1 Amount
	// Virtual1 is what such a pool adds to Reserve1 for its price alone, where TellsVirtual; else that stays.
	Virtual1     SignedAmount
	TellsVirtual bool
}

// ReservesMoved changes the reserves of a pool of two reserves by what a call moved, where nothing tells the reserves themselves: the pool's accounts may have more
// than them, which is owed to others. A pool whose reserves aren't known stays so.
type ReservesMoved struct {
	Pool             Address
	Change0, Change1 SignedAmount
}

// PoolPriced sets the first price of a V3-like pool (Initialize). SqrtPriceX96 is the Q64.96 square root of the raw
// price of token0 in token1.
type PoolPriced struct {
	Pool         Address
	SqrtPriceX96 Amount
	Tick         int32
}

// Swap is one trade against a pool. Amounts are from the pool's view: positive went in.
type Swap struct {
	Pool              Address
	Sender, Recipient Address
	Amount0, Amount1  SignedAmount
	// SqrtPriceX96, Liquidity and Tick are the state after the swap, of V3-like pools alone (SqrtPriceX96 non-zero).
	SqrtPriceX96 Amount
	Liquidity    Amount
	Tick         int32
	// FeePips is the fee that the swap paid in hundredths of a basis point, the protocol's share included; of Uniswap V4's pools alone.
	FeePips uint32
	// Crossed is by how much the swap changed what a pool of one range (Meteora DAMM v2) has of its second token, without fees: with the change of its price
	// (SqrtPriceX96) it tells the pool's liquidity. 0 where it isn't told, and of other pools.
	Crossed Amount
}

// RangeLiquidity adds Delta to the liquidity of [TickLower, TickUpper) of a V3-like pool, or, where both are 0, of a pool of one range.
type RangeLiquidity struct {
	Pool                 Address
	TickLower, TickUpper int32
	Delta                SignedAmount
}

// FeePaid is how a router of the platform says whose fee reached a recipient. Asset is Native for the chain's own coin.
type FeePaid struct {
	Router, Payer, Recipient, Asset Address
	Amount                          Amount
}

// PairLiquidity is a V2-like pool's Mint, or (Burn) its Burn; the reserves follow in their own event.
type PairLiquidity struct {
	Pool             Address
	Amount0, Amount1 Amount
	Burn             bool
}

func (Transfer) isEvent()       {}
func (Wrap) isEvent()           {}
func (BalanceChange) isEvent()  {}
func (Withheld) isEvent()       {}
func (PoolCreated) isEvent()    {}
func (Reserves) isEvent()       {}
func (ReservesMoved) isEvent()  {}
func (PoolPriced) isEvent()     {}
func (Swap) isEvent()           {}
func (RangeLiquidity) isEvent() {}
func (PairLiquidity) isEvent()  {}
func (FeePaid) isEvent()        {}

// Fact is one of the fact types of this file: what no log tells, asked of a node at a block and then kept with it.
type Fact interface{ isFact() }

// TokenFact is what a token contract answered about itself.
type TokenFact struct {
	Token        Address
	Name, Symbol string
	// URI is where the token's metadata is, as its maker wrote it; empty where it says none, as on EVM chains.
	URI string
	// HasDecimals is false when decimals() reverted or answered nonsense; such a token has no price.
	HasDecimals bool
	Decimals    uint8
	// HasSupply is false when totalSupply() could not be had for the state after the block.
	HasSupply bool
	Supply    Amount
	// FromCreation is true when nobody held any before this block, so that its whole history of transfers is in what we
	// read: the contract did not exist, or its supply is what the block's own transfers leave.
	FromCreation bool
}

// PoolFact is what an already existing pool answered about itself on its first swap, or that it is none: then
// Known is false and the reason is kept so that it isn't asked again, or not before a while where it is PoolMute.
type PoolFact struct {
	Pool   Address
	Known  bool
	Reason string
	Info   PoolCreated
}

// PoolMute is the reason of a PoolFact where nodes that work gave no answer of the contract.
const PoolMute = "it gives no answer"

// PoolStateFact is what a pool older than the index held before the block, so that its events are enough from the block on. Of a V3-like pool
// it is all but the reserves; of another one the reserves alone.
type PoolStateFact struct {
	Pool               Address
	Reserve0, Reserve1 Amount
	SqrtPriceX96       Amount
	Tick               int32
	Liquidity          Amount
	// Ticks are all initialised ticks as TickMap.Marshal writes them: facts have to be comparable. Where Window isn't whole they are those within it.
	Ticks  string
	Window TickWindow
}

// BalanceFact is what balanceOf answered for the state before the block, to hold a derived balance against.
type BalanceFact struct {
	Token, Account Address
	Amount         Amount
}

// SupplyFact is what totalSupply answered for the state before the block.
type SupplyFact struct {
	Token  Address
	Supply Amount
}

func (TokenFact) isFact()     {}
func (PoolFact) isFact()      {}
func (PoolStateFact) isFact() {}
func (BalanceFact) isFact()   {}
func (SupplyFact) isFact()    {}
