package metadata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// outside is a world on loopback: 127.0.0.1 and ::1 play public addresses, the rest of 127.0.0.0/8 private ones.
type outside struct {
	names *nameServer
	// server answers on 127.0.0.1, trap on 127.0.0.2 with the same port; nothing may ever reach the trap.
	mux     *http.ServeMux
	port    uint16
	trapped atomic.Int32
	server  *httptest.Server
}

func public(a netip.Addr) bool {
	return a == netip.MustParseAddr("127.0.0.1") || (!a.IsLoopback() && Public(a))
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	w := &outside{mux: http.NewServeMux(), names: newNameServer(t)}
	for {
		good := listen(t, "127.0.0.1:0")
		w.port = netip.MustParseAddrPort(good.Addr().String()).Port()
		var c net.ListenConfig
		bad, err := c.Listen(t.Context(), "tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), w.port).String())
		if err != nil { // somebody else has that port there
			_ = good.Close()
			continue
		}
		w.server = &httptest.Server{Listener: good, Config: &http.Server{Handler: w.mux}}
		w.server.Start()
		t.Cleanup(w.server.Close)
		countConnections(t, bad, &w.trapped)
		break
	}
	w.names.say("good.test", "127.0.0.1")
	w.names.say("bad.test", "127.0.0.2")
	return w
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func countConnections(t *testing.T, l net.Listener, n *atomic.Int32) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

// url is a path at one of the world's hosts.
func (w *outside) url(host, path string) string {
	return "http://" + net.JoinHostPort(host, itoa(int(w.port))) + path
}

func (w *outside) fetcher(t *testing.T, change ...func(*Options)) *Fetcher {
	t.Helper()
	o := Options{
		Now: time.Now, Resolver: w.names.resolver(), AllowAddress: public, Ports: []uint16{w.port},
		IPFS: []string{w.url("good.test", "/gateway")}, Arweave: []string{},
	}
	for _, c := range change {
		c(&o)
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.hosts.pause = 0
	return f
}

// serve answers a path with a body.
func (w *outside) serve(path, body string) {
	w.mux.HandleFunc(path, func(r http.ResponseWriter, _ *http.Request) { _, _ = r.Write([]byte(body)) })
}

// untouched fails the test if anything reached a private address.
func (w *outside) untouched(t *testing.T) {
	t.Helper()
	if n := w.trapped.Load(); n > 0 {
		t.Errorf("%d connections reached a private address", n)
	}
}

// nameServer answers A and AAAA questions over UDP. A name's answers are used one after the other, the last one for good.
type nameServer struct {
	conn net.PacketConn

	mu    sync.Mutex
	names map[string][][]string
	asked map[string]int // questions for A
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	var c net.ListenConfig
	conn, err := c.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, names: map[string][][]string{}, asked: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run()
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// say sets a name's answers: addresses and, with a final dot, names that it is an alias of, separated by spaces.
func (s *nameServer) say(name string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = nil
	for _, a := range answers {
		s.names[name] = append(s.names[name], strings.Fields(a))
	}
}

func (s *nameServer) questions(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func (s *nameServer) run() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		s.answer(&m)
		if out, err := m.Pack(); err == nil {
			_, _ = s.conn.WriteTo(out, from)
		}
	}
}

func (s *nameServer) answer(m *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	list, known := s.names[name]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
		return
	}
	if len(list) == 0 {
		return
	}
	now := list[0]
	if q.Type == dnsmessage.TypeA { // asked along with AAAA: both see the same answer at least once
		if s.asked[name]++; len(list) > 1 {
			s.names[name] = list[1:]
		}
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
	for _, a := range now {
		if strings.HasSuffix(a, ".") {
			alias := dnsmessage.MustNewName(a)
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.CNAMEResource{CNAME: alias}})
			header.Name = alias
			continue
		}
		switch ip := netip.MustParseAddr(a); {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
}

// kindOf is the kind of an error, "" for none. The error's text must have nothing of what is secret in a URL.
func kindOf(t *testing.T, err error) Kind {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("%v has a part of a URL", err)
	}
	return e.Kind
}

// plainPNG is a picture of one colour.
func plainPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{R: 200, A: 255}, color.White})
	return encodePNG(t, m)
}

func encodePNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, m); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
