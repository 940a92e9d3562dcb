// Package yellowstone streams a chain's blocks to readers as the plugin Yellowstone gRPC of Solana's nodes does, with the limits and the faults of a provider.
package yellowstone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

const (
	// longestUpdate is the longest message that the chain's own server may send.
	longestUpdate = 256 << 20
	// longestRequest is the longest message that a reader may send: the plugin's default.
	longestRequest = 4 << 20
	// waitingBlocks is how many blocks may wait for a reader before its stream ends.
	waitingBlocks = 1024
)

// tooSlow and shutDown have the plugin's own words (yellowstone-grpc-geyser/src/grpc.rs) to a reader that doesn't keep up, and when the server ends.
var (
	tooSlow     = Refusal{codes.Internal, "lagged to send an update"}
	shutDown    = Refusal{codes.Unavailable, "server is shutting down try again later"}
	notStreamed = Refusal{codes.Unimplemented, "the stand-in streams whole blocks that are confirmed, and nothing else"}
	noRequest   = Refusal{codes.InvalidArgument, "no SubscribeRequest"}
)

// Counter is told of what readers ask and get.
type Counter interface {
	// Subscribed counts a reader, Streamed a block that was sent.
	Subscribed()
	Streamed()
	// Failed counts a refusal or a fault by its kind.
	Failed(kind string)
}

// Options say what a server streams, to whom and how.
type Options struct {
	Limits  Limits
	Counter Counter
	// From is the address of a server of Yellowstone gRPC that streams the chain's blocks without limits.
	From string
	// Host is where the server listens, on a free port.
	Host string
	// Now is the clock. Delay draws how long a block is on its way.
	Now   func() time.Time
	Delay func() time.Duration
	// Change makes another block of one that the chain streams (SubscribeUpdateBlock), before any reader gets it; nil leaves all as they are.
	Change func(block []byte) []byte
}

// Server gives readers the blocks of a chain as the plugin Yellowstone gRPC does, with a provider's limits. It reads them itself, once, from a server without any.
type Server struct {
	Options

	url    string
	server *grpc.Server
	end    context.CancelFunc // of the stream that it reads

	mu      sync.Mutex
	kept    []streamedBlock
	readers map[*reader]bool
	// seen counts blocks, came the faults that came, open the streams of readers that go on.
	seen, came, open int
	isOver           bool // the chain's own stream has ended
	isFaultless      bool // EndFaults was called
}

// reader is who reads a stream.
type reader struct {
	filters []string
	// blocks are those that wait; it is closed when there will be no more, for the reason refusal.
	blocks  chan arrived
	refusal Refusal
	fault   *Fault // nil is none
}

// arrived is a block and when it was there.
type arrived struct {
	streamedBlock

	at time.Time
}

// Start begins to read the chain's own stream, and to listen for readers.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.From == "" {
		return nil, errors.New("provider: the profile has a stream, and no server of Yellowstone gRPC was named to read it from")
	}
	conn, err := grpc.NewClient("dns:///"+strings.TrimPrefix(o.From, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(message{}), grpc.MaxCallRecvMsgSize(longestUpdate)))
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	own, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, subscribeMethod)
	if err == nil {
		err = begin(own)
	}
	l, listenErr := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(o.Host, "0"))
	if err = errors.Join(err, listenErr); err != nil {
		end()
		if listenErr == nil {
			err = errors.Join(err, l.Close())
		}
		return nil, errors.Join(fmt.Errorf("provider: %w", err), conn.Close())
	}
	s := &Server{
		Options: o, readers: map[*reader]bool{}, url: "http://" + l.Addr().String() + "/" + o.Limits.Token, end: func() { end(); _ = conn.Close() },
	}
	s.server = grpc.NewServer(grpc.ForceServerCodecV2(message{}), grpc.UnknownServiceHandler(s.serve), grpc.MaxRecvMsgSize(longestRequest))
	go s.follow(own)
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

// begin asks for whole blocks on the chain's own stream.
func begin(own grpc.ClientStream) error {
	err := own.SendMsg(wholeBlocks(0))
	if errors.Is(err, io.EOF) { // the server has ended the stream; a read tells why
		err = own.RecvMsg(new([]byte))
	}
	return err
}

// URL is where the server listens; its path is the token.
func (s *Server) URL() string { return s.url }

// Close ends the server and its readers' streams.
func (s *Server) Close() {
	s.server.Stop()
	s.end()
}

// EndFaults ends the faults of the streams that go on, but for those that have stopped, and of later ones; no block is left out any more.
func (s *Server) EndFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isFaultless = true
}

// faultOf is the fault of a reader's stream; nil is none.
func (s *Server) faultOf(r *reader) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isFaultless {
		return nil
	}
	return r.fault
}

// follow takes in the blocks of the chain's own stream until it ends.
func (s *Server) follow(own grpc.ClientStream) {
	for b := []byte(nil); own.RecvMsg(&b) == nil; {
		block, ok := parseUpdate(b)
		if !ok {
			continue
		}
		if s.Change != nil {
			block.body = s.Change(block.body)
		}
		s.add(block)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isOver = true
	for r := range s.readers {
		s.dismiss(r, shutDown)
	}
}

// add keeps a block and gives it to the readers, unless it is one that the profile leaves out.
func (s *Server) add(block streamedBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen++; s.Limits.MissEvery > 0 && s.seen%s.Limits.MissEvery == 0 && !s.isFaultless {
		if len(s.readers) > 0 {
			s.Counter.Failed(blockLeftOut)
		}
		return
	}
	s.kept = append(s.kept, block)
	for len(s.kept) > 0 && s.kept[0].slot+s.Limits.Kept < block.slot {
		s.kept = s.kept[1:]
	}
	now := s.Now()
	for r := range s.readers {
		select {
		case r.blocks <- arrived{block, now}:
		default:
			s.dismiss(r, tooSlow)
		}
	}
}

// dismiss ends a reader's stream once it has what waits. The caller holds mu.
func (s *Server) dismiss(r *reader, why Refusal) {
	r.refusal = why
	close(r.blocks)
	delete(s.readers, r)
}

// serve answers a reader.
func (s *Server) serve(_ any, stream grpc.ServerStream) error {
	if method, _ := grpc.MethodFromServerStream(stream); method != subscribeMethod {
		return notStreamed.Err()
	}
	s.Counter.Subscribed()
	if !s.knows(stream.Context()) {
		s.Counter.Failed("token")
		return s.Limits.NoToken.Err()
	}
	if !s.enter() {
		s.Counter.Failed("streams")
		return s.Limits.TooMany.Err()
	}
	defer s.leave()
	var b []byte
	if err := stream.RecvMsg(&b); err != nil {
		return err
	}
	r, err := s.join(b)
	if err != nil {
		return err
	}
	defer s.part(r)
	return s.send(stream, r)
}

// knows reports whether a reader sent the token.
func (s *Server) knows(ctx context.Context) bool {
	if s.Limits.Token == "" {
		return true
	}
	sent := metadata.ValueFromIncomingContext(ctx, "x-token")
	return len(sent) == 1 && sent[0] == s.Limits.Token
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Limits.Streams > 0 && s.open >= s.Limits.Streams {
		return false
	}
	s.open++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

// join takes in a reader by its request.
func (s *Server) join(request []byte) (*reader, error) {
	asked, ok := parseRequest(request)
	switch {
	case !ok:
		return nil, noRequest.Err()
	case len(asked.blocks) == 0, asked.others, asked.commitment != confirmed:
		return nil, notStreamed.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return nil, shutDown.Err()
	}
	replayed, err := s.since(asked.from)
	if err != nil {
		return nil, err
	}
	r := &reader{filters: asked.blocks, blocks: make(chan arrived, len(replayed)+waitingBlocks)}
	for _, block := range replayed {
		r.blocks <- arrived{block, s.Now()}
	}
	if len(s.Limits.Faults) > 0 {
		r.fault = &s.Limits.Faults[s.came%len(s.Limits.Faults)]
	}
	s.readers[r] = true
	return r, nil
}

// since are the kept blocks from a slot on; none from slot 0 on. The caller holds mu.
func (s *Server) since(slot uint64) (list []streamedBlock, err error) {
	if slot == 0 {
		return nil, nil
	}
	if s.Limits.Kept == 0 {
		s.Counter.Failed("replay")
		return nil, s.Limits.NoReplay.Err()
	}
	if len(s.kept) > 0 && slot < s.kept[0].slot {
		s.Counter.Failed("replay")
		return nil, s.Limits.Gone.Err(slot, s.kept[0].slot)
	}
	for _, block := range s.kept {
		if block.slot >= slot {
			list = append(list, block)
		}
	}
	return list, nil
}

// faultCame counts a fault that came: the next stream has the next one.
func (s *Server) faultCame(kind string) {
	s.Counter.Failed(kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came++
}

func (s *Server) part(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r)
}
