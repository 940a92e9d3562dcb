package market

import "cmp"

// WatchedWallet is a member's wallet from the block on in which its entries began to be kept.
type WatchedWallet struct {
	Wallet Address
	// Member is the number that the registry has for the member, Change the number of the change by which the wallet is theirs.
	Member, Change int64
	// Since is from when on sales count for the member; unix seconds.
	Since int64
	// PastIn is the block whose commit took in what the wallet did before it was watched; 0 while none has.
	PastIn uint64
}

// WatchFact says that a wallet is a member's, for the state before the block. No node told it: the registry did, and the index keeps it, so that
// an index made anew watches from the same block.
type WatchFact struct{ WatchedWallet }

func (WatchFact) isFact() {}

// HeldFact is what balanceOf answered of a watched wallet for the state before the block, so that what was copied of its trades has no more of a basis than
// the wallet has of the token. Known is false where no node told it.
type HeldFact struct {
	PositionKey

	Known  bool
	Amount Amount
}

// GasFact is what a watched wallet paid for a transaction of the block, in raw units of the chain's own coin. Known is false where no node told it, or where
// another account sent the transaction.
type GasFact struct {
	GasKey

	Known  bool
	Amount Amount
}

// GasKey names what a wallet paid for a transaction.
type GasKey struct {
	Wallet Address
	Tx     TxID
}

// PastSeq is the first place of a past's entries among those of their block.
const PastSeq = 1 << 20

func (HeldFact) isFact() {}
func (GasFact) isFact()  {}
func (PastFact) isFact() {}

// PastFact has what a watched wallet did before it was watched, as nodes told it. It is for the state before the block.
type PastFact struct {
	Wallet Address
	// Before is the first block of which it says nothing: that from which on the wallet is watched.
	Before uint64
	// In is the block whose commit took it in first; 0 before.
	In uint64
	// Entries lists the wallet's entries of earlier blocks, in the order of the chain, without what they realised. None of them counts. Their
	// places in their blocks begin at PastSeq, so that the entries of trades that the index has itself stand before them.
	Entries []Entry
}

// CopiedTrades is how many trades of a wallet from before it was watched are copied to its entries; of a wallet with more, none are.
const CopiedTrades = 10_000

// MostReworked is how many entries the wallets of a member may have on a chain for what they did before it was watched to be taken in: all of them are
// worked out again in one commit.
const MostReworked = 50_000

// PositionKey names what one wallet has of one token.
type PositionKey struct{ Wallet, Token Address }

// Position is what a watched wallet has of a token (docs/pnl.md).
type Position struct {
	// Quantity is what has a basis, and Cost what that cost.
	Quantity Amount
	Cost     USD
	// Balance is all that the wallet has of the token, if HasBalance, as its entries have it.
	Balance    Amount
	HasBalance bool
	// IsIn says that the member is in the token: something is left of what they bought for at least the least trade of the chain in a trade that counts.
	IsIn bool
	// IsCopied says that the basis is of trades from before the wallet was watched, some of which the wallet may have sent away since: what it has isn't
	// known yet.
	IsCopied bool
}

// IsEmpty reports whether the position says no more than none would.
func (p *Position) IsEmpty() bool {
	return p.Quantity.IsZero() && p.Cost.Sign() == 0 && (!p.HasBalance || p.Balance.IsZero())
}

// EntryKind is what happens to a position.
type EntryKind uint8

// The kinds of entries. A swap of one token for another is a sale and a purchase of the same value.
const (
	Bought EntryKind = iota
	Sold
	// CameIn is what came from elsewhere and was not paid for: a transfer, an airdrop, a mint, a creator's own allocation.
	CameIn
	// WentOut is what went elsewhere.
	WentOut
	// Held is all that the wallet was found to have: what had a basis beyond it had gone unseen.
	Held
)

// Entry is one thing that happened to a watched wallet's position, with what it realised.
type Entry struct {
	Wallet Address
	Block  uint64
	// Seq is its place among the entries of the block.
	Seq   uint32
	Time  int64 // unix seconds
	Tx    TxID
	Token Address
	Kind  EntryKind
	// Pool and LogIndex are the pool and the log of a trade; an entry that isn't a trade's has neither.
	Pool     Address
	LogIndex uint64
	// To is the wallet of the same member to which the basis went.
	To     Address
	Amount Amount
	// Before is, if HasBefore, all that the wallet had of the token before the transaction, as the first trade in it tells.
	Before    Amount
	HasBefore bool
	// NanoUSD is a trade's value in 1e-9 USD; HasUSD is false where it isn't known.
	NanoUSD int64
	HasUSD  bool
	// Counts says that the trade is after the wallet became the member's, and eligible.
	Counts bool
	// Player is the number of the member for whom the trade counts in the game: it Counts, and is worth at least the chain's least trade. 0 is none.
	Player int64
	// Proceeds and Cost are what the quantity of a sale that had a basis brought and had cost, less fees and with them.
	Proceeds, Cost USD
	// Fee is the trade's part of the platform's fee, as the chain shows it.
	Fee USD
	// GasNanoUSD is the trade's part of what the wallet paid for the transaction in 1e-9 USD, if HasGas: the first trade has all of it. Of a trade that
	// isn't eligible, or is below the chain's least trade, it is taken for 0 where it isn't known.
	GasNanoUSD int64
	HasGas     bool
	// MovedOut is the cost of what went to strangers: by this entry, or unseen before this trade.
	MovedOut USD
}

// EntryKey names an entry.
type EntryKey struct {
	Wallet Address
	Block  uint64
	Seq    uint32
}

// Key names the entry.
func (e *Entry) Key() EntryKey { return EntryKey{e.Wallet, e.Block, e.Seq} }

// Fee is what the chain shows of a watched wallet's payment to a recipient of the platform's fee.
type Fee struct {
	Wallet Address
	Block  uint64
	// LogIndex is the index of the log that shows the payment.
	LogIndex uint64
	Time     int64 // unix seconds
	Tx       TxID
	// Asset is a quote asset, or a token that the wallet trades in the transaction; it is Native for the chain's own coin.
	Recipient, Asset Address
	Amount           Amount
	// NanoUSD is its value at the end of the block in 1e-9 USD, of a quote asset alone; HasUSD is false where it isn't known.
	NanoUSD int64
	HasUSD  bool
	// AsDeclared says that all that the wallet paid of the asset in the transaction is the declared share of what it traded of it.
	AsDeclared bool
}

// Profit is what the sales of a stretch of time came to. Sums are of sales that have a basis and are eligible, where nothing else is said.
type Profit struct {
	// Cost is what the quantity sold had cost, with the platform's fees of the time.
	Cost USD
	// Proceeds are what the quantity sold brought, less the platform's fees.
	Proceeds USD
	// Excluded is what sales brought of quantity without basis, less the platform's fees. It is no profit.
	Excluded USD
	// Fees are the platform's, of every valued purchase and sale. Cost and Proceeds have them in them already.
	Fees USD
	// Gas is beside: it is in no other figure. WithoutGas counts the trades whose gas is unknown.
	Gas        USD
	WithoutGas int
	// Volume is of every valued purchase and sale, without fees.
	Volume USD
	// MovedOut is what the quantity sent to strangers had cost.
	MovedOut USD
	// Trades counts purchases and sales, and Unvalued those whose value is unknown.
	Trades, Unvalued int
	// Sales counts sales with a basis, Wins those that brought more than they had cost and Losses those that brought less.
	Sales, Wins, Losses int
	// IneligibleSells counts what was left out for that.
	IneligibleSells int
}

// Realised is Proceeds less Cost.
func (p *Profit) Realised() USD { return p.Proceeds.Sub(p.Cost) }

// Add adds the sums and counts of another stretch.
func (p *Profit) Add(o *Profit) {
	p.Cost, p.Proceeds, p.Excluded = p.Cost.Add(o.Cost), p.Proceeds.Add(o.Proceeds), p.Excluded.Add(o.Excluded)
	p.Fees, p.Gas, p.Volume, p.MovedOut = p.Fees.Add(o.Fees), p.Gas.Add(o.Gas), p.Volume.Add(o.Volume), p.MovedOut.Add(o.MovedOut)
	p.WithoutGas, p.Trades, p.Unvalued = p.WithoutGas+o.WithoutGas, p.Trades+o.Trades, p.Unvalued+o.Unvalued
	p.Sales, p.Wins, p.Losses, p.IneligibleSells = p.Sales+o.Sales, p.Wins+o.Wins, p.Losses+o.Losses, p.IneligibleSells+o.IneligibleSells
}

// HourKey names an hour of a wallet in one member's hands.
type HourKey struct {
	Wallet Address
	Member int64
	// Open is the unix second at which the hour begins.
	Open int64
}

// WalletHour is what a watched wallet's entries of an hour came to, from the time on that they count for the member.
type WalletHour struct {
	HourKey
	Profit
	// Best is the sale with the highest gain; its Gain is nought where there was none.
	Best BestSale
}

// Better reports whether the sale is a gain and higher than the other, or as high and earlier, or of the token that comes first.
func (s *BestSale) Better(o *BestSale) bool {
	return s.Gain.Sign() > 0 && cmp.Or(o.Gain.Cmp(s.Gain), cmp.Compare(s.At, o.At), s.Token.Compare(o.Token)) < 0
}

// BestSale is the sale with the highest gain: of one token, in one transaction.
type BestSale struct {
	Token Address
	At    int64 // unix seconds
	Gain  USD
}

// HourSums are what the hours of several wallets, on whichever chains, come to.
type HourSums struct {
	// Realised is of Sales, which members made: Members of them.
	Realised       USD
	Members, Sales int
	// Volume is of every valued purchase and sale, and Trades counts those.
	Volume USD
	Trades int
}

// PastJob is how far the reading of what a wallet did before it was watched has come.
type PastJob struct {
	Wallet Address
	// Change is the registry's, by which the wallet is watched.
	Change int64
	// Since is the unix second from which on anything of the wallet is wanted.
	Since int64
	// First is the first block that is looked through.
	First uint64
	// Next is the first block that wasn't looked through yet, and Before the first one that isn't to be: that from which on the wallet is watched.
	Next, Before uint64
	// Found are the blocks that touch the wallet, in order, Alone of which one endpoint of several named alone.
	Found []uint64
	Alone int
	// Fact is what came of it; nil while all of it isn't read.
	Fact *PastFact
}

// IsFound reports whether all blocks were looked through: those that were found are to be read.
func (j *PastJob) IsFound() bool { return j.Next >= j.Before }
