package node

import "net/http"

// subscribe answers a WebSocket.
func (n *Node) subscribe(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no WebSocket here", http.StatusBadRequest)
}
