package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// Clanker's factories: a token is a live pool from its first block, on Uniswap V3 (3.1) or V4 (4). There is no curve.
var (
	topicClankerV3Created = topic(
		"TokenCreated(address,address,address,address,address,uint256,string,string,int24,string,uint256,uint256,uint8,address)")
	topicClankerV4Created = topic("TokenCreated(address,address,address,string,string,string,string,string,int24,address,bytes32," +
		"address,address,address,uint256,address[])")
)

func (d *Decoder) clankerV3(v venue) { d.launch(v, topicClankerV3Created, 4, decodeClankerV3Created) }

func (d *Decoder) clankerV4(v venue) { d.launch(v, topicClankerV4Created, 3, decodeClankerV4Created) }

// decodeClankerV3Created reads (creatorRewardRecipient, interfaceRewardRecipient, positionId, name, symbol, startingTick,
// metadata, …); token, creatorAdmin and interfaceAdmin are topics. The log names the position and not the pool.
func decodeClankerV3Created(r *launchLog, venue string) market.Event {
	return market.Launched{
		Venue: venue, Token: r.named(r.topic(1)), Creator: r.topic(2), Name: r.name(3), Symbol: r.name(4), Metadata: r.reference(6),
	}
}

// decodeClankerV4Created reads (msgSender, image, name, symbol, metadata, context, startingTick, poolHook, poolId, …); token and
// tokenAdmin are topics. msgSender is often a service that launches for others, so the admin counts as the creator.
func decodeClankerV4Created(r *launchLog, venue string) market.Event {
	id := r.word(8)
	if id == [32]byte{} {
		return nil
	}
	return market.Launched{
		Venue: venue, Token: r.named(r.topic(1)), Creator: r.topic(2),
		Image: r.reference(1), Name: r.name(2), Symbol: r.name(3), Metadata: r.reference(4), Pool: market.PoolID(id), Hooks: r.party(7),
	}
}
