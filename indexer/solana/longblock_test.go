package solana

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
)

// longAnswers is a node whose answers to getBlock have so many bytes more than another's, in a field that means nothing.
type longAnswers struct {
	node   *solanatest.Node
	longer int64
	// gzipped has the node compress, told has it say how long its answer is.
	gzipped, told bool
	// sent is how many bytes of the last answer to getBlock the reader took, before they were compressed.
	sent atomic.Int64
}

func (n *longAnswers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, n.node.URL, bytes.NewReader(body))
	if err != nil {
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	head, tail, isBlock := bytes.Cut(answer, []byte(`"result":{`))
	if !isBlock || !bytes.Contains(body, []byte(`"getBlock"`)) {
		_, _ = w.Write(answer)
		return
	}
	head, tail = slices.Concat(head, []byte(`"result":{"more":"`)), slices.Concat([]byte(`",`), tail)
	if n.told {
		w.Header().Set("Content-Length", strconv.FormatInt(int64(len(head)+len(tail))+n.longer, 10))
	}
	var to io.Writer = w
	if n.gzipped {
		w.Header().Set("Content-Encoding", "gzip")
		packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		defer func() { _ = packed.Close() }()
		to = packed
	}
	n.sent.Store(0)
	more := io.LimitReader(endless(bytes.Repeat([]byte("x"), 64<<10)), n.longer)
	for _, part := range []io.Reader{bytes.NewReader(head), more, bytes.NewReader(tail)} {
		sent, err := io.Copy(to, part)
		n.sent.Add(sent)
		if err != nil {
			return // the reader has closed the connection
		}
	}
}

// endless is a text again and again.
type endless []byte

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// TestABlockOf200MB: an answer to getBlock of 200 MB is refused when 160 MiB of it are read, compressed or not, and at once where its length is told. The block is read
// from the next endpoint. What all answers take together stays within its bound, and is given back.
func TestABlockOf200MB(t *testing.T) {
	w := newWorld(5)
	slot := w.Blocks[3].Number
	for name, n := range map[string]*longAnswers{
		"without a length": {longer: 200_000_000}, "with its length": {longer: 200_000_000, told: true}, "compressed": {longer: 200_000_000, gzipped: true},
	} {
		honest := nodesOf(t, w, nil)[0]
		n.node = honest
		server := httptest.NewServer(n)
		t.Cleanup(server.Close)
		s, _ := sourceAt(t, server.URL)
		used, peak, reads := int64(0), int64(0), s.pool.List[0].Reads
		reads.Watch = func(bytes int64) { used, peak = bytes, max(peak, bytes) }
		most := reads.Limit + reads.Whole + 1
		if n.told {
			most = rpc.FirstPiece // nothing of it is read
		}
		if _, err := s.fetch(t.Context(), slot, s.blockOn); !errors.Is(err, rpc.ErrTooLong) {
			t.Errorf("%s: error %v, want %v", name, err, rpc.ErrTooLong)
		}
		if peak > most || peak == 0 || used != 0 {
			t.Errorf("%s: up to %d bytes were in use, want at most %d; %d are still", name, peak, most, used)
		}
		if !n.told {
			continue
		}
		s, _ = sourceAt(t, server.URL, honest.URL)
		if got, err := s.fetch(t.Context(), slot, s.blockOn); err != nil || got.Hash != w.Blocks[3].Hash {
			t.Errorf("%s: from two endpoints: block %s, error %v", name, got.Hash, err)
		}
	}
}

// TestTheLongestBlock: a block as long as the longest answer that is read is read, and one that is a byte longer is not. The bound is lowered for it.
func TestTheLongestBlock(t *testing.T) {
	const whole = 1 << 20
	w := newWorld(5)
	slot := w.Blocks[3].Number
	n := &longAnswers{node: nodesOf(t, w, nil)[0], longer: 1}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	s, _ := sourceAt(t, server.URL)
	reads := s.pool.List[0].Reads
	reads.Limit, reads.Most, reads.Whole = whole/2, whole/4, whole
	used := int64(0)
	reads.Watch = func(bytes int64) { used = bytes }
	if _, err := s.fetch(t.Context(), slot, s.blockOn); err != nil {
		t.Fatal(err)
	}
	n.longer += whole - n.sent.Load() // the rest is as long for every block of the slot
	for _, gzipped := range []bool{false, true} {
		n.gzipped = gzipped
		got, err := s.fetch(t.Context(), slot, s.blockOn)
		if err != nil || got.Hash != w.Blocks[3].Hash || got.bytes != whole {
			t.Errorf("compressed %t: an answer of %d bytes: %v", gzipped, got.bytes, err)
		}
		n.longer++
		if _, err := s.fetch(t.Context(), slot, s.blockOn); !errors.Is(err, rpc.ErrTooLong) {
			t.Errorf("compressed %t: a byte more: %v", gzipped, err)
		}
		n.longer--
	}
	if used != 0 {
		t.Errorf("%d bytes are still in use", used)
	}
}
