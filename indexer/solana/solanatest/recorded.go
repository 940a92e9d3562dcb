// Package solanatest gives tests Solana's recorded transactions as a node tells them in a block, and a node for tests that serves blocks made of them.
package solanatest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// Transaction is a recorded transaction of the mainnet.
type Transaction struct {
	Signature string
	Slot      uint64
	Time      int64 // unix seconds
	// Raw is what getBlock has of it in the encoding "json", whatever the recording's.
	Raw json.RawMessage
	// Truth is expected.json beside the recording.
	Truth Truth
}

// Truth is what another decoder found in a recorded transaction.
type Truth struct {
	Slot     uint64 `json:"slot"`
	Time     int64  `json:"block_time"`
	Computed struct {
		// Deltas are by how much each owner's balance of each token changed: owner, token, amount.
		Deltas   map[string]map[string]string `json:"token_delta_raw_by_owner"`
		Decimals map[string]uint8             `json:"mint_decimals"`
		Events   []map[string]any             `json:"events"`
	} `json:"computed"`
	// IDL are the events that programs told by calling themselves, decoded by the programs' own descriptions.
	IDL struct {
		Events []map[string]any `json:"events"`
	} `json:"decoded_with_idl"`
}

// Recorded are the recorded transactions, in the order of their signatures.
func Recorded(tb testing.TB) []Transaction {
	tb.Helper()
	folders, err := filepath.Glob(recorded.Path(tb, "solana", "tx", "*"))
	if err != nil || len(folders) == 0 {
		tb.Fatalf("no recorded transactions: %v", err)
	}
	var out []Transaction
	for _, dir := range folders {
		t := Transaction{Signature: filepath.Base(dir)}
		read(tb, filepath.Join(dir, "expected.json"), &t.Truth)
		t.Slot, t.Time = t.Truth.Slot, t.Truth.Time
		var answer struct {
			response
			Result *response `json:"result"`
		}
		read(tb, filepath.Join(dir, "response.json"), &answer)
		res := &answer.response
		if answer.Result != nil {
			res = answer.Result
		}
		if t.Raw, err = res.inJSON(); err != nil {
			tb.Fatalf("%s: %v", t.Signature, err)
		}
		out = append(out, t)
	}
	return out
}

func read(tb testing.TB, path string, into any) {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// response is what getTransaction answered.
type response struct {
	Transaction json.RawMessage `json:"transaction"`
	Meta        map[string]any  `json:"meta"`
	Version     any             `json:"version"`
}

// message is a transaction's message in the encoding "json".
type message struct {
	Keys         []string `json:"accountKeys"`
	Instructions []call   `json:"instructions"`
}

type call struct {
	Program  int    `json:"programIdIndex"`
	Accounts []int  `json:"accounts"`
	Data     string `json:"data"`
	Height   *int   `json:"stackHeight"`
}

type signed struct {
	Message    message  `json:"message"`
	Signatures []string `json:"signatures"`
}

var errForm = errors.New("the recording has another form")

// inJSON is the transaction as a node tells it in the encoding "json".
func (r *response) inJSON() (json.RawMessage, error) {
	var s signed
	var bytes []string
	switch {
	case json.Unmarshal(r.Transaction, &bytes) == nil:
		raw, err := base64.StdEncoding.DecodeString(bytes[0])
		if err != nil {
			return nil, err
		}
		if s, err = fromWire(raw); err != nil {
			return nil, err
		}
	default:
		var err error
		if s, err = r.fromText(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"meta": r.Meta, "transaction": s, "version": r.Version})
}

// fromText reads the encodings "json" and "jsonParsed". Of instructions that a node has parsed no bytes are left: those that move, mint or burn tokens are written again, and
// others have no data.
func (r *response) fromText() (s signed, err error) {
	var told struct {
		Message struct {
			Keys         []json.RawMessage `json:"accountKeys"`
			Instructions []parsed          `json:"instructions"`
		} `json:"message"`
		Signatures []string `json:"signatures"`
	}
	if err := json.Unmarshal(r.Transaction, &told); err != nil {
		return s, err
	}
	s.Signatures = told.Signatures
	isParsed := false
	for _, raw := range told.Message.Keys {
		var key string
		if json.Unmarshal(raw, &key) != nil {
			var account struct {
				Key string `json:"pubkey"`
			}
			if err := json.Unmarshal(raw, &account); err != nil {
				return s, err
			}
			key, isParsed = account.Key, true
		}
		s.Message.Keys = append(s.Message.Keys, key)
	}
	place := map[string]int{}
	for i, key := range s.Message.Keys {
		place[key] = i
	}
	for _, p := range told.Message.Instructions {
		c, err := p.plain(place, isParsed)
		if err != nil {
			return s, err
		}
		s.Message.Instructions = append(s.Message.Instructions, c)
	}
	if isParsed {
		delete(r.Meta, "loadedAddresses") // all keys are among the static ones
		err = r.plainCalls(place)
	}
	return s, err
}

type parsed struct {
	Program   *int            `json:"programIdIndex"`
	ProgramID string          `json:"programId"`
	Accounts  json.RawMessage `json:"accounts"`
	Data      string          `json:"data"`
	Height    *int            `json:"stackHeight"`
	// Parsed is what a node has parsed, an object or a text.
	Parsed json.RawMessage `json:"parsed"`
}

// moving writes an instruction that moves, mints or burns tokens as the token programs take it; ok is false of others.
func (p *parsed) moving(place map[string]int) (accounts []int, data string, ok bool) {
	var told struct {
		Type string
		Info struct {
			Mint, Account, MintAuthority, Authority, Source, Destination, Amount string
			TokenAmount                                                          struct {
				Amount   string
				Decimals byte
			}
		}
	}
	if json.Unmarshal(p.Parsed, &told) != nil {
		return nil, "", false
	}
	in := &told.Info
	var kind byte
	var names []string
	switch told.Type {
	case "transfer":
		kind, names = 3, []string{in.Source, in.Destination, in.Authority}
	case "transferChecked":
		kind, names = 12, []string{in.Source, in.Mint, in.Destination, in.Authority}
	case "mintTo":
		kind, names = 7, []string{in.Mint, in.Account, in.MintAuthority}
	case "mintToChecked":
		kind, names = 14, []string{in.Mint, in.Account, in.MintAuthority}
	case "burn":
		kind, names = 8, []string{in.Account, in.Mint, in.Authority}
	case "burnChecked":
		kind, names = 15, []string{in.Account, in.Mint, in.Authority}
	default:
		return nil, "", false
	}
	n, err := strconv.ParseUint(in.Amount+in.TokenAmount.Amount, 10, 64) // one of them is empty
	raw := binary.LittleEndian.AppendUint64([]byte{kind}, n)
	if in.TokenAmount.Amount != "" {
		raw = append(raw, in.TokenAmount.Decimals)
	}
	for _, name := range names {
		accounts = append(accounts, place[name])
	}
	return accounts, base58.Encode(raw), err == nil
}

func (p *parsed) plain(place map[string]int, isParsed bool) (c call, err error) {
	c = call{Data: p.Data, Height: p.Height, Accounts: []int{}}
	if !isParsed {
		if p.Program == nil {
			return c, errForm
		}
		c.Program = *p.Program
		return c, json.Unmarshal(p.Accounts, &c.Accounts)
	}
	c.Program = place[p.ProgramID]
	var keys []string
	if len(p.Accounts) > 0 {
		err = json.Unmarshal(p.Accounts, &keys)
	}
	for _, key := range keys {
		c.Accounts = append(c.Accounts, place[key])
	}
	if accounts, data, ok := p.moving(place); ok {
		c.Accounts, c.Data = accounts, data
	}
	return c, err
}

// plainCalls does the same for what instructions called.
func (r *response) plainCalls(place map[string]int) error {
	raw, err := json.Marshal(r.Meta["innerInstructions"])
	if err != nil {
		return err
	}
	var groups []struct {
		Index        int      `json:"index"`
		Instructions []parsed `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return err
	}
	out := []any{}
	for _, g := range groups {
		var calls []call
		for _, p := range g.Instructions {
			c, err := p.plain(place, true)
			if err != nil {
				return err
			}
			calls = append(calls, c)
		}
		out = append(out, map[string]any{"index": g.Index, "instructions": calls})
	}
	r.Meta["innerInstructions"] = out
	return nil
}

// wire reads a transaction's bytes.
type wire struct {
	b  []byte
	ok bool
}

func (w *wire) take(n int) []byte {
	if !w.ok || n > len(w.b) {
		w.ok = false
		return make([]byte, n)
	}
	out := w.b[:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) byte() int { return int(w.take(1)[0]) }

// short reads a length of one to three bytes, seven bits each.
func (w *wire) short() (n int) {
	for shift := 0; shift < 21; shift += 7 {
		b := w.byte()
		if n |= b & 0x7f << shift; b&0x80 == 0 {
			break
		}
	}
	return n
}

func (w *wire) key() string { return base58.Encode(w.take(32)) }

func (w *wire) places(n int) []int {
	out := []int{}
	for _, p := range w.take(n) {
		out = append(out, int(p))
	}
	return out
}

// version1 is the first byte of a transaction of version 1.
const version1 = 0x81

// fromWire reads a transaction of the legacy form, or of version 1.
func fromWire(raw []byte) (s signed, err error) {
	w := &wire{b: raw, ok: true}
	if len(raw) > 0 && raw[0] == version1 {
		s = w.version1()
	} else {
		s = w.legacy()
	}
	if !w.ok || len(w.b) > 0 {
		return s, errForm
	}
	return s, nil
}

func (w *wire) legacy() (s signed) {
	for range w.short() {
		s.Signatures = append(s.Signatures, base58.Encode(w.take(64)))
	}
	w.take(3) // the header
	for range w.short() {
		s.Message.Keys = append(s.Message.Keys, w.key())
	}
	w.take(32) // a recent block's hash
	for range w.short() {
		c := call{Program: w.byte()}
		c.Accounts = w.places(w.short())
		c.Data = base58.Encode(w.take(w.short()))
		s.Message.Instructions = append(s.Message.Instructions, c)
	}
	return s
}

// version1 has the lengths of all instructions before their contents, and its signatures last.
func (w *wire) version1() (s signed) {
	w.take(1)
	signatures := w.byte()
	w.take(2) // the rest of the header
	settings := 0
	for _, b := range w.take(4) {
		for ; b > 0; b &= b - 1 {
			settings++
		}
	}
	w.take(32) // a recent block's hash
	instructions, keys := w.byte(), w.byte()
	for range keys {
		s.Message.Keys = append(s.Message.Keys, w.key())
	}
	w.take(4 * settings)
	type head struct{ program, accounts, data int }
	var heads []head
	for range instructions {
		h := head{program: w.byte(), accounts: w.byte()}
		h.data = w.byte() | w.byte()<<8
		heads = append(heads, h)
	}
	for _, h := range heads {
		c := call{Program: h.program, Accounts: w.places(h.accounts)}
		c.Data = base58.Encode(w.take(h.data))
		s.Message.Instructions = append(s.Message.Instructions, c)
	}
	for range signatures {
		s.Signatures = append(s.Signatures, base58.Encode(w.take(64)))
	}
	return s
}

// Block is the result of getBlock for a block of transactions.
func Block(tb testing.TB, h market.Header, parentSlot uint64, txs ...json.RawMessage) json.RawMessage {
	tb.Helper()
	if txs == nil {
		txs = []json.RawMessage{}
	}
	raw, err := json.Marshal(map[string]any{
		"blockhash": base58.Encode(h.Hash[:]), "previousBlockhash": base58.Encode(h.Parent[:]), "parentSlot": parentSlot,
		"blockTime": h.Time, "blockHeight": nil, "transactions": txs,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}
