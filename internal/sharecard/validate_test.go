package sharecard

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func whole() (*Token, *Launch, *Trader) {
	asset := Asset{Mint: "0x4200000000000000000000000000000000000006", Chain: "Base", Symbol: "RKT", Name: "Rocket"}
	return &Token{Asset: asset, PriceUSD: new(1.5), Members: &Members{Count: 1, Faces: [][]byte{{1}}}, Day: []float64{1, 2}},
		&Launch{Asset: asset, Venue: "v", Stage: StageCurve, Curve: &Curve{ProgressPct: 100, Basis: "funds_raised"}, GateFails: []string{"holders"}},
		&Trader{Wallet: asset.Mint, Chains: []string{"Base"}, Day: Profit{Sells: 2, Wins: 2}, Best: &Best{Symbol: "RKT"}, Line: []float64{-1, 1}}
}

func TestValidateSaysWhatIsWrongAndWhatIsAllowed(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for want, change := range map[string]func(*Token, *Launch, *Trader){
		"mint is empty": func(k *Token, _ *Launch, _ *Trader) { k.Mint = "" },
		"bytes of mint: 129, at most 128 are allowed":              func(_ *Token, l *Launch, _ *Trader) { l.Mint = strings.Repeat("0", MaxAddress+1) },
		"bytes of chain: 257, at most 256 are allowed":             func(k *Token, _ *Launch, _ *Trader) { k.Chain = long },
		"bytes of symbol: 257, at most 256 are allowed":            func(k *Token, _ *Launch, _ *Trader) { k.Symbol = long },
		"bytes of name: 257, at most 256 are allowed":              func(k *Token, _ *Launch, _ *Trader) { k.Name = long },
		"name is not UTF-8":                                        func(k *Token, _ *Launch, _ *Trader) { k.Name = "\xff" },
		"bytes of picture: 1048577, at most 1048576":               func(k *Token, _ *Launch, _ *Trader) { k.Picture = make([]byte, MaxPicture+1) },
		"market_cap_usd is not a number":                           func(k *Token, _ *Launch, _ *Trader) { k.MarketCapUSD = new(math.Inf(1)) },
		"members.faces: 7, at most 6":                              func(k *Token, _ *Launch, _ *Trader) { k.Members.Faces = make([][]byte, MaxFaces+1) },
		"bytes of members.faces: 1048577":                          func(k *Token, _ *Launch, _ *Trader) { k.Members.Faces[0] = make([]byte, MaxPicture+1) },
		"points of day: 289, at most 288":                          func(k *Token, _ *Launch, _ *Trader) { k.Day = make([]float64, MaxPoints+1) },
		"one of day is not a number":                               func(k *Token, _ *Launch, _ *Trader) { k.Day[1] = math.NaN() },
		"bytes of venue: 257":                                      func(_ *Token, l *Launch, _ *Trader) { l.Venue = long },
		`stage is "moon": use curve, completed, graduated or live`: func(_ *Token, l *Launch, _ *Trader) { l.Stage = "moon" },
		"curve.progress_pct is 100.5: use 0 to 100":                func(_ *Token, l *Launch, _ *Trader) { l.Curve.ProgressPct = 100.5 },
		"curve.progress_pct is NaN: use 0 to 100":                  func(_ *Token, l *Launch, _ *Trader) { l.Curve.ProgressPct = math.NaN() },
		"bytes of curve.raised: 257":                               func(_ *Token, l *Launch, _ *Trader) { l.Curve.Raised = long },
		"bytes of curve.target: 257":                               func(_ *Token, l *Launch, _ *Trader) { l.Curve.Target = long },
		"volume_24h_usd is not a number":                           func(_ *Token, l *Launch, _ *Trader) { l.Volume24hUSD = new(math.NaN()) },
		"gate_fails: 33, at most 32":                               func(_ *Token, l *Launch, _ *Trader) { l.GateFails = make([]string, maxNames+1) },
		"bytes of gate_fails: 257":                                 func(_ *Token, l *Launch, _ *Trader) { l.GateFails[0] = long },
		"bytes of creator: 129":                                    func(_ *Token, l *Launch, _ *Trader) { l.Creator = strings.Repeat("0", MaxAddress+1) },
		"bytes of creator_handle: 257":                             func(_ *Token, l *Launch, _ *Trader) { l.CreatorHandle = long },
		"wallet is empty":                                          func(_ *Token, _ *Launch, w *Trader) { w.Wallet = "" },
		"bytes of handle: 257":                                     func(_ *Token, _ *Launch, w *Trader) { w.Handle = long },
		"bytes of face: 1048577":                                   func(_ *Token, _ *Launch, w *Trader) { w.Face = make([]byte, MaxPicture+1) },
		"chains: 33, at most 32":                                   func(_ *Token, _ *Launch, w *Trader) { w.Chains = make([]string, maxNames+1) },
		"bytes of chains: 257":                                     func(_ *Token, _ *Launch, w *Trader) { w.Chains[0] = long },
		"wins are 3 of 2 sells":                                    func(_ *Token, _ *Launch, w *Trader) { w.Day.Wins = 3 },
		"wins are -1 of 0 sells":                                   func(_ *Token, _ *Launch, w *Trader) { w.Week.Wins = -1 },
		"excluded_usd is not a number":                             func(_ *Token, _ *Launch, w *Trader) { w.Week.ExcludedUSD = math.Inf(-1) },
		"bytes of best.symbol: 257":                                func(_ *Token, _ *Launch, w *Trader) { w.Best.Symbol = long },
		"bytes of best.chain: 257":                                 func(_ *Token, _ *Launch, w *Trader) { w.Best.Chain = long },
		"one of best.pnl_usd, best.pnl_pct is not a number":        func(_ *Token, _ *Launch, w *Trader) { w.Best.PnLUSD = math.NaN() },
		"points of line: 289":                                      func(_ *Token, _ *Launch, w *Trader) { w.Line = make([]float64, MaxPoints+1) },
	} {
		k, l, w := whole()
		change(k, l, w)
		err := errors.Join(k.Validate(), l.Validate(), w.Validate())
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, it says %v", want, err)
		}
	}
}

func TestWhatIsAllowedIsTaken(t *testing.T) {
	k, l, w := whole()
	for _, c := range []Card{k, l, w, &Token{Asset: Asset{Mint: "m"}}, &Launch{Asset: Asset{Mint: "m"}, Stage: StageLive}, &Trader{Wallet: "w"}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
	k.Name, k.Picture, k.Day = strings.Repeat("x", MaxText), make([]byte, MaxPicture), make([]float64, MaxPoints)
	if err := k.Validate(); err != nil {
		t.Errorf("at the limits: %v", err)
	}
}

func TestTheKeyIsOfAllTheData(t *testing.T) {
	k, l, w := whole()
	seen := map[string]string{}
	for name, c := range map[string]Card{"token": k, "launch": l, "trader": w} {
		key, err := Key(c)
		if err != nil {
			t.Fatal(err)
		}
		// What was sent as JSON and read again is the same card.
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(c.Kind())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, again); err != nil {
			t.Fatal(err)
		}
		if second, err := Key(again); err != nil || second != key || len(key) != 64 {
			t.Errorf("%s: %s, read again %s: %v", name, key, second, err)
		}
		if other, has := seen[key]; has {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[key] = name
	}
	before, err := Key(k)
	if err != nil {
		t.Fatal(err)
	}
	k.Members.Faces[0] = []byte{2}
	if after, err := Key(k); err != nil || after == before {
		t.Errorf("another face has the same key: %v", err)
	}
	if _, err := Key(&Token{PriceUSD: new(math.NaN())}); err == nil {
		t.Error("a card that can't be encoded has a key")
	}
}

func TestAnUnknownKindIsNamed(t *testing.T) {
	if _, err := New("coin"); err == nil || !strings.Contains(err.Error(), "use token, launch or trader") {
		t.Errorf("it says %v", err)
	}
}
