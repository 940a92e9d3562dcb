package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// TestOldObjectsStayValid: testdata/old has the samples of commit 345045d (2026-11-20), the first that had Chains and LaunchVenues, as they were.
// A platform team that has such a file must still be able to apply it.
func TestOldObjectsStayValid(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/old/*.yaml")
	if err != nil || len(paths) != 16 {
		t.Fatalf("%d old objects, %v", len(paths), err)
	}
	kinds := map[string]int{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds[plural(string(raw))]++
		if _, message := ask(t, http.MethodPost, pathOf("default", plural(string(raw)), dryRun), asYAML, string(raw)); message != "" {
			t.Errorf("%s, which was right once, is refused: %s", path, message)
		}
	}
	if kinds[chains] != 9 || kinds[venues] != 7 {
		t.Errorf("the old objects are %v", kinds)
	}
}

// The commands that docs/crd-versions.md gives for the way to v1.
const (
	readStored = `kubectl get crd chains.boardwalk.dev launchvenues.boardwalk.dev -o custom-columns=NAME:.metadata.name,STORED:.status.storedVersions`
	rewrite    = `kubectl get chains.v1.boardwalk.dev,launchvenues.v1.boardwalk.dev --all-namespaces -o yaml | kubectl replace -f -`
	forget     = `kubectl patch crd chains.boardwalk.dev launchvenues.boardwalk.dev --subresource=status --type=merge -p '{"status":{"storedVersions":["v1"]}}'`
)

// TestTheDocumentedCommandsAreTheTriedOnes: the page shows exactly the commands that these tests run.
func TestTheDocumentedCommandsAreTheTriedOnes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/crd-versions.md")
	if err != nil {
		t.Fatal(err)
	}
	words := func(text string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
	}
	for _, command := range []string{readStored, rewrite, forget} {
		if !strings.Contains(words(string(page)), words(command)) {
			t.Errorf("docs/crd-versions.md lacks the command %s", command)
		}
	}
}

// objects of the way to v1, with a status of each.
var onTheWay = []struct{ resource, name, manifest, status string }{
	{chains, "base", resolvetest.Good, fmt.Sprintf(`{"observedGeneration": 1, "lag": "<2m", "conditions": %s}`, ready("False", "CatchingUp", "it reads the past"))},
	{venues, "four-meme", resolvetest.GoodVenue, fmt.Sprintf(`{"observedGeneration": 1, "open": "1/2", "closedOn": "bsc (WantedClosed)", "conditions": %s,
		"chains": [{"chain": "base", "state": "Open", "reason": "Open", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}`, ready("True", "Open", "it is open"))},
}

// way is a Kubernetes of the test's own, since its definitions change.
type way struct {
	*kubetest.Cluster

	client    *http.Client
	namespace string
}

// ask gives what the API server has against a request. A version that isn't served has no status to say so.
func (w *way) ask(t *testing.T, into any, method, path, contentType, body string) (message string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.Config.Host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		return fmt.Sprintf("%s: %s", response.Status, answer)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatal(err)
		}
	}
	return ""
}

func (w *way) must(t *testing.T, into any, method, path, contentType, body string) {
	t.Helper()
	if message := w.ask(t, into, method, path, contentType, body); message != "" {
		t.Fatalf("%s %s: %s", method, path, message)
	}
}

func (w *way) path(version, resource, name string) string {
	return "/apis/boardwalk.dev/" + version + "/namespaces/" + w.namespace + "/" + resource + "/" + name
}

// object is what the test compares.
type object struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		ResourceVersion string `json:"resourceVersion"`
		UID             string `json:"uid"`
		Generation      int    `json:"generation"`
	} `json:"metadata"`
	Spec   map[string]any `json:"spec"`
	Status map[string]any `json:"status"`
}

// read reads both objects in a version, and waits until that is served.
func (w *way) read(t *testing.T, version string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for _, o := range onTheWay {
		var got object
		var message string
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if message = w.ask(t, &got, http.MethodGet, w.path(version, o.resource, o.name), asYAML, ""); message == "" || time.Now().After(end) {
				break
			}
		}
		if message != "" {
			t.Fatalf("%s as %s: %s", o.resource, version, message)
		}
		if got.APIVersion != "boardwalk.dev/"+version || len(got.Spec) < 5 || len(got.Status) < 3 {
			t.Fatalf("%s as %s: %+v", o.resource, version, got)
		}
		all[o.resource] = got
	}
	return all
}

// same fails unless both objects have the spec and the status that they had.
func same(t *testing.T, when string, got, want map[string]object) {
	t.Helper()
	for resource, was := range want {
		is := got[resource]
		if !reflect.DeepEqual(is.Spec, was.Spec) || !reflect.DeepEqual(is.Status, was.Status) || is.Metadata.UID != was.Metadata.UID ||
			is.Metadata.Generation != was.Metadata.Generation {
			t.Errorf("%s, %s: got %+v\nwant %+v", resource, when, is, was)
		}
	}
}

func definitionPath(resource string) string {
	return "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + resource + ".boardwalk.dev"
}

// versions changes both definitions to the versions given, all with the schema of today's v1alpha1, and gives the API server's objections. Each is
// a name, and after it "served" and "stored" where it is.
func (w *way) versions(t *testing.T, list ...string) (messages []string) {
	t.Helper()
	for _, resource := range []string{chains, venues} {
		var definition struct {
			Spec struct {
				Versions []map[string]any `json:"versions"`
			} `json:"spec"`
		}
		w.must(t, &definition, http.MethodGet, definitionPath(resource), asYAML, "")
		var all []map[string]any
		for _, item := range list {
			words := strings.Fields(item)
			version := maps.Clone(definition.Spec.Versions[0])
			version["name"], version["served"], version["storage"] = words[0], slices.Contains(words, "served"), slices.Contains(words, "stored")
			all = append(all, version)
		}
		body := encode(t, map[string]any{"spec": map[string]any{"conversion": map[string]any{"strategy": "None"}, "versions": all}})
		if message := w.ask(t, nil, http.MethodPatch, definitionPath(resource), asPatch, body); message != "" {
			messages = append(messages, message)
		}
	}
	return messages
}

func (w *way) mustVersions(t *testing.T, list ...string) {
	t.Helper()
	if messages := w.versions(t, list...); len(messages) > 0 {
		t.Fatalf("versions %q: %q", list, messages)
	}
}

// shell runs a command of the page.
func (w *way) shell(t *testing.T, command string) string {
	t.Helper()
	program, err := kubetest.Tool(t.Context(), "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	cmd.Env = []string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + w.Kubeconfig}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// stored fails unless both definitions say that objects may be stored in these versions.
func (w *way) stored(t *testing.T, want string) {
	t.Helper()
	if out := w.shell(t, readStored); strings.Count(out, " "+want+"\n") != 2 {
		t.Errorf("stored are not %s:\n%s", want, out)
	}
}

// startWay has both objects with a status, as today's definitions serve them.
func startWay(t *testing.T) *way {
	t.Helper()
	own, err := kubetest.Start(t.Context(), kubetest.Options{CRDs: []string{"../../config/crd/bases"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	w := &way{Cluster: own, namespace: own.Namespace(t)}
	if w.client, err = rest.HTTPClientFor(own.Config); err != nil {
		t.Fatal(err)
	}
	for _, o := range onTheWay {
		w.must(t, nil, http.MethodPost, w.path("v1alpha1", o.resource, "")+"?fieldValidation=Strict", asYAML, o.manifest)
		w.must(t, nil, http.MethodPatch, w.path("v1alpha1", o.resource, o.name)+"/status", asPatch, `{"status": `+o.status+`}`)
	}
	return w
}

// TestOlderDefinitionsTakeNewFieldsAway: from answers at once, from an object when anybody writes it.
func TestOlderDefinitionsTakeNewFieldsAway(t *testing.T) {
	t.Parallel()
	w := startWay(t)
	var older, newer map[string]any
	w.must(t, &older, http.MethodGet, definitionPath(chains), asYAML, "")
	w.must(t, &newer, http.MethodGet, definitionPath(chains), asYAML, "")
	versions, _, _ := unstructured.NestedSlice(newer, "spec", "versions")
	version, _ := versions[0].(map[string]any)
	if err := unstructured.SetNestedField(version, map[string]any{"type": "string"}, "schema", "openAPIV3Schema", "properties", "spec", "properties", "newer"); err != nil {
		t.Fatal(err)
	}
	change := func(to any) {
		t.Helper()
		w.must(t, nil, http.MethodPatch, definitionPath(chains), asPatch, encode(t, map[string]any{"spec": map[string]any{"versions": to}}))
	}
	olderVersions, _, _ := unstructured.NestedSlice(older, "spec", "versions")
	has := func(want any) {
		t.Helper()
		var got any
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if got = w.read(t, "v1alpha1")[chains].Spec["newer"]; got == want {
				return
			}
		}
		t.Fatalf("the newer field is %v, wanted %v", got, want)
	}
	path := w.path("v1alpha1", chains, "base")
	accepts := func(query string) { // once the newer definition is the one that counts
		t.Helper()
		message := "nothing was asked"
		for end := time.Now().Add(30 * time.Second); message != "" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			message = w.ask(t, nil, http.MethodPatch, path+query, asPatch, `{"spec": {"newer": "kept"}}`)
		}
		if message != "" {
			t.Fatal(message)
		}
	}
	change(versions)
	accepts("?fieldValidation=Strict")
	has("kept")
	change(olderVersions)
	has(nil)
	change(versions)
	has("kept")
	change(olderVersions)
	has(nil)
	w.must(t, nil, http.MethodPatch, path+"/status", asPatch, `{"status": {"lag": "more"}}`)
	change(versions)
	accepts(dryRun)
	has(nil)
}

// TestTheWayToV1 walks docs/crd-versions.md on an API server, with a v1 that has today's schema.
func TestTheWayToV1(t *testing.T) {
	t.Parallel()
	w := startWay(t)
	was := w.read(t, "v1alpha1")

	const both = "v1 is served too"
	w.mustVersions(t, "v1alpha1 served stored", "v1 served")
	same(t, both, w.read(t, "v1"), was)
	w.stored(t, "[v1alpha1]")
	w.mustVersions(t, "v1alpha1 served", "v1 served stored")
	w.mustVersions(t, "v1alpha1 served stored", "v1 served") // the way back, while nothing was rewritten
	same(t, both, w.read(t, "v1alpha1"), was)
	if messages := w.versions(t, "v1alpha1 served stored"); len(messages) != 2 || !strings.Contains(messages[0], `status.storedVersions[1]: Invalid value: \"v1\": missing from spec.versions`) {
		t.Errorf("v1, which objects are stored in, is dropped: %q", messages)
	}
	w.mustVersions(t, "v1alpha1 served", "v1 served stored")
	same(t, "read as v1", w.read(t, "v1"), was)
	same(t, "read as v1alpha1", w.read(t, "v1alpha1"), was)
	w.stored(t, "[v1alpha1 v1]")

	// The mistake that the page warns of.
	messages := w.versions(t, "v1 served stored")
	for _, m := range messages {
		if !strings.Contains(m, `status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions`) {
			t.Errorf("v1alpha1, which objects are stored in, is dropped: %q", m)
		}
	}
	if len(messages) != 2 {
		t.Errorf("v1alpha1 is dropped though objects are stored in it: %q", messages)
	}

	before := w.read(t, "v1")
	w.shell(t, rewrite)
	after := w.read(t, "v1")
	same(t, "rewritten", after, before)
	w.shell(t, rewrite)
	again := w.read(t, "v1")
	for resource := range before {
		// The API server writes nothing where nothing changes: the first time it wrote, as the stored version did.
		if a, b, c := before[resource].Metadata, after[resource].Metadata, again[resource].Metadata; a.ResourceVersion == b.ResourceVersion || b.ResourceVersion != c.ResourceVersion {
			t.Errorf("%s: resource versions %s, rewritten %s, once more %s", resource, a.ResourceVersion, b.ResourceVersion, c.ResourceVersion)
		}
	}
	w.operatorOfBefore(t)
	before = w.read(t, "v1")
	w.shell(t, forget)
	w.stored(t, "[v1]")

	w.mustVersions(t, "v1alpha1", "v1 served stored")
	w.notServed(t, "v1alpha1")
	same(t, "v1alpha1 isn't served", w.read(t, "v1"), before)
	w.mustVersions(t, "v1 served stored")
	same(t, "v1alpha1 is gone", w.read(t, "v1"), before)
	// The API server still takes writes, and stores them.
	w.must(t, nil, http.MethodPatch, w.path("v1", chains, "base"), asPatch, `{"spec": {"label": "of v1"}}`)
	if got := w.read(t, "v1")[chains]; got.Spec["label"] != "of v1" {
		t.Errorf("the label is %v", got.Spec["label"])
	}
}

// notServed waits until nothing answers in a version.
func (w *way) notServed(t *testing.T, version string) {
	t.Helper()
	for _, o := range onTheWay {
		end := time.Now().Add(30 * time.Second)
		for w.ask(t, nil, http.MethodGet, w.path(version, o.resource, o.name), asYAML, "") == "" {
			if time.Now().After(end) {
				t.Fatalf("%s are served as %s still", o.resource, version)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// operatorOfBefore reads, watches and writes the status with the types of v1alpha1, while objects are stored as v1.
func (w *way) operatorOfBefore(t *testing.T) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	client, err := runtimeclient.NewWithWatch(w.Config, runtimeclient.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	here := runtimeclient.InNamespace(w.namespace)
	var list v1alpha1.ChainList
	if err := client.List(t.Context(), &list, here); err != nil || len(list.Items) != 1 {
		t.Fatalf("a list as v1alpha1: %d chains, %v", len(list.Items), err)
	}
	chain := list.Items[0]
	if *chain.Spec.ChainID != 8453 || chain.Status.Lag != "<2m" || len(chain.Status.Conditions) != 1 {
		t.Errorf("as v1alpha1: %+v", chain)
	}
	events, err := client.Watch(t.Context(), &v1alpha1.ChainList{}, here)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	changed := chain.DeepCopy()
	changed.Status.Lag = "<15s"
	if err := client.Status().Patch(t.Context(), changed, runtimeclient.MergeFrom(&chain)); err != nil {
		t.Fatal(err)
	}
	w.must(t, nil, http.MethodPatch, w.path("v1", chains, "base")+"/status", asPatch, `{"status": {"lag": "more"}}`)
	var lags []v1alpha1.Lag
	for len(lags) == 0 || lags[len(lags)-1] != "more" {
		select {
		case e := <-events.ResultChan():
			got, ok := e.Object.(*v1alpha1.Chain)
			if !ok || e.Type == watch.Error {
				t.Fatalf("event %s %+v", e.Type, e.Object)
			}
			lags = append(lags, got.Status.Lag)
		case <-time.After(30 * time.Second):
			t.Fatalf("no event after the lags %q", lags)
		}
	}
	if want := []v1alpha1.Lag{"<2m", "<15s", "more"}; !slices.Equal(lags, want) {
		t.Errorf("events of the lags %q, wanted %q", lags, want)
	}
	if got := w.read(t, "v1")[chains]; got.Status["lag"] != "more" || got.Metadata.Generation != 1 {
		t.Errorf("as v1 after the writes: %+v", got)
	}
}
