package chainconfig

import "github.com/boardwalkhq/boardwalk/internal/market"

// Venue is a launch venue on the chain: what its indexer needs of it.
type Venue struct {
	ID       string        `json:"id"`
	Protocol VenueProtocol `json:"protocol"`
	// Contracts are the venue's contracts on an EVM chain, its program accounts on Solana, each once and in order.
	Contracts []market.Address `json:"contracts,omitempty"`
}

// VenueProtocol is how a venue's contracts speak.
type VenueProtocol string

// The venue protocols. BoardwalkCurve is the platform's own family on EVM chains.
const (
	BoardwalkCurve   VenueProtocol = "BoardwalkCurve"
	FourMemeV1       VenueProtocol = "FourMemeV1"
	FourMemeV2       VenueProtocol = "FourMemeV2"
	Flap             VenueProtocol = "Flap"
	PonsV2           VenueProtocol = "PonsV2"
	NadFun           VenueProtocol = "NadFun"
	ClankerV3        VenueProtocol = "ClankerV3"
	ClankerV4        VenueProtocol = "ClankerV4"
	PumpFun          VenueProtocol = "PumpFun"
	MeteoraDBC       VenueProtocol = "MeteoraDBC"
	RaydiumLaunchLab VenueProtocol = "RaydiumLaunchLab"
)

// VenueProtocols are all of them.
var VenueProtocols = []VenueProtocol{
	BoardwalkCurve, FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun, ClankerV3, ClankerV4, PumpFun, MeteoraDBC, RaydiumLaunchLab,
}

// Family is the kind of chain that the protocol is of.
func (p VenueProtocol) Family() Family {
	if p == PumpFun || p == MeteoraDBC || p == RaydiumLaunchLab {
		return Solana
	}
	return EVM
}

// HasCurve says whether tokens start on a bonding curve. The others are live pools from their first block.
func (p VenueProtocol) HasCurve() bool { return p != ClankerV3 && p != ClankerV4 }

// Holder is the account that holds what all curves of a program of Solana have; none where each curve holds its own.
func (p VenueProtocol) Holder() market.Address { return curveHolders[p] }

var curveHolders = map[VenueProtocol]market.Address{MeteoraDBC: market.MeteoraDBCHolder, RaydiumLaunchLab: market.LaunchLabHolder}
