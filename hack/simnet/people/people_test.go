package people_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// signers are traders of a local Solana.
func signers(n int) (list []svm.Signer) {
	for i := range n {
		list = append(list, svm.SignerOf(fmt.Sprintf("signer %d", i)))
	}
	return list
}

// live has people live until the function that it gives is called, which gives their error.
func live(t *testing.T, o people.Options) (ends func() error) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	lived := make(chan error, 1)
	go func() { lived <- people.New(o).Live(ctx) }()
	return func() error {
		leave()
		return <-lived
	}
}

// TestPeople has wallets that another program signs for, anvil, join by a real intake.
func TestPeople(t *testing.T) {
	t.Parallel()
	node, accounts := newNode(t, 8453)
	in := newIntake(t, "sqlite", time.Now)
	ends := live(t, people.Options{
		Intake: in.client(nil), Chains: []people.Chain{{ID: "base", Node: node}}, Traders: accounts[:4], Solana: signers(5),
		Tokens: []people.Token{{Chain: "base", Mint: accounts[7], Symbol: "DOG"}}, Seed: 1, Every: 50 * time.Millisecond, Now: time.Now,
	})
	in.waitFor("changes", 14)
	in.waitFor("posts", 5)
	if err := ends(); err != nil {
		t.Error(err)
	}
	proved, count := 0, 0
	for i, want := range []int{2, 2, 2, 2, 1} {
		id := fmt.Sprintf("local:%d", i+1)
		var m struct{ Wallets []struct{ Attested bool } }
		if err := in.client(nil).Do(t.Context(), http.MethodGet, "/v1/members/"+id, nil, &m); err != nil {
			t.Fatalf("%s: %+v, %v", id, m, err)
		}
		if len(m.Wallets) != want {
			t.Errorf("%s has %d wallets, want %d", id, len(m.Wallets), want)
		}
		for _, w := range m.Wallets {
			if count++; !w.Attested {
				proved++
			}
		}
	}
	if proved != 8 || count != 9 {
		t.Errorf("%d wallets of %d are proved, want 8 of 9", proved, count)
	}
}

// TestPeopleWaitOutFaults stops the intake, and later the node, while people live: they go on, and say so.
func TestPeopleWaitOutFaults(t *testing.T) {
	t.Parallel()
	node, accounts := newNode(t, 8453)
	in := newIntake(t, "sqlite", time.Now)
	faults := make(chan error, 100)
	ends := live(t, people.Options{
		Intake: in.client(nil), Chains: []people.Chain{{ID: "base", Node: node}}, Traders: accounts[:6],
		Tokens: []people.Token{{Chain: "base", Mint: accounts[7], Symbol: "DOG"}}, Seed: 1, Every: 20 * time.Millisecond, Now: time.Now,
		OnFault: func(err error) { faults <- err },
	})
	hear := func(of string) {
		t.Helper()
		for {
			select {
			case err := <-faults:
				if strings.Contains(err.Error(), of) {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("after a minute there is no fault of %s", of)
			}
		}
	}
	in.waitFor("posts", 2)
	in.stop()
	hear("the intake doesn't answer")
	in.start()
	in.waitFor("posts", in.last("posts")+3)
	if err := node.Close(); err != nil {
		t.Error(err)
	}
	hear("eth_getBlockByNumber")
	in.waitFor("posts", in.last("posts")+3)
	if err := ends(); err != nil {
		t.Error(err)
	}
}

// TestPeopleWaitForTheIntake starts them before the intake is there.
func TestPeopleWaitForTheIntake(t *testing.T) {
	t.Parallel()
	in := newIntake(t, "sqlite", time.Now)
	in.stop()
	faults := make(chan error, 100)
	ends := live(t, people.Options{
		Intake: in.client(nil), Solana: signers(3), Every: 20 * time.Millisecond, Now: time.Now, OnFault: func(err error) { faults <- err },
	})
	if err := <-faults; !strings.Contains(err.Error(), "member local:1 joins") {
		t.Error(err)
	}
	in.start()
	in.waitFor("changes", 6)
	if err := ends(); err != nil {
		t.Error(err)
	}
}

// TestPeopleEndWhereTheyAreWrong has them come with another token.
func TestPeopleEndWhereTheyAreWrong(t *testing.T) {
	t.Parallel()
	in := newIntake(t, "sqlite", time.Now)
	intake := in.client(nil)
	intake.Token = "another token"
	ended := make(chan error, 1)
	go func() {
		ended <- people.New(people.Options{Intake: intake, Solana: signers(1), Every: time.Millisecond, Now: time.Now}).Live(t.Context())
	}()
	select {
	case err := <-ended:
		if refused, ok := errors.AsType[*client.RefusedError](err); !ok || refused.Status != http.StatusUnauthorized {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("they go on after a minute")
	}
}
