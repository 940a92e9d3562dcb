package contracts

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The events of a V4 pool name it by its id alone. What it is, its key, is told by the log of its creation and by the position manager
// that Uniswap's own interface provides liquidity through. The id is the key's hash, so that one endpoint's word is enough.

var callPoolKeys = hash.SelectorHex("poolKeys(bytes25)")

// KeysOfPools asks the declared position managers for the keys of Uniswap V4 pools. Pools that none of them knows are left out.
func (cs Contracts) KeysOfPools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error) {
	var list []*ethcall.Call
	var of []market.PoolCreated
	for _, x := range exchanges {
		if x.Protocol != market.UniswapV4 || x.PositionManager.IsNone() {
			continue
		}
		for _, pool := range pools {
			id := pool.Bytes()
			list = append(list, &ethcall.Call{To: x.PositionManager, Data: callPoolKeys + hex.EncodeToString(id[:25]) + "00000000000000"})
			of = append(of, market.PoolCreated{Protocol: market.UniswapV4, Factory: x.Factory, Pool: pool})
		}
	}
	if err := cs.calls.CallNewest(ctx, list); err != nil {
		return nil, err
	}
	for i, c := range list {
		if p, ok := decode.V4Key(of[i], c.Answer); ok {
			known = append(known, p)
		}
	}
	return known, nil
}

// CreationsOfPools looks for the logs by which Uniswap V4 pools were made, in one range of blocks that ends with a given block. The range is as wide as the
// endpoint allows; from is its first block.
func (cs Contracts) CreationsOfPools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address, to uint64) (created []market.PoolCreated, from uint64, err error) {
	var managers []market.Address
	for _, x := range exchanges {
		if x.Protocol == market.UniswapV4 {
			managers = append(managers, x.Factory)
		}
	}
	err = cs.pool.Try(ctx, func(ctx context.Context, e *node.Endpoint) error {
		var err error
		created, from, err = creationsOfPools(ctx, e, managers, pools, to)
		return err
	})
	return created, from, err
}

func creationsOfPools(ctx context.Context, e *node.Endpoint, managers, pools []market.Address, to uint64) (created []market.PoolCreated, from uint64, err error) {
	ids := make([][32]byte, len(pools))
	for i, p := range pools {
		ids[i] = [32]byte(p.Bytes())
	}
	for width := min(to+1, node.LongestRange); ; {
		from = to + 1 - width
		logs, got, err := e.Logs(ctx, &node.LogQuestion{
			Where: map[string]any{"fromBlock": rpc.HexQuantity(from), "toBlock": rpc.HexQuantity(to), "address": managers},
			Event: decode.TopicV4Initialize, Topics: ids, Single: width == 1,
		})
		var narrow *node.RangeError
		switch err = node.AsRangeError(err); {
		case errors.As(err, &narrow) && width > 1:
			if width /= 2; narrow.Fits > 0 && narrow.Fits < width {
				width = narrow.Fits
			}
			continue
		case err != nil:
			return nil, from, err
		}
		for i := range logs {
			if c, ok := decode.V4Creation(&logs[i]); ok && slices.Contains(pools, c.Pool) && slices.Contains(managers, c.Factory) {
				created = append(created, c)
			}
		}
		got.Done()
		return created, from, nil
	}
}
