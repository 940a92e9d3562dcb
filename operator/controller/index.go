package controller

import (
	"context"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
)

// The fields by which the cache finds resources, so that the work after one change doesn't grow with the number of objects.
const (
	byID       = "spec.id"
	byChainID  = "spec.chainID"
	byChain    = "spec.chains.chain"
	byContract = "spec.chains.contracts"
	byDefault  = "spec.default"
)

// indexFields must run before the cache starts.
func indexFields(ctx context.Context, x client.FieldIndexer) error {
	chain := func(value func(c *v1alpha1.Chain) []string) client.IndexerFunc {
		return func(o client.Object) []string {
			if c, ok := o.(*v1alpha1.Chain); ok {
				return value(c)
			}
			return nil
		}
	}
	launchVenue := func(value func(v *v1alpha1.LaunchVenue) []string) client.IndexerFunc {
		return func(o client.Object) []string {
			if v, ok := o.(*v1alpha1.LaunchVenue); ok {
				return value(v)
			}
			return nil
		}
	}
	for _, f := range []struct {
		object  client.Object
		field   string
		extract client.IndexerFunc
	}{
		{&v1alpha1.Chain{}, byID, chain(func(c *v1alpha1.Chain) []string { return []string{c.Spec.ID} })},
		{&v1alpha1.Chain{}, byChainID, chain(chainID)},
		{&v1alpha1.LaunchVenue{}, byID, launchVenue(func(v *v1alpha1.LaunchVenue) []string { return []string{v.Spec.ID} })},
		{&v1alpha1.LaunchVenue{}, byChain, launchVenue(chainsOf)},
		{&v1alpha1.LaunchVenue{}, byContract, launchVenue(contractsOf)},
		{&v1alpha1.LaunchVenue{}, byDefault, launchVenue(defaultOf)},
	} {
		if err := x.IndexField(ctx, f.object, f.field, f.extract); err != nil {
			return err
		}
	}
	return nil
}

func chainID(c *v1alpha1.Chain) []string {
	if c.Spec.ChainID == nil {
		return nil
	}
	return []string{strconv.FormatInt(*c.Spec.ChainID, 10)}
}

func chainsOf(v *v1alpha1.LaunchVenue) []string {
	out := make([]string, len(v.Spec.Chains))
	for i := range v.Spec.Chains {
		out[i] = v.Spec.Chains[i].Chain
	}
	return out
}

// contractsOf are a venue's contracts, each with its chain.
func contractsOf(v *v1alpha1.LaunchVenue) (out []string) {
	for i := range v.Spec.Chains {
		c := &v.Spec.Chains[i]
		for _, a := range resolve.Contracts(c) {
			out = append(out, c.Chain+"/"+a.String())
		}
	}
	return out
}

func defaultOf(v *v1alpha1.LaunchVenue) []string {
	if !v.Spec.Default {
		return nil
	}
	return []string{string(resolve.DefaultFamily(v))}
}

// directory finds resources in the cache.
type directory struct{ client.Reader }

func (d directory) chains(ctx context.Context, namespace, field, value string) ([]v1alpha1.Chain, error) {
	var l v1alpha1.ChainList
	err := d.List(ctx, &l, client.InNamespace(namespace), client.MatchingFields{field: value})
	return l.Items, err
}

func (d directory) venues(ctx context.Context, namespace, field, value string) ([]v1alpha1.LaunchVenue, error) {
	var l v1alpha1.LaunchVenueList
	err := d.List(ctx, &l, client.InNamespace(namespace), client.MatchingFields{field: value})
	return l.Items, err
}

// namesakes are the chains that have the chain's id or chain id, itself among them.
func (d directory) namesakes(ctx context.Context, c *v1alpha1.Chain) ([]v1alpha1.Chain, error) {
	out, err := d.chains(ctx, c.Namespace, byID, c.Spec.ID)
	if err != nil {
		return nil, err
	}
	for _, id := range chainID(c) {
		same, err := d.chains(ctx, c.Namespace, byChainID, id)
		if err != nil {
			return nil, err
		}
		out = append(out, same...)
	}
	return out, nil
}

// served is the form in which a chain is served and indexed, nil when it isn't; refusal says why its spec isn't accepted.
func (d directory) served(ctx context.Context, c *v1alpha1.Chain) (form *v1alpha1.Chain, refusal *resolve.Refusal, err error) {
	peers, err := d.namesakes(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	form, refusal = resolve.ServedChain(c, peers)
	return form, refusal, nil
}

func (d directory) refuseVenue(ctx context.Context, v *v1alpha1.LaunchVenue) (*resolve.Refusal, error) {
	peers, err := d.venues(ctx, v.Namespace, byID, v.Spec.ID)
	if err != nil {
		return nil, err
	}
	return resolve.RefuseVenue(v, peers), nil
}

// rivals are the venues that declare a contract of a venue on one of its chains, itself among them.
func (d directory) rivals(ctx context.Context, v *v1alpha1.LaunchVenue) (out []v1alpha1.LaunchVenue, err error) {
	for _, contract := range contractsOf(v) {
		venues, err := d.venues(ctx, v.Namespace, byContract, contract)
		if err != nil {
			return nil, err
		}
		out = append(out, venues...)
	}
	return out, nil
}

// acceptedOn are the accepted venues on the chain of a name.
func (d directory) acceptedOn(ctx context.Context, namespace, chain string) ([]v1alpha1.LaunchVenue, error) {
	venues, err := d.venues(ctx, namespace, byChain, chain)
	if err != nil {
		return nil, err
	}
	return d.accepted(ctx, venues)
}

// accepted leaves out the venues that aren't, and changes the list.
func (d directory) accepted(ctx context.Context, venues []v1alpha1.LaunchVenue) ([]v1alpha1.LaunchVenue, error) {
	out := venues[:0]
	for i := range venues {
		no, err := d.refuseVenue(ctx, &venues[i])
		if err != nil {
			return nil, err
		}
		if no == nil {
			out = append(out, venues[i])
		}
	}
	return out, nil
}
