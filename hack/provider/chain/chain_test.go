package chain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// TestShapesAreThoseOfTheRecordedBlocks counts the recording's transactions anew.
func TestShapesAreThoseOfTheRecordedBlocks(t *testing.T) {
	t.Parallel()
	const blocks = "evm-blocks/ethereum-17173049-17173050"
	var logs []struct {
		TransactionHash string `json:"transaction_hash"`
		Address, Data   string
		Topics          []string
		Block           int `json:"block_number"`
		Index           int `json:"log_index"`
	}
	var txs []struct{ Hash string }
	readRows(t, recorded.Path(t, blocks, "expected_logs.json"), &logs)
	readRows(t, recorded.Path(t, blocks, "expected_transactions.json"), &txs)
	letters := map[string]string{
		topicTransfer.String() + "3": "T", topicTransfer.String() + "4": "N", topicApproval.String() + "3": "A", topicApproval.String() + "4": "B",
		topicDeposit.String() + "2": "D", topicWithdrawal.String() + "2": "W", topicSync.String() + "1": "Y", topicSwapV2.String() + "3": "S",
		topicSwapV3.String() + "3": "3",
	}
	byTx, pools, tokens := map[string][]string{}, map[string]float64{}, map[string]float64{}
	for _, l := range logs {
		letter := "o" + strconv.Itoa(len(l.Topics)) + "." + strconv.Itoa(len(l.Data)/2-1)
		if len(l.Topics) > 0 {
			if known := letters[l.Topics[0]+strconv.Itoa(len(l.Topics))]; known != "" {
				letter = known
			}
		}
		switch letter {
		case "S", "3":
			pools[l.Address]++
		case "T":
			tokens[l.Address]++
		}
		byTx[l.TransactionHash] = append(byTx[l.TransactionHash], letter)
	}
	counted := map[string]float64{}
	for _, tx := range txs {
		counted[strings.Join(byTx[tx.Hash], " ")]++
	}
	s, err := readShapes(shapesText)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]float64{}
	for i, one := range s.all {
		listed[strings.Join(one, " ")] = s.counts[i]
	}
	if !maps.Equal(counted, listed) {
		t.Errorf("the recording has %v, shapes.txt %v", counted, listed)
	}
	for of, both := range map[string][2][]float64{
		"pools": {s.pools, slices.Sorted(maps.Values(pools))}, "tokens": {s.tokens, slices.Sorted(maps.Values(tokens))},
	} {
		if slices.Reverse(both[1]); !slices.Equal(both[0], both[1]) {
			t.Errorf("%s: %v, the recording has %v", of, both[0], both[1])
		}
	}
}

// readRows reads a file of one JSON document per line.
func readRows[T any](t *testing.T, path string, into *[]T) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		*into = append(*into, row)
	}
}

func TestShapesAreDrawnToAnAverage(t *testing.T) {
	t.Parallel()
	s, err := readShapes(shapesText)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{0.5, 681.0 / 298, 4, 7.5} {
		wheel, err := s.wheel(want)
		if err != nil {
			t.Fatal(err)
		}
		rng, sum := rand.New(rand.NewPCG(1, 1)), 0
		const draws = 20_000
		for range draws {
			sum += len(s.all[wheel.draw(rng)])
		}
		if got := float64(sum) / draws; math.Abs(got-want) > 0.03*want+0.05 {
			t.Errorf("%.3f logs in a transaction, wanted %.3f", got, want)
		}
	}
	if _, err := s.wheel(13); err == nil {
		t.Error("13 logs in a transaction on average are taken")
	}
}

// startChain begins a chain with volume on a node of the test's own.
func startChain(tb testing.TB, o Options) *Chain {
	tb.Helper()
	genesis := time.Unix(1_780_000_000, 0)
	node, err := anvil.StartNode(tb.Context(), anvil.NodeOptions{ChainID: 8453, Timestamp: genesis, KeepStates: 200})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { node.Close() })
	o.World, err = world.Deploy(tb.Context(), node, world.DeployOptions{Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	o.Trader, o.Seed = traffic.NewTrader(o.World, 1), 1
	c, err := New(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// grow makes blocks two seconds apart, each with what anvil mined in it.
func grow(t *testing.T, c *Chain, n int) {
	t.Helper()
	for range n {
		at := time.Unix(int64(c.Head().Time), 0).Add(2 * time.Second)
		if err := c.Advance(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Extend(at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChainHasVolumeAndRealTransactions(t *testing.T) {
	t.Parallel()
	c := startChain(t, Options{Txs: 400, Logs: 1600})
	grow(t, c, 8)
	mined, logs := 0, 0
	for n := c.Head().Number - 7; n <= c.Head().Number; n++ {
		b := c.Block(n)
		mined, logs = mined+b.Real, logs+b.Logs
		if b.Count != 400+b.Real {
			t.Errorf("block %d has %d transactions", n, b.Count)
		}
		if parent := c.Block(n - 1); parent.Hash != b.Parent || parent.Time > b.Time || parent.State != b.State-1 {
			t.Errorf("block %d doesn't follow its parent", n)
		}
	}
	if mined == 0 || logs < 8*1400 || logs > 8*1900 {
		t.Errorf("8 blocks have %d real transactions and %d logs", mined, logs)
	}
}

func TestReorgsReplaceVolumeAndDelayRealTransactions(t *testing.T) {
	t.Parallel()
	c := startChain(t, Options{Txs: 20, Logs: 60, VolumeV2: 8, VolumeV3: 2})
	grow(t, c, 5)
	before := []*Block{c.Block(c.Head().Number - 1), c.Head()}
	if err := c.Reorg(2); err != nil {
		t.Fatal(err)
	}
	after := []*Block{c.Block(c.Head().Number - 1), c.Head()}
	for i := range before {
		if before[i].Number != after[i].Number || before[i].Hash == after[i].Hash || firstMade(t, c, before[i]) == firstMade(t, c, after[i]) {
			t.Errorf("block %d wasn't replaced", before[i].Number)
		}
		if b, canonical := c.ByHash(before[i].Hash); b != before[i] || canonical {
			t.Errorf("the replaced block %d is not there, or canonical", before[i].Number)
		}
	}
	if after[0].Real != 0 || after[1].Real != before[0].Real || after[1].State != before[0].State {
		t.Errorf("the real transactions are %d and %d, were %d and %d", after[0].Real, after[1].Real, before[0].Real, before[1].Real)
	}
	grow(t, c, 1)
	if head := c.Head(); head.Real < before[1].Real || head.State != before[1].State+1 || head.Parent != after[1].Hash {
		t.Errorf("the next block has %d real transactions and state %d", head.Real, head.State)
	}
	if err := c.Reorg(70); err == nil {
		t.Error("a reorg of 70 blocks is taken")
	}
}

// firstMade is the hash of the first transaction that was made up.
func firstMade(t *testing.T, c *Chain, b *Block) Hash {
	t.Helper()
	txs, err := c.Txs(b)
	if err != nil {
		t.Fatal(err)
	}
	return txs[b.Real].Hash
}

func TestOldBlocksLieInAFile(t *testing.T) {
	t.Parallel()
	c := startChain(t, Options{Txs: 5, Logs: 20, VolumeV2: 4, VolumeV3: 1})
	grow(t, c, 2)
	b := c.Head()
	before, err := c.Txs(b)
	if err != nil {
		t.Fatal(err)
	}
	for range inMemory {
		if _, err := c.Extend(time.Unix(int64(c.Head().Time), 0)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := c.Txs(b)
	if err != nil || b.txs.Load() != nil {
		t.Fatalf("the block is still in memory (%v)", err)
	}
	var has, had []byte
	has, logs := b.AppendLogs(has, after, &Filter{}, true)
	had, _ = b.AppendLogs(had, before, &Filter{}, true)
	if !bytes.Equal(has, had) || logs != b.Logs || !bytes.Equal(b.AppendReceipts(nil, after, -1, true), b.AppendReceipts(nil, before, -1, true)) {
		t.Errorf("%d logs came back from the file as %s, they were %s", logs, has, had)
	}
}
