package evm

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The events of a V4 pool name it by its id alone. What it is, its key, is told by the log of its creation and by the position manager
// that Uniswap's own interface provides liquidity through. The id is the key's hash, so that one endpoint's word is enough.

var callPoolKeys = hash.SelectorHex("poolKeys(bytes25)")

// KeysOfPools asks the declared position managers for the keys of Uniswap V4 pools. Pools that none of them knows are left out.
func (cs Contracts) KeysOfPools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error) {
	var list []*call
	var of []market.PoolCreated
	for _, x := range exchanges {
		if x.Protocol != market.UniswapV4 || x.PositionManager.IsNone() {
			continue
		}
		for _, pool := range pools {
			id := pool.Bytes()
			list = append(list, &call{to: x.PositionManager, data: callPoolKeys + hex.EncodeToString(id[:25]) + "00000000000000"})
			of = append(of, market.PoolCreated{Protocol: market.UniswapV4, Factory: x.Factory, Pool: pool})
		}
	}
	if err := cs.s.callsAt(ctx, newest, list); err != nil {
		return nil, err
	}
	for i, c := range list {
		if p, ok := readV4Key(of[i], c.answer); ok {
			known = append(known, p)
		}
	}
	return known, nil
}

// readV4Key reads a PoolKey (PoolKey.sol): currencies, fee, tick spacing, hooks. ok is false for a key of another pool.
func readV4Key(p market.PoolCreated, answer []byte) (_ market.PoolCreated, ok bool) {
	const length = 5 * 32
	if len(answer) < length {
		return p, false
	}
	var w [5][32]byte
	for i := range w {
		w[i] = [32]byte(answer[32*i:])
	}
	fee := decode.Uint(w[2])
	p.Token0, p.Token1 = market.EVMAddress(w[0]), market.EVMAddress(w[1])
	if p.TickSpacing, ok = decode.Int24(w[3]); !ok || !fee.IsUint64() || fee.Uint64() > decode.DynamicFee {
		return p, false
	}
	p.Hooks = market.EVMParty(w[4])
	if fee.Uint64() != decode.DynamicFee {
		p.FeePips = uint32(fee.Uint64())
	}
	return p, v4PoolID(p, uint32(fee.Uint64())) == p.Pool
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
	err = cs.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		var err error
		created, from, err = e.creationsOfPools(ctx, managers, pools, to)
		return err
	})
	return created, from, err
}

func (e *endpoint) creationsOfPools(ctx context.Context, managers, pools []market.Address, to uint64) (created []market.PoolCreated, from uint64, err error) {
	ids := make([][32]byte, len(pools))
	for i, p := range pools {
		ids[i] = [32]byte(p.Bytes())
	}
	for width := min(to+1, longestRange); ; {
		from = to + 1 - width
		logs, got, err := e.logs(ctx, &logQuestion{
			where: map[string]any{"fromBlock": rpc.HexQuantity(from), "toBlock": rpc.HexQuantity(to), "address": managers},
			event: decode.TopicV4Initialize, topics: ids, single: width == 1,
		})
		var narrow *rangeError
		switch err = asRangeError(err); {
		case errors.As(err, &narrow) && width > 1:
			if width /= 2; narrow.fits > 0 && narrow.fits < width {
				width = narrow.fits
			}
			continue
		case err != nil:
			return nil, from, err
		}
		for i := range logs {
			if c, ok := asCreation(&logs[i]); ok && slices.Contains(pools, c.Pool) && slices.Contains(managers, c.Factory) {
				created = append(created, c)
			}
		}
		got.Done()
		return created, from, nil
	}
}

// asCreation reads a log by which a pool was made, as the pool's id shows.
func asCreation(l *decode.Log) (created market.PoolCreated, ok bool) {
	if l.NumTopics == 0 || l.Topics[0] != decode.TopicV4Initialize {
		return created, false
	}
	created, ok = decode.V4Initialize(l).(market.PoolCreated)
	if !ok {
		return created, false
	}
	// The id doesn't prove price and tick. Nobody needs them: the pool's present state is read.
	created.SqrtPriceX96, created.Tick = market.Amount{}, 0
	return created, v4PoolID(created, created.FeePips) == created.Pool || v4PoolID(created, decode.DynamicFee) == created.Pool
}
