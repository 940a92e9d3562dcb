package member

import (
	"errors"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// PostID is the platform's app's own name of a post. Nothing public shows it.
type PostID string

// PostKind says where a post stands.
type PostKind string

// The kinds of posts.
const (
	// PostAlone stands on its own. It may be a note on a trade of its author's.
	PostAlone PostKind = "post"
	// PostReply answers another post, of whatever kind.
	PostReply PostKind = "reply"
	// PostFamily is for the members who are in a token.
	PostFamily PostKind = "family"
	// PostComment is about a token, for everybody.
	PostComment PostKind = "comment"
)

// Post is what a member wrote.
type Post struct {
	ID PostID
	// Number is Boardwalk's own name of the post. Nothing public shows it either.
	Number int64
	// Member is the author.
	Member Number
	Kind   PostKind
	// Parent is the post that a reply answers; empty in other posts. It may not be there: it was deleted, or its author left.
	Parent PostID
	// Chain and Mint name the token of a family post or a comment; they are empty in other posts.
	Chain string
	Mint  market.Address
	// Trade is the trade that the post is a note on.
	Trade TradeRef
	Text  string
	// Refs say which tokens the text's tickers mean.
	Refs []TokenRef
	// PostedAt is the app's own time of the post, in unix seconds.
	PostedAt int64
	// UpdatedAt is as that of Member. DeletedAt is when the app deleted the post, in unix seconds; 0 if it isn't deleted.
	UpdatedAt, DeletedAt int64
	// Change is the number of the last change of any post that changed this one.
	Change int64
}

// TradeRef names what a member bought, or sold, of one token in one transaction. The zero TradeRef names none. It is comparable.
type TradeRef struct {
	// Chain is the id of a chain.
	Chain string
	Tx    market.TxID
	Mint  market.Address
}

// PostRecord is a post as the app writes it. Record.ID names its author. A deletion has the post's ID alone, and no author.
type PostRecord struct {
	ID     PostID
	Kind   PostKind
	Parent PostID
	Chain  string
	Mint   market.Address
	Trade  TradeRef
	Text   string
	Refs   []TokenRef
	// PostedAt is unix seconds; 0 stands for the time at which the record comes.
	PostedAt int64
}

// The errors of a record of a post that has the right form and can't be written.
var (
	ErrNoPost    = errors.New("there is no such post")
	ErrPostTaken = errors.New("the post is another member's")
	ErrPostFixed = errors.New("a post's kind, parent and token can't be changed: delete it, and write another one")
)

var errPostKind = errors.New("allowed are post, reply, family and comment")

// ParsePostKind reads a kind.
func ParsePostKind(text string) (PostKind, error) {
	switch k := PostKind(text); k {
	case PostAlone, PostReply, PostFamily, PostComment:
		return k, nil
	default:
		return "", errPostKind
	}
}

// HasToken reports whether posts of the kind name a token.
func (k PostKind) HasToken() bool { return k == PostFamily || k == PostComment }
