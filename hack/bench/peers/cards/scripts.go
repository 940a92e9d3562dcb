package cards

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

//go:embed scripts/.npmrc scripts/package.json scripts/package-lock.json scripts/*.mjs
var cardPeers embed.FS

// The contenders: the renderer, its browser alone, and what isn't this project's.
const (
	cardsRenderer   = "renderer"
	cardsBrowser    = "renderer's browser"
	cardsSatori     = "satori + resvg-js"
	cardsTakumi     = "takumi"
	cardsPlaywright = "playwright-core"
)

var cardContenders = []string{cardsRenderer, cardsBrowser, cardsSatori, cardsTakumi, cardsPlaywright}

// cardScripts are those that aren't this project's, by the file in scripts that draws with them.
var cardScripts = map[string]string{cardsSatori: "satori", cardsTakumi: "takumi", cardsPlaywright: "playwright"}

// startContender starts one.
func (m *measurement) startContender(ctx context.Context, name string) (*lab.Served, error) {
	if script, ok := cardScripts[name]; ok {
		return startPainter(ctx, m.dir, name, "node", filepath.Join(m.scripts, "main.mjs"), script, m.given)
	}
	child := map[string]string{cardsRenderer: "draw", cardsBrowser: "browser"}[name]
	s, _, err := StartOwn(ctx, m.dir, child, m.workers)
	return s, err
}

// preparePeers writes the scripts and what they are given, with the packages beside them as if they were installed there.
func (m *measurement) preparePeers(ctx context.Context) error {
	t, err := measured()
	if err != nil {
		return err
	}
	program, err := exec.LookPath(browser.Program)
	if err != nil {
		return err
	}
	g, err := givenOf(t, m.workers, program)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	m.given = filepath.Join(m.dir, "given.json")
	if err := os.WriteFile(m.given, raw, 0o600); err != nil {
		return err
	}
	source, err := fs.Sub(cardPeers, "scripts")
	if err != nil {
		return err
	}
	packages, err := npmcache.Install(ctx, "bench-cards", source)
	if err != nil {
		return err
	}
	m.scripts = filepath.Join(m.dir, "scripts")
	if err := os.CopyFS(m.scripts, source); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(m.scripts, "node_modules"))
}
