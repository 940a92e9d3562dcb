package replay

import (
	"bytes"
	"crypto/sha256"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Market is where a token is sold: a curve or a pool.
type Market struct {
	program market.Address
	// subject is the account that says which market of the program's it is: the pool, or the token of a curve, which is on one curve alone.
	subject      market.Address
	token, quote market.Address
	wrapped      market.Address // SOL's wrapped form
	forms        []form
}

// form is an instruction by which a token is sold, and which can be made again: its data has the amount and the least output behind its beginning, 64 bits each.
// Places are those of the instruction's accounts; negative ones count from the end.
type form struct {
	begin                string
	subject, owner, from int
	// to is the place of the seller's account for the quote; paysSOL says that there is none, since the market pays the seller in SOL.
	to      int
	paysSOL bool
	// tokens are the places of both tokens, each with the place of its program. Without any both are of the first token program.
	tokens [][2]int
	// hasMode says that a byte behind the least output says what the amount is: 0 and 1 say that it is what goes in.
	hasMode bool
	// accumulates says that the program has an account of each trader's that is derived from the trader.
	accumulates bool
}

// begins reports whether an instruction's data is of this form, with an amount that goes in.
func (f *form) begins(data []byte) bool {
	modeAt := len(f.begin) + 2*8
	return len(data) >= modeAt && bytes.HasPrefix(data, []byte(f.begin)) && (!f.hasMode || len(data) > modeAt && data[modeAt] <= 1)
}

// named is what the data of Anchor's instruction of a name begins with.
func named(name string) string {
	sum := sha256.Sum256([]byte("global:" + name))
	return string(sum[:8])
}

// pools are the forms of exchanges' protocols, and curves those of venues'. A test compares the places with the programs' descriptions (IDLs). Raydium
// publishes none: for its three programs others wrote them (docs/solana.md). In AMM v4's calls the seller is the last account, and the seller's two token accounts stand before.
var (
	pools = map[market.Protocol][]form{
		market.PumpSwap:      {{begin: named("sell"), subject: 0, owner: 1, from: 5, to: 6, tokens: [][2]int{{3, 11}, {4, 12}}, accumulates: true}},
		market.MeteoraDAMMv2: both(form{subject: 1, owner: 8, from: 2, to: 3, tokens: [][2]int{{6, 9}, {7, 10}}}),
		market.RaydiumCPMM:   {{begin: named("swap_base_input"), subject: 3, owner: 0, from: 4, to: 5, tokens: [][2]int{{10, 8}, {11, 9}}}},
		market.RaydiumAMMv4: {
			{begin: "\x09", subject: 1, owner: -1, from: -3, to: -2},
			{begin: "\x10", subject: 1, owner: -1, from: -3, to: -2},
		},
	}
	curves = map[chainconfig.VenueProtocol]struct {
		program string
		forms   []form
	}{
		chainconfig.PumpFun: {decode.PumpFun, []form{
			{begin: named("sell"), subject: 2, owner: 6, from: 5, paysSOL: true, accumulates: true},
			{begin: named("sell_v2"), subject: 1, owner: 13, from: 14, to: 15, tokens: [][2]int{{1, 3}, {2, 4}}, accumulates: true},
		}},
		chainconfig.RaydiumLaunchLab: {decode.LaunchLab, []form{
			{begin: named("sell_exact_in"), subject: 9, owner: 0, from: 5, to: 6, tokens: [][2]int{{9, 11}, {10, 12}}},
		}},
		chainconfig.MeteoraDBC: {decode.MeteoraDBC, both(form{subject: 7, owner: 9, from: 3, to: 4, tokens: [][2]int{{7, 10}, {8, 11}}}, "swap2_with_transfer_hook")},
	}
)

// both are Meteora's instructions with the accounts of one form: swap, swap2, which has a mode, and others like swap2.
func both(f form, others ...string) (out []form) {
	f.begin = named("swap")
	out = append(out, f)
	for _, name := range append([]string{"swap2"}, others...) {
		f.begin, f.hasMode = named(name), true
		out = append(out, f)
	}
	return out
}

// Pool is a pool as a market of its base. wrapped is SOL's wrapped form. ok is false where no sale at it can be made again.
func Pool(p *market.Pool, wrapped market.Address) (m Market, ok bool) {
	m = Market{program: p.Factory, subject: p.ID, token: p.Base, quote: p.Quote, wrapped: wrapped, forms: pools[p.Protocol]}
	return m, len(m.forms) > 0
}

// Curve is the curve of a launched token, of a venue's protocol, as a market.
func Curve(l *market.Launch, of chainconfig.VenueProtocol, wrapped market.Address) (m Market, ok bool) {
	c := curves[of]
	program, err := market.ParseSolanaAddress(c.program)
	m = Market{program: program, subject: l.Mint, token: l.Mint, quote: l.Quote, wrapped: wrapped, forms: c.forms}
	return m, err == nil && len(m.forms) > 0
}
