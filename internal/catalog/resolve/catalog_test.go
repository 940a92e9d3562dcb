package resolve_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	fourMeme, dbc, clanker := readVenue(t, resolvetest.GoodVenue), readVenue(t, resolvetest.GoodOwnVenue), readVenue(t, resolvetest.GoodFurtherVenue)
	// Only the status says what is open. The row of a chain that isn't there counts for nothing.
	fourMeme.Status.Chains = []v1alpha1.VenueChainStatus{{Chain: "bsc", State: v1alpha1.VenueOpen}, {Chain: "base", State: v1alpha1.VenueClosed}}
	clanker.Status.Chains = []v1alpha1.VenueChainStatus{{Chain: "base", State: v1alpha1.VenueOpen}}
	// A slip: base isn't of its family.
	dbc.Spec.Chains = append(dbc.Spec.Chains, v1alpha1.VenueChain{Chain: "base", TradesInApp: true})
	got, err := resolve.Catalog([]v1alpha1.Chain{*read(t, resolvetest.GoodSolana), *read(t, resolvetest.Good)},
		[]v1alpha1.LaunchVenue{*dbc, *clanker, *fourMeme})
	if err != nil {
		t.Fatal(err)
	}
	if ids := got.IDs(); !slices.Equal(ids, []string{"base", "solana"}) {
		t.Errorf("order %v", ids)
	}
	base, ok := got.Chain("base")
	if !ok || base.Label != "Base" || base.EVMChainID != 8453 || base.MinTradeUSD != 2 || base.Suspended || len(base.Quotes) != 2 ||
		base.Exchanges[1] != (catalog.Exchange{Name: "uniswap-v4", Protocol: market.UniswapV4, Factory: markettest.Address("0x498581ff718922c3f8e6a244956af099b2652b2b")}) {
		t.Errorf("base %+v", base)
	}
	if solana, ok := got.Chain("solana"); !ok || !solana.Suspended || solana.Native.Wrapped.String() != "So11111111111111111111111111111111111111112" {
		t.Errorf("solana %+v", solana)
	}
	if _, ok := got.Chain("nowhere"); ok {
		t.Error("found a chain that isn't declared")
	}
	want := []catalog.Venue{
		{
			ID: "four-meme", Label: "four.meme", Ownership: catalog.Outside, Protocol: chainconfig.FourMemeV2, Filter: "four-meme", Badge: "four.meme",
			Chains: []catalog.VenueChain{{Chain: "base", LinkTemplate: "https://four.meme/token/{mint}?from=boardwalk"}},
		},
		{
			ID: "boardwalk-dbc", Label: "Boardwalk DBC", Ownership: catalog.Own, Protocol: chainconfig.MeteoraDBC, Filter: "ours",
			Chains: []catalog.VenueChain{{Chain: "solana", Default: true, TradesInApp: true}},
		},
		{
			ID: "clanker", Label: "Clanker", Ownership: catalog.Further, Protocol: chainconfig.ClankerV4, Filter: "clanker",
			Chains: []catalog.VenueChain{{Chain: "base", Open: true, TradesInApp: true}},
		},
	}
	if !reflect.DeepEqual(got.Venues, want) {
		t.Errorf("got  %+v\nwant %+v", got.Venues, want)
	}
}

// A chain is known to venues by the name of its resource, in the catalogue by its id.
func TestCatalogTellsNamesFromIDs(t *testing.T) {
	t.Parallel()
	c := chainAs(t, "base", 0, "base-mainnet", 8453)
	v := venueAs(t, resolvetest.GoodFurtherVenue, "v", 0, "clanker")
	v.Status.Chains = []v1alpha1.VenueChainStatus{{Chain: "base", State: v1alpha1.VenueOpen}}
	got, err := resolve.Catalog([]v1alpha1.Chain{c}, []v1alpha1.LaunchVenue{v})
	if err != nil || !reflect.DeepEqual(got.Venues[0].Chains, []catalog.VenueChain{{Chain: "base-mainnet", Open: true, TradesInApp: true}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A chain that an edit made invalid is served as it was accepted last, place in the list included, and suspended as the edit says.
func TestCatalogServesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	kept := func(c v1alpha1.Chain) string {
		raw, err := json.Marshal(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	base, bsc := chainAs(t, "base", 1, "base", 8453), chainAs(t, "bsc", 2, "bsc", 56)
	for name, test := range map[string]struct {
		kept, want string
	}{
		"accepted before":        {kept(base), "base Base true, bsc Base false"},
		"never accepted":         {"", "bsc Base false"},
		"kept by another schema": {`{"id":7}`, "bsc Base false"},
		"of another chain":       {kept(bsc), "bsc Base false"},
		"invalid by now":         {strings.Replace(kept(base), `"EVM"`, `"Cosmos"`, 1), "bsc Base false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edited := *base.DeepCopy()
			edited.Status.LastAccepted = test.kept
			edited.Spec.Label, edited.Spec.BlockTime.Duration, edited.Spec.Suspend, *edited.Spec.Order = "Grundlage", 0, true, 9999
			got, err := resolve.Catalog([]v1alpha1.Chain{edited, bsc}, nil)
			if err == nil || !strings.Contains(err.Error(), "spec.blockTime") {
				t.Errorf("the slip isn't told: %v", err)
			}
			var chains []string
			for i := range got.Chains {
				c := &got.Chains[i]
				chains = append(chains, fmt.Sprintf("%s %s %t", c.ID, c.Label, c.Suspended))
			}
			if text := strings.Join(chains, ", "); text != test.want {
				t.Errorf("served are %s; want %s", text, test.want)
			}
		})
	}
}

func TestCatalogOrder(t *testing.T) {
	t.Parallel()
	order := func(n int32) *int32 { return &n }
	type item struct {
		name    string
		created int
		order   *int32
	}
	tests := []struct {
		name  string
		items []item
		want  string
	}{
		{"by order", []item{{"a", 1, order(30)}, {"b", 2, order(10)}, {"c", 3, order(0)}}, "c b a"},
		{"then by age", []item{{"a", 3, order(5)}, {"b", 2, order(5)}, {"c", 1, order(6)}}, "b a c"},
		{"then as they are given", []item{{"b", 1, nil}, {"c", 1, nil}, {"a", 1, nil}}, "b c a"},
		{"without an order is the default", []item{{"a", 3, order(1001)}, {"b", 2, nil}, {"c", 1, order(1000)}, {"d", 0, order(999)}}, "d c b a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var (
				chains []v1alpha1.Chain
				venues []v1alpha1.LaunchVenue
			)
			for i, it := range tt.items {
				c, v := chainAs(t, it.name, it.created, it.name, int64(i+1)), venueAs(t, resolvetest.GoodVenue, it.name, it.created, it.name)
				c.Spec.Order, v.Spec.Order = it.order, it.order
				chains, venues = append(chains, c), append(venues, v)
			}
			got, err := resolve.Catalog(chains, venues)
			if err != nil {
				t.Fatal(err)
			}
			if ids := strings.Join(got.IDs(), " "); ids != tt.want {
				t.Errorf("chains %s, want %s", ids, tt.want)
			}
			if ids := strings.Join(venueIDs(got), " "); ids != tt.want {
				t.Errorf("venues %s, want %s", ids, tt.want)
			}
		})
	}
}

func venueIDs(c *catalog.Catalog) (out []string) {
	for _, v := range c.Venues {
		out = append(out, v.ID)
	}
	return out
}

// What is refused is left out, with what hangs on it, and everything else is served.
func TestCatalogLeavesOut(t *testing.T) {
	t.Parallel()
	onBase := func(name string, created int, change func(*v1alpha1.LaunchVenue)) v1alpha1.LaunchVenue {
		v := venueAs(t, resolvetest.GoodFurtherVenue, name, created, name)
		change(&v)
		return v
	}
	tests := []struct {
		name   string
		chains []v1alpha1.Chain
		venues []v1alpha1.LaunchVenue
		// served are ids of chains, then of venues with the chains that they have rows for; * marks a default.
		served string
		err    []string
	}{
		{"nothing", nil, nil, "", nil},
		{
			"one id twice",
			[]v1alpha1.Chain{chainAs(t, "young", 2, "base", 1), chainAs(t, "old", 1, "base", 8453)},
			nil,
			"base",
			[]string{`chain "young": Chain old has the same spec.id "base"`},
		},
		{
			"one chain id twice",
			[]v1alpha1.Chain{chainAs(t, "old", 1, "base", 8453), chainAs(t, "young", 2, "other", 8453)},
			nil,
			"base",
			[]string{`chain "young": Chain old has the same spec.chainID 8453`},
		},
		{
			"a chain that makes no sense, and the venue on it",
			[]v1alpha1.Chain{chainAs(t, "base", 1, "x y", 8453), chainAs(t, "bsc", 1, "bsc", 56)},
			[]v1alpha1.LaunchVenue{onBase("v", 1, func(v *v1alpha1.LaunchVenue) {
				v.Spec.Chains = append(v.Spec.Chains, v1alpha1.VenueChain{Chain: "bsc", TradesInApp: true})
			}), onBase("w", 1, func(*v1alpha1.LaunchVenue) {})},
			"bsc v[bsc] w[]",
			[]string{`chain "base": spec.id: "x y" is no name`},
		},
		{
			"one venue twice",
			[]v1alpha1.Chain{chainAs(t, "base", 1, "base", 8453)},
			[]v1alpha1.LaunchVenue{onBase("young", 2, func(v *v1alpha1.LaunchVenue) { v.Spec.ID = "old" }), onBase("old", 1, func(*v1alpha1.LaunchVenue) {})},
			"base old[base]",
			[]string{`venue "young": LaunchVenue old has the same spec.id "old"`},
		},
		{
			"a venue that makes no sense",
			[]v1alpha1.Chain{chainAs(t, "base", 1, "base", 8453)},
			[]v1alpha1.LaunchVenue{onBase("v", 1, func(v *v1alpha1.LaunchVenue) { v.Namespace, v.Spec.FilterValue = "team", "" })},
			"base",
			[]string{`venue "team/v": spec.filterValue: is missing`},
		},
		{
			"two defaults of a family, and one of another",
			[]v1alpha1.Chain{chainAs(t, "base", 1, "base", 8453), *read(t, resolvetest.GoodSolana)},
			[]v1alpha1.LaunchVenue{
				onBase("young", 2, own), onBase("old", 1, own),
				venueAs(t, resolvetest.GoodOwnVenue, "dbc", 3, "dbc"),
			},
			"base solana old[base*] young[base] dbc[solana*]",
			[]string{`venue "young": "old" is the default of family EVM already`},
		},
		{
			"everything at once",
			[]v1alpha1.Chain{chainAs(t, "a", 1, "", 8453), chainAs(t, "b", 1, "b", 0)},
			[]v1alpha1.LaunchVenue{onBase("c", 1, func(v *v1alpha1.LaunchVenue) { v.Spec.Label = "" })},
			"",
			[]string{`chain "a": spec.id: is missing`, `chain "b": spec.chainID: is 0`, `venue "c": spec.label: is missing`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := resolve.Catalog(tt.chains, tt.venues)
			if s := summary(got); s != tt.served {
				t.Errorf("got %q, want %q", s, tt.served)
			}
			if (err == nil) != (len(tt.err) == 0) {
				t.Fatalf("error %v", err)
			}
			for _, want := range tt.err {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

// own makes the further venue one of the own family and its default.
func own(v *v1alpha1.LaunchVenue) {
	v.Spec.Ownership, v.Spec.Protocol, v.Spec.MarketModel = v1alpha1.OwnershipOwn, "BoardwalkCurve", v1alpha1.MarketModelBondingCurve
	v.Spec.FilterValue, v.Spec.Default = "", true
}

func summary(c *catalog.Catalog) string {
	out := c.IDs()
	for _, v := range c.Venues {
		var on []string
		for _, row := range v.Chains {
			mark := ""
			if row.Default {
				mark = "*"
			}
			on = append(on, row.Chain+mark)
		}
		out = append(out, fmt.Sprintf("%s[%s]", v.ID, strings.Join(on, " ")))
	}
	return strings.Join(out, " ")
}

// What people see changes when a resource is written or a venue opens or closes, not with the rest of a status.
func TestCatalogChangedAt(t *testing.T) {
	t.Parallel()
	c, v := chainAs(t, "base", 1, "base", 8453), venueAs(t, resolvetest.GoodFurtherVenue, "v", 2, "clanker")
	changed := func(want int) {
		t.Helper()
		got, err := resolve.Catalog([]v1alpha1.Chain{c}, []v1alpha1.LaunchVenue{v})
		if err != nil {
			t.Fatal(err)
		}
		if wanted := at(want); !got.ChangedAt.Equal(wanted.Time) || got.ChangedAt.Location() != time.UTC {
			t.Errorf("got %v, want %v", got.ChangedAt, wanted)
		}
	}
	changed(2)
	three, four := at(3), at(4)
	c.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &three}, {Time: &four, Subresource: "status"}, {}}
	changed(3)
	v.Status.Chains = []v1alpha1.VenueChainStatus{{Chain: "base", State: v1alpha1.VenueOpen, LastTransitionTime: at(5)}}
	changed(5)
	none, err := resolve.Catalog(nil, nil)
	if err != nil || !none.ChangedAt.IsZero() {
		t.Errorf("of nothing: %v, %v", none.ChangedAt, err)
	}
}

// TestCatalogOfAnything declares worlds at random: many resources share few names, ids, ages and slips. The catalogue of each
// is whole, and the same for equal arguments in whatever order.
func TestCatalogOfAnything(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if env := os.Getenv("BOARDWALK_TEST_SEED"); env != "" {
		var err error
		if seed, err = strconv.ParseUint(env, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed: BOARDWALK_TEST_SEED=%d", seed)
	w := worlds{
		rng:    rand.New(rand.NewPCG(seed, 4)),
		chains: []*v1alpha1.Chain{read(t, resolvetest.Good), read(t, resolvetest.GoodSolana), {}},
		venues: []*v1alpha1.LaunchVenue{
			readVenue(t, resolvetest.GoodVenue), readVenue(t, resolvetest.GoodOwnVenue), readVenue(t, resolvetest.GoodFurtherVenue), {},
		},
	}
	for _, tt := range slices.Concat(resolvetest.Chains(), resolvetest.Venues()) {
		m := load(t, tt.Manifest)
		for i := range m.Chains {
			w.chains = append(w.chains, &m.Chains[i].Resource)
		}
		for i := range m.Venues {
			w.venues = append(w.venues, &m.Venues[i].Resource)
		}
	}
	served, refused := 0, 0
	for range 500 {
		chains, venues := w.make()
		got, err := resolve.Catalog(copies(chains), copies(venues))
		again, errAgain := resolve.Catalog(chains, venues)
		if !reflect.DeepEqual(got, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("equal arguments give\n%+v, %v\n%+v, %v", got, err, again, errAgain)
		}
		checkWhole(t, got)
		w.rng.Shuffle(len(chains), func(i, j int) { chains[i], chains[j] = chains[j], chains[i] })
		w.rng.Shuffle(len(venues), func(i, j int) { venues[i], venues[j] = venues[j], venues[i] })
		if shuffled, _ := resolve.Catalog(chains, venues); !reflect.DeepEqual(byID(got), byID(shuffled)) {
			t.Fatalf("in another order\n%s\nis\n%s", summary(got), summary(shuffled))
		}
		served += len(got.Chains) + len(got.Venues)
		refused += len(chains) + len(venues) - len(got.Chains) - len(got.Venues)
	}
	if served < 500 || refused < 500 {
		t.Errorf("%d resources were served and %d refused: the worlds show too little", served, refused)
	}
}

// checkWhole holds what whoever reads a catalogue relies on.
func checkWhole(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	ids, chainIDs, venues, defaults := map[string]bool{}, map[uint64]bool{}, map[string]bool{}, map[chainconfig.Family]string{}
	for i := range c.Chains {
		x := &c.Chains[i]
		if ids[x.ID] || x.EVMChainID != 0 && chainIDs[x.EVMChainID] {
			t.Fatalf("chain %s is there twice", x.ID)
		}
		ids[x.ID], chainIDs[x.EVMChainID] = true, true
	}
	for _, v := range c.Venues {
		if venues[v.ID] {
			t.Fatalf("venue %s is there twice", v.ID)
		}
		venues[v.ID] = true
		for _, row := range v.Chains {
			chain, ok := c.Chain(row.Chain)
			if !ok || chain.Family != v.Protocol.Family() {
				t.Fatalf("venue %s of protocol %s is on chain %s", v.ID, v.Protocol, row.Chain)
			}
			if other := defaults[chain.Family]; row.Default && other != "" && other != v.ID {
				t.Fatalf("venues %s and %s are both the default of %s", other, v.ID, chain.Family)
			}
			if row.Default {
				defaults[chain.Family] = v.ID
			}
		}
	}
}

func byID(c *catalog.Catalog) catalog.Catalog {
	out := catalog.Catalog{Chains: slices.Clone(c.Chains), Venues: slices.Clone(c.Venues), ChangedAt: c.ChangedAt}
	slices.SortFunc(out.Chains, func(a, b catalog.Chain) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Venues, func(a, b catalog.Venue) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func copies[T any, P interface {
	*T
	DeepCopy() P
}](list []T) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = *P(&list[i]).DeepCopy()
	}
	return out
}

// worlds makes lists of resources out of some.
type worlds struct {
	rng    *rand.Rand
	chains []*v1alpha1.Chain
	venues []*v1alpha1.LaunchVenue
}

func (w *worlds) make() (chains []v1alpha1.Chain, venues []v1alpha1.LaunchVenue) {
	for i := range w.rng.IntN(8) {
		c := w.chains[w.pick(len(w.chains))].DeepCopy()
		w.meta(&c.ObjectMeta, i)
		if w.rng.IntN(2) == 0 {
			c.Spec.ID = w.name()
		}
		if id := int64(w.rng.IntN(4)); c.Spec.ChainID != nil {
			c.Spec.ChainID = &id
		}
		c.Spec.Order = w.order()
		chains = append(chains, *c)
	}
	for i := range w.rng.IntN(12) {
		v := w.venues[w.pick(len(w.venues))].DeepCopy()
		w.meta(&v.ObjectMeta, i)
		if w.rng.IntN(2) == 0 {
			v.Spec.ID = w.name()
		}
		if w.rng.IntN(4) == 0 {
			own(v)
		}
		for j := range v.Spec.Chains {
			v.Spec.Chains[j].Chain = fmt.Sprintf("%s-%d", w.name(), w.rng.IntN(4))
			v.Status.Chains = append(v.Status.Chains, v1alpha1.VenueChainStatus{
				Chain: v.Spec.Chains[j].Chain, State: []v1alpha1.VenueState{v1alpha1.VenueOpen, v1alpha1.VenueClosed, ""}[w.rng.IntN(3)],
			})
		}
		v.Spec.Order = w.order()
		venues = append(venues, *v)
	}
	return chains, venues
}

// pick prefers the first three, most of which are right.
func (w *worlds) pick(n int) int {
	if w.rng.IntN(3) > 0 {
		return w.rng.IntN(3)
	}
	return w.rng.IntN(n)
}

// meta gives a name of its own: no two resources of a kind have one.
func (w *worlds) meta(m *metav1.ObjectMeta, i int) {
	m.Name, m.CreationTimestamp = fmt.Sprintf("%s-%d", w.name(), i), at(w.rng.IntN(3))
}

func (w *worlds) name() string { return []string{"a", "b", "base", "solana"}[w.rng.IntN(4)] }

func (w *worlds) order() *int32 {
	if w.rng.IntN(3) == 0 {
		return nil
	}
	n := int32(w.rng.IntN(4) * 500)
	return &n
}
