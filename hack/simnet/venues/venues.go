// Package venues says what launch venues there are, and what their curves do with a trade, to the unit.
package venues

import "math/big"

// Protocol is how a launch venue's contracts speak, spelled as in a LaunchVenue's spec.protocol.
type Protocol string

// The protocols that a world can have contracts of. All but BoardwalkCurve are stand-ins: they log the
// launchpad's events over curves and pools of their own, see contracts/.
const (
	BoardwalkCurve Protocol = "BoardwalkCurve"
	FourMemeV1     Protocol = "FourMemeV1"
	FourMemeV2     Protocol = "FourMemeV2"
	Flap           Protocol = "Flap"
	PonsV2         Protocol = "PonsV2"
	NadFun         Protocol = "NadFun"
	ClankerV3      Protocol = "ClankerV3"
	ClankerV4      Protocol = "ClankerV4"
)

// All are all protocols.
var All = []Protocol{BoardwalkCurve, FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun, ClankerV3, ClankerV4}

// Usual are those of a chain in `make run`: between BNB Chain and any other, each protocol is on
// one, and the own family and Clanker are on both.
func Usual(chainID uint64) []Protocol {
	if chainID == 56 {
		return []Protocol{BoardwalkCurve, FourMemeV2, Flap, ClankerV4, FourMemeV1}
	}
	return []Protocol{BoardwalkCurve, ClankerV4, PonsV2, NadFun, ClankerV3}
}

// Kind is what the venues of a protocol have in common.
type Kind struct {
	// ID is the spec.id of the LaunchVenue, Contract the name of the contract in contracts/.
	ID       string
	Contract string
	// RaiseUSD is about what a full curve has raised; on live pools what all tokens are worth at first.
	RaiseUSD float64
	// VirtualBase and SaleBase are in whole tokens.
	VirtualBase, SaleBase float64
	// waits says that a full curve stays until somebody graduates it.
	waits bool
}

// A curve that sells s of 10^9 tokens ends at its pool's price when virtualBase is s²/(2s-10^9).
const (
	pumpVirtualBase, pumpSaleBase = 1_073_000_000, 793_100_000
	fourVirtualBase, fourSaleBase = 1_066_666_667, 800_000_000
)

// Kinds are what the protocols' venues are like.
var Kinds = map[Protocol]Kind{
	BoardwalkCurve: {"boardwalk-curve", "BoardwalkCurve", 45_000, pumpVirtualBase, pumpSaleBase, true},
	FourMemeV1:     {"four-meme-v1", "FourMemeV1StandIn", 38_000, fourVirtualBase, fourSaleBase, true},
	FourMemeV2:     {"four-meme", "FourMemeV2StandIn", 48_000, fourVirtualBase, fourSaleBase, true},
	Flap:           {"flap", "FlapStandIn", 42_000, fourVirtualBase, fourSaleBase, false},
	PonsV2:         {"pons", "PonsV2StandIn", 36_000, fourVirtualBase, fourSaleBase, false},
	NadFun:         {"nad-fun", "NadFunStandIn", 45_000, pumpVirtualBase, pumpSaleBase, true},
	ClankerV3:      {ID: "clanker-v3", Contract: "ClankerV3StandIn", RaiseUSD: 30_000},
	ClankerV4:      {ID: "clanker", Contract: "ClankerV4StandIn", RaiseUSD: 35_000},
}

// Venue is a launch venue's contracts on the world's chain.
type Venue struct {
	// ID is the spec.id of its LaunchVenue.
	ID       string
	Protocol Protocol
	// Contracts are those that its LaunchVenue declares.
	Contracts []string

	// Shape is what its curves are at first; empty for live pools.
	Shape Shape
	// Hook is the Uniswap V4 hook of its pools; empty if they have none.
	Hook string
}

// HasCurve tells whether its tokens start on a bonding curve; the others are live pools from the first block.
func (v Venue) HasCurve() bool { return Kinds[v.Protocol].SaleBase > 0 }

// Waits tells whether a full curve stays until somebody graduates it. Elsewhere the buy that fills it does.
func (v Venue) Waits() bool { return Kinds[v.Protocol].waits }

// Target is what a full curve has raised, net of fees; nil for live pools.
func (v Venue) Target() *big.Int {
	if !v.HasCurve() {
		return nil
	}
	return v.Shape.Target()
}

// Adopts tells whether the venue takes tokens that exist already. Pons would, but its curve has to be told to the token
// after that.
func (v Venue) Adopts() bool {
	return v.Protocol == FourMemeV2 || v.Protocol == Flap || v.Protocol == NadFun
}
