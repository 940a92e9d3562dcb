package decode

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func clankerCases(tb testing.TB) []launchCase {
	tb.Helper()
	const v3, v4 = chainconfig.ClankerV3, chainconfig.ClankerV4
	third := market.Launched{
		Venue: string(v3), Token: hexAddress(tb, "0x"+tokenA), Creator: hexAddress(tb, "0x"+aMaker), Name: "Pier Pup", Symbol: "PUP",
		Metadata: `{"description":"a pup"}`,
	}
	fourth := third
	fourth.Venue, fourth.Image = string(v4), "ipfs://bafy/pup.png"
	fourth.Pool, fourth.Hooks = hexAddress(tb, "0x"+someID), hexAddress(tb, "0x"+theHook)
	hookless := fourth
	hookless.Hooks = market.Address{}
	created := func(hook string) *Log {
		return venueLog(tb, venueContract(v4), topicClankerV4Created, []string{tokenA, aMaker}, aTrader, text("ipfs://bafy/pup.png"),
			text("Pier Pup"), text("PUP"), text(`{"description":"a pup"}`), text(`{"interface":"x"}`), negative+"38", hook, someID, tokenB,
			aCurve, aCurve, "07", "0220")
	}
	return []launchCase{
		{
			"ClankerV3 TokenCreated", v3, venueLog(tb, venueContract(v3), topicClankerV3Created, []string{tokenA, aMaker, aTrader},
				aMaker, aTrader, "2a", text("Pier Pup"), text("PUP"), negative+"38", text(`{"description":"a pup"}`), "07", "00", "00", aTrader),
			third,
		},
		{"ClankerV4 TokenCreated", v4, created(theHook), fourth},
		{"ClankerV4 TokenCreated without a hook", v4, created("00"), hookless},
	}
}
