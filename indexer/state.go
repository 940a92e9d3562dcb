package indexer

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// account keeps what an indexer says of itself.
type account struct {
	now func() time.Time

	mu    sync.Mutex
	state chainconfig.State
	// databaseFails says why the database doesn't answer; empty while it does.
	databaseFails string
}

// State is what the indexer says of itself now.
func (ix *Indexer) State() chainconfig.State {
	next := ix.reindex.state()
	out := ix.account.told()
	out.Reindexing = next
	return out
}

// told is the state as it is told now.
func (a *account) told() chainconfig.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.state
	out.At = a.now()
	if a.databaseFails != "" && out.Phase != chainconfig.PhaseHalted && out.Cause != chainconfig.CauseDatabase {
		out.Phase, out.Message, out.Cause = chainconfig.PhaseFailing, a.databaseFails, chainconfig.CauseDatabase
	}
	return out
}

// noteDatabase notes that the database doesn't answer, or, with nil, that it does.
func (a *account) noteDatabase(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.databaseFails = ""
	if err != nil {
		a.databaseFails = oneLine(err.Error())
	}
}

// StateHandler answers with the State as JSON.
func (ix *Indexer) StateHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeState(w, ix.State()) })
}

func writeState(w http.ResponseWriter, s chainconfig.State) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // a client that hung up gets nothing
}

func (a *account) update(change func(s *chainconfig.State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.state)
}

func (a *account) phase(p chainconfig.Phase, message string) {
	a.update(func(s *chainconfig.State) { s.Phase, s.Message, s.Cause = p, oneLine(message), "" })
}

// failed is phase with an error for the message.
func (a *account) failed(p chainconfig.Phase, err error) {
	a.update(func(s *chainconfig.State) { s.Phase, s.Message, s.Cause = p, oneLine(err.Error()), causeOf(err) })
}

// oneLine is a message of several lines as one: it is read in tables.
func oneLine(message string) string { return strings.ReplaceAll(message, "\n", "; ") }

func causeOf(err error) chainconfig.Cause {
	switch {
	case errors.Is(err, rpc.ErrWrongChain):
		return chainconfig.CauseWrongChain
	case errors.Is(err, rpc.ErrUnanswered) && errors.Is(err, fs.ErrNotExist):
		return chainconfig.CauseSecret
	case errors.Is(err, rpc.ErrUnanswered):
		return chainconfig.CauseEndpoints
	case store.Unreachable(err):
		return chainconfig.CauseDatabase
	}
	return ""
}

// missing notes the blocks that no endpoint has; nil for none.
func (a *account) missing(m *chainconfig.MissingRange) {
	a.update(func(s *chainconfig.State) { s.Missing = m })
}

// begun says that a run has begun, unless what halted the last one is still to be found mended.
func (a *account) begun(p chainconfig.Phase) {
	a.update(func(s *chainconfig.State) {
		if s.Phase != chainconfig.PhaseHalted {
			s.Phase, s.Message, s.Cause = p, "", ""
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
