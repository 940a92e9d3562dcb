package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// compare holds served series against the database's rows. The server ends before the database is opened: SQLite's has one user.
func (m *measurement) compare(ctx context.Context) error {
	tokens := lab.NewDrawer(m.World, 0.5, 99).Draw(checkedTokens)
	s, err := m.Serve(ctx)
	if err != nil {
		return err
	}
	got := map[*lab.Endpoint][][]contract.Candle{}
	if err := s.End(func() error {
		for i := range lab.PerToken {
			e := &lab.PerToken[i]
			if !strings.HasPrefix(e.Operation, "getChart") && !strings.HasSuffix(e.Operation, "Candles") {
				continue
			}
			if got[e], err = seriesOf(ctx, s.Address, m.World, e, tokens); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	st, err := store.Open(ctx, m.Database.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // it was read from
	for e, series := range got {
		for i, t := range tokens {
			want, err := e.Alone(ctx, st, m.World, []int{t})
			if err == nil {
				err = sameBars(series[i], want)
			}
			if err != nil {
				return fmt.Errorf("%s of %s: %w", e.Operation, m.World.Tokens[t].Mint, err)
			}
		}
		lab.Say("%s: %s of %d tokens are what the rows make", m.Database, e.Operation, len(tokens))
	}
	return nil
}

// checkedTokens is how many tokens' series are compared before anything is measured.
const checkedTokens = 30

// seriesOf fetches the bars with trades of some tokens, for operations that answer with a series.
func seriesOf(ctx context.Context, address string, w *lab.World, e *lab.Endpoint, tokens []int) ([][]contract.Candle, error) {
	out := make([][]contract.Candle, len(tokens))
	for i, t := range tokens {
		a, err := lab.Fetch(ctx, address, e.Target(w, []int{t}))
		if err != nil {
			return nil, err
		}
		var series struct{ Candles []contract.Candle }
		if err := json.Unmarshal(a.Body, &series); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Target(w, []int{t}), err)
		}
		for _, c := range series.Candles {
			if !c.Fill {
				out[i] = append(out[i], c)
			}
		}
	}
	return out, nil
}

// sameBars fails unless a served series tells the same as the rows in the database.
func sameBars(got []contract.Candle, want []candle.Bar) error {
	if len(got) != len(want) {
		return fmt.Errorf("the answer has %d bars with trades, the database %d", len(got), len(want))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	for i, b := range want {
		g := got[i]
		if g.T != b.Open || int64(g.N) != b.Trades || !near(g.O, b.OHLC.Open) || !near(g.H, b.High) || !near(g.L, b.Low) ||
			!near(g.C, b.Close) || !near(g.V, b.VolumeUSD) {
			return fmt.Errorf("bar %d of the answer is %+v, of the database %+v", i, g, b)
		}
	}
	return nil
}
