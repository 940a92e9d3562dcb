package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/renderer"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

// browsers are the programs that `up` draws cards with, the first that is there.
var browsers = []string{browser.Program, "chromium"}

// drawing is the renderer that `up` runs beside the rest, unless it is told of another one. run is nil when no cards are drawn
// here; closing takes the socket's folder away.
func (u *up) drawing(ctx context.Context, r prometheus.Registerer) (run func(context.Context) error, closing func(), err error) {
	closing = func() {}
	if u.renderer != "" || !u.draw {
		return nil, closing, nil
	}
	program := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		u.log.WarnContext(ctx, "no share cards are drawn: install a Chromium and fonts", "packages",
			browser.Program+" fonts-inter fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji")
		return nil, closing, nil
	}
	// A folder of its own, since a socket's path may have a hundred characters and the database's may have more.
	dir, err := os.MkdirTemp("", "boardwalk-")
	if err != nil {
		return nil, closing, fmt.Errorf("renderer: %w", err)
	}
	closing = func() { _ = os.RemoveAll(dir) }
	u.renderer = filepath.Join(dir, "renderer.sock")
	drawn, err := renderer.New(renderer.Options{Socket: u.renderer, Program: program, Registry: r, Log: u.log, Now: now})
	if err != nil {
		return nil, closing, err
	}
	return drawn.Run, closing, nil
}
