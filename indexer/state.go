package indexer

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// account keeps what an indexer says of itself.
type account struct {
	now func() time.Time

	mu    sync.Mutex
	state chainconfig.State
}

// State is what the indexer says of itself now.
func (ix *Indexer) State() chainconfig.State {
	a := &ix.account
	next := ix.reindex.state()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.state
	out.At, out.Reindexing = a.now(), next
	return out
}

// StateHandler answers with the State as JSON.
func (ix *Indexer) StateHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(ix.State()) // a client that hung up gets nothing
	})
}

func (a *account) update(change func(s *chainconfig.State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.state)
}

// phase takes a message of several lines as one: it is read in tables.
func (a *account) phase(p chainconfig.Phase, message string) {
	a.update(func(s *chainconfig.State) { s.Phase, s.Message = p, strings.ReplaceAll(message, "\n", "; ") })
}

// missing notes the blocks that no endpoint has; nil for none.
func (a *account) missing(m *chainconfig.MissingRange) {
	a.update(func(s *chainconfig.State) { s.Missing = m })
}

// begun says that a run has begun, unless what halted the last one is still to be found mended.
func (a *account) begun(p chainconfig.Phase) {
	a.update(func(s *chainconfig.State) {
		if s.Phase != chainconfig.PhaseHalted {
			s.Phase, s.Message = p, ""
		}
	})
}

func (a *account) head(h market.Header) {
	a.update(func(s *chainconfig.State) {
		s.Head, s.HeadReadAt = block(h), a.now()
	})
}

func (a *account) indexed(h market.Header) {
	a.update(func(s *chainconfig.State) { s.Indexed = block(h) })
}

func block(h market.Header) *chainconfig.Block {
	if h.Hash.IsZero() {
		return nil
	}
	return &chainconfig.Block{Number: h.Number, Time: time.Unix(h.Time, 0).UTC()}
}
