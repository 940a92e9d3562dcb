// Package anvil runs chains in anvil, a node of Ethereum for development: it starts and ends them, mines, reorganises, sends
// transactions and asks them by JSON-RPC.
package anvil

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/process"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
)

// NodeOptions say how a chain runs. The zero value is chain 31337 on a free port, mining on demand.
type NodeOptions struct {
	ChainID uint64
	// BlockTime makes the node mine by itself; 0 mines only when told to.
	BlockTime time.Duration
	// Timestamp is the genesis block's time; the zero time is now.
	Timestamp time.Time
	// Port 0 takes a free one.
	Port int
	// LogFile receives what the node prints; empty discards it.
	LogFile string
	// LoadState is a file that DumpState wrote.
	LoadState string
	// KeepStates bounds for how many blocks back eth_call works. 0 is some 4,000 blocks, of which all
	// but the newest 500 lie on disk (2 MB each, in a temporary directory); another number is kept in
	// memory (nearly 1 MB each), which is faster.
	KeepStates int
	// KeepBlocks bounds for how many blocks back transactions, receipts and logs are kept; 0 keeps all.
	KeepBlocks int
}

// Node is a running anvil.
type Node struct {
	*process.Node

	Tools   toolchain.Tools
	chainID uint64
}

// A node has unlocked accounts with as much ether each.
const (
	AccountCount = 40
	AccountEther = 1_000_000
)

// startTimeout is far beyond the usual quarter of a second, for machines that are busy.
const startTimeout = time.Minute

// stateTimeout is for loading a dumped state of some hundred thousand logs.
const stateTimeout = 5 * time.Minute

// StartNode starts a chain and waits until it answers.
func StartNode(ctx context.Context, options NodeOptions) (*Node, error) {
	tools, err := toolchain.Install(ctx)
	if err != nil {
		return nil, err
	}
	if options.ChainID == 0 {
		options.ChainID = 31337
	}
	if options.Timestamp.IsZero() {
		options.Timestamp = time.Now()
	}
	var states string
	if options.KeepStates == 0 {
		// Else anvil leaves gigabytes under the home directory when it is killed.
		if states, err = os.MkdirTemp("", "simnet-"); err != nil {
			return nil, fmt.Errorf("anvil: %w", err)
		}
	}
	timeout := startTimeout
	if options.LoadState != "" {
		timeout = stateTimeout
	}
	started, err := process.Start(ctx, process.Options{
		Name: "anvil", Path: tools.Anvil, Args: anvilFlags(options, states), Env: []string{anvilAllocator}, Port: options.Port, LogFile: options.LogFile, Timeout: timeout,
		AfterEnd: func() { _ = os.RemoveAll(states) }, // a temporary directory: the system clears it too
	})
	if err != nil {
		_ = os.RemoveAll(states)
		return nil, err
	}
	n := &Node{Node: started, Tools: tools, chainID: options.ChainID}
	// Its log of every call is a large part of anvil's own work.
	if err := n.Call(ctx, nil, "anvil_setLoggingEnabled", false); err != nil {
		n.Kill()
		return nil, err
	}
	return n, nil
}

// anvilAllocator makes anvil's allocator (jemalloc) give memory back half a second after it was freed. As it comes,
// what states, receipts and answers needed once stays with the process.
const anvilAllocator = "_RJEM_MALLOC_CONF=background_thread:true,dirty_decay_ms:500,narenas:2"

// anvilFlags make the chain a pure function of the transactions: no fees, first come first served,
// a fixed hard fork. Cancun has the transient storage that Uniswap V4 needs and no limit on a
// transaction's gas.
func anvilFlags(o NodeOptions, states string) []string {
	flags := []string{
		"--host", "127.0.0.1", "--port", strconv.Itoa(o.Port),
		"--chain-id", strconv.FormatUint(o.ChainID, 10),
		"--timestamp", strconv.FormatInt(o.Timestamp.Unix(), 10),
		"--accounts", strconv.Itoa(AccountCount), "--balance", strconv.Itoa(AccountEther),
		"--hardfork", "cancun", "--order", "fifo", "--gas-limit", "2000000000",
		"--block-base-fee-per-gas", "0", "--gas-price", "0", "--disable-min-priority-fee",
		"--no-request-size-limit",
	}
	if o.BlockTime > 0 {
		flags = append(flags, "--block-time", strconv.FormatFloat(o.BlockTime.Seconds(), 'f', -1, 64))
	} else {
		flags = append(flags, "--no-mining")
	}
	if o.KeepStates > 0 {
		flags = append(flags, "--prune-history", strconv.Itoa(o.KeepStates))
	} else {
		flags = append(flags, "--cache-path", states)
	}
	if o.KeepBlocks > 0 {
		flags = append(flags, "--transaction-block-keeper", strconv.Itoa(o.KeepBlocks))
	}
	if o.LoadState != "" {
		flags = append(flags, "--load-state", o.LoadState)
	}
	return flags
}

// WSURL is the WebSocket endpoint, for newHeads.
func (n *Node) WSURL() string { return fmt.Sprintf("ws://127.0.0.1:%d", n.Port()) }

// ChainID is the EIP-155 chain id.
func (n *Node) ChainID() uint64 { return n.chainID }

// Mine mines count blocks, interval apart in chain time (whole seconds).
func (n *Node) Mine(ctx context.Context, count int, interval time.Duration) error {
	return n.Call(ctx, nil, "anvil_mine", HexOf(uint64(count)), HexOf(uint64(interval/time.Second)))
}

// MineAt mines one block with this time, which must be later than the newest block's.
func (n *Node) MineAt(ctx context.Context, timestamp time.Time) error {
	return n.Call(ctx, nil, "evm_mine", HexOf(uint64(timestamp.Unix())))
}

// Reorg replaces the newest depth blocks by as many others, which are empty.
func (n *Node) Reorg(ctx context.Context, depth int) error {
	return n.Call(ctx, nil, "anvil_reorg", depth, []any{})
}

// Rollback removes the newest count blocks, so that the head goes back.
func (n *Node) Rollback(ctx context.Context, count int) error {
	return n.Call(ctx, nil, "anvil_rollback", count)
}

// Snapshot marks the present state for Revert.
func (n *Node) Snapshot(ctx context.Context) (id string, err error) {
	err = n.Call(ctx, &id, "evm_snapshot")
	return id, err
}

// Revert goes back to a snapshot, once, and drops the blocks after it.
func (n *Node) Revert(ctx context.Context, id string) error {
	var reverted bool
	if err := n.Call(ctx, &reverted, "evm_revert", id); err != nil {
		return err
	}
	if !reverted {
		return fmt.Errorf("anvil: there is no snapshot %s", id)
	}
	return nil
}
