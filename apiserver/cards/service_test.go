package cards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/internal/redistest"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// serviceOf is a Service whose renderer is an easel behind a socket.
func serviceOf(t *testing.T, o Options) (*Service, *easel, *clock) {
	t.Helper()
	e, now := &easel{}, newClock()
	o.Renderer, o.Now, o.Log = NewClient(listen(t, e.serve(t)), now.now), now.now, quiet
	return NewService(o), e, now
}

func draw(t *testing.T, d *Service, a Ask, b Build) (*Picture, bool) {
	t.Helper()
	p, stale, err := d.Draw(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return p, stale
}

// TestDrawOnce: equal data are one picture, however they are asked for, and are not even looked at for a while.
func TestDrawOnce(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	d, e, now := serviceOf(t, Options{Metrics: NewMetrics(registry)})
	built := 0
	build := func(ctx context.Context) (*Built, error) {
		built++
		return building(1, 100+int64(built))(ctx)
	}
	first, stale := draw(t, d, ask("0x1"), build)
	if stale || first.AsOf != 101 || len(first.ETag) != len(`W/""`)+32 {
		t.Errorf("it is %+v, stale %v", first, stale)
	}
	if again, _ := draw(t, d, ask("0x1"), build); again != first || built != 1 {
		t.Errorf("at once again its data was read %d times", built)
	}
	if other, _ := draw(t, d, ask("0x1 base"), build); !bytes.Equal(other.PNG, first.PNG) || other.ETag != first.ETag || other.AsOf != 102 || built != 2 || e.count() != 1 {
		t.Errorf("asked for otherwise it cost %d renders", e.count())
	}
	if elsewhere, _ := draw(t, d, Ask{Kind: sharecard.KindToken, Of: "0x1", In: "another catalogue"}, build); elsewhere.ETag != first.ETag || built != 3 {
		t.Errorf("with another catalogue its data was read %d times", built)
	}
	now.add(2 * time.Second)
	if later, _ := draw(t, d, ask("0x1"), build); later.AsOf != 104 || built != 4 || e.count() != 1 {
		t.Errorf("later its data was read %d times, and it was drawn %d times", built, e.count())
	}
	now.add(2 * time.Second)
	if changed, _ := draw(t, d, ask("0x1"), building(2, 110)); changed.ETag == first.ETag || e.count() != 2 {
		t.Errorf("of other data it was drawn %d times", e.count())
	}
	if got := testutil.ToFloat64(d.o.Metrics.answered.WithLabelValues("token", fromMemory)); got != 4 {
		t.Errorf("%v came from memory", got)
	}
	if got := testutil.ToFloat64(d.o.Metrics.answered.WithLabelValues("token", fromRender)); got != 2 {
		t.Errorf("%v were drawn", got)
	}
}

// TestDrawTogether: who asks for the same card waits for one render, and who goes away takes it from nobody.
func TestDrawTogether(t *testing.T) {
	t.Parallel()
	d, e, _ := serviceOf(t, Options{})
	e.began = make(chan struct{}, 100)
	e.held.Lock()
	leaving, leave := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	results := make(chan error, 100)
	start := func(ctx context.Context, of string) {
		waiting.Go(func() {
			_, _, err := d.Draw(ctx, ask(of), building(1, 100))
			results <- err
		})
	}
	start(leaving, "0x1")
	<-e.began
	leave()
	for n := range 20 {
		start(t.Context(), fmt.Sprint("0x1 in way ", n%3))
	}
	e.held.Unlock()
	waiting.Wait()
	close(results)
	for err := range results {
		if err != nil {
			t.Error(err)
		}
	}
	if e.count() != 1 {
		t.Errorf("it was drawn %d times", e.count())
	}
}

// TestOldCards stand in while nothing can be drawn, or nothing be read, for a day.
func TestOldCards(t *testing.T) {
	t.Parallel()
	d, e, now := serviceOf(t, Options{})
	first, _ := draw(t, d, ask("0x1"), building(1, 100))
	good := d.o.Renderer
	d.o.Renderer = NewClient(t.TempDir()+"/none.sock", now.now)
	now.add(time.Minute)
	for range 2 {
		if old, stale := draw(t, d, ask("0x1"), building(2, 160)); !stale || old.ETag != first.ETag || old.AsOf != 100 {
			t.Errorf("with the renderer away it is %+v, stale %v", old, stale)
		}
	}
	if same, stale := draw(t, d, ask("0x1"), building(1, 170)); stale || same.AsOf != 170 {
		t.Errorf("of the same data it is %+v, stale %v", same, stale)
	}
	now.add(time.Minute)
	if _, _, err := d.Draw(t.Context(), ask("0x1"), building(2, 170+oldest+1)); err == nil {
		t.Error("a card of the day before yesterday stands in")
	}
	_, _, err := d.Draw(t.Context(), ask("0x2"), func(context.Context) (*Built, error) {
		return &Built{Card: token(3), Subject: "token base 0x2"}, nil
	})
	if _, ok := isUnavailable(err); !ok {
		t.Errorf("one that was never drawn: %v", err)
	}
	if old, stale := draw(t, d, ask("0x1"), func(context.Context) (*Built, error) { return nil, errAway }); !stale || old.ETag != first.ETag {
		t.Errorf("with the database away it is %+v, stale %v", old, stale)
	}
	gone := errors.New("there is no such token")
	if _, _, err := d.Draw(t.Context(), ask("0x1"), func(context.Context) (*Built, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Errorf("when the token is gone: %v", err)
	}
	d.o.Renderer = good
	if anew, stale := draw(t, d, ask("0x1"), building(2, 180)); stale || anew.ETag == first.ETag || e.count() != 2 {
		t.Errorf("with the renderer back it is %+v, stale %v", anew, stale)
	}
}

// TestMemoryIsBounded keeps the pictures that were asked for last.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := newPictureCache(10 * (1000 + overhead))
	for n := range 100 {
		s.put(strconv.Itoa(n), &Picture{PNG: make([]byte, 1000)})
		s.get("0")
	}
	if pictures, size := s.held(); pictures != 10 || size != 10*(1000+overhead) || s.get("0") == nil || s.get("99") == nil || s.get("50") != nil {
		t.Errorf("it holds %d pictures, %d bytes", pictures, size)
	}
	s.put("0", &Picture{PNG: make([]byte, 20)})
	if _, size := s.held(); size != 9*(1000+overhead)+20+overhead {
		t.Errorf("with a smaller one it holds %d bytes", size)
	}
	s.put("too large", &Picture{PNG: make([]byte, 1<<20)})
	if pictures, size := s.held(); size > s.most || s.get("too large") != nil {
		t.Errorf("with one that is too large it holds %d pictures, %d bytes", pictures, size)
	}
}

// TestServersShareCards runs two services on one Redis: what one drew the other has, also as the last resort; when Redis dies each
// draws for itself.
func TestServersShareCards(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	rdb, err := limit.OpenRedis(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	sharing := func() (*Service, *easel, *clock) {
		d, e, now := serviceOf(t, Options{Redis: rdb})
		d.shared.patience = time.Minute // a busy machine may take longer than the usual time
		return d, e, now
	}
	one, drawnByOne, _ := sharing()
	other, drawnByOther, now := sharing()
	first, _ := draw(t, one, ask("0x1"), building(1, 100))
	if same, stale := draw(t, other, ask("0x1"), building(1, 105)); stale || !bytes.Equal(same.PNG, first.PNG) || same.ETag != first.ETag || same.AsOf != 105 ||
		drawnByOther.count() != 0 {
		t.Errorf("the other server has %+v and drew %d", same, drawnByOther.count())
	}
	third, drawnByThird, _ := sharing()
	third.o.Renderer = NewClient(t.TempDir()+"/none.sock", now.now)
	if old, stale := draw(t, third, ask("0x1"), building(2, 110)); !stale || old.ETag != first.ETag || drawnByThird.count() != 0 {
		t.Errorf("one that has just started without a renderer has %+v, stale %v", old, stale)
	}
	if n, err := rdb.DBSize(t.Context()).Result(); err != nil || n != 1 {
		t.Errorf("Redis has %d keys, %v", n, err)
	}
	if ttl, err := rdb.TTL(t.Context(), place("token base 0x1")).Result(); err != nil || ttl <= 0 || ttl > sharedFor {
		t.Errorf("it keeps it for %v, %v", ttl, err)
	}
	server.Kill(t)
	now.add(time.Minute)
	if anew, stale := draw(t, other, ask("0x1"), building(3, 120)); stale || anew.ETag == first.ETag || drawnByOther.count() != 1 || drawnByOne.count() != 1 {
		t.Errorf("without Redis it is %+v, stale %v", anew, stale)
	}
}

// TestWhatRedisHasIsLookedAt before it is answered.
func TestWhatRedisHasIsLookedAt(t *testing.T) {
	t.Parallel()
	good := newPicture("key", picture(t, "x", sharecard.Width, sharecard.Height), 100)
	packed := pack("subject", good)
	if got := unpack(packed, "subject"); got == nil || got.ETag != good.ETag || got.AsOf != 100 || got.key != "key" {
		t.Errorf("it is %+v", got)
	}
	for name, raw := range map[string][]byte{
		"nothing": nil, "another's": pack("another", good), "another form": append([]byte("x"), packed...), "cut off": packed[:30],
		"no picture":   bytes.Replace(packed, []byte("PNG"), []byte("GIF"), 1),
		"another size": pack("subject", newPicture("key", picture(t, "x", 10, 10), 100)),
		"no time":      bytes.Replace(packed, []byte("\n100\n"), []byte("\nx\n"), 1),
	} {
		if got := unpack(raw, "subject"); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
