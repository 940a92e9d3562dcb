package resolvetest

import "strings"

// Venues are LaunchVenue manifests that are to be refused.
func Venues() []Refused {
	const (
		names     = "allowed: 1 to 32 of a-z, 0-9 and -"
		protocols = "allowed: BoardwalkCurve, FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun, ClankerV3, ClankerV4, PumpFun, MeteoraDBC, RaydiumLaunchLab"
		links     = "with {mint} where the token's address goes"
		evm       = "allowed: 0x and 40 hexadecimal digits"
		solana    = "allowed: a base58 key of 32 bytes"

		fit        = "live pools without a curve (LivePool), those of every other protocol start on a curve (BondingCurve)"
		serverLink = "must be https:// with a host and a path, with {mint} where the token's address goes and no other braces"

		contract = "0xec4549cadce5da21df6e6422d448034b5233bfbc"
		accounts = "[So11111111111111111111111111111111111111112]"
		link     = "    linkTemplate: https://four.meme/token/{mint}?from=boardwalk"
	)
	edit, editOwn, editFurther := from(GoodVenue), from(GoodOwnVenue), from(GoodFurtherVenue)
	return []Refused{
		edit("no id", `  id: four-meme`, ``, "spec.id: is missing", names).server("spec.id: Required value"),
		edit("id with a point", `  id: four-meme`, `  id: four.meme`, `spec.id: "four.meme" is no name`, names).server("spec.id in body " + matchName),
		edit("id too long", `  id: four-meme`, `  id: `+strings.Repeat("f", 33), "spec.id: ", names).
			server("spec.id: Too long: may not be more than 32"),
		edit("no label", `  label: four.meme`, ``, "spec.label: is missing", "the name that people read").server("spec.label: Required value"),
		edit("label with a line break", `  label: four.meme`, `  label: "four\nmeme"`, `spec.label: "four\nmeme" is no label`, "allowed: 1 to 48 characters").
			server("spec.label: Invalid value", "no space at either end and no control character"),
		edit("no ownership", `  ownership: Outside`, ``, "spec.ownership: is missing", "allowed: Own, Further, Outside").
			server("spec.ownership: Required value"),
		edit("unknown ownership", `ownership: Outside`, `ownership: Theirs`, `spec.ownership: "Theirs" is not known`, "allowed: Own, Further, Outside").
			server(`spec.ownership: Unsupported value: "Theirs": supported values: "Own", "Further", "Outside"`),
		edit("no protocol", `  protocol: FourMemeV2`, ``, "spec.protocol: is missing", protocols).server("spec.protocol: Required value"),
		edit("unknown protocol", `protocol: FourMemeV2`, `protocol: FourMeme`, `spec.protocol: "FourMeme" is not known`, protocols).
			server(`spec.protocol: Unsupported value: "FourMeme": supported values: "BoardwalkCurve", "FourMemeV1"`),
		edit("no filter value", `  filterValue: four-meme`, ``, "spec.filterValue: is missing", names).
			server("spec.filterValue: Invalid value", "have no filterValue; every other venue needs one, such as pump-fun"),
		edit("filter value in upper case", `filterValue: four-meme`, `filterValue: FourMeme`, `spec.filterValue: "FourMeme" is no name`, names).
			server("spec.filterValue in body " + matchName),
		edit("filter value of own venues", `filterValue: four-meme`, `filterValue: ours`, `spec.filterValue: "ours" has a meaning of its own`, "choose another").
			server("spec.filterValue: Invalid value", "choose another filterValue"),
		edit("filter value of every venue", `filterValue: four-meme`, `filterValue: all`, `spec.filterValue: "all" has a meaning of its own`, "choose another").
			server("spec.filterValue: Invalid value", "choose another filterValue"),
		editOwn("own venue with a filter value", `  default: true`, `  filterValue: boardwalk`, "spec.filterValue: is for venues that aren't own ones", "leave it out").
			server("spec.filterValue: Invalid value", "have no filterValue; every other venue needs one, such as pump-fun"),
		editFurther("further venue without a filter value", `  filterValue: clanker`, ``, "spec.filterValue: is missing", names).
			server("spec.filterValue: Invalid value", "have no filterValue; every other venue needs one, such as pump-fun"),
		edit("no badge", `  badge: four.meme`, ``, "spec.badge: is missing", "1 to 16 characters").
			server("spec.badge: Invalid value", "an outside venue's tokens carry its badge: write one under badge"),
		edit("badge too long", `badge: four.meme`, `badge: four.meme launched`, `spec.badge: "four.meme launched" is no label`, "allowed: 1 to 16 characters").
			server("spec.badge: Too long: may not be more than 16"),
		editOwn("own venue with a badge", `  default: true`, `  badge: Boardwalk`, "spec.badge: is for venues that aren't own ones", "leave it out").
			server("spec.badge: Invalid value", "leave badge out"),
		edit("outside venue as the default", `  order: 50`, `  default: true`, "spec.default: is for own venues alone", "leave it out").
			server("spec.default: Invalid value", "leave default out, or write ownership: Own"),
		editFurther("further venue as the default", `  marketModel: LivePool`, "  marketModel: LivePool\n  default: true",
			"spec.default: is for own venues alone", "leave it out").server("spec.default: Invalid value", "leave default out, or write ownership: Own"),
		edit("no market model", `  marketModel: BondingCurve`, ``, "spec.marketModel: is missing", "allowed: BondingCurve, LivePool").
			server("spec.marketModel: Required value"),
		edit("unknown market model", `marketModel: BondingCurve`, `marketModel: Auction`, `spec.marketModel: "Auction" is not known`, "allowed: BondingCurve, LivePool").
			server(`spec.marketModel: Unsupported value: "Auction": supported values: "BondingCurve", "LivePool"`),
		edit("live pool where there is a curve", `marketModel: BondingCurve`, `marketModel: LivePool`,
			"spec.marketModel: is LivePool, which doesn't fit protocol FourMemeV2", "start on a curve (BondingCurve)").
			server("spec.marketModel: Invalid value", fit),
		editFurther("curve where there is a live pool", `marketModel: LivePool`, `marketModel: BondingCurve`,
			"spec.marketModel: is BondingCurve, which doesn't fit protocol ClankerV4", "without a curve (LivePool)").
			server("spec.marketModel: Invalid value", fit),
		edit("order too high", `order: 50`, `order: 10001`, "spec.order: is 10001", "allowed: 0 to 10000").
			server("spec.order in body should be less than or equal to 10000"),
		{
			Name: "no chain", Manifest: cut(GoodVenue, "  chains:", "", "  chains: []\n"),
			Want:   []string{"spec.chains: is empty", "name at least one Chain"},
			Server: []string{"spec.chains in body should have at least 1 items"},
		},
		{
			Name:     "too many chains",
			Manifest: cut(GoodVenue, "  - chain:", "", many(33, "  - {chain: chain%d, tradesInApp: true}")),
			Want:     []string{"spec.chains: has 33 entries", "allowed: up to 32"},
			Server:   []string{"spec.chains: Too many: 33: must have at most 32 items"},
		},
		edit("one chain twice", `chain: bsc`, `chain: base`, `spec.chains[1].chain: "base" is already at spec.chains[0].chain`, "keep one of them").
			server(`spec.chains[1]: Duplicate value: {"chain":"base"}`),
		edit("chain's name with a space", `chain: bsc`, `chain: BNB Chain`, `spec.chains[0].chain: "BNB Chain" is no name of a Chain`, "allowed: 1 to 253").
			server("spec.chains[0].chain in body " + matchObject),
		edit("no chain's name", `chain: bsc`, `chain: ""`, `spec.chains[0].chain: "" is no name of a Chain`, "allowed: 1 to 253").
			server("spec.chains[0].chain in body should be at least 1 chars long"),
		edit("unknown state", `wantedState: Open`, `wantedState: Paused`, `spec.chains[1].wantedState: "Paused" is not known`, "allowed: Open, Closed").
			server(`spec.chains[1].wantedState: Unsupported value: "Paused": supported values: "Open", "Closed"`),
		edit("contract too short", contract, contract[:40], "spec.chains[1].contracts[0]: ", evm).
			server("spec.chains[1].contracts[0] in body should be at least 42 chars long"),
		edit("contract that is the zero address", contract, "0x"+strings.Repeat("0", 40), "spec.chains[1].contracts[0]: the zero address is no contract", "leave the entry out").
			server("spec.chains[1].contracts[0]: Invalid value", "write the deployed one, and leave out what has none"),
		edit("contract with a wrong checksum", "0x5c952063c7fc8610FFDB798152D69F0B9550762b", "0x5C952063c7fc8610FFDB798152D69F0B9550762b",
			"spec.chains[0].contracts[0]: ", "wrong checksum, 0x5c952063c7fc8610FFDB798152D69F0B9550762b would be right"),
		edit("one contract twice, in two cases", `["`+contract+`"]`, `["`+contract+`", "0xEC4549CADCE5DA21DF6E6422D448034B5233BFBC"]`,
			"spec.chains[1].contracts[1]: ", "is already at spec.chains[1].contracts[0]").
			server("spec.chains[1].contracts: Invalid value", "a contract is listed twice: keep one of them"),
		edit("too many contracts", `["`+contract+`"]`, `[`+strings.ReplaceAll(many(17, `"0x42000000000000000000000000000000000000%02d",`), "\n", " ")+`]`,
			"spec.chains[1].contracts: has 17 entries", "allowed: up to 16").
			server("spec.chains[1].contracts: Too many: 17: must have at most 16 items"),
		edit("program account on an EVM chain", `contracts: ["`+contract+`"]`, `programAccounts: `+accounts,
			"spec.chains[1].programAccounts: are of Solana, protocol FourMemeV2 is of EVM chains", "write contracts instead").
			server("spec.chains: Invalid value", "this protocol is of EVM chains: write contracts in place of programAccounts"),
		editOwn("contract on Solana", `programAccounts: `+accounts, `contracts: ["`+contract+`"]`,
			"spec.chains[0].contracts: are of EVM chains, protocol MeteoraDBC is of Solana", "write programAccounts instead").
			server("spec.chains: Invalid value", "this protocol is of Solana: write programAccounts in place of contracts"),
		editOwn("program account with a letter that base58 hasn't", accounts, `[So1111111111111111111111111111111111111111l]`,
			"spec.chains[0].programAccounts[0]: ", solana).
			server("spec.chains[0].programAccounts[0] in body should match '^[1-9A-HJ-NP-Za-km-z]{32,44}$'"),
		editOwn("program account of 33 bytes", accounts, `["`+strings.Repeat("1", 32)+`2"]`, "spec.chains[0].programAccounts[0]: ", solana),
		editOwn("one program account twice", accounts, `[So11111111111111111111111111111111111111112, So11111111111111111111111111111111111111112]`,
			"spec.chains[0].programAccounts[1]: ", "is already at spec.chains[0].programAccounts[0]").
			server(`spec.chains[0].programAccounts[1]: Duplicate value: "So11111111111111111111111111111111111111112"`),
		editOwn("own venue that doesn't trade in the app", `tradesInApp: true`, "tradesInApp: false\n    linkTemplate: https://boardwalk.example/{mint}",
			"spec.chains[0].tradesInApp: is false", "write true").server("spec.chains: Invalid value", "write tradesInApp: true"),
		editFurther("further venue that doesn't say where it trades", `    tradesInApp: true`, "    linkTemplate: https://clanker.example/{mint}",
			"spec.chains[0].tradesInApp: is false", "write true").server("spec.chains: Invalid value", "write tradesInApp: true"),
		edit("nowhere to trade", link, ``, "spec.chains[1].linkTemplate: is missing", "such as https://four.meme/token/{mint}").
			server("spec.chains[1].linkTemplate: Invalid value", "write linkTemplate, such as https://four.meme/token/{mint}"),
		edit("link without TLS", `https://four.meme`, `http://four.meme`, "spec.chains[1].linkTemplate: ", "allowed: https:// with a host", links).
			server("spec.chains[1].linkTemplate: Invalid value", serverLink),
		edit("link without a place for the token", `{mint}`, `mint`, "spec.chains[1].linkTemplate: ", links).
			server("spec.chains[1].linkTemplate: Invalid value", serverLink),
		edit("link with another place", `?from=boardwalk`, `?chain={chain}`, "spec.chains[1].linkTemplate: ", links, "no other braces").
			server("spec.chains[1].linkTemplate: Invalid value", serverLink),
		edit("link whose host is the token", `https://four.meme/token/{mint}`, `https://{mint}.four.meme/`, "spec.chains[1].linkTemplate: ", links).
			server("spec.chains[1].linkTemplate: Invalid value", serverLink),
		edit("link too long", `?from=boardwalk`, `?`+strings.Repeat("x", 256), "spec.chains[1].linkTemplate: ", "up to 256 characters").
			server("spec.chains[1].linkTemplate: Too long: may not be more than 256"),
	}
}
