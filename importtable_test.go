package main

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheImportTableIsTrue holds the second column of docs/architecture.md, "Who may import whom", against every package outside hack and the tests'
// helpers, and finds the row of each.
func TestTheImportTableIsTrue(t *testing.T) {
	t.Parallel()
	imports := importsOfOurs(t)
	rows := readImportTable(t)
	for name, imported := range imports {
		row := rowOf(rows, name)
		if row == nil {
			t.Errorf("%s has no row in docs/architecture.md, \"Who may import whom\"", name)
			continue
		}
		row.used = true
		for _, other := range imported {
			if !row.allows(name, other) {
				t.Errorf("%s imports %s, which its row in docs/architecture.md, \"Who may import whom\", doesn't name", name, other)
			}
		}
	}
	for _, r := range rows {
		if !r.used {
			t.Errorf("no package is in the row of %v in docs/architecture.md, \"Who may import whom\"", r.packages)
		}
	}
}

// importRow is one row of the table. Where withFolders holds, the row is about all folders of its packages, too.
type importRow struct {
	packages    []string
	withFolders bool
	// allowed are names as the table has them, and folders those of which the folders are allowed, too.
	allowed, folders []string
	everything       bool
	ownFolders       bool
	used             bool
}

var (
	tableName    = regexp.MustCompile("`([^`]+)`( and its folders)?")
	rulesOfTable = []string{
		"internal/price", "internal/funding", "internal/candle", "internal/pnl", "internal/traction", "internal/board", "internal/trust",
	}
)

func readImportTable(t *testing.T) (rows []*importRow) {
	t.Helper()
	doc, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Who may import whom\n")
	section, _, _ = strings.Cut(section, "\n## ")
	lines := regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(section, -1)
	for _, line := range lines[min(1, len(lines)):] { // the first has the titles
		cells := strings.Split(line, " | ")
		row := &importRow{withFolders: strings.Contains(cells[0], "and its folders"), everything: strings.Contains(cells[1], "everything")}
		row.packages, _ = names(cells[0], "")
		row.allowed, row.folders = names(cells[1], path.Dir(row.packages[0]))
		row.ownFolders = strings.Contains(cells[1], "its own folders")
		if strings.Contains(cells[1], "the rules") {
			row.allowed = append(row.allowed, rulesOfTable...)
		}
		if above := len(rows) - 1; strings.Contains(cells[1], "the same") {
			row.allowed, row.folders = append(row.allowed, rows[above].allowed...), append(row.folders, rows[above].folders...)
		}
		rows = append(rows, row)
	}
	if len(rows) < 30 {
		t.Fatalf("the table has only %d rows: it was not read", len(rows))
	}
	return rows
}

// names reads the packages that a cell names. A name without its folder is of the folder of the name before, or of the row's first package, or of internal.
func names(cell, folder string) (list, withFolders []string) {
	before := folder
	for _, m := range tableName.FindAllStringSubmatch(cell, -1) {
		name := m[1]
		for _, candidate := range []string{m[1], path.Join(before, m[1]), path.Join(folder, m[1]), "internal/" + m[1]} {
			if _, err := os.Stat(candidate); err == nil {
				name = candidate
				break
			}
		}
		list, before = append(list, name), path.Dir(name)
		if m[2] != "" {
			withFolders = append(withFolders, name)
		}
	}
	return list, withFolders
}

// rowOf finds the row that names the package, or else that of the innermost folder that holds it.
func rowOf(rows []*importRow, name string) *importRow {
	for folder := name; folder != "."; folder = path.Dir(folder) {
		for _, r := range rows {
			if slices.Contains(r.packages, folder) && (folder == name || r.withFolders || r.everything) {
				return r
			}
		}
	}
	return nil
}

func (r *importRow) allows(name, other string) bool {
	if r.everything || slices.Contains(r.allowed, other) {
		return true
	}
	inside := func(folder string) bool { return other == folder || strings.HasPrefix(other, folder+"/") }
	if r.ownFolders && inside(name) || slices.ContainsFunc(r.folders, inside) {
		return true
	}
	return r.withFolders && slices.ContainsFunc(r.packages, inside)
}

// testHelpers are packages that no program links.
var testHelpers = regexp.MustCompile(
	`^(hack(/|$)|indexer/trust/evm/probe/gen|internal/(golden|recorded|npmcache|kubetest)(/|$))|test(/|$)`)

// importsOfOurs are the packages of this module that each of them imports outside its tests.
func importsOfOurs(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list ./...: %v", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name, ok := strings.CutPrefix(fields[0], module)
		if !ok || testHelpers.MatchString(name) {
			continue
		}
		imports[name] = nil
		for _, imported := range fields[1:] {
			if other, ok := strings.CutPrefix(imported, module); ok {
				imports[name] = append(imports[name], other)
			}
		}
	}
	if len(imports) < 60 {
		t.Fatalf("only %d packages were found", len(imports))
	}
	return imports
}
