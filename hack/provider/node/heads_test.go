package node

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// head is an announced block.
type head struct{ Number, Hash, ParentHash string }

// subscription is one to a node's heads.
type subscription struct {
	socket *websocket.Conn
	id     string
}

func subscribe(t *testing.T, n *Node) *subscription {
	t.Helper()
	socket, _, err := websocket.Dial(t.Context(), strings.Replace(n.URL(), "http", "ws", 1), nil) //nolint:bodyclose // there is none
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.CloseNow() })
	if err := socket.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":7,"method":"eth_subscribe","params":["newHeads"]}`)); err != nil {
		t.Fatal(err)
	}
	s := &subscription{socket: socket}
	var confirmed struct{ Result string }
	s.read(t, &confirmed)
	if s.id = confirmed.Result; s.id == "" {
		t.Fatal("the subscription has no id")
	}
	return s
}

func (s *subscription) read(t *testing.T, into any) {
	t.Helper()
	_, raw, err := s.socket.Read(t.Context())
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// next wants the next head to be a block.
func (s *subscription) next(t *testing.T, b *chain.Block) {
	t.Helper()
	var message struct {
		Params struct {
			Subscription string
			Result       head
		}
	}
	s.read(t, &message)
	want := head{hexOf(b.Number), b.Hash.String(), b.Parent.String()}
	if message.Params.Subscription != s.id || message.Params.Result != want {
		t.Errorf("the head is %+v, wanted %+v", message.Params, want)
	}
}

func TestHeadsAreAnnouncedThoseOfAReorgToo(t *testing.T) {
	n := testNode(t, profiles.Profile{Heads: profiles.HeadLimits{Late: time.Hour}}) // what is announced can't be had yet
	s := subscribe(t, n)
	for range 3 {
		s.next(t, extend(t))
	}
	if err := shared.Reorg(2); err != nil {
		t.Fatal(err)
	}
	// The blocks may come one by one, or the first when the second is there: both come, in order.
	s.next(t, shared.Block(shared.Head().Number-1))
	s.next(t, shared.Head())
	s.next(t, extend(t))
}

func TestHeadsStop(t *testing.T) {
	n := testNode(t, profiles.Profile{Heads: profiles.HeadLimits{StopAfter: 2}})
	s := subscribe(t, n)
	s.next(t, extend(t))
	s.next(t, extend(t))
	extend(t)
	for deadline := time.Now().Add(10 * time.Second); n.Counts().Refused["heads stopped"] == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the heads go on")
		}
	}
	// The connection goes on.
	if err := s.socket.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":8,"method":"eth_blockNumber","params":[]}`)); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Result string }
	if s.read(t, &answer); answer.Result != hexOf(shared.Head().Number) {
		t.Errorf("eth_blockNumber answers %q", answer.Result)
	}
}

func TestANodeWithoutWebSocketRefusesOne(t *testing.T) {
	n := testNode(t, profiles.Profile{Heads: profiles.HeadLimits{NoWebSocket: true}})
	socket, _, err := websocket.Dial(t.Context(), strings.Replace(n.URL(), "http", "ws", 1), nil) //nolint:bodyclose // the package closes it
	if err == nil {
		_ = socket.CloseNow()
		t.Error("it has a WebSocket")
	}
}
