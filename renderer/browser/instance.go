package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// warmUp is drawn by every new tab, which shows that it can, and has the browser load what the first picture needs.
const warmUp = `<!doctype html><meta charset="utf-8"><title>-</title><body style="font:600 20px Inter,sans-serif">` +
	`Aa 0 &#x6771; &#x5d0; &#x639; &#xe01; &#x905; &#x1f680;`

// instance is one running browser with its tabs.
type instance struct {
	o          *Options
	protection Protection
	tabs       []*tab // by slot; only who holds a slot touches its tab
	pid        int
	// gone is closed when the browser has ended, or is about to.
	gone <-chan struct{}
	// faults takes why the browser must be replaced.
	faults chan reason
	// answers asks the browser whether it is there.
	answers func(limit time.Duration) error
	open    func(limit time.Duration) (*tab, error)
	end     func()

	// What follows is the Supervisor's, under its lock.
	drawing  int // pictures at work
	used     int // pictures that were begun
	suspects int // tabs that hang, as long as the browser may
	retired  bool
	idle     chan struct{} // closed when it is retired and draws nothing
}

// start starts a browser, which lives until its end is called. The end of ctx gives up only the start. The error is errSlow
// if it took longer than it may, which says nothing of the protection.
func start(ctx context.Context, o *Options, program string, p Protection) (_ *instance, err error) {
	h, err := o.folders.newHome()
	if err != nil {
		return nil, err
	}
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, kill)()
	var command *exec.Cmd
	modify := chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
		cmd.SysProcAttr = p.attributes()
		command = cmd
	})
	allocator, wait := chromedp.NewExecAllocator(life, o.options(p, program, h, modify)...)
	debug := func(format string, args ...any) {
		o.Log.DebugContext(life, "the browser's protocol", "message", fmt.Sprintf(format, args...))
	}
	root, _ := chromedp.NewContext(allocator, chromedp.WithLogf(debug), chromedp.WithErrorf(debug))
	i := &instance{
		o: o, protection: p, gone: root.Done(), faults: make(chan reason, 1), idle: make(chan struct{}),
		open: func(limit time.Duration) (*tab, error) { return openTab(root, o, limit) },
	}
	i.end = func() {
		kill()
		left, cancel := context.WithTimeout(context.WithoutCancel(life), o.Patience)
		defer cancel()
		if command != nil && command.Process != nil {
			if err := sweep(left, command.Process.Pid); err != nil {
				o.Log.ErrorContext(left, "processes of a browser are left", "err", err.Error())
			}
		}
		wait()
		if err := h.remove(); err != nil {
			o.Log.ErrorContext(left, "a browser's files are left", "err", err.Error())
		}
	}
	late := time.AfterFunc(o.Patience, kill)
	defer func() {
		if err != nil {
			if !late.Stop() {
				err = fmt.Errorf("%w: %w", errSlow, err)
			}
			i.end()
		}
	}()
	if err := i.begin(root); err != nil {
		return nil, err
	}
	if !late.Stop() {
		return nil, errSlow
	}
	return i, nil
}

// errSlow is a start that took too long.
var errSlow = errors.New("browser: it takes too long to start")

// begin starts the process and opens the tabs.
func (i *instance) begin(root context.Context) error {
	// The first use starts the browser, and opens a tab that isn't needed.
	if err := chromedp.Do(root); err != nil {
		return fmt.Errorf("browser: start: %w", gist(err))
	}
	c := chromedp.FromContext(root)
	i.pid = c.Browser.Process().Pid
	i.answers = func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(root, limit)
		defer cancel()
		_, err := cdp.Call(ctx, c.Browser, browser.GetVersion, cdp.Empty{})
		return err
	}
	for range i.o.Tabs {
		t, err := i.open(i.o.Patience)
		if err != nil {
			return err
		}
		if _, err := t.draw(root, []byte(warmUp), i.o.Now().Add(i.o.Patience)); err != nil {
			return fmt.Errorf("browser: a first picture: %w", err)
		}
		i.tabs = append(i.tabs, t)
	}
	if _, err := cdp.Call(root, c.Browser, target.CloseTarget, target.CloseTargetParams{TargetID: c.Target.TargetID}); err != nil {
		return fmt.Errorf("browser: close the first tab: %w", err)
	}
	return nil
}

// gist is what to read of a browser that didn't start: chromedp gives all that it said, among which much means nothing.
func gist(err error) error {
	text := err.Error()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "FATAL") {
			return errors.New(strings.TrimSpace(line))
		}
	}
	const enough = 600
	return errors.New(strings.ToValidUTF8(text[:min(enough, len(text))], ""))
}

// rest lets a retired browser be ended. The Supervisor's lock is held.
func (i *instance) rest() {
	select {
	case <-i.idle: // it was said before
	default:
		close(i.idle)
	}
}
