// Package mainnet puts a stand-in of a mainnet together: the contracts at the addresses of one of config/samples, traders, a growing chain
// with a mainnet's volume, and the Chain resource to apply. Its prices, tokens and people are invented.
package mainnet

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// sample is a Chain resource of the samples.
type sample struct{ v1alpha1.Chain }

// readSample reads the Chain of an id from a folder of manifests.
func readSample(dir, id string) (*sample, error) {
	all, err := files.Load(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range all.Chains {
		if c.Resource.Spec.Family != v1alpha1.FamilyEVM {
			continue
		}
		if c.Resource.Spec.ID == id {
			return &sample{c.Resource}, nil
		}
		ids = append(ids, c.Resource.Spec.ID)
	}
	return nil, fmt.Errorf("%s has no EVM chain %q: it has %s", dir, id, strings.Join(ids, ", "))
}

// multicall3 is where almost every chain has it.
const multicall3 = "0xcA11bde05977b3631167028862bE2a173976CA11"

// places are the addresses that the sample names. Stable coins have 6 decimals everywhere but on BNB Chain.
func (s *sample) places() *world.Places {
	p := &world.Places{Wrapped: string(s.Spec.NativeAsset.Wrapped), Multicall: multicall3}
	for _, e := range s.Spec.Exchanges {
		factory, protocol := string(e.Factory), world.Protocol(e.Protocol)
		switch {
		case protocol == world.UniswapV2 && e.FeePips != nil && *e.FeePips != v1alpha1.DefaultUniswapV2FeePips:
			p.PancakeSwapV2Factory = factory
		case protocol == world.UniswapV2:
			p.UniswapV2Factory = factory
		case protocol == world.UniswapV3 && p.UniswapV3Factory != "":
			p.MoreUniswapV3Factories = append(p.MoreUniswapV3Factories, factory)
		case protocol == world.UniswapV3:
			p.UniswapV3Factory = factory
		case protocol == world.UniswapV4:
			p.UniswapV4PoolManager = factory
			if e.PositionManager != nil {
				p.UniswapV4PositionManager = string(*e.PositionManager)
			}
		case protocol == world.PancakeSwapV3:
			p.PancakeSwapV3Factory = factory
		case protocol == world.Solidly:
			p.SolidlyFactory = factory
		case protocol == world.Slipstream:
			p.SlipstreamFactories = append(p.SlipstreamFactories, factory)
		}
	}
	decimals := 6
	if *s.Spec.ChainID == 56 {
		decimals = 18
	}
	places := []*world.PlacedToken{&p.USDC, &p.USDT}
	for _, q := range s.Spec.QuoteAssets {
		if strings.EqualFold(string(q.Address), p.Wrapped) {
			continue
		}
		one := world.PlacedToken{Address: string(q.Address), Symbol: string(q.Symbol), Decimals: decimals}
		if len(places) > 0 {
			*places[0], places = one, places[1:]
		} else {
			p.MoreStables = append(p.MoreStables, one)
		}
	}
	return p
}

// natives are what the coins are called and cost in the stand-in. Cheap coins are dear here, so that simnet's people can afford its pools.
var natives = map[string]world.Native{
	"ETH":  {Symbol: "ETH", WrappedName: "Wrapped Ether", WrappedSymbol: "WETH", USD: 3000},
	"BNB":  {Symbol: "BNB", WrappedName: "Wrapped BNB", WrappedSymbol: "WBNB", USD: 600},
	"POL":  {Symbol: "POL", WrappedName: "Wrapped Polygon Ecosystem Token", WrappedSymbol: "WPOL", USD: 40},
	"MON":  {Symbol: "MON", WrappedName: "Wrapped Monad", WrappedSymbol: "WMON", USD: 40},
	"HYPE": {Symbol: "HYPE", WrappedName: "Wrapped Hyperliquid", WrappedSymbol: "WHYPE", USD: 40},
}

// manifest is the sample with other endpoints, not suspended, from a block on; a negative one is the head.
func (s *sample) manifest(urls []string, start int64) ([]byte, error) {
	c := s.DeepCopy()
	c.Spec.Suspend, c.Spec.Start, c.Spec.RPC.Endpoints = false, &v1alpha1.Start{Block: &start}, nil
	if start < 0 {
		c.Spec.Start = &v1alpha1.Start{Now: true}
	}
	for _, url := range urls {
		c.Spec.RPC.Endpoints = append(c.Spec.RPC.Endpoints, v1alpha1.Endpoint{URL: url})
	}
	return yaml.Marshal(c)
}
