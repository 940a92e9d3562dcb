package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
)

const samples = "../../../config/samples"

// dir writes files from pairs of name and content.
func dir(t *testing.T, pairs ...string) string {
	t.Helper()
	d := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		if err := os.WriteFile(filepath.Join(d, pairs[i]), []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func replace(from, to string) string {
	before, after, found := strings.Cut(resolvetest.Good, from)
	if !found {
		return "not in the manifest: " + from
	}
	return before + to + after
}

// another is the good manifest under other names.
func another(id string, chainID int) string {
	s := strings.Replace(resolvetest.Good, "name: base", "name: "+id, 1)
	s = strings.Replace(s, "id: base", "id: "+id, 1)
	return strings.Replace(s, "8453", strconv.Itoa(chainID), 1)
}

func ids(m files.Manifests) (out []string) {
	for i := range m.Chains {
		out = append(out, m.Chains[i].Chain.Spec.ID)
	}
	return out
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	d := dir(t,
		"20.yml", "# nothing\n---\n"+another("c", 3)+"---\n---\n"+another("b", 2)+"---\n# the end\n",
		"10.yaml", another("d", 4),
		"30.yaml", "# a comment alone\n",
		"README.md", "no manifest", ".hidden.yaml", "no manifest", "e.yaml.part", "no manifest")
	if err := os.Mkdir(filepath.Join(d, "sub.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := files.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(m); !slices.Equal(got, []string{"d", "c", "b"}) {
		t.Errorf("order %v", got)
	}
	if at := m.Chains[1]; filepath.Base(at.File) != "20.yml" || at.Line != 3 {
		t.Errorf("found at %s:%d", at.File, at.Line)
	}
}

func TestLoadOverrides(t *testing.T) {
	t.Parallel()
	first := dir(t, "1.yaml", another("a", 1), "2.yaml", another("b", 2), "3.yaml", another("c", 3))
	second := dir(t, "1.yaml", another("x", 9), "2.yaml", strings.Replace(another("b", 2), "label: Base", "label: Other", 1))
	m, err := files.Load(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(m); !slices.Equal(got, []string{"a", "b", "c", "x"}) {
		t.Errorf("order %v", got)
	}
	if m.Chains[1].Chain.Spec.Label != "Other" || m.Chains[0].Chain.Spec.Label != "Base" {
		t.Errorf("labels %q, %q", m.Chains[0].Chain.Spec.Label, m.Chains[1].Chain.Spec.Label)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good := resolvetest.Good
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"empty directory", nil, []string{"no manifest in ", "kind Chain", "config/samples"}},
		{"unknown field", []string{"a.yaml", replace("      weight: 3", "      wieght: 3")}, []string{
			"a.yaml:36: spec.rpc.endpoints[0].wieght: no such field in a Chain",
		}},
		{"unknown field with fields", []string{"a.yaml", replace("  rpc:\n", "  RPC:\n")}, []string{"a.yaml:33: spec.RPC: no such field"}},
		{"unknown field in the second document", []string{"a.yaml", good + "---\n" + strings.Replace(another("b", 2), "label: Base", "lable: Base", 1)}, []string{
			"a.yaml:51: spec.lable: no such field",
		}},
		{"duplicate field", []string{"a.yaml", replace("  label: Base", "  label: Base\n  label: Bass")}, []string{"a.yaml: ", "line 8", `"label" already defined at line 7`}},
		{"no YAML", []string{"a.yaml", "spec: {\n"}, []string{"a.yaml: ", "line "}},
		{"no mapping", []string{"a.yaml", "- 1\n"}, []string{"a.yaml:1: is no manifest", "apiVersion: boardwalk.dev/v1alpha1"}},
		{"keys that aren't text", []string{"a.yaml", replace("  label: Base", "  1: {2: 3}")}, []string{"a.yaml:1: ", "all keys must be text"}},
		{"other kind", []string{"a.yaml", "apiVersion: v1\nkind: ConfigMap\n"}, []string{"a.yaml:2: kind \"ConfigMap\"", "allowed: kind Chain of boardwalk.dev/v1alpha1"}},
		{"no kind", []string{"a.yaml", "a: 1\n"}, []string{"a.yaml:1: kind \"\"", "allowed: kind Chain"}},
		{"launch venue", []string{"a.yaml", "apiVersion: boardwalk.dev/v1alpha1\nkind: LaunchVenue\n"}, []string{
			"a.yaml:2: kind LaunchVenue isn't known to this version", "allowed: Chain",
		}},
		{"other version", []string{"a.yaml", replace("v1alpha1", "v1")}, []string{"apiVersion \"boardwalk.dev/v1\"", "allowed: boardwalk.dev/v1alpha1"}},
		{"number for text", []string{"a.yaml", replace(`minTradeUSD: "2.0"`, "minTradeUSD: 2.0")}, []string{"a.yaml:10: spec.minTradeUSD: is a number", "put it in quotes"}},
		{"number for text in a list", []string{"a.yaml", replace("symbol: USDC", "symbol: 5")}, []string{
			"a.yaml:15: spec.quoteAssets.symbol: is a number", "put it in quotes",
		}},
		{"text for a number", []string{"a.yaml", replace("chainID: 8453", `chainID: "8453"`)}, []string{"a.yaml:9: spec.chainID: is a string", "a whole number without quotes"}},
		{"fraction for a whole number", []string{"a.yaml", replace("chainID: 8453", "chainID: 1.5")}, []string{"a.yaml:9: spec.chainID: ", "a whole number"}},
		{"text for true or false", []string{"a.yaml", replace("suspend: false", "suspend: maybe")}, []string{"spec.suspend: is a string", "true or false"}},
		{"mapping for a list", []string{"a.yaml", replace("hooks: [", "hooks: {a: ") + "x"}, []string{"a.yaml: "}},
		{"text for a list", []string{"a.yaml", replace("    hooks: [\"0x33128a8fc17869897dce68ed026d694621f6fdfd\"]", "    hooks: x")}, []string{"exchanges.hooks: is a string", "a list"}},
		{"duration without a unit", []string{"a.yaml", replace("blockTime: 2s", "blockTime: 2")}, []string{`a.yaml:11: spec.blockTime: "2" is no duration`, "such as 2s"}},
		{"duration that is null", []string{"a.yaml", replace("blockTime: 2s", "blockTime:")}, []string{"a.yaml:11: spec.blockTime: ", "such as 2s"}},
		{"nested duration", []string{"a.yaml", replace("trades: 720h", "trades: 30d")}, []string{`spec.retention.trades: "30d" is no duration`, "720h"}},
		{"no name", []string{"a.yaml", replace("  name: base", "  labels: {}")}, []string{"a.yaml:1: metadata.name: "}},
		{"one id in two files", []string{"a.yaml", good, "b.yml", strings.Replace(good, "name: base", "name: other", 1)}, []string{
			"a.yaml:1 and ", `b.yml:1 both declare spec.id "base"`,
		}},
		{"one name in two documents", []string{"a.yaml", good + "---\n" + strings.Replace(good, "id: base", "id: other", 1)}, []string{
			"a.yaml:1 and ", `a.yaml:45 both have metadata.name "base"`,
		}},
		{"too large", []string{"a.yaml", good + "#" + strings.Repeat("x", 1<<20)}, []string{"a.yaml: is larger than 1048576 bytes"}},
		{"anchors that explode", []string{"a.yaml", bomb()}, []string{"a.yaml: ", "excessive aliasing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := files.Load(dir(t, tt.files...))
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: boardwalk.dev/v1alpha1\nkind: Chain\na0: &a0 [" + strings.Repeat("x, ", 9) + "x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return b.String()
}

func TestLoadNamesEveryFile(t *testing.T) {
	t.Parallel()
	_, err := files.Load(dir(t, "a.yaml", "kind: A", "b.yaml", "kind: B"), dir(t), filepath.Join(t.TempDir(), "gone"))
	for _, want := range []string{"a.yaml:1: ", "b.yaml:1: ", "no manifest in ", "gone: no such file"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if _, err := files.Load(); err == nil || !strings.Contains(err.Error(), "config/samples") {
		t.Errorf("no directory: %v", err)
	}
}

func TestLoadReadsAnchors(t *testing.T) {
	t.Parallel()
	m, err := files.Load(dir(t, "a.yaml", strings.NewReplacer(
		`trades: 720h`, `trades: &month 720h`, `minuteCandles: 48h`, `minuteCandles: *month`).Replace(resolvetest.Good)))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Chains[0].Chain.Spec.Retention.MinuteCandles.Duration; got != 720*time.Hour {
		t.Errorf("got %s", got)
	}
}

func TestResolveNamesFileAndField(t *testing.T) {
	t.Parallel()
	m, err := files.Load(dir(t,
		"base.yaml", strings.NewReplacer("protocol: UniswapV4", "protocol: UniV4", "weight: 3", "weight: 0").Replace(resolvetest.Good),
		"bsc.yaml", strings.Replace(another("bsc", 56), "family: EVM", "family: Bitcoin", 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = m.Resolve()
	for _, want := range []string{
		`base.yaml: spec.exchanges[1].protocol: "UniV4" is not known; allowed: UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly`,
		"base.yaml: spec.rpc.endpoints[0].weight: is 0; allowed: 1 to 1000",
		`bsc.yaml: spec.family: "Bitcoin" is not known; allowed: EVM, Solana`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}

	m, err = files.Load(dir(t, "a.yaml", another("a", 7), "b.yaml", another("b", 7)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = m.Resolve(); err == nil || !strings.Contains(err.Error(), `chains "a" and "b": both have spec.chainID 7`) {
		t.Errorf("one chain id twice: %v", err)
	}
}

// The samples are the chains of the service document, in its order, with its minimums.
func TestSamples(t *testing.T) {
	t.Parallel()
	m, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	running, served, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(running) != 0 {
		t.Errorf("%d samples run, without a node", len(running))
	}
	want := []struct {
		id, label string
		minTrade  float64
	}{
		{"solana", "Solana", 2},
		{"base", "Base", 2},
		{"bsc", "BNB Chain", 2},
		{"arbitrum", "Arbitrum", 2},
		{"polygon", "Polygon", 2},
		{"robinhood", "Robinhood", 2},
		{"ethereum", "Ethereum", 25},
		{"monad", "Monad", 2},
		{"hyperevm", "HyperEVM", 2},
	}
	if len(served.Chains) != len(want) {
		t.Fatalf("%d chains", len(served.Chains))
	}
	for i, w := range want {
		c := served.Chains[i]
		if c.ID != w.id || c.Label != w.label || c.MinTradeUSD != w.minTrade || !c.Suspended {
			t.Errorf("%d: got %s, %q, %v, suspended %t; want %+v", i, c.ID, c.Label, c.MinTradeUSD, c.Suspended, w)
		}
		if last := c.Quotes[len(c.Quotes)-1]; last.Address != c.Native.Wrapped || last.PegUSD != 0 {
			t.Errorf("%s: the wrapped coin is no quote asset: %+v", c.ID, c.Quotes)
		}
		for _, q := range c.Quotes[:len(c.Quotes)-1] {
			if q.PegUSD != 1 || q.PegBoundPct != 2 {
				t.Errorf("%s: %s has peg %v ± %v %%", c.ID, q.Symbol, q.PegUSD, q.PegBoundPct)
			}
		}
	}
}

// A local world's chains take the place of the samples, as in `make run`.
func TestSamplesUnderSimnet(t *testing.T) {
	t.Parallel()
	world := simnet.World{
		Node: &simnet.Node{}, ChainID: 8453, Native: simnet.Native{Symbol: "ETH", WrappedSymbol: "WETH"},
		Wrapped: fake(1), StableUSDC6: fake(2), StableUSD18: fake(3), UniswapV2Factory: fake(4), UniswapV3Factory: fake(5),
		UniswapV4PoolManager: fake(6), PancakeSwapV3Factory: fake(7),
	}
	d := t.TempDir()
	if _, err := world.WriteManifest(d, simnet.ManifestOptions{ID: "base", Label: "Base", BlockTime: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	m, err := files.Load(samples, d)
	if err != nil {
		t.Fatal(err)
	}
	running, served, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(running) != 1 || len(served.Chains) != 9 || served.Chains[1].ID != "base" || served.Chains[1].Suspended {
		t.Fatalf("%d run, %v are served", len(running), served.IDs())
	}
	base := running[0]
	if base.Native.Wrapped != fake(1) || base.Start != (chainconfig.Start{}) || base.Tracking.Holders != chainconfig.HoldersAll ||
		base.Tracking.MinLiquidityUSD != 100 || base.Quotes[0].PegBoundPct != 5 || len(base.Endpoints) != 1 ||
		len(base.Exchanges) != 4 ||
		base.Exchanges[0].FeePips != 3000 || base.FinalityDepth != 64 {
		t.Errorf("base %+v", base)
	}
}

func fake(n int) string { return fmt.Sprintf("0x%040x", n) }

// Every duration of a Chain must be on the list of fields that are read beforehand, or its errors name no field.
func TestEveryDurationIsNamed(t *testing.T) {
	t.Parallel()
	for _, path := range durations("spec", reflect.TypeFor[v1alpha1.ChainSpec]()) {
		keys := strings.Split(path, ".")
		doc := "x"
		for _, k := range slices.Backward(keys) {
			doc = "{" + k + ": " + doc + "}"
		}
		doc = "apiVersion: boardwalk.dev/v1alpha1\nkind: Chain\nmetadata: {name: a}\nspec: " + strings.TrimSuffix(strings.TrimPrefix(doc, "{spec: "), "}") + "\n"
		_, err := files.Load(dir(t, "a.yaml", doc))
		if err == nil || !strings.Contains(err.Error(), path+`: "x" is no duration`) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func durations(path string, t reflect.Type) (out []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[metav1.Duration]() {
		return []string{path}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, durations(path+"."+name, f.Type)...)
	}
	return out
}
