package launch

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// The curve's model, which the desk relies on, is never better for the trader than the exact product.
func TestCurveModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range venues.Kinds {
		if kind.SaleBase == 0 {
			continue
		}
		w := &world.World{Native: world.Native{USD: 3000}}
		shape := shapeOf(w, kind)
		state, held := shape.Fresh(), new(big.Int)
		for range 500 {
			var fill venues.Fill
			var after venues.CurveState
			var err error
			if rng.IntN(3) == 0 {
				if fill, after, err = shape.Sell(state, world.Portion(held, rng.Float64())); err == nil {
					held.Sub(held, fill.Base)
				}
			} else if fill, after, err = shape.Buy(state, world.Portion(shape.Target(), 0.02*rng.Float64())); err == nil {
				held.Add(held, fill.Base)
			}
			if err != nil {
				continue
			}
			state = after
			product := new(big.Int).Mul(state.VirtualBase, state.VirtualQuote)
			if product.Cmp(shape.Product()) < 0 {
				t.Fatalf("%s: the product fell", kind.ID)
			}
			if left := new(big.Int).Sub(shape.SaleBase, held); left.Cmp(state.RealBase) != 0 {
				t.Fatalf("%s: %s left, %s are held", kind.ID, state.RealBase, held)
			}
			if state.Completed {
				break
			}
		}
		if state.RealQuote.Sign() < 0 || state.Completed && state.RealQuote.Cmp(shape.Target()) != 0 {
			t.Errorf("%s: raised %s of %s", kind.ID, state.RealQuote, shape.Target())
		}
		fill, full, err := shape.Buy(shape.Fresh(), world.Units(1e6, 18))
		if err != nil || !full.Completed || fill.Base.Cmp(shape.SaleBase) != 0 || fill.Net.Cmp(shape.Target()) != 0 {
			t.Errorf("%s: one buy of all is %+v, %v", kind.ID, fill, err)
		}
	}
}
