package venue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/venue"
)

const (
	maxLag   = 2 * time.Minute
	contract = "0xec4549cadce5da21df6e6422d448034b5233bfbc"
)

var start = time.Unix(1_760_000_000, 0)

// open are facts by which the venue is open, as of a time.
func open(now time.Time) venue.Facts {
	return venue.Facts{
		Venue: "four-meme", Protocol: chainconfig.FourMemeV2,
		On: v1alpha1.VenueChain{Chain: "bsc", WantedState: v1alpha1.VenueOpen, Contracts: []v1alpha1.EVMAddress{contract}},
		Chain: &venue.Chain{
			Name: "bsc", Family: chainconfig.EVM, MaxLag: maxLag, Asked: true, SeenAt: now, AskedAt: now,
			State: &chainconfig.State{
				Chain: "bsc", Phase: chainconfig.PhaseFollowing, At: now, HeadReadAt: now,
				Head: &chainconfig.Block{Number: 100, Time: now}, Indexed: &chainconfig.Block{Number: 100, Time: now},
				Venues: []chainconfig.VenueState{{ID: "other"}, {ID: "four-meme", Contracts: markettest.Addresses(contract), Checked: true}},
			},
		},
	}
}

// breaks are what closes a venue, in the order of the checks. An earlier one can be done to facts to which later ones were done.
var breaks = []struct {
	reason string
	words  string // a part of the message
	do     func(f *venue.Facts)
}{
	{v1alpha1.ReasonWantedClosed, "write wantedState: Open", func(f *venue.Facts) { f.On.WantedState = v1alpha1.VenueClosed }},
	{v1alpha1.ReasonVenueNotAccepted, "spec.label: is missing", func(f *venue.Facts) { f.Refused = "spec.label: is missing" }},
	{v1alpha1.ReasonChainNotFound, "no Chain of the name bsc", func(f *venue.Facts) { f.Chain = nil }},
	{v1alpha1.ReasonChainNotAccepted, "an older one", func(f *venue.Facts) { f.Chain.Refused = "Chain bsc isn't accepted: an older one is" }},
	{
		v1alpha1.ReasonWrongFamily, "protocol PumpFun is of family Solana, Chain bsc is of family EVM",
		func(f *venue.Facts) { f.Protocol = chainconfig.PumpFun },
	},
	{v1alpha1.ReasonChainSuspended, "drop its spec.suspend", func(f *venue.Facts) { f.Chain.Suspended = true }},
	{v1alpha1.ReasonNoContracts, "write the venue's contracts", func(f *venue.Facts) { f.On.Contracts = nil }},
	{v1alpha1.ReasonDuplicateContract, "is declared by LaunchVenue older, which was there first", func(f *venue.Facts) {
		f.Taken = map[market.Address]string{markettest.Addresses(contract)[0]: "older"}
	}},
	{v1alpha1.ReasonIndexerDown, "`kubectl describe chain bsc`", func(f *venue.Facts) { f.Chain.AskedAt = f.Chain.AskedAt.Add(time.Hour) }},
	{v1alpha1.ReasonIndexerHalted, "reorg deeper than 64 blocks", func(f *venue.Facts) {
		f.Chain.State.Phase, f.Chain.State.Message = chainconfig.PhaseHalted, "reorg deeper than 64 blocks"
	}},
	{v1alpha1.ReasonIndexerOutdated, "about to learn of the venue", func(f *venue.Facts) { f.Chain.State.Venues = nil }},
	{v1alpha1.ReasonIndexerStarting, "hasn't read a block yet", func(f *venue.Facts) {
		f.Chain.State.Phase, f.Chain.State.Head = chainconfig.PhaseStarting, nil
	}},
	{v1alpha1.ReasonIndexerBehind, "more than 2m0s behind", func(f *venue.Facts) {
		f.Chain.State.Indexed.Time = f.Chain.State.Indexed.Time.Add(-maxLag - time.Second)
	}},
	{v1alpha1.ReasonContractUnknown, "haven't told yet", func(f *venue.Facts) { f.Chain.State.Venues[1].Checked = false }},
	{v1alpha1.ReasonContractPaused, "paused: " + contract, func(f *venue.Facts) { f.Chain.State.Venues[1].Paused = []string{contract} }},
}

func checkDecision(t *testing.T, f venue.Facts, state v1alpha1.VenueState, reason, words string) {
	t.Helper()
	gotState, gotReason, message := venue.Decide(f)
	if gotState != state || gotReason != reason || !strings.Contains(message, words) {
		t.Errorf("%s, %s, %q; want %s, %s, …%s…", gotState, gotReason, message, state, reason, words)
	}
}

func TestOpenWhenNothingIsWrong(t *testing.T) {
	t.Parallel()
	checkDecision(t, open(start), v1alpha1.VenueOpen, v1alpha1.ReasonOpen, "")
	f := open(start)
	f.On.WantedState = "" // what an omitted field means
	checkDecision(t, f, v1alpha1.VenueOpen, v1alpha1.ReasonOpen, "")
}

func TestTheFirstThatIsWrongIsTheReason(t *testing.T) {
	t.Parallel()
	for i, first := range breaks {
		t.Run(first.reason, func(t *testing.T) {
			t.Parallel()
			alone := open(start)
			first.do(&alone)
			checkDecision(t, alone, v1alpha1.VenueClosed, first.reason, first.words)

			for j := i + 1; j < len(breaks); j++ {
				two := open(start)
				breaks[j].do(&two)
				first.do(&two)
				checkDecision(t, two, v1alpha1.VenueClosed, first.reason, first.words)
			}
			f := open(start)
			for _, b := range slices.Backward(breaks[i:]) {
				b.do(&f)
			}
			checkDecision(t, f, v1alpha1.VenueClosed, first.reason, first.words)
		})
	}
}

func TestAMissingContractIsNamed(t *testing.T) {
	t.Parallel()
	f := open(start)
	f.Chain.State.Venues[1].Missing = []string{contract}
	f.Chain.State.Venues[1].Paused = []string{contract}
	checkDecision(t, f, v1alpha1.VenueClosed, v1alpha1.ReasonContractUnknown, "there is no contract at "+contract)
}

// A message with a figure that changes would be written again and again.
func TestMessagesStandWhileNothingChangesButTimeAndBlocks(t *testing.T) {
	t.Parallel()
	for _, b := range breaks {
		f := open(start)
		b.do(&f)
		state, reason, message := venue.Decide(f)
		later := open(start.Add(time.Hour))
		later.Chain.State.Head.Number, later.Chain.State.Indexed.Number = 999, 998
		later.Chain.State.HeadReadAt = later.Chain.State.HeadReadAt.Add(-30 * time.Second)
		b.do(&later)
		if later.Chain != nil {
			later.Chain.AskedAt = later.Chain.AskedAt.Add(7 * time.Second)
		}
		laterState, laterReason, laterMessage := venue.Decide(later)
		if laterState != state || laterReason != reason || laterMessage != message {
			t.Errorf("%s, %s, %q; later %s, %s, %q", state, reason, message, laterState, laterReason, laterMessage)
		}
	}
}

func TestHowFarAndHowLongIsTooMuch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(c *venue.Chain)
		reason string
	}{
		{"silent for as long as it may be", func(c *venue.Chain) { c.AskedAt = c.SeenAt.Add(venue.Patience) }, v1alpha1.ReasonOpen},
		{"silent for longer", func(c *venue.Chain) { c.AskedAt = c.SeenAt.Add(venue.Patience + 1) }, v1alpha1.ReasonIndexerDown},
		{"seen after it was asked, by a clock that went back", func(c *venue.Chain) { c.SeenAt = c.AskedAt.Add(time.Hour) }, v1alpha1.ReasonOpen},
		{"as far behind as it may be", func(c *venue.Chain) { c.State.Indexed.Time = c.State.Head.Time.Add(-maxLag) }, v1alpha1.ReasonOpen},
		{"further behind", func(c *venue.Chain) { c.State.Indexed.Time = c.State.Head.Time.Add(-maxLag - 1) }, v1alpha1.ReasonIndexerBehind},
		{"ahead of the announced head", func(c *venue.Chain) { c.State.Indexed.Time = c.State.Head.Time.Add(time.Hour) }, v1alpha1.ReasonOpen},
		{"heard of no head for too long", func(c *venue.Chain) { c.State.HeadReadAt = c.State.At.Add(-maxLag - 1) }, v1alpha1.ReasonIndexerBehind},
		{"all three together are as much as may be", func(c *venue.Chain) {
			c.State.Indexed.Time = c.State.Head.Time.Add(-maxLag + 30*time.Second)
			c.State.HeadReadAt = c.State.At.Add(-20 * time.Second)
			c.AskedAt = c.SeenAt.Add(10 * time.Second)
		}, v1alpha1.ReasonOpen},
		{"all three together are more", func(c *venue.Chain) {
			c.State.Indexed.Time = c.State.Head.Time.Add(-maxLag + 30*time.Second)
			c.State.HeadReadAt = c.State.At.Add(-20 * time.Second)
			c.AskedAt = c.SeenAt.Add(10*time.Second + 1)
		}, v1alpha1.ReasonIndexerBehind},
		{"no head yet", func(c *venue.Chain) { c.State.Head = nil }, v1alpha1.ReasonIndexerBehind},
		{"no block yet", func(c *venue.Chain) { c.State.Indexed = nil }, v1alpha1.ReasonIndexerBehind},
		{"times that were left out", func(c *venue.Chain) {
			c.State.Indexed.Time, c.State.HeadReadAt = time.Time{}, time.Time{}
			c.AskedAt = c.SeenAt.Add(time.Second)
		}, v1alpha1.ReasonIndexerBehind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := open(start)
			tt.change(f.Chain)
			want := v1alpha1.VenueClosed
			if tt.reason == v1alpha1.ReasonOpen {
				want = v1alpha1.VenueOpen
			}
			checkDecision(t, f, want, tt.reason, "")
		})
	}
}

// After a start of the operator nobody has been asked yet.
func TestUntilTheIndexerHadTimeToAnswerAnOpenVenueStaysOpen(t *testing.T) {
	t.Parallel()
	wasOpen := &v1alpha1.VenueChainStatus{Chain: "bsc", State: v1alpha1.VenueOpen, Reason: v1alpha1.ReasonOpen}
	wasPaused := &v1alpha1.VenueChainStatus{Chain: "bsc", State: v1alpha1.VenueClosed, Reason: v1alpha1.ReasonContractPaused, Message: "paused"}
	wasClosed := &v1alpha1.VenueChainStatus{Chain: "bsc", State: v1alpha1.VenueClosed, Reason: v1alpha1.ReasonWantedClosed, Message: "wanted"}
	suspend := func(f *venue.Facts) { f.Chain.Suspended = true }
	for _, tt := range []struct {
		name   string
		before *v1alpha1.VenueChainStatus
		asked  bool
		change func(f *venue.Facts)
		state  v1alpha1.VenueState
		reason string
	}{
		{"open before", wasOpen, false, nil, v1alpha1.VenueOpen, v1alpha1.ReasonOpen},
		{"open before, asked for long enough", wasOpen, true, nil, v1alpha1.VenueClosed, v1alpha1.ReasonIndexerDown},
		{"open before, and now suspended", wasOpen, false, suspend, v1alpha1.VenueClosed, v1alpha1.ReasonChainSuspended},
		{"paused before", wasPaused, false, nil, v1alpha1.VenueClosed, v1alpha1.ReasonContractPaused},
		{"paused before, asked for long enough", wasPaused, true, nil, v1alpha1.VenueClosed, v1alpha1.ReasonIndexerDown},
		{"closed before, for what is declared", wasClosed, false, nil, v1alpha1.VenueClosed, v1alpha1.ReasonIndexerStarting},
		{"never looked at", nil, false, nil, v1alpha1.VenueClosed, v1alpha1.ReasonIndexerStarting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := open(start)
			f.Before, f.Chain.Asked, f.Chain.State = tt.before, tt.asked, nil
			if tt.change != nil {
				tt.change(&f)
			}
			checkDecision(t, f, tt.state, tt.reason, "")
		})
	}
	f := open(start)
	f.Before, f.Chain.Asked = wasOpen, false
	f.Chain.State.Phase = chainconfig.PhaseHalted
	f.Chain.State.Message = "a human is needed"
	checkDecision(t, f, v1alpha1.VenueClosed, v1alpha1.ReasonIndexerHalted, "a human is needed")
}

// scene is a venue and what it is looked at in.
type scene struct {
	spec   v1alpha1.LaunchVenueSpec
	facts  map[string]venue.Facts
	broken map[string]bool
	world  venue.World
}

var names = []string{"arbitrum", "base", "bsc", "polygon"}

// drawScene breaks any things of a venue on up to four chains.
func drawScene(t *rapid.T, now time.Time) scene {
	s := scene{
		spec:  v1alpha1.LaunchVenueSpec{ID: "four-meme", Protocol: v1alpha1.VenueProtocol(chainconfig.FourMemeV2)},
		facts: map[string]venue.Facts{}, broken: map[string]bool{},
	}
	s.spec.Default = rapid.Bool().Draw(t, "default")
	if rapid.IntRange(0, 9).Draw(t, "refused") == 0 {
		s.world.Refusal = &resolve.Refusal{Reason: v1alpha1.ReasonInvalid, Message: "spec.label: is missing"}
	}
	if rapid.Bool().Draw(t, "older default") {
		s.world.OlderDefault = "older"
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID).Draw(t, "chains") {
		f := open(now)
		f.On.Chain, f.Chain.Name = name, name
		for _, b := range slices.Backward(breaks) {
			if b.reason == v1alpha1.ReasonVenueNotAccepted || b.reason == v1alpha1.ReasonWrongFamily {
				continue // not of one chain
			}
			if rapid.IntRange(0, 15).Draw(t, b.reason) == 0 {
				b.do(&f)
				s.broken[name] = true
			}
		}
		if len(f.Taken) > 0 {
			s.world.Rivals = append(s.world.Rivals, rival(name))
		}
		s.facts[name] = f
		s.spec.Chains = append(s.spec.Chains, f.On)
	}
	s.world.Chain = func(name string) *venue.Chain { return s.facts[name].Chain }
	return s
}

// rival is an older venue that declares the contract on a chain, too.
func rival(chain string) v1alpha1.LaunchVenue {
	var v v1alpha1.LaunchVenue
	v.Name, v.Spec.ID = "older-on-"+chain, "older"
	v.Spec.Chains = []v1alpha1.VenueChain{{Chain: chain, Contracts: []v1alpha1.EVMAddress{contract}}}
	return v
}

func TestStatus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &v1alpha1.LaunchVenue{}
		v.Name = "younger" // of one second the name decides
		since := map[string]metav1.Time{}
		was := map[string]v1alpha1.VenueState{}
		now := start
		for step := range rapid.IntRange(1, 4).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pause")))
			s := drawScene(t, now)
			v.Spec, v.Generation = s.spec, int64(step+1)
			before := v.DeepCopy()
			v.Status = venue.Status(v, s.world, now)

			if !equality.Semantic.DeepEqual(before.Spec, v.Spec) {
				t.Fatal("the spec was changed")
			}
			if again := venue.Status(v, s.world, now.Add(time.Hour)); !equality.Semantic.DeepEqual(v.Status, again) {
				t.Fatalf("its own result becomes %+v\nfrom %+v", again, v.Status)
			}
			if v.Status.ObservedGeneration != v.Generation || len(v.Status.Chains) != len(v.Spec.Chains) {
				t.Fatalf("generation %d, %d chains: %+v", v.Generation, len(v.Spec.Chains), v.Status)
			}
			checkChains(t, v, &s, now, was, since)
			checkConditions(t, v, &s)
		}
	})
}

// checkChains compares with what was decided in the steps before, which it keeps in was and since.
func checkChains(t *rapid.T, v *v1alpha1.LaunchVenue, s *scene, now time.Time, was map[string]v1alpha1.VenueState, since map[string]metav1.Time) {
	for i, got := range v.Status.Chains {
		if got.Chain != v.Spec.Chains[i].Chain {
			t.Fatalf("chain %d is %s, declared is %s", i, got.Chain, v.Spec.Chains[i].Chain)
		}
		if isOpen := !s.broken[got.Chain] && s.world.Refusal == nil; isOpen != (got.State == v1alpha1.VenueOpen) {
			t.Fatalf("%+v; nothing is wrong: %v", got, isOpen)
		}
		if (got.State == v1alpha1.VenueOpen) != (got.Reason == v1alpha1.ReasonOpen) || (got.Message == "") != (got.Reason == v1alpha1.ReasonOpen) {
			t.Fatalf("%+v", got)
		}
		if was[got.Chain] != got.State {
			was[got.Chain], since[got.Chain] = got.State, metav1.NewTime(now.Truncate(time.Second))
		}
		if want := since[got.Chain]; !got.LastTransitionTime.Equal(&want) {
			t.Fatalf("%+v; it is so since %s", got, want)
		}
	}
	for name := range was {
		if _, declared := s.facts[name]; !declared {
			delete(was, name) // taken out of the spec, it starts anew
		}
	}
}

func checkConditions(t *rapid.T, v *v1alpha1.LaunchVenue, s *scene) {
	is := func(name string) bool { return meta.IsStatusConditionTrue(v.Status.Conditions, name) }
	wanted, open := 0, 0
	for i, c := range v.Status.Chains {
		if v.Spec.Chains[i].WantedState != v1alpha1.VenueClosed {
			wanted++
		}
		if c.State == v1alpha1.VenueOpen {
			open++
		}
	}
	if want := fmt.Sprintf("%d/%d", open, wanted); v.Status.Open != want {
		t.Fatalf("open is %s; want %s", v.Status.Open, want)
	}
	if is(v1alpha1.ConditionAccepted) != (s.world.Refusal == nil) || is(v1alpha1.ConditionReady) != (s.world.Refusal == nil && open == wanted) {
		t.Fatalf("conditions are %+v", v.Status.Conditions)
	}
	given := meta.FindStatusCondition(v.Status.Conditions, v1alpha1.ConditionDefault) != nil
	if given != v.Spec.Default || is(v1alpha1.ConditionDefault) != (v.Spec.Default && s.world.OlderDefault == "") {
		t.Fatalf("conditions are %+v", v.Status.Conditions)
	}
	for _, c := range v.Status.Conditions {
		if c.ObservedGeneration != v.Generation {
			t.Fatalf("%+v; the generation is %d", c, v.Generation)
		}
	}
}

func TestTheSummarySaysWhereItIsClosedAndWhy(t *testing.T) {
	t.Parallel()
	closed := open(start).On
	closed.Chain, closed.WantedState = "base", v1alpha1.VenueClosed
	here := open(start)
	elsewhere := here.On
	elsewhere.Chain = "polygon"
	for _, tt := range []struct {
		name                   string
		chains                 []v1alpha1.VenueChain
		open, closedOn, reason string
		ready                  metav1.ConditionStatus
	}{
		{"open", []v1alpha1.VenueChain{here.On}, "1/1", "", v1alpha1.ReasonOpen, metav1.ConditionTrue},
		{"open, and closed as wanted", []v1alpha1.VenueChain{here.On, closed}, "1/1", "base (WantedClosed)", v1alpha1.ReasonOpen, metav1.ConditionTrue},
		{"wanted nowhere", []v1alpha1.VenueChain{closed}, "0/0", "base (WantedClosed)", v1alpha1.ReasonWantedClosed, metav1.ConditionTrue},
		{
			name: "open on some", chains: []v1alpha1.VenueChain{here.On, elsewhere, closed}, open: "1/2",
			closedOn: "polygon (ChainNotFound), base (WantedClosed)", reason: v1alpha1.ReasonSomeClosed, ready: metav1.ConditionFalse,
		},
		{"open on none", []v1alpha1.VenueChain{elsewhere}, "0/1", "polygon (ChainNotFound)", v1alpha1.ReasonAllClosed, metav1.ConditionFalse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := &v1alpha1.LaunchVenue{Spec: v1alpha1.LaunchVenueSpec{ID: "four-meme", Protocol: "FourMemeV2", Chains: tt.chains}}
			status := venue.Status(v, venue.World{Chain: func(name string) *venue.Chain {
				if name == "bsc" {
					return here.Chain
				}
				return nil
			}}, start)
			ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
			if status.Open != tt.open || status.ClosedOn != tt.closedOn || ready.Status != tt.ready || ready.Reason != tt.reason {
				t.Errorf("%s, %q, %s %s; want %s, %q, %s %s", status.Open, status.ClosedOn, ready.Status, ready.Reason,
					tt.open, tt.closedOn, tt.ready, tt.reason)
			}
		})
	}
}

// The schema bounds what is written: a longer text would be refused, and the status stay as it was.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	f := open(start)
	f.Chain.State.Phase, f.Chain.State.Message = chainconfig.PhaseHalted, strings.Repeat("é", 3000)
	v := &v1alpha1.LaunchVenue{Spec: v1alpha1.LaunchVenueSpec{ID: "four-meme", Protocol: "FourMemeV2"}}
	for i := range 32 {
		on := f.On
		on.Chain = fmt.Sprintf("%02d%s", i, strings.Repeat("x", 251))
		v.Spec.Chains = append(v.Spec.Chains, on)
	}
	status := venue.Status(v, venue.World{Chain: func(string) *venue.Chain { return f.Chain }}, start)
	texts := []string{status.ClosedOn}
	for _, c := range status.Chains {
		texts = append(texts, c.Message)
	}
	for _, c := range status.Conditions {
		texts = append(texts, c.Message)
	}
	if most := slices.Max(lengths(texts)); most != 1024 {
		t.Errorf("the longest text has %d characters; want 1024", most)
	}
}

func lengths(texts []string) []int {
	out := make([]int, len(texts))
	for i, s := range texts {
		out[i] = len([]rune(s))
	}
	return out
}
