// Package node answers for a chain as a mainnet's RPC provider does: with its limits, in its words. It is a stand-in; hack/provider/profiles
// says how each behaviour is known.
package node

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
)

// Node is one endpoint of a chain. Several may serve one chain, with different profiles.
type Node struct {
	chain *chain.Chain // nil of a node of Solana
	// upstream is where calls go that the node doesn't answer itself. run answers calls.
	upstream string
	run      func(context.Context, []*call)
	byMethod map[string]*bucket
	profile  profiles.Profile
	counts   *counter
	rate     *bucket
	now      func() time.Time
	client   *http.Client
	listener net.Listener
	server   *http.Server
	url      string
	ended    chan struct{}
	streams  *yellowstone.Server // nil where the profile has no stream of blocks

	mu  sync.Mutex
	rng *rand.Rand
}

// Options say where a node listens and how it behaves.
type Options struct {
	Profile profiles.Profile
	// Address is a host and port; empty takes a free port on this machine alone.
	Address string
	Seed    uint64
	// Yellowstone is the address of a server of Yellowstone gRPC that streams the chain's blocks, for a profile that has such a stream.
	Yellowstone string
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

// Start begins to listen.
func Start(ctx context.Context, c *chain.Chain, o Options) (*Node, error) {
	n, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	n.chain, n.upstream, n.run = c, c.World().Node.URL(), n.runEVM
	n.listen()
	return n, nil
}

func start(ctx context.Context, o Options) (*Node, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	n := &Node{
		listener: l, byMethod: map[string]*bucket{}, profile: o.Profile, counts: newCounter(), rate: newBucket(o.Profile.Rate, o.Now), ended: make(chan struct{}),
		rng: rand.New(rand.NewPCG(o.Seed, 31)), url: "http://" + l.Addr().String(), now: o.Now,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
	}
	return n, nil
}

func (n *Node) listen() {
	mux := http.NewServeMux()
	mux.Handle("GET /counts", n.counts)
	mux.HandleFunc("/", n.serve)
	n.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = n.server.Serve(n.listener) }()
}

// URL is where the node answers JSON-RPC; /counts below it says what was asked.
func (n *Node) URL() string { return n.url }

// Counts are what was asked so far.
func (n *Node) Counts() Counts { return n.counts.now() }

// Close ends the node and all that it has under way.
func (n *Node) Close() error {
	close(n.ended)
	if n.streams != nil {
		n.streams.Close()
	}
	return n.server.Close()
}

// mostRequest is the longest request, as geth has it.
const mostRequest = 5 << 20

func (n *Node) serve(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		n.subscribe(w, r)
		return
	}
	n.counts.request()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostRequest))
	if err != nil {
		http.Error(w, "content length too large", http.StatusRequestEntityTooLarge)
		return
	}
	if !n.delay(r.Context()) {
		return
	}
	n.write(w, r, n.answer(r.Context(), body))
}

// reply is what a request is answered with.
type reply struct {
	status     int
	retryAfter int // seconds
	body       []byte
	html       bool
}

// call is one JSON-RPC call.
type call struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`

	result  []byte
	refusal *profiles.Refusal
	data    json.RawMessage // of the refusal
	retry   int
	most    int // how long the list may be that is asked for
}

// answer answers a request: one call or a batch.
func (n *Node) answer(ctx context.Context, body []byte) reply {
	body = bytes.TrimSpace(body)
	var calls []*call
	var err error
	single := len(body) == 0 || body[0] != '['
	if single {
		calls = []*call{{}}
		err = json.Unmarshal(body, calls[0])
	} else {
		err = json.Unmarshal(body, &calls)
	}
	switch limit := n.profile.Batch; {
	case err != nil:
		return whole(&profiles.Refusal{Code: -32700, Message: "parse error"})
	case len(calls) == 0:
		return whole(&profiles.Refusal{Code: -32600, Message: "empty batch"})
	case limit.Calls > 0 && len(calls) > limit.Calls:
		n.counts.refused("batch")
		return whole(said(limit.TooMany, len(calls), limit.Calls))
	}
	for _, c := range calls {
		n.admit(c)
	}
	n.run(ctx, calls)
	out := reply{status: http.StatusOK}
	for _, c := range calls {
		// Where a call of a batch is refused, the batch has the status of HTTP that the call alone would have.
		if c.refusal != nil && c.refusal.Status != 0 {
			out.status, out.retryAfter = c.refusal.Status, c.retry
			if c.refusal.HTML != "" {
				return reply{status: c.refusal.Status, retryAfter: c.retry, body: []byte(c.refusal.HTML), html: true}
			}
		}
	}
	if !single {
		out.body = append(out.body, '[')
	}
	for i, c := range calls {
		if i > 0 {
			out.body = append(out.body, ',')
		}
		out.body = c.append(out.body)
	}
	if !single {
		out.body = append(out.body, ']')
	}
	if most := n.profile.MostAnswer; most > 0 && len(out.body) > most && (!single || !n.profile.OfBatches) {
		n.counts.refused("answer")
		return whole(&n.profile.TooLong)
	}
	return out
}

// admit counts a call, and refuses it where that is due.
func (n *Node) admit(c *call) {
	units, ok := n.profile.Units[c.Method]
	if !ok {
		units = n.profile.OtherUnits
	}
	n.counts.call(c.Method, units)
	if more, ok := n.profile.RateUnits[c.Method]; ok {
		units = more
	}
	if refusal, retry, why := n.rate.take(units); refusal != nil {
		n.counts.refused(why)
		c.refusal, c.retry = refusal, retry
	}
}

// said is a refusal with values in its message.
func said(r profiles.Refusal, values ...any) *profiles.Refusal {
	if strings.Contains(r.Message, "%") {
		r.Message = fmt.Sprintf(r.Message, values...)
	}
	return &r
}

// whole answers a request as a whole with a refusal.
func whole(r *profiles.Refusal) reply {
	if r.HTML != "" {
		return reply{status: r.Status, body: []byte(r.HTML), html: true}
	}
	c := call{ID: json.RawMessage("null"), refusal: r}
	out := reply{status: r.Status, body: c.append(nil)}
	if out.status == 0 {
		out.status = http.StatusOK
	}
	return out
}

func (c *call) append(dst []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if len(c.ID) == 0 {
		dst = append(dst, "null"...)
	}
	dst = append(dst, c.ID...)
	if c.refusal != nil {
		dst = append(dst, `,"error":{"code":`...)
		dst = strconv.AppendInt(dst, int64(c.refusal.Code), 10)
		dst = append(dst, `,"message":`...)
		text, _ := json.Marshal(c.refusal.Message) // a string
		dst = append(dst, text...)
		if len(c.data) > 0 {
			dst = append(append(dst, `,"data":`...), c.data...)
		}
		return append(dst, "}}"...)
	}
	dst = append(append(dst, `,"result":`...), c.result...)
	return append(dst, '}')
}

func (c *call) refuse(r *profiles.Refusal) { c.refusal = r }

// packed is the length from which on an answer is packed for those who take it so.
const packed = 1400

func (n *Node) write(w http.ResponseWriter, r *http.Request, a reply) {
	n.counts.answered(len(a.body))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if a.html {
		h.Set("Content-Type", "text/html")
	}
	if a.retryAfter > 0 && n.profile.Rate.RetryAfter {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	if len(a.body) < packed || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // the client may have gone
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(a.status)
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(a.body)
	_ = z.Close()
}

// delay waits as long as the answer is on its way; false says that the client has gone.
func (n *Node) delay(ctx context.Context) bool {
	d := n.drawLatency(&n.profile.Latency)
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-n.ended:
	}
	return false
}

// drawLatency is how long an answer of such a latency takes.
func (n *Node) drawLatency(l *profiles.Latency) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.Draw(n.rng)
}
