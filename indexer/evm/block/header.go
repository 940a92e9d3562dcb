package block

import (
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The places in headerFields of those fields that are read for more than the hash.
const (
	atParentHash       = 0
	atTransactionsRoot = 4
	atReceiptsRoot     = 5
	atLogsBloom        = 6
	atNumber           = 8
	atGasUsed          = 10
	atTimestamp        = 11
)

// headerFields are the fields of a header, in the order in which its hash is taken; from baseFeePerGas on they may be missing, the
// later ones with the earlier (EIPs 1559, 4895, 4844, 4788, 7685). Numbers are encoded without leading zeros.
var headerFields = [...]struct {
	name   string
	number bool
}{
	atParentHash:       {"parentHash", false},
	1:                  {"sha3Uncles", false},
	2:                  {"miner", false},
	3:                  {"stateRoot", false},
	atTransactionsRoot: {"transactionsRoot", false},
	atReceiptsRoot:     {"receiptsRoot", false},
	atLogsBloom:        {"logsBloom", false},
	7:                  {"difficulty", true},
	atNumber:           {"number", true},
	9:                  {"gasLimit", true},
	atGasUsed:          {"gasUsed", true},
	atTimestamp:        {"timestamp", true},
	12:                 {"extraData", false},
	13:                 {"mixHash", false},
	14:                 {"nonce", false},
	15:                 {"baseFeePerGas", true},
	16:                 {"withdrawalsRoot", false},
	17:                 {"blobGasUsed", true},
	18:                 {"excessBlobGas", true},
	19:                 {"parentBeaconBlockRoot", false},
	20:                 {"requestsHash", false},
}

// headerPlaces are the fields' places by their names.
var headerPlaces = func() map[string]int {
	places := make(map[string]int, len(headerFields))
	for i := range headerFields {
		places[headerFields[i].name] = i
	}
	return places
}()

// wireHeader is a header as eth_getBlockByNumber answers it: its hash, and the other fields by their places in headerFields. Each is the JSON
// that a node wrote, and lies within its answer; a missing one has no bytes, and of one that is told twice the last counts. Hash and fields come
// from one reading, so that a field can't be proven by one value and used with another.
type wireHeader struct {
	hash   json.RawMessage
	fields [len(headerFields)]json.RawMessage
}

// readHeader reads a header, and passes over all that isn't a header's field. Its block's transactions are read into a list, if there is one.
func readHeader(raw []byte, list *transactionList) (w wireHeader, err error) {
	p := rpc.NewScanner(raw)
	p.Object(func(key []byte) {
		if i, ok := headerPlaces[string(key)]; ok {
			w.fields[i] = p.Raw()
			return
		}
		switch {
		case string(key) == "hash":
			w.hash = p.Raw()
		case list != nil && string(key) == "transactions":
			list.read(p)
		default:
			p.Skip()
		}
	})
	if ok, _ := p.End(); !ok {
		return w, errUnreadable
	}
	return w, nil
}

// mayBeText reports whether a field is a string, or isn't there.
func mayBeText(field json.RawMessage) bool {
	return len(field) == 0 || field[0] == '"' || string(field) == "null"
}

// sum is the hash that follows from the fields, by Ethereum's rules.
func (w *wireHeader) sum() (market.Hash, error) {
	var parts [][]byte
	for i, field := range w.fields {
		if len(field) == 0 || string(field) == "null" {
			break
		}
		b, err := rpc.ParseBytes(field, headerFields[i].number)
		if err != nil {
			return market.Hash{}, err
		}
		parts = append(parts, hash.RLPBytes(b))
	}
	return market.Hash(hash.Keccak256(hash.RLPList(parts...))), nil
}

// HeaderHash computes a header's hash from its fields, as eth_getBlockByNumber answers them, by Ethereum's rules. A hash among them isn't read. rpc.ErrGarbage
// is in the error's tree where the JSON is no header, or a field can't be hashed. Only tests and the simulation call it.
func HeaderHash(raw json.RawMessage) (market.Hash, error) {
	w, err := readHeader(raw, nil)
	if err != nil {
		return market.Hash{}, err
	}
	return w.sum()
}

// ReceiptsRoot gives the root of a block's receipts that stands in its header, as the JSON that the node wrote; none where the field is missing. The header's
// hash, want, proves it. rpc.ErrGarbage is in the error's tree where the JSON is no header, or its fields have another hash.
func ReceiptsRoot(raw json.RawMessage, want market.Hash) (root json.RawMessage, err error) {
	w, err := readHeader(raw, nil)
	if err != nil {
		return nil, err
	}
	sum, err := w.sum()
	if err == nil && sum != want {
		err = fmt.Errorf("%w: the header's hash is another", rpc.ErrGarbage)
	}
	if err != nil {
		return nil, err
	}
	return w.fields[atReceiptsRoot], nil
}
