package indexer_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// totalSupply is what a token's contract says after the newest block.
func (w *testWorld) totalSupply(t *testing.T, token string) *big.Int {
	t.Helper()
	latest, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(w.ethCall(t, token, selector("totalSupply()"), latest.Number))
}

// TestSupplyOfLaunchesWithoutOldState: the states of the launches' blocks are gone when the chain is indexed. The supply is found at
// a later block whose state is kept, for tokens that nobody moves any more too, and follows what is made and burned from there on.
func TestSupplyOfLaunchesWithoutOldState(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, 48, 40, venues.All...)
	past := w.launchAndBuy(t)
	w.trade(t, 70)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	cfg.Start.Block = 20
	cfg.Majors = nil
	st := storetest.Open(t, "sqlite")
	defer run(t, cfg, st, 0)()
	w.await(t, st)
	var open []string
	for range 16 {
		open = nil
		known := tokens(t, st)
		for _, mint := range past {
			tok, ok := known[mustAddress(t, mint)]
			switch want := w.totalSupply(t, mint); {
			case !ok:
				t.Fatalf("the launch of %s is not indexed", mint)
			case !tok.HasSupply:
				open = append(open, mint)
			case tok.Supply.ToBig().Cmp(want) != 0:
				t.Errorf("%s has a supply of %s, its contract says %s", mint, tok.Supply.Dec(), want)
			}
		}
		if len(open) == 0 {
			return
		}
		w.trade(t, 10)
		w.await(t, st)
	}
	t.Errorf("160 blocks on, %d of %d launches have no supply: %s", len(open), len(past), strings.Join(open, " "))
}

// rebase changes the supply of the world's rebasing token to a share of what it was at first, in millionths, and mines it.
func (w *testWorld) rebase(t *testing.T, token string, millionths int64) {
	t.Helper()
	index := new(big.Int).Mul(big.NewInt(millionths), big.NewInt(1e12))
	w.transact(t, w.Deployer, token, selector("rebase(uint256,address[])")+fmt.Sprintf("%064x%064x%064x", index, 64, 0))
}

// TestSupplyThatTransfersDoNotTell: a token changes its supply without a log of a transfer. Once its contract has contradicted the
// derived supply, no supply may pass for known that the contract doesn't say.
func TestSupplyThatTransfersDoNotTell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	st := storetest.Open(t, "sqlite")
	defer run(t, w.config(), st, 0)()
	token := w.TokensLike(world.Rebasing)[0].Address
	mint := mustAddress(t, token)
	transfer := selector("transfer(address,uint256)") + fmt.Sprintf("%064x%064x", 0xf00d, 1_000_000)
	share := int64(1_000_000)
	latest, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Each block whose number is a multiple of 32 moves the token, so that each sample asks it; each stretch of eight blocks has a rebase, which moves nothing.
	for next := latest.Number + 1; next <= latest.Number+160; next++ {
		if next%8 == 5 {
			share += 3_000
			w.rebase(t, token, share)
			continue
		}
		w.transact(t, w.Deployer, token, transfer)
	}
	w.await(t, st)
	if tok, ok := tokens(t, st)[mint]; !ok || tok.Holders.Status != market.HoldersUnavailable {
		t.Fatalf("from block %d on, the token that rebases is %+v; want it found out", latest.Number+1, tok)
	}
	for range 3 {
		share += 3_000
		w.rebase(t, token, share)
		w.transact(t, w.Deployer, token, transfer)
		w.await(t, st)
		tok, want := tokens(t, st)[mint], w.totalSupply(t, token)
		if tok.HasSupply && tok.Supply.ToBig().Cmp(want) != 0 {
			off := new(big.Float).Quo(new(big.Float).SetInt(tok.Supply.ToBig()), new(big.Float).SetInt(want))
			ratio, _ := off.Float64()
			t.Errorf("the supply %s passes for known, the contract says %s: off by %.2f %%", tok.Supply.Dec(), want, 100*(ratio-1))
		}
	}
	w.plainSuppliesStay(t, st, token)
}

// TestADoubtedSupplyIsAskedAgain: a token whose supply was contradicted once is asked at the next sample, whether anything moves it or not.
func TestADoubtedSupplyIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	st := storetest.Open(t, "sqlite")
	defer run(t, w.config(), st, 0)()
	token := w.TokensLike(world.Rebasing)[0].Address
	mint := mustAddress(t, token)
	transfer := selector("transfer(address,uint256)") + fmt.Sprintf("%064x%064x", 0xf00d, 1_000_000)
	w.await(t, st)
	share := int64(1_003_000)
	w.rebase(t, token, share)
	for n := 0; tokens(t, st)[mint].SupplyStrikes == 0; n++ {
		if n > 200 {
			t.Fatalf("after %d blocks that move it the token is %+v; want its supply doubted", n, tokens(t, st)[mint])
		}
		w.transact(t, w.Deployer, token, transfer)
		w.await(t, st)
	}
	share += 3_000
	w.rebase(t, token, share)
	for range 10 { // blocks in which nothing moves it
		if err := w.Node.Mine(t.Context(), 4, time.Second); err != nil {
			t.Fatal(err)
		}
		w.await(t, st)
	}
	if tok := tokens(t, st)[mint]; tok.HasSupply {
		t.Errorf("40 blocks later the token is %+v; want its supply unknown", tok)
	}
}

// plainSuppliesStay holds that tokens which tell all their transfers keep the supply that their contracts say.
func (w *testWorld) plainSuppliesStay(t *testing.T, st *store.Store, but string) {
	t.Helper()
	n := 0
	for _, tok := range w.TokensLike(world.Plain) {
		got, ok := tokens(t, st)[mustAddress(t, tok.Address)]
		if !ok || tok.Address == but {
			continue
		}
		n++
		if want := w.totalSupply(t, tok.Address); !got.HasSupply || got.Supply.ToBig().Cmp(want) != 0 {
			t.Errorf("%s has the supply %s (known: %v), its contract says %s", tok.Symbol, got.Supply.Dec(), got.HasSupply, want)
		}
	}
	if n == 0 {
		t.Error("no plain token is indexed: the test shows little")
	}
}
