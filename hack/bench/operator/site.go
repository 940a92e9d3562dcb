package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// siteSize is how much there is in a namespace.
type siteSize struct{ chains, venues int }

func (z siteSize) String() string { return fmt.Sprintf("%d + %d", z.chains, z.venues) }

// chainsOfAVenue is on how many chains each venue is.
const chainsOfAVenue = 3

// operatorSite is a namespace with chains, venues and an operator of its own.
type operatorSite struct {
	size      siteSize
	namespace string
	client    client.Client
	view      *clusterView
	indexers  *standInIndexers
	operator  *lab.Served
	// venuesOn are the ids of the venues on a chain.
	venuesOn map[string][]string
}

// operatorRole is the role that is installed with the operator.
const operatorRole = "config/rbac/operator_role.yaml"

// newSite makes the namespace, and a user in it that has the operator's role and no other right.
func newSite(ctx context.Context, c *kubetest.Cluster, x *standInIndexers, dir string, size siteSize) (_ *operatorSite, err error) {
	scheme, err := operatorScheme()
	if err != nil {
		return nil, err
	}
	s := &operatorSite{
		size: size, namespace: fmt.Sprintf("bench-%d-%d", size.chains, size.venues), indexers: x, venuesOn: map[string][]string{},
	}
	if s.client, err = client.New(c.Config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(operatorRole)
	if err != nil {
		return nil, fmt.Errorf("%w: run this in the checkout's root", err)
	}
	role := &rbacv1.Role{}
	if err := yaml.Unmarshal(raw, role); err != nil {
		return nil, fmt.Errorf("read %s: %w", operatorRole, err)
	}
	role.Namespace = s.namespace
	user := "operator-of-" + s.namespace
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}},
		role,
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		},
	} {
		if err := s.client.Create(ctx, o); err != nil {
			return nil, fmt.Errorf("set up %s: %w", s.namespace, err)
		}
	}
	known := map[string][]chainconfig.Venue{}
	for i := range size.venues {
		for _, on := range s.venue(i).Spec.Chains {
			s.venuesOn[on.Chain] = append(s.venuesOn[on.Chain], venueName(i))
			known[on.Chain] = append(known[on.Chain], chainconfig.Venue{ID: venueName(i), Contracts: resolve.Contracts(&on)})
		}
	}
	for chain, venues := range known {
		x.change(func() { x.venues[s.state(chain)] = venues })
	}
	if s.view, err = watchNamespace(ctx, c.Config, scheme, s.namespace); err != nil {
		return nil, err
	}
	cfg, err := c.User(user)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(dir, s.namespace)
	if err := kubetest.WriteKubeconfig(kubeconfig, cfg); err != nil {
		return nil, err
	}
	s.operator, err = lab.StartChild(ctx, dir, "operator", "operate", "--kubeconfig", kubeconfig, "--namespace", s.namespace, "--indexers", x.URL)
	return s, err
}

func (s *operatorSite) state(chain string) string { return statePath(s.namespace, chain) }

func chainName(i int) string { return fmt.Sprintf("chain-%03d", i) }

func venueName(i int) string { return fmt.Sprintf("venue-%04d", i) }

// chainsOf spreads the venues: each chain has as many, whatever the size, as long as there are ten venues for a chain.
func (z siteSize) chainsOf(venue int) []int {
	var out []int
	for k := range chainsOfAVenue {
		out = append(out, (venue+k)%z.chains)
	}
	return out
}

func address(prefix string, n int) string { return fmt.Sprintf("0x%s%036x", prefix, n+1) }

// chain is an EVM chain with as much in it as a real one has.
func (s *operatorSite) chain(i int) *v1alpha1.Chain {
	id := int64(1_000_000 + i)
	wrapped := v1alpha1.Address(address("aaaa", i))
	c := &v1alpha1.Chain{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: chainName(i)}}
	c.Spec = v1alpha1.ChainSpec{
		ID: c.Name, Label: fmt.Sprintf("Chain %d", i), Family: v1alpha1.FamilyEVM, ChainID: &id, MinTradeUSD: "2",
		BlockTime:   metav1.Duration{Duration: 2 * time.Second},
		NativeAsset: v1alpha1.NativeAsset{Symbol: "ETH", Wrapped: wrapped},
		QuoteAssets: []v1alpha1.QuoteAsset{
			{Symbol: "USDC", Address: v1alpha1.Address(address("bbbb", i)), Peg: &v1alpha1.Peg{USD: "1", MaxDeviationPct: "2"}},
			{Symbol: "WETH", Address: wrapped},
		},
		Majors: []v1alpha1.Major{{Asset: "ETH", Address: wrapped}},
	}
	for k, p := range []v1alpha1.Protocol{"UniswapV2", "UniswapV3", "UniswapV4", "PancakeSwapV3"} {
		c.Spec.Exchanges = append(c.Spec.Exchanges, v1alpha1.Exchange{
			Name: fmt.Sprintf("exchange-%d", k), Protocol: p, Factory: v1alpha1.Address(address("cccc", 100*i+k)),
		})
	}
	from := &v1alpha1.URLSource{SecretKeyRef: v1alpha1.SecretKeyRef{Name: "rpc-" + c.Name, Key: "url"}}
	c.Spec.RPC.Endpoints = []v1alpha1.Endpoint{{URLFrom: from}}
	return c
}

func (s *operatorSite) venue(i int) *v1alpha1.LaunchVenue {
	v := &v1alpha1.LaunchVenue{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: venueName(i)}}
	v.Spec = v1alpha1.LaunchVenueSpec{
		ID: v.Name, Label: fmt.Sprintf("Venue %d", i), Ownership: v1alpha1.OwnershipOutside, Protocol: "FourMemeV2", FilterValue: v.Name,
		Badge: fmt.Sprintf("V%d", i), MarketModel: v1alpha1.MarketModelBondingCurve,
	}
	for _, n := range s.size.chainsOf(i) {
		v.Spec.Chains = append(v.Spec.Chains, v1alpha1.VenueChain{
			Chain: chainName(n), WantedState: v1alpha1.VenueOpen, TradesInApp: true,
			Contracts: []v1alpha1.EVMAddress{v1alpha1.EVMAddress(address("dddd", 1000*n+i))},
		})
	}
	return v
}

// declare makes all chains and venues, chains first, as fast as the API server takes them.
func (s *operatorSite) declare(ctx context.Context) error {
	const atOnce = 8
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range s.size.chains {
		g.Go(func() error { return s.client.Create(ctx, s.chain(i)) })
	}
	for i := range s.size.venues {
		g.Go(func() error { return s.client.Create(ctx, s.venue(i)) })
	}
	return g.Wait()
}
