package search

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

var benchTokens = flag.Int("search.tokens", 1_000_000, "tokens in the benchmarks' index")

// crowd makes up tokens as launchpads see them: tickers by Zipf's law with tens of thousands of clones of the most
// popular, names of one to four words, several scripts, most without any liquidity.
type crowd struct {
	rng     *rand.Rand
	stems   []string
	popular []Token
	rank    *rand.Zipf
	stem    *rand.Zipf
}

var (
	memes = strings.Fields(`pepe inu coin doge elon trump moon cat ai baby shiba token wojak chad floki bonk frog king
		dog musk grok mog wif hat rocket safe gold dao x pump meme bull bear ape sol eth base bitcoin world official
		america based giga brett turbo popcat mochi neiro fart dark maga melania kamala tate zero one the of to on
		with my in space mars agent gpt quantum finance protocol swap game rich lambo whale diamond hands green`)
	han    = []rune("柴犬币狗猫蛙马龙金钱发财月亮火箭特朗普中国人生大小天下第一神仙老虎熊猫佩佩青牛市万倍梦想爱我你他世界和平")
	hangul = []rune("도지코인김치떡상가즈아비트한국강아지고양이")
	kana   = []rune("しばいぬコインねこドージだんご")
	cyr    = []rune("абвгдежзиклмнопрстуфхцчшыэюя")
	emoji  = []rune("🐸🐶🚀🔥💎🙌🌕😂🤖👑🐱💰")
)

func newCrowd(seed uint64) *crowd {
	c := &crowd{rng: rand.New(rand.NewPCG(seed, 1))}
	c.stems = slices.Clone(memes)
	for range 250_000 {
		c.stems = append(c.stems, c.coined())
	}
	c.stem = rand.NewZipf(c.rng, 1.05, 8, uint64(len(c.stems)-1))
	for range 20_000 {
		c.popular = append(c.popular, c.original())
	}
	for i, w := range memes {
		c.popular[i].Symbol, c.popular[i].Name = strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:]
	}
	c.rank = rand.NewZipf(c.rng, 1.1, 4, uint64(len(c.popular)-1))
	return c
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func (c *crowd) coined() string {
	onsets := strings.Fields("b bl br c ch cr d dr f fl g gr h j k kl l m n p ph pl r s sh sk st t th tr v w z")
	nuclei := strings.Fields("a e i o u oo ee ai ou ay io")
	codas := []string{"", "", "", "n", "r", "s", "t", "x", "ck", "ng", "rd", "mp", "zz"}
	var w strings.Builder
	for range 1 + c.rng.IntN(3) {
		w.WriteString(pick(c.rng, onsets) + pick(c.rng, nuclei) + pick(c.rng, codas))
	}
	return w.String()
}

func (c *crowd) foreign(letters []rune, least, most int) string {
	var w strings.Builder
	for range least + c.rng.IntN(most-least+1) {
		w.WriteRune(pick(c.rng, letters))
	}
	return w.String()
}

func (c *crowd) original() Token {
	switch p := c.rng.IntN(100); {
	case p < 7:
		name := c.foreign(han, 2, 6)
		return Token{Name: name, Symbol: name[:min(len(name), 12)]}
	case p < 9:
		name := c.foreign(hangul, 2, 5)
		return Token{Name: name, Symbol: name}
	case p < 10:
		name := c.foreign(kana, 2, 6)
		return Token{Name: name, Symbol: name}
	case p < 12:
		name := c.foreign(cyr, 4, 9)
		return Token{Name: name, Symbol: name}
	case p < 15:
		w := c.word()
		return Token{Name: c.foreign(emoji, 1, 3) + " " + w, Symbol: strings.ToUpper(w)}
	}
	words := make([]string, []int{1, 1, 1, 2, 2, 2, 2, 3, 3, 4}[c.rng.IntN(10)])
	for i := range words {
		words[i] = c.word()
	}
	var symbol string
	switch c.rng.IntN(4) {
	case 0:
		symbol = words[0]
	case 1:
		symbol = strings.Join(words, "")
		symbol = symbol[:min(len(symbol), 10)]
	case 2:
		var w strings.Builder
		for _, word := range words {
			w.WriteString(word[:min(len(word), 3)])
		}
		symbol = w.String()
	default:
		symbol = words[len(words)-1]
	}
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return Token{Name: strings.Join(words, " "), Symbol: strings.ToUpper(symbol)}
}

func (c *crowd) word() string { return c.stems[c.stem.Uint64()] }

func (c *crowd) token() Token {
	var t Token
	switch c.rng.IntN(10) {
	case 0, 1: // a clone in everything
		t = c.popular[c.rank.Uint64()]
	case 2: // a clone of the ticker under another name
		t = c.original()
		t.Symbol = c.popular[c.rank.Uint64()].Symbol
	default:
		t = c.original()
	}
	t.Chain, t.Mint = pick(c.rng, []string{"solana", "solana-2"}), market.SolanaAddress(drawn(c.rng))
	if c.rng.IntN(2) == 0 {
		t.Chain, t.Mint = pick(c.rng, []string{"base", "bsc", "ethereum", "robinhood"}), market.EVMAddress(drawn(c.rng))
	}
	if c.rng.IntN(10) < 6 {
		t.LiquidityUSD = math.Exp(c.rng.NormFloat64()*2 + 7)
	}
	return t
}

func drawn(rng *rand.Rand) (b [32]byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type built struct {
	index   *Index
	crowd   *crowd
	bytes   float64
	took    time.Duration
	sampled []Token
}

// million is the index that the benchmarks share; building it takes a while.
var million = sync.OnceValue(func() *built {
	b := &built{index: New(), crowd: newCrowd(1)}
	before := heap()
	batch := make([]Token, 0, 500)
	for n := 0; n < *benchTokens; n += cap(batch) {
		batch = batch[:0]
		for len(batch) < cap(batch) {
			batch = append(batch, b.crowd.token())
		}
		start := time.Now()
		b.index.Put(batch)
		b.took += time.Since(start)
		if n%(50*cap(batch)) == 0 {
			b.sampled = append(b.sampled, batch...)
		}
	}
	b.bytes = float64(heap()-before) / float64(b.index.Len())
	return b
})

func typo(rng *rand.Rand, s string) string {
	r := []rune(s)
	i := rng.IntN(len(r))
	switch rng.IntN(4) {
	case 0:
		return string(slices.Delete(r, i, i+1))
	case 1:
		return string(slices.Insert(r, i, 'q'))
	case 2:
		r[i] = 'z'
	default:
		if i > 0 {
			r[i], r[i-1] = r[i-1], r[i]
		}
	}
	return string(r)
}

func queries() map[string][]string {
	b := million()
	rng := rand.New(rand.NewPCG(7, 7))
	out := map[string][]string{
		"common": {"inu", "coin", "pepe", "doge", "ai", "the", "cat", "trump", "baby doge", "elon"},
		"nohits": {"qqqq", "xqzxqz", "zzzzzzzz", "ωωωωω", "wxyq vvkq"},
	}
	for r := 'a'; r <= 'z'; r++ {
		out["letter"] = append(out["letter"], string(r))
	}
	out["letter"] = append(out["letter"], "柴", "🐸", "도", "а", "$", "1")
	for range 2000 {
		t := pick(rng, b.sampled)
		out["address"] = append(out["address"], t.Mint.String())
		out["ticker"] = append(out["ticker"], "$"+t.Symbol)
		out["name"] = append(out["name"], t.Name)
		if r := []rune(t.Name); len(r) > 2 {
			out["prefix"] = append(out["prefix"], string(r[:2+rng.IntN(len(r)-2)]))
		}
		if r := []rune(normalise(t.Name)); len(r) > 4 {
			out["typo"] = append(out["typo"], typo(rng, string(r)))
			from := 1 + rng.IntN(len(r)-4)
			out["middle"] = append(out["middle"], string(r[from:from+3+rng.IntN(len(r)-from-2)]))
		}
	}
	for range 200 {
		// Made of the most frequent trigrams, and beginning as nothing does.
		words := []string{"qx"}
		for len(strings.Join(words, " ")) < 20+rng.IntN(80) {
			words = append(words, pick(rng, memes)+pick(rng, []string{"", "", "q"}))
		}
		out["hostile"] = append(out["hostile"], strings.Join(words, " "))
		out["mutated"] = append(out["mutated"], "q"+pick(rng, memes)+pick(rng, memes))
		out["pair"] = append(out["pair"], pick(rng, memes)+" "+pick(rng, memes)+"q")
	}
	return out
}

func BenchmarkSearch(b *testing.B) {
	x := million().index
	all := queries()
	kinds := []string{
		"address", "ticker", "name", "prefix", "common", "letter", "middle", "typo", "mutated", "pair", "nohits", "hostile",
	}
	for _, kind := range kinds {
		qs := all[kind]
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			// Per query the best of five: what the query costs, not what else the machine does.
			took := make([]time.Duration, len(qs))
			worst, found := 0, 0
			for i, q := range qs {
				took[i] = math.MaxInt64
				for range 5 {
					start := time.Now()
					hits := x.Search(q, 30)
					took[i] = min(took[i], time.Since(start))
					found += len(hits)
				}
				if took[i] > took[worst] {
					worst = i
				}
			}
			slowest := fmt.Sprintf("%v: %.60q", took[worst], qs[worst])
			for i := 0; b.Loop(); i++ {
				x.Search(qs[i%len(qs)], 30)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
			b.ReportMetric(float64(found)/float64(5*len(qs)), "hits/op")
			if testing.Verbose() {
				b.Log("slowest", slowest)
			}
		})
	}
}

// BenchmarkSearchBesideWrites is what a search takes, waiting included, while liquidity is put without a pause.
func BenchmarkSearchBesideWrites(b *testing.B) {
	m := million()
	qs := queries()["ticker"]
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		rng := rand.New(rand.NewPCG(5, 5))
		for {
			select {
			case <-done:
				return
			default:
				m.index.Put(m.revalued(rng))
			}
		}
	})
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		m.index.Search(qs[i%len(qs)], 30)
		took = append(took, time.Since(start))
	}
	close(done)
	writer.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// revalued is 500 tokens of the index with another liquidity.
func (m *built) revalued(rng *rand.Rand) []Token {
	batch := make([]Token, 500)
	for i := range batch {
		j := rng.IntN(len(m.sampled))
		m.sampled[j].LiquidityUSD = math.Exp(rng.NormFloat64()*2 + 7)
		batch[i] = m.sampled[j]
	}
	return batch
}

func BenchmarkBuild(b *testing.B) {
	m := million()
	for b.Loop() {
		_ = m.index.Len() // nothing to repeat: the index is built once
	}
	chunks, runs := 0, 0
	for _, bl := range m.index.posts.blocks {
		chunks += len(bl.chunks)
		for _, c := range bl.chunks {
			runs += len(c.runs)
		}
	}
	b.ReportMetric(float64(runs), "runs")
	b.ReportMetric(m.bytes, "bytes/token")
	b.ReportMetric(float64(m.took)/float64(m.index.Len()), "ns/token")
	b.Logf("%d tokens, %d spans, %d chunks", m.index.Len(), len(m.index.words.spans), chunks)
}

func BenchmarkPutLiquidity(b *testing.B) {
	m := million()
	rng := rand.New(rand.NewPCG(3, 3))
	for b.Loop() {
		b.StopTimer()
		batch := m.revalued(rng)
		b.StartTimer()
		m.index.Put(batch)
	}
}

func BenchmarkPutSame(b *testing.B) {
	m := million()
	batch := m.sampled[:500]
	for b.Loop() {
		m.index.Put(batch)
	}
}

func BenchmarkPutNew(b *testing.B) {
	m := million()
	batch := make([]Token, 500)
	for b.Loop() {
		b.StopTimer()
		for _, t := range batch {
			m.index.Remove(t.Chain, t.Mint)
		}
		for i := range batch {
			batch[i] = m.crowd.token()
		}
		b.StartTimer()
		m.index.Put(batch)
	}
}
