// Package chain has the interfaces between the indexer and a family of chains, and their plain values: blocks, facts,
// and the answers of contracts or programs. The indexer's loop, the derivation and the store depend on no family;
// indexer.New chooses one.
package chain

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ErrNoBlock means that a node doesn't have the block (yet).
var ErrNoBlock = errors.New("the node doesn't have the block")

// ErrSkipped means that the chain has no block of that number, and won't have one but by a reorg: numbers may have gaps.
var ErrSkipped = errors.New("the chain has no block of that number")

// RangeMissingError says that no endpoint has the blocks from one number to another, although a later one follows them. The index waits until one has them.
type RangeMissingError struct {
	First, Last uint64
	// Why is what the endpoints answered.
	Why error
}

func (e *RangeMissingError) Error() string {
	blocks := fmt.Sprintf("blocks %d to %d", e.First, e.Last)
	if e.First == e.Last {
		blocks = fmt.Sprintf("block %d", e.First)
	}
	return fmt.Sprintf("no endpoint has %s, although a later one follows: %s", blocks, e.Why)
}

func (e *RangeMissingError) Unwrap() error { return e.Why }

// Ref names a block whose state is asked for. Without a hash it is the block of that number, whichever that is.
type Ref struct {
	Number uint64
	Hash   market.Hash
}

// Header is a block's header.
type Header struct {
	market.Header
	// Known is what the family knows of the block's contents by its header, for itself alone; it may be nil.
	Known any
	// Body is what the family read of the block together with its header, for itself alone; it may be nil. Whoever keeps a header for longer than its
	// block is read leaves it out: it is as large as the block.
	Body any
}

// Head is the newest block.
type Head struct {
	Header
	// Reached is the newest block that enough endpoints have reached: two, where two answer. It is at most the head, and bounds what is past.
	Reached     uint64
	Safe, Final uint64
	FinalTime   int64 // unix seconds
	// IsBare says that Headers gives the same header with a Body, and that this one has none.
	IsBare bool
}

// BlockRead is a block as one endpoint has its contents, or several.
type BlockRead struct {
	market.Block
	// Agreed says that two endpoints have the same contents; Doubtful that endpoints have different ones, no two the same.
	Agreed, Doubtful bool
	// Word says which endpoints gave the contents; it is never nil.
	Word Word
}

// Word identifies which endpoints gave a block's contents. Each family has its own type.
type Word interface {
	// IsSuspect reports whether an endpoint gave them that has been outvoted since. Where nobody knows which endpoint it was, any of them that was may
	// be the one.
	IsSuspect() bool
	// Same reports whether two words of a block, either of which may have been recalled, are of the same contents.
	Same(Word) bool
	// Bare is the word without the contents: enough to ask others about them later.
	Bare() Word
}

// Suspect reports whether the block needs another endpoint's word.
func (r *BlockRead) Suspect() bool { return !r.Agreed && r.Word.IsSuspect() }

// Bare is the read without the block.
func (r *BlockRead) Bare() BlockRead {
	out := *r
	out.Block, out.Word = market.Block{}, r.Word.Bare()
	return out
}

// AgreedShare is the share of the blocks at the head, and of the ranges of the past, one in so many, of which two endpoints have to have the
// same contents whatever they are. A block's hash draws them, of a range that of its last block: no endpoint knows them in advance.
const AgreedShare = 10

// Drawn reports whether a block, or the range that ends with it, is one of those that two endpoints are asked for in any case.
func Drawn(hash market.Hash) bool {
	return binary.BigEndian.Uint32(hash[len(hash)-4:])%AgreedShare == 0
}

// Batch is a piece of the past: at least those of its blocks that mean something to us, and its last one.
type Batch struct {
	Blocks []market.Block
	Last   Header
	// Known is what the family keeps of whoever gave the batch, for itself alone.
	Known any
}

// Record says that an endpoint isn't trusted. It is kept, so that after a restart a liar isn't among the endpoints that are asked first.
type Record struct {
	// Endpoint is a hash of its URL, which may hold a key. An endpoint with another URL is another one.
	Endpoint [16]byte
	// Outvoted is how often others, or a header, contradicted it, OutvotedAt when they did last (unix seconds).
	Outvoted   int
	OutvotedAt int64
}

// Check tells whether the endpoints serve the right chain.
type Check interface {
	Check(ctx context.Context) error
	AllWrong() bool
}

// HeadReader tells the newest block.
type HeadReader interface {
	Head(ctx context.Context) (Head, error)
	// Heads tells of new blocks where an endpoint announces them.
	Heads(ctx context.Context) <-chan struct{}
	// HasRhythm reports whether the chain makes blocks at regular times, so that the time of the next block can be foreseen.
	HasRhythm() bool
}

// BlockReader reads the blocks up to the head, in order and linked to each other.
type BlockReader interface {
	// Header's error has ErrNoBlock in its tree where no node has the block, ErrSkipped where the chain has none of that number.
	Header(ctx context.Context, number uint64) (Header, error)
	// Headers reads the headers of the blocks from first to last, or of the next block if the chain skipped all of these. parent is the block below the first as far as it
	// is known. Those of the newest blocks may be missing; ErrNoBlock is in the error's tree when there are none.
	Headers(ctx context.Context, parent market.Header, first, last uint64) ([]Header, error)
	AnyHas(ctx context.Context, block market.Header) bool
	Blocks(ctx context.Context, headers []Header) iter.Seq2[BlockRead, error]
}

// Agreement asks a second endpoint for a block, and remembers which endpoints were outvoted.
type Agreement interface {
	Agree(ctx context.Context, h Header, r *BlockRead) (changed bool, err error)
	// LogsHash makes a digest of a read, from which Recall makes the read again, in another process too. The digest doesn't tell the endpoint: endpoints may
	// have other numbers by then.
	LogsHash(r *BlockRead) []byte
	// Recall's ok is false where endpoints are asked for other contents now: then nobody can say whether a block was committed with those that it has.
	Recall(logsHash []byte) (r BlockRead, ok bool)
	Records() []Record
	RecallRecords(records []Record)
}

// PastReader reads what lies far behind the head.
type PastReader interface {
	Backfill(ctx context.Context, parent market.Header, first, last uint64) iter.Seq2[Batch, error]
	// RereadPast reads a batch again if it rests on the word of an endpoint that was outvoted since. parent is the block below the batch.
	RereadPast(ctx context.Context, parent market.Header, b *Batch) error
}

// BusyError says that an account has more transactions than are read.
type BusyError struct {
	Account      market.Address
	Transactions int
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("it has more than %d transactions", e.Transactions) // whose wallet it is stays out of logs
}

// WalletTransfer says that a block has transfers of a token from or to a wallet. Token is none where nodes don't tell it: the block does. Alone says that another endpoint denies it: the block itself tells who is right.
type WalletTransfer struct {
	Wallet, Token market.Address
	Block         uint64
	Alone         bool
}

// PastFinder finds in which blocks of the past something happened. What happened there the blocks tell.
type PastFinder interface {
	// ListsAccounts reports whether nodes list an account's transactions, instead of searching blocks for it. Then wallets are asked for one at a time, and a range may have any
	// width.
	ListsAccounts() bool
	// PastBlock is a block far behind the head, as two endpoints have it where there are several: the whole block, or only those of its transactions that name an account.
	PastBlock(ctx context.Context, number uint64, account market.Address) (market.Block, error)
	// TransfersOfWallets' error has a BusyError in its tree if a wallet has too many transactions.
	TransfersOfWallets(ctx context.Context, wallets []market.Address, from, to uint64) (found []WalletTransfer, upTo uint64, err error)
	// LastPrice finds the last block of a range in which a pool told a price, by what two endpoints say where there are several, looking through blocks from its end
	// on; from is the first of them.
	LastPrice(ctx context.Context, pool *market.Pool, first, last uint64) (block uint64, ok bool, from uint64, err error)
}

// TransferReader reads the transfers of one token, from its creation on.
type TransferReader interface {
	TransfersOf(ctx context.Context, token market.Address, from, to uint64) ([]market.Block, uint64, error)
	CreatedAt(ctx context.Context, contract market.Address, last uint64) (uint64, error)
}

// HolderReader tells who has a token. It is for nodes that can tell this, but no past transfers.
type HolderReader interface {
	// TellsHolders reports whether nodes tell who has a token. If they do, TransferReader returns nothing.
	TellsHolders() bool
	// HoldersOf asks one endpoint after the other who has a token, after a final block of its own that is no earlier than a given one. Most is the most accounts with
	// a balance that are wanted. The error is why an endpoint doesn't tell.
	HoldersOf(ctx context.Context, token market.Address, noEarlier uint64, most int64) iter.Seq2[Holdings, error]
}

// Holdings are what everybody has of a token after a block, as one endpoint tells it.
type Holdings struct {
	// Alone says that no other endpoint can be asked.
	Alone bool
	// TooMany says that more accounts have the token than are wanted, or than an answer can have.
	TooMany bool
	After   uint64
	// Amounts has the balance of each account that has one, in raw units.
	Amounts map[market.Address]uint64
}
