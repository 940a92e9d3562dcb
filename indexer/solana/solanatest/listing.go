package solanatest

import (
	"encoding/json"
	"slices"
)

// transaction is what a node tells of one, as far as a list of an account's transactions needs it.
type transaction struct {
	Transaction struct {
		Signatures []string
		Message    struct{ AccountKeys []string }
	}
	Meta struct {
		Err    any
		Loaded struct{ Writable, Readonly []string } `json:"loadedAddresses"`
	}
}

// names reports whether an account is part of a transaction.
func (t *transaction) names(account string) bool {
	return slices.Contains(t.Transaction.Message.AccountKeys, account) || slices.Contains(t.Meta.Loaded.Writable, account) || slices.Contains(t.Meta.Loaded.Readonly, account)
}

func transactionOf(raw json.RawMessage) (t transaction) {
	_ = json.Unmarshal(raw, &t)
	return t
}

// signatures are those of a block's transactions.
func (b *Made) signatures() []string {
	out := []string{}
	for _, raw := range b.Txs {
		if t := transactionOf(raw); len(t.Transaction.Signatures) > 0 {
			out = append(out, t.Transaction.Signatures[0])
		}
	}
	return out
}

// listing lists the transactions that an account is part of, the newest first.
func (n *Node) listing(params []json.RawMessage) (any, *Refusal) {
	var account string
	var how struct {
		Before    string
		Limit     int
		NoEarlier uint64 `json:"minContextSlot"`
	}
	parameter(params, 0, &account)
	parameter(params, 1, &how)
	if how.Limit < 1 || how.Limit > 1000 {
		return nil, &Refusal{-32602, "Invalid limit; max 1000"}
	}
	if n.slot() < how.NoEarlier {
		return nil, &Refusal{-32016, "Minimum context slot has not been reached"}
	}
	out := []any{}
	begun := how.Before == ""
	for _, b := range slices.Backward(n.blocks) {
		for _, raw := range slices.Backward(b.Txs) {
			t := transactionOf(raw)
			if len(t.Transaction.Signatures) == 0 {
				continue
			}
			signature := t.Transaction.Signatures[0]
			if begun && t.names(account) && len(out) < how.Limit {
				out = append(out, map[string]any{"signature": signature, "slot": b.Number, "err": t.Meta.Err, "blockTime": b.Time})
			}
			begun = begun || signature == how.Before
		}
	}
	return out, nil
}
