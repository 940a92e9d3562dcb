package database

import (
	"context"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

// credentialsFile is the parameter of an address that names a file which has the address too, as it is now. What that says of user and password
// holds for each new connection, so that a password can be changed while programs run.
const credentialsFile = "credentials_file"

// maxAddress bounds such a file, in bytes.
const maxAddress = 64 << 10

// credentials are where user and password of new connections are read; without a file they are those of the address.
type credentials struct{ file string }

// credentialsOf takes the file of an address from its settings, which the server would refuse.
func credentialsOf(cfg *pgx.ConnConfig) credentials {
	file := cfg.RuntimeParams[credentialsFile]
	delete(cfg.RuntimeParams, credentialsFile)
	return credentials{file}
}

// refresh gives the settings of a new connection the user and password of now. A file that isn't there, or can't be used, changes nothing. Neither does
// the address of another server or database: connections to both at once would mix their data, so that a move takes a start.
func (c credentials) refresh(_ context.Context, cfg *pgx.ConnConfig) error {
	if c.file == "" {
		return nil
	}
	info, err := os.Stat(c.file)
	if err != nil || info.Size() > maxAddress {
		return nil //nolint:nilerr // the address that the program was started with holds
	}
	address, err := os.ReadFile(c.file)
	if err != nil {
		return nil //nolint:nilerr // the same
	}
	now, err := parsePostgres(strings.TrimSpace(string(address)))
	if err != nil || now.Host != cfg.Host || now.Port != cfg.Port || now.Database != cfg.Database {
		return nil //nolint:nilerr // the same
	}
	cfg.User, cfg.Password = now.User, now.Password
	return nil
}

// RefreshCredentials adds to the address of a PostgreSQL database the file with the address as it is now, unless the address names one itself; an
// empty file is none.
func RefreshCredentials(dsn, file string) string { return withParameter(dsn, credentialsFile, file) }
