// Package manifest writes the resources by which an index reads the local Solana.
package manifest

import (
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// YAML gives the Chain resource of the local chain and the LaunchVenues of its curves on DBC and LaunchLab. The samples declare pump.fun. Without given endpoints the
// resource has the local chain's own.
func YAML(w *solana.World, genesisHash string, endpoints ...chainconfig.Endpoint) []byte {
	if len(endpoints) == 0 {
		endpoints = []chainconfig.Endpoint{{URL: w.Chain.URL()}}
	}
	return fmt.Appendf(nil, `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata: {name: solana}
spec:
  id: solana
  label: Solana
  family: Solana
  genesisHash: %q
  minTradeUSD: "2.0"
  blockTime: 400ms
  nativeAsset: {symbol: SOL, wrapped: %q}
  quoteAssets:
  - {symbol: USDC, address: %q, peg: {usd: "1", maxDeviationPct: "5"}}
  - {symbol: USDT, address: %q, peg: {usd: "1", maxDeviationPct: "5"}}
  - {symbol: WSOL, address: %q}
  majors:
  - {asset: SOL, address: %q}
  exchanges:
  - {name: pumpswap, protocol: PumpSwap, factory: %q}
  - {name: meteora-damm-v2, protocol: MeteoraDAMMv2, factory: %q}
  - {name: raydium-cpmm, protocol: RaydiumCPMM, factory: %q}
  - {name: raydium-amm-v4, protocol: RaydiumAMMv4, factory: %q}
  rpc: {endpoints: [%s]}
  platformFee: {recipients: [%q], bps: %d}
  trust: {lockers: [%q]}
  start: {block: 0}
  reorgBlocks: 64
  finalityDepth: 32
---
apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata: {name: boardwalk-dbc}
spec:
  id: boardwalk-dbc
  label: Boardwalk DBC
  order: 10
  ownership: Own
  protocol: MeteoraDBC
  marketModel: BondingCurve
  default: true
  chains:
  - chain: solana
    wantedState: Open
    programAccounts: [%q]
    tradesInApp: true
---
apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata: {name: boardwalk-launchlab}
spec:
  id: boardwalk-launchlab
  label: Boardwalk LaunchLab
  order: 20
  ownership: Own
  protocol: RaydiumLaunchLab
  marketModel: BondingCurve
  chains:
  - chain: solana
    wantedState: Open
    programAccounts: [%q]
    tradesInApp: true
`, genesisHash, solana.WSOL, solana.USDC, solana.USDT, solana.WSOL, solana.WSOL, solana.PumpSwap, solana.DAMM, solana.CPMM, solana.AMMv4, declared(endpoints),
		solana.FeeRecipient, solana.FeeBps, solana.LockOfRaydium, solana.DBCConfig, solana.LaunchLabPlatform)
}

// declared are endpoints as a list of YAML has them.
func declared(endpoints []chainconfig.Endpoint) string {
	list := make([]string, len(endpoints))
	for i, e := range endpoints {
		list[i] = fmt.Sprintf("{url: %q}", e.URL)
		if e.Protocol != "" {
			list[i] = fmt.Sprintf("{url: %q, protocol: %s}", e.URL, e.Protocol)
		}
	}
	return strings.Join(list, ", ")
}
