package database

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// Ident is a name as SQL has it.
func Ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// Literal is a text as SQL has it.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
