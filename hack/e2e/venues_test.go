//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// venue is what the cluster says of one.
type venue struct {
	Metadata struct{ Name string }
	Status   struct {
		Chains []struct{ Chain, State, Reason, Message string }
	}
}

// launchStatus is what the API says of all.
type launchStatus struct {
	Venues []struct {
		ID, Chain, State string
		Default          bool
	}
	Chains []struct{ ID, State string }
}

// verdict is a venue's state on the chain, with the reason.
type verdict struct{ venue, state, reason string }

// verdicts are what the cluster says of the venues on the chain, by venue.
func (c *cluster) verdicts() (map[string]verdict, error) {
	var list struct{ Items []venue }
	if err := c.Get(c.ctx, &list, "launchvenues", "-n", namespace); err != nil {
		return nil, err
	}
	found := make(map[string]verdict)
	for _, v := range list.Items {
		for _, on := range v.Status.Chains {
			if on.Chain == "base" {
				found[v.Metadata.Name] = verdict{v.Metadata.Name, strings.ToLower(on.State), on.Reason}
			}
		}
	}
	return found, nil
}

// agree says how the API differs from what the cluster says of the venues on the chain.
func (c *cluster) agree(found map[string]verdict) error {
	var public launchStatus
	if err := c.api("/api/launch/status", &public); err != nil {
		return err
	}
	said := make(map[string]string)
	for _, v := range public.Venues {
		if v.Chain == "base" {
			said[v.ID] = v.State
		}
	}
	chain := "closed"
	for name, v := range found {
		if said[name] != v.state {
			return fmt.Errorf("the API says that venue %s is %q, the cluster that it is %s (%s)", name, said[name], v.state, v.reason)
		}
		if v.state == "open" {
			chain = v.state
		}
	}
	for _, on := range public.Chains {
		if on.ID == "base" && on.State != chain {
			return fmt.Errorf("the API says that the chain is %s, its venues are %+v", on.State, found)
		}
	}
	return nil
}

// awaitVenues waits until the cluster says what is wanted, and the API, soon after, the same. The API isn't asked more often
// than anybody may ask it.
func (s step) awaitVenues(within time.Duration, wanted ...verdict) {
	s.Helper()
	began := time.Now()
	var found map[string]verdict
	s.eventually(within, func() (err error) {
		found, err = s.verdicts()
		for _, w := range wanted {
			if err == nil && found[w.venue] != w {
				err = fmt.Errorf("venue %s is %+v, wanted %+v", w.venue, found[w.venue], w)
			}
		}
		return err
	})
	decided := time.Now()
	s.eventually(10*time.Second, func() error { return s.agree(found) })
	s.Logf("%s (%s) after %.1f s, for the API %.1f s later", wanted[0].state, wanted[0].reason,
		decided.Sub(began).Seconds(), time.Since(decided).Seconds())
}

// both are verdicts on the two venues that are wanted open.
func both(state, reason string) []verdict {
	return []verdict{{"own", state, reason}, {"other", state, reason}, {"shut", "closed", "WantedClosed"}}
}

func (s step) awaitOpen(within time.Duration) {
	s.Helper()
	s.awaitVenues(within, both("open", "Open")...)
}

func (s step) testVenuesOpen() {
	s.kubectl("apply", "-f", "testdata/venues.yaml")
	s.awaitOpen(time.Minute)
	if reason := s.kubectl("get", "launchvenue", "own", "-o", `jsonpath={.status.chains[?(@.chain=="elsewhere")].reason}`); reason != "ChainNotFound" {
		s.Errorf("on a chain that isn't declared the venue is closed for %q", reason)
	}
	s.kubectl("wait", "launchvenue/other", "--for=condition=Ready", "--timeout=10s")
	var public launchStatus
	if err := s.api("/api/launch/status", &public); err != nil {
		s.Fatal(err)
	}
	for _, v := range public.Venues {
		if v.Default != (v.ID == "own") {
			s.Errorf("venue %s: default is %v", v.ID, v.Default)
		}
	}
}

func (s step) testSuspend() {
	before := s.indexed()
	suspend := func(yes bool) {
		s.kubectl("patch", "chain", "base", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"suspend":%v}}`, yes))
	}
	suspend(true)
	s.awaitVenues(20*time.Second, both("closed", "ChainSuspended")...)
	s.kubectl("wait", "pods", "-l", "boardwalk.dev/chain=base", "--for=delete", "--timeout=45s")
	s.checkPrice() // what was indexed is still served
	suspend(false)
	s.awaitOpen(time.Minute)
	if now := s.indexed(); now < before {
		s.Errorf("block %d is indexed, it was %d before the chain was suspended", now, before)
	}
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=1m")
}

// signal sends a signal to the program of the one pod that a selector finds.
func (s step) signal(selector, container string, signal syscall.Signal) {
	s.Helper()
	pod := s.kubectl("get", "pods", "-l", selector, "--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].metadata.name}")
	if err := s.Signal(s.ctx, namespace, pod, container, signal); err != nil {
		s.Fatal(err)
	}
}

// testOutage has the chain's only node hang: connections stay, answers don't come.
func (s step) testOutage() {
	s.signal("app=anvil", "anvil", syscall.SIGSTOP)
	s.awaitVenues(time.Minute, both("closed", "IndexerBehind")...)
	s.kubectl("wait", "chain/base", `--for=jsonpath={.status.conditions[?(@.type=="Synced")].reason}=Behind`, "--timeout=10s")
	s.checkPrice() // what was indexed is still served
	s.signal("app=anvil", "anvil", syscall.SIGCONT)
	s.awaitOpen(time.Minute)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=1m")
}

// testHang has the indexer hang. The kubelet would replace it in the end; before that the operator must notice.
func (s step) testHang() {
	s.signal("boardwalk.dev/chain=base", "indexer", syscall.SIGSTOP)
	s.awaitVenues(time.Minute, both("closed", "IndexerDown")...)
	s.kubectl("wait", "chain/base", `--for=jsonpath={.status.conditions[?(@.type=="Synced")].reason}=Unreachable`, "--timeout=10s")
	s.signal("boardwalk.dev/chain=base", "indexer", syscall.SIGCONT)
	s.awaitOpen(time.Minute)
	s.kubectl("wait", "chain/base", "--for=condition=Ready", "--timeout=1m")
}

func (s step) testPaused() {
	pause := func(slot string) {
		s.call(nil, "anvil_setStorageAt", ownContract, "0x0", "0x"+strings.Repeat("0", 63)+slot)
	}
	pause("1")
	s.awaitVenues(time.Minute, verdict{"own", "closed", "ContractPaused"}, verdict{"other", "open", "Open"})
	pause("0")
	s.awaitOpen(time.Minute)
}
