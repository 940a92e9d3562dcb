package decode

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TopicFeePaid is the topic of the log by which a router of the platform says whose fee reached a recipient.
var TopicFeePaid = topic("FeePaid(address,address,address,uint256)")

// platformFee binds the log to the declared routers: of any other contract it is a stranger's word.
func (d *Decoder) platformFee(c *chainconfig.Chain) error {
	if c.PlatformFee == nil {
		return nil
	}
	for _, r := range c.PlatformFee.Routers {
		router, err := contract(r)
		if err != nil {
			return fmt.Errorf("chain %s: platform_fee.routers: %w", c.ID, err)
		}
		d.at[source{router, TopicFeePaid}] = decodeFeePaid
	}
	return nil
}

// decodeFeePaid reads payer, recipient, asset and amount, of which none, the first, the first two or the first three are indexed.
func decodeFeePaid(l *Log) market.Event {
	const fields = 4
	var w [fields][32]byte
	if l.NumTopics < 1 || len(l.Data) != 32*(fields+1-l.NumTopics) {
		return nil
	}
	indexed := copy(w[:], l.Topics[1:l.NumTopics])
	for i := indexed; i < fields; i++ {
		w[i], _ = l.word(i - indexed)
	}
	return market.FeePaid{
		Router: Address(l.Address), Payer: market.EVMParty(w[0]), Recipient: market.EVMParty(w[1]), Asset: market.EVMAddress(w[2]), Amount: Uint(w[3]),
	}
}
