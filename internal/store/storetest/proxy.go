package storetest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a program and PostgreSQL.
type Proxy struct {
	DSN string

	mu     sync.Mutex
	socket string
	mutes  []*atomic.Bool
	conns  []net.Conn
}

// NewProxy passes on what goes to and from the PostgreSQL database at an address of DSN, with settings more in its own
// address.
func NewProxy(t *testing.T, dsn string, settings ...string) *Proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	socket := socketIn(q.Get("host"))
	q.Del("host")
	for i := 0; i+1 < len(settings); i += 2 {
		q.Set(settings[i], settings[i+1])
	}
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	p := &Proxy{DSN: u.String(), socket: socket}
	t.Cleanup(func() {
		_ = l.Close()
		p.redirect("")
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			var d net.Dialer
			p.mu.Lock()
			to := p.socket
			p.mu.Unlock()
			server, err := d.DialContext(t.Context(), "unix", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			mute := &atomic.Bool{}
			p.mu.Lock()
			p.mutes, p.conns = append(p.mutes, mute), append(p.conns, client, server)
			p.mu.Unlock()
			go pass(server, client, mute)
			go pass(client, server, mute)
		}
	}()
	return p
}

// Swallow takes from every connection that there is now whatever is sent, and passes none of it on: nobody hears of an
// error. New connections are good.
func (p *Proxy) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.mutes {
		m.Store(true)
	}
}

// redirect closes every connection; new ones go to another socket.
func (p *Proxy) redirect(socket string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.socket = socket
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns, p.mutes = nil, nil
}

func socketIn(dir string) string { return filepath.Join(dir, ".s.PGSQL.5432") }

func pass(to, from net.Conn, mute *atomic.Bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !mute.Load() {
			if _, e := to.Write(buf[:n]); err == nil {
				err = e
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) || !mute.Load() {
				_ = to.Close()
			}
			return
		}
	}
}
