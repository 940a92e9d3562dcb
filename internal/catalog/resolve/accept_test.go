package resolve_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// at is a time of creation, in seconds after some moment.
func at(seconds int) metav1.Time {
	return metav1.NewTime(time.Unix(1_760_000_000, 0).Add(time.Duration(seconds) * time.Second))
}

// chainAs is the good chain under other names.
func chainAs(t *testing.T, name string, created int, id string, chainID int64) v1alpha1.Chain {
	t.Helper()
	c := read(t, resolvetest.Good)
	c.Name, c.CreationTimestamp, c.Spec.ID, c.Spec.ChainID = name, at(created), id, &chainID
	return *c
}

func venueAs(t *testing.T, manifest, name string, created int, id string) v1alpha1.LaunchVenue {
	t.Helper()
	v := readVenue(t, manifest)
	v.Name, v.CreationTimestamp, v.Spec.ID = name, at(created), id
	return *v
}

func TestRefuseChain(t *testing.T) {
	t.Parallel()
	base := chainAs(t, "m", 10, "base", 8453)
	wrong := base
	wrong.Spec.Label, wrong.Spec.Family = "", ""
	tests := []struct {
		name   string
		chain  v1alpha1.Chain
		peers  []v1alpha1.Chain
		reason string // empty when it is accepted
		want   []string
	}{
		{"alone", base, nil, "", nil},
		{"among its peers", base, []v1alpha1.Chain{base}, "", nil},
		{"beside others", base, []v1alpha1.Chain{chainAs(t, "a", 1, "bsc", 56)}, "", nil},
		{"the older one of an id", base, []v1alpha1.Chain{chainAs(t, "a", 11, "base", 1), base}, "", nil},
		{
			"the younger one of an id", base,
			[]v1alpha1.Chain{chainAs(t, "z", 9, "base", 1), base},
			v1alpha1.ReasonDuplicateID,
			[]string{`Chain z has the same spec.id "base"`, "under another id, or delete one of the two"},
		},
		{"by name within a second: first", base, []v1alpha1.Chain{chainAs(t, "n", 10, "base", 1)}, "", nil},
		{"by name within a second: second", base, []v1alpha1.Chain{chainAs(t, "l", 10, "base", 1)}, v1alpha1.ReasonDuplicateID, []string{"Chain l"}},
		{
			"the younger one of a chain id", base,
			[]v1alpha1.Chain{chainAs(t, "z", 9, "other", 8453)},
			v1alpha1.ReasonDuplicateChainID,
			[]string{"Chain z has the same spec.chainID 8453", "declare each network once"},
		},
		{"the older one of a chain id", base, []v1alpha1.Chain{chainAs(t, "a", 11, "other", 8453)}, "", nil},
		{"both, the id counts", base, []v1alpha1.Chain{chainAs(t, "a", 1, "other", 8453), chainAs(t, "z", 9, "base", 1)}, v1alpha1.ReasonDuplicateID, []string{"Chain z"}},
		{"the oldest is named", base, []v1alpha1.Chain{chainAs(t, "a", 9, "base", 1), chainAs(t, "z", 8, "base", 2)}, v1alpha1.ReasonDuplicateID, []string{"Chain z"}},
		{"the same, in another order", base, []v1alpha1.Chain{chainAs(t, "z", 8, "base", 2), chainAs(t, "a", 9, "base", 1)}, v1alpha1.ReasonDuplicateID, []string{"Chain z"}},
		{"an older one that makes no sense still counts", base, []v1alpha1.Chain{func() v1alpha1.Chain {
			c := chainAs(t, "z", 9, "base", 1)
			c.Spec.Label = ""
			return c
		}()}, v1alpha1.ReasonDuplicateID, []string{"Chain z"}},
		{"wrong", wrong, nil, v1alpha1.ReasonInvalid, []string{"spec.family: is missing; allowed: EVM, Solana; spec.label: is missing"}},
		{"wrong and younger", wrong, []v1alpha1.Chain{chainAs(t, "z", 9, "base", 1)}, v1alpha1.ReasonInvalid, []string{"spec.label"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkRefusal(t, resolve.RefuseChain(&tt.chain, tt.peers), tt.reason, tt.want)
		})
	}
}

func TestRefuseVenue(t *testing.T) {
	t.Parallel()
	venue := venueAs(t, resolvetest.GoodVenue, "m", 10, "four-meme")
	wrong := venue
	wrong.Spec.Badge = ""
	tests := []struct {
		name   string
		venue  v1alpha1.LaunchVenue
		peers  []v1alpha1.LaunchVenue
		reason string
		want   []string
	}{
		{"alone", venue, nil, "", nil},
		{"beside another and itself", venue, []v1alpha1.LaunchVenue{venueAs(t, resolvetest.GoodFurtherVenue, "a", 1, "clanker"), venue}, "", nil},
		{"the older one of an id", venue, []v1alpha1.LaunchVenue{venueAs(t, resolvetest.GoodFurtherVenue, "a", 11, "four-meme")}, "", nil},
		{
			"the younger one of an id", venue,
			[]v1alpha1.LaunchVenue{venueAs(t, resolvetest.GoodFurtherVenue, "z", 9, "four-meme")},
			v1alpha1.ReasonDuplicateID,
			[]string{`LaunchVenue z has the same spec.id "four-meme"`, "under another id, or delete one of the two"},
		},
		{"wrong", wrong, nil, v1alpha1.ReasonInvalid, []string{"spec.badge: is missing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkRefusal(t, resolve.RefuseVenue(&tt.venue, tt.peers), tt.reason, tt.want)
		})
	}
}

func checkRefusal(t *testing.T, got *resolve.Refusal, reason string, want []string) {
	t.Helper()
	if got == nil {
		if reason != "" {
			t.Errorf("it was accepted, want %s", reason)
		}
		return
	}
	if got.Reason != reason {
		t.Errorf("got %+v, want %q", got, reason)
	}
	for _, w := range want {
		if !strings.Contains(got.Message, w) {
			t.Errorf("%q is not in: %s", w, got.Message)
		}
	}
}

// A message is read in the column of a table: one line, not longer than a condition's message should be.
func TestRefusalIsOneShortLine(t *testing.T) {
	t.Parallel()
	c := chainAs(t, "m", 0, "base", 8453)
	for range 100 {
		c.Spec.RPC.Endpoints = append(c.Spec.RPC.Endpoints, v1alpha1.Endpoint{})
	}
	no := resolve.RefuseChain(&c, nil)
	if no == nil || no.Reason != v1alpha1.ReasonInvalid || strings.Contains(no.Message, "\n") || len([]rune(no.Message)) > 1024 || !strings.HasSuffix(no.Message, "…") {
		t.Errorf("got %+v", no)
	}
}

func TestOlderDefault(t *testing.T) {
	t.Parallel()
	venue := func(name string, created int, protocol v1alpha1.VenueProtocol, isDefault bool) v1alpha1.LaunchVenue {
		v := venueAs(t, resolvetest.GoodOwnVenue, name, created, name)
		v.Spec.Protocol, v.Spec.Default = protocol, isDefault
		return v
	}
	me := venue("m", 10, "MeteoraDBC", true)
	tests := []struct {
		name  string
		peers []v1alpha1.LaunchVenue
		want  string
	}{
		{"alone", []v1alpha1.LaunchVenue{me}, ""},
		{"an older one", []v1alpha1.LaunchVenue{me, venue("z", 9, "RaydiumLaunchLab", true)}, "z"},
		{"a younger one", []v1alpha1.LaunchVenue{venue("a", 11, "RaydiumLaunchLab", true)}, ""},
		{"an older one of another family", []v1alpha1.LaunchVenue{venue("a", 9, "BoardwalkCurve", true)}, ""},
		{"an older one that isn't a default", []v1alpha1.LaunchVenue{venue("a", 9, "RaydiumLaunchLab", false)}, ""},
		{"the oldest of two", []v1alpha1.LaunchVenue{venue("a", 9, "MeteoraDBC", true), venue("z", 8, "MeteoraDBC", true)}, "z"},
		{"the same, in another order", []v1alpha1.LaunchVenue{venue("z", 8, "MeteoraDBC", true), venue("a", 9, "MeteoraDBC", true)}, "z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if v := resolve.OlderDefault(&me, tt.peers); v != nil {
				got = v.Name
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if f := resolve.DefaultFamily(&me); f != chainconfig.Solana {
		t.Errorf("family %s", f)
	}
}
