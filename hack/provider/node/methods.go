package node

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// methods are answered from the chain; stateMethods, in upstream.go, from anvil.
var methods = map[string]func(*Node, *call){
	"eth_chainId":               func(n *Node, c *call) { c.quantity(n.chain.World().ChainID) },
	"net_version":               func(n *Node, c *call) { c.say(strconv.FormatUint(n.chain.World().ChainID, 10)) },
	"net_listening":             func(_ *Node, c *call) { c.result = []byte("true") },
	"web3_clientVersion":        func(n *Node, c *call) { c.say(n.profile.Client + "/stand-in") },
	"eth_syncing":               func(_ *Node, c *call) { c.result = []byte("false") },
	"eth_accounts":              func(_ *Node, c *call) { c.result = []byte("[]") },
	"eth_gasPrice":              func(_ *Node, c *call) { c.quantity(1_000_000_000) },
	"eth_maxPriorityFeePerGas":  func(_ *Node, c *call) { c.quantity(1_000_000) },
	"eth_blockNumber":           func(n *Node, c *call) { c.quantity(n.chain.Head().Number) },
	"eth_getBlockByNumber":      (*Node).getBlock,
	"eth_getBlockByHash":        (*Node).getBlock,
	"eth_getLogs":               (*Node).getLogs,
	"eth_getBlockReceipts":      (*Node).getBlockReceipts,
	"eth_getTransactionReceipt": (*Node).getReceipt,
	"eth_getTransactionByHash":  (*Node).getTx,
}

// run answers the calls that weren't refused.
func (n *Node) runEVM(ctx context.Context, calls []*call) {
	var upstream []*call
	for _, c := range calls {
		switch {
		case c.refusal != nil:
		case slices.Contains(n.profile.Missing, c.Method):
			n.counts.refused("method")
			c.refuse(said(n.profile.NoMethod, c.Method))
		case methods[c.Method] != nil:
			methods[c.Method](n, c)
		case stateMethods[c.Method] != 0:
			if n.prepare(c) {
				upstream = append(upstream, c)
			}
		default:
			n.counts.refused("method")
			c.refuse(&profiles.Refusal{Code: -32601, Message: "the method " + c.Method + " does not exist/is not available"})
		}
	}
	n.forward(ctx, upstream)
}

func (c *call) quantity(n uint64) { c.say("0x" + strconv.FormatUint(n, 16)) }

func (c *call) say(text string) { c.result, _ = json.Marshal(text) } // a string

var null = []byte("null")

func (c *call) param(i int) json.RawMessage {
	if i >= len(c.Params) {
		return nil
	}
	return c.Params[i]
}

// badParameter is what geth says of a parameter that it can't read.
func badParameter(i int, why string) *profiles.Refusal {
	return &profiles.Refusal{Code: -32602, Message: "invalid argument " + strconv.Itoa(i) + ": " + why}
}

// named is the block that a parameter names. It is nil where the node has none; bad says that the parameter can't be read.
func (n *Node) named(raw json.RawMessage) (b *chain.Block, canonical bool, bad *profiles.Refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(`"latest"`)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var object struct {
			BlockNumber, BlockHash string
			RequireCanonical       bool
		}
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, false, badParameter(1, "neither a block number nor a hash")
		}
		if text = object.BlockNumber; object.BlockHash != "" {
			h, err := hash(object.BlockHash)
			if err != nil {
				return nil, false, badParameter(1, err.Error())
			}
			b, canonical = n.byHash(h)
			return b, canonical || !object.RequireCanonical, nil
		}
	}
	if strings.HasPrefix(text, "0x") && len(text) == 66 {
		h, err := hash(text)
		if err != nil {
			return nil, false, badParameter(1, err.Error())
		}
		b, canonical = n.byHash(h)
		return b, canonical, nil
	}
	head := n.head()
	switch text {
	case "latest", "pending":
		return head, true, nil
	case "earliest":
		return n.chain.Block(n.chain.First()), true, nil
	case "safe", "finalized":
		if n.profile.Heads.NoTags {
			return nil, false, &profiles.Refusal{Code: -39001, Message: "Unknown block"}
		}
		depth := uint64(safeDepth)
		if text == "finalized" {
			depth = finalDepth
		}
		return n.chain.Block(max(head.Number, n.chain.First()+depth) - depth), true, nil
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || !strings.HasPrefix(text, "0x") {
		return nil, false, badParameter(0, "hex string without 0x prefix")
	}
	return n.known(n.chain.Block(number)), true, nil
}

// safeDepth and finalDepth are how many blocks below the head a block is safe, and final: half a mainnet epoch and two.
const safeDepth, finalDepth = 16, 64

// known is nil where the node has the block announced, but doesn't have it yet.
func (n *Node) known(b *chain.Block) *chain.Block {
	if b == nil || n.now().Sub(b.Made) < n.profile.Heads.Late {
		return nil
	}
	return b
}

// head is the newest block that the node has.
func (n *Node) head() *chain.Block {
	b := n.chain.Head()
	for n.known(b) == nil && b.Number > n.chain.First() {
		b = n.chain.Block(b.Number - 1)
	}
	return b
}

func (n *Node) byHash(h chain.Hash) (*chain.Block, bool) {
	b, canonical := n.chain.ByHash(h)
	return n.known(b), canonical
}

func hash(text string) (h chain.Hash, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err == nil && len(b) != len(h) {
		err = hex.ErrLength
	}
	copy(h[:], b)
	return h, err
}

func (n *Node) getBlock(c *call) {
	b, _, bad := n.named(c.param(0))
	switch {
	case bad != nil:
		c.refuse(bad)
	case b == nil && n.profile.Heads.UnknownNumber.Message != "" && c.Method == "eth_getBlockByNumber":
		n.counts.refused("unknown block")
		number, _ := strconv.ParseUint(strings.TrimPrefix(strings.Trim(string(c.param(0)), `"`), "0x"), 16, 64) // it was read before
		c.refuse(said(n.profile.Heads.UnknownNumber, number))
	case b == nil:
		c.result = null
	default:
		if txs, ok := n.txs(c, b); ok {
			c.result = b.AppendHeader(nil, txs, string(c.param(1)) == "true")
		}
	}
}

// unknownBlock is what is said of a block that the node doesn't have, where it doesn't say null.
func (n *Node) unknownBlock(usual string) *profiles.Refusal {
	n.counts.refused("unknown block")
	if n.profile.Heads.Unknown.Message != "" {
		return &n.profile.Heads.Unknown
	}
	return &profiles.Refusal{Code: -32000, Message: usual}
}

// txs are the transactions of a block; where they can't be read the call is refused.
func (n *Node) txs(c *call, b *chain.Block) ([]chain.Tx, bool) {
	txs, err := n.chain.Txs(b)
	if err != nil {
		c.refuse(&profiles.Refusal{Status: http.StatusInternalServerError, Code: -32603, Message: err.Error()})
	}
	return txs, err == nil
}

// hasReceipts is false while a block's receipts are late.
func (n *Node) hasReceipts(b *chain.Block) bool {
	has := n.now().Sub(b.Made) >= n.profile.Heads.LateReceipts
	if !has {
		n.counts.refused("late receipts")
	}
	return has
}

func (n *Node) getBlockReceipts(c *call) {
	b, _, bad := n.named(c.param(0))
	switch {
	case bad != nil:
		c.refuse(bad)
	case b == nil || !n.hasReceipts(b):
		c.result = null
	default:
		if txs, ok := n.txs(c, b); ok {
			c.result = append(b.AppendReceipts([]byte("["), txs, -1, n.profile.LogTimes), ']')
		}
	}
}

// place finds the transaction that a call names.
func (n *Node) place(c *call) (*chain.Block, int) {
	var text string
	if json.Unmarshal(c.param(0), &text) != nil {
		c.refuse(badParameter(0, "a hash is wanted"))
		return nil, 0
	}
	h, err := hash(text)
	if err != nil {
		c.refuse(badParameter(0, err.Error()))
		return nil, 0
	}
	b, i := n.chain.Tx(h)
	if b = n.known(b); b == nil {
		c.result = null
	}
	return b, i
}

func (n *Node) getReceipt(c *call) {
	switch b, i := n.place(c); {
	case b == nil:
	case !n.hasReceipts(b):
		c.result = null
	default:
		if txs, ok := n.txs(c, b); ok {
			c.result = b.AppendReceipts(nil, txs, i, n.profile.LogTimes)
		}
	}
}

func (n *Node) getTx(c *call) {
	b, i := n.place(c)
	if b == nil {
		return
	}
	if txs, ok := n.txs(c, b); ok {
		c.result = b.AppendTx(nil, txs, i)
	}
}
