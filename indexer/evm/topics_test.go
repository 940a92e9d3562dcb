package evm

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// The hashes below were computed apart from this code, and most were seen in logs of the real contracts.
func TestTopics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		got  [32]byte
		want string
	}{
		{"ERC-20 Transfer", topicTransfer, "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"},
		{"WETH Deposit", topicDeposit, "e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"},
		{"WETH Withdrawal", topicWithdrawal, "7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"},
		{"V2 PairCreated", topicPairCreated, "0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"},
		{"V2 Swap", topicV2Swap, "d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"},
		{"V2 Sync", topicV2Sync, "1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"},
		{"V2 Mint", topicV2Mint, "4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f"},
		{"V2 Burn", topicV2Burn, "dccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496"},
		{"V3 PoolCreated", topicV3PoolCreated, "783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118"},
		{"V3 Initialize", topicV3Initialize, "98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"},
		{"V3 Swap", topicV3Swap, "c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"},
		{"PancakeSwap V3 Swap", topicPancakeV3Swap, "19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"},
		{"V4 Initialize", topicV4Initialize, "dd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"},
		{"V4 Swap", topicV4Swap, "40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"},
		{"Solidly PoolCreated", topicSolidlyPoolCreated, "2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e"},
		{"Solidly Swap", topicSolidlySwap, "b3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"},
		{"Solidly Sync", topicSolidlySync, "cf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"},
	}
	for _, tt := range tests {
		if got := hex.EncodeToString(tt.got[:]); got != tt.want {
			t.Errorf("%s: topic %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDecoderTopicsAreAllAskedFor(t *testing.T) {
	t.Parallel()
	d := testDecoder(t, "ethereum")
	got := d.Topics()
	all := [][32]byte{
		topicTransfer, topicDeposit, topicWithdrawal, topicPairCreated, topicV2Swap, topicV2Sync, topicV2Mint, topicV2Burn,
		topicV3PoolCreated, topicV3Initialize, topicV3Swap, topicV3Mint, topicV3Burn, topicPancakeV3Swap,
		topicV4Initialize, topicV4Swap, topicV4ModifyLiquidity, topicSolidlyPoolCreated, topicSolidlySwap, topicSolidlySync,
	}
	for _, want := range all {
		if !slices.Contains(got, want) {
			t.Errorf("topic %x is not in the filter", want)
		}
	}
	if len(got) != len(all) {
		t.Errorf("%d topics in the filter, want %d, each once", len(got), len(all))
	}
}

func TestNewDecoderRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*chainconfig.Chain){
		"no wrapped native coin":    func(c *chainconfig.Chain) { c.Native.Wrapped = "" },
		"a factory that is none":    func(c *chainconfig.Chain) { c.Exchanges[0].Factory = "0x12" },
		"a protocol nobody decodes": func(c *chainconfig.Chain) { c.Exchanges[0].Protocol = "UniswapV9" },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := chainDocument(t, "ethereum")
			spoil(c)
			if _, err := NewDecoder(c); err == nil {
				t.Error("no error")
			}
		})
	}
}
