package anvil

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/sha3"
)

// Tuple holds the fields of a Solidity struct, in order.
type Tuple []any

// EncodeCall encodes a call of a function given by its signature, such as
// "transfer(address,uint256)". Layout: Solidity's contract ABI specification.
// A wrong number or kind of arguments is a mistake in this package and panics.
func EncodeCall(signature string, args ...any) []byte {
	open := strings.IndexByte(signature, '(')
	return append(Keccak([]byte(signature))[:4], EncodeArgs(signature[open:], args...)...)
}

// EncodeArgs encodes values of the types of a tuple such as "(address,uint256[])".
func EncodeArgs(types string, args ...any) []byte {
	parsed, rest := parseType(types)
	if rest != "" || len(parsed.fields) != len(args) {
		panic(fmt.Sprintf("anvil: %d arguments for %s", len(args), types))
	}
	return encodeFields(parsed.fields, args)
}

type abiType struct {
	name   string // elementary type, or "" for a tuple or an array
	fields []abiType
	elem   *abiType // of an array of any length
}

func (t abiType) dynamic() bool {
	if t.elem != nil || t.name == "bytes" || t.name == "string" {
		return true
	}
	for _, field := range t.fields {
		if field.dynamic() {
			return true
		}
	}
	return false
}

// headWords is how many words a value takes in its parent's head.
func (t abiType) headWords() int {
	if t.dynamic() || t.name != "" {
		return 1
	}
	words := 0
	for _, field := range t.fields {
		words += field.headWords()
	}
	return words
}

func parseType(text string) (parsed abiType, rest string) {
	if strings.HasPrefix(text, "(") {
		text = text[1:]
		for !strings.HasPrefix(text, ")") {
			var field abiType
			field, text = parseType(strings.TrimPrefix(text, ","))
			parsed.fields = append(parsed.fields, field)
		}
		text = text[1:]
	} else {
		end := strings.IndexAny(text, ",)[")
		if end < 0 {
			end = len(text)
		}
		parsed.name, text = text[:end], text[end:]
	}
	for strings.HasPrefix(text, "[]") {
		elem := parsed
		parsed, text = abiType{elem: &elem}, text[2:]
	}
	return parsed, text
}

func encodeFields(types []abiType, values []any) []byte {
	headSize := 0
	for _, t := range types {
		headSize += 32 * t.headWords()
	}
	var head, tail []byte
	for i, t := range types {
		if t.dynamic() {
			head = append(head, Word(big.NewInt(int64(headSize+len(tail))))...)
			tail = append(tail, encodeValue(t, values[i])...)
		} else {
			head = append(head, encodeValue(t, values[i])...)
		}
	}
	return append(head, tail...)
}

func encodeValue(t abiType, value any) []byte {
	switch {
	case t.elem != nil:
		values := toSlice(value)
		types := make([]abiType, len(values))
		for i := range types {
			types[i] = *t.elem
		}
		return append(Word(big.NewInt(int64(len(values)))), encodeFields(types, values)...)
	case t.name == "":
		return encodeFields(t.fields, as[Tuple](value))
	case t.name == "bytes":
		return encodeBytes(as[[]byte](value))
	case t.name == "string":
		return encodeBytes([]byte(as[string](value)))
	case t.name == "bytes32":
		return append(make([]byte, 0, 32), as[[]byte](value)[:32]...)
	case t.name == "address":
		return Word(new(big.Int).SetBytes(FromHex(as[string](value))))
	case t.name == "bool":
		if as[bool](value) {
			return Word(big.NewInt(1))
		}
		return Word(new(big.Int))
	default:
		return Word(toInt(value))
	}
}

// as is a value as the Go type that stands for its ABI type.
func as[T any](value any) T {
	v, ok := value.(T)
	if !ok {
		panic(fmt.Sprintf("anvil: %T where the ABI type takes %T", value, v))
	}
	return v
}

func encodeBytes(value []byte) []byte {
	encoded := append(Word(big.NewInt(int64(len(value)))), value...)
	return append(encoded, make([]byte, (32-len(value)%32)%32)...)
}

func toSlice(value any) []any {
	var values []any
	switch list := value.(type) {
	case []any:
		return list
	case []string:
		for _, item := range list {
			values = append(values, item)
		}
	case [][]byte:
		for _, item := range list {
			values = append(values, item)
		}
	case []*big.Int:
		for _, item := range list {
			values = append(values, item)
		}
	case []Tuple:
		for _, item := range list {
			values = append(values, item)
		}
	default:
		panic(fmt.Sprintf("anvil: %T is no list", value))
	}
	return values
}

func toInt(value any) *big.Int {
	switch n := value.(type) {
	case *big.Int:
		return n
	case int:
		return big.NewInt(int64(n))
	case int64:
		return big.NewInt(n)
	case uint64:
		return new(big.Int).SetUint64(n)
	}
	panic(fmt.Sprintf("anvil: %T is no integer", value))
}

// Word is n in 32 bytes, two's complement.
func Word(n *big.Int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return n.FillBytes(make([]byte, 32))
}

// WordAt reads the i-th word of returned data as an unsigned integer; missing words are 0.
func WordAt(data []byte, i int) *big.Int {
	if len(data) < 32*(i+1) {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(data[32*i : 32*(i+1)])
}

// AddressAt reads the i-th word of returned data as an address; a missing word is the zero address.
func AddressAt(data []byte, i int) string {
	if len(data) < 32*(i+1) {
		return ZeroAddress
	}
	return "0x" + hex.EncodeToString(data[32*i+12:32*(i+1)])
}

// Keccak is the Keccak-256 hash of the parts, one after the other.
func Keccak(data ...[]byte) []byte {
	hash := sha3.NewLegacyKeccak256()
	for _, part := range data {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

// CreateAddress is the address of the contract that sender's transaction with this nonce creates:
// the last 20 bytes of keccak(rlp([sender, nonce])).
func CreateAddress(sender string, nonce uint64) string {
	var encodedNonce []byte
	if nonce < 0x80 {
		if encodedNonce = []byte{byte(nonce)}; nonce == 0 {
			encodedNonce = []byte{0x80}
		}
	} else {
		digits := new(big.Int).SetUint64(nonce).Bytes()
		encodedNonce = append([]byte{0x80 + byte(len(digits))}, digits...)
	}
	payload := append(append([]byte{0x94}, FromHex(sender)...), encodedNonce...)
	hash := Keccak([]byte{0xc0 + byte(len(payload))}, payload)
	return "0x" + hex.EncodeToString(hash[12:])
}

// ZeroAddress is the address of 20 zero bytes.
const ZeroAddress = "0x0000000000000000000000000000000000000000"

// ToHex writes 0x and the hexadecimal digits of data.
func ToHex(data []byte) string { return "0x" + hex.EncodeToString(data) }

// FromHex panics on text that isn't hexadecimal: it is only given addresses and answers of the node.
func FromHex(text string) []byte {
	text = strings.TrimPrefix(text, "0x")
	if len(text)%2 == 1 {
		text = "0" + text
	}
	data, err := hex.DecodeString(text)
	if err != nil {
		panic("anvil: not hexadecimal: " + text)
	}
	return data
}
