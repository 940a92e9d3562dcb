package simnet
import ("testing";"fmt";"math")
func TestAdhoc(t *testing.T){
	world := startWorld(t, 8453, 1)
	trader := NewTrader(world, 1)
	seen := map[Kind]int{}
	for i := range 300 {
		truths, err := trader.Step(t.Context(), 10)
		if err != nil { t.Fatal(err) }
		if err := world.mineNext(t.Context()); err != nil { t.Fatal(err) }
		var h []string
		for _, x := range truths { seen[x.Kind]++; h = append(h, x.TxHash) }
		rs, err := world.Node.Receipts(t.Context(), h)
		if err != nil { t.Fatal(err) }
		for k, r := range rs { if !r.Succeeded() { t.Errorf("%d %+v", i, truths[k]) } ; if truths[k].Kind==SwapBundled {
			n:=0; for _,l:=range r.Logs { if l.Topics[0]=="0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f" && wordAt(fromHex(l.Data),1).Sign()==1 {n++} }
			seen[Kind(fmt.Sprint("ops ok ",n))]++ } }
	}
	fmt.Println(seen)
	m, err := trader.look(t.Context(), nil)
	if err != nil { t.Fatal(err) }
	for _, p := range world.Pools {
		s := m.pools[p.key()]
		a, b := world.asset(p.Token0), world.asset(p.Token1)
		fmt.Printf("%-14s %-8.8s/%-8.8s %6d %-8s price/target %.3f quote-ish %g %g %s\n", p.Protocol, a.Symbol, b.Symbol, p.Fee, p.Trap, math.Exp(math.Log(s.price()/trader.target(p, s))), s.reserve0/pow10(float64(a.Decimals))*a.USD, s.reserve1/pow10(float64(b.Decimals))*b.USD, p.key()[:10])
	}
}
