package members_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// online waits until the program has counted so many.
func (in *intake) online(st *store.Store, want int64) {
	in.t.Helper()
	var online, counted int64
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		var err error
		if online, counted, _, _, err = st.Social.Presence.Online(in.t.Context()); err != nil {
			in.t.Fatal(err)
		}
		if online == want && counted > in.started {
			return
		}
	}
	in.t.Fatalf("it counts %d, want %d", online, want)
}

// TestPresence is on PostgreSQL, where the test can look at the same time.
func TestPresence(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	st := storetest.OpenAt(t, in.dsn)
	in.batch("", memberLine("u1", "ada"), memberLine("u2", "bob"), memberLine("u3", "cleo"))
	if a := in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u1","u2","u1","nobody"]}`)); a.status != http.StatusOK || string(a.body) != `{"unknown":["nobody"]}`+"\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
	in.online(st, 2) // members, not heartbeats
	in.clock.add(100 * time.Second)
	in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u2","u3"]}`))
	in.online(st, 3)
	in.clock.add(80 * time.Second) // u1 was seen 180 s ago
	in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u3"]}`))
	in.online(st, 3)
	in.clock.add(time.Second)
	in.online(st, 2)
	in.delete("/v1/members/u3?updated_at=" + in.tick())
	in.online(st, 1) // who left isn't present
	if a := in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u3"]}`)); string(a.body) != `{"unknown":["u3"]}`+"\n" {
		t.Errorf("a heartbeat of who left: %s", a.body)
	}

	// The next process takes up who was seen, until three minutes after the minute in which they were, and not who left meanwhile.
	in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u1","u2"]}`))
	in.online(st, 2)
	in.stop()
	in.clock.add(time.Duration(60-in.clock.Now().Second()) * time.Second) // the minute ends
	deleted := member.Record{ID: "u1", UpdatedAt: in.clock.Now().UnixMicro(), Deleted: true}
	if _, _, err := st.Social.Registry.Apply(t.Context(), []member.Record{deleted}, false, in.clock.Now().Unix()); err != nil {
		t.Fatal(err)
	}
	in.start()
	in.online(st, 1)
	in.clock.add(3*time.Minute - time.Second)
	in.online(st, 1)
	in.clock.add(time.Second)
	in.online(st, 0)
}

// TestPresenceEndsThoughProcessesChange starts the next process every minute: who was seen once doesn't stay for ever.
func TestPresenceEndsThoughProcessesChange(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	st := storetest.OpenAt(t, in.dsn)
	in.batch("", memberLine("u1", "ada"))
	in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u1"]}`))
	in.online(st, 1)
	for range 4 {
		in.stop()
		in.clock.add(time.Minute)
		in.start()
	}
	in.online(st, 0)
}

// TestPresenceBounds has ten thousand ids and one more.
func TestPresenceBounds(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	ids := func(n int) []byte {
		body := []byte(`{"ids":["u"`)
		for range n - 1 {
			body = append(body, `,"u"`...)
		}
		return append(body, "]}"...)
	}
	if a := in.do(http.MethodPost, "/v1/presence", ids(10_000)); a.status != http.StatusOK {
		t.Errorf("10,000: %d %s", a.status, a.body)
	}
	if a := in.do(http.MethodPost, "/v1/presence", ids(10_001)); a.problem() != "too-large" {
		t.Errorf("10,001: %d %s", a.status, a.body)
	}
}

// TestOneIsActive has two programs on one database: the second waits, and takes over when the first ends.
func TestOneIsActive(t *testing.T) {
	t.Parallel()
	first := open(t, "postgres")
	first.member("u1", "ada")
	second := &intake{t: t, dsn: first.dsn, clock: first.clock, tokens: first.tokens}
	started := make(chan struct{})
	go func() {
		defer close(started)
		second.start()
	}()
	select {
	case <-started:
		t.Fatal("both are active")
	case <-time.After(2 * time.Second): // the second has tried twice
	}
	first.stop()
	<-started
	t.Cleanup(second.stop)
	var m memberAnswer
	if second.get("/v1/members/u1", &m); m.Handle != "ada" {
		t.Errorf("the second has %+v", m)
	}
}
