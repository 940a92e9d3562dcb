// Package svm runs a local Solana: Solana's own runtime and token programs (litesvm, from npm), with blocks, over the JSON-RPC that Solana's nodes have. It makes
// blocks when it is told to, leaves slots out, and takes blocks back.
package svm

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/process"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

//go:embed npm/package.json npm/package-lock.json npm/.npmrc
var bundled embed.FS

//go:embed node/*.cjs node/raydium.json
var scripts embed.FS

// Packages is a folder in whose node_modules stand Solana's runtime, its client, and the descriptions that programs' makers publish. The first call installs
// them from npm's registry.
func Packages(ctx context.Context) (string, error) {
	files, err := fs.Sub(bundled, "npm")
	if err != nil {
		return "", err
	}
	return npmcache.Install(ctx, "solana", files)
}

// Script is a command that runs a script of Node.js, which finds Packages.
func Script(ctx context.Context, path string, args ...string) (*exec.Cmd, error) {
	packages, err := Packages(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{path}, args...)...)
	cmd.Env = append(cmd.Environ(), "NODE_PATH="+filepath.Join(packages, "node_modules"))
	return cmd, nil
}

// Options say how a chain begins. The zero value is one that begins now at slot 1, on a free port.
type Options struct {
	Port int
	// Genesis is a text that the genesis hash is made of.
	Genesis string
	Slot    uint64
	Time    time.Time
	// KeepBlocks bounds how many blocks are kept; 0 keeps all.
	KeepBlocks int
	// LogFile receives what the node prints; empty discards it.
	LogFile string
}

// Chain is a local Solana that runs.
type Chain struct{ *process.Node }

const startTimeout = time.Minute

// ErrNoRuntime says that Solana's runtime isn't there for this machine.
var ErrNoRuntime = errors.New("svm: npm's package of Solana's runtime is not for this machine")

// runtimePackage is the one that package.json names.
const runtimePackage = "litesvm-linux-x64-gnu"

// Start starts a chain with one block, which is empty.
func Start(ctx context.Context, o Options) (*Chain, error) {
	packages, err := Packages(ctx)
	if err != nil {
		return nil, fmt.Errorf("svm: %w", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("svm: node is not on PATH: install Node.js 20 or newer")
	}
	if _, err := os.Stat(filepath.Join(packages, "node_modules", runtimePackage)); err != nil {
		return nil, fmt.Errorf("%w: there is %s alone", ErrNoRuntime, runtimePackage)
	}
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	if o.Slot == 0 {
		o.Slot = 1
	}
	dir, err := os.MkdirTemp("", "simnet-solana-")
	if err != nil {
		return nil, fmt.Errorf("svm: %w", err)
	}
	remove := func() { _ = os.RemoveAll(dir) } // a temporary folder: the system clears it too
	if err := os.CopyFS(dir, scripts); err != nil {
		remove()
		return nil, fmt.Errorf("svm: %w", err)
	}
	options, err := json.Marshal(map[string]any{"port": o.Port, "genesis": o.Genesis, "slot": o.Slot, "time": o.Time.Unix(), "keep": o.KeepBlocks})
	if err != nil {
		remove()
		return nil, fmt.Errorf("svm: %w", err)
	}
	started, err := process.Start(ctx, process.Options{
		Name: "local Solana", Path: node, Args: []string{filepath.Join(dir, "node", "main.cjs"), string(options)},
		Env: []string{"NODE_PATH=" + filepath.Join(packages, "node_modules")}, Port: o.Port, LogFile: o.LogFile, Timeout: startTimeout, AfterEnd: remove,
	})
	if err != nil {
		remove()
		return nil, err
	}
	return &Chain{started}, nil
}

// Block says which block to make. A zero slot is the next one, and a zero time that of the head.
type Block struct {
	Slot         uint64
	Time         time.Time
	Transactions [][]byte
}

// Mined is a block that was made.
type Mined struct {
	Slot      uint64 `json:"slot"`
	BlockHash string `json:"blockhash"`
	// Results are what became of the transactions, in their order.
	Results []Result `json:"results"`
}

// Result is what became of a transaction. One that was refused is in no block.
type Result struct {
	Signature string          `json:"signature"`
	Err       json.RawMessage `json:"err"`
	Logs      []string        `json:"logs"` // of one that failed
	Refused   string          `json:"refused"`
}

// Failed says why a transaction did nothing; it is nil where it did what it says.
func (r *Result) Failed() error {
	switch {
	case r.Refused != "":
		return fmt.Errorf("svm: refused: %s", r.Refused)
	case len(r.Err) > 0 && string(r.Err) != "null":
		return fmt.Errorf("svm: %s failed: %s: %q", r.Signature, r.Err, r.Logs[max(0, len(r.Logs)-3):])
	default:
		return nil
	}
}

// Mine makes a block of the transactions that were sent to the node and of these. Slots between the head's and its own have no block.
func (c *Chain) Mine(ctx context.Context, b Block) (Mined, error) {
	how := map[string]any{}
	if b.Slot > 0 {
		how["slot"] = b.Slot
	}
	if !b.Time.IsZero() {
		how["time"] = b.Time.Unix()
	}
	list := make([]string, len(b.Transactions))
	for i, raw := range b.Transactions {
		list[i] = base64.StdEncoding.EncodeToString(raw)
	}
	how["transactions"] = list
	var out Mined
	err := c.Call(ctx, &out, "simnet_mine", how)
	return out, err
}

// Revert takes back every block after a slot, as if they had never been.
func (c *Chain) Revert(ctx context.Context, slot uint64) error {
	return c.Call(ctx, nil, "simnet_revert", slot)
}

// AddProgram puts a program at an address.
func (c *Chain) AddProgram(ctx context.Context, address Key, elf []byte) error {
	return c.Call(ctx, nil, "simnet_addProgram", address, elf)
}

// SetAccount sets an account, past the runtime's rules, at once; a fork that takes the next block back takes it back, too.
func (c *Chain) SetAccount(ctx context.Context, address Key, lamports uint64, owner Key, data []byte) error {
	return c.Call(ctx, nil, "simnet_setAccount", address, map[string]any{"lamports": lamports, "owner": owner, "data": data})
}

// Head is the newest block's slot.
func (c *Chain) Head(ctx context.Context) (slot uint64, err error) {
	err = c.Call(ctx, &slot, "getSlot", map[string]string{"commitment": "confirmed"})
	return slot, err
}

// TimeOf is the time of a slot's block.
func (c *Chain) TimeOf(ctx context.Context, slot uint64) (time.Time, error) {
	var seconds int64
	err := c.Call(ctx, &seconds, "getBlockTime", slot)
	return time.Unix(seconds, 0), err
}

// BlockHash is what a transaction names to be taken by the next blocks.
func (c *Chain) BlockHash(ctx context.Context) (Key, error) {
	var out struct{ Value struct{ Blockhash Key } }
	err := c.Call(ctx, &out, "getLatestBlockhash", map[string]string{"commitment": "confirmed"})
	return out.Value.Blockhash, err
}

// Geyser is the address of the stand-in for Yellowstone gRPC, which streams the chain's blocks from then on. Whoever reads it has to send the token as "x-token";
// an empty one is none.
func (c *Chain) Geyser(ctx context.Context, token string) (address string, err error) {
	var port int
	if err := c.Call(ctx, &port, "simnet_geyser", map[string]string{"token": token}); err != nil {
		return "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port), nil
}
