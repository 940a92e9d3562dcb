package v1alpha1_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

const samples = "../../config/samples"

// One Kubernetes serves every test of the package; each has a namespace of its own, or only asks what would happen.
var (
	cluster *kubetest.Cluster
	client  *http.Client
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	cluster, err = kubetest.Start(context.Background(), kubetest.Options{CRDs: []string{"../../config/crd/bases"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()
	if client, err = rest.HTTPClientFor(cluster.Config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// The names of the kinds in paths.
const (
	chains = "chains"
	venues = "launchvenues"
)

const (
	asYAML  = "application/yaml"
	asPatch = "application/merge-patch+json"
	// dryRun asks what would happen; strictly, as kubectl does: unknown fields are errors.
	dryRun = "?dryRun=All&fieldValidation=Strict"
)

func pathOf(namespace, resource string, more ...string) string {
	return "/apis/boardwalk.dev/v1alpha1/namespaces/" + namespace + "/" + resource + strings.Join(more, "")
}

// ask sends a request. The message is empty when the server had nothing against it.
func ask(t *testing.T, method, path, contentType, body string, header ...string) (answer []byte, message string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, cluster.Config.Host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	if len(header) == 2 {
		request.Header.Set(header[0], header[1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode < 300 {
		return answer, ""
	}
	var status metav1.Status
	if err := json.Unmarshal(answer, &status); err != nil || status.Message == "" {
		t.Fatalf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return nil, status.Message
}

// must is ask for what is right.
func must(t *testing.T, into any, method, path, contentType, body string, header ...string) {
	t.Helper()
	answer, message := ask(t, method, path, contentType, body, header...)
	if message != "" {
		t.Fatalf("%s %s: %s", method, path, message)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
}

// plural is the resource of a manifest.
func plural(manifest string) string {
	if strings.Contains(manifest, "\nkind: "+v1alpha1.LaunchVenueKind) {
		return venues
	}
	return chains
}

// With an estimate of its rules' cost above the budget, a definition would not get established.
func TestDefinitionsAreEstablished(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{chains, venues} {
		var crd struct {
			Status struct{ Conditions []metav1.Condition }
		}
		must(t, &crd, http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+resource+".boardwalk.dev", asYAML, "")
		got := map[string]metav1.ConditionStatus{}
		for _, c := range crd.Status.Conditions {
			got[c.Type] = c.Status
		}
		// NonStructuralSchema and KubernetesAPIApprovalPolicyConformant are there only when something is wrong.
		if want := map[string]metav1.ConditionStatus{"Established": "True", "NamesAccepted": "True"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: conditions %v", resource, crd.Status.Conditions)
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	manifests := resolvetest.AllGood()
	paths, err := filepath.Glob(samples + "/*.yaml")
	if err != nil || len(paths) < 9 {
		t.Fatalf("samples %v, %v", paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, string(raw))
	}
	for _, m := range manifests {
		must(t, nil, http.MethodPost, pathOf("default", plural(m), dryRun), asYAML, m)
	}
}

// Whatever resolve refuses, the API server refuses too, in its own words, unless schema and CEL can't state the rule.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for resource, list := range map[string][]resolvetest.Refused{chains: resolvetest.Chains(), venues: resolvetest.Venues()} {
		for _, tt := range list {
			t.Run(resource+" "+tt.Name, func(t *testing.T) {
				t.Parallel()
				_, message := ask(t, http.MethodPost, pathOf("default", resource, dryRun), asYAML, tt.Manifest)
				if (message == "") != (tt.Server == nil) {
					t.Fatalf("the message is %q; wanted in it: %q", message, tt.Server)
				}
				for _, want := range tt.Server {
					if !strings.Contains(message, want) {
						t.Errorf("%q is not in:\n%s", want, message)
					}
				}
			})
		}
	}
}

// What never gets as far as resolve, as reading a file fails before.
func TestRefusesWhatFilesCannotSay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, manifest, from, to string
		want                     []string
	}{
		{"unknown field", resolvetest.Good, "  label:", "  lable: x\n  label:", []string{`unknown field "spec.lable"`}},
		{"number for text", resolvetest.Good, `minTradeUSD: "2.0"`, `minTradeUSD: 2.0`, []string{"spec.minTradeUSD", "must be of type string"}},
		{"words for a number", resolvetest.Good, `minTradeUSD: "2.0"`, `minTradeUSD: two`, []string{"spec.minTradeUSD", "write a number in quotes"}},
		{"words for a duration", resolvetest.Good, "blockTime: 2s", "blockTime: soon", []string{"spec.blockTime", "should match", "must be from 50ms to 5m"}},
		{"duration without a unit", resolvetest.Good, "blockTime: 2s", `blockTime: "2"`, []string{"spec.blockTime", "should match", "must be from 50ms to 5m"}},
		{"duration beyond all", resolvetest.Good, "blockTime: 2s", "blockTime: 99999999999999h", []string{"spec.blockTime", "must be from 50ms to 5m"}},
		{"unknown field of a venue", resolvetest.GoodVenue, "wantedState: Open", "state: Open", []string{`unknown field "spec.chains[1].state"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			manifest := strings.Replace(tt.manifest, tt.from, tt.to, 1)
			_, message := ask(t, http.MethodPost, pathOf("default", plural(manifest), dryRun), asYAML, manifest)
			for _, want := range tt.want {
				if !strings.Contains(message, want) {
					t.Errorf("%q is not in: %s", want, message)
				}
			}
		})
	}
}

// The rules know protocols by lists of names; chainconfig knows them by their methods.
func TestProtocolsAreOfOneFamily(t *testing.T) {
	t.Parallel()
	for _, p := range chainconfig.VenueProtocols {
		venue := func(model v1alpha1.MarketModel, field string) string {
			manifest := strings.NewReplacer("MeteoraDBC", string(p), "BondingCurve", string(model)).Replace(resolvetest.GoodOwnVenue)
			switch field {
			case "contracts":
				manifest = strings.Replace(manifest, "programAccounts: [So11111111111111111111111111111111111111112]",
					`contracts: ["0x4200000000000000000000000000000000000006"]`, 1)
			case "":
				manifest = strings.Replace(manifest, "    programAccounts: [So11111111111111111111111111111111111111112]\n", "", 1)
			}
			_, message := ask(t, http.MethodPost, pathOf("default", venues, dryRun), asYAML, manifest)
			return message
		}
		right, wrong := v1alpha1.MarketModelBondingCurve, v1alpha1.MarketModelLivePool
		if !p.HasCurve() {
			right, wrong = wrong, right
		}
		if message := venue(right, ""); message != "" {
			t.Errorf("%s: %s", p, message)
		}
		if message := venue(wrong, ""); !strings.Contains(message, "spec.marketModel: ") {
			t.Errorf("%s as %s: %q", p, wrong, message)
		}
		evm := p.Family() == chainconfig.EVM
		if message := venue(right, "contracts"); (message == "") != evm {
			t.Errorf("%s with contracts: %q", p, message)
		}
		if message := venue(right, "programAccounts"); (message == "") == evm {
			t.Errorf("%s with program accounts: %q", p, message)
		}
	}
}

func TestWhatCannotChange(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	must(t, nil, http.MethodPost, pathOf(namespace, chains), asYAML, resolvetest.Good)
	must(t, nil, http.MethodPost, pathOf(namespace, chains), asYAML, resolvetest.GoodSolana)
	must(t, nil, http.MethodPost, pathOf(namespace, venues), asYAML, resolvetest.GoodVenue)
	tests := []struct {
		name, resource, object, patch string
		want                          string // empty when it may
	}{
		{"a chain's id", chains, "base", `{"id": "other"}`, "spec.id: Invalid value: \"other\": id can't change: delete this Chain and declare another"},
		{"a chain's number", chains, "base", `{"chainID": 1}`, "spec.chainID: Invalid value: chainID can't change: delete this Chain and declare another with a new id"},
		{"a chain's number, left out", chains, "base", `{"chainID": null}`, "an EVM chain needs chainID"},
		{
			"a chain's family", chains, "solana",
			`{"family": "EVM", "chainID": 7, "nativeAsset": {"wrapped": "0x4200000000000000000000000000000000000006"},
			  "quoteAssets": [{"symbol": "WETH", "address": "0x4200000000000000000000000000000000000006"}]}`,
			"spec.family: Invalid value: family can't change: delete this Chain and declare another with a new id",
		},
		{"a chain's genesis hash", chains, "solana", `{"genesisHash": "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"}`, "genesisHash can't change"},
		{"a chain's genesis hash, left out", chains, "solana", `{"genesisHash": null}`, "genesisHash can't change"},
		{"a chain's label, order and nodes", chains, "base", `{"label": "B", "order": 3, "rpc": {"endpoints": [{"url": "http://node"}]}}`, ""},
		{"whether a chain is suspended", chains, "base", `{"suspend": true}`, ""},
		{"a venue's id", venues, "four-meme", `{"id": "other"}`, "spec.id: Invalid value: \"other\": id can't change: delete this LaunchVenue and declare another"},
		{
			"a venue's protocol", venues, "four-meme", `{"protocol": "FourMemeV1"}`,
			"spec.protocol: Invalid value: \"FourMemeV1\": protocol can't change: delete this LaunchVenue and declare another with a new id",
		},
		{"a venue's label, ownership and chains", venues, "four-meme", `{"label": "4", "ownership": "Further", "chains": [{"chain": "x", "tradesInApp": true}]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, message := ask(t, http.MethodPatch, pathOf(namespace, tt.resource, "/", tt.object, dryRun), asPatch, `{"spec": `+tt.patch+`}`)
			if !strings.Contains(message, tt.want) || tt.want == "" && message != "" {
				t.Errorf("got %q, want %q in it", message, tt.want)
			}
		})
	}
}

// What the API server fills in is what an omitted field means elsewhere.
func TestDefaults(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	var c v1alpha1.Chain
	must(t, &c, http.MethodPost, pathOf(namespace, chains), asYAML,
		strings.NewReplacer("suspend: true", "rpc: {endpoints: [{url: http://node}]}", "  tracking: {holders: Declared, pastDays: 30}\n", "").Replace(resolvetest.GoodSolana))
	if s := c.Spec; s.Start == nil || !s.Start.Now || s.Start.Block != nil || s.Tracking.MinLiquidityUSD != v1alpha1.DefaultMinLiquidityUSD ||
		s.Tracking.Holders != v1alpha1.DefaultHolders || *s.ReorgBlocks != v1alpha1.DefaultReorgBlocks ||
		*s.FinalityDepth != v1alpha1.DefaultFinalityDepth || *s.Order != v1alpha1.DefaultOrder ||
		*s.RPC.Endpoints[0].Weight != v1alpha1.DefaultWeight || s.Suspend || s.Indexer.MaxLag != nil {
		t.Errorf("chain %+v", s)
	}
	var v v1alpha1.LaunchVenue
	must(t, &v, http.MethodPost, pathOf(namespace, venues), asYAML, strings.NewReplacer("Further", "Outside", "filterValue: clanker",
		"filterValue: clanker\n  badge: C", "tradesInApp: true", "linkTemplate: https://clanker.example/{mint}").Replace(resolvetest.GoodFurtherVenue))
	if s := v.Spec; *s.Order != v1alpha1.DefaultOrder || s.Default || s.Chains[0].WantedState != v1alpha1.VenueOpen || s.Chains[0].TradesInApp {
		t.Errorf("venue %+v", s)
	}
}

// A manifest means the same whether it is read from a file or has gone through an API server.
func TestServedLikeFiles(t *testing.T) {
	t.Parallel()
	m, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	var fromFiles, fromServer struct {
		chains []v1alpha1.Chain
		venues []v1alpha1.LaunchVenue
	}
	for i := range m.Chains {
		var served v1alpha1.Chain
		must(t, &served, http.MethodPost, pathOf("default", chains, dryRun), "application/json", encode(t, m.Chains[i].Resource))
		fromFiles.chains, fromServer.chains = append(fromFiles.chains, m.Chains[i].Resource), append(fromServer.chains, served)
	}
	for i := range m.Venues {
		var served v1alpha1.LaunchVenue
		must(t, &served, http.MethodPost, pathOf("default", venues, dryRun), "application/json", encode(t, m.Venues[i].Resource))
		fromFiles.venues, fromServer.venues = append(fromFiles.venues, m.Venues[i].Resource), append(fromServer.venues, served)
	}
	for i := range fromFiles.chains {
		want := document(t, &fromFiles.chains[i], fromFiles.venues)
		if got := document(t, &fromServer.chains[i], fromServer.venues); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", fromFiles.chains[i].Name, got, want)
		}
	}
	want, err := resolve.Catalog(fromFiles.chains, fromFiles.venues)
	if err != nil {
		t.Fatal(err)
	}
	got, err := resolve.Catalog(fromServer.chains, fromServer.venues)
	if err != nil {
		t.Fatal(err)
	}
	got.ChangedAt = want.ChangedAt // files have no time
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func document(t *testing.T, c *v1alpha1.Chain, on []v1alpha1.LaunchVenue) []byte {
	t.Helper()
	doc, err := resolve.Chain(c, on, "/secrets")
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Whoever may write the status can't change the spec by it, nor the other way round; only the spec counts generations.
func TestStatusIsApart(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	const condition = `"conditions": [{"type": "Ready"}]`
	for _, tt := range []struct {
		manifest, name, status, field string
		bad                           []string
	}{
		{resolvetest.Good, "base", `"lag": "<15s"`, "lag", []string{`"lag": "14s"`, condition}},
		{resolvetest.GoodVenue, "four-meme", `"open": "1/1"`, "open", []string{
			`"open": "123456789"`, `"chains": [{"chain": "base", "state": "Ajar", "reason": "Open"}]`, condition,
		}},
	} {
		object := pathOf(namespace, plural(tt.manifest), "/", tt.name)
		must(t, nil, http.MethodPost, pathOf(namespace, plural(tt.manifest)), asYAML, tt.manifest)
		var got struct {
			Metadata metav1.ObjectMeta
			Spec     struct{ Label string }
			Status   map[string]any
		}
		patch := `{"spec": {"label": "changed by status"}, "status": {` + tt.status + `}}`
		must(t, &got, http.MethodPatch, object+"/status", asPatch, patch)
		if got.Spec.Label == "changed by status" || got.Status[tt.field] == nil || got.Metadata.Generation != 1 {
			t.Errorf("%s: by its status: %+v", tt.name, got)
		}
		must(t, &got, http.MethodPatch, object, asPatch, `{"spec": {"label": "changed"}, "status": null}`)
		if got.Spec.Label != "changed" || got.Status[tt.field] == nil || got.Metadata.Generation != 2 {
			t.Errorf("%s: by itself: %+v", tt.name, got)
		}
		for _, bad := range tt.bad {
			_, message := ask(t, http.MethodPatch, object+"/status", asPatch, `{"status": {`+bad+`}}`)
			if field, _, _ := strings.Cut(bad, `":`); !strings.Contains(message, "status."+strings.Trim(field, `"`)) {
				t.Errorf("%s: status %s: %q", tt.name, bad, message)
			}
		}
	}
}

// Every list, map and text is bounded, so that an object has a size and the rules have a cost; every number of the spec is
// too. What is Kubernetes' own is left alone.
func TestEverythingIsBounded(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{chains, venues} {
		var crd struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema schema `json:"openAPIV3Schema"`
					}
				}
			}
		}
		must(t, &crd, http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+resource+".boardwalk.dev", asYAML, "")
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		seen := 0
		for _, part := range []string{"spec", "status"} {
			seen += bounded(t, resource+" "+part, root.Properties[part], part == "spec")
		}
		if seen < 20 {
			t.Errorf("%s: %d fields were looked at: the schema wasn't read", resource, seen)
		}
	}
}

type schema struct {
	Type                 string
	Format               string
	Enum                 []any
	Properties           map[string]schema
	Items                *schema
	AdditionalProperties *schema
	MaxLength            *int
	MaxItems             *int
	MaxProperties        *int
	Minimum              *float64
	Maximum              *float64
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
	AnyFields            bool `json:"x-kubernetes-preserve-unknown-fields"`
}

// bounded gives the number of fields that it has looked at.
func bounded(t *testing.T, path string, s schema, numbers bool) (seen int) {
	t.Helper()
	switch {
	case s.IntOrString || s.AnyFields,
		s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && s.Format != "date-time",
		s.Type == "array" && s.MaxItems == nil,
		s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil,
		s.Type == "object" && s.AdditionalProperties == nil && len(s.Properties) == 0,
		numbers && (s.Type == "integer" || s.Type == "number") && (s.Minimum == nil || s.Maximum == nil):
		t.Errorf("%s: the %s has no bound in the schema", path, s.Type)
	}
	seen = 1
	for name, p := range s.Properties {
		if strings.HasSuffix(path, " status") && name == "conditions" {
			if p.MaxItems == nil {
				t.Errorf("%s.%s: the list has no bound", path, name)
			}
			continue // metav1.Condition is Kubernetes' own
		}
		seen += bounded(t, path+"."+name, p, numbers)
	}
	if s.Items != nil {
		seen += bounded(t, path+"[]", *s.Items, numbers)
	}
	if s.AdditionalProperties != nil {
		seen += bounded(t, path+"{}", *s.AdditionalProperties, numbers)
	}
	return seen
}

// ready is a list of one condition, Ready, as JSON.
func ready(status, reason, message string) string {
	return fmt.Sprintf(`[{"type": "Ready", "status": %q, "reason": %q, "message": %q, "lastTransitionTime": "2026-01-02T03:04:05Z"}]`,
		status, reason, message)
}
