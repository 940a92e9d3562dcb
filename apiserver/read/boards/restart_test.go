package boards

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// TestScoreAfterARestart has wallets trade on for longer than the window of the score: a program that was there all the time and one that was started
// just now, or has read the chain anew after a reorg, give a token the same parts.
func TestScoreAfterARestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, later float64 // USD
		every        int64   // seconds
	}{
		"a large first purchase":    {20_000, 20, 1800},
		"a first sale":              {-9000, 20, 1800},
		"as much every time":        {100, 100, 1800},
		"at the edge of the window": {20_000, 20, traction.Window - 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readtest.New(t)
			mint := markettest.Address("0xa000000000000000000000000000000000000001")
			born := w.Now
			token := readtest.Launch{
				Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 50, Volume: 20_000, Holders: 60, CreatedAt: born,
			}
			following := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
			look := func(v *follower) {
				t.Helper()
				if err := v.refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				v.Wait()
			}
			trade := func(ch *market.Changes, usd float64) {
				for wallet := range 8 {
					ch.Trades = append(ch.Trades, market.Trade{
						Block: w.Blocks["base"], LogIndex: uint64(wallet), Time: w.Now, Pool: market.CurveID(mint), Base: mint, Sell: usd < 0,
						Trader: markettest.Address(fmt.Sprintf("0xb1%038x", wallet)), NanoUSD: int64(math.Abs(usd) * 1e9 / float64(wallet+1)), HasUSD: true, CloseUSD: 0.02,
					})
				}
			}
			w.Commit("base", func(ch *market.Changes) {
				w.Set(ch, "base", mint, 1, token)
				trade(ch, c.first)
			})
			look(following)
			for w.Now < born+traction.Window+c.every {
				w.Now += c.every
				w.Commit("base", func(ch *market.Changes) {
					w.Set(ch, "base", mint, 1, token)
					trade(ch, c.later)
				})
				look(following)
			}
			w.Commit("base", func(*market.Changes) {})
			w.Now += 15 // a ranking later
			look(following)
			parts := func(v *follower) traction.Parts {
				t.Helper()
				card, ok := v.board().Launched("base", mint)
				if !ok {
					t.Fatal("it is not on the board")
				}
				return card.Parts
			}
			fresh := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
			look(fresh)
			agree(t, "a program that was started just now", parts(fresh), parts(following))
		})
	}
}

// agree fails where parts of a score differ by more than a thousandth: what is older than two windows has come down to less than that.
func agree(t *testing.T, who string, got, want traction.Parts) {
	t.Helper()
	if got.KnowsFunding != want.KnowsFunding || got.Clusters != want.Clusters {
		t.Errorf("%s has %d clusters, known: %v, one that was there all the time %d, known: %v", who, got.Clusters, got.KnowsFunding, want.Clusters, want.KnowsFunding)
	}
	for name, part := range map[string][2]float64{
		"buyers": {got.Buyers, want.Buyers}, "volume_usd": {got.VolumeUSD, want.VolumeUSD}, "wash": {got.Wash, want.Wash},
		"concentration": {got.Concentration, want.Concentration}, "liquidity_usd": {got.LiquidityUSD, want.LiquidityUSD}, "age_s": {got.AgeS, want.AgeS},
		"fresh_share_pct": {100 * got.Fresh, 100 * want.Fresh}, "funded_by_creator_pct": {100 * got.ByCreator, 100 * want.ByCreator},
	} {
		if math.Abs(part[0]-part[1]) > 1e-3*max(math.Abs(part[1]), 1) {
			t.Errorf("%s has %s of %v, one that was there all the time %v", who, name, part[0], part[1])
		}
	}
}
