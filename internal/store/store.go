// Package store keeps the derived rows, in PostgreSQL or SQLite, through one set of models. It takes and returns
// values of internal/market, and makes no decisions about their content.
package store

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// The errors of the database that callers tell apart.
var (
	ErrInterrupted = database.ErrInterrupted
	ErrFileLocked  = database.ErrFileLocked
	ErrUnreachable = database.ErrUnreachable
	ErrNoSchema    = schema.ErrNoSchema
)

// Unreachable reports whether an error is that the database can't be reached: nobody answers at its address, it is starting or stopping, or it
// refuses the login.
func Unreachable(err error) bool { return database.Unreachable(err) }

// Stamp is the block in which something last changed.
type Stamp = model.Stamp

// Waiting is how long a reader waits for a database and its schema.
type Waiting = schema.Waiting

// BoundConnections adds to the address of a PostgreSQL database how many connections a program may have, unless the address says so itself; an
// empty bound is none.
func BoundConnections(dsn, most string) string { return database.BoundConnections(dsn, most) }

// RefreshCredentials adds to the address of a PostgreSQL database the file with the address as it is now: its user and password are those of each new
// connection. An empty file is none.
func RefreshCredentials(dsn, file string) string { return database.RefreshCredentials(dsn, file) }

// rows reads and writes rows: by a database, of the indexes that are served.
type rows struct {
	db *database.DB

	// served says which index of each chain is read; nil for who names the index.
	served *served
}

// Store is what is kept of chains, by what it is about. What concerns a whole chain is its own: its state, and the commits and rewinds that write to
// many tables at once.
type Store struct {
	*rows

	Leases   Leases
	Indexes  Indexes
	Facts    Facts
	Tokens   Tokens
	Pools    Pools
	Candles  Candles
	Trades   Trades
	Balances Balances
	Launches Launches
	Jobs     Jobs
	Metadata Metadata
	Trust    Trust
	Upkeep   Upkeep
	Stream   Stream
	Inspect  Inspect
	Wallets  Wallets

	// Social is what is kept of members, which no chain has to do with.
	Social *social.Store
}

// Leases take, renew and release the right to write an index.
type Leases struct{ *rows }

// Indexes is what is kept of the indexes of chains: how they begin, take over and go.
type Indexes struct{ *rows }

// Facts is what is kept of what nodes were asked, and how sure that is.
type Facts struct{ *rows }

// Tokens is what is kept of tokens.
type Tokens struct{ *rows }

// Pools is what is kept of pools, and the prices of quote assets.
type Pools struct{ *rows }

// Candles is what is kept of candles.
type Candles struct{ *rows }

// Trades is what is kept of trades.
type Trades struct{ *rows }

// Balances is what is kept of balances.
type Balances struct{ *rows }

// Launches is what is kept of launches.
type Launches struct{ *rows }

// Jobs is what is kept of the reading and merging of tokens' past balances.
type Jobs struct{ *rows }

// Metadata is what is kept of what tokens' own descriptions say.
type Metadata struct{ *rows }

// Trust is what is kept of the last trust report of each token.
type Trust struct{ *rows }

// Upkeep deletes what need not be kept any more: old trades and candles, and the balances of tokens that are no longer followed.
type Upkeep struct{ *rows }

// Inspect has reads and writes for tests and benchmarks. No program uses it.
type Inspect struct{ *rows }

func newStore(d *database.DB, served *served) *Store {
	r := &rows{db: d, served: served}
	return &Store{
		rows:     r,
		Leases:   Leases{r},
		Indexes:  Indexes{r},
		Facts:    Facts{r},
		Tokens:   Tokens{r},
		Pools:    Pools{r},
		Candles:  Candles{r},
		Trades:   Trades{r},
		Balances: Balances{r},
		Launches: Launches{r},
		Jobs:     Jobs{r},
		Metadata: Metadata{r},
		Trust:    Trust{r},
		Upkeep:   Upkeep{r},
		Stream:   Stream{r},
		Inspect:  Inspect{r},
		Wallets:  Wallets{r},
		Social:   social.New(d),
	}
}

// Open opens and migrates the database that dsn names: "postgres://…" or "sqlite:PATH". Nothing is written before the
// database is known to be readable by this binary. The error of a PostgreSQL that isn't there is ErrUnreachable.
func Open(ctx context.Context, dsn string) (*Store, error) {
	return of(schema.Open(ctx, dsn, func() {}))
}

// OpenPatiently is Open, and waits for up to a minute for a database that nobody answers for. It calls step before each statement of a migration,
// and after each try that failed, with its error, so that the caller learns how the opening goes on.
func OpenPatiently(ctx context.Context, dsn string, now func() time.Time, step func(failed error), log *slog.Logger) (*Store, error) {
	return of(schema.OpenPatiently(ctx, dsn, now, step, log))
}

// OpenReader opens a database for a program that only reads. On PostgreSQL it makes no schema, its role needs no right but SELECT, and every
// transaction is read-only; it may be a hot standby, which then is told as old as it is. Without a schema, or without rights on it, the error
// is ErrNoSchema. An SQLite file has one process, which opens it as Open does.
func OpenReader(ctx context.Context, dsn string) (*Store, error) {
	return of(schema.OpenReader(ctx, dsn))
}

// OpenReaderPatiently is OpenReader, and waits for a database that nobody answers for and for a schema that isn't there yet. Every ten
// seconds it says what it waits for.
func OpenReaderPatiently(ctx context.Context, dsn string, w schema.Waiting) (*Store, error) {
	return of(schema.OpenReaderPatiently(ctx, dsn, w))
}

// OpenMigratedPatiently opens a database whose schema another program makes, for one that writes, and waits for both as OpenReaderPatiently does.
func OpenMigratedPatiently(ctx context.Context, dsn string, w schema.Waiting) (*Store, error) {
	return of(schema.OpenMigratedPatiently(ctx, dsn, w))
}

func of(d *database.DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return newStore(d, nil), nil
}

// Close closes every connection and frees the file lock.
func (s *Store) Close() error { return s.db.Close() }

// ConnectionPools are the pools of connections, by what they are for.
func (s *Store) ConnectionPools() map[string]*sql.DB { return s.db.Pools() }

// Ping tells whether the database answers reads.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Hints tells of commits until ctx ends. It is never closed.
func (s *Store) Hints(ctx context.Context) <-chan struct{} { return s.db.Hints(ctx) }

// Maintain looks after a PostgreSQL database while others read and write it, until ctx ends: it builds the indexes that are missing, has tables
// vacuumed as they are used, and splits by time what has grown. Of several programs one does it.
func (s *Store) Maintain(ctx context.Context, log *slog.Logger) { schema.Maintain(ctx, s.db, log) }

// Reserved is the same store read through connections of its own, for whoever must go on reading however many requests
// there are. It is closed with the store.
func (s *Store) Reserved() *Store { return newStore(s.db.Reserved(), s.served) }
