package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// startRegistry runs a registry of its own and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	program, err := kubetest.Tool(t.Context(), "registry")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	text := "version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: " + dir + "/data}}\nhttp: {addr: 127.0.0.1:0}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, program, "serve", config)
	command.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	out, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = command.Wait() // it was killed
	})
	var said strings.Builder
	listening := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }() // it must not wait for a reader
			return m[1]
		}
	}
	t.Fatalf("the registry ended:\n%s", &said)
	return ""
}

// sources is a checkout with the charts of this one, and a program that is compiled fast.
func sources(t *testing.T) build.Checkout {
	t.Helper()
	root := t.TempDir()
	for _, path := range []string{"charts/boardwalk", "charts/boardwalk-crds", "hack/images/testdata/hello"} {
		if err := os.CopyFS(filepath.Join(root, path), os.DirFS(filepath.Join("../..", path))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/reef\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := build.Checkout{Root: root, Built: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Version: "v1.2.3"}
	git := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		command.Dir = root
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "all")
	c.Commit = git("rev-parse", "HEAD")
	return c
}

// get reads from the registry, without any library for registries.
func get(t *testing.T, address, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v2/reef/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json")
	answer, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
	return content
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return value
}

func verify(t *testing.T, public *ecdsa.PublicKey, message []byte, encoded string) {
	t.Helper()
	signature, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(message)
	if !ecdsa.VerifyASN1(public, hash[:], signature) {
		t.Errorf("the signature is wrong of %s", message)
	}
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }

// checkSigned verifies by hand what cosign verify does, and returns what is attested, by the type of the predicate.
func checkSigned(t *testing.T, address, repository, digest string, public *ecdsa.PublicKey) map[string]json.RawMessage {
	t.Helper()
	tag := strings.Replace(digest, ":", "-", 1)
	signatures := decode[v1.Manifest](t, get(t, address, repository+"/manifests/"+tag+".sig"))
	if len(signatures.Layers) != 1 || signatures.Layers[0].MediaType != "application/vnd.dev.cosign.simplesigning.v1+json" {
		t.Fatalf("%s %s has the signatures %+v", repository, digest, signatures)
	}
	claim := get(t, address, repository+"/blobs/"+signatures.Layers[0].Digest.String())
	verify(t, public, claim, signatures.Layers[0].Annotations["dev.cosignproject.cosign/signature"])
	want := `{"critical":{"identity":{"docker-reference":"` + address + `/reef/` + repository + `"},"image":{"docker-manifest-digest":"` + digest +
		`"},"type":"cosign container image signature"},"optional":null}`
	if string(claim) != want {
		t.Errorf("what is signed is %s\nwanted %s", claim, want)
	}
	attested := make(map[string]json.RawMessage)
	for _, l := range decode[v1.Manifest](t, get(t, address, repository+"/manifests/"+tag+".att")).Layers {
		envelope := decode[struct {
			PayloadType string
			Payload     []byte
			Signatures  []struct{ Sig string }
		}](t, get(t, address, repository+"/blobs/"+l.Digest.String()))
		if l.MediaType != "application/vnd.dsse.envelope.v1+json" || envelope.PayloadType != "application/vnd.in-toto+json" || len(envelope.Signatures) != 1 {
			t.Fatalf("an attestation of %s is %+v in %s", digest, envelope, l.MediaType)
		}
		// The pre-authentication encoding of DSSE.
		verify(t, public, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(envelope.PayloadType), envelope.PayloadType, len(envelope.Payload), envelope.Payload),
			envelope.Signatures[0].Sig)
		said := decode[struct {
			Type          string `json:"_type"`
			PredicateType string
			Subject       []struct{ Digest map[string]string }
			Predicate     json.RawMessage
		}](t, envelope.Payload)
		if said.Type != "https://in-toto.io/Statement/v1" || said.PredicateType != l.Annotations["predicateType"] ||
			!slices.ContainsFunc(said.Subject, func(s struct{ Digest map[string]string }) bool { return "sha256:"+s.Digest["sha256"] == digest }) {
			t.Errorf("the statement %s of %+v is of %s", said.PredicateType, said.Subject, digest)
		}
		attested[said.PredicateType] = said.Predicate
	}
	return attested
}

func TestPublishToARegistry(t *testing.T) {
	t.Parallel()
	address := startRegistry(t)
	key, public := newKey(t)
	r, said := newTestRun(t, address, key)
	r.checkout, r.pkg, r.id = sources(t), "./hack/images/testdata/hello", "https://ci.example.com/reef"
	r.platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}}
	var err error
	if r.kinds, err = build.ParseKinds("boardwalk"); err != nil {
		t.Fatal(err)
	}
	if err := r.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	version := r.version

	raw := get(t, address, "boardwalk/manifests/"+version)
	index := decode[v1.IndexManifest](t, raw)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform.Architecture != "amd64" {
		t.Fatalf("the image is %s", raw)
	}
	ofIndex := checkSigned(t, address, "boardwalk", digestOf(raw), public)
	ofImage := checkSigned(t, address, "boardwalk", index.Manifests[0].Digest.String(), public)
	if got := slices.Sorted(maps.Keys(ofImage)); !slices.Equal(got, []string{cycloneDX, provenanceV1}) || len(ofIndex) != 1 {
		t.Errorf("attested are %q, and of the index %d", got, len(ofIndex))
	}
	checkProvenance(t, ofIndex[provenanceV1], r.checkout.Commit)
	if components := decode[struct{ Components []struct{ Name string } }](t, ofImage[cycloneDX]).Components; len(components) != 1 || components[0].Name != "stdlib" {
		t.Errorf("the program is made of %v", components)
	}
	for _, name := range chartNames {
		checkSigned(t, address, "charts/"+name, digestOf(get(t, address, "charts/"+name+"/manifests/"+version)), public)
	}
	checkHelm(t, address, version, digestOf(raw))

	said.Reset()
	if err := r.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "published already: all tags of version "+version) {
		t.Errorf("the second time it says\n%s", said)
	}
	if err := os.WriteFile(filepath.Join(r.checkout.Root, "extra.go"), []byte("package reef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.publish(t.Context()); err == nil || !strings.Contains(err.Error(), "?? extra.go") {
		t.Errorf("a file that git doesn't know: %v", err)
	}
}

func checkProvenance(t *testing.T, predicate json.RawMessage, commit string) {
	t.Helper()
	said := decode[struct {
		BuildDefinition struct {
			BuildType            string
			ExternalParameters   map[string]any
			ResolvedDependencies []struct {
				URI    string
				Digest map[string]string
			}
		}
		RunDetails struct{ Builder struct{ ID string } }
	}](t, predicate)
	of := said.BuildDefinition.ResolvedDependencies
	if said.RunDetails.Builder.ID != "https://ci.example.com/reef" || !strings.Contains(said.BuildDefinition.BuildType, "docs/releasing.md#provenance") ||
		said.BuildDefinition.ExternalParameters["image"] != "boardwalk" || len(of) != 2 || of[0].Digest["gitCommit"] != commit ||
		!strings.HasPrefix(of[1].URI, "pkg:golang/stdlib@1.") {
		t.Errorf("the provenance is %s", predicate)
	}
}

// checkHelm installs from the registry as both versions of Helm do, as far as that goes without a cluster.
func checkHelm(t *testing.T, address, version, digest string) {
	t.Helper()
	for _, name := range []string{"helm3", "helm"} {
		program, err := kubetest.Tool(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		helm := func(args ...string) string {
			var stdout, stderr bytes.Buffer
			command := exec.CommandContext(t.Context(), program, append(args, "--plain-http")...)
			command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home+"/cache", "HELM_CONFIG_HOME="+home+"/config", "HELM_DATA_HOME="+home+"/data")
			command.Dir, command.Stdout, command.Stderr = home, &stdout, &stderr
			if err := command.Run(); err != nil {
				t.Fatalf("%s %q: %v\n%s", name, args, err, &stderr)
			}
			return stdout.String()
		}
		chart := "oci://" + address + "/reef/charts/boardwalk"
		helm("pull", chart, "--version", version)
		if _, err := os.Stat(filepath.Join(home, "boardwalk-"+version+".tgz")); err != nil {
			t.Error(err)
		}
		pinned := digestOf(get(t, address, "charts/boardwalk/manifests/"+version))
		if operator := helm("template", "boardwalk", chart+"@"+pinned, "--show-only", "templates/operator-deployment.yaml"); !strings.Contains(operator, digest) {
			t.Errorf("by the chart's digest %s renders\n%s", name, operator)
		}
		if values := helm("show", "values", chart, "--version", version); !strings.Contains(values, "# -- sha256:… pins the image") {
			t.Errorf("%s shows the values\n%s", name, values)
		}
		rendered := helm("template", "boardwalk", chart, "--version", version)
		if want := address + "/reef/boardwalk:" + version + "@" + digest; strings.Count(rendered, want) < 3 || strings.Contains(rendered, "image: boardwalk:") {
			t.Errorf("%s renders other images than %s", name, want)
		}
		if rendered := helm("template", "crds", chart+"-crds", "--version", version); !strings.Contains(rendered, "name: chains.boardwalk.dev") {
			t.Errorf("%s renders the definitions as\n%s", name, rendered)
		}
	}
}
