package evm_test

import (
	"encoding/hex"
	"maps"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// launched are the results of a clean token of a declared venue.
func launched(others want) want {
	out := want{
		report.Ownership: report.Pass, report.CodeKnown: report.Pass, report.BundleShare: report.Pass, report.CreatorHolding: report.Pass,
		report.CreatorHistory: report.Pass,
	}
	maps.Copy(out, others)
	return out
}

// ownCurve deploys the reference contract of the platform's own family.
func (w *testWorld) ownCurve(t *testing.T) market.Address {
	t.Helper()
	tools, err := toolchain.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code := slices.Concat(tools.Code["BoardwalkCurve"], probe.Address(address(t, w.UniswapV4PoolManager)), tokens(5),
		probe.Address(address(t, w.Spare[3])))
	return address(t, w.send(t, map[string]string{"data": "0x" + hex.EncodeToString(code)})[0])
}

// launchOn launches a token on the reference contract.
func (w *testWorld) launchOn(t *testing.T, curve market.Address) market.Address {
	t.Helper()
	// launch("T", "T", "")
	args := [][]byte{probe.Uint(96), probe.Uint(160), probe.Uint(224)}
	for range 2 {
		args = append(args, probe.Uint(1), append([]byte{'T'}, make([]byte, 31)...))
	}
	data := calldata("launch(string,string,string)", append(args, probe.Uint(0))...)
	var out string
	call := map[string]string{"from": w.Spare[1], "to": curve.String(), "data": data}
	if err := w.Node.Call(t.Context(), &out, "eth_call", call, "latest"); err != nil {
		t.Fatal(err)
	}
	token, err := hex.DecodeString(out[2:])
	if err != nil {
		t.Fatal(err)
	}
	w.send(t, call)
	return market.EVMAddress([32]byte(token))
}

func (w *testWorld) buyOn(t *testing.T, curve, token market.Address, coins string) {
	t.Helper()
	w.send(t, map[string]string{
		"from": w.Spare[2], "to": curve.String(), "value": coins,
		"data": calldata("buy(address,uint256,address)", probe.Address(token), probe.Uint(0), probe.Address(address(t, w.Spare[2]))),
	})
}

func TestOwnCurve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	curve := w.ownCurve(t)
	token, sibling := w.launchOn(t, curve), w.launchOn(t, curve)
	cfg := w.config()
	cfg.Venues[0].Contracts = markettest.Addresses(curve.String())
	amount := func(whole uint64) market.Amount { return *new(market.Amount).SetBytes(tokens(whole)) }
	check := func(state market.LaunchState, raised uint64, pools ...market.Pool) *report.Report {
		t.Helper()
		k := w.known(t, token, pools...)
		k.Siblings = []market.Address{sibling}
		k.Launch = &market.Launch{
			Mint: token, Venue: "ours", Creator: address(t, w.Spare[1]), State: state, Curve: curve, Quote: address(t, w.Wrapped),
			CreatedAt: w.head(t).Time - 7200, TargetQuote: amount(14), Reserves: market.CurveReserves{RealQuote: amount(raised)},
		}
		c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
		r, err := c.Check(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	row := market.Pool{ID: market.CurveID(token), Protocol: market.BondingCurve, Factory: curve, Base: token, Quote: address(t, w.Wrapped), CreatedAt: w.head(t).Time - 7200}

	r := check(market.LaunchOnCurve, 0, row)
	expect(t, r, launched(nil))
	if c := r.Find(report.LPBurnedLocked); c.Source != "curve_state" || r.Verdict() != report.OK {
		t.Errorf("%+v, verdict %s", c, r.Verdict())
	}
	// Nearly full, the trades must not fill it.
	w.buyOn(t, curve, token, "0xc3663566a5800000") // 14.08 coins, 1 % of which is the fee
	row.Locked = 27
	expect(t, check(market.LaunchOnCurve, 13, row), launched(nil))

	w.buyOn(t, curve, token, "0xde0b6b3a7640000")
	r = check(market.LaunchCompleted, 14, row)
	if c := r.Find(report.HoneypotSell); c.UnknownReason != report.NoPool {
		t.Errorf("%+v", c)
	}
	w.send(t, map[string]string{"to": curve.String(), "data": calldata("graduate(address)", probe.Address(token))})
	state := w.call(t, curve, "curves(address)", probe.Address(token))
	pool := w.pool(t, market.UniswapV4, address(t, w.UniswapV4PoolManager), market.PoolID([32]byte(state[160:192])), token, market.Native)
	for _, fee := range []uint32{3000, 10000, 2500, 500, 100} { // whichever the contract took
		for _, spacing := range []int32{60, 200, 50, 10, 1} {
			p := pool
			p.FeePips, p.TickSpacing = fee, spacing
			key := append(append(probe.Address(market.Native), probe.Address(token)...), probe.Uint(uint64(fee))...)
			key = append(append(key, probe.Int(int64(spacing))...), probe.Address(market.Native)...)
			if market.PoolID([32]byte(w.hashOf(t, key))) == p.ID {
				pool = p
			}
		}
	}
	r = check(market.LaunchGraduated, 14, row, pool)
	expect(t, r, launched(nil))
	value(t, r, report.LPBurnedLocked, 100, report.High)
}

func TestOutsideCurves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, protocol := range []chainconfig.VenueProtocol{chainconfig.FourMemeV2, chainconfig.Flap, chainconfig.PonsV2, chainconfig.NadFun, chainconfig.FourMemeV1} {
		for contract, others := range map[string]want{
			"Clean": nil, "Restricted": {report.TransferTax: report.Unknown}, "SellTax": {report.SellTax: report.Fail},
			"Honeypot": {report.HoneypotSell: report.Fail, report.SellTax: report.Unknown},
		} {
			t.Run(string(protocol)+" "+contract, func(t *testing.T) {
				t.Parallel()
				token := w.deploy(t, contract)
				r := w.checkOutside(t, token, protocol, market.Native)
				all := launched(others)
				all[report.Ownership], all[report.CodeKnown], all[report.LiquidityDepth] = report.Unknown, report.Unknown, report.Unknown
				if protocol == chainconfig.NadFun || protocol == chainconfig.FourMemeV1 {
					for _, id := range []string{report.HoneypotSell, report.BuyTax, report.SellTax, report.TransferTax} {
						all[id] = report.Unknown
						if got := r.Find(id); got.UnknownReason != report.VenueNotSimulated {
							t.Errorf("%+v", got)
						}
					}
				}
				expect(t, r, all)
			})
		}
	}
}

// checkOutside puts a token on a curve of an outside venue and checks it.
func (w *testWorld) checkOutside(t *testing.T, token market.Address, protocol chainconfig.VenueProtocol, quote market.Address) *report.Report {
	t.Helper()
	curve := w.deploy(t, "OutsideCurve", probe.Address(token))
	w.setPair(t, token, curve)
	w.send(t, map[string]string{"to": token.String(), "data": calldata("transfer(address,uint256)", probe.Address(curve), tokens(900_000_000))})
	cfg := w.config()
	cfg.Venues = []chainconfig.Venue{{ID: "outside", Protocol: protocol, Contracts: []market.Address{curve}}}
	k := w.known(t, token)
	k.Launch = &market.Launch{
		Mint: token, Venue: "outside", Creator: address(t, w.Spare[1]), State: market.LaunchOnCurve, Curve: curve, Quote: quote,
		CreatedAt: w.head(t).Time - 7200,
	}
	c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCurveOfAnUnknownQuote: a curve that takes nobody knows what isn't traded with the native coin to see what happens.
func TestCurveOfAnUnknownQuote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.checkOutside(t, w.deploy(t, "Clean"), chainconfig.FourMemeV2, market.Address{})
	for _, id := range []string{report.HoneypotSell, report.BuyTax, report.SellTax, report.TransferTax} {
		if got := r.Find(id); got.Result != report.Unknown || got.UnknownReason != report.VenueNotSimulated {
			t.Errorf("%s: %+v", id, got)
		}
	}
}
