package people

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// purchase is what a member bought in a transaction.
type purchase struct {
	by              *member
	chain, tx, mint string
}

// market is a chain on which members' purchases are found.
type market interface {
	// lastPurchase gives a purchase by one of the members in the blocks since the call before; nil where it finds none, as the first time. It may miss some: of Solana it asks for
	// the newest transaction of a few members alone.
	lastPurchase(ctx context.Context, members []*member) (*purchase, error)
}

var (
	_ market = (*evmMarket)(nil)
	_ market = (*solanaMarket)(nil)
)

// evmMarket finds purchases by the transfers of tokens to members' wallets.
type evmMarket struct {
	Chain

	mints []string
	// upTo is the last block that was read; isAsked reports that there is one.
	upTo    uint64
	isAsked bool
}

func newEVMMarket(c Chain, tokens []Token) *evmMarket {
	m := &evmMarket{Chain: c}
	for _, t := range tokens {
		if t.Chain == c.ID {
			m.mints = append(m.mints, t.Mint)
		}
	}
	return m
}

// transferTopic is keccak256("Transfer(address,address,uint256)").
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

func (e *evmMarket) lastPurchase(ctx context.Context, members []*member) (*purchase, error) {
	last, err := e.Node.Latest(ctx)
	if err != nil {
		return nil, err
	}
	from, isFirst := e.upTo+1, !e.isAsked
	e.upTo, e.isAsked = last.Number, true
	if isFirst || from > last.Number || len(e.mints) == 0 {
		return nil, nil //nolint:nilnil // no purchase
	}
	owners, topics := map[string]*member{}, []string{}
	for _, m := range members {
		if address := m.addressOf("evm"); address != "" {
			topic := topicOf(address)
			owners[topic], topics = m, append(topics, topic)
		}
	}
	if len(topics) == 0 {
		return nil, nil //nolint:nilnil // no purchase
	}
	var bought []struct {
		Address, TransactionHash string
		Topics                   []string
	}
	err = e.Node.Call(ctx, &bought, "eth_getLogs", map[string]any{
		"fromBlock": fmt.Sprintf("0x%x", from), "toBlock": fmt.Sprintf("0x%x", last.Number), "address": e.mints, "topics": []any{transferTopic, nil, topics},
	})
	if err != nil || len(bought) == 0 {
		return nil, err
	}
	log := bought[len(bought)-1]
	return &purchase{owners[log.Topics[2]], e.ID, log.TransactionHash, log.Address}, nil
}

// topicOf is an account as it stands among the topics of a log.
func topicOf(account string) string {
	return "0x" + strings.Repeat("0", 24) + strings.ToLower(strings.TrimPrefix(account, "0x"))
}

// solanaMarket finds purchases by the newest transactions of members' wallets.
type solanaMarket struct {
	node *svm.Chain
	// upTo is the last slot that was read.
	upTo uint64
	// asked counts the members whose transactions were asked for.
	asked int
}

// askedAtOnce is how many members' transactions are asked for each time, in turn, since the node reads all its blocks for each of them.
const askedAtOnce = 8

// confirmed is the commitment at which the local Solana is read.
const confirmed = "confirmed"

func (s *solanaMarket) lastPurchase(ctx context.Context, members []*member) (*purchase, error) {
	last, err := s.node.Head(ctx)
	if err != nil {
		return nil, err
	}
	before := s.upTo
	s.upTo = last
	if before == 0 {
		return nil, nil //nolint:nilnil // no purchase
	}
	members = slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return m.addressOf("solana") == "" })
	var newest *purchase
	var slot uint64
	for range min(askedAtOnce, len(members)) {
		m := members[s.asked%len(members)]
		s.asked++
		tx, at, err := s.lastTransaction(ctx, m.addressOf("solana"))
		if err != nil {
			return nil, err
		}
		if at > max(before, slot) {
			newest, slot = &purchase{by: m, chain: "solana", tx: tx}, at
		}
	}
	if newest == nil {
		return nil, nil //nolint:nilnil // no purchase
	}
	newest.mint, err = s.boughtIn(ctx, newest.tx, newest.by.addressOf("solana"))
	if err != nil || newest.mint == "" {
		return nil, err
	}
	return newest, nil
}

// lastTransaction is a wallet's newest transaction, and its slot; 0 where there is none, or where it failed.
func (s *solanaMarket) lastTransaction(ctx context.Context, address string) (signature string, slot uint64, err error) {
	var list []struct {
		Signature string
		Slot      uint64
		Err       json.RawMessage
	}
	err = s.node.Call(ctx, &list, "getSignaturesForAddress", address, map[string]any{"limit": 1, "commitment": confirmed})
	if err != nil || len(list) == 0 || len(list[0].Err) > 0 && string(list[0].Err) != "null" {
		return "", 0, err
	}
	return list[0].Signature, list[0].Slot, nil
}

// boughtIn is the token of which a wallet has more after a transaction, if it is none that tokens are paid with; empty where there is none.
func (s *solanaMarket) boughtIn(ctx context.Context, signature, owner string) (mint string, err error) {
	type balance struct {
		Owner, Mint   string
		UITokenAmount struct{ Amount string } `json:"uiTokenAmount"`
	}
	var tx struct {
		Meta struct{ PreTokenBalances, PostTokenBalances []balance }
	}
	err = s.node.Call(ctx, &tx, "getTransaction", signature, map[string]any{"commitment": confirmed, "encoding": "json", "maxSupportedTransactionVersion": 1})
	if err != nil {
		return "", err
	}
	held := map[string]*big.Int{}
	add := func(list []balance, sign int64) {
		for _, b := range list {
			amount, ok := new(big.Int).SetString(b.UITokenAmount.Amount, 10)
			if b.Owner != owner || !ok {
				continue
			}
			if held[b.Mint] == nil {
				held[b.Mint] = new(big.Int)
			}
			held[b.Mint].Add(held[b.Mint], amount.Mul(amount, big.NewInt(sign)))
		}
	}
	add(tx.Meta.PreTokenBalances, -1)
	add(tx.Meta.PostTokenBalances, 1)
	for mint, more := range held {
		if more.Sign() > 0 && !isPayment(mint) {
			return mint, nil
		}
	}
	return "", nil
}

// isPayment reports whether other tokens are paid with a token.
func isPayment(mint string) bool {
	return slices.Contains([]string{solana.WSOL.String(), solana.USDC.String(), solana.USDT.String()}, mint)
}
