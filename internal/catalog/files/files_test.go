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

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
)

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

// anotherVenue is the further family's manifest under another name.
func anotherVenue(id string) string {
	s := strings.Replace(resolvetest.GoodFurtherVenue, "name: clanker", "name: "+id, 1)
	return strings.Replace(s, "id: clanker", "id: "+id, 1)
}

func ids(m files.Manifests) (out []string) {
	for i := range m.Chains {
		out = append(out, m.Chains[i].Resource.Spec.ID)
	}
	return out
}

func venueIDs(m files.Manifests) (out []string) {
	for i := range m.Venues {
		out = append(out, m.Venues[i].Resource.Spec.ID)
	}
	return out
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	d := dir(t,
		"20.yml", "# nothing\n---\n"+another("c", 3)+"---\n---\n"+another("b", 2)+"---\n# the end\n",
		"10.yaml", another("d", 4)+"---\n"+anotherVenue("v2"),
		"15.yaml", anotherVenue("v1"),
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
	if got := venueIDs(m); !slices.Equal(got, []string{"v2", "v1"}) {
		t.Errorf("order of venues %v", got)
	}
	if at := m.Chains[1]; filepath.Base(at.File) != "20.yml" || at.Line != 3 {
		t.Errorf("found at %s:%d", at.File, at.Line)
	}
}

func TestLoadOverrides(t *testing.T) {
	t.Parallel()
	first := dir(t, "1.yaml", another("a", 1), "2.yaml", another("b", 2), "3.yaml", another("c", 3),
		"4.yaml", strings.Replace(anotherVenue("v"), "  label:", "  order: 7\n  label:", 1)+"---\n"+anotherVenue("w"))
	// One says where it wants to be, the others don't.
	elsewhere := strings.NewReplacer("label: Base", "label: Other", "order: 20", "order: 3").Replace(another("b", 2))
	silent := strings.Replace(another("c", 3), "  order: 20\n", "", 1)
	second := dir(t, "1.yaml", another("x", 9), "2.yaml", elsewhere, "3.yaml", silent,
		"4.yaml", strings.Replace(anotherVenue("v"), "label: Clanker", "label: Other", 1))
	m, err := files.Load(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(m); !slices.Equal(got, []string{"a", "b", "c", "x"}) {
		t.Errorf("order %v", got)
	}
	if got := venueIDs(m); !slices.Equal(got, []string{"v", "w"}) {
		t.Errorf("order of venues %v", got)
	}
	b, c, v := m.Chains[1].Resource.Spec, m.Chains[2].Resource.Spec, m.Venues[0].Resource.Spec
	if m.Chains[0].Resource.Spec.Label != "Base" || b.Label != "Other" || v.Label != "Other" {
		t.Errorf("labels %q, %q, %q", m.Chains[0].Resource.Spec.Label, b.Label, v.Label)
	}
	if *b.Order != 3 || *c.Order != 20 || *v.Order != 7 || m.Venues[1].Resource.Spec.Order != nil {
		t.Errorf("orders %d, %d, %d", *b.Order, *c.Order, *v.Order)
	}
	if m.Chains[1].File != filepath.Join(second, "2.yaml") {
		t.Errorf("found in %s", m.Chains[1].File)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good, venue := resolvetest.Good, resolvetest.GoodVenue
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"empty directory", nil, []string{"no manifest in ", "kind Chain", "config/samples"}},
		{"unknown field", []string{"a.yaml", replace("      weight: 3", "      wieght: 3")}, []string{
			"a.yaml:37: spec.rpc.endpoints[0].wieght: no such field in a Chain",
		}},
		{"unknown field with fields", []string{"a.yaml", replace("  rpc:\n", "  RPC:\n")}, []string{"a.yaml:34: spec.RPC: no such field"}},
		{"unknown field in the second document", []string{"a.yaml", good + "---\n" + strings.Replace(another("b", 2), "label: Base", "lable: Base", 1)}, []string{
			"a.yaml:71: spec.lable: no such field",
		}},
		{"duplicate field", []string{"a.yaml", replace("  label: Base", "  label: Base\n  label: Bass")}, []string{"a.yaml: ", "line 8", `"label" already defined at line 7`}},
		{"no YAML", []string{"a.yaml", "spec: {\n"}, []string{"a.yaml: ", "line "}},
		{"no mapping", []string{"a.yaml", "- 1\n"}, []string{"a.yaml:1: is no manifest", "apiVersion: boardwalk.dev/v1alpha1"}},
		{"keys that aren't text", []string{"a.yaml", replace("  label: Base", "  1: {2: 3}")}, []string{"a.yaml:1: ", "all keys must be text"}},
		{"other kind", []string{"a.yaml", "apiVersion: v1\nkind: ConfigMap\n"}, []string{"a.yaml:2: kind \"ConfigMap\"", "allowed: kinds Chain and LaunchVenue of boardwalk.dev/v1alpha1"}},
		{"no kind", []string{"a.yaml", "a: 1\n"}, []string{"a.yaml:1: kind \"\"", "allowed: kinds Chain and LaunchVenue"}},
		{"other version of a venue", []string{"a.yaml", strings.Replace(venue, "v1alpha1", "v1", 1)}, []string{
			"a.yaml:2: apiVersion \"boardwalk.dev/v1\" isn't known", "allowed: boardwalk.dev/v1alpha1",
		}},
		{"unknown field of a venue", []string{"a.yaml", strings.Replace(venue, "wantedState: Closed", "state: Closed", 1)}, []string{
			"a.yaml:16: spec.chains[0].state: no such field in a LaunchVenue of boardwalk.dev/v1alpha1",
		}},
		{"text for true or false in a venue", []string{"a.yaml", strings.Replace(venue, "tradesInApp: true", "tradesInApp: sometimes", 1)}, []string{
			"a.yaml:14: spec.chains.tradesInApp: is a string", "true or false",
		}},
		{"number for a venue's text", []string{"a.yaml", strings.Replace(venue, "badge: four.meme", "badge: 4", 1)}, []string{
			"a.yaml:11: spec.badge: is a number", "put it in quotes",
		}},
		{"venue without a name", []string{"a.yaml", strings.Replace(venue, "  name: four-meme", "  labels: {}", 1)}, []string{"a.yaml:1: metadata.name: "}},
		{"one venue id in two files", []string{"a.yaml", venue, "b.yml", strings.Replace(venue, "name: four-meme", "name: other", 1)}, []string{
			"a.yaml:1 and ", `b.yml:1 both have spec.id "four-meme"`, "a directory that is read later",
		}},
		{"one venue name in two files", []string{"a.yaml", venue, "b.yml", strings.Replace(venue, "id: four-meme", "id: other", 1)}, []string{
			"a.yaml:1 and ", `b.yml:1 both have metadata.name "four-meme"`, "rename one of them",
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
			"a.yaml:1 and ", `b.yml:1 both have spec.id "base"`,
		}},
		{"one name in two documents", []string{"a.yaml", good + "---\n" + strings.Replace(good, "id: base", "id: other", 1)}, []string{
			"a.yaml:1 and ", `a.yaml:65 both have metadata.name "base"`,
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
	if got := m.Chains[0].Resource.Spec.Retention.MinuteCandles.Duration; got != 720*time.Hour {
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
	_, err = m.Resolve()
	for _, want := range []string{
		`base.yaml: spec.exchanges[1].protocol: "UniV4" is not known; allowed: UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly, Slipstream`,
		"base.yaml: spec.rpc.endpoints[0].weight: is 0; allowed: 1 to 1000",
		`bsc.yaml: spec.family: "Bitcoin" is not known; allowed: EVM, Solana`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
}

// What only several manifests together can get wrong.
func TestResolveRefusesAcrossManifests(t *testing.T) {
	t.Parallel()
	good, solana, further := resolvetest.Good, resolvetest.GoodSolana, resolvetest.GoodFurtherVenue
	second := strings.NewReplacer("boardwalk-dbc", "second", "MeteoraDBC", "RaydiumLaunchLab").Replace(resolvetest.GoodOwnVenue)
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"one chain id twice", []string{"a.yaml", another("a", 7), "b.yaml", another("b", 7)}, []string{
			"b.yaml: Chain a has the same spec.chainID 7", "declare each network once",
		}},
		{"a venue on a chain that isn't there", []string{"a.yaml", good, "v.yaml", resolvetest.GoodVenue}, []string{
			`v.yaml: spec.chains[0].chain: no Chain has the name "bsc"; declared: base`,
		}},
		{"a venue on a chain of another family", []string{"a.yaml", good, "v.yaml", strings.Replace(resolvetest.GoodOwnVenue, "chain: solana", "chain: base", 1)}, []string{
			"v.yaml: spec.chains[0].chain: Chain base is of family EVM, and protocol MeteoraDBC is of family Solana; leave it out",
		}},
		{"two defaults", []string{"a.yaml", solana, "v.yaml", resolvetest.GoodOwnVenue, "w.yaml", second}, []string{
			"w.yaml: spec.default: LaunchVenue boardwalk-dbc is the default of family Solana too",
		}},
		{"several at once", []string{
			"a.yaml", good, "v.yaml", strings.Replace(further, "  - chain: base", "  - {chain: x, tradesInApp: true}\n  - {chain: y, tradesInApp: true}\n  - chain: base", 1),
			"w.yaml", strings.NewReplacer("name: clanker", "name: w", "id: clanker", "id: w", "label: Clanker", `label: ""`).Replace(further),
		}, []string{
			`v.yaml: spec.chains[0].chain: no Chain has the name "x"`, `v.yaml: spec.chains[1].chain: no Chain has the name "y"`,
			"w.yaml: spec.label: is missing",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := files.Load(dir(t, tt.files...))
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Resolve()
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if lines := strings.Count(err.Error(), "\n") + 1; lines != strings.Count(strings.Join(tt.want, "\n"), ".yaml: ") {
				t.Errorf("%d lines:\n%v", lines, err)
			}
		})
	}
}

// Two directories may have one name for two chains; a venue could mean either.
func TestLoadRefusesOneNameInTwoDirectories(t *testing.T) {
	t.Parallel()
	_, err := files.Load(dir(t, "a.yaml", another("a", 1)), dir(t, "b.yaml", strings.Replace(another("b", 2), "name: b", "name: a", 1)))
	if err == nil || !strings.Contains(err.Error(), `b.yaml:1 both have metadata.name "a"; rename one of them`) {
		t.Errorf("got %v", err)
	}
}

func TestResolveGivesVenuesToTheirChains(t *testing.T) {
	t.Parallel()
	m, err := files.Load(dir(t, "base.yaml", resolvetest.Good, "bsc.yaml", another("bsc", 56), "four.yaml", resolvetest.GoodVenue,
		"solana.yaml", resolvetest.GoodSolana+"---\n"+resolvetest.GoodOwnVenue))
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Running) != 2 || len(d.Chains) != 3 || len(d.Venues) != 2 || len(d.Running[0].Venues) != 1 || d.Running[1].Venues[0].ID != "four-meme" {
		t.Errorf("got %+v", d)
	}
	// A venue opens when its status says so, as in a cluster.
	cat, err := d.Catalog()
	if err != nil || cat.Venues[0].Chains[0].Open {
		t.Errorf("got %+v, %v", cat, err)
	}
	d.Venues[0].Status.Chains = []v1alpha1.VenueChainStatus{{Chain: "bsc", State: v1alpha1.VenueOpen}}
	if cat, err = d.Catalog(); err != nil || !cat.Venues[0].Chains[0].Open || cat.Venues[0].Chains[1].Open {
		t.Errorf("got %+v, %v", cat, err)
	}
}

func fake(n int) string { return fmt.Sprintf("0x%040x", n) }

// Every duration must be on the list of fields that are read beforehand, or its errors name no field.
func TestEveryDurationIsNamed(t *testing.T) {
	t.Parallel()
	for kind, spec := range map[string]reflect.Type{
		v1alpha1.ChainKind: reflect.TypeFor[v1alpha1.ChainSpec](), v1alpha1.LaunchVenueKind: reflect.TypeFor[v1alpha1.LaunchVenueSpec](),
	} {
		for _, path := range durations("spec", spec) {
			doc := "x"
			for _, key := range slices.Backward(strings.Split(strings.TrimPrefix(path, "spec."), ".")) {
				doc = "{" + key + ": " + doc + "}"
			}
			doc = "apiVersion: boardwalk.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: a}\nspec: " + doc + "\n"
			_, err := files.Load(dir(t, "a.yaml", doc))
			if err == nil || !strings.Contains(err.Error(), path+`: "x" is no duration`) {
				t.Errorf("%s of a %s: %v", path, kind, err)
			}
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
