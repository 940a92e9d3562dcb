package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// ManifestOptions are what a Chain resource says besides what the world knows.
type ManifestOptions struct {
	ID        string // also the file's name
	Label     string
	BlockTime time.Duration
	// Endpoint is where the chain is to be reached; empty is where it runs now.
	Endpoint string
}

var manifest = template.Must(template.New("chain").Parse(`apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata: {name: {{.ID}}}
spec:
  id: {{.ID}}
  label: {{printf "%q" .Label}}
  family: EVM
  chainID: {{.World.ChainID}}
  minTradeUSD: "2.0"
  blockTime: {{.BlockTime}}
  nativeAsset: {symbol: {{.World.Native.Symbol}}, wrapped: "{{.World.Wrapped}}"}
  quoteAssets:
  - {symbol: USDC, address: "{{.World.StableUSDC6}}", peg: {usd: "1", maxDeviationPct: "5"}}
  - {symbol: USDT, address: "{{.World.StableUSD18}}", peg: {usd: "1", maxDeviationPct: "5"}}
  - {symbol: {{.World.Native.WrappedSymbol}}, address: "{{.World.Wrapped}}"}
  majors:
  - {asset: {{.World.Native.Symbol}}, address: "{{.World.Wrapped}}"}
  exchanges:
{{- range .World.Exchanges}}
  - {name: {{.Name}}, protocol: {{.Protocol}}, factory: "{{.Factory}}"}
{{- end}}
  rpc: {endpoints: [{url: "{{.Endpoint}}"}]}
  start: {block: 0}
  tracking: {minLiquidityUSD: "100", holders: All}
  reorgBlocks: 64
{{- if .World.Routers.Platform}}
  platformFee: {recipients: ["{{.FeeRecipient}}"], routers: ["{{.World.Routers.Platform}}"], bps: 80}
{{- end}}
`))

// Exchange is an entry of a Chain's spec.exchanges.
type Exchange struct {
	Name     string
	Protocol Protocol
	Factory  string
}

// Exchanges are those deployed on this chain.
func (w *World) Exchanges() []Exchange {
	all := []Exchange{
		{"uniswap-v2", UniswapV2, w.UniswapV2Factory},
		{"uniswap-v3", UniswapV3, w.UniswapV3Factory},
		{"uniswap-v4", UniswapV4, w.UniswapV4PoolManager},
		{"pancakeswap-v3", PancakeSwapV3, w.PancakeSwapV3Factory},
		{"solidly", Solidly, w.SolidlyFactory},
		{"slipstream", Slipstream, w.FactoryOf(Slipstream)},
	}
	return slices.DeleteFunc(all, func(e Exchange) bool { return e.Factory == "" })
}

// Manifest is the world's Chain resource as YAML.
func (w *World) Manifest(o ManifestOptions) ([]byte, error) {
	if strings.ContainsAny(o.ID, " /\\:\"") || o.ID == "" {
		return nil, fmt.Errorf("simnet: %q is no chain id", o.ID)
	}
	if o.Endpoint == "" {
		o.Endpoint = w.Node.URL()
	}
	var out bytes.Buffer
	err := manifest.Execute(&out, struct {
		ManifestOptions
		World        *World
		FeeRecipient string
	}{o, w, FeeRecipient})
	return out.Bytes(), err
}

// WriteManifest writes the world's Chain resource to <id>.yaml in a directory, at once, so that a
// reader never sees half of it.
func (w *World) WriteManifest(dir string, o ManifestOptions) (path string, err error) {
	content, err := w.Manifest(o)
	if err != nil {
		return "", err
	}
	return WriteFile(dir, o.ID, content)
}

// WriteFile writes <name>.yaml in a directory at once, so that a reader never sees half of it.
func WriteFile(dir, name string, content []byte) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path+".part", content, 0o644); err != nil {
		return "", fmt.Errorf("simnet: %w", err)
	}
	return path, os.Rename(path+".part", path)
}
