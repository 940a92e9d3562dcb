package solana

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // for nodes that compress
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// A node with the plugin Yellowstone gRPC sends each block as soon as it has been voted for. Such a block takes the place of one that is asked for; what it misses is
// asked for over JSON-RPC, as are all other questions. The messages are those of the plugin's geyser.proto.

const (
	// longestUpdate is the longest message that is taken: a block of the mainnet has some megabytes.
	longestUpdate = 64 << 20
	// silence is how long a stream may send nothing at all. The plugin sends a ping every 10 or 15 seconds.
	silence = 40 * time.Second
	// window is how much a node may send ahead.
	window = 8 << 20
	// longestLag is how many slots a stream may be behind what another endpoint has told, before that one is asked for the head.
	longestLag = 8
)

// subscription is a SubscribeRequest for whole blocks that are confirmed, without accounts and entries, and pong one that answers a ping: a reader that never
// sends anything is cut off by what stands between.
var subscription, pong = subscribe(), append(tagged(nil, 9), 2, 8, 1)

// tagged appends the tag of a field that begins with its length.
func tagged(b []byte, field protowire.Number) []byte {
	return protowire.AppendTag(b, field, protowire.BytesType)
}

func subscribe() []byte {
	const blocks, commitment, confirmed = 4, 6, 1
	const withTransactions, withAccounts, withEntries = 2, 3, 4
	filter := withNumber(withNumber(withNumber(nil, withTransactions, 1), withAccounts, 0), withEntries, 0)
	entry := protowire.AppendString(tagged(nil, 1), "blocks")
	entry = protowire.AppendBytes(tagged(entry, 2), filter)
	return withNumber(protowire.AppendBytes(tagged(nil, blocks), entry), commitment, confirmed)
}

// withNumber appends a field with a number.
func withNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// rawCodec leaves messages as the bytes that travel.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is no message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T takes no message", v)
	}
	*b = data.Materialize()
	return nil
}

// Name is what nodes are told that messages are.
func (rawCodec) Name() string { return "proto" }

// Heads tells of the blocks that nodes stream; without such a node it announces nothing, and the head is looked for when the next block should be there. The
// channel is never closed.
func (s *Source) Heads(ctx context.Context) <-chan struct{} {
	if len(s.streams) == 0 {
		return nil
	}
	out := make(chan struct{}, 1)
	for _, e := range s.streams {
		go s.listen(ctx, e, out)
	}
	return out
}

// HasRhythm reports that every slot takes the same time.
func (s *Source) HasRhythm() bool { return true }

// listen reads a node's stream, and begins anew when it ends.
func (s *Source) listen(ctx context.Context, e *endpoint, out chan<- struct{}) {
	pause := rpc.FirstPause
	for {
		began := s.pool.Now()
		err := s.readStream(ctx, e, out)
		if ctx.Err() != nil {
			return
		}
		if s.pool.Now().Sub(began) > rpc.LongestPause {
			pause = rpc.FirstPause
		}
		s.pool.Log.WarnContext(ctx, "a stream of blocks ended; they are asked for over JSON-RPC until it is back", "endpoint", e.Name, "for_s", pause.Seconds(),
			"err", err.Error())
		if !wait.For(ctx, pause/2+rand.N(pause)) { //nolint:gosec // a pause is no secret
			return
		}
		pause = min(2*pause, rpc.LongestPause)
	}
}

var (
	errStreamEnded = errors.New("the stream ended")
	errSilent      = errors.New("the stream sends nothing")
)

// readStream reads a stream until it ends.
func (s *Source) readStream(ctx context.Context, e *endpoint, out chan<- struct{}) error {
	raw, err := e.URL()
	if err != nil {
		return err
	}
	conn, token, err := dial(raw)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-token", token)
	}
	alive := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alive.Stop()
	ended := func(err error) error {
		if errors.Is(context.Cause(ctx), errSilent) {
			return errSilent
		}
		told := status.Convert(err)
		return fmt.Errorf("%w: %s: %.200s", errStreamEnded, told.Code(), rpc.Redact(raw, told.Message()))
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/geyser.Geyser/Subscribe")
	if err != nil {
		return ended(err)
	}
	if err := stream.SendMsg(subscription); err != nil {
		return ended(err)
	}
	for update := []byte(nil); ; {
		if err := stream.RecvMsg(&update); err != nil {
			return ended(err)
		}
		alive.Reset(silence)
		isBlock, isPing, err := s.update(e, update)
		if err != nil {
			return err
		}
		if isBlock {
			announce(out)
		}
		if isPing {
			if err := stream.SendMsg(pong); err != nil {
				return ended(err)
			}
		}
	}
}

func announce(out chan<- struct{}) {
	select {
	case out <- struct{}{}:
	default:
	}
}

// dial makes a connection to a node. What the URL has after the host is the token by which it knows its readers.
func dial(raw string) (conn *grpc.ClientConn, token string, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, "", fmt.Errorf("%w: its URL can't be read", rpc.ErrGarbage)
	}
	security, port := insecure.NewCredentials(), "80"
	if u.Scheme == "https" {
		security, port = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), "443"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	conn, err = grpc.NewClient("dns:///"+net.JoinHostPort(u.Hostname(), port), grpc.WithTransportCredentials(security),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(longestUpdate)))
	if err != nil {
		return nil, "", rpc.WithoutURL(raw, err)
	}
	return conn, strings.Trim(u.Path, "/"), nil
}

// update takes in what a node sent: a block, or a ping. Nothing else was asked for. isBlock is false for a block that doesn't count.
func (s *Source) update(e *endpoint, message []byte) (isBlock, isPing bool, err error) {
	const block, ping = 5, 6
	var body []byte
	ok := wire.Fields(message, func(number int, _ uint64, text []byte) {
		switch number {
		case block:
			body = text
		case ping:
			isPing = true
		}
	})
	if !ok {
		return false, false, fmt.Errorf("%w: no message of geyser.proto", rpc.ErrGarbage)
	}
	if body == nil || s.isAside(e) {
		return false, isPing, nil
	}
	b, err := s.decoder.ParseWireBlock(body)
	if err != nil {
		return false, isPing, err
	}
	r := read{Block: b, by: e, bytes: len(body), streamed: true}
	if b.Number > highestSlot {
		return false, isPing, fmt.Errorf("%w: slot %d", rpc.ErrGarbage, b.Number)
	}
	if err := r.plausible(s.pool.Now()); err != nil {
		return false, isPing, err
	}
	s.kept.dropFrom(e, b.Number) // of a slot it has one block, the one that it sent last
	s.kept.add(r)
	s.noteSlot(e, b.Number)
	e.mu.Lock()
	e.newest = r.Header
	e.mu.Unlock()
	return true, isPing, nil
}

// asideFor is for how long a stream doesn't count that sent a block which isn't the chain's.
const asideFor = 5 * time.Minute

// setAside has a stream not count for a while, and forgets what it sent: its blocks are of another chain or fork.
func (s *Source) setAside(e *endpoint) {
	e.mu.Lock()
	e.asideUntil, e.used = s.pool.Now().Add(asideFor), market.Header{}
	e.mu.Unlock()
	s.kept.dropFrom(e, 0)
	s.pool.Log.Warn("a stream sends other blocks than the chain has; they are asked for over JSON-RPC", "endpoint", e.Name, "for_s", asideFor.Seconds())
}

// isAside reports whether what a stream sends doesn't count now.
func (s *Source) isAside(e *endpoint) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.IsDistrusted() || s.pool.Now().Before(e.asideUntil)
}

// compareStreams holds a block of each stream against those that endpoints have in its slot which are asked: nothing else says that a stream is of the chain. It is
// the last block that the index was given, where others have reached that, since a stream may send more than one for a slot.
func (s *Source) compareStreams(ctx context.Context) {
	for _, e := range s.streams {
		e.mu.Lock()
		sent := e.used
		e.mu.Unlock()
		if sent.Number == 0 || sent.Number > s.highest() {
			r, ok := s.kept.streamedBy(e, s.highest())
			if !ok {
				continue
			}
			sent = r.Header
		}
		if s.isDenied(ctx, sent) {
			s.setAside(e)
		}
	}
}

// isDenied reports whether endpoints that are asked have another block in a slot, or none although they are well above it, and none has this one.
func (s *Source) isDenied(ctx context.Context, block market.Header) (denied bool) {
	for _, e := range s.pool.List {
		var told read
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			told, err = s.headerOn(ctx, e, block.Number)
			return err
		})
		e.mu.Lock()
		isAbove := e.told > block.Number+ahead
		e.mu.Unlock()
		switch {
		case err == nil && told.Hash == block.Hash:
			return false
		case err == nil, lacks(err) && isAbove:
			denied = true
		}
	}
	return denied
}

// streamedHead is the newest block that a node has sent whose stream goes on. ok is false where there is none, where others are well ahead of it or far behind, and
// where none that is asked has told its slot lately.
func (s *Source) streamedHead() (head read, ok bool) {
	now := s.pool.Now()
	for _, e := range s.streams {
		e.mu.Lock()
		newest, rises := e.newest, e.rises(now)
		e.mu.Unlock()
		if !rises || newest.Number <= head.Number || s.isAside(e) || newest.Number+longestLag < s.highest() {
			continue
		}
		if reached, alone := s.reached(e, newest.Number); alone || newest.Number > reached+ahead {
			continue
		}
		if r, has := s.kept.of(newest.Number, newest.Hash); has {
			head, ok = r, true
		}
	}
	return head, ok
}

// streamedAfter are the blocks up to a slot that nodes have sent, and that follow one without a gap. It ends before a block without a time, or with one before its
// parent's: another endpoint is asked for the time of such a block (findTime).
func (s *Source) streamedAfter(parent market.Header, last uint64) (out []read) {
	for below := parent; ; {
		r, ok := s.kept.streamedChild(below, last)
		if !ok || s.isAside(r.by) || !r.HasTime || r.Time < below.Time {
			return out
		}
		r.by.mu.Lock()
		r.by.used = r.Header
		r.by.mu.Unlock()
		out, below = append(out, r), r.Header
	}
}

// streamedChild is a block that a node has sent and that follows the given one, if its slot is at most last.
func (k *kept) streamedChild(parent market.Header, last uint64) (out read, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.list) - 1; i >= 0; i-- {
		if r := &k.list[i]; r.streamed && r.Parent == parent.Hash && r.ParentSlot == parent.Number && r.Number <= last {
			return *r, true
		}
	}
	return out, false
}
