package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Nodes answer for now, not for a block. A token's decimals never change, and a name that somebody changes is the one that the index began with. Its supply
// does change: it holds for the slot that the answer names. The tokens that a block makes it describes itself, so that nobody is asked for those.

// The programs that tokens and their descriptions are of.
var (
	tokenProgram     = program(spltoken.Program)
	token2022Program = program(spltoken.Program2022)
	metadataProgram  = program("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
	accountsProgram  = program("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
)

// wrappedSOL is the token that the token program wraps SOL into. Its account's supply is 0, however much there is of it.
var wrappedSOL = program("So11111111111111111111111111111111111111112")

// program is one whose text stands in this file, where a test reads each.
func program(text string) market.Address {
	a, _ := market.ParseSolanaAddress(text)
	return a
}

// keyOf are the 32 bytes of an account's key.
func keyOf(a market.Address) []byte { return a.Bytes()[1:] }

// metadataOf is Metaplex's account of a token.
func metadataOf(token market.Address) market.Address {
	return pda.Of(metadataProgram, []byte("metadata"), keyOf(metadataProgram), keyOf(token))
}

// account is what a node tells of one, after the block of a slot.
type account struct {
	slot       uint64
	exists     bool
	owner      market.Address
	executable bool
	data       []byte
}

// accountsAtOnce is the most accounts that nodes tell at once, and accountBytes how much is read of each: anybody may make a token whose description is longer.
const (
	accountsAtOnce = 100
	accountBytes   = 16 << 10
)

// accountsOn asks an endpoint for accounts, as they are now: after the block of a slot, which is no earlier one than a given one. A node that isn't there yet refuses.
func (e *endpoint) accountsOn(ctx context.Context, keys []market.Address, noEarlier uint64) (out []account, err error) {
	for len(keys) > 0 {
		n := min(accountsAtOnce, len(keys))
		names := make([]string, n)
		for i := range names {
			names[i] = keys[i].String()
		}
		var told struct {
			Context wireContext    `json:"context"`
			Value   []*wireAccount `json:"value"`
		}
		params := []any{names, map[string]any{
			"encoding": "base64", "commitment": commitment, "minContextSlot": noEarlier, "dataSlice": map[string]any{"offset": 0, "length": accountBytes},
		}}
		if err := e.Do(ctx, &rpc.Request{Method: "getMultipleAccounts", Params: params, Take: take(&told)}); err != nil {
			return nil, err
		}
		if len(told.Value) != n {
			return nil, fmt.Errorf("%w: asked for %d accounts, got %d", rpc.ErrGarbage, n, len(told.Value))
		}
		if told.Context.Slot < noEarlier {
			return nil, fmt.Errorf("%w: asked for accounts no earlier than at slot %d, got those of slot %d", rpc.ErrGarbage, noEarlier, told.Context.Slot)
		}
		for _, w := range told.Value {
			a, err := w.account()
			if err != nil {
				return nil, err
			}
			a.slot = told.Context.Slot
			out = append(out, a)
		}
		keys = keys[n:]
	}
	return out, nil
}

// wireContext says of which slot an answer is.
type wireContext struct {
	Slot uint64 `json:"slot"`
}

type wireAccount struct {
	Data       []string `json:"data"`
	Executable bool     `json:"executable"`
	Owner      string   `json:"owner"`
}

func (w *wireAccount) account() (a account, err error) {
	if w == nil {
		return a, nil
	}
	a.exists, a.executable = true, w.Executable
	if a.owner, err = market.ParseSolanaAddress(w.Owner); err != nil || len(w.Data) != 2 || w.Data[1] != "base64" {
		return a, fmt.Errorf("%w: an account without an owner or data", rpc.ErrGarbage)
	}
	if a.data, err = base64.StdEncoding.DecodeString(w.Data[0]); err != nil {
		return a, fmt.Errorf("%w: an account's data: %.100s", rpc.ErrGarbage, err.Error())
	}
	return a, nil
}

// mint is what a token's account tells.
type mint struct {
	supply   uint64
	decimals uint8
	// mintAuthority may make more of the token, freezeAuthority freeze accounts of it; none where nobody may.
	mintAuthority, freezeAuthority market.Address
	// extensions are those of Token-2022, by their types.
	extensions map[uint16][]byte
}

// The layout of a mint: SPL Token's, which Token-2022 begins with as well.
const (
	mintLen           = 82
	mintSupplyAt      = 36
	mintDecimalsAt    = 44
	mintInitializedAt = 45
	mintFreezeAt      = 46
	// Token-2022 pads a mint to the length of a token account, and says what it is before its extensions.
	accountTypeAt     = 165
	accountTypeMint   = 1
	extensionsAt      = accountTypeAt + 1
	extensionMetadata = 19
)

// mintOf reads a token's account; ok is false for what is no token.
func mintOf(a *account) (m mint, ok bool) {
	d := a.data
	switch {
	case a.owner == tokenProgram && len(d) == mintLen:
	case a.owner == token2022Program && (len(d) == mintLen || len(d) > accountTypeAt && d[accountTypeAt] == accountTypeMint):
	default:
		return m, false
	}
	m = mint{
		supply: binary.LittleEndian.Uint64(d[mintSupplyAt:]), decimals: d[mintDecimalsAt], extensions: map[uint16][]byte{},
		mintAuthority: optionalKey(d), freezeAuthority: optionalKey(d[mintFreezeAt:]),
	}
	for rest := d[min(len(d), extensionsAt):]; len(rest) >= 4; {
		kind, n := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		if len(d) == accountBytes {
			n = min(n, len(rest)-4) // the rest of it wasn't read
		}
		if kind == 0 || n > len(rest)-4 {
			break // what is left is room for more
		}
		m.extensions[kind], rest = rest[4:4+n], rest[4+n:]
	}
	return m, d[mintInitializedAt] == 1
}

// optionalKey reads a key after a number of 32 bits that says whether it is there.
func optionalKey(b []byte) market.Address {
	if binary.LittleEndian.Uint32(b) == 0 {
		return market.Address{}
	}
	return market.SolanaAddress([32]byte(b[4:36]))
}

// described are a name and a symbol, where somebody wrote them: in the token's own extension, or in Metaplex's account of it.
func described(m *mint, metadata *account) (name, symbol string) {
	text := m.extensions[extensionMetadata]
	switch {
	case len(text) >= 2*32:
		text = text[2*32:] // who may change it, and the token
	case metadata.owner == metadataProgram && len(metadata.data) >= 1+2*32:
		text = metadata.data[1+2*32:] // its kind, who may change it, and the token
	default:
		return "", ""
	}
	name, text = nextText(text)
	symbol, _ = nextText(text)
	return name, symbol
}

// nextText reads a text after its length. Metaplex pads its texts with zeros.
func nextText(b []byte) (text string, rest []byte) {
	if len(b) < 4 {
		return "", nil
	}
	n, b := uint64(binary.LittleEndian.Uint32(b)), b[4:]
	if n > uint64(len(b)) {
		return "", nil
	}
	return chain.CleanText(strings.TrimRight(string(b[:min(n, 4*chain.MaxText)]), "\x00")), b[n:]
}

// TokenFacts asks for tokens what their accounts, and Metaplex's of them, tell now. Where there are several endpoints two have to tell the same decimals, name
// and symbol.
func (as Accounts) TokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	unsure = make([]bool, len(tokens))
	first, by, err := as.tokenFacts(ctx, at, tokens, nil)
	if err != nil || len(as.s.pool.List) == 1 {
		return first, unsure, err
	}
	second, other, err := as.tokenFacts(ctx, at, tokens, []*endpoint{by})
	if err != nil {
		for i := range unsure {
			unsure[i] = true
		}
		return first, unsure, ctx.Err()
	}
	var third []market.TokenFact
	for i := range first {
		if alike(&first[i], &second[i]) {
			continue
		}
		if third == nil {
			if third, _, err = as.tokenFacts(ctx, at, tokens, []*endpoint{by, other}); err != nil {
				third = first // nobody is left to decide
			}
		}
		switch {
		case err == nil && alike(&second[i], &third[i]):
			first[i] = second[i]
		case err != nil || !alike(&first[i], &third[i]):
			unsure[i] = true
			as.s.tell(chain.Aside{Kind: "token", Subject: first[i].Token.String(), Reason: chain.EndpointsDiffer})
		}
	}
	return first, unsure, ctx.Err()
}

// mostWaits is how often accounts are asked for where endpoints aren't at their block yet.
const mostWaits = 4

// alike compares what doesn't change between two looks.
func alike(a, b *market.TokenFact) bool {
	return a.HasDecimals == b.HasDecimals && a.Decimals == b.Decimals && a.Name == b.Name && a.Symbol == b.Symbol
}

// tokenFacts asks one endpoint, but for some.
func (as Accounts) tokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address, but []*endpoint) (facts []market.TokenFact, by *endpoint, err error) {
	keys := make([]market.Address, 0, 2*len(tokens))
	for _, t := range tokens {
		keys = append(keys, t, metadataOf(t))
	}
	list := as.s.pool.Candidates()
	for _, e := range but {
		list = without(list, e)
	}
	var told []account
	for try := 1; ; try++ {
		err = as.s.pool.TryOf(ctx, list, func(ctx context.Context, e *endpoint) (err error) {
			by = e
			told, err = e.accountsOn(ctx, keys, at.Number)
			return err
		})
		if !lacks(err) || try == mostWaits || !wait.For(ctx, as.s.pause(0, false)) {
			break // a block may have been streamed before endpoints that are asked have it
		}
	}
	if err != nil {
		return nil, by, err
	}
	for i, t := range tokens {
		f := market.TokenFact{Token: t}
		if m, ok := mintOf(&told[2*i]); ok {
			f.HasDecimals, f.Decimals = true, m.decimals
			if f.HasSupply = told[2*i].slot == at.Number && t != wrappedSOL; f.HasSupply {
				f.Supply.SetUint64(m.supply)
			}
			f.Name, f.Symbol = described(&m, &told[2*i+1])
		}
		facts = append(facts, f)
	}
	return facts, by, nil
}

func without(list []*endpoint, e *endpoint) (out []*endpoint) {
	for _, other := range list {
		if other != e {
			out = append(out, other)
		}
	}
	return out
}
