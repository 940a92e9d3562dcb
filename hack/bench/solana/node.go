package solana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// node stands in for a node of Solana: it serves blocks that the measurement makes, and asks the local Solana for accounts.
type node struct {
	chain *svm.Chain
	// buffers are those in which answers are put together.
	buffers sync.Pool

	mu      sync.Mutex
	genesis string
	blocks  []block // oldest first
}

func (n *node) serve(blocks ...block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocks = append(n.blocks, blocks...)
}

// fork takes the newest blocks away and has others in their place, at once.
func (n *node) fork(depth int, others ...block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocks = append(slices.Clone(n.blocks[:len(n.blocks)-depth]), others...)
}

func (n *node) head() block {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.blocks[len(n.blocks)-1]
}

// ServeHTTP answers as Agave does: whole, with its length before it.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type call struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	var list []call
	isBatch := bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
	if !isBatch {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, _ := n.buffers.Get().(*bytes.Buffer)
	if out == nil {
		out = new(bytes.Buffer)
	}
	defer n.buffers.Put(out)
	out.Reset()
	if isBatch {
		out.WriteByte('[')
	}
	for i, c := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,`, c.ID)
		n.answer(out, r, c.Method, c.Params)
		out.WriteByte('}')
	}
	if isBatch {
		out.WriteByte(']')
	}
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	_, _ = w.Write(out.Bytes())
}

// answer writes a call's result, or its error.
func (n *node) answer(w io.Writer, r *http.Request, method string, params []json.RawMessage) {
	refuse := func(code int, message string) { fmt.Fprintf(w, `"error":{"code":%d,"message":%q}`, code, message) }
	n.mu.Lock()
	blocks := n.blocks
	n.mu.Unlock()
	last := blocks[len(blocks)-1].slot
	number := func(i int) (v uint64) {
		_ = json.Unmarshal(params[i], &v) // of another form it is 0
		return v
	}
	switch method {
	case "getGenesisHash":
		fmt.Fprintf(w, `"result":%q`, n.genesis)
	case "getVersion":
		fmt.Fprint(w, `"result":{"solana-core":"3.0.0"}`)
	case "getSlot":
		if len(params) > 0 && bytes.Contains(params[0], []byte("finalized")) {
			last = blocks[max(0, len(blocks)-33)].slot
		}
		fmt.Fprintf(w, `"result":%d`, last)
	case "getLatestBlockhash":
		at := len(blocks) - 1
		fmt.Fprintf(w, `"result":{"context":{"slot":%d},"value":{"blockhash":%q,"lastValidBlockHeight":%d}}`, last, blocks[at].hash, at+150)
	case "getBlocksWithLimit":
		out := []uint64{}
		for i := range blocks {
			if s := blocks[i].slot; s >= number(0) && uint64(len(out)) < number(1) {
				out = append(out, s)
			}
		}
		text, _ := json.Marshal(out) // numbers
		fmt.Fprintf(w, `"result":%s`, text)
	case "getFirstAvailableBlock":
		fmt.Fprintf(w, `"result":%d`, blocks[0].slot)
	case "getBlocks":
		out := []uint64{}
		for i := range blocks {
			if s := blocks[i].slot; s >= number(0) && s <= number(1) {
				out = append(out, s)
			}
		}
		text, _ := json.Marshal(out) // numbers
		fmt.Fprintf(w, `"result":%s`, text)
	case "getBlock":
		i := slices.IndexFunc(blocks, func(b block) bool { return b.slot == number(0) })
		switch {
		case i >= 0:
			_, _ = io.WriteString(w, `"result":`)
			blocks[i].write(w, i+1, len(params) < 2 || !bytes.Contains(params[1], []byte("none")))
		case number(0) > last:
			refuse(-32004, "Block not available for slot")
		default:
			refuse(-32007, "Slot was skipped, or missing due to ledger jump to recent snapshot")
		}
	case "getMultipleAccounts":
		var keys []string
		var told struct{ Value json.RawMessage }
		err := json.Unmarshal(params[0], &keys)
		if err == nil {
			err = n.chain.Call(r.Context(), &told, method, keys, map[string]string{"encoding": "base64", "commitment": "confirmed"})
		}
		if err != nil {
			refuse(-32603, err.Error())
			return
		}
		fmt.Fprintf(w, `"result":{"context":{"slot":%d},"value":%s}`, last, told.Value)
	default:
		refuse(-32601, "Method not found")
	}
}

// write writes the block as nodes tell it.
func (b *block) write(w io.Writer, height int, full bool) {
	fmt.Fprintf(w, `{"blockHeight":%d,"blockTime":%d,"blockhash":%q,"parentSlot":%d,"previousBlockhash":%q`, height, b.time, b.hash, b.parentSlot, b.parent)
	if full {
		_, _ = io.WriteString(w, `,"transactions":[`)
		for i, piece := range b.txs {
			if i > 0 {
				_, _ = w.Write([]byte(","))
			}
			_, _ = w.Write(piece)
		}
		_, _ = io.WriteString(w, `]`)
	}
	_, _ = io.WriteString(w, `}`)
}
