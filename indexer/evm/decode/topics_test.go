package decode

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// The hashes below were computed apart from this code, and most were seen in logs of the real contracts; docs/venues.md says
// how sure those of launch venues are.
func TestTopics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		got  [32]byte
		want string
	}{
		{"ERC-20 Transfer", TopicTransfer, "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"},
		{"WETH Deposit", TopicDeposit, "e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"},
		{"WETH Withdrawal", TopicWithdrawal, "7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"},
		{"V2 PairCreated", topicPairCreated, "0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"},
		{"V2 Swap", topicV2Swap, "d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"},
		{"V2 Sync", topicV2Sync, "1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"},
		{"V2 Mint", topicV2Mint, "4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f"},
		{"V2 Burn", topicV2Burn, "dccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496"},
		{"V3 PoolCreated", topicV3PoolCreated, "783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118"},
		{"V3 Initialize", topicV3Initialize, "98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"},
		{"V3 Swap", topicV3Swap, "c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"},
		{"PancakeSwap V3 Swap", topicPancakeV3Swap, "19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"},
		{"V4 Initialize", TopicV4Initialize, "dd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"},
		{"V4 Swap", topicV4Swap, "40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"},
		{"Solidly PoolCreated", topicSolidlyPoolCreated, "2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e"},
		{"Slipstream PoolCreated", topicSlipstreamPoolCreated, "ab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2"},
		{"Solidly Swap", topicSolidlySwap, "b3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"},
		{"Solidly Sync", topicSolidlySync, "cf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"},
		{"BoardwalkCurve TokenLaunched", topicBoardwalkLaunched, "915c80610e61a2734e3f328245135ae209af4824952e8bfddbe9814bb33cb9a6"},
		{"BoardwalkCurve CurveTrade", topicBoardwalkTrade, "e561064b484008aac0dd5f8ca3b04557e6a7119642ccf665ce5602f61fc85d75"},
		{"BoardwalkCurve CurveCompleted", topicBoardwalkCompleted, "57c09fd3a723ba5f1f10e0ea9e7e628828b59905b087795539735270cd24388e"},
		{"BoardwalkCurve TokenGraduated", topicBoardwalkGraduated, "c30871489032f0520e21f2a7ee028dd17aa98d6eb30aa5855c14b7dd34210460"},
		{"four.meme V1 TokenCreate", topicFourV1Create, "c60523754e4c8d044ae75f841c3a7f27fefeed24c086155510c2ae0edf538fa0"},
		{"four.meme V1 TokenPurchase", topicFourV1Purchase, "623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18"},
		{"four.meme V1 TokenSale", topicFourV1Sale, "3aa3f154f6bf5e3490d1a7205aa8d1412e76d26f9d186830de86fb9309224040"},
		{
			"four.meme V1 TokenPurchase with a fee", topicFourV1PurchaseFee,
			"00fe0e12b43090c1fc19a34aefa5cc138a4eeafc60ab800f855c730b3fb9480e",
		},
		{"four.meme V1 TokenSale with a fee", topicFourV1SaleFee, "80d4e495cda89b31af98c8e977ff11f417bafcee26902a17a15be51830c47533"},
		{"four.meme TokenCreate", topicFourCreate, "396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20"},
		{"four.meme TokenPurchase", topicFourPurchase, "7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942"},
		{"four.meme TokenSale", topicFourSale, "0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19"},
		{"four.meme TradeStop", topicFourStop, "8f9ab4bd7eff0d085f91575d50cd83f97aa5258e24ded7630d4fd6739e857132"},
		{"four.meme LiquidityAdded", topicFourLiquidity, "c18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0"},
		{"Flap TokenCreated", topicFlapCreated, "504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603"},
		{"Flap TokenQuoteSet", topicFlapQuote, "3ceb902d3c555c21c3415b6aa839104b18e4825b2f8324011ff979089a507a8c"},
		{"Flap TokenCurveSetV2", topicFlapCurve, "71a10912a55f73d3cced0d1515c2b33c396c80342522bad0e295ccbede556f37"},
		{"Flap TokenDexSupplyThreshSet", topicFlapThreshold, "6f10bbe11587431707df676556a0551025a4f66551acdddc5793389e20f0d46e"},
		{"Flap TokenBought", topicFlapBought, "a800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7"},
		{"Flap TokenSold", topicFlapSold, "03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a"},
		{"Flap LaunchedToDEX", topicFlapLaunched, "6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d"},
		{"Flap FlapTokenCLPoolCreated", topicFlapPool, "b1acc4d02e54a5f769cd0b689d82b8b5d5be55f2557a17d9d202e227cff2d335"},
		{"Pons v2 TokenLaunched", topicPonsLaunched, "8d4aad4953d0ca700d468f3753aa14432d1b35b43ec6409f051fb6aa43a89607"},
		{"Pons v2 LaunchSwept", topicPonsSwept, "cdb72f157fd3666758a6ce201387ffb52038c7562e4fff352828da1096c4b6b4"},
		{"Pons v2 PoolGraduated", topicPonsGraduated, "0a44ef75df69c534f43cd6c1aa3ef8983065fe5fe79ef9e79f6494e6f258c259"},
		{"Pons v2 CurveBuy", topicPonsBuy, "ec36bf571f136799e8dc0b0b8bea4b04d8bd3d43de838aab0d5fc21d4cbfc455"},
		{"Pons v2 CurveSell", topicPonsSell, "8113d738abdcb6b38357e9d53a54a7157861a09031b453651f0fe7fe151f59df"},
		{"Pons v2 BuybackLocked", topicPonsBuyback, "5feba9b0d52c92ada4b9c571c2bee52390c54f2947208ab250221e6ee32f12ff"},
		{"nad.fun CurveCreate", topicNadCreate, "d37e3f4f651fe74251701614dbeac478f5a0d29068e87bbe44e5026d166abca9"},
		{"nad.fun CurveBuy", topicNadBuy, "00a7ba871905cb955432583640b5c9fc6bdd27d36884ab2b5420839224638862"},
		{"nad.fun CurveSell", topicNadSell, "0eb25df0e2137de8ce042eeaf39080d25f0c8d451372c99db69a4c0a298d0fa1"},
		{"nad.fun CurveSync", topicNadSync, "fd4bb47bd45abdbdb2ecd61052c9571773f9cde876e2a7745f488c20b30ab10a"},
		{"nad.fun CurveTokenLocked", topicNadLocked, "a9aaee0c81575bef307b11099af1a555ba16588e3b35cf930ee8c08f979b1a4a"},
		{"nad.fun CurveGraduate", topicNadGraduate, "a1cae252e597e19f398a442722a17a17e62d17f9d4f3656786e18aabcd428908"},
		{"nad.fun CurveTokenListed", topicNadListed, "aa090437ef524cee1d4e0825c0caff2203af3b38ab39624d8ff7fab67e219704"},
		{"Clanker v3.1 TokenCreated", topicClankerV3Created, "6b04d68ca5c822b9c981d731c83ecb1356b96c8596c7659d397d234856a4537b"},
		{"Clanker v4 TokenCreated", topicClankerV4Created, "9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67"},
	}
	for _, tt := range tests {
		if got := hex.EncodeToString(tt.got[:]); got != tt.want {
			t.Errorf("%s: topic %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDecoderTopicsAreAllAskedFor(t *testing.T) {
	t.Parallel()
	d := decoderOf(t, venueDocument(t))
	got := d.Topics()
	all := [][32]byte{
		TopicTransfer, TopicDeposit, TopicWithdrawal, topicPairCreated, topicV2Swap, topicV2Sync, topicV2Mint, topicV2Burn,
		topicV3PoolCreated, topicV3Initialize, topicV3Swap, topicV3Mint, topicV3Burn, topicPancakeV3Swap,
		TopicV4Initialize, topicV4Swap, topicV4ModifyLiquidity, topicSolidlyPoolCreated, topicSolidlySwap, topicSolidlySync,
		topicSlipstreamPoolCreated,
		topicBoardwalkLaunched, topicBoardwalkTrade, topicBoardwalkCompleted, topicBoardwalkGraduated,
		topicFourV1Create, topicFourV1Purchase, topicFourV1Sale, topicFourV1PurchaseFee, topicFourV1SaleFee,
		topicFourCreate, topicFourPurchase, topicFourSale, topicFourStop, topicFourLiquidity,
		topicFlapCreated, topicFlapQuote, topicFlapCurve, topicFlapThreshold, topicFlapBought, topicFlapSold, topicFlapLaunched,
		topicFlapPool, topicPonsLaunched, topicPonsSwept, topicPonsGraduated, topicPonsBuy, topicPonsSell, topicPonsBuyback,
		topicNadCreate, topicNadBuy, topicNadSell, topicNadSync, topicNadLocked, topicNadGraduate, topicNadListed,
		topicClankerV3Created, topicClankerV4Created,
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

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*chainconfig.Chain){
		"no wrapped native coin": func(c *chainconfig.Chain) { c.Native.Wrapped = market.Address{} },
		"a factory that is none": func(c *chainconfig.Chain) { c.Exchanges[0].Factory = market.Address{} },
		"a factory of a zero":    func(c *chainconfig.Chain) { c.Exchanges[0].Factory = market.Native },
		"a factory of another family": func(c *chainconfig.Chain) {
			c.Exchanges[0].Factory = markettest.Address("So11111111111111111111111111111111111111112")
		},
		"a protocol nobody decodes": func(c *chainconfig.Chain) { c.Exchanges[0].Protocol = "UniswapV9" },
		"a venue nobody decodes": func(c *chainconfig.Chain) {
			c.Venues = []chainconfig.Venue{{ID: "pad", Protocol: "PumpFunV9", Contracts: markettest.Addresses(aPool)}}
		},
		"a venue of another family": func(c *chainconfig.Chain) {
			c.Venues = []chainconfig.Venue{{ID: "pad", Protocol: chainconfig.PumpFun}}
		},
		"a venue's contract that is a pool's id": func(c *chainconfig.Chain) {
			c.Venues = []chainconfig.Venue{{ID: "pad", Protocol: chainconfig.Flap, Contracts: []market.Address{markettest.Address(aPool), market.PoolID([32]byte{1})}}}
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := chainDocument(t, "ethereum")
			spoil(c)
			if _, err := New(c); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestEveryProtocolIsBound: what can be declared of an exchange is decoded.
func TestEveryProtocolIsBound(t *testing.T) {
	t.Parallel()
	for _, p := range market.Protocols {
		if bound := exchangeBindings[p] != nil; bound == p.OfSolana() {
			t.Errorf("the events of %s are decoded: %t", p, bound)
		}
	}
}
