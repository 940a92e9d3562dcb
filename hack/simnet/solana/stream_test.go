package solana

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
)

// TestAnotherStream has @triton-one/yellowstone-grpc, which nobody here wrote, read the chain's stream, and hold it against what the node tells by JSON-RPC.
func TestAnotherStream(t *testing.T) {
	t.Parallel()
	const token = "stand-in's token"
	w := newWorld(t, Options{Seed: 2, People: 8})
	address, err := w.Chain.Geyser(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	client, err := svm.Script(t.Context(), filepath.Join("testdata", "stream.cjs"), w.Chain.URL(), address, token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		names := tokentext.New(2)
		for n := 0; ctx.Err() == nil; n++ {
			for range 3 {
				if err := w.Act(context.WithoutCancel(ctx), names); err != nil {
					ended <- err
					return
				}
			}
			if err := w.Mine(context.WithoutCancel(ctx), w.slot+1+uint64(n%3), w.time.Add(time.Second)); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	var out bytes.Buffer
	client.Stdout, client.Stderr = &out, &out
	if err := client.Run(); err != nil || !strings.Contains(out.String(), "agreed") {
		t.Errorf("%v: %s", err, &out)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
