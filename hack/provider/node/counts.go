package node

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"
)

// Counts are what was asked of a node since it began.
type Counts struct {
	Since time.Time `json:"since"`
	// Requests are HTTP's, Calls those of JSON-RPC by method, Units the compute units of the latter.
	Requests int64            `json:"requests"`
	Calls    map[string]int64 `json:"calls"`
	Units    map[string]int64 `json:"units"`
	// Refused are calls that were refused, by the reason.
	Refused map[string]int64 `json:"refused"`
	// Bytes is how long the answers were together, before they were packed.
	Bytes       int64 `json:"bytes"`
	AllCalls    int64 `json:"all_calls"`
	AllUnits    int64 `json:"all_units"`
	Subscribers int64 `json:"subscribers"`
	// Streamed are the blocks that streams have sent.
	Streamed int64 `json:"streamed"`
}

type counter struct {
	mu sync.Mutex
	c  Counts
}

func newCounter() *counter {
	return &counter{c: Counts{Since: time.Now(), Calls: map[string]int64{}, Units: map[string]int64{}, Refused: map[string]int64{}}}
}

func (c *counter) request() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Requests++
}

func (c *counter) call(method string, units int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Calls[method]++
	c.c.Units[method] += units
	c.c.AllCalls++
	c.c.AllUnits += units
}

func (c *counter) refused(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Refused[why]++
}

func (c *counter) answered(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Bytes += int64(bytes)
}

func (c *counter) subscribed(by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Subscribers += by
}

// Subscribed counts a reader of a stream of blocks.
func (c *counter) Subscribed() { c.call("Subscribe", 0) }

// Failed counts what a reader of a stream of blocks was refused, and the faults of streams.
func (c *counter) Failed(kind string) { c.refused(kind) }

// Streamed counts a block that a stream has sent.
func (c *counter) Streamed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.Streamed++
}

// now is a copy.
func (c *counter) now() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.c
	out.Calls, out.Units, out.Refused = maps.Clone(out.Calls), maps.Clone(out.Units), maps.Clone(out.Refused)
	return out
}

// ServeHTTP answers with the counts.
func (c *counter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(c.now()) // the client may have gone
}
