package yellowstone

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// streaming is a server before one that streams the blocks of a test.
type streaming struct {
	*Server

	told counts

	blocks chan uint64 // the slots of blocks to stream
}

// counts are what a server tells.
type counts struct {
	mu   sync.Mutex
	list map[string]int
}

func (c *counts) Subscribed() { c.Failed("subscribed") }

func (c *counts) Streamed() { c.Failed("streamed") }

func (c *counts) Failed(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list[kind]++
}

func (c *counts) of(kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list[kind]
}

// provider is limits in the plugin's words.
func provider() Limits {
	return Limits{
		Token: "token", NoToken: Refusal{codes.Unauthenticated, "No valid auth token"}, Streams: 1, TooMany: Refusal{codes.ResourceExhausted, "max subscription limit exceeded"},
		Kept: 3, NoReplay: Refusal{codes.Internal, "from_slot is not supported"}, Gone: Refusal{codes.OutOfRange, "broadcast from %d is not available, last available: %d"},
	}
}

func newStreaming(t *testing.T, limits Limits) *streaming {
	t.Helper()
	return changing(t, limits, nil)
}

// changing is a server that changes the blocks.
func changing(t *testing.T, limits Limits, change func([]byte) []byte) *streaming {
	t.Helper()
	blocks := make(chan uint64)
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		t.Fatal(err)
	}
	upstream := grpc.NewServer(grpc.ForceServerCodecV2(message{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		for {
			select {
			case <-stream.Context().Done():
				return nil
			case slot := <-blocks:
				block := streamedBlock{body: appendField(appendNumber(nil, 1, slot), 2, []byte(strings.Repeat("b", int(slot))))}
				if err := stream.SendMsg(block.update([]string{"all"})); err != nil {
					return err
				}
			}
		}
	}))
	go func() { _ = upstream.Serve(l) }()
	t.Cleanup(upstream.Stop)
	out := &streaming{told: counts{list: map[string]int{}}, blocks: blocks}
	out.Server, err = Start(t.Context(), Options{
		Limits: limits, Counter: &out.told, From: "http://" + l.Addr().String(), Host: "127.0.0.1", Now: time.Now, Delay: func() time.Duration { return 0 },
		Change: change,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

// send streams the blocks of slots, and waits until the node has them.
func (s *streaming) send(t *testing.T, slots ...uint64) {
	t.Helper()
	before := s.seenBlocks()
	for _, slot := range slots {
		s.blocks <- slot
	}
	s.await(t, "the blocks", func() bool { return s.seenBlocks() == before+len(slots) })
}

func (s *streaming) seenBlocks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *streaming) await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 2000 {
		if so() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s didn't come", what)
}

// read subscribes with a request, and waits until the node has taken it in, unless it refuses.
func (s *streaming) read(t *testing.T, token string, request []byte) grpc.ClientStream {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(s.URL(), "http://"), "/")
	conn, err := grpc.NewClient(host, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(message{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "x-token", token), 20*time.Second)
	t.Cleanup(cancel)
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, subscribeMethod)
	if err == nil {
		err = stream.SendMsg(request)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// joined is a reader of blocks from now on that the node knows.
func (s *streaming) joined(t *testing.T) grpc.ClientStream {
	t.Helper()
	stream := s.read(t, "", wholeBlocks(0))
	s.await(t, "the reader", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.readers) > 0
	})
	return stream
}

// next is what a stream sends: the slot of a block, a ping, a message that can't be read, or its end.
func next(stream grpc.ClientStream) string {
	var b []byte
	if err := stream.RecvMsg(&b); err != nil {
		told := status.Convert(err)
		return fmt.Sprintf("%s: %s", told.Code(), told.Message())
	}
	if string(b) == string(ping) {
		return "ping"
	}
	if block, ok := parseUpdate(b); ok {
		return strconv.FormatUint(block.slot, 10)
	}
	return "unreadable"
}

func wants(t *testing.T, stream grpc.ClientStream, want ...string) {
	t.Helper()
	for i, w := range want {
		if got := next(stream); got != w {
			t.Fatalf("message %d is %q, want %q", i, got, w)
		}
	}
}

func TestAStreamIsForReadersWithItsToken(t *testing.T) {
	t.Parallel()
	limits := provider()
	s := newStreaming(t, limits)
	if url := s.URL(); !strings.HasSuffix(url, "/"+limits.Token) {
		t.Errorf("the stream's URL is %s", url)
	}
	wants(t, s.read(t, "another", wholeBlocks(0)), "Unauthenticated: No valid auth token")
	for _, request := range [][]byte{nil, appendNumber(wholeBlocks(0), 6, 2), appendField(wholeBlocks(0), 2, nil)} {
		wants(t, s.read(t, limits.Token, request), "Unimplemented: the stand-in streams whole blocks that are confirmed, and nothing else")
		s.await(t, "the end", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.open == 0 })
	}
	s.read(t, limits.Token, wholeBlocks(0))
	s.await(t, "the reader", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.open == 1 })
	wants(t, s.read(t, limits.Token, wholeBlocks(0)), "ResourceExhausted: max subscription limit exceeded")
	if s.told.of("token") != 1 || s.told.of("streams") != 1 || s.told.of("subscribed") != 6 {
		t.Errorf("%d, %d and %d", s.told.of("token"), s.told.of("streams"), s.told.of("subscribed"))
	}
}

func TestAStreamSendsBlocksAgainThatItKeeps(t *testing.T) {
	t.Parallel()
	limits := provider()
	limits.Token, limits.Streams = "", 0
	s := newStreaming(t, limits)
	s.send(t, 10, 11, 13, 15)
	wants(t, s.read(t, "", wholeBlocks(11)), "OutOfRange: broadcast from 11 is not available, last available: 13")
	replayed := s.read(t, "", wholeBlocks(13))
	wants(t, replayed, "13", "15")
	s.send(t, 16)
	wants(t, replayed, "16")
	limits.Kept = 0
	wants(t, newStreaming(t, limits).read(t, "", wholeBlocks(13)), "Internal: from_slot is not supported")
}

func TestStreamsHaveTheFaultsOfTheirProfile(t *testing.T) {
	t.Parallel()
	tooLong := Refusal{codes.OutOfRange, "found %d bytes, the limit is: %d bytes"}
	for name, c := range map[string]struct {
		limits Limits
		want   []string
	}{
		"none":            {Limits{}, []string{"1", "2", "3", "4"}},
		"it ends":         {Limits{Faults: []Fault{{After: 2, Ends: tooSlow}}}, []string{"1", "2", "Internal: lagged to send an update"}},
		"without a word":  {Limits{Faults: []Fault{{After: 1}}}, []string{"1", "Unknown: EOF"}},
		"a message's cut": {Limits{Faults: []Fault{{After: 1, Cut: true}}}, []string{"1", "unreadable", "3", "4"}},
		"a block's gone":  {Limits{MissEvery: 3}, []string{"1", "2", "4"}},
		"blocks are late": {Limits{Faults: []Fault{{After: 1, Blocks: 2, Lag: 50 * time.Millisecond}}}, []string{"1", "2", "3", "Unknown: EOF"}},
		"too long": {
			Limits{MostMessage: 14, TooLong: tooLong},
			[]string{"1", "2", "3", "OutOfRange: found 15 bytes, the limit is: 14 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreaming(t, c.limits)
			reader := s.joined(t)
			began := time.Now()
			s.send(t, 1, 2, 3, 4)
			wants(t, reader, c.want...)
			if name == "blocks are late" && time.Since(began) < 50*time.Millisecond {
				t.Error("they aren't late")
			}
		})
	}
}

// TestFaultsThatAreEnded: a stream with a fault to come goes on, and no block is left out any more.
func TestFaultsThatAreEnded(t *testing.T) {
	t.Parallel()
	s := newStreaming(t, Limits{MissEvery: 3, Faults: []Fault{{After: 4, Ends: tooSlow}}})
	reader := s.joined(t)
	s.send(t, 1, 2, 3)
	wants(t, reader, "1", "2")
	s.EndFaults()
	s.send(t, 4, 5, 6, 7, 8)
	wants(t, reader, "4", "5", "6", "7", "8")
}

func TestAServerChangesBlocks(t *testing.T) {
	t.Parallel()
	s := changing(t, Limits{}, func(block []byte) []byte { return appendNumber(block, 1, 70) })
	reader := s.joined(t)
	s.send(t, 1)
	wants(t, reader, "70")
}

// TestAStreamStops: it sends no ping either, and another reader has the next fault.
func TestAStreamStops(t *testing.T) {
	t.Parallel()
	s := newStreaming(t, Limits{PingEvery: 20 * time.Millisecond, Faults: []Fault{{Stops: true}, {Ends: shutDown}}})
	reader := s.joined(t)
	wants(t, reader, "ping", "ping")
	s.send(t, 1)
	s.await(t, "the fault", func() bool { return s.told.of("stream stopped") == 1 })
	sent := make(chan string, 100)
	go func() {
		for {
			sent <- next(reader)
		}
	}()
	time.Sleep(500 * time.Millisecond) // what was on its way
	for len(sent) > 0 {
		if got := <-sent; got != "ping" {
			t.Errorf("it sends %s", got)
		}
	}
	time.Sleep(200 * time.Millisecond)
	if len(sent) > 0 {
		t.Errorf("it sends %s", <-sent)
	}
	other := s.read(t, "", wholeBlocks(0))
	s.await(t, "the reader", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.readers) == 2 })
	s.send(t, 2)
	for got := next(other); got != "Unavailable: server is shutting down try again later"; got = next(other) {
		if got != "ping" {
			t.Fatalf("it sends %s", got)
		}
	}
}

func TestAStreamCutsOffWhoSendsNothing(t *testing.T) {
	t.Parallel()
	s := newStreaming(t, Limits{IdleAfter: 3 * time.Second, Idle: Refusal{codes.Internal, "idle"}})
	reader := s.joined(t)
	for range 5 {
		time.Sleep(700 * time.Millisecond)
		if err := reader.SendMsg(append(appendField(nil, 9, nil), ping...)); err != nil {
			t.Fatal(err)
		}
	}
	s.send(t, 1)
	wants(t, reader, "1", "Internal: idle")
}

// TestAStreamEndsWithItsChain: readers are told when the server that the node reads has ended.
func TestAStreamEndsWithItsChain(t *testing.T) {
	t.Parallel()
	s := newStreaming(t, Limits{})
	reader := s.joined(t)
	s.end()
	wants(t, reader, "Unavailable: server is shutting down try again later")
	wants(t, s.read(t, "", wholeBlocks(0)), "Unavailable: server is shutting down try again later")
	if _, err := Start(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "no server of Yellowstone gRPC") {
		t.Errorf("error %v", err)
	}
}

// TestAServerThatStreamsNothing: where the server has ended the stream, the error says what the server said.
func TestAServerThatStreamsNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		t.Fatal(err)
	}
	upstream := grpc.NewServer()
	go func() { _ = upstream.Serve(l) }()
	t.Cleanup(upstream.Stop)
	conn, err := grpc.NewClient("dns:///"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(message{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	own, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, subscribeMethod)
	if err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; time.Sleep(time.Millisecond) {
		err = own.SendMsg(wholeBlocks(0)) // until the client has heard of the end
	}
	if err := begin(own); status.Code(err) != codes.Unimplemented {
		t.Errorf("error %v", err)
	}
}
