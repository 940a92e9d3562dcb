package world_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	w := simnettest.World(t, 56, 5)
	path, err := w.WriteManifest(t.TempDir(), world.ManifestOptions{ID: "bsc", Label: "BNB Chain", BlockTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"metadata: {name: bsc}",
		`  label: "BNB Chain"`,
		"  chainID: 56",
		"  blockTime: 1s",
		`  nativeAsset: {symbol: BNB, wrapped: "` + w.Wrapped + `"}`,
		`  - {symbol: WBNB, address: "` + w.Wrapped + `"}`,
		`  - {name: uniswap-v2, protocol: UniswapV2, factory: "` + w.UniswapV2Factory + `"}`,
		`  - {name: uniswap-v4, protocol: UniswapV4, factory: "` + w.UniswapV4PoolManager + `"}`,
		`  - {name: pancakeswap-v3, protocol: PancakeSwapV3, factory: "` + w.PancakeSwapV3Factory + `"}`,
		`  rpc: {endpoints: [{url: "` + w.Node.URL() + `"}]}`,
	} {
		if !strings.Contains(string(content), line+"\n") {
			t.Errorf("no line %q in\n%s", line, content)
		}
	}
}
