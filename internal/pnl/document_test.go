package pnl_test

import (
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// TestDocument replays the example of docs/pnl.md, row by row.
func TestDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/pnl.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]pnl.Kind{"buy": pnl.Buy, "sell": pnl.Sell, "receive": pnl.In, "send": pnl.Out}
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day}})
	var before pnl.Window
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) != 10 {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), ",", "")
		}
		kind, ok := kinds[cells[1]]
		if !ok {
			continue
		}
		rows++
		e := pnl.Entry{Position: of, Kind: kind, At: noon, Amount: units(number(t, cells[2]) / 1e9), HasUSD: cells[3] != "unknown"}
		if e.HasUSD {
			e.NanoUSD = number(t, cells[3])
		}
		e.FeeNanoUSD = number(t, cells[4])
		l.Add(&e)
		quantity, cost := l.Held(of)
		w := l.Windows()[0]
		if quantity != units(number(t, cells[5])/1e9) || cost != pnl.Nano(number(t, cells[6])) ||
			w.Realised().Sub(before.Realised()) != pnl.Nano(number(t, cells[7])) || w.Excluded.Sub(before.Excluded) != pnl.Nano(number(t, cells[8])) {
			t.Errorf("after %s: %s units at %s, realised %s and excluded %s in all", line, quantity.Dec(), cost.Big(), w.Realised().Big(), w.Excluded.Big())
		}
		before = w
	}
	pct, _ := before.RealisedPct()
	wins, _ := before.WinRatePct()
	for _, said := range []string{
		"**" + dec(before.Realised()) + " USD**", "**" + strconv.FormatFloat(pct, 'f', 1, 64) + " %**", "**" + strconv.FormatFloat(wins, 'f', 0, 64) + " %**",
		"= " + dec(before.Cost) + " USD", "Excluded: " + dec(before.Excluded) + " USD", "The best is " + dec(before.Best.Realised) + ".",
		strconv.Itoa(pnl.TradeLimit/1000) + ",000 trades",
	} {
		if !strings.Contains(string(doc), said) {
			t.Errorf("docs/pnl.md doesn't say %q", said)
		}
	}
	if rows != 12 {
		t.Errorf("%d rows were read", rows)
	}
}

// number is a cell in 1e-9; an empty one is 0.
func number(t *testing.T, cell string) int64 {
	t.Helper()
	if cell == "" {
		return 0
	}
	v, ok := new(big.Rat).SetString(cell)
	if !ok {
		t.Fatalf("a cell %q", cell)
	}
	v.Mul(v, big.NewRat(1e9, 1))
	if !v.IsInt() {
		t.Fatalf("a cell %q", cell)
	}
	return v.Num().Int64()
}

func dec(u pnl.USD) string { return strconv.FormatFloat(u.Dollars(), 'f', 2, 64) }
