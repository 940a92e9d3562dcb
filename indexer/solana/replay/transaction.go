package replay

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The bounds of a transaction that is read. The runtime allows fewer of each.
const (
	mostKeys  = 256
	mostCalls = 512
	// longestText is the most digits in base58 of an instruction's data that is read: of as many bytes as a transaction has.
	longestText = 1700
)

// transaction is what a node tells of a transaction that succeeded.
type transaction struct {
	keys []market.Address
	// writable says of each key whether the transaction may change the account.
	writable []bool
	// calls are its instructions, and then those that they called.
	calls    []instruction
	balances []balance
}

type instruction struct {
	Program  int    `json:"programIdIndex"`
	Accounts []int  `json:"accounts"`
	Data     string `json:"data"`
}

// bytes are the instruction's data.
func (in *instruction) bytes() (data []byte, ok bool) {
	if len(in.Data) > longestText {
		return nil, false
	}
	data, ok = base58.Append(nil, []byte(in.Data))
	return data, ok && len(data) <= longest
}

type balance struct {
	Account int    `json:"accountIndex"`
	Mint    string `json:"mint"`
	Amount  struct {
		Amount   string `json:"amount"`
		Decimals uint8  `json:"decimals"`
	} `json:"uiTokenAmount"`
}

type header struct {
	Signers         int `json:"numRequiredSignatures"`
	ReadonlySigners int `json:"numReadonlySignedAccounts"`
	Readonly        int `json:"numReadonlyUnsignedAccounts"`
}

// answer is an answer to getTransaction in the encoding "json".
type answer struct {
	Meta *struct {
		Err   json.RawMessage `json:"err"`
		Inner []struct {
			Instructions []instruction `json:"instructions"`
		} `json:"innerInstructions"`
		Loaded struct {
			Writable []string `json:"writable"`
			Readonly []string `json:"readonly"`
		} `json:"loadedAddresses"`
		Pre  []balance `json:"preTokenBalances"`
		Post []balance `json:"postTokenBalances"`
	} `json:"meta"`
	Transaction struct {
		Signatures []string `json:"signatures"`
		Message    struct {
			Header       header        `json:"header"`
			Keys         []string      `json:"accountKeys"`
			Instructions []instruction `json:"instructions"`
		} `json:"message"`
	} `json:"transaction"`
}

// read reads what a node tells of a transaction. ok is false where it tells of another one, of one that failed, or of what can't be.
func read(raw json.RawMessage, tx market.TxID) (t transaction, ok bool) {
	var a answer
	if json.Unmarshal(raw, &a) != nil || a.Meta == nil || string(a.Meta.Err) != "null" {
		return t, false
	}
	message, loaded := &a.Transaction.Message, &a.Meta.Loaded
	texts := slices.Concat(message.Keys, loaded.Writable, loaded.Readonly)
	if len(a.Transaction.Signatures) == 0 || a.Transaction.Signatures[0] != tx.String() || len(texts) > mostKeys || !message.Header.fits(len(message.Keys)) {
		return t, false
	}
	for i, text := range texts {
		key, err := market.ParseSolanaAddress(text)
		if err != nil {
			return t, false
		}
		t.keys = append(t.keys, key)
		t.writable = append(t.writable, message.Header.writes(i, len(message.Keys)) || i >= len(message.Keys) && i < len(message.Keys)+len(loaded.Writable))
	}
	t.calls = message.Instructions
	for i := range a.Meta.Inner {
		t.calls = append(t.calls, a.Meta.Inner[i].Instructions...)
	}
	t.balances = slices.Concat(a.Meta.Pre, a.Meta.Post)
	return t, len(t.calls) <= mostCalls && t.isWhole()
}

// fits reports whether a header can be that of a message with so many keys.
func (h header) fits(keys int) bool {
	return h.Signers > 0 && h.Signers <= keys && h.ReadonlySigners >= 0 && h.ReadonlySigners < h.Signers && h.Readonly >= 0 && h.Readonly <= keys-h.Signers
}

// writes reports whether the message says that its i-th key, of so many, may be changed: signers come first, and of each kind those that are written.
func (h header) writes(i, keys int) bool {
	if i < h.Signers {
		return i < h.Signers-h.ReadonlySigners
	}
	return i < keys-h.Readonly
}

// isWhole reports whether all that the transaction names is there.
func (t *transaction) isWhole() bool {
	there := func(place int) bool { return place >= 0 && place < len(t.keys) }
	for i := range t.calls {
		if !there(t.calls[i].Program) || slices.ContainsFunc(t.calls[i].Accounts, func(place int) bool { return !there(place) }) {
			return false
		}
	}
	return !slices.ContainsFunc(t.balances, func(b balance) bool { return !there(b.Account) })
}

func (t *transaction) isWritable(place int) bool { return t.writable[place] }

// balanceOf is what the transaction tells of a token account, before it or after it.
func (t *transaction) balanceOf(account market.Address) (b balance, ok bool) {
	i := slices.IndexFunc(t.balances, func(b balance) bool { return t.keys[b.Account] == account })
	if i < 0 {
		return b, false
	}
	return t.balances[i], true
}

// decimalsOf are a token's, by any account of it.
func (t *transaction) decimalsOf(token market.Address) (n uint8, ok bool) {
	i := slices.IndexFunc(t.balances, func(b balance) bool { return b.Mint == token.String() })
	if i < 0 {
		return 0, false
	}
	return t.balances[i].Amount.Decimals, true
}

// IsTold reports whether a node tells a transaction and what it did.
func IsTold(raw json.RawMessage) bool {
	var a answer
	return json.Unmarshal(raw, &a) == nil && a.Meta != nil
}

// Made is how much of a token there was after the transaction that made it: the sum of all balances in it. known is false where the transaction failed, or somebody had
// some of the token before it; ok is false where the balances can't be true.
func Made(raw json.RawMessage, token market.Address) (supply uint64, known, ok bool) {
	var a answer
	of := func(b balance) bool { return b.Mint == token.String() }
	if json.Unmarshal(raw, &a) != nil || a.Meta == nil || string(a.Meta.Err) != "null" || slices.ContainsFunc(a.Meta.Pre, of) {
		return 0, false, true
	}
	for _, b := range a.Meta.Post {
		if !of(b) {
			continue
		}
		n, err := strconv.ParseUint(b.Amount.Amount, 10, 64)
		if err != nil || supply+n < supply {
			return 0, false, false
		}
		supply, known = supply+n, true
	}
	return supply, known, true
}
