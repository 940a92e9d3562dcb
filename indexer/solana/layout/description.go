package layout

import (
	"bytes"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
)

// Description is what is written of a token.
type Description struct {
	Name, Symbol string
	// URI is where the token's metadata is, as its maker wrote it: anything of at most chain.MaxReference bytes.
	URI string
}

// Both layouts begin with keys: Token-2022's extension with who may change it and the token, Metaplex's account with a byte that says what it is, and the same two.
const keysLen = 2 * 32

// DescriptionOf is what stands in a token's own extension, else in Metaplex's account of it.
func DescriptionOf(m *Mint, metadata *Account) (d Description) {
	own := m.Extensions[TokenMetadata]
	r := borsh.NewReader(own)
	switch {
	case len(own) >= keysLen:
	case metadata.Owner == MetadataProgram:
		r = borsh.NewReader(metadata.Data)
		r.Skip(1)
	default:
		return d
	}
	r.Skip(keysLen)
	d.Name, d.Symbol = chain.CleanText(string(nextText(&r))), chain.CleanText(string(nextText(&r)))
	d.URI = chain.CleanReference(nextText(&r))
	return d
}

// nextText reads a text without the zeros that Metaplex pads it with.
func nextText(r *borsh.Reader) []byte { return bytes.TrimRight(r.Bytes(), "\x00") }

// IsMutable reads whether Metaplex's account of a token may be changed: it stands after the texts, a fee of 16 bits, the makers and whether it was sold.
func IsMutable(a *Account) (mutable, told bool) {
	if a.Owner != MetadataProgram {
		return false, false
	}
	const makerLen = 32 + 1 + 1
	r := borsh.NewReader(a.Data)
	r.Skip(1 + keysLen)
	for range 3 { // name, symbol and URI
		r.Bytes()
	}
	r.Skip(2)
	if r.Byte() == 1 {
		r.SkipList(makerLen)
	}
	r.Skip(1)
	mutable = r.Byte() == 1
	return mutable, !r.Bad
}
