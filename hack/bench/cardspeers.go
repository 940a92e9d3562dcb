package main

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

//go:embed cards/.npmrc cards/package.json cards/package-lock.json cards/*.mjs
var cardPeers embed.FS

// The contenders of bench cards.
const (
	cardsRenderer   = "renderer"
	cardsBrowser    = "renderer's browser"
	cardsSatori     = "satori + resvg-js"
	cardsTakumi     = "takumi"
	cardsPlaywright = "playwright-core"
)

var cardContenders = []string{cardsRenderer, cardsBrowser, cardsSatori, cardsTakumi, cardsPlaywright}

// cardScripts are those that aren't this project's, by the file in cards that draws with them.
var cardScripts = map[string]string{cardsSatori: "satori", cardsTakumi: "takumi", cardsPlaywright: "playwright"}

// startPainter starts a contender. One that is given up ends its browser first.
func (m *cardsMeasurement) startPainter(ctx context.Context, name string) (*served, error) {
	program, args, err := m.painterCommand(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return startProcess(m.dir, name, cmd)
}

func (m *cardsMeasurement) painterCommand(name string) (program string, args []string, err error) {
	if script, ok := cardScripts[name]; ok {
		return "node", []string{filepath.Join(m.scripts, "main.mjs"), script, m.given}, nil
	}
	m.own, err = os.MkdirTemp(m.dir, "own-")
	if err != nil {
		return "", nil, err
	}
	// The browser's user passes through it.
	if err := os.Chmod(m.own, 0o711); err != nil {
		return "", nil, err
	}
	program, err = os.Executable()
	return program, []string{"draw", "--by", name, "--workers", strconv.Itoa(m.workers), "--dir", m.own}, err
}

// preparePeers writes the scripts and what they are given, with the packages beside them as if they were installed there.
func (m *cardsMeasurement) preparePeers(ctx context.Context) error {
	t, err := measuredCard()
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
	source, err := fs.Sub(cardPeers, "cards")
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
