// Package differ tells how the rows of two indexes of one chain differ.
package differ

import (
	"fmt"
	"maps"
	"slices"
)

// Tables says in a line for each table how its rows differ from those of a fresh index, and shows the first pair. It is empty where they are the
// same.
func Tables(have, want map[string][]string) (differences []string) {
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if line := Rows(table, have[table], want[table]); line != "" {
			differences = append(differences, line)
		}
	}
	return differences
}

// Rows is Tables for one table.
func Rows(table string, have, want []string) string {
	more, less := only(have, want), only(want, have)
	if len(more) == 0 && len(less) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d rows that a fresh index hasn't, %d that it has besides\n  ours:  %s\n  fresh: %s", table, len(more), len(less),
		first(more), first(less))
}

// only are the rows of a that b hasn't.
func only(a, b []string) (rows []string) {
	in := make(map[string]bool, len(b))
	for _, row := range b {
		in[row] = true
	}
	for _, row := range a {
		if !in[row] {
			rows = append(rows, row)
		}
	}
	return rows
}

func first(rows []string) string {
	if len(rows) == 0 {
		return "none"
	}
	return rows[0]
}
