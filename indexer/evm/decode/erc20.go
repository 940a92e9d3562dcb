package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// The topics of transfers, and of coins that are wrapped and unwrapped.
var (
	TopicTransfer   = topic("Transfer(address,address,uint256)")
	TopicDeposit    = topic("Deposit(address,uint256)")
	TopicWithdrawal = topic("Withdrawal(address,uint256)")
)

// decodeTransfer reads an ERC-20 Transfer. ERC-721 shares its signature and has the token id as a fourth topic.
func decodeTransfer(l *Log) market.Event {
	w, ok := l.word(0)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return market.Transfer{
		Token: Address(l.Address), From: market.EVMParty(l.Topics[1]), To: market.EVMParty(l.Topics[2]),
		Amount: Uint(w),
	}
}

func decodeDeposit(l *Log) market.Event { return decodeWrap(l, false) }

func decodeWithdrawal(l *Log) market.Event { return decodeWrap(l, true) }

func decodeWrap(l *Log, unwrap bool) market.Event {
	w, ok := l.word(0)
	if l.NumTopics != 2 || !ok {
		return nil
	}
	return market.Wrap{
		Token: Address(l.Address), Account: market.EVMParty(l.Topics[1]), Amount: Uint(w), Unwrap: unwrap,
	}
}
