package evm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// receipt has the fields of a receipt of which its hash is taken, and the fields that some kinds have besides.
type receipt struct {
	Type, Status, Root, CumulativeGasUsed, LogsBloom json.RawMessage
	// DepositNonce and DepositReceiptVersion are of deposits on OP Stack chains.
	DepositNonce, DepositReceiptVersion json.RawMessage
	Logs                                []struct {
		Address json.RawMessage
		Topics  []json.RawMessage
		Data    json.RawMessage
	}
}

// encode gives the receipt as it stands in the trie (EIP-2718), and its logs.
func (r *receipt) encode() (encoded []byte, logs []decode.Log, err error) {
	read := func(raw json.RawMessage, number bool) []byte {
		b, e := rpc.ParseBytes(raw, number)
		if err == nil {
			err = e
		}
		return b
	}
	var list [][]byte
	for _, l := range r.Logs {
		address, data := read(l.Address, false), read(l.Data, false)
		if err != nil || len(address) != 20 || len(l.Topics) > 4 {
			return nil, nil, fmt.Errorf("%w: an unreadable log in a receipt", rpc.ErrGarbage)
		}
		log := decode.Log{Address: [20]byte(address), Data: data, NumTopics: len(l.Topics)}
		var topics [][]byte
		for i, raw := range l.Topics {
			t := read(raw, false)
			copy(log.Topics[i][:], t)
			topics = append(topics, hash.RLPBytes(t))
		}
		list, logs = append(list, hash.RLPList(hash.RLPBytes(address), hash.RLPList(topics...), hash.RLPBytes(data))), append(logs, log)
	}
	outcome, isStatus := r.Status, true
	if len(outcome) == 0 || string(outcome) == "null" {
		outcome, isStatus = r.Root, false // before Byzantium
	}
	parts := [][]byte{
		hash.RLPBytes(read(outcome, isStatus)), hash.RLPBytes(read(r.CumulativeGasUsed, true)), hash.RLPBytes(read(r.LogsBloom, false)), hash.RLPList(list...),
	}
	for _, more := range []json.RawMessage{r.DepositNonce, r.DepositReceiptVersion} {
		if len(more) > 0 && string(more) != "null" {
			parts = append(parts, hash.RLPBytes(read(more, true)))
		}
	}
	var kind []byte
	if len(r.Type) > 0 && string(r.Type) != "null" {
		kind = read(r.Type, true)
	}
	return append(kind, hash.RLPList(parts...)...), logs, err
}

// provenContent gives the content of a block's logs, of which an endpoint has receipts whose root stands in a header with the
// block's hash. Nobody can forge that. It is an error where the endpoint doesn't have them, or the chain hashes otherwise.
func (s *Source) provenContent(ctx context.Context, e *endpoint, h *chain.Header) (content [32]byte, err error) {
	var header json.RawMessage
	var receipts []receipt
	keep := func(raw json.RawMessage) error { header = bytes.Clone(raw); return nil }
	read := func(raw json.RawMessage) error { return json.Unmarshal(raw, &receipts) }
	err = e.Do(ctx,
		&rpc.Request{Method: "eth_getBlockByHash", Params: []any{h.Hash.String(), false}, Take: keep},
		&rpc.Request{Method: "eth_getBlockReceipts", Params: []any{rpc.HexQuantity(h.Number)}, Take: read, Whole: true})
	if err != nil {
		return content, err
	}
	proven, err := block.ReceiptsRoot(header, h.Hash)
	if err != nil {
		return content, err
	}
	var logs []decode.Log
	values := make([][]byte, len(receipts))
	index := 0
	for i := range receipts {
		var of []decode.Log
		if values[i], of, err = receipts[i].encode(); err != nil {
			return content, err
		}
		for k := range of {
			of[k].TxIndex, of[k].Index = uint32(i), uint32(index)
			index++
			if of[k].NumTopics > 0 && slices.Contains(s.topics, of[k].Topics[0]) {
				logs = append(logs, of[k])
			}
		}
	}
	root := hash.ListRoot(values)
	if string(proven) != `"0x`+hex.EncodeToString(root[:])+`"` {
		return content, fmt.Errorf("%w: the receipts' root is another", rpc.ErrGarbage)
	}
	return contentOf(logs), nil
}

// contentOf is a hash of what receipts prove of logs: all but the hashes of their transactions.
func contentOf(logs []decode.Log) [32]byte {
	return hashLogs(logs, func(l *decode.Log) []byte { return binary.BigEndian.AppendUint32(nil, l.TxIndex) })
}
