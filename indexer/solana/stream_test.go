package solana

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// streaming is a server of Yellowstone gRPC that sends what a test gives it.
type streaming struct {
	url  string
	send chan []byte // nil ends the stream
	// begun counts streams, and asked receives what readers send.
	begun atomic.Int64
	asked chan []byte
	token atomic.Value
}

func newStreaming(t *testing.T) *streaming {
	t.Helper()
	s := &streaming{send: make(chan []byte), asked: make(chan []byte, 100)}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if method, _ := grpc.MethodFromServerStream(stream); method != "/geyser.Geyser/Subscribe" {
			return errors.New(method)
		}
		s.begun.Add(1)
		if md, ok := metadata.FromIncomingContext(stream.Context()); ok {
			s.token.Store(strings.Join(md.Get("x-token"), ","))
		}
		go func() {
			for m := []byte(nil); stream.RecvMsg(&m) == nil; {
				s.asked <- m
			}
		}()
		for {
			select {
			case <-stream.Context().Done():
				return nil
			case m := <-s.send:
				if m == nil {
					return errors.New("the end of " + s.url + "/secret-token")
				}
				if err := stream.SendMsg(m); err != nil {
					return err
				}
			}
		}
	}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	s.url = "http://" + listener.Addr().String()
	return s
}

// awaitPong sends pings until one is answered: whatever was sent before has been taken in then. One that a stream takes which is about to end is lost.
func (s *streaming) awaitPong() {
	for {
		select {
		case s.send <- field(nil, 6, nil):
			time.Sleep(5 * time.Millisecond)
		case m := <-s.asked:
			if string(m) == string(pong) {
				return
			}
		}
	}
}

func field(to []byte, number protowire.Number, text []byte) []byte {
	return protowire.AppendBytes(tagged(to, number), text)
}

// sent is an update with a block that has no transactions.
func sent(b solanatest.Made) []byte {
	block := withNumber(nil, 1, b.Number)
	block = field(block, 2, []byte(base58.Encode(b.Hash[:])))
	block = field(block, 4, withNumber(nil, 1, uint64(b.Time)))
	block = withNumber(block, 7, b.ParentSlot)
	block = field(block, 8, []byte(base58.Encode(b.Parent[:])))
	return field(field(nil, 1, []byte("blocks")), 5, block)
}

// emptyBlocks are blocks without transactions, of every second slot.
func emptyBlocks(n int) (out []solanatest.Made) {
	last := solanatest.Made{Header: market.Header{Number: 998, Hash: market.Hash{31: 1}, Time: 1_799_999_000}}
	for i := range n {
		b := solanatest.Made{Header: market.Header{Number: last.Number + 2, Parent: last.Hash, Time: last.Time + 1}, ParentSlot: last.Number}
		b.Hash[30], b.Hash[31] = byte(i), 2
		out, last = append(out, b), b
	}
	return out
}

// unread is a source with a node that is asked and one that streams, which nobody reads yet, and a clock that is moved by hand.
func unread(t *testing.T) (s *Source, asked *solanatest.Node, node *streaming, clock *atomic.Int64) {
	t.Helper()
	asked, node, clock = solanatest.NewNode(t), newStreaming(t), new(atomic.Int64)
	c := &chainconfig.Chain{ID: "solana", Family: chainconfig.Solana, GenesisHash: solanatest.Genesis, Endpoints: []chainconfig.Endpoint{
		{URL: node.url + "/secret-token", Protocol: chainconfig.YellowstoneGRPC}, {URL: asked.URL},
	}}
	s, err := NewSource(c, Options{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(1_800_000_000+clock.Load(), 0) }, RereadPause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, asked, node, clock
}

// streamed is unread, read.
func streamed(t *testing.T) (s *Source, asked *solanatest.Node, node *streaming, heads <-chan struct{}, clock *atomic.Int64) {
	t.Helper()
	s, asked, node, clock = unread(t)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return s, asked, node, s.Heads(ctx), clock
}

func wantHead(t *testing.T, s *Source, want market.Header) {
	t.Helper()
	if h, err := s.Head(t.Context()); err != nil || h.Hash != want.Hash || h.Number != want.Number {
		t.Errorf("the head is %d, want %d; error %v", h.Number, want.Number, err)
	}
}

// TestStream: blocks that a node sends are taken without asking for them; what it doesn't send is asked for.
func TestStream(t *testing.T) {
	t.Parallel()
	s, asked, node, heads, clock := streamed(t)
	blocks := emptyBlocks(30)
	asked.Serve(blocks[:1])
	wantHead(t, s, blocks[0].Header)
	if m := <-node.asked; string(m) != string(subscription) {
		t.Errorf("it asks for %x", m)
	}
	if got := node.token.Load(); got != "secret-token" {
		t.Errorf("the token is %q", got)
	}
	for i, b := range blocks[1:10] {
		node.send <- sent(b)
		<-heads
		before := asked.Asked("getBlock") + asked.Asked("getSlot") + asked.Asked("getBlocks")
		wantHead(t, s, b.Header)
		headers, err := s.Headers(t.Context(), blocks[i].Header, blocks[i].Number+1, b.Number)
		if err != nil || len(headers) != 1 || headers[0].Hash != b.Hash {
			t.Fatalf("%+v, error %v", headers, err)
		}
		for r, err := range s.Blocks(t.Context(), headers) {
			if err != nil || r.Hash != b.Hash || r.Time != b.Time {
				t.Errorf("%+v, error %v", r.Header, err)
			}
		}
		if n := asked.Asked("getBlock") + asked.Asked("getSlot") + asked.Asked("getBlocks"); n != before {
			t.Errorf("block %d: %d calls", i, n-before)
		}
	}
	// A ping is answered.
	node.awaitPong()
	// Blocks that the stream left out are asked for.
	asked.Serve(blocks[:20])
	node.send <- sent(blocks[19])
	<-heads
	wantHead(t, s, blocks[19].Header)
	headers, err := s.Headers(t.Context(), blocks[9].Header, blocks[9].Number+1, blocks[19].Number)
	if err != nil || len(headers) != headersAtOnce || headers[0].Hash != blocks[10].Hash {
		t.Errorf("%d headers, error %v", len(headers), err)
	}
	// A stream that stands still doesn't hold up the chain.
	asked.Serve(blocks)
	clock.Add(int64(standstill/time.Second) + 1)
	wantHead(t, s, blocks[29].Header)
}

// TestStreamWithoutTimes: a block that a stream sends without its time, or with one before its parent's, has the time that another endpoint tells.
func TestStreamWithoutTimes(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int64{0, 1} {
		s, asked, node, heads, _ := streamed(t)
		blocks := emptyBlocks(4)
		asked.Serve(blocks)
		for i, b := range blocks {
			if i == 2 {
				b.Time = wrong
			}
			node.send <- sent(b)
			<-heads
		}
		parent, times := market.Header{Number: 998, Hash: blocks[0].Parent, Time: blocks[0].Time - 1}, []int64(nil)
		for len(times) < len(blocks) {
			list, err := s.Headers(t.Context(), parent, parent.Number+1, blocks[3].Number)
			if err != nil || len(list) == 0 {
				t.Fatalf("%d blocks, %v", len(list), err)
			}
			for _, h := range list {
				times, parent = append(times, h.Time), h.Header
			}
		}
		for i, b := range blocks {
			if times[i] != b.Time {
				t.Errorf("block %d has the time %d, want %d", b.Number, times[i], b.Time)
			}
		}
	}
}

// TestStreamThatFallsBack: a stream that ends, or is slow, holds up nobody.
func TestStreamThatFallsBack(t *testing.T) {
	t.Parallel()
	blocks := emptyBlocks(80)
	for name, last := range map[string]int{"it has ended": 10, "it is slow": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asked, node, heads, clock := streamed(t)
			asked.Serve(blocks[:10])
			wantHead(t, s, blocks[9].Header)
			node.send <- sent(blocks[10])
			<-heads
			wantHead(t, s, blocks[10].Header)
			for i := 11; i < len(blocks); i++ {
				if clock.Add(1); i <= last && i%2 == 0 {
					node.send <- sent(blocks[10+(i-10)/2])
					<-heads
				}
				asked.Serve(blocks[:i+1])
				if h, err := s.Head(t.Context()); err != nil || h.Number+2*longestLag < blocks[i].Number {
					t.Fatalf("the head is %d, and the chain's %d; error %v", h.Number, blocks[i].Number, err)
				}
			}
		})
	}
}

// TestStreamOfAnotherFork: a stream whose blocks aren't the chain's is left aside, and what it sent is forgotten.
func TestStreamOfAnotherFork(t *testing.T) {
	t.Parallel()
	s, asked, node, heads, clock := streamed(t)
	blocks := emptyBlocks(10)
	asked.Serve(blocks[:5])
	wantHead(t, s, blocks[4].Header)
	node.send <- sent(blocks[5])
	<-heads
	fake := blocks[5]
	fake.Hash[0] = 9
	node.send <- sent(fake) // the last one that it sent of a slot counts
	<-heads
	wantHead(t, s, fake.Header)
	if headers, err := s.Headers(t.Context(), blocks[4].Header, blocks[4].Number+1, blocks[5].Number); err != nil || len(headers) != 1 || headers[0].Hash != fake.Hash {
		t.Errorf("%+v, error %v", headers, err)
	}
	node.send <- sent(blocks[5]) // what the index was given is compared all the same
	<-heads
	asked.Serve(blocks[:7])
	clock.Add(int64(comparedEvery / time.Second))
	wantHead(t, s, blocks[6].Header)
	if headers, err := s.Headers(t.Context(), blocks[4].Header, blocks[4].Number+1, blocks[6].Number); err != nil || len(headers) != 2 || headers[0].Hash != blocks[5].Hash {
		t.Errorf("%+v, error %v", headers, err)
	}
	node.send <- sent(blocks[7])
	node.awaitPong()
	wantHead(t, s, blocks[6].Header) // it doesn't count for a while
	clock.Add(int64(asideFor / time.Second))
	node.send <- sent(blocks[8])
	<-heads
	asked.Serve(blocks[:8])
	wantHead(t, s, blocks[8].Header)
}

// TestStreamBegunAnew: when a stream ends another begins, and no error tells the token.
func TestStreamBegunAnew(t *testing.T) {
	t.Parallel()
	s, asked, node, heads, _ := streamed(t)
	blocks := emptyBlocks(3)
	asked.Serve(blocks[:1])
	wantHead(t, s, blocks[0].Header)
	node.send <- sent(blocks[1])
	<-heads
	node.send <- nil
	node.send <- sent(blocks[2]) // over the next one
	<-heads
	wantHead(t, s, blocks[2].Header)
	if n := node.begun.Load(); n != 2 {
		t.Errorf("%d streams", n)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.readStream(t.Context(), s.streams[0], make(chan struct{}, 1)) }()
	for len(ended) == 0 {
		select {
		case node.send <- nil:
		case err := <-ended:
			ended <- err
		}
	}
	if err := <-ended; err == nil || strings.Contains(err.Error(), "secret-token") || !strings.Contains(err.Error(), "the end of") {
		t.Errorf("the error is %v", err)
	}
}

// TestStreamOfLies: what no honest node sends makes no head, and stops nothing.
func TestStreamOfLies(t *testing.T) {
	t.Parallel()
	blocks := emptyBlocks(4)
	edited := func(edit func(*solanatest.Made)) []byte {
		b := blocks[2]
		edit(&b)
		return sent(b)
	}
	for name, lie := range map[string][]byte{
		"no message":              {0xff, 0xff, 0xff},
		"a block that is none":    field(nil, 5, []byte{0xff}),
		"half a block":            append(sent(blocks[2])[:len(field(nil, 1, []byte("blocks")))], field(nil, 5, withNumber(sent(blocks[2])[len(field(nil, 1, []byte("blocks")))+2:], 9, 5))...),
		"a head far ahead":        edited(func(b *solanatest.Made) { b.Number += 1000 }),
		"a parent above":          edited(func(b *solanatest.Made) { b.ParentSlot = b.Number }),
		"a time to come":          edited(func(b *solanatest.Made) { b.Time = 1_800_100_000 }),
		"a slot beyond all":       edited(func(b *solanatest.Made) { b.Number = 1 << 60 }),
		"an account, not a block": field(nil, 2, []byte("account")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asked, node, _, clock := streamed(t)
			asked.Serve(blocks[:2])
			wantHead(t, s, blocks[1].Header)
			node.send <- lie
			node.awaitPong() // it is taken in, or ends the stream
			wantHead(t, s, blocks[1].Header)
			asked.Serve(blocks)
			clock.Add(int64(comparedEvery / time.Second))
			wantHead(t, s, blocks[3].Header)
		})
	}
}

// TestStreamCapabilities reads a block of a stream, and holds it against the one that the other endpoint has.
func TestStreamCapabilities(t *testing.T) {
	t.Parallel()
	blocks := emptyBlocks(3)
	other := blocks[2]
	other.Hash[0] = 9
	for name, c := range map[string]struct {
		sent solanatest.Made
		want string
	}{"the chain's": {blocks[2], ""}, "another chain's": {other, "another chain's blocks"}} {
		s, asked, node, _ := unread(t)
		asked.Serve(blocks[:2])
		go func() {
			node.send <- sent(c.sent)
			asked.Serve(blocks)
		}()
		got := s.StreamCapabilities(t.Context())
		if err := got[0].Err; len(got) != 1 || c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || got[0].Newest.Hash != c.sent.Hash {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestStreamAlone is no source: nothing can be asked of it.
func TestStreamAlone(t *testing.T) {
	t.Parallel()
	c := &chainconfig.Chain{ID: "solana", Family: chainconfig.Solana, Endpoints: []chainconfig.Endpoint{{URL: "http://127.0.0.1:1", Protocol: chainconfig.YellowstoneGRPC}}}
	if _, err := NewSource(c, Options{}); err == nil || !strings.Contains(err.Error(), "JSONRPC") {
		t.Errorf("error %v", err)
	}
}
