package indexer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// describer is a web server with the description and the picture of a token.
type describer struct {
	url   string
	asked atomic.Int32 // for the description
	fails atomic.Bool
}

func newDescriber(t *testing.T) (d *describer, f *metadata.Fetcher) {
	t.Helper()
	d = &describer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/usdc.json", func(w http.ResponseWriter, _ *http.Request) {
		if d.asked.Add(1); d.fails.Load() {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"image":"%s/usdc.png","website":"https://usdc.example/"}`, d.url)
	})
	mux.HandleFunc("/usdc.png", func(w http.ResponseWriter, _ *http.Request) {
		var out bytes.Buffer
		if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(out.Bytes())
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	d.url = server.URL
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	f, err = metadata.New(metadata.Options{Now: time.Now, AllowAddress: func(a netip.Addr) bool { return a.IsLoopback() }, Ports: []uint16{uint16(port)}})
	if err != nil {
		t.Fatal(err)
	}
	return d, f
}

// metaplexAccount is Metaplex's account of a token.
func metaplexAccount(name, symbol, uri string) solanatest.Account {
	text := func(s string, length int) []byte {
		padded := append([]byte(s), make([]byte, length-len(s))...)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(length)), padded...)
	}
	return solanatest.Account{
		Owner: layout.MetadataProgram.String(), Data: slices.Concat([]byte{4}, make([]byte, 64), text(name, 32), text(symbol, 10), text(uri, 200)),
	}
}

// isDescribed reports whether a token has a website and a picture.
func isDescribed(t *testing.T, st *store.Store, index string, token market.Address, website string) bool {
	t.Helper()
	m, ok, err := st.Metadata.At(t.Context(), index, token)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := st.Metadata.Image(t.Context(), index, token)
	if err != nil {
		t.Fatal(err)
	}
	return ok && m.Website == website && m.Status == store.MetadataFetched && len(picture) > 0
}

// TestSolanaURIs: a token that wasn't launched has the picture that Metaplex's account of it leads to, fetched once: through reorgs, restarts, and an index that takes the
// place of the first by the facts that were kept, although the account names another place by then.
func TestSolanaURIs(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d, f := newDescriber(t)
			w := solanatest.NewWorld(5)
			w.Grow(200)
			n, st, usdc := solanaNode(t, w), storetest.Open(t, kind), solanaAddress(solanatest.USDC)
			key := layout.MetadataOf(usdc).String()
			n.SetAccount(key, metaplexAccount("USD Coin", "USDC", d.url+"/usdc.json"))
			end := startSolanaWith(t, st, solanaConfig(n), Options{Fetcher: f})
			awaitSolana(t, st, w)
			eventually(t, "USDC has a picture", func() bool { return isDescribed(t, st, "solana", usdc, "https://usdc.example/") })
			for range 3 {
				w.Fork(8)
				n.ServeWorld(w)
				awaitSolana(t, st, w)
			}
			end()
			n.SetAccount(key, metaplexAccount("USD Coin", "USDC", d.url+"/another.json"))

			cfg := solanaConfig(n)
			cfg.Generation = 2
			ix, err := New(cfg, st, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: t.Name(), CachedRows: 1000, RereadPause: 10 * time.Millisecond, Fetcher: f})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				ix.Keep(ctx)
			}()
			eventually(t, "the second generation is served", func() bool {
				list, err := st.Served().Chains(t.Context())
				return err == nil && len(list) == 1 && list[0].Generation == 2
			})
			stop()
			<-over
			if !isDescribed(t, st, chainconfig.IndexID("solana", 2), usdc, "https://usdc.example/") {
				t.Error("the second generation hasn't what was fetched for the first")
			}
			due, err := st.Metadata.Due(t.Context(), chainconfig.IndexID("solana", 2), time.Now().Unix(), 1000)
			if slices.ContainsFunc(due, func(j store.MetadataJob) bool { return j.Mint == usdc }) || err != nil {
				t.Errorf("due are %+v, %v", due, err)
			}
			if asked := d.asked.Load(); asked != 1 {
				t.Errorf("the description was asked for %d times", asked)
			}
		})
	}
}

// TestSolanaURIFails: what isn't to be had is asked for again later, after a restart as well.
func TestSolanaURIFails(t *testing.T) {
	t.Parallel()
	d, f := newDescriber(t)
	d.fails.Store(true)
	w := solanatest.NewWorld(5)
	w.Grow(200)
	n, st, usdc := solanaNode(t, w), storetest.Open(t, "sqlite"), solanaAddress(solanatest.USDC)
	n.SetAccount(layout.MetadataOf(usdc).String(), metaplexAccount("USD Coin", "USDC", d.url+"/usdc.json"))
	end := startSolanaWith(t, st, solanaConfig(n), Options{Fetcher: f})
	eventually(t, "it failed once", func() bool {
		m, ok, err := st.Metadata.At(t.Context(), "solana", usdc)
		return err == nil && ok && m.Status == store.MetadataFailed && m.Attempts == 1
	})
	end()
	for hours, want := range map[int64]bool{0: false, 7: true} {
		due, err := st.Metadata.Due(t.Context(), "solana", time.Now().Unix()+hours*3600, 1000)
		if err != nil || slices.ContainsFunc(due, func(j store.MetadataJob) bool {
			return j.Mint == usdc && j.Metadata == d.url+"/usdc.json" && j.Attempts == 1 && !j.Launched
		}) != want {
			t.Errorf("after %d hours due are %+v, %v", hours, due, err)
		}
	}
}

// TestSolanaRuntimeURIs: SOL and USDC of the local world, which Solana's own runtime keeps, have their pictures.
func TestSolanaRuntimeURIs(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 5)
	l.grow(t, 20)
	f, err := metadata.New(metadata.Options{Now: time.Now, IPFS: []string{}, Arweave: []string{}, AllowAddress: func(netip.Addr) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	st := storetest.Open(t, "sqlite")
	end := startSolanaWith(t, st, l.config(t), Options{Fetcher: f})
	l.await(t, st)
	for mint, website := range map[market.Address]string{
		addressOfKey(simnet.WSOL): "https://wrappedsol.example.com/", addressOfKey(simnet.USDC): "https://usdcoin.example.com/",
	} {
		eventually(t, mint.String()+" has a picture", func() bool { return isDescribed(t, st, "solana", mint, website) })
	}
	end()
}
