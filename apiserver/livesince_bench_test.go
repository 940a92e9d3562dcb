package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// BenchmarkFollowing asks for what is new, with nothing new and with ever more, and for the feed's first page.
func BenchmarkFollowing(b *testing.B) {
	for _, kind := range storetest.Both {
		st, err := store.Open(b.Context(), storetest.DSN(b, kind))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		fill(b, st)
		x := newTraders(b, st)
		many := make([]trade, 200)
		for i := range many {
			many[i] = trade{adasWallet, token, i%2 == 0, 1, float64(5 + i)}
		}
		x.block(b, many)
		o := options(b, st)
		o.Now = time.Now
		c := startWith(b, o)
		eventually(b, "the trades are told", func() bool { ids, _ := idsOf(b, c, "filter=new"); return len(ids) == 30 })
		for name, target := range map[string]string{
			"since/0": "/api/live/since?trade=200&launch=200&call=200", "since/1": "/api/live/since?trade=199&launch=200&call=200", "since/10": "/api/live/since?trade=190&launch=200&call=200",
			"since/100": "/api/live/since?trade=100&launch=200&call=200", "since/200": "/api/live/since?trade=0&launch=200&call=200", "feed": "/api/feed/trades", "feed/older": "/api/feed/trades?before=djF8MTAw",
		} {
			b.Run(fmt.Sprintf("%s/%s", kind, name), func(b *testing.B) {
				for b.Loop() {
					req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, target, nil)
					req.Header.Set("X-Forwarded-For", stranger())
					w := httptest.NewRecorder()
					if c.h.ServeHTTP(w, req); w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}
