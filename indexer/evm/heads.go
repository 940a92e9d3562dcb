package evm

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// subscribe is the one request that goes over a WebSocket.
const subscribe = `{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`

// Heads tells of new blocks by subscription, where an endpoint has one. It is a hint: whoever listens reads the head
// itself, and has a clock beside it. The channel is never closed.
func (s *Source) Heads(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	for _, e := range s.pool.List {
		go s.listen(ctx, e, out)
	}
	return out
}

// HasRhythm reports that the time of the next block can't be foreseen: chains of this family differ.
func (s *Source) HasRhythm() bool { return false }

func (s *Source) listen(ctx context.Context, e *endpoint, out chan<- struct{}) {
	pause := rpc.FirstPause
	for ctx.Err() == nil {
		began := s.pool.Now()
		err := e.subscription(ctx, out)
		if ctx.Err() != nil {
			return
		}
		if s.pool.Now().Sub(began) > rpc.LongestPause {
			pause = rpc.FirstPause
		}
		s.pool.Log.DebugContext(ctx, "no subscription to heads", "endpoint", e.Name, "err", err.Error())
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
		// An endpoint without WebSocket is asked ever more rarely.
		pause = min(2*pause, 64*rpc.LongestPause)
	}
}

// subscribed opens a WebSocket and asks for new blocks there. Each answer may have a mebibyte.
func (e *endpoint) subscribed(ctx context.Context) (*websocket.Conn, error) {
	raw, err := e.URL()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, rpc.ErrGarbage
	}
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	dial, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, res, err := websocket.Dial(dial, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", rpc.WithoutURL(raw, err))
	}
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	c.SetReadLimit(1 << 20)
	if err := c.Write(ctx, websocket.MessageText, []byte(subscribe)); err != nil {
		_ = c.CloseNow()
		return nil, err
	}
	return c, nil
}

func (e *endpoint) subscription(ctx context.Context, out chan<- struct{}) error {
	c, err := e.subscribed(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.CloseNow() }()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			return err
		}
		select {
		case out <- struct{}{}:
		default:
		}
	}
}
