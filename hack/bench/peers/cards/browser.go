package cards

import (
	"context"
	"path/filepath"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
	"github.com/boardwalkhq/boardwalk/renderer/template"
)

// Browser is the child that draws cards with the renderer's browser alone.
func Browser() lab.Command { return childOf("browser", byBrowser) }

// byBrowser draws one ready-made document.
func byBrowser(t *sharecard.Token, workers int, dir string) (*painting, error) {
	document, err := template.Document(t)
	if err != nil {
		return nil, err
	}
	s, err := browser.New(browser.Options{
		Dir: filepath.Join(dir, "browsers"), Width: sharecard.Width, Height: sharecard.Height, Tabs: workers, Deadline: drawDeadline,
		Log: lab.Complaints(), Now: lab.Now,
	})
	if err != nil {
		return nil, err
	}
	paint := func(ctx context.Context) ([]byte, error) {
		place, err := s.Enter()
		if err != nil {
			return nil, err
		}
		defer place.Leave()
		return place.Draw(ctx, func() ([]byte, error) { return document, nil })
	}
	return &painting{Paint: paint, Ready: s.Ready, Run: s.Run}, nil
}
