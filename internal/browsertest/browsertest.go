// Package browsertest gives tests a real browser: a headless Chromium that reaches this machine alone and ends with the
// test. It knows nothing of the pages that are looked at. Nothing of it is linked into the program.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience bounds all that is done in one page. It ends what hangs and is no expectation.
const patience = 2 * time.Minute

// programs are the names under which a Chromium may be on the PATH; the smallest stands first.
var programs = []string{"chromium-headless-shell", "chromium", "google-chrome"}

// Screen is what a page is shown on. Width and Height are CSS pixels.
type Screen struct {
	Width, Height int64
	Phone         bool // touch, and the page's viewport tag is heeded
	Dark          bool // prefers-color-scheme: dark
}

// The two screens that pages are looked at on.
var (
	Desktop = Screen{Width: 1280, Height: 900}
	Phone   = Screen{Width: 390, Height: 844, Phone: true}
)

// InDark is the same screen with a preference for dark colours.
func (s Screen) InDark() Screen {
	s.Dark = true
	return s
}

// Browser is a running Chromium.
type Browser struct {
	// tab makes the context of a new tab; a chromedp context is the only handle of a browser.
	tab func() (context.Context, context.CancelFunc)
}

// Start starts a Chromium with a profile that is thrown away. It ends with the test, its parallel subtests included. A
// machine without one fails the test.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	program, err := find(exec.LookPath)
	if err != nil {
		tb.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		// No name but this machine's resolves, so that a page that asks the outside for anything fails everywhere alike.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		// Chromium refuses its sandbox to root, which tests in a container are, and other containers lack the user
		// namespaces that it needs. Tests open their own pages only.
		chromedp.NoSandbox,
		// The same picture on every machine.
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("lang", "en-US"),
	)
	// The test's context ends before its cleanups run: that kills the process, and end waits until it is gone.
	allocator, end := chromedp.NewExecAllocator(tb.Context(), options...)
	tb.Cleanup(end)
	browser, closeBrowser := chromedp.NewContext(allocator)
	tb.Cleanup(closeBrowser)
	if err := chromedp.Do(browser); err != nil {
		tb.Fatalf("start %s: %v", program, err)
	}
	return &Browser{tab: func() (context.Context, context.CancelFunc) {
		return chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	}}
}

// find gives the first Chromium there is.
func find(look func(string) (string, error)) (string, error) {
	for _, name := range programs {
		if path, err := look(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium for the tests (looked for %s): run make setup, which installs it",
		strings.Join(programs, ", "))
}

// Page opens an empty tab that shares no cookies and no cache with others, and closes it with the test. The context is
// chromedp's: whatever chromedp can do can be done with it. Use it from one goroutine at a time.
func (b *Browser) Page(tb testing.TB, s Screen) (context.Context, *Record) {
	tb.Helper()
	tab, closeTab := b.tab()
	tb.Cleanup(closeTab)
	// A deadline on a tab's first use would be the tab's own end.
	if err := chromedp.Do(tab); err != nil {
		tb.Fatalf("open a tab: %v", err)
	}
	seen := &Record{urls: map[network.RequestID]string{}}
	if err := chromedp.Listen(tab, seen.note); err != nil {
		tb.Fatalf("listen to a tab: %v", err)
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	tb.Cleanup(cancel)
	if err := chromedp.Do(ctx, prepare(s)); err != nil {
		tb.Fatalf("set up a tab: %v", err)
	}
	return ctx, seen
}

// prepare sets the screen, and turns on the reports of violated policies; chromedp turns on the others itself.
func prepare(s Screen) chromedp.Action[chromedp.Void] {
	size := chromedp.EmulateViewport(s.Width, s.Height)
	if s.Phone {
		size = chromedp.EmulateViewport(s.Width, s.Height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	scheme := "light"
	if s.Dark {
		scheme = "dark"
	}
	return chromedp.Steps(size, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, audits.Enable, cdp.Empty{})
		return err
	}))
}
