package template

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/browsertest"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// misplaced lists what stands outside the card, over its neighbour or cut off. Strangers' names (bdi, h1) may be cut, which
// an ellipsis shows; our own figures may not.
const misplaced = `(() => {
  const faults = [], all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const box = (e) => e.getBoundingClientRect(), told = (e) => (e.getAttribute('class') || e.tagName) + ' ' + e.textContent.slice(0, 40);
  const width = document.documentElement.clientWidth, height = document.documentElement.clientHeight;
  if (getComputedStyle(document.body).position !== 'relative') faults.push('the style sheet is not applied');
  for (const e of all('header, main, footer, .band, header *, main *, footer *')) {
    const b = box(e);
    if (b.left < 0 || b.top < 0 || b.right > width + 0.5 || b.bottom > height + 0.5) faults.push('outside: ' + told(e));
  }
  const apart = (list) => list.slice(1).forEach((e, i) => {
    if (box(list[i]).right + 8 > box(e).left) faults.push('over its neighbour: ' + told(list[i]) + ' | ' + told(e));
  });
  apart(all('.hero')); apart(all('.stat')); apart(all('.title > *, .brand')); apart(all('.facts > bdi'));
  for (const e of all('.label > *, .figure > *, .value > *, .facts > *')) {
    if (box(e).right > box(e.parentElement).right + 0.5) faults.push('out of its row: ' + told(e));
  }
  for (const e of all('.stat:not(.wide) .value bdi')) {
    if (e.scrollWidth > e.clientWidth + 1) faults.push('cut off: ' + told(e));
  }
  const low = Math.max(...all('.hero .below, .figure').map((e) => box(e).bottom));
  if (low > box(all('.band')[0]).top + 12) faults.push('figures reach into the band: ' + low + ' ' + box(all('.band')[0]).top);
  if (box(all('.band')[0]).bottom > box(all('.stats')[0]).top + 0.5) faults.push('the band reaches into the foot');
  return faults;
})()`

func TestEverythingStaysInItsBox(t *testing.T) {
	t.Parallel()
	ctx, seen := browsertest.Start(t).Page(t, browsertest.Screen{Width: sharecard.Width, Height: sharecard.Height})
	cards := drawnCards(t)
	maps.Copy(cards, crowded())
	for _, called := range states(cards) {
		html := base64.StdEncoding.EncodeToString(document(t, cards[called]))
		if _, err := browsertest.Open(ctx, "data:text/html;base64,"+html); err != nil {
			t.Fatal(err)
		}
		faults, err := browsertest.Eval[[]string](ctx, misplaced)
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) > 0 {
			t.Errorf("%s:\n%s", called, strings.Join(faults, "\n"))
		}
	}
	if s := seen.Strangers(); len(s) > 0 {
		t.Errorf("cards asked for %q", s)
	}
	if v := seen.PolicyViolations(); len(v) > 0 {
		t.Errorf("cards breach their own policy: %q", v)
	}
}

func states(cards map[string]sharecard.Card) []string { return slices.Sorted(maps.Keys(cards)) }

// crowded are cards with the widest figures and names of all kinds.
func crowded() map[string]sharecard.Card {
	names := []string{
		strings.Repeat("W", 256), strings.Repeat("ﷺ", 60), strings.Repeat("𒐫", 60), strings.Repeat("👨\u200d👩\u200d👧", 14),
		strings.Repeat("漢", 85), strings.Repeat("ع", 120), strings.Repeat("क्षि ", 30), strings.Repeat("ที่", 28), "Ẅ" + strings.Repeat("\u0308", 100), "",
	}
	figures := []float64{0, 4.44444e-29, 0.00044449, 4.44444e-13, 9.9999, 1234.56, 44_444.4, 104_234.1, 444_444.4, 444_444_444, 4.44e14, 4.44e30}
	cards := map[string]sharecard.Card{}
	for i, v := range figures {
		for sign, v := range map[string]float64{"+": v, "-": -v} {
			text := names[i%len(names)]
			positive := math.Abs(v)
			asset := sharecard.Asset{Mint: base, Chain: "Arbitrum One", Symbol: bounded(text), Name: bounded(text)}
			cards[fmt.Sprintf("token %v%s", positive, sign)] = &sharecard.Token{
				Asset: asset, PriceUSD: &positive, Change24hPct: &v, LiquidityUSD: &positive, Pools: new(444_444), Volume24hUSD: &positive,
				MarketCapUSD: &positive, Members: &sharecard.Members{Count: 444_444}, PricedAt: traded,
			}
			stage := []sharecard.Stage{sharecard.StageCurve, sharecard.StageCompleted, sharecard.StageGraduated, sharecard.StageLive}[i%4]
			cards[fmt.Sprintf("launch %v%s", positive, sign)] = &sharecard.Launch{
				Asset: asset, Venue: bounded(text), Own: i%2 == 0, Stage: stage, LiquidityUSD: &positive, PriceUSD: &positive,
				Curve:        &sharecard.Curve{ProgressPct: 44.4, Raised: bounded(text), Target: bounded(text)},
				Change24hPct: &v, MarketCapUSD: &positive, CreatedAt: traded, AgeS: 86_399, Holders: new(44_444),
				GateFails: []string{bounded(text), bounded(text)}, Creator: wallet, CreatorHandle: bounded(text),
			}
			p := sharecard.Profit{RealisedUSD: &v, RealisedPct: &v, NetUSD: &v, Sells: 44_444, Wins: 14_444, ExcludedUSD: positive}
			cards[fmt.Sprintf("trader %v%s", positive, sign)] = &sharecard.Trader{
				Wallet: wif, Handle: bounded(text), Chains: []string{bounded(text), "Ethereum", "Arbitrum One"}, Day: p, Week: p,
				Best: &sharecard.Best{Symbol: bounded(text), PnLUSD: v, PnLPct: &v}, LastTradeAt: traded,
			}
		}
	}
	return cards
}
