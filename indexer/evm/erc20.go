package evm

import "github.com/boardwalkhq/boardwalk/internal/market"

var (
	topicTransfer   = topic("Transfer(address,address,uint256)")
	topicDeposit    = topic("Deposit(address,uint256)")
	topicWithdrawal = topic("Withdrawal(address,uint256)")
)

// decodeTransfer reads an ERC-20 Transfer. ERC-721 shares its signature and has the token id as a fourth topic.
func decodeTransfer(l *Log) market.Event {
	w, ok := l.word(0)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return market.Transfer{
		Token: addressOf(l.Address), From: market.EVMAddress(l.Topics[1]), To: market.EVMAddress(l.Topics[2]),
		Amount: uintOf(w),
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
		Token: addressOf(l.Address), Account: market.EVMAddress(l.Topics[1]), Amount: uintOf(w), Unwrap: unwrap,
	}
}
