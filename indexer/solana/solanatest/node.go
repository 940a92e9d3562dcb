package solanatest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Genesis is the genesis hash of the nodes of this package.
const Genesis = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"

// Node is a stand-in for a node of Solana. It serves blocks that a test gives it, over the JSON-RPC that an index asks.
type Node struct {
	URL string

	mu      sync.Mutex
	blocks  []Made
	genesis string
	// accounts are what getMultipleAccounts tells, by their keys; others aren't there.
	accounts map[string]Account
	// lie changes an answer; nil leaves it.
	lie func(method string, params []json.RawMessage, result any) (any, *Refusal)
	// asked counts calls by method.
	asked map[string]int
}

// Made is a block that a node serves.
type Made struct {
	market.Header

	ParentSlot uint64
	Txs        []json.RawMessage
}

// Account is what a node has of one.
type Account struct {
	Owner      string
	Executable bool
	Data       []byte
}

// Refusal is an error of JSON-RPC.
type Refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// NewNode starts a node without a block. It ends with the test.
func NewNode(tb testing.TB) *Node {
	tb.Helper()
	n := &Node{genesis: Genesis, accounts: map[string]Account{}, asked: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(n.serve))
	tb.Cleanup(server.Close)
	n.URL = server.URL
	return n
}

// Serve has the node serve these blocks, the oldest first, in the place of all before.
func (n *Node) Serve(blocks []Made) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocks = slices.Clone(blocks)
}

// ServeWorld has the node serve a world as it is now: its blocks, and the accounts of its two older tokens.
func (n *Node) ServeWorld(w *World) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocks = slices.Clone(w.Blocks)
	n.accounts[WSOL], n.accounts[USDC] = Mint(9, 0), Mint(6, w.USDCSupply())
}

// Lie has each answer go through f, which may change it or refuse the call; nil ends that.
func (n *Node) Lie(f func(method string, params []json.RawMessage, result any) (any, *Refusal)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lie = f
}

// SetAccount has the node tell an account.
func (n *Node) SetAccount(key string, a Account) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.accounts[key] = a
}

// SetGenesis has the node serve another chain.
func (n *Node) SetGenesis(hash string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.genesis = hash
}

// Asked is how often a method was called.
func (n *Node) Asked(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[method]
}

func (n *Node) serve(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var list []request
	if json.Unmarshal(body, &list) == nil {
		answers := make([]map[string]any, len(list))
		for i := range list {
			answers[i] = n.answer(&list[i])
		}
		_ = json.NewEncoder(w).Encode(answers)
		return
	}
	var one request
	if err := json.Unmarshal(body, &one); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(n.answer(&one))
}

type request struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

func (n *Node) answer(q *request) map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[q.Method]++
	result, refusal := n.result(q.Method, q.Params)
	if n.lie != nil && (refusal == nil || q.Method == "simulateTransaction") { // which it can't do itself
		result, refusal = n.lie(q.Method, q.Params, result)
	}
	out := map[string]any{"jsonrpc": "2.0", "id": q.ID}
	if refusal != nil {
		out["error"] = refusal
	} else {
		out["result"] = result
	}
	return out
}

// finalBlocks is how many blocks the final one is behind the newest.
const finalBlocks = 31

func (n *Node) result(method string, params []json.RawMessage) (any, *Refusal) {
	switch method {
	case "getGenesisHash":
		return n.genesis, nil
	case "getSlot":
		var how struct{ Commitment string }
		parameter(params, 0, &how)
		if len(n.blocks) == 0 {
			return 0, nil
		}
		last := len(n.blocks) - 1
		if how.Commitment == "finalized" {
			last = max(last-finalBlocks, 0)
		}
		return n.blocks[last].Number, nil
	case "getBlocks":
		var from, to uint64
		parameter(params, 0, &from)
		parameter(params, 1, &to)
		out := []uint64{}
		for i := range n.blocks {
			if s := n.blocks[i].Number; s >= from && s <= to {
				out = append(out, s)
			}
		}
		return out, nil
	case "getBlock":
		return n.block(params)
	case "getFirstAvailableBlock":
		if len(n.blocks) == 0 {
			return 0, nil
		}
		return n.blocks[0].Number, nil
	case "getVersion":
		return map[string]any{"solana-core": "a stand-in"}, nil
	case "getMultipleAccounts":
		return n.told(params)
	case "getProgramAccounts":
		return n.programAccounts(params)
	case "getTokenAccountsByOwner":
		return n.tokenAccounts(params), nil
	case "getSignaturesForAddress":
		return n.listing(params)
	case "getTransaction":
		var signature string
		parameter(params, 0, &signature)
		return n.transaction(signature), nil
	default:
		return nil, &Refusal{-32601, "Method not found"}
	}
}

func parameter(params []json.RawMessage, i int, into any) {
	if i < len(params) {
		_ = json.Unmarshal(params[i], into)
	}
}

func (n *Node) block(params []json.RawMessage) (any, *Refusal) {
	var slot uint64
	how := struct {
		Details string `json:"transactionDetails"`
		Newest  *int   `json:"maxSupportedTransactionVersion"`
	}{}
	parameter(params, 0, &slot)
	parameter(params, 1, &how)
	i := slices.IndexFunc(n.blocks, func(b Made) bool { return b.Number == slot })
	switch {
	case i >= 0:
	case len(n.blocks) == 0 || slot > n.blocks[len(n.blocks)-1].Number:
		return nil, &Refusal{-32004, "Block not available for slot"}
	default:
		return nil, &Refusal{-32009, "Slot was skipped, or missing in long-term storage"}
	}
	if how.Newest == nil || *how.Newest < 1 {
		return nil, &Refusal{-32015, "Transaction version (1) is not supported by the requesting client"}
	}
	b := &n.blocks[i]
	out := map[string]any{
		"blockhash": base58.Encode(b.Hash[:]), "previousBlockhash": base58.Encode(b.Parent[:]), "parentSlot": b.ParentSlot,
		"blockTime": b.Time, "blockHeight": i,
	}
	switch how.Details {
	case "none":
	case "signatures":
		out["signatures"] = b.signatures()
	default:
		out["transactions"] = b.Txs
		if b.Txs == nil {
			out["transactions"] = []any{}
		}
	}
	return out, nil
}

func (n *Node) told(params []json.RawMessage) (any, *Refusal) {
	var keys []string
	var how accountOptions
	parameter(params, 0, &keys)
	parameter(params, 1, &how)
	slot := n.slot()
	if slot < how.NoEarlier {
		return nil, &Refusal{-32016, "Minimum context slot has not been reached"}
	}
	list := []any{}
	for _, key := range keys {
		a, ok := n.accounts[key]
		if !ok {
			list = append(list, nil)
			continue
		}
		list = append(list, how.told(a))
	}
	return map[string]any{"context": map[string]any{"slot": slot}, "value": list}, nil
}

// accountOptions are those of calls that ask for accounts.
type accountOptions struct {
	NoEarlier uint64                        `json:"minContextSlot"`
	Slice     *struct{ Offset, Length int } `json:"dataSlice"`
}

// told is an account as a node tells it.
func (o *accountOptions) told(a Account) any {
	space := len(a.Data)
	if o.Slice != nil {
		from := min(o.Slice.Offset, len(a.Data))
		a.Data = a.Data[from:min(from+o.Slice.Length, len(a.Data))]
	}
	return map[string]any{"space": space, "data": []any{a.Data, "base64"}, "executable": a.Executable, "lamports": 1, "owner": a.Owner}
}

// programAccounts are those of a program that begin with some bytes.
func (n *Node) programAccounts(params []json.RawMessage) (any, *Refusal) {
	var program string
	var how struct {
		accountOptions

		Filters []struct {
			Size   int `json:"dataSize"`
			Memcmp *struct{ Bytes string }
		}
	}
	parameter(params, 0, &program)
	parameter(params, 1, &how)
	if n.slot() < how.NoEarlier {
		return nil, &Refusal{-32016, "Minimum context slot has not been reached"}
	}
	list := []any{}
	for _, key := range slices.Sorted(maps.Keys(n.accounts)) {
		a, wanted := n.accounts[key], true
		for _, f := range how.Filters {
			begins := make([]byte, 32)
			wanted = wanted && (f.Size == 0 || f.Size == len(a.Data)) &&
				(f.Memcmp == nil || base58.Decode(begins, f.Memcmp.Bytes) && bytes.HasPrefix(a.Data, begins))
		}
		if wanted && a.Owner == program {
			list = append(list, map[string]any{"pubkey": key, "account": how.told(a)})
		}
	}
	return map[string]any{"context": map[string]any{"slot": n.slot()}, "value": list}, nil
}

// slot is that of the newest block.
func (n *Node) slot() uint64 {
	if len(n.blocks) == 0 {
		return 0
	}
	return n.blocks[len(n.blocks)-1].Number
}

// tokenAccounts are an owner's accounts of a token.
func (n *Node) tokenAccounts(params []json.RawMessage) any {
	var owner string
	var of struct{ Mint string }
	var how accountOptions
	parameter(params, 0, &owner)
	parameter(params, 1, &of)
	parameter(params, 2, &how)
	list := []any{}
	for _, key := range slices.Sorted(maps.Keys(n.accounts)) {
		if a := n.accounts[key]; len(a.Data) == tokenAccountLen && bytes.HasPrefix(a.Data, keys(of.Mint, owner)) {
			list = append(list, map[string]any{"pubkey": key, "account": how.told(a)})
		}
	}
	return map[string]any{"context": map[string]any{"slot": n.slot()}, "value": list}
}

func (n *Node) transaction(signature string) any {
	for i := range n.blocks {
		for _, raw := range n.blocks[i].Txs {
			var tx map[string]any
			if json.Unmarshal(raw, &tx) != nil {
				continue
			}
			signed, _ := tx["transaction"].(map[string]any)
			if list, _ := signed["signatures"].([]any); len(list) > 0 && list[0] == signature {
				tx["slot"], tx["blockTime"] = n.blocks[i].Number, n.blocks[i].Time
				return tx
			}
		}
	}
	return nil
}

const tokenAccountLen = 165

// TokenAccount is an owner's account of a token of SPL Token.
func TokenAccount(mint, owner string, amount uint64) Account {
	data := append(keys(mint, owner), numbers(amount)...)
	return Account{Owner: TokenProgram, Data: append(data, make([]byte, tokenAccountLen-len(data))...)}
}

// Mint is the account of a token of SPL Token.
func Mint(decimals byte, supply uint64) Account {
	data := make([]byte, 82)
	for i := range 8 {
		data[36+i] = byte(supply >> (8 * i))
	}
	data[44], data[45] = decimals, 1
	return Account{Owner: TokenProgram, Data: data}
}
