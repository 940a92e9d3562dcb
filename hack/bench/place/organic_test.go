package place

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestLook(t *testing.T) {
	for i := range populations[:3] {
		p := &populations[i]
		begun := time.Now()
		r := newReferee()
		txs, logs := 0, 0
		c := newChain(func(b *block) {
			txs += len(b.sent)
			for _, x := range b.Txs {
				logs += len(x.Logs)
			}
			r.take(b)
		})
		o := settle(c, p, 1, genesis+14*hour)
		for at := int64(genesis + 300); at < genesis+14*hour; at += 300 {
			c.run(at)
			if err := r.derive(market.Header{Number: c.filled.Number - 1, Hash: c.filled.Parent, Time: c.now - 2}); err != nil {
				t.Fatal(err)
			}
			if at > genesis+10*hour && (at-genesis)%hour == 0 {
				list := r.running(c.now - 2)
				for n, s := range list {
					if n == 0 || n == 9 || n == 19 || n == len(list)-1 {
						t.Logf("%s %d h: %d of %d: %.1f %+v", p.name, (at-genesis)/hour, n+1, len(list), s.score, s.parts)
					}
				}
			}
		}
		grads := 0
		for _, k := range o.tokens {
			if k.curve != nil && k.main != k.curve {
				grads++
			}
		}
		t.Logf("%s: %d tokens, %d graduated, %d honest, %d txs, %d logs, %d wallets, %s", p.name, len(o.tokens), grads, len(o.honest), txs, logs, o.made.made, time.Since(begun))
	}
}
