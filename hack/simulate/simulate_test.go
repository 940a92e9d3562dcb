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
	raw, err := os.ReadFile("testdata/seeds.txt")
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
	if err := simulate(t.Context(), settings{parallel: 3, times: 1, dir: t.TempDir()}, seeds); err != nil {
		t.Error(err)
	}
}

// TestAPlanFollowsFromItsSeed: the same seed has the same plan, and no other has it.
func TestAPlanFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	seen := map[string]uint64{}
	for seed := uint64(1); seed < 200; seed++ {
		p := draw(seed, familyEVM, false)
		if again := draw(seed, familyEVM, false); !reflect.DeepEqual(p, again) {
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

// TestEveryFaultIsDrawn: what stands in the tables happens under some seed, what begins ends, and nothing that is off is drawn.
func TestEveryFaultIsDrawn(t *testing.T) {
	t.Parallel()
	faults, happened := map[string]bool{}, map[string]bool{}
	for seed := uint64(1); seed < 1000; seed++ {
		p := draw(seed, familyEVM, false)
		for _, n := range p.Nodes {
			for _, f := range n.Faults {
				if faultsOfFamily(familyEVM)[f.Fault].off != "" {
					t.Errorf("seed %d has the fault %q, which is off", seed, f.Fault)
				}
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
	for name, f := range faultsOfFamily(familyEVM) {
		if !faults[name] && f.off == "" {
			t.Errorf("no seed draws the fault %q", name)
		}
	}
	for name, what := range table {
		if !happened[name] && what.on != "written" {
			t.Errorf("under no seed there is %q", name)
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
	chain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"id":1,"result":`+header+`}`, "0x1")
	}))
	t.Cleanup(chain.Close)
	for name, f := range faultsOfFamily(familyEVM) {
		x := &exchange{status: 200}
		if f.whole != nil {
			f.whole(x)
		}
		changed := *x != exchange{status: 200}
		n := &node{stopped: t.Context()}
		n.real.Store(&chain.URL)
		for _, method := range slices.Sorted(maps.Keys(answers)) {
			m, param, _ := strings.Cut(method, " ")
			for _, answer := range []string{answers[method], strings.Replace(answers[method], `"0x5"`, `"0x6"`, 1)} {
				c := &call{Method: m, result: json.RawMessage(answer), Params: []json.RawMessage{json.RawMessage(`"` + param + `"`)}}
				before := answersOf([]*call{c})
				if f.calls != nil {
					f.calls(n, c)
				}
				changed = changed || string(before) != string(answersOf([]*call{c}))
			}
		}
		if !changed {
			t.Errorf("the fault %q changes nothing", name)
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
		if pruned(nil, c); (c.err == nil) != kept {
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
