package template

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

// patience bounds what is waited for. It ends what hangs and is no expectation.
const patience = 2 * time.Minute

// drawer gives what draws cards until the test ends: the program's own browser, with its flags.
func drawer(t *testing.T) func(t *testing.T, c sharecard.Card) []byte {
	t.Helper()
	parent, err := os.MkdirTemp("", "boardwalk-card-test-*") //nolint:usetesting // the browser's user must pass through it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(parent, 0o711); err != nil {
		t.Fatal(err)
	}
	s, err := browser.New(browser.Options{
		Dir: filepath.Join(parent, "browsers"), Width: sharecard.Width, Height: sharecard.Height, Tabs: 1,
		Deadline: patience, Patience: patience, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(parent); err != nil {
			t.Error(err)
		}
	})
	return func(t *testing.T, c sharecard.Card) []byte {
		t.Helper()
		place, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		defer place.Leave()
		drawn, err := place.Draw(t.Context(), func() ([]byte, error) { return Document(c) })
		if err != nil {
			t.Fatal(err)
		}
		return drawn
	}
}
