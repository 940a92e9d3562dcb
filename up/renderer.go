package up

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/boardwalkhq/boardwalk/renderer"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

// browsers are the programs that `up` draws cards with, the first that is there.
var browsers = []string{browser.Program, "chromium"}

// drawing is the renderer that `up` runs beside the rest, unless it is told of another one.
type drawing struct {
	// socket is that of the renderer; empty when no cards are drawn.
	socket string
	// run is nil when no cards are drawn here.
	run func(context.Context) error
	// missing says why no cards are drawn and what to do about it; it is empty when they are, or aren't wanted.
	missing string
	// remove takes the socket's folder away.
	remove func()
}

// newDrawing makes the renderer. Without a browser for it, everything else runs all the same.
func (p *Program) newDrawing() (drawing, error) {
	d := drawing{socket: p.Renderer, remove: func() {}}
	if p.Renderer != "" || !p.DrawCards {
		return d, nil
	}
	program := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		d.missing = "no Chromium is installed: on Debian, apt-get install " + browser.Program +
			" fonts-inter fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji"
		return d, nil
	}
	dir, err := ownFolder("boardwalk-up-" + p.id())
	if err != nil {
		return d, fmt.Errorf("renderer: %w", err)
	}
	socket := filepath.Join(dir, "renderer.sock")
	made, err := renderer.New(renderer.Options{Socket: socket, Program: program, Registry: p.Metrics, Log: p.Log, Now: p.Now})
	if err != nil {
		gone := os.Remove(dir)
		if errors.Is(err, browser.ErrPlatform) {
			d.missing = err.Error()
			return d, gone
		}
		return d, errors.Join(err, gone)
	}
	d.socket, d.run = socket, made.Run
	d.remove = func() { _ = os.RemoveAll(dir) }
	return d, nil
}

// id names this `up` among others of this machine. A later start on the same database and address has the same id, so that it
// finds, and removes in the end, what a killed one left.
func (p *Program) id() string {
	database := p.Database
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		if whole, err := filepath.Abs(path); err == nil {
			database = whole
		}
	}
	return fmt.Sprintf("%.4x", sha256.Sum256([]byte(database+"\n"+p.Listen)))
}

// ownFolder makes a folder, below the system's one for temporary files, that no other user of the machine may enter. A socket has to be
// there, since its path may have a hundred bytes and the database's may have more.
func ownFolder(name string) (string, error) {
	dir := filepath.Join(os.TempDir(), name)
	err := os.Mkdir(dir, 0o700)
	if !errors.Is(err, os.ErrExist) {
		return dir, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if at, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(at.Uid) != os.Geteuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s is there and isn't a folder of this user alone: remove it, or set TMPDIR to another folder", dir)
	}
	return dir, nil
}
