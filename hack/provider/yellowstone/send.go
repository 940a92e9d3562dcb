package yellowstone

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// send gives a reader its blocks until its stream ends, one way or another.
func (s *Server) send(stream grpc.ServerStream, r *reader) error {
	ctx := stream.Context()
	pings, idle := newTimer(s.Limits.PingEvery), newTimer(s.Limits.IdleAfter)
	defer pings.Stop()
	defer idle.Stop()
	heard := make(chan struct{}, 1)
	go hear(stream, heard)
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-heard:
			if s.Limits.IdleAfter > 0 {
				idle.Reset(s.Limits.IdleAfter)
			}
		case <-idle.C:
			s.Counter.Failed("reader idle")
			return s.Limits.Idle.Err()
		case <-pings.C:
			pings.Reset(s.Limits.PingEvery)
			if err := stream.SendMsg(ping); err != nil {
				return err
			}
		case block, open := <-r.blocks:
			if !open {
				s.Counter.Failed(streamEnded)
				return r.refusal.Err()
			}
			if isOver, err := s.sendBlock(stream, r, block, sent); isOver || err != nil {
				return err
			}
			sent++
		}
	}
}

// newTimer fires after a time; never where that is 0.
func newTimer(after time.Duration) *time.Timer {
	t := time.NewTimer(after)
	if after == 0 {
		t.Stop()
	}
	return t
}

// hear says of each message that a reader sends.
func hear(stream grpc.ServerStream, heard chan<- struct{}) {
	for b := []byte(nil); stream.RecvMsg(&b) == nil; {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
}

// sendBlock sends a block to a reader who got as many before, with the fault of its stream. isOver says that the stream has ended.
func (s *Server) sendBlock(stream grpc.ServerStream, r *reader, block arrived, sent int) (isOver bool, err error) {
	ctx, update := stream.Context(), block.update(r.filters)
	due := block.at.Add(s.Delay())
	if f := s.faultOf(r); f != nil && sent >= f.After {
		switch {
		case f.Cut:
			if sent == f.After {
				s.faultCame(messageCut)
				update = update[:len(update)/2]
			}
		case f.Stops:
			s.faultCame(streamStopped)
			<-ctx.Done()
			return true, nil
		case sent < f.After+f.Blocks:
			s.Counter.Failed(blockLate)
			due = due.Add(f.Lag)
		default:
			s.faultCame(streamEnded)
			return true, f.Ends.Err()
		}
	}
	if most := s.Limits.MostMessage; most > 0 && len(update) > most {
		s.Counter.Failed("message too long")
		return true, s.Limits.TooLong.Err(len(update), most)
	}
	if !s.waitUntil(ctx, due) {
		return true, nil
	}
	if err := stream.SendMsg(update); err != nil {
		return true, err
	}
	s.Counter.Streamed()
	return false, nil
}

// waitUntil waits until a time has come; false says that the reader has gone.
func (s *Server) waitUntil(ctx context.Context, due time.Time) bool {
	return wait.For(ctx, max(0, due.Sub(s.Now())))
}
