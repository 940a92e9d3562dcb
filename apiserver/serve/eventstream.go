package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/limit"
)

// Subscription is what one reader of a stream is sent.
type Subscription interface {
	// Next gives what is new for the reader, as whole server-sent events; nil where nothing is. Nobody changes it afterwards. ok is false for a reader who is
	// too far behind. One goroutine calls it, and it must not wait.
	Next() (events []byte, ok bool)
	// Close ends the subscription.
	Close()
}

// EventStream is the answer that goes on: server-sent events, until either side ends it.
func EventStream(s Subscription) *Answer { return &Answer{subscription: s} }

const (
	// streamTurn is how often the loop looks what is new for each reader.
	streamTurn = 100 * time.Millisecond
	// heartbeat is after how long without an event a reader is sent a comment, so that everybody on the way knows that the connection is used.
	heartbeat = 15 * time.Second
	// slowReader is for how long a reader may take over one event.
	slowReader = 10 * time.Second
	// eventsATurn is how many events a reader is sent in one turn: who is behind catches up, and holds nobody up.
	eventsATurn = 16
	// goneAgain is in how many turns a reader's connection is looked at once, whether the other side has closed it.
	goneAgain = 50
	// streamsPerClient is how many streams one client may have open.
	streamsPerClient = 20
	// maxStreams is the default of EventStreamsOptions.Max.
	maxStreams = 5_000
)

// EventStreamsOptions are what EventStreams work with.
type EventStreamsOptions struct {
	// Max bounds the open streams; 0 is 5,000.
	Max     int
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *Metrics
}

// EventStreams are the open streams. One loop writes to all of them, since a goroutine for each would take fifteen times the memory. A connection that
// net/http doesn't give up is served by its own goroutine, with the same bytes.
type EventStreams struct {
	o EventStreamsOptions

	mu sync.Mutex
	// joined lists the readers that came since the last turn.
	joined  []*streamReader
	open    int
	clients map[limit.Client]int
	ended   bool
	// ending is closed when the service ends.
	ending chan struct{}
}

// NewEventStreams has no readers yet. Run serves them.
func NewEventStreams(o EventStreamsOptions) *EventStreams {
	if o.Max == 0 {
		o.Max = maxStreams
	}
	return &EventStreams{o: o, clients: map[limit.Client]int{}, ending: make(chan struct{})}
}

// The reasons why a stream isn't opened.
var (
	errStreamsFull   = errors.New("as many streams are open as there may be")
	errClientStreams = errors.New("the client has as many streams open as it may")
	errEnding        = errors.New("the service ends")
)

// enter counts a stream of a client.
func (s *EventStreams) enter(c limit.Client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	network, ofNetwork := c.Network()
	switch {
	case s.ended:
		return errEnding
	case s.open >= s.o.Max:
		return errStreamsFull
	case s.clients[c] >= streamsPerClient || ofNetwork && s.clients[network] >= limit.PerNetwork*streamsPerClient:
		return errClientStreams
	}
	s.open++
	s.clients[c]++
	if ofNetwork {
		s.clients[network]++
	}
	s.o.Metrics.streams(s.open)
	return nil
}

func (s *EventStreams) leave(c limit.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.forget(c)
	if network, ok := c.Network(); ok {
		s.forget(network)
	}
	s.o.Metrics.streams(s.open)
}

func (s *EventStreams) forget(c limit.Client) {
	if s.clients[c]--; s.clients[c] == 0 {
		delete(s.clients, c)
	}
}

// streamReader is a reader whose connection the loop has.
type streamReader struct {
	conn   *conn
	sub    Subscription
	client limit.Client
	// queue is what is being written. What is new meanwhile is asked for once it is empty, so that no more than one event waits.
	queue []byte
	// began is when the writing of queue began, and wrote when the connection took something last.
	began, wrote time.Time
}

// Run writes to the readers until ctx ends, and then tells them when to come back.
func (s *EventStreams) Run(ctx context.Context) {
	turn := time.NewTicker(streamTurn)
	defer turn.Stop()
	var readers []*streamReader
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			s.end(readers)
			return
		case <-turn.C:
		}
		readers = append(readers, s.take()...)
		now := s.o.Now()
		kept := readers[:0]
		for i, r := range readers {
			if why := s.safeTurn(r, now, (n+i)%goneAgain == 0); why == "" {
				kept = append(kept, r)
			} else {
				s.close(r, why)
			}
		}
		clear(readers[len(kept):])
		readers = kept
	}
}

// take gives the readers that came since the last turn.
func (s *EventStreams) take() []*streamReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.joined
	s.joined = nil
	return out
}

func (s *EventStreams) close(r *streamReader, why string) {
	_ = r.conn.Close() // it is given up, whatever it says
	r.sub.Close()
	s.leave(r.client)
	s.o.Metrics.streamEnded(why)
}

// The reasons why streams end.
const (
	endedByClient  = "client"
	endedSlow      = "slow"
	endedByService = "service"
)

// safeTurn is turn, whose panic ends this stream alone.
func (s *EventStreams) safeTurn(r *streamReader, now time.Time, look bool) (why string) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("an event stream panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			why = endedByService
		}
	}()
	return r.turn(now, look)
}

// turn writes what a reader takes without waiting. It gives why the stream ends, or nothing.
func (r *streamReader) turn(now time.Time, look bool) (why string) {
	if look && r.conn.isGone() {
		return endedByClient
	}
	for range eventsATurn {
		if len(r.queue) == 0 {
			var ok bool
			if r.queue, ok = r.sub.Next(); !ok {
				return endedSlow
			}
			if len(r.queue) == 0 && now.Sub(r.wrote) >= heartbeat {
				r.queue = comment
			}
			r.began = now
		}
		if len(r.queue) == 0 {
			return ""
		}
		n, err := r.conn.tryWrite(r.queue)
		if err != nil {
			return endedByClient
		}
		if n > 0 {
			r.wrote = now
		}
		if r.queue = r.queue[n:]; len(r.queue) > 0 {
			break
		}
	}
	if len(r.queue) > 0 && now.Sub(r.began) >= slowReader {
		return endedSlow
	}
	return ""
}

var comment = []byte(":\n\n")

// comeBack tells a browser after how many milliseconds it may come back: another time for each, so that not all come at once.
func comeBack() []byte {
	return []byte("retry: " + strconv.Itoa(1_000+rand.IntN(9_000)) + "\n\n") //nolint:gosec // it is no secret
}

// end tells readers when to come back, and closes them.
func (s *EventStreams) end(readers []*streamReader) {
	s.mu.Lock()
	s.ended = true
	close(s.ending)
	s.mu.Unlock()
	for _, r := range append(readers, s.take()...) {
		if len(r.queue) == 0 { // else it would be within an event
			_, _ = r.conn.tryWrite(comeBack())
		}
		s.close(r, endedByService)
	}
}

// serveStream serves a stream whose limits have been counted, and gives the status.
func (s *Server) serveStream(ctx context.Context, x *exchange, sub Subscription) int {
	h := x.w.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = x.op.cache[ordinary]
	h["X-Accel-Buffering"] = noBuffering
	if x.Method == http.MethodHead {
		sub.Close()
		x.w.WriteHeader(http.StatusOK)
		return http.StatusOK
	}
	if err := s.EventStreams.enter(x.client); err != nil {
		sub.Close()
		p := NewProblem("temporary-reduced-capacity", "No more streams can be opened: "+err.Error()+".")
		p.RetryAfter = 15
		delete(h, "X-Accel-Buffering")
		return s.failAs(x.w, x.Request.Request, p, false)
	}
	rc := http.NewResponseController(x.w)
	c, buffered, err := rc.Hijack()
	hijacked, ok := c.(*conn)
	if err != nil {
		s.serveUnhijacked(ctx, x, sub, rc)
		return http.StatusOK
	}
	if !ok || buffered.Reader.Buffered() > 0 { // who sends more than one request at once doesn't read events
		_ = c.Close()
		sub.Close()
		s.EventStreams.leave(x.client)
		return statusClientGone
	}
	r := &streamReader{conn: hijacked, sub: sub, client: x.client, queue: streamHead(h), began: s.Now(), wrote: s.Now()}
	if why := s.EventStreams.safeTurn(r, s.Now(), false); why != "" { // the first words and the first event don't wait for the loop
		s.EventStreams.close(r, why)
		return http.StatusOK
	}
	s.EventStreams.join(r)
	return http.StatusOK
}

var (
	eventStream = []string{"text/event-stream"}
	noBuffering = []string{"no"}
)

// streamHead is the head of a stream's answer, with the first words of the stream.
func streamHead(h http.Header) []byte {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\nConnection: close\r\n")
	_ = h.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	b.Write(comeBack())
	return b.Bytes()
}

// join gives a reader to the loop.
func (s *EventStreams) join(r *streamReader) {
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.joined = append(s.joined, r)
	}
	s.mu.Unlock()
	if ended {
		s.close(r, endedByService)
	}
}

// serveUnhijacked serves a stream over a connection that net/http doesn't give up.
func (s *Server) serveUnhijacked(ctx context.Context, x *exchange, sub Subscription, rc *http.ResponseController) {
	why := endedByClient
	defer func() {
		sub.Close()
		s.EventStreams.leave(x.client)
		s.EventStreams.o.Metrics.streamEnded(why)
	}()
	turn := time.NewTicker(streamTurn)
	defer turn.Stop()
	write := func(b []byte) bool {
		_ = rc.SetWriteDeadline(s.Now().Add(slowReader)) // without one the server's own holds
		_, err := x.w.Write(b)
		return err == nil
	}
	wrote := s.Now()
	if !write(comeBack()) {
		return
	}
	for {
		for range eventsATurn {
			next, ok := sub.Next()
			if !ok {
				why = endedSlow
				return
			}
			if next == nil && s.Now().Sub(wrote) >= heartbeat {
				next = comment
			}
			if next == nil {
				break
			}
			if wrote = s.Now(); !write(next) {
				return
			}
		}
		if rc.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.EventStreams.ending:
			_ = write(comeBack())
			why = endedByService
			return
		case <-turn.C:
		}
	}
}
