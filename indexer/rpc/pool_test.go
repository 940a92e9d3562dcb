package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// node is a member of a pool that knows nothing more of its endpoint.
type node struct{ *Endpoint }

// TestACheckThatFailsChangesNothing: an endpoint is asked for its chain until it has answered. Another check that gets no answer, as one that was
// under way with the first, takes nothing back, and one that serves another chain stays wrong.
func TestACheckThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	e, err := NewEndpoint(0, EndpointOptions{
		Declared: chainconfig.Endpoint{URL: "http://127.0.0.1:1/"}, Reads: NewInFlight(nil), Now: time.Now, RateRefused: func(error) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	var answer error
	checks := 0
	p := &Pool[*node]{
		Chain: "base", List: []*node{{e}}, Now: time.Now, Log: slog.New(slog.DiscardHandler), NoFault: func(error) bool { return false },
		IsOfChain: func(context.Context, *node) error { checks++; return answer },
	}
	ask := func() error { return p.On(t.Context(), p.List[0], func(context.Context, *node) error { return nil }) }
	silent := errors.New("it doesn't answer")
	answer = silent
	if err := ask(); !errors.Is(err, silent) {
		t.Errorf("an endpoint that wasn't checked is asked: %v", err)
	}
	answer = nil
	if err := errors.Join(ask(), ask()); err != nil || checks != 2 {
		t.Errorf("%v after %d checks, want 2", err, checks)
	}
	answer = silent
	if err := p.Check(t.Context(), p.List[0]); !errors.Is(err, silent) {
		t.Errorf("%v", err)
	}
	if err := ask(); err != nil || checks != 3 {
		t.Errorf("after a check without an answer: %v, %d checks, want 3", err, checks)
	}
	answer = fmt.Errorf("its id is 5: %w", ErrWrongChain)
	if err := p.CheckAll(t.Context()); err != nil || p.AllWrong() {
		t.Errorf("an endpoint that is known to be right is asked again: %v", err)
	}
	if err := p.Check(t.Context(), p.List[0]); !errors.Is(err, ErrWrongChain) || !p.AllWrong() || len(p.Candidates()) > 0 {
		t.Errorf("an endpoint of another chain is still asked: %v", err)
	}
	answer = nil
	if err := p.Check(t.Context(), p.List[0]); err != nil || !p.AllWrong() {
		t.Errorf("an endpoint that changed its chain is trusted: %v", err)
	}
}
