package simnettest

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Node starts a chain of a test's own, at a fixed time.
func Node(t *testing.T, chainID uint64) *anvil.Node {
	t.Helper()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: chainID, Timestamp: time.Unix(1760000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	return node
}

// World starts a chain of a test's own and deploys to it.
func World(t *testing.T, chainID, seed uint64) *world.World {
	t.Helper()
	w, err := world.Deploy(t.Context(), Node(t, chainID), world.DeployOptions{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// CheckTruth compares what the receipt's Transfers moved with what the trader is said to have done.
func CheckTruth(t *testing.T, w *world.World, truth traffic.Truth, receipt anvil.Receipt) {
	t.Helper()
	if receipt.From != truth.Sender {
		t.Errorf("%s: sent by %s, truth says %s", truth.Kind, receipt.From, truth.Sender)
	}
	net := Moved(receipt, truth.Trader)
	sign := func(token string) int {
		if net[token] == nil {
			return 0
		}
		return net[token].Sign()
	}
	swap := strings.Contains(string(truth.Kind), "swap")
	for _, pool := range truth.Pools {
		if truth.Kind != traffic.Rebase && !slices.ContainsFunc(receipt.Logs, func(log anvil.Log) bool {
			return log.Address == pool || log.Address == w.UniswapV4PoolManager && len(log.Topics) > 1 && log.Topics[1] == pool
		}) {
			t.Errorf("%s: no event of pool %s: %+v", truth.Kind, pool, truth)
		}
	}
	if (swap && !truth.NativeIn || truth.Kind == traffic.Transfer) && sign(truth.TokenIn) >= 0 {
		t.Errorf("%s: trader gave no %s: %+v", truth.Kind, truth.TokenIn, truth)
	}
	if swap && !truth.NativeIn && truth.Kind != traffic.SwapV2Taxed && new(big.Int).Add(net[truth.TokenIn], truth.AmountIn).Sign() != 0 {
		t.Errorf("%s: trader gave %s, truth says %s: %+v", truth.Kind, net[truth.TokenIn], truth.AmountIn, truth)
	}
	if swap && !truth.NativeOut && sign(truth.TokenOut) <= 0 {
		t.Errorf("%s: trader got no %s: %+v", truth.Kind, truth.TokenOut, truth)
	}
}

// Moved is by how much a transaction changed what somebody has, by token.
func Moved(receipt anvil.Receipt, account string) map[string]*big.Int {
	net := make(map[string]*big.Int)
	for _, log := range receipt.Logs {
		if log.Topics[0] != transferTopic || len(log.Topics) != 3 {
			continue
		}
		if net[log.Address] == nil {
			net[log.Address] = new(big.Int)
		}
		value := new(big.Int).SetBytes(anvil.FromHex(log.Data))
		if anvil.AddressAt(anvil.FromHex(log.Topics[1]), 0) == account {
			net[log.Address].Sub(net[log.Address], value)
		}
		if anvil.AddressAt(anvil.FromHex(log.Topics[2]), 0) == account {
			net[log.Address].Add(net[log.Address], value)
		}
	}
	return net
}

// transferTopic is the topic of ERC-20's Transfer.
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

// PoolNow is what a pool has at the newest block.
func PoolNow(t *testing.T, w *world.World, pool world.Pool) world.PoolState {
	t.Helper()
	var first, second anvil.HexBytes
	if err := w.Node.Batch(t.Context(), world.StateRequests(pool, &first, &second)); err != nil {
		t.Fatal(err)
	}
	return world.ReadState(pool, first, second)
}

// CoinsOf is the native balance of an account.
func CoinsOf(t *testing.T, w *world.World, account string) *big.Int {
	t.Helper()
	var balance anvil.HexBytes
	if err := w.Node.Call(t.Context(), &balance, "eth_getBalance", account, "latest"); err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(balance)
}

// Read is the first word that a contract answers.
func Read(t *testing.T, w *world.World, to, signature string, args ...any) *big.Int {
	t.Helper()
	return anvil.WordAt(Answer(t, w, to, signature, args...), 0)
}

// Answer is all that a contract answers.
func Answer(t *testing.T, w *world.World, to, signature string, args ...any) []byte {
	t.Helper()
	var answer anvil.HexBytes
	request := []anvil.Request{anvil.View(to, &answer, signature, args...)}
	if err := w.Node.Batch(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if request[0].Err != nil {
		t.Fatal(request[0].Err)
	}
	return answer
}
