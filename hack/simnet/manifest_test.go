package simnet_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	world := simnettest.World(t, 56, 5)
	path, err := world.WriteManifest(t.TempDir(), simnet.ManifestOptions{ID: "bsc", Label: "BNB Chain", BlockTime: time.Second})
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
		`  nativeAsset: {symbol: BNB, wrapped: "` + world.Wrapped + `"}`,
		`  - {symbol: WBNB, address: "` + world.Wrapped + `"}`,
		`  - {name: uniswap-v2, protocol: UniswapV2, factory: "` + world.UniswapV2Factory + `"}`,
		`  - {name: uniswap-v4, protocol: UniswapV4, factory: "` + world.UniswapV4PoolManager + `"}`,
		`  - {name: pancakeswap-v3, protocol: PancakeSwapV3, factory: "` + world.PancakeSwapV3Factory + `"}`,
		`  rpc: {endpoints: [{url: "` + world.Node.URL() + `"}]}`,
	} {
		if !strings.Contains(string(content), line+"\n") {
			t.Errorf("no line %q in\n%s", line, content)
		}
	}
}
