package resolvetest

import "strings"

// Venues are to be refused.
func Venues() []Refused {
	const (
		names     = "allowed: 1 to 32 of a-z, 0-9 and -"
		protocols = "allowed: BoardwalkCurve, FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun, ClankerV3, ClankerV4, PumpFun, MeteoraDBC, RaydiumLaunchLab"
		links     = "with {mint} where the token's address goes"
		evm       = "allowed: 0x and 40 hexadecimal digits"
		solana    = "allowed: a base58 key of 32 bytes"

		contract = "0xec4549cadce5da21df6e6422d448034b5233bfbc"
		accounts = "[So11111111111111111111111111111111111111112]"
		link     = "    linkTemplate: https://four.meme/token/{mint}?from=boardwalk"
	)
	edit, editOwn, editFurther := from(GoodVenue), from(GoodOwnVenue), from(GoodFurtherVenue)
	return []Refused{
		edit("no id", `  id: four-meme`, ``, "spec.id: is missing", names),
		edit("id with a point", `  id: four-meme`, `  id: four.meme`, `spec.id: "four.meme" is no name`, names),
		edit("id too long", `  id: four-meme`, `  id: `+strings.Repeat("f", 33), "spec.id: ", names),
		edit("no label", `  label: four.meme`, ``, "spec.label: is missing", "the name that people read"),
		edit("label with a line break", `  label: four.meme`, `  label: "four\nmeme"`, `spec.label: "four\nmeme" is no label`, "allowed: 1 to 48 characters"),
		edit("no ownership", `  ownership: Outside`, ``, "spec.ownership: is missing", "allowed: Own, Further, Outside"),
		edit("unknown ownership", `ownership: Outside`, `ownership: Theirs`, `spec.ownership: "Theirs" is not known`, "allowed: Own, Further, Outside"),
		edit("no protocol", `  protocol: FourMemeV2`, ``, "spec.protocol: is missing", protocols),
		edit("unknown protocol", `protocol: FourMemeV2`, `protocol: FourMeme`, `spec.protocol: "FourMeme" is not known`, protocols),
		edit("no filter value", `  filterValue: four-meme`, ``, "spec.filterValue: is missing", names),
		edit("filter value in upper case", `filterValue: four-meme`, `filterValue: FourMeme`, `spec.filterValue: "FourMeme" is no name`, names),
		edit("filter value of own venues", `filterValue: four-meme`, `filterValue: ours`, `spec.filterValue: "ours" has a meaning of its own`, "choose another"),
		edit("filter value of every venue", `filterValue: four-meme`, `filterValue: all`, `spec.filterValue: "all" has a meaning of its own`, "choose another"),
		editOwn("own venue with a filter value", `  default: true`, `  filterValue: boardwalk`, "spec.filterValue: is for venues that aren't own ones", "leave it out"),
		editFurther("further venue without a filter value", `  filterValue: clanker`, ``, "spec.filterValue: is missing", names),
		edit("no badge", `  badge: four.meme`, ``, "spec.badge: is missing", "1 to 16 characters"),
		edit("badge too long", `badge: four.meme`, `badge: four.meme launched`, `spec.badge: "four.meme launched" is no label`, "allowed: 1 to 16 characters"),
		editOwn("own venue with a badge", `  default: true`, `  badge: Boardwalk`, "spec.badge: is for venues that aren't own ones", "leave it out"),
		edit("outside venue as the default", `  order: 50`, `  default: true`, "spec.default: is for own venues alone", "leave it out"),
		editFurther("further venue as the default", `  marketModel: LivePool`, "  marketModel: LivePool\n  default: true",
			"spec.default: is for own venues alone", "leave it out"),
		edit("no market model", `  marketModel: BondingCurve`, ``, "spec.marketModel: is missing", "allowed: BondingCurve, LivePool"),
		edit("unknown market model", `marketModel: BondingCurve`, `marketModel: Auction`, `spec.marketModel: "Auction" is not known`, "allowed: BondingCurve, LivePool"),
		edit("live pool where there is a curve", `marketModel: BondingCurve`, `marketModel: LivePool`,
			"spec.marketModel: is LivePool, which doesn't fit protocol FourMemeV2", "start on a curve (BondingCurve)"),
		editFurther("curve where there is a live pool", `marketModel: LivePool`, `marketModel: BondingCurve`,
			"spec.marketModel: is BondingCurve, which doesn't fit protocol ClankerV4", "without a curve (LivePool)"),
		edit("order too high", `order: 50`, `order: 10001`, "spec.order: is 10001", "allowed: 0 to 10000"),
		{
			Name: "no chain", Manifest: GoodVenue[:strings.Index(GoodVenue, "  chains:")] + "  chains: []\n",
			Want: []string{"spec.chains: is empty", "name at least one Chain"},
		},
		{
			Name:     "too many chains",
			Manifest: GoodVenue[:strings.Index(GoodVenue, "  - chain:")] + many(33, "  - {chain: chain%d, tradesInApp: true}"),
			Want:     []string{"spec.chains: has 33 entries", "allowed: up to 32"},
		},
		edit("one chain twice", `chain: bsc`, `chain: base`, `spec.chains[1].chain: "base" is already at spec.chains[0].chain`, "keep one of them"),
		edit("chain's name with a space", `chain: bsc`, `chain: BNB Chain`, `spec.chains[0].chain: "BNB Chain" is no name of a Chain`, "allowed: 1 to 253"),
		edit("no chain's name", `chain: bsc`, `chain: ""`, `spec.chains[0].chain: "" is no name of a Chain`, "allowed: 1 to 253"),
		edit("unknown state", `wantedState: Open`, `wantedState: Paused`, `spec.chains[1].wantedState: "Paused" is not known`, "allowed: Open, Closed"),
		edit("contract too short", contract, contract[:40], "spec.chains[1].contracts[0]: ", evm),
		edit("contract that is the zero address", contract, "0x"+strings.Repeat("0", 40), "spec.chains[1].contracts[0]: the zero address is no contract", "leave the entry out"),
		edit("contract with a wrong checksum", "0x5c952063c7fc8610FFDB798152D69F0B9550762b", "0x5C952063c7fc8610FFDB798152D69F0B9550762b",
			"spec.chains[0].contracts[0]: ", "wrong checksum, 0x5c952063c7fc8610FFDB798152D69F0B9550762b would be right"),
		edit("one contract twice, in two cases", `["`+contract+`"]`, `["`+contract+`", "0xEC4549CADCE5DA21DF6E6422D448034B5233BFBC"]`,
			"spec.chains[1].contracts[1]: ", "is already at spec.chains[1].contracts[0]"),
		edit("too many contracts", `["`+contract+`"]`, `[`+strings.ReplaceAll(many(17, `"0x42000000000000000000000000000000000000%02d",`), "\n", " ")+`]`,
			"spec.chains[1].contracts: has 17 entries", "allowed: up to 16"),
		edit("program account on an EVM chain", `contracts: ["`+contract+`"]`, `programAccounts: `+accounts,
			"spec.chains[1].programAccounts: are of Solana, protocol FourMemeV2 is of EVM chains", "write contracts instead"),
		editOwn("contract on Solana", `programAccounts: `+accounts, `contracts: ["`+contract+`"]`,
			"spec.chains[0].contracts: are of EVM chains, protocol MeteoraDBC is of Solana", "write programAccounts instead"),
		editOwn("program account with a letter that base58 hasn't", accounts, `[So1111111111111111111111111111111111111111l]`,
			"spec.chains[0].programAccounts[0]: ", solana),
		editOwn("program account of 33 bytes", accounts, `["`+strings.Repeat("1", 32)+`2"]`, "spec.chains[0].programAccounts[0]: ", solana),
		editOwn("one program account twice", accounts, `[So11111111111111111111111111111111111111112, So11111111111111111111111111111111111111112]`,
			"spec.chains[0].programAccounts[1]: ", "is already at spec.chains[0].programAccounts[0]"),
		editOwn("own venue that doesn't trade in the app", `tradesInApp: true`, "tradesInApp: false\n    linkTemplate: https://boardwalk.example/{mint}",
			"spec.chains[0].tradesInApp: is false", "write true"),
		editFurther("further venue that doesn't say where it trades", `    tradesInApp: true`, "    linkTemplate: https://clanker.example/{mint}",
			"spec.chains[0].tradesInApp: is false", "write true"),
		edit("nowhere to trade", link, ``, "spec.chains[1].linkTemplate: is missing", "such as https://four.meme/token/{mint}"),
		edit("link without TLS", `https://four.meme`, `http://four.meme`, "spec.chains[1].linkTemplate: ", "allowed: https:// with a host", links),
		edit("link without a place for the token", `{mint}`, `mint`, "spec.chains[1].linkTemplate: ", links),
		edit("link with another place", `?from=boardwalk`, `?chain={chain}`, "spec.chains[1].linkTemplate: ", links, "no other braces"),
		edit("link whose host is the token", `https://four.meme/token/{mint}`, `https://{mint}.four.meme/`, "spec.chains[1].linkTemplate: ", links),
		edit("link too long", `?from=boardwalk`, `?`+strings.Repeat("x", 256), "spec.chains[1].linkTemplate: ", "up to 256 characters"),
	}
}
