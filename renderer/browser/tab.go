package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// What ends a tab.
var (
	errCrashed   = errors.New("browser: the tab crashed")
	errNavigated = errors.New("browser: the document led its tab elsewhere")
	// errOver says that the tab had ended before it was asked.
	errOver = errors.New("browser: the tab is over")
)

// tab is kept for many pictures. It draws one at a time.
type tab struct {
	session cdp.Session
	// width and height of a picture.
	width, height int
	frame         cdp.FrameID
	// layer is the one that held the last picture, or 0.
	layer int
	// during derives a picture's context: it has the values of ctx, not its end, and ends with the tab.
	during func(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc)
	// cause says why the tab has ended, or is nil.
	cause func() error
	close func()
}

// openTab opens a tab of a browser, in a profile of its own, for which it takes at most limit.
func openTab(browser context.Context, o *Options, limit time.Duration) (*tab, error) {
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	life, fail := context.WithCancelCause(ctx)
	t := &tab{
		width: o.Width, height: o.Height,
		during: func(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
			stop := context.AfterFunc(life, cancel)
			return ctx, func() {
				stop()
				cancel()
			}
		},
		cause: func() error { return context.Cause(life) },
		close: func() {
			fail(context.Canceled)
			closeTab()
		},
	}
	// A deadline on a tab's first use would be the tab's own end.
	late := time.AfterFunc(limit, t.close)
	defer late.Stop()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, session *chromedp.Target) error {
		t.session = session
		return t.prepare(ctx, o)
	}))
	if err == nil {
		err = chromedp.Listen(ctx, watch(fail))
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("browser: open a tab: %w", err)
	}
	return t, nil
}

// watch ends a tab that crashes or is led away. That is heard before the answer to what the tab was asked afterwards.
func watch(fail context.CancelCauseFunc) func(any) {
	return func(event any) {
		switch event.(type) {
		case *inspector.EventTargetCrashed:
			fail(errCrashed)
		case *page.EventFrameRequestedNavigation, *page.EventFrameStartedNavigating, *page.EventFrameNavigated:
			fail(errNavigated)
		}
	}
}

func (t *tab) prepare(ctx context.Context, o *Options) error {
	// chromedp turns these on for what isn't done here; each costs time for every document.
	for _, off := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable, network.Disable} {
		if _, err := cdp.Call(ctx, t.session, off, cdp.Empty{}); err != nil {
			return err
		}
	}
	if _, err := cdp.Call(ctx, t.session, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(o.Width), Height: int64(o.Height), DeviceScaleFactor: 1,
	}); err != nil {
		return err
	}
	if _, err := cdp.Call(ctx, t.session, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{
		Value: !o.without.scripts,
	}); err != nil {
		return err
	}
	tree, err := cdp.Call(ctx, t.session, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	t.frame = tree.FrameTree.Frame.ID
	return nil
}

// draw gives a document's picture as a PNG. Nothing of an earlier document is left in it. It doesn't end with ctx, so that
// the tab stays of use.
func (t *tab) draw(ctx context.Context, document []byte, deadline time.Time) ([]byte, error) {
	if t.cause() != nil {
		return nil, errOver
	}
	ctx, cancel := t.during(ctx, deadline)
	defer cancel()
	png, err := t.picture(ctx, document)
	// What ended the tab meanwhile was heard before the answer.
	if cause := t.cause(); cause != nil {
		return nil, cause
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return png, err
}
