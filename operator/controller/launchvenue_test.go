package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

func venueIs(change func(v *chainconfig.VenueState)) func(s *chainconfig.State) {
	return func(s *chainconfig.State) { change(&s.Venues[0]) }
}

// solana makes a chain one of that family, suspended and without nodes.
func solana(c *v1alpha1.Chain) {
	const sol = "So11111111111111111111111111111111111111112"
	s := &c.Spec
	s.Family, s.ChainID, s.Exchanges, s.Majors, s.Trust, s.Suspend, s.RPC = v1alpha1.FamilySolana, nil, nil, nil, v1alpha1.Trust{}, true, v1alpha1.RPC{}
	s.PlatformFee, s.Tracking = nil, v1alpha1.Tracking{}
	s.NativeAsset, s.QuoteAssets = v1alpha1.NativeAsset{Symbol: "SOL", Wrapped: sol}, []v1alpha1.QuoteAsset{{Symbol: "WSOL", Address: sol}}
}

func TestEveryReasonForWhichAVenueIsClosed(t *testing.T) {
	w := newWorld(t)
	w.run()
	tests := []struct {
		name   string // of the chain, which isn't there if it has no number
		number int64
		chain  func(c *v1alpha1.Chain)
		on     func(c *v1alpha1.VenueChain)
		says   []func(s *chainconfig.State)
		silent bool
		want   string
	}{
		{name: "open", number: 1, want: "Open"},
		{
			name: "wanted-closed", number: 2, on: func(c *v1alpha1.VenueChain) { c.WantedState = v1alpha1.VenueClosed },
			want: "WantedClosed write wantedState: Open to open it",
		},
		{name: "missing", want: "ChainNotFound the namespace has no Chain of the name missing"},
		{
			name: "refused", number: 3, chain: func(c *v1alpha1.Chain) { c.Spec.NativeAsset.Wrapped = "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913" },
			want: "ChainNotAccepted Chain refused isn't accepted: spec.nativeAsset.wrapped: ",
		},
		{name: "solana", number: 4, chain: solana, want: "WrongFamily protocol FourMemeV2 is of family EVM, Chain solana is of family Solana"},
		{
			name: "suspended", number: 5, chain: func(c *v1alpha1.Chain) { c.Spec.Suspend = true },
			want: "ChainSuspended Chain suspended is suspended: drop its spec.suspend",
		},
		{name: "bare", number: 6, on: func(c *v1alpha1.VenueChain) { c.Contracts = nil }, want: "NoContracts write the venue's contracts"},
		{name: "down", number: 7, silent: true, want: "IndexerDown the indexer of Chain down doesn't answer"},
		{
			name: "halted", number: 8, says: []func(s *chainconfig.State){inPhase(chainconfig.PhaseHalted, "disk full")},
			want: "IndexerHalted disk full",
		},
		{
			name: "outdated", number: 9, says: []func(s *chainconfig.State){func(s *chainconfig.State) { s.Venues = nil }},
			want: "IndexerOutdated the indexer of Chain outdated is about to learn of the venue",
		},
		{name: "behind", number: 10, says: []func(s *chainconfig.State){behindBy(time.Hour)}, want: "IndexerBehind more than 2m0s behind"},
		{
			name: "unchecked", number: 11, says: []func(s *chainconfig.State){venueIs(func(v *chainconfig.VenueState) { v.Checked = false })},
			want: "ContractUnknown haven't told yet",
		},
		{
			name: "no-code", number: 12, says: []func(s *chainconfig.State){venueIs(func(v *chainconfig.VenueState) { v.Missing = []string{contract} })},
			want: "ContractUnknown there is no contract at " + contract,
		},
		{
			name: "paused", number: 13, says: []func(s *chainconfig.State){venueIs(func(v *chainconfig.VenueState) { v.Paused = []string{contract} })},
			want: "ContractPaused paused: " + contract,
		},
	}
	names := make([]string, len(tests))
	want := make([]string, len(tests))
	for i, tt := range tests {
		names[i], want[i] = tt.name, tt.name+" "+tt.want
		if !tt.silent {
			w.indexers.says(tt.name, tt.says...)
		}
		if tt.number > 0 {
			w.chain(tt.name, tt.number, func(c *v1alpha1.Chain) {
				if tt.chain != nil {
					tt.chain(c)
				}
			})
		}
	}
	v := w.venue("four-meme", names, func(v *v1alpha1.LaunchVenue) {
		for i, tt := range tests {
			if tt.on != nil {
				tt.on(&v.Spec.Chains[i])
			}
		}
	})
	refused := w.venue("spoilt", []string{"open"}, func(v *v1alpha1.LaunchVenue) {
		v.Spec.Chains[0].Contracts[0] = "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"
	})
	w.runOutOfPatience("down")
	w.stand(v, want...)
	w.become(v, "Accepted True Accepted", "Ready False SomeClosed closed on wanted-closed (WantedClosed), missing (ChainNotFound)")
	if v.Status.Open != "1/13" || v.Status.ObservedGeneration != v.Generation {
		t.Errorf("the status is %+v", v.Status)
	}
	w.stand(refused, "open VenueNotAccepted 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 would be right")
	w.become(refused, "Accepted False Invalid spec.chains[0].contracts[0]", "Ready False Invalid")
}

func TestTheOldestDefaultOfAFamilyWins(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	w.chain("base", 8453)
	own := func(v *v1alpha1.LaunchVenue) {
		s := &v.Spec
		s.Ownership, s.Protocol, s.FilterValue, s.Badge, s.Default = v1alpha1.OwnershipOwn, "BoardwalkCurve", "", "", true
	}
	older, younger := w.venue("a-older", []string{"base"}, own), w.venue("b-younger", []string{"base"}, own)
	w.become(older, "Default True Default")
	w.become(younger, "Accepted True Accepted", "Default False DuplicateDefault LaunchVenue a-older is the default of family EVM already")

	w.patch(older, `{"spec":{"default":false}}`)
	w.become(younger, "Default True Default")
	eventually(t, func() error {
		if err := w.get(older); err != nil {
			return err
		}
		for _, c := range older.Status.Conditions {
			if c.Type == v1alpha1.ConditionDefault {
				return fmt.Errorf("no default, yet it has %+v", c)
			}
		}
		return nil
	})
	w.patch(older, `{"spec":{"default":true}}`)
	w.become(younger, "Default False DuplicateDefault")
	w.remove(older)
	w.become(younger, "Default True Default")
}

func TestTheOldestOfTwoVenuesWithOneIDIsOnTheChain(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	older := w.venue("a-older", []string{"base"}, func(v *v1alpha1.LaunchVenue) { v.Spec.ID = "four-meme" })
	younger := w.venue("b-younger", []string{"base"}, func(v *v1alpha1.LaunchVenue) { v.Spec.ID = "four-meme" })
	w.become(younger, "Accepted False DuplicateID LaunchVenue a-older has the same spec.id")
	w.stand(younger, "base VenueNotAccepted")
	w.stand(older, "base Open")
	w.become(c, "Ready True Ready")
	w.remove(older)
	w.stand(younger, "base Open")
}

// A venue enters the document of its chain, and leaves it.
func TestAVenueReachesTheIndexersDocument(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base", func(s *chainconfig.State) { s.Venues = nil })
	w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.stand(v, "base IndexerOutdated")
	documented := func(want bool) {
		t.Helper()
		eventually(t, func() error {
			d := w.document("base")
			if has := len(d.Venues) == 1; has != want {
				return fmt.Errorf("the document has the venues %+v", d.Venues)
			}
			return nil
		})
	}
	documented(true)
	w.indexers.says("base")
	w.stand(v, "base Open")
	w.patch(v, `{"spec":{"chains":[{"chain":"bsc","tradesInApp":true}]}}`)
	w.stand(v, "bsc ChainNotFound")
	documented(false)
}

func TestAChainThatComesAndGoesOpensAndClosesItsVenues(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	v := w.venue("four-meme", []string{"base"})
	w.stand(v, "base ChainNotFound")
	for number := range int64(2) {
		c := w.chain("base", 8453+number)
		w.stand(v, "base Open")
		w.become(v, "Ready True Open")
		w.remove(c)
		w.stand(v, "base ChainNotFound")
	}
}

func TestAPausedContractClosesTheVenueAtOnce(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.stand(v, "base Open")
	since := v.Status.Chains[0].LastTransitionTime
	w.clock.advance(10 * time.Second)
	w.indexers.says("base", venueIs(func(v *chainconfig.VenueState) { v.Paused = []string{contract} }))
	w.stand(v, "base ContractPaused")
	if at := v.Status.Chains[0].LastTransitionTime; at.Sub(since.Time) != 10*time.Second {
		t.Errorf("closed since %s, open since %s; 10s lie between", at, since)
	}
	w.indexers.says("base")
	w.stand(v, "base Open")
	w.told(v, map[string]int{"Normal Opened open on base": 2, "Warning Closed closed on base: ContractPaused: paused: " + contract: 1})
	if n := op.to("/four-meme/status"); n > 6 {
		t.Errorf("the status was written %d times", n)
	}
}

func TestAnotherMaxLagClosesAndOpens(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base", behindBy(time.Minute))
	c := w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.stand(v, "base Open")
	for range 2 {
		w.patch(c, `{"spec":{"indexer":{"maxLag":"30s"}}}`)
		w.stand(v, "base IndexerBehind more than 30s behind")
		w.become(c, "Synced False Behind")
		w.patch(c, `{"spec":{"indexer":{"maxLag":"2m"}}}`)
		w.stand(v, "base Open")
		w.become(c, "Synced True AtHead")
	}
}

// Several chains may fail at once: each is told, although all Events are of one venue.
func TestEachChainOnWhichAVenueClosesIsTold(t *testing.T) {
	w := newWorld(t)
	w.run()
	names := []string{"arbitrum", "base", "bsc"}
	for i, name := range names {
		w.indexers.says(name)
		w.chain(name, int64(i+1))
	}
	v := w.venue("four-meme", names)
	w.stand(v, "arbitrum Open", "base Open", "bsc Open")
	for _, name := range names {
		w.indexers.does(name, nil)
	}
	for _, name := range names {
		w.indexers.rounds(t, name, 2)
	}
	w.runOutOfPatience(names...)
	w.stand(v, "arbitrum IndexerDown", "base IndexerDown", "bsc IndexerDown")
	want := map[string]int{}
	for _, s := range v.Status.Chains {
		want["Normal Opened open on "+s.Chain] = 1
		want["Warning Closed closed on "+s.Chain+": IndexerDown: "+s.Message] = 1
	}
	w.told(v, want)
}

// TestTheOldestVenueHasAContract: a newcomer, whatever its id, doesn't take another venue's launches in silence.
func TestTheOldestVenueHasAContract(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	base := w.chain("base", 8453)
	w.become(base, "Ready True Ready")
	first := w.venue("four-meme", []string{"base"})
	w.stand(first, "base Open")
	time.Sleep(time.Second) // creation is recorded in seconds
	second := w.venue("aaa", []string{"base"})
	w.stand(second, "base DuplicateContract "+contract+" is declared by LaunchVenue four-meme, which was there first")
	w.stand(first, "base Open")
	w.toldOfVenue("base", "four-meme")
	w.indexers.says("base", func(s *chainconfig.State) {
		s.Venues = []chainconfig.VenueState{{ID: "aaa", Contracts: markettest.Addresses(contract), Checked: true}}
	})
	w.remove(first)
	w.stand(second, "base Open")
	w.toldOfVenue("base", "aaa")
}

// knownVenue is a venue that the operator knows before there are its chains: their indexers are told of it from the first, and not started anew for it.
func (w *world) knownVenue(name string, chains []string) *v1alpha1.LaunchVenue {
	w.t.Helper()
	v := w.venue(name, chains)
	for _, c := range chains {
		w.stand(v, c+" "+v1alpha1.ReasonChainNotFound)
	}
	return v
}

// toldOfVenue waits until the indexer of a chain is told of one venue alone: changes of venues are gathered before it is.
func (w *world) toldOfVenue(chain, venue string) {
	w.t.Helper()
	eventually(w.t, func() error {
		if venues := w.document(chain).Venues; len(venues) != 1 || venues[0].ID != venue {
			return fmt.Errorf("the indexer of %s is told of the venues %+v; want %s", chain, venues, venue)
		}
		return nil
	})
}
