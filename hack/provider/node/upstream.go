package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// stateMethods are forwarded to anvil. The number is the place of the block among the parameters, from 1.
var stateMethods = map[string]int{
	"eth_call": 2, "eth_estimateGas": 2, "eth_getBalance": 2, "eth_getCode": 2, "eth_getTransactionCount": 2, "eth_getStorageAt": 3,
	"eth_getProof": 3, "eth_createAccessList": 2,
}

// gone is what geth says where it has dropped a state.
var gone = profiles.Refusal{Code: -32000, Message: "missing trie node %s (path ) state %[1]s is not available, not found"}

// prepare makes the parameters for anvil; false says that the call is refused.
func (n *Node) prepare(c *call) bool {
	place := stateMethods[c.Method] - 1
	b, canonical, bad := n.named(c.param(place))
	limits, head := &n.profile.State, n.head()
	switch {
	case bad != nil:
		c.refuse(bad)
		return false
	case b != nil && !canonical:
		c.refuse(&profiles.Refusal{Code: -32000, Message: "hash is not currently canonical"})
		return false
	case limits.LatestAlone && limits.Silent:
		b = head
	case b == nil && belowFirst(c.param(place), n.chain.First()):
		b = n.chain.Block(n.chain.First()) // before anything was deployed
	case b == nil:
		c.refuse(n.unknownBlock("header not found"))
		return false
	}
	if limits.LatestAlone && b != head && !limits.Silent || limits.Blocks > 0 && b.Number+limits.Blocks <= head.Number {
		n.counts.refused("state")
		c.refuse(n.gone(b))
		return false
	}
	if c.Method == "eth_call" {
		override := c.param(2)
		if limits.NoOverrides && len(override) > 0 && string(override) != "null" {
			n.counts.refused("overrides")
			c.refuse(&profiles.Refusal{Code: -32602, Message: "too many arguments, want at most 2"})
			return false
		}
		if len(override) == 0 || string(override) == "null" {
			override = json.RawMessage("{}")
		}
		c.Params = []json.RawMessage{c.param(0), quoted(hexOf(b.State)), override, n.inBlock(b)}
		return true
	}
	params := make([]json.RawMessage, place+1)
	copy(params, c.Params)
	params[place] = quoted(hexOf(b.State))
	c.Params = params
	return true
}

// belowFirst reports whether a parameter names a block before the chain's first.
func belowFirst(raw json.RawMessage, first uint64) bool {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return false
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return err == nil && len(text) < 66 && number < first
}

func (n *Node) gone(b *chain.Block) *profiles.Refusal {
	r := n.profile.State.Gone
	if r.Message == "" {
		r = gone
	}
	return said(r, b.StateRoot.String()[2:], b.Number)
}

func quoted(text string) json.RawMessage { return json.RawMessage(`"` + text + `"`) }

// inBlock tells the EVM the chain's block instead of anvil's, as far as anvil lets it: NUMBER, TIMESTAMP, and BLOCKHASH of the parents that
// a call is most likely to ask for.
func (n *Node) inBlock(b *chain.Block) json.RawMessage {
	var hashes []string
	for number, at := b.Number, b; at != nil && b.Number-number < 3; number-- {
		if number < b.Number {
			hashes = append(hashes, fmt.Sprintf(`"%d":"%s"`, number, at.Hash))
		}
		at, _ = n.chain.ByHash(at.Parent)
	}
	return fmt.Appendf(nil, `{"number":"%s","time":"%s","blockHash":{%s}}`, hexOf(b.Number), hexOf(b.Time), strings.Join(hashes, ","))
}

type wireCall struct {
	Version string            `json:"jsonrpc"`
	ID      int               `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

type wireAnswer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// forward asks anvil.
func (n *Node) forward(ctx context.Context, calls []*call) {
	if len(calls) == 0 {
		return
	}
	answers, err := n.ask(ctx, calls)
	if err != nil {
		for _, c := range calls {
			c.refuse(&profiles.Refusal{Status: http.StatusBadGateway, Code: -32603, Message: "the stand-in's anvil doesn't answer"})
		}
		return
	}
	for _, a := range answers {
		c := calls[a.ID]
		if c.result = a.Result; a.Error != nil {
			c.refuse(n.inWords(a.Error.Code, a.Error.Message))
			if c.refusal.Code == 3 {
				c.data = a.Error.Data
			}
		}
	}
}

func (n *Node) ask(ctx context.Context, calls []*call) ([]wireAnswer, error) {
	wire := make([]wireCall, len(calls))
	for i, c := range calls {
		wire[i] = wireCall{"2.0", i, c.Method, c.Params}
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.upstream, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := n.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var answers []wireAnswer
	if err := json.Unmarshal(raw, &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(calls) {
		return nil, fmt.Errorf("%d answers to %d calls", len(answers), len(calls))
	}
	for _, a := range answers {
		if a.ID < 0 || a.ID >= len(calls) {
			return nil, fmt.Errorf("an answer with the id %d", a.ID)
		}
	}
	return answers, nil
}

// halts are what anvil says of a contract that failed without a revert, and the clients' own texts.
var halts = []struct{ anvil, geth, reth string }{
	{"InvalidJump", "invalid jump destination", "EVM error: InvalidJump"},
	{"InvalidFEOpcode", "invalid opcode: INVALID", "EVM error: InvalidFEOpcode"},
	{"OpcodeNotFound", "invalid opcode: opcode 0xc not defined", "EVM error: OpcodeNotFound"},
	{"StackUnderflow", "stack underflow (0 <=> 1)", "EVM error: StackUnderflow"},
	{"OutOfGas", "out of gas", "out of gas: gas required exceeds: 50000000"},
	{"InvalidOperandOOG", "gas uint64 overflow", "out of gas: invalid operand"},
	{"MemoryOOG", "out of gas", "out of memory: memory limit exceeded during execution: 50000000"},
	{"OutOfOffset", "return data out of bounds", "EVM error: OutOfOffset"},
	{"StateChangeDuringStaticCall", "write protection", "EVM error: StateChangeDuringStaticCall"},
}

// inWords says anvil's error as the profile's client does.
func (n *Node) inWords(code int, message string) *profiles.Refusal {
	if code == 3 || strings.HasPrefix(message, "execution reverted") {
		return &profiles.Refusal{Code: 3, Message: message}
	}
	if strings.Contains(message, "BlockOutOfRange") || strings.Contains(message, "tate not found") || strings.Contains(message, "No state available") {
		n.counts.refused("state")
		return n.gone(n.head())
	}
	for _, h := range halts {
		if !strings.Contains(message, h.anvil) {
			continue
		}
		switch n.profile.Client {
		case "Geth", "erigon":
			return &profiles.Refusal{Code: -32000, Message: h.geth}
		case "reth":
			return &profiles.Refusal{Code: -32003, Message: h.reth}
		}
	}
	return &profiles.Refusal{Code: code, Message: message}
}
