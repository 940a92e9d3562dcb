package solana

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/digest"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// lie is a change of a node's answers.
type lie = func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal)

// nodesOf are a world's nodes, one for each lie; nil is an honest one's.
func nodesOf(t *testing.T, w *solanatest.World, lies ...lie) []*solanatest.Node {
	t.Helper()
	var out []*solanatest.Node
	for _, f := range lies {
		n := solanatest.NewNode(t)
		n.Serve(w.Blocks)
		n.Lie(f)
		out = append(out, n)
	}
	return out
}

// sourceOf reads from nodes, by a clock that starts at 1,800,000,000 and is moved by hand.
func sourceOf(t *testing.T, nodes ...*solanatest.Node) (s *Source, clock *atomic.Int64) {
	t.Helper()
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL)
	}
	return sourceAt(t, urls...)
}

func sourceAt(t *testing.T, urls ...string) (s *Source, clock *atomic.Int64) {
	t.Helper()
	clock = new(atomic.Int64)
	c := &chainconfig.Chain{ID: "solana", Family: chainconfig.Solana, GenesisHash: solanatest.Genesis}
	for _, url := range urls {
		c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: url, Weight: 1})
	}
	s, err := NewSource(c, Options{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(1_800_000_000+clock.Load(), 0) }, RereadPause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, clock
}

func newWorld(blocks int) *solanatest.World {
	w := solanatest.NewWorld(11)
	w.Grow(blocks)
	return w
}

// inBlocks changes the answers to getBlock.
func inBlocks(change func(block map[string]any)) lie {
	return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if block, ok := result.(map[string]any); ok && method == "getBlock" {
			change(block)
		}
		return result, nil
	}
}

// TestMadeUpHash: a block under a hash that its giver made up isn't taken where two endpoints have another one there.
func TestMadeUpHash(t *testing.T) {
	w := newWorld(20)
	forged := market.Hash{0xbb}
	nodes := nodesOf(t, w, inBlocks(func(b map[string]any) { b["blockhash"] = base58.Encode(forged[:]) }), nil, nil)
	s, _ := sourceOf(t, nodes...)
	last := w.Blocks[len(w.Blocks)-1].Number
	r, err := s.blockOn(t.Context(), s.pool.List[0], last)
	if err != nil || r.Hash != forged {
		t.Fatal(r.Hash, err)
	}
	b := chain.BlockRead{Block: r.Block.Block, Word: &word{by: r.by, digest: digest.Block(&r.Block.Block)}}
	if changed, err := s.Agree(t.Context(), chain.Header{Header: r.Header}, &b); changed || !errors.Is(err, rpc.ErrUnanswered) || b.Agreed {
		t.Errorf("changed %v, agreed %v, error %v", changed, b.Agreed, err)
	}
	if got, err := s.block(t.Context(), last); err != nil || got.Hash != w.Blocks[len(w.Blocks)-1].Hash {
		t.Errorf("then the block is %v, error %v; want the one that two have", got.Hash, err)
	}
}

// TestForkedEndpointOfThePast: an endpoint whose blocks follow others doesn't stop what is read of the past.
func TestForkedEndpointOfThePast(t *testing.T) {
	w := newWorld(100)
	for name, change := range map[string]func(b map[string]any){
		"other parents": func(b map[string]any) { b["previousBlockhash"] = base58.Encode(make([]byte, 32)) },
		"other hashes":  func(b map[string]any) { b["blockhash"] = base58.Encode(append(make([]byte, 31), 7)) },
	} {
		s, _ := sourceOf(t, nodesOf(t, w, inBlocks(change), nil, nil)...)
		parent, last := w.Blocks[0].Header, w.Blocks[len(w.Blocks)-1].Number
		for try := 0; parent.Number < last; try++ {
			for b, err := range s.Backfill(t.Context(), parent, parent.Number+1, last) {
				if err == nil {
					parent = b.Last.Header
				} else if try == 10 {
					t.Fatalf("%s: at block %d: %v", name, parent.Number, err)
				}
			}
		}
		if parent.Hash != w.Blocks[len(w.Blocks)-1].Hash {
			t.Errorf("%s: the past ends with %s", name, parent.Hash)
		}
	}
}

func isMissing(err error) bool {
	_, ok := errors.AsType[*chain.RangeMissingError](err)
	return ok && errors.Is(err, rpc.ErrUnanswered)
}

// TestRereadOfAPastThatIsGone: where no endpoint tells of a batch's slots any more, or not of all, the batch stays and the error says so.
func TestRereadOfAPastThatIsGone(t *testing.T) {
	w := newWorld(30)
	for name, left := range map[string]int{"nothing": 0, "a part": 5} {
		short := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if list, ok := result.([]uint64); ok && method == "getBlocks" {
				return list[:min(left, len(list))], nil
			}
			return result, nil
		}
		nodes := nodesOf(t, w, nil)
		s, _ := sourceOf(t, nodes...)
		first := w.Blocks[0].Header
		for b, err := range s.Backfill(t.Context(), first, first.Number+1, w.Blocks[len(w.Blocks)-1].Number) {
			if err != nil {
				t.Fatal(err)
			}
			nodes[0].Lie(short)
			s.outvoted(s.pool.List[0])
			was := len(b.Blocks)
			if err := s.RereadPast(t.Context(), first, &b); !isMissing(err) || len(b.Blocks) != was {
				t.Errorf("%s: error %v, %d blocks of %d", name, err, len(b.Blocks), was)
			}
			break
		}
	}
}

// TestGapBelowASnapshot: a node that began anew from a snapshot lists the snapshot's slot, whose block it lacks, and no slot of the gap below. The range that is missing
// begins above the last block that was read.
func TestGapBelowASnapshot(t *testing.T) {
	w := newWorld(40)
	last, snapshot := w.Blocks[14].Header, w.Blocks[19].Number
	lacks := func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if slots, ok := result.([]uint64); ok && method == "getBlocks" {
			return slices.DeleteFunc(slices.Clone(slots), func(slot uint64) bool { return slot > last.Number && slot < snapshot }), nil
		}
		if method == "getBlock" && string(params[0]) == strconv.FormatUint(snapshot, 10) {
			return nil, nil
		}
		return result, nil
	}
	s, _ := sourceOf(t, nodesOf(t, w, lacks)...)
	for name, of := range map[string]struct {
		parent      market.Header
		first, want uint64
	}{
		"from the beginning": {w.Blocks[0].Header, w.Blocks[0].Number + 1, last.Number + 1},
		"right below":        {last, last.Number + 1, last.Number + 1},
		"with no block yet":  {market.Header{}, snapshot, snapshot},
	} {
		read, gaps := of.parent, 0
		for b, err := range s.Backfill(t.Context(), of.parent, of.first, w.Blocks[39].Number) {
			if err == nil {
				read = b.Last.Header
				continue
			}
			gaps++
			if gap, ok := errors.AsType[*chain.RangeMissingError](err); !ok || gap.First != of.want || gap.Last != snapshot {
				t.Errorf("%s: %v; slots %d to %d are missing", name, err, of.want, snapshot)
			}
		}
		if gaps != 1 || of.first != snapshot && read.Hash != last.Hash {
			t.Errorf("%s: %d gaps; blocks are read up to %d, and the last one before the gap is %d", name, gaps, read.Number, last.Number)
		}
	}
}

// TestALongGapOfOneEndpoint: one endpoint lacks more blocks in a row than are looked for one by one, and its lists leave them out. Where another one has them they are read,
// whether the gap is within a list or between two.
func TestALongGapOfOneEndpoint(t *testing.T) {
	w := newWorld(400)
	end := w.Blocks[399].Header
	for _, from := range []int{20, 60, 100, 140} {
		below, first, last := w.Blocks[from-1].Header, w.Blocks[from].Number, w.Blocks[from+3*mostBetween].Number
		lacks := func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
			gone := func(slot uint64) bool { return slot >= first && slot <= last }
			if slots, ok := result.([]uint64); ok && method == "getBlocks" {
				return slices.DeleteFunc(slices.Clone(slots), gone), nil
			}
			if method == "getBlock" {
				if slot, err := strconv.ParseUint(string(params[0]), 10, 64); err != nil || gone(slot) {
					return nil, &solanatest.Refusal{Code: slotSkipped, Message: "Slot was skipped, or missing due to ledger jump to recent snapshot"}
				}
			}
			return result, nil
		}
		for name, c := range map[string]struct {
			lies []lie
			want market.Header
		}{
			"with another":    {[]lie{lacks, nil}, end},
			"behind another":  {[]lie{nil, lacks}, end},
			"without another": {[]lie{lacks, lacks}, below},
		} {
			s, _ := sourceOf(t, nodesOf(t, w, c.lies...)...)
			read := w.Blocks[0].Header
			var blocks int
			var failed error
			for b, err := range s.Backfill(t.Context(), read, read.Number+1, end.Number) {
				if failed = err; err == nil {
					read, blocks = b.Last.Header, blocks+len(b.Blocks)
				}
			}
			gap, isGap := errors.AsType[*chain.RangeMissingError](failed)
			if read != c.want || failed != nil && !isGap || isGap && (gap.First != below.Number+1 || gap.Last != last) || !isGap && blocks != 399 {
				t.Errorf("%s, from slot %d: %d blocks are read, up to %d, want up to %d: %v", name, first, blocks, read.Number, c.want.Number, failed)
			}
		}
	}
}

// TestAListedSlotWithoutABlock: an endpoint lists slots that were skipped. The later blocks say that there is nothing to read.
func TestAListedSlotWithoutABlock(t *testing.T) {
	w := newWorld(80)
	lists := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if slots, ok := result.([]uint64); ok && method == "getBlocks" && len(slots) > 0 {
			var all []uint64
			for slot := slots[0]; slot <= slots[len(slots)-1]; slot++ {
				all = append(all, slot)
			}
			return all, nil
		}
		return result, nil
	}
	s, _ := sourceOf(t, nodesOf(t, w, lists)...)
	read, blocks := w.Blocks[0].Header, 0
	for b, err := range s.Backfill(t.Context(), read, read.Number+1, w.Blocks[79].Number) {
		if err != nil {
			t.Fatal(err)
		}
		read, blocks = b.Last.Header, blocks+len(b.Blocks)
	}
	if read != w.Blocks[79].Header || blocks != 79 {
		t.Errorf("%d blocks are read, up to %d, want 79 up to %d", blocks, read.Number, w.Blocks[79].Number)
	}
}

// TestNoEndlessSearch: a slot that one endpoint has told doesn't have all slots up to it looked through.
func TestNoEndlessSearch(t *testing.T) {
	w := newWorld(3)
	nodes := nodesOf(t, w, nil)
	s, _ := sourceOf(t, nodes...)
	s.pool.List[0].told = 1 << 53
	last := w.Blocks[len(w.Blocks)-1].Header
	if _, err := s.Headers(t.Context(), last, last.Number+1, last.Number+10); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("headers: %v", err)
	}
	if _, err := s.Header(t.Context(), last.Number+1); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("a header: %v", err)
	}
	if n := nodes[0].Asked("getBlocks"); n > 2*(mostProbed/probeSlots+1) {
		t.Errorf("%d calls", n)
	}
}

// TestHalfABlock: a block without its list of transactions isn't one without transactions.
func TestHalfABlock(t *testing.T) {
	w := newWorld(5)
	last := w.Blocks[len(w.Blocks)-1].Number
	for name, change := range map[string]func(b map[string]any){
		"none": func(b map[string]any) { delete(b, "transactions") },
		"null": func(b map[string]any) {
			if b["transactions"] != nil {
				b["transactions"] = nil
			}
		},
	} {
		s, _ := sourceOf(t, nodesOf(t, w, inBlocks(change))...)
		if _, err := s.blockOn(t.Context(), s.pool.List[0], last); !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.headerOn(t.Context(), s.pool.List[0], last); err != nil {
			t.Errorf("%s: its header: %v", name, err)
		}
	}
}

// TestEndpointThatStandsStill: of two endpoints one that stands still holds up the head no longer than it takes to see that, and the other one can't run away.
func TestEndpointThatStandsStill(t *testing.T) {
	w := newWorld(10)
	nodes := nodesOf(t, w, nil, nil)
	s, clock := sourceOf(t, nodes...)
	stuck := w.Blocks[len(w.Blocks)-1].Number
	if h, err := s.Head(t.Context()); err != nil || h.Number != stuck {
		t.Fatalf("the head is %d, error %v", h.Number, err)
	}
	for range 20 {
		w.Grow(5)
		nodes[1].Serve(w.Blocks)
		clock.Add(3)
		_, _ = s.Head(t.Context())
	}
	last := w.Blocks[len(w.Blocks)-1].Number
	for range 5 {
		if h, err := s.Head(t.Context()); err != nil || h.Number != last || h.Reached != last {
			t.Errorf("the head is %d, reached are %d, error %v; want %d", h.Number, h.Reached, err, last)
		}
	}
	far := w.Blocks[len(w.Blocks)-1]
	far.Number += 100_000
	nodes[1].Serve(append(slices.Clone(w.Blocks), far))
	clock.Add(3)
	if h, err := s.Head(t.Context()); err == nil && h.Number > last {
		t.Errorf("one endpoint's word makes the head %d", h.Number)
	}
}

// TestTimeAfterAFork: a block that was read above one of another fork, whose time is later, has its own time again above its parent.
func TestTimeAfterAFork(t *testing.T) {
	w := newWorld(20)
	s, _ := sourceOf(t, nodesOf(t, w, nil)...)
	parent, b := w.Blocks[len(w.Blocks)-2].Header, w.Blocks[len(w.Blocks)-1].Header
	fork := market.Header{Number: parent.Number, Hash: market.Hash{7}, Time: b.Time + 100}
	for _, below := range []market.Header{fork, parent} {
		headers, err := s.Headers(t.Context(), below, b.Number, b.Number)
		if err != nil || len(headers) != 1 {
			t.Fatal(headers, err)
		}
		for r, err := range s.Blocks(t.Context(), headers) {
			if want := max(b.Time, below.Time); err != nil || r.Time != want {
				t.Errorf("above a block of %d the time is %d, want %d; error %v", below.Time, r.Time, want, err)
			}
		}
	}
}

// TestTimeOfAnother: the time of a block that its giver doesn't know, or tells as before the parent's, is what another endpoint tells of the same block.
func TestTimeOfAnother(t *testing.T) {
	w := newWorld(40)
	for what, lies := range map[string][]lie{
		"without a time":    {inBlocks(func(b map[string]any) { b["blockTime"] = nil }), nil},
		"before the parent": {inBlocks(func(b map[string]any) { b["blockTime"] = 1 }), nil},
	} {
		for _, past := range []bool{true, false} {
			s, _ := sourceOf(t, nodesOf(t, w, lies...)...)
			first, last := w.Blocks[0].Header, w.Blocks[len(w.Blocks)-1]
			var got []market.Header
			if past {
				for b, err := range s.Backfill(t.Context(), first, first.Number+1, last.Number) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, b.Last.Header)
				}
			} else {
				headers, err := s.Headers(t.Context(), w.Blocks[len(w.Blocks)-5].Header, w.Blocks[len(w.Blocks)-4].Number, last.Number)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range headers {
					got = append(got, h.Header)
				}
			}
			for _, h := range got {
				k := slices.IndexFunc(w.Blocks, func(b solanatest.Made) bool { return b.Number == h.Number })
				if want := w.Blocks[k].Time; h.Time != want {
					t.Errorf("%s: block %d is of %d, want %d", what, h.Number, h.Time, want)
				}
			}
		}
	}
}

// TestLongDescriptions: of an account only so much is read as a token needs; what is cut off of its description isn't missed.
func TestLongDescriptions(t *testing.T) {
	w := newWorld(3)
	nodes := nodesOf(t, w, nil)
	long := solanatest.Mint(6, 1_000)
	text := func(s string) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...) }
	described := slices.Concat(make([]byte, 64), text("Long"), text("LNG"), text("https://example.com"), make([]byte, 60_000))
	long.Owner = layout.Token2022Program.String()
	long.Data = slices.Concat(long.Data, make([]byte, layout.AccountTypeAt-82), []byte{1}, binary.LittleEndian.AppendUint16(nil, layout.TokenMetadata),
		binary.LittleEndian.AppendUint16(nil, uint16(len(described))), described)
	token := solanatest.Name("a long token")
	nodes[0].SetAccount(token, long)
	s, _ := sourceOf(t, nodes...)
	mint, err := market.ParseSolanaAddress(token)
	if err != nil {
		t.Fatal(err)
	}
	last := w.Blocks[len(w.Blocks)-1].Header
	facts, _, err := s.Accounts().TokenFacts(t.Context(), chain.Ref{Number: last.Number, Hash: last.Hash}, []market.Address{mint})
	if err != nil || facts[0].Name != "Long" || facts[0].Symbol != "LNG" || facts[0].URI != "https://example.com" || facts[0].Decimals != 6 {
		t.Errorf("%+v, error %v", facts, err)
	}
	if told, err := s.pool.List[0].accountsOn(t.Context(), []market.Address{mint}, 0); err != nil || len(told[0].Data) != layout.MostRead {
		t.Errorf("%d bytes of the account are read, error %v", len(told[0].Data), err)
	}
	if _, _, err := s.Accounts().TokenFacts(t.Context(), chain.Ref{Number: last.Number + 1}, []market.Address{mint}); !lacks(err) {
		t.Errorf("a node that isn't at the block yet: %v", err)
	}
}

// TestURIOfTwo: a URI that one of two endpoints alone tells is unsure, as a name is; of three the one counts that two tell.
func TestURIOfTwo(t *testing.T) {
	w := newWorld(3)
	text := func(s string) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...) }
	mint, err := market.ParseSolanaAddress(solanatest.USDC)
	if err != nil {
		t.Fatal(err)
	}
	const honest, lie = "https://honest.example/m.json", "https://lie.example/m.json"
	for name, tt := range map[string]struct {
		uris   []string
		uri    string
		unsure bool
	}{
		"one":                     {[]string{lie}, lie, false},
		"two alike":               {[]string{honest, honest}, honest, false},
		"two that differ":         {[]string{lie, honest}, lie, true},
		"three with a lie first":  {[]string{lie, honest, honest}, honest, false},
		"three with a lie second": {[]string{honest, lie, honest}, honest, false},
		"three that differ":       {[]string{honest, lie, ""}, honest, true},
	} {
		var nodes []*solanatest.Node
		for _, uri := range tt.uris {
			n := solanatest.NewNode(t)
			n.ServeWorld(w)
			n.SetAccount(layout.MetadataOf(mint).String(), solanatest.Account{
				Owner: layout.MetadataProgram.String(), Data: slices.Concat([]byte{4}, make([]byte, 64), text("USD Coin"), text("USDC"), text(uri+string(make([]byte, 200-len(uri))))),
			})
			nodes = append(nodes, n)
		}
		s, _ := sourceOf(t, nodes...)
		last := w.Blocks[len(w.Blocks)-1].Header
		facts, unsure, err := s.Accounts().TokenFacts(t.Context(), chain.Ref{Number: last.Number, Hash: last.Hash}, []market.Address{mint})
		if err != nil || facts[0].Name != "USD Coin" || facts[0].URI != tt.uri || unsure[0] != tt.unsure {
			t.Errorf("%s: %+v, unsure: %v, error %v", name, facts, unsure, err)
		}
	}
}

// TestCreatorsBalance is the sum of the creator's accounts, as of the slot of that answer, whatever slot the token's account was told of. Where a node lists none, or
// what can't be, the rest of the token is told all the same.
func TestCreatorsBalance(t *testing.T) {
	w := newWorld(3)
	token, creator := solanatest.Name("a token"), solanatest.Name("its creator")
	refuses := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == "getTokenAccountsByOwner" {
			return nil, &solanatest.Refusal{Code: -32010, Message: "excluded from account secondary indexes"}
		}
		return result, nil
	}
	// of has the node tell the creator's accounts as of a slot.
	of := func(slot uint64) lie {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if m, ok := result.(map[string]any); ok && method == "getTokenAccountsByOwner" {
				m["context"] = map[string]any{"slot": slot}
			}
			return result, nil
		}
	}
	mint, err := market.ParseSolanaAddress(token)
	if err != nil {
		t.Fatal(err)
	}
	who, err := market.ParseSolanaAddress(creator)
	if err != nil {
		t.Fatal(err)
	}
	head := w.Blocks[len(w.Blocks)-1].Number
	for name, c := range map[string]struct {
		lie

		second uint64 // what the second of the creator's accounts has
		knows  bool
		has    uint64
		slot   uint64
	}{
		"listed": {nil, 2, true, 42, head}, "as of a later slot": {of(head + 3), 2, true, 42, head + 3}, "as of an earlier slot": {of(head - 1), 2, true, 42, head - 1},
		"as of no slot": {of(0), 2, false, 0, 0}, "not listed": {refuses, 2, false, 0, 0},
		"as much as can be": {nil, math.MaxUint64 - 40, true, math.MaxUint64, head}, "more than can be": {nil, math.MaxUint64 - 39, false, 0, 0},
	} {
		nodes := nodesOf(t, w, c.lie)
		nodes[0].SetAccount(token, solanatest.Mint(6, 1000))
		nodes[0].SetAccount("one", solanatest.TokenAccount(token, creator, 40))
		nodes[0].SetAccount("another", solanatest.TokenAccount(token, creator, c.second))
		nodes[0].SetAccount("somebody's", solanatest.TokenAccount(token, token, 5))
		s, _ := sourceOf(t, nodes...)
		got, err := s.Accounts().Token(t.Context(), mint, who)
		if err != nil || !got.Exists || got.Supply != 1000 || got.Slot != head || got.KnowsCreator != c.knows || got.CreatorHas != c.has || got.CreatorSlot != c.slot {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}
