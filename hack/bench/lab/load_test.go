package lab

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPaceChargesAStall has one launch take a second: those after it keep the times at which they were due.
func TestPaceChargesAStall(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	clock := began
	p := pace{
		began: began, interval: 100 * time.Millisecond, count: 20,
		now: func() time.Time {
			clock = clock.Add(time.Microsecond)
			return clock
		},
		sleep: func(d time.Duration) bool {
			clock = clock.Add(d)
			return true
		},
	}
	late := make([]time.Duration, 0, p.count)
	p.run(func(n int, due time.Time) {
		if want := began.Add(time.Duration(n) * p.interval); !due.Equal(want) {
			t.Errorf("request %d was due at %s, want %s", n, due, want)
		}
		late = append(late, clock.Sub(due))
		if n == 4 {
			clock = clock.Add(time.Second)
		}
	})
	for n, d := range late {
		want := time.Duration(0)
		if n > 4 && n < 15 {
			want = time.Second - time.Duration(n-4)*p.interval
		}
		if d < want || d > want+time.Millisecond {
			t.Errorf("request %d was sent %s late, want about %s", n, d, want)
		}
	}
	p.count = 1000
	sent := 0
	p.sleep = func(time.Duration) bool { return false }
	p.began = clock.Add(time.Hour)
	p.run(func(int, time.Time) { sent++ })
	if sent != 0 {
		t.Errorf("%d requests were sent after the end", sent)
	}
}

func TestClientsAreReplacedBeforeTheirLimit(t *testing.T) {
	t.Parallel()
	c := Clients{Together: 10, Each: 3}
	sent := map[netip.Addr]int{}
	for n := range 95 {
		sent[c.next()]++
		if turn := n % 30; turn >= 9 && turn < 30 && len(sent) != 10*(n/30+1) {
			t.Fatalf("after %d requests there were %d clients", n+1, len(sent))
		}
	}
	for a, n := range sent {
		if n > 3 || !netip.MustParsePrefix("198.18.0.0/15").Contains(a) {
			t.Errorf("%s sent %d", a, n)
		}
	}
	if last := c.of(1 << 60); !netip.MustParsePrefix("198.18.0.0/15").Contains(last) {
		t.Errorf("in the end it is %s", last)
	}
}

func TestConnectionReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer         string
		status, length int
		wrong          string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3, ""},
		{"HTTP/1.1 503 Service Unavailable\r\nx: y\r\ncontent-length:0\r\n\r\n", 503, 0, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, 0, "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", 200, 0, "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 200, 0, "EOF"},
		{"SSH-2.0-OpenSSH_9.2 or so\r\n", 0, 0, "not HTTP/1.1"},
		{"", 0, 0, "EOF"},
	} {
		here, there := net.Pipe()
		go func() {
			_, _ = io.WriteString(there, c.answer)
			_ = there.Close()
		}()
		status, length, err := newConnection(here).read()
		if c.wrong == "" && (err != nil || status != c.status || length != c.length) {
			t.Errorf("%q: %d, %d bytes, error %v", c.answer, status, length, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%q: error %v, want one with %q", c.answer, err, c.wrong)
		}
	}
}

// echo answers with as many bytes as the path says and refuses what comes from the clients' last address.
func echo(t *testing.T) (address string, seen func() []string) {
	t.Helper()
	from := make(chan string, 10_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from <- r.Header.Get("X-Forwarded-For")
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(make([]byte, n))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), func() (out []string) {
		for len(from) > 0 {
			out = append(out, <-from)
		}
		return out
	}
}

func TestClosedLoop(t *testing.T) {
	t.Parallel()
	address, seen := echo(t)
	c := &Clients{Together: 5, Each: 2}
	heads := [][]byte{Render(address, "/10"), Render(address, "/100000"), Render(address, "/no")}
	r, err := ClosedLoop(t.Context(), address, 3, 30*time.Millisecond, c, func(n uint64) []byte { return heads[n%3] })
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests == 0 || r.Statuses[200]+r.Statuses[503] != r.Requests {
		t.Errorf("%d requests, %s", r.Requests, r.Statuses)
	}
	for length := range r.Lengths {
		if !slices.Contains([]int{0, 10, 100000}, length) {
			t.Errorf("an answer of %d bytes", length)
		}
	}
	if got := seen(); len(got) != r.Requests || got[0] == "" {
		t.Errorf("the server saw %d of %d requests", len(got), r.Requests)
	}
	if r.Statuses[503] > 0 && (r.Statuses.Only(200) == nil || r.Statuses.Only(200, 503) != nil) {
		t.Errorf("%s were judged wrongly", r.Statuses)
	}
}

func TestOpenLoop(t *testing.T) {
	t.Parallel()
	address, seen := echo(t)
	loop := OpenLoop{
		Address: address, Rate: 2000, Length: 50 * time.Millisecond, Most: 4, Clients: &Clients{Together: 5, Each: 2}, Grace: 20 * time.Second,
		Next: func(n int) (int, []byte) {
			if n%4 == 3 {
				return 1, Render(address, "/no")
			}
			return 0, Render(address, "/7")
		},
	}
	r, err := loop.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Shots) != 100 || len(r.Of(-1, 200)) != 75 || len(r.Of(1, 503)) != 25 || len(r.Of(1, 200)) != 0 || len(seen()) != 100 {
		t.Errorf("%d requests: %s", len(r.Shots), r.Statuses())
	}
	if len(r.Late()) != 100 || len(r.Part(2, 3).Shots) != 34 {
		t.Errorf("%d are late, %d in the last third", len(r.Late()), len(r.Part(2, 3).Shots))
	}
	for i, s := range r.Shots {
		if want := time.Duration(i) * time.Second / 2000; s.Due != want || s.took < s.late || s.late < 0 {
			t.Fatalf("request %d: due %s (want %s), late %s, took %s", i, s.Due, want, s.late, s.took)
		}
	}
	loop.Address = "127.0.0.1:1"
	if _, err := loop.Run(t.Context()); err == nil {
		t.Error("nobody listens, and that is no error")
	}
}
