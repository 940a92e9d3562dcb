package browser

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Place is a place in the queue.
type Place struct{ s *Supervisor }

// Enter takes a place in the queue, to be left with Leave. The error is ErrBusy if there is none. Take it before anything
// that costs memory is done for a picture.
func (s *Supervisor) Enter() (*Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting >= s.o.Queue+s.o.Tabs {
		s.o.Metrics.finished(outcomeBusy)
		return nil, ErrBusy
	}
	s.waiting++
	return &Place{s: s}, nil
}

// Leave gives the place back. It is called once.
func (p *Place) Leave() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.waiting--
}

// Ready says why nothing can be drawn now, or nil. The error is ErrUnavailable.
func (s *Supervisor) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.usable():
		return nil
	case s.failure != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, s.failure)
	default:
		return fmt.Errorf("%w: the browser starts", ErrUnavailable)
	}
}

// RetryAfter is how long it takes until another try has a chance, at least a second.
func (s *Supervisor) RetryAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		return time.Second
	}
	return max(time.Second, s.retry.Sub(s.o.Now()))
}

// Draw gives the picture of a document, a PNG, within the deadline. The document is made when its turn has come, so that
// no more are made at a time than there are tabs. The end of ctx ends the wait, not what a tab is drawing.
func (p *Place) Draw(ctx context.Context, document func() ([]byte, error)) ([]byte, error) {
	png, err := p.s.draw(ctx, document)
	p.s.o.Metrics.finished(outcomeOf(err))
	return png, err
}

func (s *Supervisor) draw(ctx context.Context, document func() ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, s.o.Now().Add(s.o.Deadline), ErrDeadline)
	defer cancel()
	slot, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	began := s.o.Now()
	html, err := s.produce(slot, document)
	if err != nil {
		return nil, err
	}
	png, err := s.tries(ctx, slot, html)
	if err == nil {
		s.o.Metrics.took(s.o.Now().Sub(began))
	}
	return png, err
}

// tries draws, and once more after a failure that may not be the document's.
func (s *Supervisor) tries(ctx context.Context, slot int, html []byte) ([]byte, error) {
	for failed := 0; ; {
		i, err := s.acquire(ctx)
		if err != nil {
			s.slots <- slot
			return nil, err
		}
		if s.late(ctx) { // the wait was for a browser
			s.release(i, slot)
			return nil, ErrDeadline
		}
		png, err := s.try(ctx, i, slot, html, failed > 0)
		switch {
		case err == nil, errors.Is(err, context.Canceled):
			return png, err
		case errors.Is(err, errOver):
			// Nothing was tried.
		case errors.Is(err, ErrDeadline) && (failed > 0 || ctx.Err() != nil):
			s.o.Log.WarnContext(ctx, "a picture took too long", "tries", failed+1)
			return nil, err
		case failed > 0:
			s.o.Log.WarnContext(ctx, "a picture failed twice", "err", err.Error())
			return nil, fmt.Errorf("%w: %w", ErrFailed, err)
		default:
			failed++
			s.o.Log.WarnContext(ctx, "a picture is tried again", "err", err.Error())
		}
		if slot, err = s.turn(ctx); err != nil {
			return nil, err
		}
	}
}

// late tells whether too little of the time is left to begin.
func (s *Supervisor) late(ctx context.Context) bool {
	deadline, _ := ctx.Deadline()
	return deadline.Sub(s.o.Now()) < s.o.Deadline/8
}

// turn waits for a slot.
func (s *Supervisor) turn(ctx context.Context) (int, error) {
	select {
	case slot := <-s.slots:
		if s.late(ctx) {
			s.slots <- slot
			return 0, ErrDeadline
		}
		return slot, nil
	case <-s.ended:
		return 0, ErrUnavailable
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// produce makes a document, and gives the slot back if it can't be made, or its maker panics.
func (s *Supervisor) produce(slot int, document func() ([]byte, error)) (html []byte, err error) {
	made := false
	defer func() {
		if !made {
			s.slots <- slot
		}
	}()
	html, err = document()
	made = err == nil
	return html, err
}

// try draws with a browser. A try that isn't the last has half of what is left of the time. The slot is given back when the
// tab is done, or has been replaced, which nobody waits for.
func (s *Supervisor) try(ctx context.Context, i *instance, slot int, html []byte, last bool) ([]byte, error) {
	deadline, _ := ctx.Deadline()
	now := s.o.Now()
	share := deadline.Sub(now)
	if !last {
		share /= 2
	}
	// A tab that takes longer is taken for one that hangs and is replaced, which costs more than many pictures. So each gets
	// a fair time, though whoever asked may have gone: else a long queue, whose last have little time left, would have
	// tabs replaced without end.
	share = max(share, s.o.Deadline/4)
	if !last {
		// A browser that hangs is found out before the time is over, which leaves more for the next one to start.
		early := time.AfterFunc(share/2, func() { s.ask(i) })
		defer early.Stop()
	}
	type result struct {
		png []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer s.release(i, slot)
		png, err := i.tabs[slot].draw(ctx, html, now.Add(share))
		// A tab's failure may be the whole browser's, but for this one. It is said before the next try begins.
		suspicious := err != nil && !errors.Is(err, errNavigated)
		if suspicious {
			s.suspect(i, 1)
		}
		done <- result{png, err}
		if err != nil && s.mend(i, slot) && suspicious {
			s.suspect(i, -1)
		}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case errors.Is(r.err, context.DeadlineExceeded):
		r.err = ErrDeadline
	case errors.Is(r.err, context.Canceled):
		r.err = errEnded // the browser's life, not the caller's
	}
	return r.png, r.err
}

// errEnded is a browser's end in the middle of a picture.
var errEnded = errors.New("browser: it ended")

// mend opens a new tab in the place of one that failed, or else has the browser replaced. It tells which.
func (s *Supervisor) mend(i *instance, slot int) bool {
	if i.over() {
		return false // it is being replaced already
	}
	if !s.ask(i) {
		return false
	}
	go i.tabs[slot].close() // it waits for the tab's end, which a hung one puts off
	t, err := i.open(s.o.Patience / 16)
	if err != nil {
		i.fault(reasonTab)
		return false
	}
	i.tabs[slot] = t
	return true
}

// ask tells whether the browser answers; one that doesn't is replaced.
func (s *Supervisor) ask(i *instance) bool {
	err := i.answers(s.o.Patience / 20)
	if err != nil {
		i.fault(reasonOf(err))
	}
	return err == nil
}

// suspect keeps pictures from a browser that may hang as a whole, until it has shown that it doesn't.
func (s *Supervisor) suspect(i *instance, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.suspects += n
	s.announce()
}

// over tells whether the browser has ended.
func (i *instance) over() bool {
	select {
	case <-i.gone:
		return true
	default:
		return false
	}
}

// fault has the browser replaced. One fault is enough.
func (i *instance) fault(why reason) {
	select {
	case i.faults <- why:
	default:
	}
}

// acquire waits for a browser that runs. One that can't be started is no wait: the error says so.
func (s *Supervisor) acquire(ctx context.Context) (*instance, error) {
	for {
		s.mu.Lock()
		i, usable, failure, changed := s.current, s.usable(), s.failure, s.changed
		if usable {
			i.drawing++
			i.used++
			if i.used == s.o.RecycleAfter {
				i.fault(reasonCards)
			}
		}
		s.mu.Unlock()
		switch {
		case usable:
			return i, nil
		case failure != nil:
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, failure)
		}
		select {
		case <-changed:
		case <-s.ended:
			return nil, ErrUnavailable
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// usable tells whether the current browser can be asked to draw. The lock is held.
func (s *Supervisor) usable() bool {
	return s.current != nil && !s.current.over() && s.current.suspects == 0
}

// release ends a use of a browser, which may have been its last, and gives the slot back.
func (s *Supervisor) release(i *instance, slot int) {
	s.mu.Lock()
	i.drawing--
	if i.retired && i.drawing == 0 {
		i.rest()
	}
	s.mu.Unlock()
	s.slots <- slot
}
