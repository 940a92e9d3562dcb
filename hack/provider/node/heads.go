package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/coder/websocket"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// subscribe answers a WebSocket: calls, and subscriptions to new heads.
func (n *Node) subscribe(w http.ResponseWriter, r *http.Request) {
	if n.profile.Heads.NoWebSocket {
		n.counts.refused("websocket")
		http.Error(w, "this node has no WebSocket", http.StatusBadRequest)
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(mostRequest)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-n.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	subscribers := 0
	defer func() { n.counts.subscribed(int64(-subscribers)) }()
	for {
		_, body, err := socket.Read(ctx)
		if err != nil {
			return
		}
		if !n.delay(ctx) {
			return
		}
		var c call
		if json.Unmarshal(body, &c) != nil || c.Method != "eth_subscribe" {
			if socket.Write(ctx, websocket.MessageText, n.answer(ctx, body).body) != nil {
				return
			}
			continue
		}
		n.admit(&c)
		if string(c.param(0)) != `"newHeads"` && c.refusal == nil {
			c.refuse(&profiles.Refusal{Code: -32601, Message: fmt.Sprintf("no %s subscription in eth namespace", c.param(0))})
		}
		subscribers++
		id := fmt.Sprintf("0x%032x", subscribers)
		c.say(id)
		from := n.chain.Head()
		if socket.Write(ctx, websocket.MessageText, c.append(nil)) != nil {
			return
		}
		if c.refusal != nil {
			subscribers--
			continue
		}
		n.counts.subscribed(1)
		go n.announce(ctx, socket, id, from)
	}
}

// announcedOnce is how many announced blocks are remembered, so that a reorg's are told apart: more than any reorg has.
const announcedOnce = 128

// announce tells of each block that comes after one, until the profile has it stop. A block that the node can't give yet is announced all
// the same.
func (n *Node) announce(ctx context.Context, socket *websocket.Conn, id string, from *chain.Block) {
	told := map[uint64]chain.Hash{from.Number: from.Hash}
	for heads := 0; ; {
		grown := n.chain.Grown()
		head := n.chain.Head()
		var news []*chain.Block
		for b := head; b != nil && b.Number > from.Number && told[b.Number] != b.Hash; b = n.chain.Block(b.Number - 1) {
			news = append(news, b)
		}
		for _, b := range slices.Backward(news) {
			if stop := n.profile.Heads.StopAfter; stop > 0 && heads >= stop {
				n.counts.refused("heads stopped")
				return
			}
			told[b.Number] = b.Hash
			delete(told, b.Number-announcedOnce)
			text := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"%s","result":`, id)
			if socket.Write(ctx, websocket.MessageText, append(b.AppendHead(text), "}}"...)) != nil {
				return
			}
			heads++
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}
