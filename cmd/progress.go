package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/boardwalkhq/boardwalk/indexer"
)

// logEvery is the pace of progress lines where there is no terminal.
const logEvery = 5 * time.Second

// progress shows how far chains' pasts are read: a bar each on a terminal, log lines elsewhere.
type progress struct {
	bars *mpb.Progress // nil without a terminal
	log  *slog.Logger
	now  func() time.Time

	mu     sync.Mutex
	chains map[string]*chainProgress
}

type chainProgress struct {
	bar           *mpb.Bar
	first         uint64
	began, logged time.Time
	rate          float64 // blocks per second
}

func newProgress(w io.Writer, log *slog.Logger, now func() time.Time) *progress {
	p := &progress{log: log, now: now, chains: map[string]*chainProgress{}}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
	}
	return p
}

// report takes one chain's progress.
func (p *progress) report(r indexer.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chains[r.Chain]
	if c == nil || c.first != r.First {
		if c != nil && c.bar != nil {
			c.bar.Abort(true) // an interrupted reading that goes on elsewhere
		}
		c = &chainProgress{first: r.First, began: p.now(), logged: p.now()}
		p.chains[r.Chain] = c
		if p.bars != nil {
			c.bar = p.bars.AddBar(int64(r.Last-r.First+1),
				mpb.PrependDecorators(decor.Name(r.Chain, decor.WCSyncSpaceR)),
				mpb.AppendDecorators(decor.Percentage(), decor.Any(func(decor.Statistics) string {
					return fmt.Sprintf("  %.0f blocks/s", c.rate)
				}), decor.Name("  ETA "), decor.AverageETA(decor.ET_STYLE_GO)))
		}
	}
	if took := p.now().Sub(c.began).Seconds(); took > 0 {
		c.rate = float64(r.Blocks) / took
	}
	if c.bar != nil {
		c.bar.SetCurrent(int64(r.Blocks))
		return
	}
	total := r.Last - r.First + 1
	if r.Blocks == 0 || r.Blocks < total && p.now().Sub(c.logged) < logEvery {
		return
	}
	c.logged = p.now()
	eta := time.Duration(0)
	if c.rate > 0 {
		eta = time.Duration(float64(total-r.Blocks) / c.rate * float64(time.Second)).Round(time.Second)
	}
	p.log.InfoContext(context.Background(), "reading the past", "chain", r.Chain, "block", r.First+r.Blocks-1,
		"percent", fmt.Sprintf("%.1f", 100*float64(r.Blocks)/float64(total)),
		"blocks_per_s", fmt.Sprintf("%.0f", c.rate), "eta", eta.String(), "events", r.Events)
}

func (p *progress) close() {
	if p.bars != nil {
		p.mu.Lock()
		for _, c := range p.chains {
			c.bar.Abort(false)
		}
		p.mu.Unlock()
		p.bars.Shutdown()
	}
}
