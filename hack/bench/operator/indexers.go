package operator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// standInIndexers answers in the place of the operations listeners of all indexers: nothing is indexed. Blocks move on with the
// clock, and the indexer is always at the head.
type standInIndexers struct {
	*httptest.Server

	mu sync.Mutex
	// venues are by path, down and paused are what was told to go wrong: paths, and paths with a venue's id.
	venues       map[string][]chainconfig.Venue
	down, paused map[string]bool
}

// statePath is where a chain's stand-in answers.
func statePath(namespace, chain string) string {
	return "/" + namespace + "/" + chain + chainconfig.StatePath
}

func startStandInIndexers() *standInIndexers {
	x := &standInIndexers{venues: map[string][]chainconfig.Venue{}, down: map[string]bool{}, paused: map[string]bool{}}
	m := http.NewServeMux()
	m.HandleFunc("GET "+statePath("{namespace}", "{chain}"), x.answer)
	x.Server = httptest.NewServer(m)
	return x
}

func (x *standInIndexers) answer(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	path := r.URL.Path
	if _, known := x.venues[path]; !known || x.down[path] {
		http.Error(w, "the indexer is down", http.StatusServiceUnavailable)
		return
	}
	at := lab.Now()
	number := uint64(at.Unix()) / 2
	head := chainconfig.Block{Number: number, Time: time.Unix(int64(number)*2, 0)}
	s := chainconfig.State{
		Chain: r.PathValue("chain"), Document: "stand-in", Phase: chainconfig.PhaseFollowing, At: at, Head: &head, HeadReadAt: at, Indexed: &head,
	}
	for _, venue := range x.venues[path] {
		v := chainconfig.VenueState{ID: venue.ID, Contracts: venue.Contracts, Checked: true}
		if x.paused[path+" "+venue.ID] {
			v.Paused = []string{"0x0000000000000000000000000000000000000001"}
		}
		s.Venues = append(s.Venues, v)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // the operator may be gone
}

// change changes what is answered.
func (x *standInIndexers) change(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f()
}

// learn makes a chain's indexer answer with other contracts of a venue, as one that was replaced does.
func (x *standInIndexers) learn(path string, v chainconfig.Venue) {
	x.change(func() {
		for i := range x.venues[path] {
			if x.venues[path][i].ID == v.ID {
				x.venues[path][i] = v
			}
		}
	})
}
