// Package anvil runs chains in anvil, a node of Ethereum for development: it starts and ends them, mines, reorganises, sends
// transactions and asks them by JSON-RPC.
package anvil

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

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

// Node is a running anvil. It ends with Close or Kill, with the context that it was started with, and
// on Linux with this process however that ends.
type Node struct {
	Tools   toolchain.Tools
	chainID uint64
	port    int
	http    *http.Client
	process *os.Process
	stop    context.CancelFunc
	ended   chan struct{}
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
	if err := portFree(ctx, options.Port); err != nil {
		return nil, err
	}
	log := io.WriteCloser(discard{})
	if options.LogFile != "" {
		if log, err = os.Create(options.LogFile); err != nil {
			return nil, fmt.Errorf("anvil: log file: %w", err)
		}
	}

	var states string
	if options.KeepStates == 0 {
		// Else anvil leaves gigabytes under the home directory when it is killed.
		if states, err = os.MkdirTemp("", "simnet-"); err != nil {
			return nil, fmt.Errorf("anvil: %w", err)
		}
	}
	lifetime, stop := context.WithCancel(ctx)
	command := exec.CommandContext(lifetime, tools.Anvil, anvilFlags(options, states)...)
	command.SysProcAttr = dieWithParent()
	command.Env = append(os.Environ(), anvilAllocator)
	command.WaitDelay = 5 * time.Second
	output, outputWriter := io.Pipe()
	command.Stdout, command.Stderr = outputWriter, outputWriter

	n := &Node{Tools: tools, chainID: options.ChainID, stop: stop, ended: make(chan struct{})}
	n.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	port := make(chan int, 1)
	tail := &lastLines{}
	drained := make(chan struct{})
	go func() {
		readOutput(output, log, port, tail)
		close(drained)
	}()

	started := make(chan error, 1)
	go func() {
		// The thread must outlive the child, see dieWithParent. It ends with this goroutine.
		runtime.LockOSThread()
		err := command.Start()
		n.process = command.Process
		started <- err
		if err == nil {
			_ = command.Wait() // a killed child is the ordinary end
		}
		outputWriter.Close()
		<-drained
		_ = os.RemoveAll(states) // a temporary directory: the system clears it too
		close(n.ended)
	}()
	if err := <-started; err != nil {
		stop()
		return nil, fmt.Errorf("anvil: start %s: %w", tools.Anvil, err)
	}

	timeout := startTimeout
	if options.LoadState != "" {
		timeout = stateTimeout
	}
	select {
	case n.port = <-port:
	case <-n.ended:
		err = fmt.Errorf("anvil: ended at once: %s", tail)
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(timeout):
		err = fmt.Errorf("anvil: no answer after %s: %s", timeout, tail)
	}
	if err == nil {
		// Its log of every call is a large part of anvil's own work.
		err = n.Call(ctx, nil, "anvil_setLoggingEnabled", false)
	}
	if err != nil {
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

func portFree(ctx context.Context, port int) error {
	if port == 0 {
		return nil
	}
	var c net.ListenConfig
	listener, err := c.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("anvil: port %d is not free (end the program that listens there, or choose another port): %w", port, err)
	}
	return listener.Close()
}

// readOutput looks for the line that names the port, then passes everything on to the log.
func readOutput(output io.Reader, log io.WriteCloser, port chan<- int, tail *lastLines) {
	defer log.Close()
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		tail.add(line)
		if _, address, found := strings.Cut(strings.TrimSpace(line), "Listening on "); found {
			if _, number, err := net.SplitHostPort(address); err == nil {
				chosen, _ := strconv.Atoi(number)
				port <- chosen
				break
			}
		}
		if err != nil {
			return
		}
	}
	_, _ = io.Copy(log, lines)
}

// URL is the HTTP endpoint.
func (n *Node) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", n.port) }

// WSURL is the WebSocket endpoint, for newHeads.
func (n *Node) WSURL() string { return fmt.Sprintf("ws://127.0.0.1:%d", n.port) }

// ChainID is the EIP-155 chain id.
func (n *Node) ChainID() uint64 { return n.chainID }

// Ended is closed when the node has ended, whoever ended it.
func (n *Node) Ended() <-chan struct{} { return n.ended }

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

// Kill ends the node at once, as a crash would, and waits for its end.
func (n *Node) Kill() {
	n.stop()
	<-n.ended
	n.http.CloseIdleConnections()
}

// Close lets the node end by itself, and kills it after five seconds.
func (n *Node) Close() error {
	_ = n.process.Signal(os.Interrupt) // it may have ended already
	select {
	case <-n.ended:
	case <-time.After(5 * time.Second):
	}
	n.Kill()
	return nil
}

// lastLines keeps what a node printed before it failed, for the error message.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line = strings.TrimSpace(line); line != "" {
		l.lines = append(l.lines[max(0, len(l.lines)-4):], line)
	}
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, " | ")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
