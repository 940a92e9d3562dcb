package dbserver

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
)

// Done is a statement that PostgreSQL has completed.
type Done struct {
	// Program is the connection's application_name.
	Program string
	// Text is the statement's beginning, as the client sent it.
	Text string
	// Verb and Rows are those of the command's tag, as in "SELECT 5"; Rows is 0 where the tag has none.
	Verb string
	Rows int64
}

// OnDone tells of each statement that the server completes on connections that begin from now on; several goroutines call it.
func (p *Proxy) OnDone(tell func(Done)) { p.onDone.Store(&tell) }

const (
	// textKept is how much of a statement is kept, in bytes, and messageKept of a message.
	textKept    = 2 << 10
	messageKept = 4 << 10
	// sslRequest and gssRequest are what a client asks before it says who it is (PostgreSQL's manual, 54.7).
	sslRequest, gssRequest = 80877103, 80877104
)

// wire follows one connection's messages: which statements are under way, and what came of them.
type wire struct {
	tell func(Done)

	mu      sync.Mutex
	program string
	asked   messages
	given   messages
	// prepared are the texts of prepared statements by name, bound those of portals.
	prepared, bound map[string]string
	open            []statement
}

// statement is one that the server has to complete. In place of one, end marks where a group of them ends: there the server says that it
// is ready.
type statement struct {
	text   string
	simple bool // a simple query may have several tags
	end    bool
}

func newWire(tell func(Done)) *wire {
	w := &wire{tell: tell, prepared: map[string]string{}, bound: map[string]string{}}
	w.asked = messages{untyped: true, take: w.ask}
	w.given = messages{take: w.give}
	return w
}

// sent takes in what the client sent.
func (w *wire) sent(piece []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked.read(piece)
}

// answered takes in what the server sent.
func (w *wire) answered(piece []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	done := w.completed(piece)
	w.mu.Unlock()
	for _, d := range done {
		w.tell(d)
	}
}

func (w *wire) completed(piece []byte) (done []Done) {
	w.given.done = &done
	w.given.read(piece)
	return done
}

// ask takes a message of the client's.
func (w *wire) ask(kind byte, body []byte, _ *[]Done) {
	first, rest := text(body)
	switch kind {
	case 0:
		w.begin(body)
	case 'P':
		query, _ := text(rest)
		w.prepared[first] = query
	case 'B':
		name, _ := text(rest)
		w.bound[first] = w.prepared[name]
	case 'E':
		w.open = append(w.open, statement{text: w.bound[first]})
	case 'Q':
		w.open = append(w.open, statement{text: first, simple: true}, statement{end: true})
	case 'S':
		w.open = append(w.open, statement{end: true})
	}
}

// begin takes the first message, which has no kind.
func (w *wire) begin(body []byte) {
	if len(body) < 4 {
		return
	}
	if code := binary.BigEndian.Uint32(body); code == sslRequest || code == gssRequest {
		w.given.skip = 1 // the server answers with a letter
		w.asked.untyped = true
		return
	}
	for rest := body[4:]; len(rest) > 0; {
		var name, value string
		name, rest = text(rest)
		if value, rest = text(rest); name == "application_name" {
			w.program = value
		}
	}
}

// give takes a message of the server's.
func (w *wire) give(kind byte, body []byte, done *[]Done) {
	switch kind {
	case 'C':
		if len(w.open) == 0 || w.open[0].end {
			return
		}
		tag, _ := text(body)
		d := Done{Program: w.program, Text: w.open[0].text}
		words := strings.Fields(tag)
		if len(words) > 0 {
			d.Verb = words[0]
			d.Rows, _ = strconv.ParseInt(words[len(words)-1], 10, 64)
		}
		*done = append(*done, d)
		w.next()
	case 'I', 's':
		w.next()
	case 'Z':
		for len(w.open) > 0 {
			end := w.open[0].end
			w.open = w.open[1:]
			if end {
				return
			}
		}
	}
}

func (w *wire) next() {
	if len(w.open) > 0 && !w.open[0].end && !w.open[0].simple {
		w.open = w.open[1:]
	}
}

// text is what stands before a zero byte, cut to textKept.
func text(b []byte) (s string, rest []byte) {
	head, rest, _ := bytes.Cut(b, []byte{0})
	return string(head[:min(len(head), textKept)]), rest
}

// messages parts a stream into messages: a kind, a length that counts itself, and a body, of which the beginning is kept.
type messages struct {
	take    func(kind byte, body []byte, done *[]Done)
	done    *[]Done
	untyped bool // the next message has no kind
	skip    int  // bytes that are no message
	head    []byte
	body    []byte
	left    int // of the body, not read yet
	in      bool
}

func (m *messages) read(piece []byte) {
	for len(piece) > 0 {
		if m.skip > 0 {
			n := min(m.skip, len(piece))
			m.skip, piece = m.skip-n, piece[n:]
			continue
		}
		if !m.in {
			want := 5
			if m.untyped {
				want = 4
			}
			n := min(want-len(m.head), len(piece))
			m.head, piece = append(m.head, piece[:n]...), piece[n:]
			if len(m.head) < want {
				return
			}
			m.in, m.body = true, m.body[:0]
			m.left = max(int(binary.BigEndian.Uint32(m.head[want-4:]))-4, 0)
		}
		n := min(m.left, len(piece))
		m.body = append(m.body, piece[:min(n, max(messageKept-len(m.body), 0))]...)
		m.left, piece = m.left-n, piece[n:]
		if m.left == 0 {
			m.end()
		}
	}
}

func (m *messages) end() {
	kind := byte(0)
	if !m.untyped {
		kind = m.head[0]
	}
	m.in, m.untyped, m.head = false, false, m.head[:0]
	m.take(kind, m.body, m.done)
}
