package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/boardwalkhq/boardwalk/"

// TestNobodyReachesWhatTheyMustNot holds the transitive import rules of docs/architecture.md; the linter sees direct
// imports alone. A forbidden entry ending in a slash stands for everything below it.
func TestNobodyReachesWhatTheyMustNot(t *testing.T) {
	t.Parallel()
	programs := []string{module + "operator", module + "indexer", module + "apiserver", module + "renderer", module + "members"}
	kubernetes := []string{"k8s.io/", "sigs.k8s.io/controller-runtime"}
	// Not database/sql: uint256 itself names its driver.Valuer.
	sql := []string{"github.com/uptrace/bun/", "github.com/jackc/pgx/", "modernc.org/sqlite"}
	// What talks to an API server, as opposed to its values. The apply configurations themselves reach client-go/rest.
	clients := []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go/informers/", "k8s.io/client-go/dynamic/", "k8s.io/client-go/tools/cache"}
	others := []string{module + "indexer", module + "apiserver", module + "renderer", module + "internal/store"}
	subjects := []string{
		module + "apiserver/tokens", module + "apiserver/launches", module + "apiserver/traders", module + "apiserver/platform", module + "apiserver/pages",
		module + "apiserver/social", module + "apiserver/game",
	}
	for from, forbidden := range map[string][][]string{
		"internal/base58":          {{module}, sql, {"net/http"}, kubernetes},
		"internal/market":          {programs, {module + "api/", module + "hack/", module + "internal/store", module + "internal/chainconfig", module + "internal/price", module + "internal/candle", module + "internal/funding", module + "internal/catalog", module + "internal/member", module + "internal/wait"}, sql, {"net/http"}, kubernetes},
		"internal/chainconfig":     {programs, sql, {"net/http"}, kubernetes, {module + "internal/store", module + "internal/catalog"}},
		"internal/price":           {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/funding":         {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/candle":          {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/traction":        {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/board":           {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/pnl":             {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/trust":           {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/catalog":         {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/store/database":  {programs, kubernetes, {module + "internal/market", module + "internal/store/schema", module + "internal/chainconfig"}},
		"internal/store/schema":    {programs, kubernetes, {module + "internal/market", module + "internal/chainconfig"}},
		"internal/store/model":     {programs, kubernetes, {module + "internal/store/database", module + "internal/store/schema"}},
		"internal/store":           {programs, kubernetes, {module + "internal/catalog"}},
		"indexer/chain":            {{module + "apiserver", module + "operator", module + "indexer/evm", module + "indexer/solana", module + "indexer/rpc", module + "indexer/derive", module + "internal/store"}, sql, {"net/http"}, kubernetes},
		"indexer/derive":           {{module + "apiserver", module + "operator"}, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"indexer/evm":              {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive"}},
		"indexer/evm/block":        {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm/decode"}},
		"indexer/evm/decode":       {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive"}},
		"indexer/evm/node":         {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm/poolstate"}},
		"indexer/evm/ethcall":      {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive"}},
		"indexer/evm/contracts":    {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive"}},
		"indexer/evm/poolstate":    {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm/block"}},
		"indexer/solana":           {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm"}},
		"indexer/solana/decode":    {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm"}},
		"indexer/trust/solana":     {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive", module + "indexer/evm"}},
		"indexer/evm/hash":         {{module}, sql, {"net/http"}, kubernetes},
		"indexer/rpc":              {{module + "apiserver", module + "operator", module + "internal/store", module + "indexer/evm", module + "indexer/derive"}, sql, kubernetes},
		"indexer/trust":            {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/evm", module + "indexer/trust/evm"}},
		"indexer/trust/evm":        {{module + "apiserver", module + "operator"}, sql, kubernetes, {module + "internal/store", module + "indexer/derive"}},
		"indexer/enrich":           {{module + "apiserver", module + "operator", module + "indexer/evm", module + "indexer/solana", module + "internal/catalog"}, kubernetes},
		"indexer/holders":          {{module + "apiserver", module + "operator", module + "indexer/evm", module + "indexer/solana", module + "internal/catalog"}, kubernetes},
		"indexer/pasts":            {{module + "apiserver", module + "operator", module + "indexer/evm", module + "indexer/solana", module + "internal/catalog"}, kubernetes},
		"indexer/preflight":        {{module + "apiserver", module + "operator", module + "internal/store", module + "indexer/derive", module + "internal/catalog"}, sql, kubernetes},
		"indexer/metadata":         {{module + "apiserver", module + "operator", module + "internal/store", module + "indexer/evm", module + "indexer/solana"}, sql, kubernetes},
		"indexer/watch":            {{module + "apiserver", module + "operator", module + "internal/catalog"}, kubernetes},
		"indexer":                  {{module + "apiserver", module + "operator", module + "internal/catalog"}, kubernetes},
		"renderer":                 {{module + "operator", module + "indexer", module + "apiserver", module + "internal/store"}, sql, kubernetes},
		"internal/sharecard":       {{module, "github.com/", "golang.org/"}, {"net/http", "database/sql"}, kubernetes},
		"internal/figure":          {{module, "github.com/", "golang.org/"}, {"net/http", "database/sql"}, kubernetes},
		"internal/plain":           {{module, "github.com/", "golang.org/x/net"}, {"net/http", "database/sql"}, kubernetes},
		"apiserver/serve":          {subjects, kubernetes},
		"apiserver/wire":           {subjects, kubernetes},
		"apiserver/lookup":         {subjects, kubernetes},
		"apiserver/share":          {subjects, kubernetes},
		"apiserver/cards":          {subjects, sql, kubernetes, {module + "internal/store", module + "apiserver/read"}},
		"apiserver/checker":        {subjects, sql, kubernetes, {module + "internal/store", module + "apiserver/read"}},
		"apiserver/site":           {subjects, sql, kubernetes, {module + "internal/store", module + "apiserver/read"}},
		"apiserver/caller":         {subjects, sql, kubernetes, {module + "internal/store", module + "apiserver/read"}},
		"apiserver/docs":           {subjects, sql, kubernetes, {module + "internal/store", module + "apiserver/read"}},
		"apiserver/read":           {{module + "apiserver/serve", module + "apiserver/contract", module + "apiserver/wire"}, subjects, kubernetes},
		"apiserver/tokens":         {without(subjects, module+"apiserver/tokens"), kubernetes},
		"apiserver/launches":       {without(subjects, module+"apiserver/launches"), kubernetes},
		"apiserver/traders":        {without(subjects, module+"apiserver/traders"), kubernetes},
		"apiserver/platform":       {without(subjects, module+"apiserver/platform"), kubernetes},
		"apiserver/pages":          {without(subjects, module+"apiserver/pages"), kubernetes},
		"apiserver/social":         {without(subjects, module+"apiserver/social"), kubernetes},
		"apiserver/game":           {without(subjects, module+"apiserver/game"), kubernetes},
		"internal/game":            {programs, sql, {"net/http"}, kubernetes, {module + "internal/store", module + "internal/member"}},
		"internal/member":          {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/member/proof":    {programs, sql, {"net/http"}, kubernetes, {module + "internal/store"}},
		"internal/rich":            {programs, sql, {"net/http"}, kubernetes, {module + "internal/store", module + "internal/member"}},
		"internal/store/social":    {programs, kubernetes, {module + "internal/store/model", module + "internal/store/schema"}},
		"internal/store/commitlog": {programs, kubernetes, {module + "internal/store/schema"}},
		"internal/store/former":    {programs, kubernetes, {module + "internal/store/schema", module + "internal/store/database"}},
		"internal/store/streamlog": {programs, kubernetes, {module + "internal/market", module + "internal/store/model", module + "internal/store/schema"}},
		"internal/keyfile":         {{module}, sql, kubernetes},
		"members":                  {without(programs, module+"members"), kubernetes},
		"apiserver":                {{module + "indexer", module + "operator"}, kubernetes},
		"internal/catalog/cluster": {programs, {module + "internal/store"}, sql},
		"operator/controller":      {others, sql},
		"operator/workload":        {others, sql, clients},
		"doctor":                   {without(others, module+"apiserver"), {module + "operator", module + "members", module + "apiserver/serve", module + "apiserver/read"}, sql},
		"internal/venue":           {programs, {module + "internal/store"}, sql, clients},
		"api/v1alpha1":             {{module}, sql, clients},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+from).Output()
		if err != nil {
			t.Fatalf("go list -deps ./%s: %v", from, err)
		}
		deps := 0
		for dep := range bytes.Lines(out) {
			d := strings.TrimSpace(string(dep))
			if d == module+from {
				continue
			}
			deps++
			for _, group := range forbidden {
				for _, f := range group {
					if d == f || strings.HasPrefix(d, strings.TrimSuffix(f, "/")+"/") {
						t.Errorf("%s reaches %s, by whatever way; forbidden is %s", from, d, f)
					}
				}
			}
		}
		if deps == 0 {
			t.Errorf("%s has no dependencies at all: the list was not read", from)
		}
	}
}

// without is a list without one of its entries.
func without(list []string, entry string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == entry })
}

// TestFamiliesAreNamedInTwoPlaces finds comparisons with a family of chains where the loop, the derivation or the store would have to know it.
func TestFamiliesAreNamedInTwoPlaces(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\bchainconfig\.(EVM|Solana)\b`)
	allowed := regexp.MustCompile(`^(indexer/family\.go|indexer/(preflight|evm|solana|trust/evm|trust/solana)/.*)$|_test\.go$`)
	files := 0
	for _, folder := range []string{"indexer", "internal/store"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || allowed.MatchString(filepath.ToSlash(path)) {
				return err
			}
			files++
			source, err := os.ReadFile(path)
			if name := named.Find(source); name != nil {
				t.Errorf("%s names %s: let the family tell by an interface of indexer/chain, or by a method of chainconfig.Family", path, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}
