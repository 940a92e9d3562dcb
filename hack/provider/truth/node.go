package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// blocksAtOnce is how many blocks' logs are asked for together.
const blocksAtOnce = 20

type node struct{ url string }

func (n *node) call(into any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	res, err := http.Post(n.url, "application/json", bytes.NewReader(body)) //nolint:noctx // a command, which a signal ends
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: the node says: %s", method, answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, into)
}

func (n *node) head() (uint64, error) {
	var text string
	if err := n.call(&text, "eth_blockNumber"); err != nil {
		return 0, err
	}
	return strconv.ParseUint(text, 0, 64)
}

// decimals asks a token; the coin itself has 18.
func (n *node) decimals(token string) (int, error) {
	if token == coin {
		return 18, nil
	}
	var text string
	if err := n.call(&text, "eth_call", map[string]string{"to": token, "data": "0x313ce567"}, "latest"); err != nil {
		return 0, fmt.Errorf("the decimals of %s: %w", token, err)
	}
	v, ok := new(big.Int).SetString(text, 0)
	if !ok || !v.IsInt64() {
		return 0, fmt.Errorf("the decimals of %s are %q", token, text)
	}
	return int(v.Int64()), nil
}

// entry is a log.
type entry struct {
	address string
	topics  []string
	data    string // hexadecimal, without 0x
	block   uint64
	time    uint64
	index   uint64
}

// logs reads the logs of some blocks, in order, with the blocks' times.
func (n *node) logs(from, to uint64) ([]entry, error) {
	var wire []struct {
		Address, Data, BlockNumber, LogIndex string
		Topics                               []string
	}
	where := map[string]any{"fromBlock": "0x" + strconv.FormatUint(from, 16), "toBlock": "0x" + strconv.FormatUint(to, 16), "topics": [][]string{events}}
	if err := n.call(&wire, "eth_getLogs", where); err != nil {
		return nil, err
	}
	times := map[uint64]uint64{}
	out := make([]entry, len(wire))
	for i, w := range wire {
		var err error
		e := &out[i]
		e.address, e.topics, e.data = strings.ToLower(w.Address), w.Topics, strings.TrimPrefix(w.Data, "0x")
		if e.block, err = strconv.ParseUint(w.BlockNumber, 0, 64); err != nil {
			return nil, err
		}
		if e.index, err = strconv.ParseUint(w.LogIndex, 0, 64); err != nil {
			return nil, err
		}
		if times[e.block] == 0 {
			var block struct{ Timestamp string }
			if err := n.call(&block, "eth_getBlockByNumber", w.BlockNumber, false); err != nil {
				return nil, err
			}
			if times[e.block], err = strconv.ParseUint(block.Timestamp, 0, 64); err != nil {
				return nil, err
			}
		}
		e.time = times[e.block]
	}
	slices.SortFunc(out, func(a, b entry) int {
		if a.block != b.block {
			return int(a.block) - int(b.block)
		}
		return int(a.index) - int(b.index)
	})
	return out, nil
}

// word is the i-th word of the data, as an unsigned number.
func (e *entry) word(i int) (*big.Int, error) {
	if len(e.data) < 64*(i+1) {
		return nil, fmt.Errorf("%s has %d bytes of data", e.topics[0], len(e.data)/2)
	}
	v, ok := new(big.Int).SetString(e.data[64*i:64*(i+1)], 16)
	if !ok {
		return nil, fmt.Errorf("%q is no hexadecimal", e.data)
	}
	return v, nil
}

// signed is the i-th word as a signed number.
func (e *entry) signed(i int) (*big.Int, error) {
	v, err := e.word(i)
	if err == nil && v.Bit(255) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return v, err
}

// account is an address in a topic.
func (e *entry) account(topic int) string {
	if len(e.topics) <= topic || len(e.topics[topic]) != 66 {
		return ""
	}
	return "0x" + strings.ToLower(e.topics[topic][26:])
}
