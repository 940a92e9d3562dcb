package decode

import (
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// ParseLogs reads a whole JSON-RPC answer to eth_getLogs. Reading logs is the largest part of a backfill's work (see
// docs/benchmarks.md), so this reads the one shape it needs by hand; fields that it doesn't know are skipped.
func ParseLogs(raw []byte) ([]Log, error) {
	p := rpc.NewScanner(raw)
	var logs []Log
	var nodeErr json.RawMessage
	found := false
	p.Object(func(key []byte) {
		switch string(key) {
		case "result":
			logs, found = readLogList(p, len(raw)), true
		case "error":
			nodeErr = p.Raw()
		default:
			p.Skip()
		}
	})
	if ok, at := p.End(); !ok {
		return nil, fmt.Errorf("%w: bad JSON near byte %d", rpc.ErrGarbage, at)
	}
	if len(nodeErr) > 0 && string(nodeErr) != "null" {
		var e rpc.NodeError
		if err := json.Unmarshal(nodeErr, &e); err != nil {
			return nil, fmt.Errorf("%w: an unreadable error", rpc.ErrGarbage)
		}
		return nil, &e
	}
	if !found {
		return nil, fmt.Errorf("%w: no result", rpc.ErrGarbage)
	}
	return logs, nil
}

// A whole log has more than leastLog bytes of JSON, and takes some 270 once it is read; mostSparse shorter ones are taken all the same.
const leastLog, mostSparse = 128, 1024

// readLogList reads a list of logs, or null, within an answer of so many bytes.
func readLogList(p *rpc.Scanner, size int) []Log {
	if p.Peek() == 'n' {
		if string(p.Raw()) != "null" {
			p.Fail()
		}
		return nil
	}
	// A log is some 700 bytes of JSON.
	logs := make([]Log, 0, size/640+1)
	p.Reserve(size / 4)
	p.Array(func() {
		if len(logs) > mostSparse+size/leastLog {
			p.Fail() // each would take far more memory than it has bytes
			return
		}
		logs = append(logs, Log{})
		l := &logs[len(logs)-1]
		p.Object(func(key []byte) { readLogField(p, l, key) })
	})
	return logs
}

func readLogField(p *rpc.Scanner, l *Log, key []byte) {
	switch string(key) {
	case "address":
		p.Fixed(l.Address[:])
	case "topics":
		p.Array(func() {
			if l.NumTopics >= len(l.Topics) {
				p.Fail()
				return
			}
			p.Fixed(l.Topics[l.NumTopics][:])
			l.NumTopics++
		})
	case "data":
		l.Data = p.Bytes()
	case "blockNumber":
		l.Block = p.Number()
	case "blockHash":
		p.Fixed(l.BlockHash[:])
	case "blockTimestamp":
		l.BlockTime = int64(p.Number())
	case "transactionHash":
		p.Fixed(l.TxHash[:])
	case "transactionIndex":
		l.TxIndex = uint32(p.Number())
	case "logIndex":
		l.Index = uint32(p.Number())
	case "removed":
		l.Removed = string(p.Raw()) == "true"
	default:
		p.Skip()
	}
}
