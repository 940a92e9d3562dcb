package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
)

// TestAPIServerFollowsACluster runs the program on a real Kubernetes: it is ready when the resources are read, tells their
// changes, and goes on without the cluster.
func TestAPIServerFollowsACluster(t *testing.T) {
	t.Parallel()
	kube, err := kubetest.Start(t.Context(), kubetest.Options{CRDs: []string{"config/crd/bases"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kube.Stop)
	client, err := dynamic.NewForConfig(kube.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := kube.Namespace(t)
	chains := client.Resource(v1alpha1.GroupVersion.WithResource("chains")).Namespace(namespace)
	create(t, chains, resolvetest.Good)
	create(t, client.Resource(v1alpha1.GroupVersion.WithResource("launchvenues")).Namespace(namespace), resolvetest.GoodVenue)

	api, operations := porttest.Address(t), porttest.Address(t)
	c := cmd.New(serve.Build{})
	c.SetOut(io.Discard)
	var log output
	c.SetErr(&log)
	c.SetArgs([]string{
		"apiserver", "--from-cluster", "--kubeconfig", kube.Kubeconfig, "--namespace", namespace,
		"--db", "sqlite:" + filepath.Join(t.TempDir(), "api.db"), "--listen", api, "--operations", operations,
		"--trusted-proxy", "127.0.0.1",
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("%v\n%s", err, log.String())
		}
	})
	until(t, "it is ready", func() bool { return fetch(t, "http://"+operations+"/readyz", nil) == http.StatusOK })
	status := func() (s contract.LaunchStatus) {
		fetch(t, "http://"+api+"/api/launch/status", &s)
		return s
	}
	if s := status(); len(s.Chains) != 1 || s.Chains[0].Label != "Base" || len(s.Venues) != 1 || s.Venues[0].State != contract.LaunchStateClosed {
		t.Errorf("it says %+v", s)
	}
	patch := func(label string) {
		_, err := chains.Patch(t.Context(), "base", types.MergePatchType, []byte(`{"spec":{"label":"`+label+`"}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	patch("Grundlage")
	until(t, "it tells the new label", func() bool { return status().Chains[0].Label == "Grundlage" })
	kube.StopAPIServer()
	until(t, "it notices that the cluster is away", func() bool { return strings.Contains(log.String(), "Kubernetes can't be read") })
	if code := fetch(t, "http://"+operations+"/readyz", nil); code != http.StatusOK || status().Chains[0].Label != "Grundlage" {
		t.Errorf("without the cluster: %d, %+v", code, status())
	}
	if err := kube.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	patch("Base again")
	until(t, "it follows again", func() bool { return status().Chains[0].Label == "Base again" })
	if strings.Contains(log.String(), "https://") {
		t.Errorf("an address is in the log: %s", log.String())
	}
}

func create(t *testing.T, in dynamic.ResourceInterface, manifest string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

var asked atomic.Int64

// fetch reads an answer, 0 when there is none, and what is in it where that is wanted.
func fetch(t *testing.T, url string, into any) (code int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Every request is another client's, so that no limit is met.
	n := asked.Add(1)
	req.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String())
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			t.Fatalf("%s: %s, %v", url, res.Status, err)
		}
	}
	return res.StatusCode
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came about that " + what)
		}
	}
}

// TestAnIndexerRefusesAnOlderDocument gives one the hash of a document that its node hasn't got yet.
func TestAnIndexerRefusesAnOlderDocument(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "chain.json")
	document, hash, err := (&chainconfig.Chain{
		ID: "base", Family: chainconfig.Solana, Native: chainconfig.Native{Symbol: "SOL", Wrapped: market.SolanaAddress([32]byte{1})},
	}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(document, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"0123": "is an older copy", hash: "no RPC endpoint", "": "no RPC endpoint"} {
		c := cmd.New(serve.Build{})
		c.SetArgs([]string{
			"indexer", "--config", file, "--document-hash=" + given, "--operations=127.0.0.1:0", "--db=sqlite:" + filepath.Join(t.TempDir(), "x.db"),
		})
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the hash %q: %v", given, err)
		}
	}
}
