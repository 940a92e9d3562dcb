package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	reg "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/boardwalkhq/boardwalk/hack/publish/cosign"
)

// fake is a registry in this process that keeps a list of the manifests that are written, and may refuse them.
type fake struct {
	address string
	handler http.Handler
	mu      sync.Mutex
	written []string // repository:tag or repository@digest
	refuse  func(path string) bool
}

func newFake(t *testing.T, referrers bool) *fake {
	t.Helper()
	f := &fake{handler: reg.New(reg.WithReferrersSupport(referrers), reg.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)))}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.address = strings.TrimPrefix(server.URL, "http://")
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if repository, ref, found := strings.Cut(r.URL.Path, "/manifests/"); found && r.Method == http.MethodPut {
		f.mu.Lock()
		refused := f.refuse != nil && f.refuse(r.URL.Path)
		if !refused {
			f.written = append(f.written, strings.TrimPrefix(repository, "/v2/")+" "+ref)
		}
		f.mu.Unlock()
		if refused {
			http.Error(w, `{"errors":[{"code":"DENIED","message":"the disk is full"}]}`, http.StatusInsufficientStorage)
			return
		}
	}
	f.handler.ServeHTTP(w, r)
}

// take returns what was written since the last call.
func (f *fake) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	written := f.written
	f.written = nil
	return written
}

// newKey writes an unencrypted key and reads it.
func newKey(t *testing.T) (*cosign.Key, *ecdsa.PublicKey) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := cosign.ReadKey(file, func() (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return key, &private.PublicKey
}

func newTestRun(t *testing.T, address string, key *cosign.Key) (*run, *strings.Builder) {
	t.Helper()
	opened, err := openRegistry(address+"/reef", true, authn.DefaultKeychain)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	return &run{key: key, builder: builder{registry: opened, version: "1.2.3", say: func(format string, arguments ...any) {
		_, _ = fmt.Fprintf(&said, format+"\n", arguments...)
	}}}, &said
}

// tiny is an artefact like an image of one platform, with random content.
func tiny(t *testing.T, r *run, path string) artefact {
	t.Helper()
	index, err := random.Index(100, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := r.registry.repository(path)
	if err != nil {
		t.Fatal(err)
	}
	a := artefact{tag: repository.Tag(r.version), manifests: make([]manifest, 2)}
	if err := a.complete(index); err != nil {
		t.Fatal(err)
	}
	inside, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	a.manifests[1] = manifest{descriptor: inside.Manifests[0], sbom: []byte(`{"bomFormat":"CycloneDX"}`)}
	if err := a.provenance(provenance{}); err != nil {
		t.Fatal(err)
	}
	return a
}

func isVersion(written string) bool { return strings.HasSuffix(written, " 1.2.3") }

// TestVersionsAreTaggedLast, after everything that belongs to them, in registries that list referrers by themselves and in others.
func TestVersionsAreTaggedLast(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{true, false} {
		f := newFake(t, referrers)
		key, _ := newKey(t)
		r, said := newTestRun(t, f.address, key)
		all := []artefact{tiny(t, r, "one"), tiny(t, r, "charts/two")}
		if err := r.release(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		written := f.take()
		if n := len(written); n < 8 || !slices.Equal(written[n-2:], []string{"reef/one 1.2.3", "reef/charts/two 1.2.3"}) ||
			slices.ContainsFunc(written[:n-2], isVersion) {
			t.Errorf("it wrote, in this order,\n%s", strings.Join(written, "\n"))
		}
		for _, a := range all {
			for i, m := range a.manifests {
				checkBeside(t, a.tag.Digest(m.descriptor.Digest.String()), i == 1)
			}
		}
		if !strings.Contains(said.String(), "tagged "+all[0].digest.String()+" as "+f.address+"/reef/one:1.2.3") {
			t.Errorf("it says\n%s", said)
		}
		said.Reset()
		if err := r.release(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said.String(), "published already") {
			t.Errorf("the second time it says\n%s", said)
		}
		for _, w := range f.take() {
			if isVersion(w) || strings.HasSuffix(w, ".sig") || strings.HasSuffix(w, ".att") {
				t.Errorf("the second time it wrote %s", w)
			}
		}
	}
}

// checkBeside looks for the referrers of a manifest, and for its signatures and attestations.
func checkBeside(t *testing.T, of name.Digest, isImage bool) {
	t.Helper()
	list, err := remote.Referrers(of)
	if err != nil {
		t.Fatal(err)
	}
	found, err := list.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, m := range found.Manifests {
		// The registry in this process takes the config's type for that of the list.
		referrer, err := remote.Get(of.Context().Digest(m.Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		said, err := v1.ParseManifest(bytes.NewReader(referrer.Manifest))
		if err != nil || said.Subject == nil || said.Subject.Digest.String() != of.DigestStr() {
			t.Fatalf("%s is beside %s: %v", referrer.Manifest, of, err)
		}
		types = append(types, said.ArtifactType)
	}
	slices.Sort(types)
	want := []string{"application/vnd.in-toto+json"}
	if isImage {
		want = []string{"application/vnd.cyclonedx+json", "application/vnd.in-toto+json"}
	}
	if !slices.Equal(types, want) {
		t.Errorf("%s has the referrers %q, wanted %q", of, types, want)
	}
	for _, tag := range []name.Tag{cosign.SignatureTag(of), cosign.AttestationTag(of)} {
		if _, err := remote.Head(tag); err != nil {
			t.Error(err)
		}
	}
}

func TestAnotherContentOfAVersionIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t, true)
	r, _ := newTestRun(t, f.address, nil)
	one, two, other := tiny(t, r, "one"), tiny(t, r, "two"), tiny(t, r, "two")
	if err := r.release(t.Context(), []artefact{two}); err != nil {
		t.Fatal(err)
	}
	f.take()
	err := r.release(t.Context(), []artefact{one, other})
	if err == nil {
		t.Fatal("another content was published under the same version")
	}
	for _, want := range []string{f.address + "/reef/two:1.2.3", two.digest.String(), other.digest.String(), "raise version and appVersion"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %v doesn't say %s", err, want)
		}
	}
	if written := f.take(); len(written) > 0 {
		t.Errorf("it wrote all the same:\n%s", strings.Join(written, "\n"))
	}
	// Somebody else publishes after the first look.
	f.refuse = func(path string) bool {
		if strings.Contains(path, "/one/") {
			f.refuse = nil
			f.mu.Unlock()
			defer f.mu.Lock()
			if err := remote.Push(one.tag, other.content); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	if err := r.release(t.Context(), []artefact{one, two}); err == nil || !strings.Contains(err.Error(), "raise version") {
		t.Errorf("a version that was published meanwhile: %v", err)
	}
}

// TestAPublicationThatBreaksOff leaves no version, and is finished by the next.
func TestAPublicationThatBreaksOff(t *testing.T) {
	t.Parallel()
	key, _ := newKey(t)
	f := newFake(t, false)
	r, _ := newTestRun(t, f.address, key)
	all := []artefact{tiny(t, r, "one"), tiny(t, r, "two")}
	for end := range 100 {
		n := 0
		f.refuse = func(string) bool { n++; return n > end }
		again, _ := newTestRun(t, f.address, key) // as a process of its own
		err := again.release(t.Context(), all)
		if err == nil {
			if end < 8 {
				t.Errorf("it ended after %d manifests", end)
			}
			for _, a := range all {
				if found, err := remote.Head(a.tag); err != nil || found.Digest != a.digest {
					t.Errorf("%s is %v, %v", a.tag, found, err)
				}
				for i, m := range a.manifests {
					checkBeside(t, a.tag.Digest(m.descriptor.Digest.String()), i == 1)
				}
			}
			return
		}
		if !strings.Contains(err.Error(), "disk is full") {
			t.Fatal(err)
		}
		written := f.take()
		if first := slices.IndexFunc(written, isVersion); first >= 0 && first != len(written)-1 {
			t.Errorf("after a version was tagged it wrote\n%s", strings.Join(written, "\n"))
		}
	}
	t.Error("it never ended")
}

func TestWithoutAKeyNothingIsSigned(t *testing.T) {
	t.Parallel()
	f := newFake(t, true)
	r, _ := newTestRun(t, f.address, nil)
	all := []artefact{tiny(t, r, "one")}
	if err := r.release(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, w := range f.take() {
		if strings.HasSuffix(w, ".sig") || strings.HasSuffix(w, ".att") {
			t.Errorf("it wrote %s", w)
		}
	}
	// A key can be given later.
	key, _ := newKey(t)
	later, said := newTestRun(t, f.address, key)
	if err := later.release(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	checkBeside(t, all[0].tag.Digest(all[0].digest.String()), false)
	if !strings.Contains(said.String(), "published already") {
		t.Errorf("it says\n%s", said)
	}
}
