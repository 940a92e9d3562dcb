package chain

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func quantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// String is the hash in hexadecimal.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// hexReader reads what anvil answers; the first mistake stays.
type hexReader struct{ err error }

// bytes reads exactly so many; any number with -1.
func (r *hexReader) bytes(text string, n int) []byte {
	out, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err == nil && n >= 0 && len(out) != n {
		err = fmt.Errorf("%q has not %d bytes", text, n)
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("anvil's answer: %w", err)
	}
	if err != nil {
		out = make([]byte, max(n, 0))
	}
	return out
}

func (r *hexReader) number(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("anvil's answer: %w", err)
	}
	return n
}

func appendHex(dst, b []byte) []byte {
	dst = append(dst, '"', '0', 'x')
	dst = hex.AppendEncode(dst, b)
	return append(dst, '"')
}

func appendQuantity(dst []byte, n uint64) []byte {
	dst = append(dst, '"', '0', 'x')
	dst = strconv.AppendUint(dst, n, 16)
	return append(dst, '"')
}

// hexField and quantityField append a field of an object: name has its quotes, colon and, but for the first, comma.
func hexField(dst []byte, name string, b []byte) []byte { return appendHex(append(dst, name...), b) }

func quantityField(dst []byte, name string, n uint64) []byte {
	return appendQuantity(append(dst, name...), n)
}

// Filter says which logs are wanted: any address of the list, and at each place any of the topics; an empty list takes all.
type Filter struct {
	Addresses []Address
	Topics    [][]Hash
}

func (f *Filter) takes(l *Log) bool {
	if len(f.Addresses) > 0 && !slices.Contains(f.Addresses, l.Address) || len(f.Topics) > len(l.Topics) {
		return false
	}
	for i, oneOf := range f.Topics {
		if len(oneOf) > 0 && !slices.Contains(oneOf, l.Topics[i]) {
			return false
		}
	}
	return true
}

// Excludes reports whether the block's bloom says that it has none of the logs.
func (b *Block) Excludes(f *Filter) bool {
	if len(f.Addresses) > 0 && !b.mayHave(asBytes(f.Addresses)) {
		return true
	}
	for _, oneOf := range f.Topics {
		if len(oneOf) > 0 && !b.mayHave(asBytes(oneOf)) {
			return true
		}
	}
	return false
}

func asBytes[T Hash | Address](list []T) (out [][]byte) {
	for _, x := range list {
		switch x := any(x).(type) {
		case Hash:
			out = append(out, x[:])
		case Address:
			out = append(out, x[:])
		}
	}
	return out
}

func (b *Block) mayHave(items [][]byte) bool {
	for _, item := range items {
		has := true
		for _, p := range bitsOf(item) {
			has = has && b.Bloom[255-p/8]&(1<<(p%8)) != 0
		}
		if has {
			return true
		}
	}
	return false
}

// AppendLogs appends the block's logs that a filter takes, as JSON objects with commas between them, and counts them. Not every client says
// the block's time in a log.
func (b *Block) AppendLogs(dst []byte, txs []Tx, f *Filter, timed bool) (out []byte, n int) {
	index := uint64(0)
	for i := range txs {
		for k := range txs[i].Logs {
			if l := &txs[i].Logs[k]; f.takes(l) {
				if n > 0 {
					dst = append(dst, ',')
				}
				dst = b.appendLog(dst, l, &txs[i], uint64(i), index, timed)
				n++
			}
			index++
		}
	}
	return dst, n
}

func (b *Block) appendLog(dst []byte, l *Log, t *Tx, txIndex, index uint64, timed bool) []byte {
	dst = hexField(dst, `{"address":`, l.Address[:])
	dst = append(dst, `,"topics":[`...)
	for i := range l.Topics {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendHex(dst, l.Topics[i][:])
	}
	dst = hexField(dst, `],"data":`, l.Data)
	dst = quantityField(dst, `,"blockNumber":`, b.Number)
	dst = hexField(dst, `,"transactionHash":`, t.Hash[:])
	dst = quantityField(dst, `,"transactionIndex":`, txIndex)
	dst = hexField(dst, `,"blockHash":`, b.Hash[:])
	if timed {
		dst = quantityField(dst, `,"blockTimestamp":`, b.Time)
	}
	dst = quantityField(dst, `,"logIndex":`, index)
	return append(dst, `,"removed":false}`...)
}

// AppendHeader appends the block as eth_getBlockByNumber has it; txs are its transactions where whole ones are wanted instead of hashes.
func (b *Block) AppendHeader(dst []byte, txs []Tx, whole bool) []byte {
	dst = b.appendFields(dst)
	dst = append(dst, `,"uncles":[],"withdrawals":[],"transactions":[`...)
	for i := range txs {
		if i > 0 {
			dst = append(dst, ',')
		}
		if whole {
			dst = b.AppendTx(dst, txs, i)
		} else {
			dst = appendHex(dst, txs[i].Hash[:])
		}
	}
	return append(dst, "]}"...)
}

// AppendHead appends the header alone, as a subscription has it.
func (b *Block) AppendHead(dst []byte) []byte { return append(b.appendFields(dst), '}') }

func (b *Block) appendFields(dst []byte) []byte {
	zero := make([]byte, 32)
	dst = quantityField(dst, `{"number":`, b.Number)
	dst = hexField(dst, `,"hash":`, b.Hash[:])
	dst = hexField(dst, `,"parentHash":`, b.Parent[:])
	dst = hexField(dst, `,"sha3Uncles":`, noUncles[:])
	dst = hexField(dst, `,"miner":`, feeCollector[:])
	dst = hexField(dst, `,"stateRoot":`, b.StateRoot[:])
	dst = hexField(dst, `,"transactionsRoot":`, b.TxRoot[:])
	dst = hexField(dst, `,"receiptsRoot":`, b.ReceiptsRoot[:])
	dst = hexField(dst, `,"logsBloom":`, b.Bloom[:])
	dst = append(dst, `,"difficulty":"0x0"`...)
	dst = quantityField(dst, `,"gasLimit":`, gasLimit)
	dst = quantityField(dst, `,"gasUsed":`, b.GasUsed)
	dst = quantityField(dst, `,"timestamp":`, b.Time)
	dst = hexField(dst, `,"extraData":`, extraData)
	dst = hexField(dst, `,"mixHash":`, zero)
	dst = hexField(dst, `,"nonce":`, zero[:8])
	dst = quantityField(dst, `,"baseFeePerGas":`, baseFee)
	dst = hexField(dst, `,"withdrawalsRoot":`, emptyRoot[:])
	dst = append(dst, `,"blobGasUsed":"0x0","excessBlobGas":"0x0"`...)
	dst = hexField(dst, `,"parentBeaconBlockRoot":`, zero)
	return quantityField(dst, `,"size":`, uint64(600+200*b.Logs))
}

// AppendTx appends a transaction.
func (b *Block) AppendTx(dst []byte, txs []Tx, i int) []byte {
	t := &txs[i]
	dst = hexField(dst, `{"hash":`, t.Hash[:])
	dst = b.appendPlace(dst, t, i)
	dst = quantityField(dst, `,"gas":`, t.Gas)
	return append(dst, `,"gasPrice":"0x3b9aca00","nonce":"0x0","value":"0x0","input":"0x","v":"0x0","r":"0x1","s":"0x1"}`...)
}

// appendPlace appends the fields that transactions and receipts have in common.
func (b *Block) appendPlace(dst []byte, t *Tx, i int) []byte {
	dst = hexField(dst, `,"blockHash":`, b.Hash[:])
	dst = quantityField(dst, `,"blockNumber":`, b.Number)
	dst = quantityField(dst, `,"transactionIndex":`, uint64(i))
	dst = quantityField(dst, `,"type":`, uint64(t.Type))
	dst = hexField(dst, `,"from":`, t.From[:])
	if t.To == (Address{}) {
		return append(dst, `,"to":null`...)
	}
	return hexField(dst, `,"to":`, t.To[:])
}

// AppendReceipts appends the receipts of all transactions, or of the i-th alone where i isn't negative.
func (b *Block) AppendReceipts(dst []byte, txs []Tx, only int, timed bool) []byte {
	blooms := newBloomCache()
	var cumulative, index uint64
	for i := range txs {
		t := &txs[i]
		cumulative += t.Gas
		if only >= 0 && only != i {
			index += uint64(len(t.Logs))
			continue
		}
		if only < 0 && i > 0 {
			dst = append(dst, ',')
		}
		bloom := blooms.of(t.Logs)
		dst = hexField(dst, `{"transactionHash":`, t.Hash[:])
		dst = b.appendPlace(dst, t, i)
		dst = quantityField(dst, `,"cumulativeGasUsed":`, cumulative)
		dst = quantityField(dst, `,"gasUsed":`, t.Gas)
		dst = hexField(dst, `,"logsBloom":`, bloom[:])
		dst = append(dst, `,"effectiveGasPrice":"0x3b9aca00","contractAddress":null`...)
		if t.Failed {
			dst = append(dst, `,"status":"0x0","logs":[`...)
		} else {
			dst = append(dst, `,"status":"0x1","logs":[`...)
		}
		for k := range t.Logs {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = b.appendLog(dst, &t.Logs[k], t, uint64(i), index, timed)
			index++
		}
		dst = append(dst, "]}"...)
	}
	return dst
}
