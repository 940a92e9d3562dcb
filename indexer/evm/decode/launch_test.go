package decode

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// venueContract is where the venues of these tests are, one byte apart, in the order of venueBindings' names.
func venueContract(protocol chainconfig.VenueProtocol) string {
	return "0x00000000000000000000000000000000000f00" + string("0123456789"[slices.Index(chainconfig.VenueProtocols, protocol)]) + "1"
}

// venueDocument is a chain with one venue of each EVM protocol, called by the protocol's name.
func venueDocument(tb testing.TB) *chainconfig.Chain {
	tb.Helper()
	doc := chainDocument(tb, "ethereum")
	for _, p := range chainconfig.VenueProtocols {
		if p.Family() == chainconfig.EVM {
			doc.Venues = append(doc.Venues, chainconfig.Venue{ID: string(p), Protocol: p, Contracts: markettest.Addresses(venueContract(p))})
		}
	}
	return doc
}

func decoderOf(tb testing.TB, doc *chainconfig.Chain) *Decoder {
	tb.Helper()
	d, err := New(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// text is a string argument of venueLog, as opposed to the hexadecimal digits of a word.
type text string

// venueLog is a log with topics and data given as hexadecimal digits; strings stand behind the words, as Solidity puts them.
func venueLog(tb testing.TB, from string, topic0 [32]byte, topics []string, data ...any) *Log {
	tb.Helper()
	l := testLog(tb, from, topic0, topics, nil)
	var tail []byte
	for _, v := range data {
		w, s := [32]byte{}, ""
		switch v := v.(type) {
		case string:
			w = hexWord(tb, v)
		case text:
			binary.BigEndian.PutUint64(w[24:], uint64(32*len(data)+len(tail)))
			s = abiString(string(v))[32:]
		default:
			tb.Fatalf("%T is no word", v)
		}
		l.Data = append(l.Data, w[:]...)
		tail = append(tail, s...)
	}
	l.Data = append(l.Data, tail...)
	return l
}

const (
	aCurve  = "00000000000000000000000000000000000000e1"
	aTrader = "00000000000000000000000000000000000000e2"
	aMaker  = "00000000000000000000000000000000000000e3"
	theHook = "00000000000000000000000000000000000000e4"
)

type launchCase struct {
	name string
	// protocol is whose contract logs it; empty for a token's own curve.
	protocol chainconfig.VenueProtocol
	log      *Log
	want     market.Event
}

// launchCases are one log or more for each event of each protocol, with all of their words.
func launchCases(tb testing.TB) []launchCase {
	tb.Helper()
	return slices.Concat(boardwalkCases(tb), fourMemeCases(tb), flapCases(tb), ponsCases(tb), nadCases(tb), clankerCases(tb))
}

func TestDecodeLaunch(t *testing.T) {
	t.Parallel()
	d := decoderOf(t, venueDocument(t))
	plain := testDecoder(t, "ethereum")
	for _, tt := range launchCases(t) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := d.Decode(tt.log); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if got := plain.Decode(tt.log); got != nil {
				t.Errorf("without venues it is %+v", got)
			}
			if tt.protocol == "" {
				return
			}
			spoofed := *tt.log
			spoofed.Address[0] ^= 1
			if got := d.Decode(&spoofed); got != nil {
				t.Errorf("from another contract it is %+v", got)
			}
			for _, other := range chainconfig.VenueProtocols {
				if other == tt.protocol || other.Family() != chainconfig.EVM || sameEvents(tt.protocol, other) {
					continue
				}
				copy(spoofed.Address[:], hexAddress(t, venueContract(other)).Bytes())
				if got := d.Decode(&spoofed); got != nil {
					t.Errorf("from a contract of %s it is %+v", other, got)
				}
			}
		})
	}
}

// sameEvents says that two protocols share events, as the two of four.meme do.
func sameEvents(a, b chainconfig.VenueProtocol) bool {
	return strings.HasPrefix(string(a), "FourMeme") && strings.HasPrefix(string(b), "FourMeme")
}

// TestDecodeLaunchDefends bends every golden log in every way that a contract could.
func TestDecodeLaunchDefends(t *testing.T) {
	t.Parallel()
	d := decoderOf(t, venueDocument(t))
	for _, tt := range launchCases(t) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for n := range len(tt.log.Data) {
				short := *tt.log
				short.Data = tt.log.Data[:n]
				checkLaunchEvent(t, d.Decode(&short))
			}
			longer := *tt.log
			longer.Data = append(slices.Clone(tt.log.Data), make([]byte, 64)...)
			if got := d.Decode(&longer); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("with words behind it, it is %+v", got)
			}
			for n := range 5 {
				if n == tt.log.NumTopics {
					continue
				}
				other := *tt.log
				other.NumTopics = n
				if got := d.Decode(&other); got != nil {
					t.Errorf("with %d topics it is %+v", n, got)
				}
			}
			for i := 0; i+32 <= len(tt.log.Data); i += 32 {
				full := *tt.log
				full.Data = slices.Clone(tt.log.Data)
				copy(full.Data[i:], bytes.Repeat([]byte{0xff}, 32))
				checkLaunchEvent(t, d.Decode(&full))
			}
			for i := 1; i < tt.log.NumTopics; i++ {
				dirty := *tt.log
				dirty.Topics[i] = [32]byte(bytes.Repeat([]byte{0xff}, 32))
				checkLaunchEvent(t, d.Decode(&dirty))
			}
		})
	}
}

// TestDecodeLaunchBounds are logs with the largest values that are believed.
func TestDecodeLaunchBounds(t *testing.T) {
	t.Parallel()
	d := decoderOf(t, venueDocument(t))
	own := venueContract(chainconfig.BoardwalkCurve)
	most := strings.Repeat("f", 32) // 2^128 - 1
	trade, ok := d.Decode(venueLog(t, own, topicBoardwalkTrade, []string{tokenA, aTrader}, "01", most, "64", "01", "05", "04", "03", "02")).(market.CurveTrade)
	if !ok || trade.BaseAmount.BitLen() != 128 || !trade.Sell {
		t.Errorf("a sale of 2^128 - 1 is %+v", trade)
	}
	launch, ok := d.Decode(venueLog(t, own, topicBoardwalkLaunched, []string{tokenA, aMaker}, text("N"), text("S"), text("M"), "00", "05", "04", "03",
		"02", "2710")).(market.Launched)
	if !ok || launch.FeeBps != 10_000 {
		t.Errorf("a launch whose curve takes everything as its fee is %+v", launch)
	}
	whole, ok := d.Decode(venueLog(t, own, topicBoardwalkTrade, []string{tokenA, aTrader}, "00", "0a", "64", "64", "05", "04", "03", "02")).(market.CurveTrade)
	if !ok || !whole.Raised.IsZero() || whole.QuoteAmount != number(100) {
		t.Errorf("a buy that is all fee is %+v", whole)
	}
}

// TestDecodeLaunchRefuses are logs whose words contradict each other.
func TestDecodeLaunchRefuses(t *testing.T) {
	t.Parallel()
	const huge = "0100000000000000000000000000000000" // 2^128
	own, nad := venueContract(chainconfig.BoardwalkCurve), venueContract(chainconfig.NadFun)
	four, flap := venueContract(chainconfig.FourMemeV2), venueContract(chainconfig.Flap)
	tests := []struct {
		name string
		log  *Log
	}{
		{"a launch of no token", venueLog(t, own, topicBoardwalkLaunched, []string{"00", aMaker}, text("N"), text("S"), text("M"), "00",
			"05", "04", "03", "02", "01")},
		{"a fee beyond the whole", venueLog(t, own, topicBoardwalkLaunched, []string{tokenA, aMaker}, text("N"), text("S"), text("M"), "00",
			"05", "04", "03", "02", "2711")},
		{"a fee beyond 64 bits", venueLog(t, own, topicBoardwalkLaunched, []string{tokenA, aMaker}, text("N"), text("S"), text("M"), "00",
			"05", "04", "03", "02", "010000000000000000")},
		{"a quote that is no address", venueLog(t, own, topicBoardwalkLaunched, []string{tokenA, aMaker}, text("N"), text("S"), text("M"),
			"01"+tokenB, "05", "04", "03", "02", "01")},
		{"more than anybody has", venueLog(t, own, topicBoardwalkTrade, []string{tokenA, aTrader}, "00", huge, "64", "01", "05", "04", "03",
			"02")},
		{"neither buy nor sell", venueLog(t, own, topicBoardwalkTrade, []string{tokenA, aTrader}, "02", "0a", "64", "01", "05", "04", "03",
			"02")},
		{"a fee that is more than was paid", venueLog(t, own, topicBoardwalkTrade, []string{tokenA, aTrader}, "00", "0a", "64", "65", "05",
			"04", "03", "02")},
		{"a sale's fee that is more than it costs", venueLog(t, four, topicFourSale, nil, tokenA, aTrader, "09", "0a", "63", "64", "05",
			"04")},
		{"a tax that is more than was paid", venueLog(t, "0x"+aCurve, topicPonsBuy, []string{aMaker, aTrader}, "64", "0a", "32", "33")},
		{"a target above what there is", venueLog(t, nad, topicNadCreate, []string{aMaker, tokenA, aCurve}, text("N"), text("S"), text("U"),
			"64", "0a", "0b")},
		{"a pool without an id", venueLog(t, flap, topicFlapPool, nil, tokenA, "00", "05")},
		{"a curve parameter beyond belief", venueLog(t, flap, topicFlapCurve, nil, tokenA, "01", "02", huge)},
		{"a curve at no address", venueLog(t, venueContract(chainconfig.PonsV2), topicPonsLaunched, []string{tokenA, "00", aMaker}, "00",
			"01", "64")},
		{"a V4 pool without an id", venueLog(t, venueContract(chainconfig.ClankerV4), topicClankerV4Created, []string{tokenA, aMaker},
			aTrader, text("I"), text("N"), text("S"), text("M"), text("C"), "07", theHook, "00", "00", "00", "00", "00", "0220")},
	}
	d := decoderOf(t, venueDocument(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := d.Decode(tt.log); got != nil {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

func TestLaunchText(t *testing.T) {
	t.Parallel()
	const words = 9 // of a BoardwalkCurve launch
	far := strings.Repeat("f", 64)
	tests := []struct {
		name string
		// offset is the word of the string, at what stands at byte 32*words of the data.
		offset, at           string
		wantName, wantMetaOf string
	}{
		{"an offset beyond the end", far, abiWord(2) + "hi", "", ""},
		{"an offset of 2^64-1", "ffffffffffffffff", abiWord(2) + "hi", "", ""},
		{"an offset to the very end", "0142", abiWord(2) + "hi", "", ""},
		{"an offset that leaves 31 bytes", "0123", abiWord(2) + "hi", "", ""},
		{"a length beyond the end", "0120", abiWord(3) + "hi", "", ""},
		{"a length beyond 64 bits", "0120", strings.Repeat("\xff", 32) + "hi", "", ""},
		{"a length of 2^64-1", "0120", strings.Repeat("\x00", 24) + strings.Repeat("\xff", 8) + "hi", "", ""},
		{"no padding", "0120", abiWord(2) + "hi", "hi", "hi"},
		{"an offset into the words, where the length is nought", "60", "", "", ""},
		{"control characters and bad UTF-8", "0120", abiWord(9) + "a\x00\xffb\n\x1bc\x7f ", "ab c", "abc"},
		{"markup and other scripts stay", "0120", abiWord(17) + "<b>柴犬🐕</b>", "<b>柴犬🐕</b>", "<b>柴犬🐕</b>"},
		{"a long text", "0120", abiWord(8192) + strings.Repeat("z", 8192), strings.Repeat("z", chain.MaxText), strings.Repeat("z", 8192)},
		{"a text that is too long to lead anywhere", "0120", abiWord(8193) + strings.Repeat("z", 8193), strings.Repeat("z", chain.MaxText), ""},
		{"a megabyte", "0120", abiWord(1<<20) + strings.Repeat("é", 1<<19), strings.Repeat("é", chain.MaxText/2), ""},
	}
	d := decoderOf(t, venueDocument(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := venueLog(t, venueContract(chainconfig.BoardwalkCurve), topicBoardwalkLaunched, []string{tokenA, aMaker},
				tt.offset, tt.offset, tt.offset, "00", "05", "04", "03", "02", "01")
			if len(l.Data) != 32*words {
				t.Fatalf("%d bytes of words", len(l.Data))
			}
			l.Data = append(l.Data, tt.at...)
			e, ok := d.Decode(l).(market.Launched)
			if !ok || e.Token != hexAddress(t, "0x"+tokenA) {
				t.Fatalf("it is %+v", e)
			}
			if e.Name != tt.wantName || e.Symbol != tt.wantName || e.Metadata != tt.wantMetaOf {
				t.Errorf("name %.40q, symbol %.40q, metadata %.40q of %d bytes; want %.40q and %.40q", e.Name, e.Symbol, e.Metadata,
					len(e.Metadata), tt.wantName, tt.wantMetaOf)
			}
		})
	}
}

func TestVenueBindings(t *testing.T) {
	t.Parallel()
	for _, p := range chainconfig.VenueProtocols {
		if _, ok := venueBindings[p]; ok != (p.Family() == chainconfig.EVM) {
			t.Errorf("%s is of %s, and has a decoder: %v", p, p.Family(), ok)
		}
	}
	log := venueLog(t, aPool, topicBoardwalkCompleted, []string{tokenA}, "07")
	other := venueLog(t, anybody, topicBoardwalkCompleted, []string{tokenA}, "07")
	named := func(v string, l *Log) market.Event {
		return market.CurveCompleted{Venue: v, Curve: Address(l.Address), Token: hexAddress(t, "0x"+tokenA)}
	}
	tests := []struct {
		name              string
		venues            []chainconfig.Venue
		wantLog, wantElse market.Event
	}{
		{"no venue", nil, nil, nil},
		{"a venue without contracts", []chainconfig.Venue{{ID: "a", Protocol: chainconfig.BoardwalkCurve}}, nil, nil},
		{"a venue with two contracts", []chainconfig.Venue{
			{ID: "a", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(aPool, anybody)},
		}, named("a", log), named("a", other)},
		{"two venues of one protocol", []chainconfig.Venue{
			{ID: "a", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(anybody)},
			{ID: "b", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(aPool)},
		}, named("b", log), named("a", other)},
		{"two venues that declare one contract", []chainconfig.Venue{
			{ID: "z", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(aPool)},
			{ID: "a", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(aPool, anybody)},
		}, named("z", log), named("a", other)},
		{"two protocols at one contract", []chainconfig.Venue{
			{ID: "a", Protocol: chainconfig.NadFun, Contracts: markettest.Addresses(aPool)},
			{ID: "b", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(aPool)},
		}, named("b", log), nil},
		{"another protocol", []chainconfig.Venue{{ID: "a", Protocol: chainconfig.Flap, Contracts: markettest.Addresses(aPool)}}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := chainDocument(t, "ethereum")
			doc.Venues = tt.venues
			d := decoderOf(t, doc)
			if got := d.Decode(log); !reflect.DeepEqual(got, tt.wantLog) {
				t.Errorf("from %s: %+v, want %+v", aPool, got, tt.wantLog)
			}
			if got := d.Decode(other); !reflect.DeepEqual(got, tt.wantElse) {
				t.Errorf("from %s: %+v, want %+v", anybody, got, tt.wantElse)
			}
		})
	}
}

// FuzzDecodeLaunch gives the venues' decoders topics and data at random. None may panic, and what comes out keeps what
// derivation and the store rely on.
func FuzzDecodeLaunch(f *testing.F) {
	d := decoderOf(f, venueDocument(f))
	cases := launchCases(f)
	for i, c := range cases {
		f.Add(uint8(i), uint8(c.log.NumTopics), bytes.Join([][]byte{c.log.Topics[1][:], c.log.Topics[2][:], c.log.Topics[3][:]}, nil), c.log.Data)
		f.Add(uint8(i), uint8(c.log.NumTopics), []byte{}, bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 32}, 80))
	}
	f.Fuzz(func(t *testing.T, which, n uint8, indexed, data []byte) {
		c := cases[int(which)%len(cases)]
		l := &Log{Address: c.log.Address, NumTopics: int(n % 5), Data: data}
		l.Topics[0] = c.log.Topics[0]
		for i := 1; i < len(l.Topics) && len(indexed) >= 32; i++ {
			copy(l.Topics[i][:], indexed)
			indexed = indexed[32:]
		}
		e := d.Decode(l)
		checkLaunchEvent(t, e)
		if got := reflect.TypeOf(e); e != nil && got != reflect.TypeOf(c.want) {
			t.Fatalf("%s gave a %s", c.name, got)
		}
	})
}

// checkLaunchEvent holds a venue's event, or nil, to what everything after the decoder relies on.
func checkLaunchEvent(t *testing.T, e market.Event) {
	t.Helper()
	token := func(venue string, curve, token market.Address) {
		if own := venue == ""; own != token.IsNone() || token.IsNative() || (own && curve.IsNone()) {
			t.Fatalf("%+v is about no token", e)
		}
	}
	amounts := func(list ...market.Amount) {
		for i := range list {
			if list[i].BitLen() > maxLaunchAmountBits+2 {
				t.Fatalf("%+v has an amount of %d bits", e, list[i].BitLen())
			}
		}
	}
	state := func(s market.CurveReserves) {
		amounts(s.VirtualBase, s.VirtualQuote, s.RealBase, s.RealQuote)
	}
	switch e := e.(type) {
	case nil:
	case market.Launched:
		token(e.Venue, e.Curve, e.Token)
		amounts(e.SaleBase)
		state(e.Reserves)
		words := map[string]int{e.Name: chain.MaxText, e.Symbol: chain.MaxText}
		for _, s := range []string{e.Metadata, e.Image} {
			if _, also := words[s]; !also {
				words[s] = chain.MaxReference
			}
		}
		for s, limit := range words {
			if len(s) > limit || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || s != strings.TrimSpace(s) {
				t.Fatalf("%+v has the text %.80q", e, s)
			}
		}
		if e.Hooks.IsNative() || e.Pool.IsNative() || e.FeeBps > 10_000 || e.Curve.IsNone() != (e.Rules == market.CurveRules{}) {
			t.Fatalf("%+v is no launch", e)
		}
	case market.CurveTrade:
		token(e.Venue, e.Curve, e.Token)
		amounts(e.BaseAmount, e.QuoteAmount, e.Raised)
		state(e.After)
	case market.CurveSet:
		token(e.Venue, e.Curve, e.Token)
		amounts(e.SaleBase, e.TargetQuote)
		state(e.State)
	case market.CurveCompleted:
		token(e.Venue, e.Curve, e.Token)
	case market.Graduated:
		token(e.Venue, e.Curve, e.Token)
		if e.Pool.IsNative() {
			t.Fatalf("%+v went nowhere", e)
		}
	default:
		t.Fatalf("%T from a venue", e)
	}
}
