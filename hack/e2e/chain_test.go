//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// The contracts of venues.yaml.
const (
	ownContract   = "0x000000000000000000000000000000000000c0de"
	otherContract = "0x000000000000000000000000000000000000beef"
)

// pausable is the code of a contract that answers every call with its first storage slot: paused() is what stands there.
//
//	PUSH0 SLOAD PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
const pausable = "0x5f545f5260205ff3"

func (s step) testNamespace() {
	if err := s.Apply(s.ctx, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+namespace+
		"\n  labels: {pod-security.kubernetes.io/enforce: restricted}\n"); err != nil {
		s.Fatal(err)
	}
	out, err := s.Kubectl(s.ctx, "run", "root", "-n", namespace, "--image="+boardwalkImage, "--image-pull-policy=Never")
	if err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
		s.Errorf("a pod that may be root was let in: %s (%v)", out, err)
	}
}

func (s step) testAnvil() {
	s.kubectl("apply", "-f", "testdata/anvil.yaml")
	s.kubectl("rollout", "status", "deployment/anvil", "--timeout=1m")
	// kube-proxy learns of the pod a moment after the Deployment does.
	s.eventually(20*time.Second, func() error {
		number, err := s.height()
		if err == nil && number == 0 {
			err = errors.New("the chain has no block yet")
		}
		return err
	})
}

func (s step) testSmoke() {
	commit, err := exec.CommandContext(s.ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		s.Fatal(err)
	}
	s.kubectl("apply", "-f", "testdata/smoke.yaml")
	for pod, want := range map[string]string{"version": strings.TrimSpace(string(commit)), "names": "reached"} {
		s.kubectl("wait", "pod/"+pod, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=1m")
		if said := s.kubectl("logs", pod); !strings.Contains(said, want) {
			s.Errorf("pod %s said %q, wanted %q", pod, said, want)
		}
	}
	s.kubectl("delete", "-f", "testdata/smoke.yaml")
}

// testPast gives the chain real contracts and an hour of trades, made beside the cluster, and the venues' contracts.
func (s step) testPast() {
	made, err := anvil.StartNode(s.ctx, anvil.NodeOptions{ChainID: 8453, Timestamp: history.GenesisFor(time.Hour), KeepStates: 200})
	if err != nil {
		s.Fatal(err)
	}
	defer made.Close()
	w, err := world.Deploy(s.ctx, made, world.DeployOptions{Seed: 1, Classic: true})
	if err != nil {
		s.Fatal(err)
	}
	if err := history.Mine(s.ctx, w, traffic.NewTrader(w, 1), history.Options{Span: time.Hour, Blocks: 100}); err != nil {
		s.Fatal(err)
	}
	path := filepath.Join(s.TempDir(), "state.json")
	if err := made.DumpState(s.ctx, path); err != nil {
		s.Fatal(err)
	}
	state, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	s.past = "0x" + hex.EncodeToString(state)
	s.call(nil, "anvil_loadState", s.past)
	for _, contract := range []string{ownContract, otherContract} {
		s.call(nil, "anvil_setCode", contract, pausable)
	}
	latest, err := made.Latest(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	number, err := s.height()
	if err != nil || number < latest.Number {
		s.Errorf("the chain is at block %d (%v), its past ends with %d", number, err, latest.Number)
	}
	manifest, err := w.Manifest(world.ManifestOptions{ID: "base", Label: "Base", BlockTime: time.Second, Endpoint: "http://anvil:8545"})
	if err != nil {
		s.Fatal(err)
	}
	s.world = w
	s.chain = string(manifest) + "  indexer: {maxLag: 15s}\n"
}

// rpc asks the chain.
func (c *cluster) rpc(into any, method string, params ...any) error {
	return c.rpcOf("anvil", into, method, params...)
}

// rpcOf asks a node of a chain, through its Service.
func (c *cluster) rpcOf(service string, into any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	content, err := c.ask(service, http.MethodPost, "/", body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %w", method, errors.New(answer.Error.Message))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, into)
}

func (s step) call(into any, method string, params ...any) {
	s.Helper()
	if err := s.rpc(into, method, params...); err != nil {
		s.Fatal(err)
	}
}

// height is the number of the chain's newest block.
func (c *cluster) height() (uint64, error) {
	var text string
	if err := c.rpc(&text, "eth_blockNumber"); err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
}

// ask sends a request to the first port of a Service of the namespace and wants 200.
func (c *cluster) ask(service, method, path string, body []byte) ([]byte, error) {
	host, err := c.Kubectl(c.ctx, "get", "service", service, "-n", namespace, "-o", "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}")
	if err != nil {
		return nil, err
	}
	return c.request(method, "http://"+host+path, body)
}

func (c *cluster) request(method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(c.ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.HTTP().Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s: %.300s", method, url, response.Status, content)
	}
	return content, nil
}
