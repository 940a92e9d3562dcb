package dbserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy stands between a program and PostgreSQL. Its methods may be called at any time.
type Proxy struct {
	// DSN is the database's address by way of the proxy.
	DSN string

	listener net.Listener
	delay    atomic.Int64 // nanoseconds before each piece of what the server answers
	commits  atomic.Int64
	left     atomic.Int64 // answers until everything is swallowed; 0 and less is never
	onCommit atomic.Pointer[func(n int64) Verdict]
	onDone   atomic.Pointer[func(Done)]

	mu     sync.Mutex
	socket string
	// isSilent says that new connections are swallowed too.
	isSilent bool
	// other is where the next connection goes, in turn with socket; empty is none.
	other string
	links map[*link]bool
}

// link is one connection of a client, and that to the server for it.
type link struct {
	client, server net.Conn
	// mute: nothing is passed on any more. doomed: it ends with the server's next answer.
	mute, doomed atomic.Bool
	// wire follows the messages; nil where nobody wants to know.
	wire *wire
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// Verdict is what becomes of a commit that a client sends.
type Verdict int

// A commit is passed on; lost with its connection before the server has it; or done, and the connection lost before the client hears of it.
const (
	Pass Verdict = iota
	LoseBefore
	LoseAfter
)

// NewProxy passes on what goes to and from the PostgreSQL database at an address of Server.DSN, with settings more in its own
// address, until ctx ends or Close.
func NewProxy(ctx context.Context, dsn string, settings ...string) (*Proxy, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	q := u.Query()
	socket := socketIn(q.Get("host"))
	q.Del("host")
	q.Del("port") // a Pooler has one
	for i := 0; i+1 < len(settings); i += 2 {
		q.Set(settings[i], settings[i+1])
	}
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	p := &Proxy{DSN: u.String(), listener: l, socket: socket, links: map[*link]bool{}}
	go p.accept(ctx)
	return p, nil
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		var d net.Dialer
		p.mu.Lock()
		to := p.socket
		if p.other != "" {
			p.socket, p.other = p.other, p.socket
		}
		p.mu.Unlock()
		server, err := d.DialContext(ctx, "unix", to)
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &link{client: client, server: server}
		if tell := p.onDone.Load(); tell != nil {
			l.wire = newWire(*tell)
		}
		p.mu.Lock()
		p.links[l] = true
		l.mute.Store(p.isSilent)
		p.mu.Unlock()
		go p.ask(l)
		go p.answer(l)
	}
}

// ask passes on what a client sends.
func (p *Proxy) ask(l *link) {
	defer p.over(l)
	buf := make([]byte, 32<<10)
	for {
		n, err := l.client.Read(buf)
		if piece := buf[:n]; !l.mute.Load() {
			verdict := p.judge(piece)
			if verdict == LoseBefore {
				return
			}
			if verdict == LoseAfter {
				l.mute.Store(true)
				l.doomed.Store(true)
			}
			l.wire.sent(piece)
			if _, e := l.server.Write(piece); err == nil {
				err = e
			}
		}
		if err != nil {
			return
		}
	}
}

// commit is how pgx sends it, as a query by itself.
var commit = []byte("commit\x00")

func (p *Proxy) judge(piece []byte) Verdict {
	if !bytes.Contains(piece, commit) {
		return Pass
	}
	n := p.commits.Add(1)
	if judge := p.onCommit.Load(); judge != nil {
		return (*judge)(n)
	}
	return Pass
}

// answer passes on what the server sends.
func (p *Proxy) answer(l *link) {
	buf := make([]byte, 32<<10)
	for {
		n, err := l.server.Read(buf)
		if p.left.Load() > 0 && p.left.Add(-1) == 0 {
			p.Swallow()
		}
		if delay := time.Duration(p.delay.Load()); delay > 0 {
			time.Sleep(delay)
		}
		if !l.mute.Load() {
			l.wire.answered(buf[:n])
			if _, e := l.client.Write(buf[:n]); err == nil {
				err = e
			}
		}
		if l.doomed.Load() || err != nil && (!errors.Is(err, io.EOF) || !l.mute.Load()) {
			p.over(l)
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) over(l *link) {
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// OnCommit has judge decide what becomes of each commit, by its number since the start; nil passes all.
func (p *Proxy) OnCommit(judge func(n int64) Verdict) {
	if judge == nil {
		p.onCommit.Store(nil)
		return
	}
	p.onCommit.Store(&judge)
}

// Delay holds back each piece of what the server sends.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Swallow takes from every connection that there is now whatever is sent, and passes none of it on: nobody hears of an
// error. New connections are good.
func (p *Proxy) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.mute.Store(true)
	}
}

// Silence swallows what goes over all connections, those that come later too, until Speak.
func (p *Proxy) Silence() {
	p.mu.Lock()
	p.isSilent = true
	p.mu.Unlock()
	p.Swallow()
}

// Speak ends Silence: connections that come from now on are good, those of before are closed.
func (p *Proxy) Speak() {
	p.mu.Lock()
	p.isSilent = false
	p.mu.Unlock()
	p.Cut()
}

// SwallowAfter lets the server's first n answers through, and swallows all that goes by the connections that there are then.
func (p *Proxy) SwallowAfter(n int64) { p.left.Store(n) }

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// ByTurns sends every second new connection to another server.
func (p *Proxy) ByTurns(other *Server) { p.byTurns(other.dir) }

// ByTurnsWithPooler sends every second new connection to a pooler.
func (p *Proxy) ByTurnsWithPooler(other *Pooler) { p.byTurns(other.dir) }

func (p *Proxy) byTurns(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.other = socketIn(dir)
}

// Redirect closes every connection; new ones go to another server.
func (p *Proxy) Redirect(to *Server) {
	p.mu.Lock()
	p.socket = socketIn(to.dir)
	p.mu.Unlock()
	p.Cut()
}

func socketIn(dir string) string { return filepath.Join(dir, ".s.PGSQL.5432") }
