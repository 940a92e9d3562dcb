package people_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// handsOut is the code of a token that tells of a transfer to the account in its input: LOG3 with the topic of Transfer, the zero account and that account.
const handsOut = "0x600035" + "6000" + "7fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" + "60006000a300"

// buy has a trader get some of a token.
func buy(t *testing.T, node *anvil.Node, token, trader string) (tx string) {
	t.Helper()
	if err := node.Call(t.Context(), nil, "anvil_setCode", token, handsOut); err != nil {
		t.Fatal(err)
	}
	err := node.Call(t.Context(), &tx, "eth_sendTransaction", map[string]string{
		"from": trader, "to": token, "data": "0x" + strings.Repeat("0", 24) + strings.TrimPrefix(trader, "0x"), "gas": "0x30d40", "gasPrice": "0x77359400",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Call(t.Context(), nil, "evm_mine"); err != nil {
		t.Fatal(err)
	}
	return tx
}

// note is a note as the intake lists it.
type note struct {
	Member string
	Trade  *struct{ Chain, Tx, Mint string }
}

func (in *intake) notes() (list []note) {
	in.t.Helper()
	var posts struct{ Posts []note }
	if err := in.client(nil).Do(in.t.Context(), http.MethodGet, "/v1/posts?limit=100", nil, &posts); err != nil {
		in.t.Fatal(err)
	}
	return slices.DeleteFunc(posts.Posts, func(n note) bool { return n.Trade == nil })
}

// TestNotesOnEveryChain has members buy on two EVM chains and on Solana: they write to each purchase.
func TestNotesOnEveryChain(t *testing.T) {
	t.Parallel()
	base, accounts := newNode(t, 8453)
	bsc, _ := newNode(t, 56)
	chain, err := svm.Start(t.Context(), svm.Options{Slot: 100, Time: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	w, err := solana.Deploy(t.Context(), chain, solana.Options{Seed: 1, People: 5})
	if err != nil {
		t.Fatal(err)
	}
	in := newIntake(t, "sqlite", time.Now)
	const token = "0x00000000000000000000000000000000000000aa"
	p := people.New(people.Options{
		Intake: in.client(nil), Chains: []people.Chain{{ID: "base", Node: base}, {ID: "bsc", Node: bsc}}, Traders: accounts[1:4], SolanaNode: chain, Solana: w.People,
		Tokens: []people.Token{{Chain: "base", Mint: token, Symbol: "DOG"}, {Chain: "bsc", Mint: token, Symbol: "CAT"}}, Seed: 1, Every: time.Minute, Now: time.Now,
	})
	round := func() {
		t.Helper()
		if err := p.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	round()
	if got := in.notes(); len(got) > 0 {
		t.Errorf("before anybody has bought, there are the notes %+v", got)
	}
	onBase, onBSC := buy(t, base, token, accounts[1]), buy(t, bsc, token, accounts[2])
	launched, err := w.Launch(t.Context(), solana.PumpFun, w.People[4], solana.Launch{Symbol: "OWL", Name: "Owl"}, 1_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Mine(t.Context(), 200, time.Now()); err != nil {
		t.Fatal(err)
	}
	round()
	round()
	found := in.notes()
	want := map[string][3]string{"base": {"local:1", onBase, token}, "bsc": {"local:2", onBSC, token}, "solana": {"local:5", "", launched.Token.String()}}
	if len(found) != len(want) {
		t.Errorf("there are the notes %+v", found)
	}
	for _, n := range found {
		wanted := want[n.Trade.Chain]
		if n.Member != wanted[0] || wanted[1] != "" && n.Trade.Tx != wanted[1] || n.Trade.Mint != wanted[2] {
			t.Errorf("on %s %s notes %+v, want %q", n.Trade.Chain, n.Member, *n.Trade, wanted)
		}
	}
}
