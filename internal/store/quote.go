package store

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// ident is a name as SQL has it.
func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// literal is a text as SQL has it.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
