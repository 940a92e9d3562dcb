package decode

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// mainnetSwaps has one log of each exchange protocol as a mainnet logged it, in the words of the log, and what another decoder made
// of it. The whole recordings, which aren't part of the module, hold much more: see TestRecordedTransactions.
var mainnetSwaps = []struct {
	chain, tx    string
	address      string
	topics, data []string
	want         wantSwap
}{
	{
		chain: "ethereum", tx: "0x02be96ca70adc0f0c826cf2c3466681c53bbf68270fd5b6647a962e0e9bfe41a",
		address: "0x24ee2c6b9597f035088cda8575e9d5e15a84b9df",
		topics: []string{
			"c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67",
			"000000000000000000000000a69babef1ca67a37ffaf7a485dfff3382056e78c",
			"000000000000000000000000a69babef1ca67a37ffaf7a485dfff3382056e78c",
		},
		data: []string{
			"000000000000000000000000000000000000000000000000b2894ee760feff9d",
			"fffffffffffffffffffffffffffffffffffffffffffffffffa0f5ae80dffa422",
			"00000000000000000000000000000000000000002ec088b15a46dabaa4562d98",
			"0000000000000000000000000000000000000000000000e21e45cb7a7ca29c38",
			"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7b27",
		},
		want: wantSwap{
			Kind:      "v3",
			Pool:      "0x24ee2c6b9597f035088cda8575e9d5e15a84b9df",
			Sender:    "0xa69babef1ca67a37ffaf7a485dfff3382056e78c",
			Recipient: "0xa69babef1ca67a37ffaf7a485dfff3382056e78c",
			Amount0:   "12864900566232268701",
			Amount1:   "-428023486863137758",
			SqrtPrice: "14469069722568380488162356632",
			Liquidity: "4171145533979827018808",
			Tick:      new(int32(-34009)),
		},
	},
	{
		chain: "ethereum", tx: "0x0979badc30c655bc6f1b01b07dbc0d9ef2083def3d6882fb82c760def18c10ce",
		address: "0xc3f279090a47e80990fe3a9c30d24cb117ef91a8",
		topics: []string{
			"d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822",
			"000000000000000000000000fbeedcfe378866dab6abbafd8b2986f5c1768737",
			"000000000000000000000000fbeedcfe378866dab6abbafd8b2986f5c1768737",
		},
		data: []string{
			"000000000000000000000000000000000000000000000000065266f8b40b9a3c",
			"0000000000000000000000000000000000000000000000000000000000000000",
			"0000000000000000000000000000000000000000000000000000000000000000",
			"000000000000000000000000000000000000000000000005804288d9f84c7c00",
		},
		want: wantSwap{
			Kind:       "v2",
			Pool:       "0xc3f279090a47e80990fe3a9c30d24cb117ef91a8",
			Sender:     "0xfbeedcfe378866dab6abbafd8b2986f5c1768737",
			Recipient:  "0xfbeedcfe378866dab6abbafd8b2986f5c1768737",
			Amount0In:  "455539730676423228",
			Amount1In:  "0",
			Amount0Out: "0",
			Amount1Out: "101475820223620480000",
		},
	},
	{
		chain: "base", tx: "0xf0458b2c208fa7362669b6430277808a2bda527fcbe5dd3514a5879c445311cc",
		address: "0x2223f9fe624f69da4d8256a7bcc9104fba7f8f75",
		topics: []string{
			"b3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b",
			"000000000000000000000000cf77a3ba9a5ca399b7c97c74d54e5b1beb874e43",
			"0000000000000000000000004a3636608d7bc5776cb19eb72caa36ebb9ea683b",
		},
		data: []string{
			"00000000000000000000000000000000000000000000014baecba54786007f78",
			"0000000000000000000000000000000000000000000000000000000000000000",
			"0000000000000000000000000000000000000000000000000000000000000000",
			"00000000000000000000000000000000000000000000000000000000cb80f7d5",
		},
		want: wantSwap{
			Kind:       "solidly",
			Pool:       "0x2223f9fe624f69da4d8256a7bcc9104fba7f8f75",
			Sender:     "0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43",
			Recipient:  "0x4a3636608d7bc5776cb19eb72caa36ebb9ea683b",
			Amount0In:  "6118467630907342749560",
			Amount1In:  "0",
			Amount0Out: "0",
			Amount1Out: "3414226901",
		},
	},
	{
		chain: "polygon", tx: "0x240ab184f97590310a32b77ebbcaa80f898a01c29592f41442391c67f7e20360",
		address: "0x67366782805870060151383f4bbff9dab53e5cd6",
		topics: []string{
			"40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f",
			"4e7d72ec0b5b0fb78f6e79babc33ed3139cfa3258c467bcd0ee786d2624a73be",
			"0000000000000000000000007f20a7a526d1bab092e3be0733d96287e93cef59",
		},
		data: []string{
			"fffffffffffffffffffffffffffffffffffffffffffffffffc90b1298c491d00",
			"00000000000000000000000000000000000000000000000002950080cfa68755",
			"0000000000000000000000000000000000000000dc67ecb50704cd9522cb839e",
			"000000000000000000000000000000000000000000000000d2af1cf8929d8e30",
			"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff44d",
			"0000000000000000000000000000000000000000000000000000000000000064",
		},
		want: wantSwap{
			Kind:      "v4",
			Pool:      "0x67366782805870060151383f4bbff9dab53e5cd6",
			PoolID:    "0x4e7d72ec0b5b0fb78f6e79babc33ed3139cfa3258c467bcd0ee786d2624a73be",
			Sender:    "0x7f20a7a526d1bab092e3be0733d96287e93cef59",
			Amount0:   "-247503187500000000",
			Amount1:   "186055512845354837",
			SqrtPrice: "68212339337972611600735765406",
			Liquidity: "15181384722826497584",
			Tick:      new(int32(-2995)),
		},
	},
	{
		chain: "arbitrum", tx: "0xeb91cb1f850ebf1ac028b9c23c2445e8d050df6eca58f9aff6a2f77e5d156fcc",
		address: "0xeaf03f385c642b02b5c563640bba7c4fbf96c27d",
		topics: []string{
			"19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
			"000000000000000000000000de9e4fe32b049f821c7f3e9802381aa470ffca73",
			"000000000000000000000000111111125421ca6dc452d289314280a0f8842a65",
		},
		data: []string{
			"0000000000000000000000000000000000000000000000000000000000011209",
			"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffc8d707a",
			"000000000000000000000000000000000000001cb6daa1477bb75e1e33f25bcc",
			"000000000000000000000000000000000000000000000000000000065838845e",
			"000000000000000000000000000000000000000000000000000000000001064f",
			"0000000000000000000000000000000000000000000000000000000000000002",
			"0000000000000000000000000000000000000000000000000000000000000000",
		},
		want: wantSwap{
			Kind:      "pcs3",
			Pool:      "0xeaf03f385c642b02b5c563640bba7c4fbf96c27d",
			Sender:    "0xde9e4fe32b049f821c7f3e9802381aa470ffca73",
			Recipient: "0x111111125421ca6dc452d289314280a0f8842a65",
			Amount0:   "70153",
			Amount1:   "-57839494",
			SqrtPrice: "2274979129635199513004701014988",
			Liquidity: "27249902686",
			Tick:      new(int32(67151)),
		},
	},
}

// mainnetLog makes a log of its words.
func mainnetLog(t *testing.T, address string, topics, data []string) *Log {
	t.Helper()
	l := &Log{NumTopics: len(topics), Data: unhexed(t, strings.Join(data, ""))}
	copy(l.Address[:], unhexed(t, strings.TrimPrefix(address, "0x")))
	for i, topic := range topics {
		copy(l.Topics[i][:], unhexed(t, topic))
	}
	return l
}

func unhexed(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mainnetAddress(t *testing.T, s string) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mainnetAmount(t *testing.T, s string) (a market.Amount) {
	t.Helper()
	if err := a.SetFromDecimal(s); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMainnetSwaps(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, m := range mainnetSwaps {
		kinds[m.want.Kind] = true
		t.Run(m.want.Kind, func(t *testing.T) {
			t.Parallel()
			got, ok := testDecoder(t, m.chain).Decode(mainnetLog(t, m.address, m.topics, m.data)).(market.Swap)
			if !ok {
				t.Fatalf("the log of transaction %s is no swap", m.tx)
			}
			compareSwap(t, &m.want, got)
		})
	}
	if len(kinds) != 5 {
		t.Errorf("swaps of %d kinds stand here, want one of each exchange protocol", len(kinds))
	}
}

func TestMainnetReservesTransferAndWraps(t *testing.T) {
	t.Parallel()
	const weth, baseWETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "0x4200000000000000000000000000000000000006"
	for name, m := range map[string]struct {
		chain, tx, address string
		topics, data       []string
		want               market.Event
	}{
		"reserves": {
			chain: "ethereum", tx: "0x0979badc30c655bc6f1b01b07dbc0d9ef2083def3d6882fb82c760def18c10ce",
			address: "0xc3f279090a47e80990fe3a9c30d24cb117ef91a8",
			topics:  []string{"1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"},
			data: []string{
				"00000000000000000000000000000000000000000000001b018169a4f7166776",
				"00000000000000000000000000000000000000000000178c66da2185c106cec9",
			},
			want: market.Reserves{
				Pool:     mainnetAddress(t, "0xc3f279090a47e80990fe3a9c30d24cb117ef91a8"),
				Reserve0: mainnetAmount(t, "498170574013432489846"), Reserve1: mainnetAmount(t, "111204384549316321529545"),
			},
		},
		"transfer": {
			chain: "ethereum", tx: "0x02be96ca70adc0f0c826cf2c3466681c53bbf68270fd5b6647a962e0e9bfe41a",
			address: weth,
			topics: []string{
				"ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
				"00000000000000000000000024ee2c6b9597f035088cda8575e9d5e15a84b9df",
				"000000000000000000000000a69babef1ca67a37ffaf7a485dfff3382056e78c",
			},
			data: []string{"00000000000000000000000000000000000000000000000005f0a517f2005bde"},
			want: market.Transfer{
				Token: mainnetAddress(t, weth), From: mainnetAddress(t, "0x24ee2c6b9597f035088cda8575e9d5e15a84b9df"),
				To: mainnetAddress(t, "0xa69babef1ca67a37ffaf7a485dfff3382056e78c"), Amount: mainnetAmount(t, "428023486863137758"),
			},
		},
		"unwrap": {
			chain: "base", tx: "0x1dadb9930dfd8732fe2281435fabf3b32d0a1317b02c4484153e3c9c8e5aa5ce",
			address: baseWETH,
			topics: []string{
				"7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65",
				"000000000000000000000000db6f1920a889355780af7570773609bd8cb1f498",
			},
			data: []string{"000000000000000000000000000000000000000000000000025d1c1f1a89a5c0"},
			want: market.Wrap{
				Token: mainnetAddress(t, baseWETH), Account: mainnetAddress(t, "0xdb6f1920a889355780af7570773609bd8cb1f498"),
				Amount: mainnetAmount(t, "170323280824739264"), Unwrap: true,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := testDecoder(t, m.chain).Decode(mainnetLog(t, m.address, m.topics, m.data)); got != m.want {
				t.Errorf("the log of transaction %s is %+v, want %+v", m.tx, got, m.want)
			}
		})
	}
}
