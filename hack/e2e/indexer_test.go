//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// indexerObject is the name of all that the operator makes for the chain.
const indexerObject = "boardwalk-indexer-base"

// indexerObjects are the kinds of which it makes one.
var indexerObjects = []string{"deployment", "service", "configmap", "serviceaccount", "networkpolicy", "poddisruptionbudget"}

func (s step) testChain() {
	s.apply(s.chain)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=2m")
	for _, kind := range indexerObjects {
		s.kubectl("get", kind, indexerObject)
	}
	s.kubectl("rollout", "status", "deployment/"+indexerObject, "--timeout=1m")
	if token := s.kubectl("get", "pod", s.indexerPod(), "-o", "jsonpath={.spec.volumes[*].projected}"); token != "" {
		s.Errorf("the indexer's pod has a token: %s", token)
	}
}

func (s step) indexerPod() string {
	s.Helper()
	return s.kubectl("get", "pods", "-l", "boardwalk.dev/chain=base", "--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].metadata.name}")
}

// indexerState is what the chain's indexer says of itself.
type indexerState struct {
	Phase         string
	Head, Indexed *struct{ Number uint64 }
}

func (c *cluster) indexerState() (indexerState, error) {
	var state indexerState
	ip, err := c.Kubectl(c.ctx, "get", "pods", "-n", namespace, "-l", "boardwalk.dev/chain=base",
		"--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].status.podIP}")
	if err != nil {
		return state, err
	}
	content, err := c.request(http.MethodGet, "http://"+ip+":8081/state", nil)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(content, &state)
}

// indexed is the number of the newest block that is in the database.
func (s step) indexed() uint64 {
	s.Helper()
	var number uint64
	s.eventually(30*time.Second, func() error {
		state, err := s.indexerState()
		if err == nil && state.Indexed == nil {
			err = fmt.Errorf("nothing is indexed in phase %s", state.Phase)
		}
		if err == nil {
			number = state.Indexed.Number
		}
		return err
	})
	return number
}

// beyond waits until a block of a higher number is indexed.
func (s step) beyond(number uint64, within time.Duration) {
	s.Helper()
	s.eventually(within, func() error {
		state, err := s.indexerState()
		if err == nil && (state.Indexed == nil || state.Indexed.Number <= number) {
			err = fmt.Errorf("the indexer is in phase %s at block %+v, wanted one after %d", state.Phase, state.Indexed, number)
		}
		return err
	})
}

func (s step) testFollowing() {
	began := s.indexed()
	s.beyond(began+3, 30*time.Second)
	head, err := s.height()
	if err != nil {
		s.Fatal(err)
	}
	if now := s.indexed(); now+5 < head {
		s.Errorf("block %d is indexed, the chain is at %d", now, head)
	}
}

// rows counts a table's rows in the evaluation database.
func (s step) rows(table string) int {
	s.Helper()
	out := s.kubectl("exec", "statefulset/boardwalk-evaluation-db", "--", "psql", "-h", "/tmp", "-U", "postgres", "-d", "boardwalk",
		"-tAc", "SELECT count(*) FROM "+table)
	count, err := strconv.Atoi(out)
	if err != nil {
		s.Fatal(err)
	}
	return count
}

// apiService is the chart's, in front of the API servers.
const apiService = "boardwalk-apiserver"

// api asks the API for a path.
func (c *cluster) api(path string, into any) error {
	content, err := c.ask(apiService, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

func (s step) testAPI() {
	var health struct {
		Chains []struct{ ID, Label string }
	}
	if err := s.api("/api/v1/mobile/health", &health); err != nil {
		s.Fatal(err)
	}
	if len(health.Chains) != 1 || health.Chains[0].ID != "base" || health.Chains[0].Label != "Base" {
		s.Errorf("the API knows the chains %+v", health.Chains)
	}
	s.eventually(20*time.Second, func() error {
		var heartbeat struct{ Status string }
		if err := s.api("/api/status/heartbeat", &heartbeat); err != nil {
			return err
		}
		if heartbeat.Status != "ok" {
			return fmt.Errorf("the heartbeat says %s", heartbeat.Status)
		}
		return nil
	})
	if trades := s.rows("trades"); trades < 100 {
		s.Errorf("%d trades are in the database, an hour of them was made", trades)
	}
	s.checkPrice()
}

// testTrust goes through the network policies of API server and indexer, to a simulation on the chain's state.
func (s step) testTrust() {
	token := s.world.TokensLike(world.Plain)[0].Address
	s.eventually(20*time.Second, func() error {
		var report struct {
			Status string
			Checks []struct{ ID, Result string }
		}
		if err := s.api("/api/token/"+token+"/trust?chain=base", &report); err != nil {
			return err
		}
		for _, c := range report.Checks {
			if c.ID == "honeypot_sell" && c.Result == "pass" {
				return nil
			}
		}
		return fmt.Errorf("the report of %s is %+v", token, report)
	})
}

// price is what the API says of wrapped ether.
type price struct {
	Symbol        string
	Price, Volume float64
}

func (c *cluster) price() (price, error) {
	mint := "base:" + c.world.Wrapped
	var answer struct{ Prices map[string]price }
	if err := c.api("/api/market/token-prices?mints="+url.QueryEscape(mint), &answer); err != nil {
		return price{}, err
	}
	return answer.Prices[mint], nil
}

// checkPrice looks whether the price is about the one that simnet's pools are opened around.
func (s step) checkPrice() {
	s.Helper()
	got, err := s.price()
	if err != nil {
		s.Fatal(err)
	}
	if want := s.world.Native.USD; !strings.EqualFold(got.Symbol, s.world.Native.WrappedSymbol) || got.Price < want/3 || got.Price > want*3 {
		s.Errorf("the API says %+v of wrapped ether, wanted a price of about %g USD", got, want)
	}
}

// testTrade buys USDC with ether and waits until the API has counted it.
func (s step) testTrade() {
	before, err := s.price()
	if err != nil {
		s.Fatal(err)
	}
	hash := s.buy()
	var receipt struct{ Status string }
	s.eventually(20*time.Second, func() error {
		err := s.rpc(&receipt, "eth_getTransactionReceipt", hash)
		if err == nil && receipt.Status == "" {
			err = errors.New("the transaction isn't in a block yet")
		}
		return err
	})
	if receipt.Status != "0x1" {
		s.Fatalf("the trade was reverted: %+v", receipt)
	}
	began := time.Now()
	s.eventually(20*time.Second, func() error {
		now, err := s.price()
		if err == nil && now.Volume <= before.Volume {
			err = fmt.Errorf("the day's volume is %g USD, it was %g", now.Volume, before.Volume)
		}
		return err
	})
	s.Logf("the trade was counted %.1f s after it was seen in a block", time.Since(began).Seconds())
}

// buy sends a tenth of an ether to the router, as a wallet does.
func (s step) buy() (hash string) {
	s.Helper()
	w := s.world
	buyer := w.Traders[0]
	s.call(nil, "anvil_impersonateAccount", buyer)
	var data strings.Builder
	data.WriteString("0x7ff36ab5") // swapExactETHForTokens(amountOutMin, path, to, deadline)
	for _, word := range []string{"0", "80", buyer, "ffffffffff", "2", w.Wrapped, w.StableUSDC6} {
		fmt.Fprintf(&data, "%064s", strings.TrimPrefix(word, "0x"))
	}
	s.call(&hash, "eth_sendTransaction", map[string]string{
		"from": buyer, "to": w.Routers.UniswapV2, "value": "0x16345785d8a0000", "gas": "0x7a120", "data": data.String(),
	})
	return hash
}
