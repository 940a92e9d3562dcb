package model

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// MetadataStatus is how fetching a token's metadata went.
type MetadataStatus string

// The states.
const (
	// MetadataNoted is that of a token whose URI is known and wasn't fetched yet.
	MetadataNoted   MetadataStatus = "noted"
	MetadataFetched MetadataStatus = "fetched"
	MetadataFailed  MetadataStatus = "failed"
)

// TokenMetadata is what a token's own description says. Texts are UTF-8 without NUL, which PostgreSQL can't hold. It is
// fetched and not derived: no reorg takes it back.
type TokenMetadata struct {
	Mint                                        market.Address
	ImageURL, Website, X, Telegram, Description string
	// Image is a PNG, or nil. Only Metadata.Image reads it.
	Image    []byte
	Status   MetadataStatus
	Reason   string // why it failed
	Attempts int32
	// NextAt is when to fetch again, in unix seconds; 0 is never.
	NextAt    int64
	FetchedAt int64 // unix seconds
	// Job is what Metadata.Save was asked for by: a launch that announces something else by now stays to be fetched. Nil is
	// whatever is announced. It isn't kept, but for the URI of a token that wasn't launched.
	Job *MetadataJob
}

// MetadataJob is a token whose metadata is to be fetched.
type MetadataJob struct {
	Mint market.Address
	// Metadata and Image are those of the launch's announcement. Of a token that wasn't launched, Metadata is its URI.
	Metadata, Image string
	// Launched is false of a token that wasn't launched.
	Launched bool
	Attempts int32 // made so far
}

// Metadata is a row of token_metadata.
type Metadata struct {
	bun.BaseModel `bun:"table:token_metadata"`

	Chain       string `bun:",pk"`
	Mint        []byte `bun:",pk"`
	ImageURL    string `bun:"image_url"`
	Website     string
	X           string
	Telegram    string
	Description string
	Status      string
	Reason      string
	Attempts    int32
	NextAt      int64
	FetchedAt   int64
	CommitNo    int64
	Image       []byte
	// URI is that of a token whose account or metadata's account was read; empty for a launch, whose row has the announcement's.
	URI string `bun:"uri"`
}

// OfMetadata is the row of what was fetched of a token.
func OfMetadata(chain string, m *TokenMetadata, commitNo int64) Metadata {
	r := Metadata{
		Chain: chain, Mint: m.Mint.Bytes(), ImageURL: m.ImageURL, Website: m.Website, X: m.X, Telegram: m.Telegram,
		Description: m.Description, Status: string(m.Status), Reason: m.Reason, Attempts: m.Attempts, NextAt: m.NextAt,
		FetchedAt: m.FetchedAt, CommitNo: commitNo, Image: m.Image,
	}
	if m.Job != nil && !m.Job.Launched {
		r.URI = m.Job.Metadata
	}
	return r
}

// Value is what was fetched as the row has it, without the image.
func (r *Metadata) Value() (TokenMetadata, error) {
	c := Columns{Table: "token_metadata"}
	return TokenMetadata{
		Mint: c.Address(r.Mint), ImageURL: r.ImageURL, Website: r.Website, X: r.X, Telegram: r.Telegram,
		Description: r.Description, Status: MetadataStatus(r.Status), Reason: r.Reason, Attempts: r.Attempts,
		NextAt: r.NextAt, FetchedAt: r.FetchedAt,
	}, c.Err
}

// Described are the columns of a query that reads tokens with their rows of token_metadata, as m, where they have one.
type Described struct {
	MetadataStatus string
	ImageURL       string `bun:"image_url"`
	Website        string
	X              string
	Telegram       string
}

// DescribedColumns reads Described.
const DescribedColumns = "COALESCE(m.status, '') AS metadata_status, COALESCE(m.image_url, '') AS image_url, COALESCE(m.website, '') AS website, " +
	"COALESCE(m.x, '') AS x, COALESCE(m.telegram, '') AS telegram"

// Texts are what is shown of a token's description; nil while none was fetched. awaited says that its URI is noted.
func (d *Described) Texts(mint market.Address) (m *TokenMetadata, awaited bool) {
	if status := MetadataStatus(d.MetadataStatus); status == "" || status == MetadataNoted {
		return nil, status == MetadataNoted
	}
	return &TokenMetadata{
		Mint: mint, ImageURL: d.ImageURL, Website: d.Website, X: d.X, Telegram: d.Telegram, Status: MetadataStatus(d.MetadataStatus),
	}, false
}
