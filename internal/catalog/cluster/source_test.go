package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// The chains and the venue of the manifests: base is where the venue is.
const base, solana, venue = resolvetest.Good, resolvetest.GoodSolana, resolvetest.GoodVenue

// says tells a catalogue in words: chains, and venues with their chains, open ones in capitals.
func says(c *catalog.Catalog) string {
	var words []string
	for i := range c.Chains {
		words = append(words, c.Chains[i].Label)
	}
	for i := range c.Venues {
		for _, on := range c.Venues[i].Chains {
			word := c.Venues[i].ID + "@" + on.Chain
			if on.Open {
				word = strings.ToUpper(word)
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func follows(t *testing.T, live *catalog.Live, want string) {
	t.Helper()
	eventually(t, "the catalogue says "+want+", not "+says(live.Now()), func() bool { return says(live.Now()) == want })
}

// TestChangesShow has everything change that can, seen by whoever may list and watch and nothing else.
func TestChangesShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, kube)
	w.apply(t, base)
	w.apply(t, solana)
	w.apply(t, venue)
	s := watch(t, w.reader, w.namespace)
	live := s.live(t)
	if got, want := says(live.Now()), "Base Solana four-meme@base"; got != want {
		t.Fatalf("at first it says %s, want %s", got, want)
	}
	if err := s.Ready(); err != nil {
		t.Errorf("it isn't ready: %v", err)
	}
	created := live.Now().ChangedAt
	if age := time.Since(created); age < -time.Minute || age > time.Hour {
		t.Errorf("it was changed at %v, want the time of the newest manifest", created)
	}

	opened := time.Now().Add(time.Minute).Truncate(time.Second)
	w.set(t, "four-meme", "base", v1alpha1.VenueOpen, opened)
	follows(t, live, "Base Solana FOUR-MEME@BASE")
	if got := live.Now().ChangedAt; !got.Equal(opened) {
		t.Errorf("a venue that opened at %v changed it at %v", opened, got)
	}
	w.set(t, "four-meme", "base", v1alpha1.VenueClosed, opened)
	follows(t, live, "Base Solana four-meme@base")
	w.apply(t, base, "label: Base", "label: Grundlage")
	follows(t, live, "Grundlage Solana four-meme@base")
	w.apply(t, solana, "label: Solana", "label: Solana\n  order: 1")
	follows(t, live, "Solana Grundlage four-meme@base")
	w.remove(t, v1alpha1.ChainKind, "base")
	follows(t, live, "Solana")
	w.apply(t, base)
	follows(t, live, "Solana Base four-meme@base")
	w.remove(t, v1alpha1.LaunchVenueKind, "four-meme")
	follows(t, live, "Solana Base")
	if s.metric(t, "boardwalk_catalog_errors_total") != 0 || s.metric(t, "boardwalk_catalog_age_seconds") != 0 ||
		s.metric(t, "boardwalk_catalog_changed_timestamp_seconds") == 0 {
		t.Errorf("the metrics say otherwise; the log: %s", s.log)
	}
}

// TestOtherNamespacesAreNotRead keeps to the namespace that was named.
func TestOtherNamespacesAreNotRead(t *testing.T) {
	t.Parallel()
	mine, other := newWorld(t, kube), newWorld(t, kube)
	other.apply(t, base)
	s := watch(t, mine.reader, mine.namespace)
	live := s.live(t)
	for deadline := time.Now().Add(10 * time.Second); s.log.count("there is no chain") != 1; time.Sleep(10 * time.Millisecond) { // it is told after it is served
		if time.Now().After(deadline) {
			t.Fatalf("an empty namespace isn't told of: %s", s.log)
		}
	}
	mine.apply(t, solana)
	follows(t, live, "Solana")
}

// TestWhatMakesNoSenseIsLeftOut has resources that the API server takes and nobody can serve: the others go on, and each is
// told once, however often something else changes.
func TestWhatMakesNoSenseIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, kube)
	w.apply(t, base)
	w.apply(t, strings.Replace(base, "  name: base", "  name: twin", 1))
	s := watch(t, w.reader, w.namespace)
	live := s.live(t)
	follows(t, live, "Base")
	const told = "a resource isn't served"
	if s.log.count(told) != 1 || s.log.count("twin") != 1 || s.metric(t, "boardwalk_catalog_faults") != 1 {
		t.Errorf("the second chain with one id is told of so: %s", s.log)
	}
	w.apply(t, solana)
	follows(t, live, "Base Solana")
	// A checksum is nothing that a schema can hold.
	w.apply(t, solana, "So11111111111111111111111111111111111111112", strings.Repeat("z", 44))
	follows(t, live, "Base")
	if s.log.count(told) != 2 || s.metric(t, "boardwalk_catalog_faults") != 2 {
		t.Errorf("the second fault is told of so: %s", s.log)
	}
	w.apply(t, base, "label: Base", "label: Grundlage")
	follows(t, live, "Grundlage")
	w.apply(t, solana)
	follows(t, live, "Grundlage Solana")
	if s.log.count(told) != 2 || s.metric(t, "boardwalk_catalog_faults") != 1 {
		t.Errorf("a fault is told again: %s", s.log)
	}
	// The oldest goes, and the next takes its place.
	w.remove(t, v1alpha1.ChainKind, "base")
	follows(t, live, "Base Solana")
}

// TestCutOff cuts a source off and makes changes meanwhile: the last catalogue stays, and the changes show when the way is
// open again.
func TestCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, kube)
	w.apply(t, base)
	w.apply(t, venue)
	config, g := through(t, w.reader)
	s := watch(t, config, w.namespace)
	live := s.live(t)
	follows(t, live, "Base four-meme@base")
	g.set(true)
	eventually(t, "the loss is noticed", func() bool { return s.metric(t, "boardwalk_catalog_age_seconds") > 0 })
	w.apply(t, base, "label: Base", "label: Grundlage")
	w.apply(t, solana)
	w.remove(t, v1alpha1.LaunchVenueKind, "four-meme")
	eventually(t, "it was tried again", func() bool { return s.metric(t, "boardwalk_catalog_errors_total") >= 4 })
	if says(live.Now()) != "Base four-meme@base" || s.Ready() != nil {
		t.Errorf("without a connection it says %s; readiness: %v", says(live.Now()), s.Ready())
	}
	if s.log.count("can't be read") != 2 || s.log.count("API server can't be reached") != 2 { // for each kind
		t.Errorf("the loss is told so: %s", s.log)
	}
	g.set(false)
	follows(t, live, "Grundlage Solana")
	eventually(t, "all is well again", func() bool {
		return s.metric(t, "boardwalk_catalog_age_seconds") == 0 && s.log.count("can be read") == 2
	})
}

// TestNotPermitted starts a source before its rights are granted: it says what to grant, waits, and goes on by itself.
func TestNotPermitted(t *testing.T) {
	t.Parallel()
	w := &world{namespace: kube.Namespace(t)}
	config := account(t, kube, w.namespace)
	s := watch(t, config, w.namespace)
	eventually(t, "it says what is missing", func() bool {
		err := s.Ready()
		return err != nil && strings.Contains(err.Error(), "chains.boardwalk.dev is forbidden") &&
			strings.Contains(err.Error(), "launchvenues.boardwalk.dev is forbidden") &&
			strings.Contains(err.Error(), "bind a Role in namespace "+w.namespace+" that allows list and watch on chains and launchvenues")
	})
	if s.log.count("can't be read") == 0 {
		t.Errorf("it isn't in the log: %s", s.log)
	}
	grant(t, kube, w.namespace)
	s.live(t)

	// Without a token there is nobody to whom something could be granted.
	stranger := rest.AnonymousClientConfig(kube.Config)
	stranger.BearerToken = "nonsense"
	s = watch(t, stranger, w.namespace)
	eventually(t, "it says that the token is none", func() bool {
		return s.Ready() != nil && strings.Contains(s.Ready().Error(), "doesn't know the token")
	})
	s.stop()
	if err := <-s.started; err == nil || !strings.Contains(err.Error(), "doesn't know the token") {
		t.Errorf("it ended with %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	config, g := through(t, kube.Config)
	_ = g.Close()
	s := watch(t, config, "default")
	eventually(t, "it says so, without the address of a request", func() bool {
		err := s.Ready()
		return err != nil && strings.Contains(err.Error(), "the API server can't be reached") && !strings.Contains(err.Error(), "https://")
	})
}

// TestAClusterThatCrashes has a cluster of its own that lacks the definitions at first, then has one that lets everything in,
// and crashes.
func TestAClusterThatCrashes(t *testing.T) {
	t.Parallel()
	own, err := kubetest.Start(t.Context(), kubetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	w := newWorld(t, own)
	s := watch(t, w.reader, w.namespace)
	eventually(t, "it says that the definitions are missing", func() bool {
		err := s.Ready()
		return err != nil && strings.Contains(err.Error(), "install the custom resource definitions of boardwalk.dev/v1alpha1")
	})
	define(t, w, "boardwalk.dev_chains.yaml", false)
	define(t, w, "boardwalk.dev_launchvenues.yaml", true)
	live := s.live(t)

	w.apply(t, base)
	w.apply(t, venue)
	w.apply(t, venue, "name: four-meme", "name: odd", "id: four-meme", "id: [odd]")
	follows(t, live, "Base four-meme@base")
	eventually(t, "what can't be decoded is told once", func() bool {
		return s.log.count("can't be decoded") == 1 && s.log.count("odd") == 1 && s.metric(t, "boardwalk_catalog_faults") == 1
	})
	w.remove(t, v1alpha1.LaunchVenueKind, "odd")
	eventually(t, "it is mended", func() bool { return s.metric(t, "boardwalk_catalog_faults") == 0 })

	own.StopAPIServer()
	eventually(t, "the loss is noticed", func() bool { return s.metric(t, "boardwalk_catalog_age_seconds") > 0 })
	if says(live.Now()) != "Base four-meme@base" || s.Ready() != nil {
		t.Errorf("without an API server it says %s; readiness: %v", says(live.Now()), s.Ready())
	}
	if err := own.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.apply(t, base, "label: Base", "label: Grundlage")
	follows(t, live, "Grundlage four-meme@base")
	w.remove(t, v1alpha1.LaunchVenueKind, "four-meme")
	follows(t, live, "Grundlage")
	eventually(t, "all is well again", func() bool { return s.metric(t, "boardwalk_catalog_age_seconds") == 0 })
}

// define installs a definition; a lax one has no schema.
func define(t *testing.T, w *world, file string, lax bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(definitions, file))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(u.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	if version, ok := versions[0].(map[string]any); ok && lax {
		version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	}
	if err := unstructured.SetNestedSlice(u.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	crds := w.client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kind := v1alpha1.ChainKind
	if strings.Contains(file, "launchvenues") {
		kind = v1alpha1.LaunchVenueKind
	}
	eventually(t, file+" is served", func() bool {
		_, err := w.of(kind).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
}
