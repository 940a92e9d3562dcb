package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if raw := os.Getenv(childEnv); raw != "" {
		os.Exit(told(runChild(raw)))
	}
	storetest.Main(m)
}

// TestSeeds runs the seeds of testdata/seeds.txt. They are drawn so that every kind of fault is met in a few minutes; `make simulate`
// draws others.
func TestSeeds(t *testing.T) {
	t.Parallel()
	runSeeds(t, "testdata/seeds.txt", familyEVM)
}

// TestSolanaSeeds runs those of testdata/solana.txt, on a chain of Solana's family. It isn't parallel: more than three plans at once are too much for two cores.
func TestSolanaSeeds(t *testing.T) { //nolint:paralleltest // as said
	runSeeds(t, "testdata/solana.txt", familySolana)
}

func runSeeds(t *testing.T, file, family string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(raw)) {
		if seeds, _, _ := strings.Cut(line, "#"); strings.TrimSpace(seeds) != "" {
			list = append(list, strings.TrimSpace(seeds))
		}
	}
	seeds, err := parseSeeds(strings.Join(list, ","))
	if err != nil || len(seeds) == 0 {
		t.Fatalf("%d seeds, %v", len(seeds), err)
	}
	if err := simulate(t.Context(), settings{parallel: 3, times: 1, family: family, dir: t.TempDir()}, seeds); err != nil {
		t.Error(err)
	}
}

// families are those that are simulated.
var families = []string{familyEVM, familySolana}

// TestAPlanFollowsFromItsSeed: the same seed has the same plan, and no other has it.
func TestAPlanFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	seen := map[string]uint64{}
	for _, family := range families {
		for seed := uint64(1); seed < 200; seed++ {
			p := draw(seed, family)
			if again := draw(seed, family); !reflect.DeepEqual(p, again) {
				t.Fatalf("seed %d has two plans: %+v and %+v", seed, p, again)
			}
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[string(raw)]; ok {
				t.Errorf("seeds %d and %d have one plan", other, seed)
			}
			seen[string(raw)] = seed
		}
	}
}

// TestEveryFaultIsDrawn: what stands in the tables happens under some seed, what begins ends, and nothing else is drawn.
func TestEveryFaultIsDrawn(t *testing.T) {
	t.Parallel()
	for _, family := range families {
		drawsAll(t, family)
	}
}

func drawsAll(t *testing.T, family string) {
	t.Helper()
	all := faultsOfFamily(family)
	faults, happened := map[string]bool{}, map[string]bool{}
	for seed := uint64(1); seed < 1000; seed++ {
		p := draw(seed, family)
		for _, n := range p.Nodes {
			for _, f := range n.Faults {
				if _, ok := all[f.Fault]; !ok {
					t.Errorf("seed %d has the fault %q, which the family hasn't", seed, f.Fault)
				}
				faults[f.Fault] = true
			}
		}
		if p.Stream != nil {
			for _, f := range p.Stream.Lies {
				faults[f.Fault] = true
			}
		}
		open := map[string]int{}
		for _, e := range p.Events {
			happened[e.Do] = true
			if until := table[e.Do].until; until != "" {
				open[until]++
			}
			if e.At > p.Blocks {
				t.Errorf("seed %d: %q comes after the last block", seed, e.Do)
			}
			if table[e.Do].on == "never" {
				open[e.Do]--
			}
		}
		for name, n := range open {
			if n != 0 {
				t.Errorf("seed %d: %q stands %d times too few or too many", seed, name, n)
			}
		}
	}
	wanted := slices.Collect(maps.Keys(all))
	if family == familySolana {
		wanted = slices.AppendSeq(wanted, maps.Keys(streamLies))
	}
	for _, name := range wanted {
		if !faults[name] {
			t.Errorf("no seed draws the fault %q", name)
		}
	}
	for name, what := range table {
		if want := what.on != "written" && (!what.evm || family == familyEVM); want != happened[name] && what.on != "written" {
			t.Errorf("under some seed of family %q there is %q: %t", family, name, happened[name])
		}
	}
}

// TestEveryFaultSpoilsSomething: each fault of an endpoint changes an answer that an indexer asks for.
func TestEveryFaultSpoilsSomething(t *testing.T) {
	t.Parallel()
	hash := "0x" + strings.Repeat("ab", 32)
	log := `{"address":"0x01","blockHash":"` + hash + `","logIndex":"0x0","data":"0x` + strings.Repeat("01", 64) + `"}`
	other := strings.Replace(log, `"0x0"`, `"0x1"`, 1)
	header := `{"number":"%s","hash":"` + hash + `","parentHash":"` + hash + `","timestamp":"0x64","logsBloom":"0x01"}`
	answers := map[string]string{
		"eth_getLogs":                 "[" + log + "," + other + "]",
		`eth_getBlockByNumber latest`: fmt.Sprintf(header, "0x5"),
		"eth_getBlockReceipts":        `[{"cumulativeGasUsed":"0x5208"}]`,
	}
	for _, s := range []string{selectorBalanceOf, selectorTotalSupply, selectorDecimals} {
		answers["eth_call "+s] = `"0x12"`
	}
	spoilsAll(t, familyEVM, answers)
	const key = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"
	balances := `[{"accountIndex":1,"uiTokenAmount":{"amount":"19"}}]`
	tx := `{"meta":{"logMessages":["Program log: hello"],"innerInstructions":[{}],"preTokenBalances":` + balances + `,"postTokenBalances":` + balances + `},"n":%d}`
	spoilsAll(t, familySolana, map[string]string{
		"getSlot":   "5000",
		"getBlocks": "[1,2,3]",
		"getBlock": `{"blockhash":"` + key + `","previousBlockhash":"` + key + `","parentSlot":4,"blockTime":100,"transactions":[` + fmt.Sprintf(tx, 1) + "," +
			fmt.Sprintf(tx, 2) + `]}`,
		"getMultipleAccounts": `{"context":{"slot":1},"value":[{"data":["` + strings.Repeat("A", 112) + `","base64"]}]}`,
	})
}

// spoilsAll wants each fault of a family to change something of what a node answers, by the calls' methods.
func spoilsAll(t *testing.T, family string, answers map[string]string) {
	t.Helper()
	header := `{"number":"%s","hash":"0x01","parentHash":"0x01","timestamp":"0x64","logsBloom":"0x01"}`
	chain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"id":1,"result":`+header+`}`, "0x1")
	}))
	t.Cleanup(chain.Close)
	for name, f := range faultsOfFamily(family) {
		x := &exchange{status: 200}
		if f.whole != nil {
			f.whole(x)
		}
		changed := *x != exchange{status: 200}
		n := &node{stopped: t.Context()}
		n.real.Store(&chain.URL)
		for _, method := range slices.Sorted(maps.Keys(answers)) {
			m, param, _ := strings.Cut(method, " ")
			for _, answer := range []string{answers[method], strings.NewReplacer(`"0x5"`, `"0x6"`, "5000", "5001").Replace(answers[method])} {
				c := &call{Method: m, result: json.RawMessage(answer), Params: []json.RawMessage{json.RawMessage(`"` + param + `"`)}}
				before := *c
				if f.calls != nil {
					f.calls(n, c)
				}
				changed = changed || before.differs(c)
			}
		}
		if !changed {
			t.Errorf("the fault %q of family %q changes nothing", name, family)
		}
	}
}

// TestPrunedState: a node without old states answers for the newest block, whatever else a call names, and refuses any that is named otherwise.
func TestPrunedState(t *testing.T) {
	t.Parallel()
	for text, kept := range map[string]bool{
		`{"method":"eth_call","params":[{},"latest"]}`:                                    true,
		`{"method":"eth_call","params":[{},"latest",{"0x01":{}}]}`:                        true,
		`{"method":"eth_call","params":[{},"0x5"]}`:                                       false,
		`{"method":"eth_call","params":[{},{"blockHash":"0x5","requireCanonical":true}]}`: false,
		`{"method":"eth_getCode","params":["0x01","latest"]}`:                             true,
		`{"method":"eth_getCode","params":["0x01","0x5"]}`:                                false,
		`{"method":"eth_getStorageAt","params":["0x01","0x0","latest"]}`:                  true,
		`{"method":"eth_getStorageAt","params":["0x01","0x0","0x5"]}`:                     false,
		`{"method":"eth_getBlockByNumber","params":["0x5",false]}`:                        true,
	} {
		c := &call{result: json.RawMessage(`"0x"`)}
		if err := json.Unmarshal([]byte(text), c); err != nil {
			t.Fatal(err)
		}
		if pruned(&node{}, c); (c.err == nil) != kept {
			t.Errorf("%s is answered: %t, want %t", text, c.err == nil, kept)
		}
	}
}

func TestParseSeeds(t *testing.T) {
	t.Parallel()
	got, err := parseSeeds("1, 7,4-6")
	if want := []uint64{1, 7, 4, 5, 6}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"x", "-1", "5-4", "3-"} {
		if got, err := parseSeeds(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
