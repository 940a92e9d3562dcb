package template

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// drawnCards are all cards in all states that the golden images show.
func drawnCards(tb testing.TB) map[string]sharecard.Card {
	tb.Helper()
	return map[string]sharecard.Card{
		"token-normal":   normalToken(tb),
		"token-unknown":  &sharecard.Token{Asset: sharecard.Asset{Mint: wif, Chain: "Solana", Symbol: "WIF", Name: "dogwifhat"}},
		"token-hostile":  hostileToken(tb),
		"token-rtl":      rtlToken(),
		"token-huge":     hugeToken(tb),
		"launch-normal":  normalLaunch(tb),
		"launch-unknown": unknownLaunch(),
		"launch-hostile": hostileLaunch(),
		"launch-rtl":     rtlLaunch(),
		"launch-huge":    hugeLaunch(),
		"trader-normal":  normalTrader(tb),
		"trader-unknown": &sharecard.Trader{Wallet: wallet, Chains: []string{"Base"}},
		"trader-hostile": hostileTrader(),
		"trader-rtl":     rtlTrader(),
		"trader-huge":    hugeTrader(),
	}
}

const (
	wif     = "EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm"
	base    = "0x4ed4E862860beD51a9570b96d89aF5E1B0Efefed"
	wallet  = "0x28C6c06298d514Db089934071355E5743bf21d60"
	traded  = 1_763_820_300 // 22 Nov 2025, 14:05 UTC
	bidi    = "\u202eDSU\u202c\u2066\u2067\u200f"
	invisib = "\u200b\u2060\ufeff\u3164\u00ad"
)

// hostileName is 256 bytes of markup, controls and floods without a place to break.
var hostileName = bounded(bidi + `<script>alert(1)</script><img/src=x/onerror=alert(1)>` + invisib + "\x00\x1b[31m" +
	"Z" + strings.Repeat("\u0351\u0316\u0489", 12) + "a" + strings.Repeat("\u0310", 20) + strings.Repeat("W🚀", 20))

// flood is accents without end on letters that never break.
var flood = bounded(strings.Repeat("Z\u0351\u0316\u0310\u031a\u0342\u0489ALGOﷺ\U0001242b", 12))

func bounded(s string) string {
	s = s[:min(len(s), sharecard.MaxText)]
	return strings.ToValidUTF8(s, "")
}

// wave is a made-up course: a trend with a few swings, the same at every run.
func wave(points int, from, to, swing float64) []float64 {
	out := make([]float64, points)
	for i := range out {
		x := float64(i) / float64(points-1)
		bend := x * x * (3 - 2*x)
		noise := math.Sin(9*x)*0.5 + math.Sin(23*x+1)*0.3 + math.Sin(61*x+2)*0.14 + math.Sin(131*x)*0.07
		out[i] = from + (to-from)*bend + swing*noise*(1-0.5*x)
	}
	out[points-1] = to
	return out
}

// portrait is a picture of two colours, so that a wrong crop shows.
func portrait(tb testing.TB, width, height int, ground, disc color.Color) image.Image {
	tb.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	radius := min(width, height) * 3 / 10
	for y := range height {
		for x := range width {
			c := ground
			if dx, dy := x-width/2, y-height/2; dx*dx+dy*dy < radius*radius {
				c = disc
			}
			m.Set(x, y, c)
		}
	}
	return m
}

func asPNG(tb testing.TB, m image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(tb testing.TB, m image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

var (
	orange = color.RGBA{0xf2, 0xa6, 0x5a, 0xff}
	brown  = color.RGBA{0x6b, 0x3a, 0x1e, 0xff}
	blue   = color.RGBA{0x35, 0x5c, 0xb5, 0xff}
	mint   = color.RGBA{0xb8, 0xe6, 0xcf, 0xff}
	plum   = color.RGBA{0x6a, 0x2c, 0x5d, 0xff}
	yellow = color.RGBA{0xf7, 0xe0, 0x7c, 0xff}
)

func faces(tb testing.TB) [][]byte {
	tb.Helper()
	return [][]byte{
		asPNG(tb, portrait(tb, 96, 96, blue, mint)),
		asJPEG(tb, portrait(tb, 200, 120, plum, yellow)),
		asPNG(tb, portrait(tb, 44, 44, mint, plum)),
		asJPEG(tb, portrait(tb, 120, 200, brown, orange)),
	}
}

func normalToken(tb testing.TB) *sharecard.Token {
	tb.Helper()
	return &sharecard.Token{
		Asset: sharecard.Asset{
			Mint: wif, Chain: "Solana", Symbol: "WIF", Name: "dogwifhat",
			Picture: asPNG(tb, portrait(tb, 400, 300, orange, brown)),
		},
		PriceUSD: new(2.4187), Change24hPct: new(12.37), LiquidityUSD: new(8_412_903.0), Pools: new(14),
		Volume24hUSD: new(146_203_440.0), MarketCapUSD: new(2_416_000_000.0),
		Members: &sharecard.Members{Count: 37, Faces: faces(tb)},
		Day:     wave(288, 2.1525, 2.4187, 0.14), PricedAt: traded,
	}
}

func hostileToken(tb testing.TB) *sharecard.Token {
	tb.Helper()
	return &sharecard.Token{
		Asset: sharecard.Asset{
			Mint: strings.Repeat(`"><b>`, 20), Chain: bounded(strings.Repeat("</p>Chain", 20)), Symbol: hostileName, Name: hostileName,
			Picture: []byte("\x89PNG no picture"),
		},
		PriceUSD: new(0.000001234), Change24hPct: new(-41.2), LiquidityUSD: new(12_400.0), Pools: new(1),
		Volume24hUSD: new(99_950.0), MarketCapUSD: new(999_950.0),
		Members: &sharecard.Members{Count: 3, Faces: [][]byte{[]byte("no face"), asJPEG(tb, portrait(tb, 90, 90, blue, yellow))}},
		Day:     wave(288, 0.0000021, 0.000001234, 0.0000002), PricedAt: traded,
	}
}

func rtlToken() *sharecard.Token {
	return &sharecard.Token{
		Asset:    sharecard.Asset{Mint: base, Chain: "Base", Symbol: "جمل", Name: "عملة الجمل الذهبي (Golden Camel) الرسمية"},
		PriceUSD: new(0.01234), Change24hPct: new(3.2), LiquidityUSD: new(412_000.0), Pools: new(2),
		Volume24hUSD: new(38_120.0), MarketCapUSD: new(12_340_000.0),
		Members: &sharecard.Members{Count: 0},
		Day:     wave(288, 0.01196, 0.01234, 0.0004), PricedAt: traded,
	}
}

func hugeToken(tb testing.TB) *sharecard.Token {
	tb.Helper()
	return &sharecard.Token{
		Asset:    sharecard.Asset{Mint: base, Chain: "BNB Smart Chain", Symbol: "東京猫コイン", Name: "東京猫コイン世界一の猫"},
		PriceUSD: new(9.87654e30), Change24hPct: new(1.234e21), LiquidityUSD: new(1e30), Pools: new(1_234_567),
		Volume24hUSD: new(math.MaxFloat64), MarketCapUSD: new(1e30),
		Members: &sharecard.Members{Count: math.MaxInt32, Faces: append(faces(tb), faces(tb)[:2]...)},
		Day:     []float64{0, 1, 1e300, math.MaxFloat64}, PricedAt: traded,
	}
}

func normalLaunch(tb testing.TB) *sharecard.Launch {
	tb.Helper()
	return &sharecard.Launch{
		Asset: sharecard.Asset{
			Mint: "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump", Chain: "Solana", Symbol: "TIDE", Name: "High Tide Society",
			Picture: asJPEG(tb, portrait(tb, 640, 640, blue, yellow)),
		},
		Venue: "pump.fun", Stage: sharecard.StageCurve,
		Curve:    &sharecard.Curve{ProgressPct: 73.46, Basis: "tokens_sold", Raised: "41.2 SOL", Target: "85 SOL"},
		PriceUSD: new(0.00004871), Change24hPct: new(218.4), MarketCapUSD: new(48_710.0), Volume24hUSD: new(126_000.0),
		CreatedAt: traded - 11_520, AgeS: 11_520, Holders: new(1_204), GatePass: true,
		Creator: "4Nd1mYdUQuN8sYUzrAhZ4wYyZZZqR1g8TPvgW6tC9eXx", CreatorHandle: "mara",
	}
}

func unknownLaunch() *sharecard.Launch {
	return &sharecard.Launch{
		Asset: sharecard.Asset{Mint: base, Chain: "Base", Symbol: "PIER"}, Venue: "Boardwalk Launch", Own: true,
		Stage: sharecard.StageCurve, Creator: wallet,
	}
}

func hostileLaunch() *sharecard.Launch {
	return &sharecard.Launch{
		Asset: sharecard.Asset{Mint: base, Chain: "Base", Symbol: strings.Repeat("🚀", 40), Name: hostileName},
		Venue: hostileName, Own: true, Stage: sharecard.StageCurve,
		Curve:    &sharecard.Curve{ProgressPct: 99.97, Basis: "funds_raised", Raised: hostileName, Target: hostileName},
		PriceUSD: new(0.000000000001234), Change24hPct: new(-99.97), MarketCapUSD: new(1234.0),
		CreatedAt: traded, AgeS: 42, Holders: new(7),
		GateFails: []string{"holders", hostileName, "trust", "age"}, Creator: strings.Repeat("W", 100), CreatorHandle: hostileName,
	}
}

func rtlLaunch() *sharecard.Launch {
	return &sharecard.Launch{
		Asset: sharecard.Asset{Mint: base, Chain: "Base", Symbol: "שקל", Name: "מטבע החוף של תל אביב"},
		Venue: "Boardwalk Launch", Own: true, Stage: sharecard.StageGraduated,
		LiquidityUSD: new(182_400.0), PriceUSD: new(0.0004213), Change24hPct: new(-8.4), MarketCapUSD: new(421_300.0),
		CreatedAt: traded, AgeS: 442_800, Holders: new(3_871), GateFails: []string{"volume", "buyers"},
		Creator: wallet, CreatorHandle: "مريم",
		Day: wave(288, 0.00046, 0.0004213, 0.00004),
	}
}

func hugeLaunch() *sharecard.Launch {
	return &sharecard.Launch{
		Asset: sharecard.Asset{Mint: base, Chain: "Robinhood Chain", Symbol: "GIGAMEGAULTRACOIN", Name: "क्रिप्टो สกุลเงินดิจิทัล 가상화폐"},
		Venue: "four.meme", Stage: sharecard.StageLive,
		LiquidityUSD: new(1e30), PriceUSD: new(104_234.12), Change24hPct: new(1e300), MarketCapUSD: new(1e30),
		CreatedAt: 1, AgeS: math.MaxInt32, Holders: new(math.MaxInt32), GatePass: true, Creator: wallet,
		Day: []float64{5, 5, 5},
	}
}

func normalTrader(tb testing.TB) *sharecard.Trader {
	tb.Helper()
	return &sharecard.Trader{
		Wallet: wallet, Handle: "mara", Face: asPNG(tb, portrait(tb, 300, 500, plum, orange)), Chains: []string{"Base", "Solana"},
		Day:  sharecard.Profit{RealisedUSD: new(-842.19), RealisedPct: new(-4.1), NetUSD: new(-861.02), Sells: 9, Wins: 3},
		Week: sharecard.Profit{RealisedUSD: new(12_431.4), RealisedPct: new(34.2), NetUSD: new(12_104.9), Sells: 50, Wins: 31, ExcludedUSD: 1_204},
		Best: &sharecard.Best{Symbol: "WIF", Chain: "Solana", PnLUSD: 4_210.5, PnLPct: new(320.4)},
		Line: profits(), LastTradeAt: traded,
	}
}

// profits go below zero first.
func profits() []float64 {
	line := wave(168, 0, 12_431.4, 3_600)
	for i := range 60 {
		line[i] -= 4_400 * math.Sin(math.Pi*float64(i)/60)
		line[i] *= math.Sqrt(float64(i) / 60)
	}
	return line
}

func hostileTrader() *sharecard.Trader {
	return &sharecard.Trader{
		Wallet: strings.Repeat("<b>", 40), Handle: flood, Face: []byte{0xff, 0xd8, 0xff}, Chains: []string{hostileName, hostileName, "c", "d"},
		Day:  sharecard.Profit{RealisedUSD: new(0.0), NetUSD: new(-0.004), Sells: 1},
		Week: sharecard.Profit{RealisedUSD: new(-0.001), RealisedPct: new(-0.001), Sells: 3, Wins: 1, ExcludedUSD: 0.001},
		Best: &sharecard.Best{Symbol: hostileName, Chain: hostileName, PnLUSD: -12, PnLPct: new(-100.0)},
		Line: []float64{0, 0, 0, 0}, LastTradeAt: traded,
	}
}

func rtlTrader() *sharecard.Trader {
	return &sharecard.Trader{
		Wallet: wallet, Handle: "نورة_المتداولة", Chains: []string{"Base", "Ethereum", "Solana", "Avalanche"},
		Day:  sharecard.Profit{RealisedUSD: new(318.2), RealisedPct: new(12.0), NetUSD: new(311.0), Sells: 2, Wins: 2},
		Week: sharecard.Profit{RealisedUSD: new(-1_930.0), RealisedPct: new(-18.3), NetUSD: new(-1_977.0), Sells: 12, Wins: 5},
		Best: &sharecard.Best{Symbol: "جمل", Chain: "Base", PnLUSD: 402, PnLPct: new(41.0)},
		Line: wave(168, 0, -1930, 500), LastTradeAt: traded,
	}
}

func hugeTrader() *sharecard.Trader {
	return &sharecard.Trader{
		Wallet: wallet, Chains: []string{"Ethereum"},
		Day:  sharecard.Profit{RealisedUSD: new(-99_999.4), RealisedPct: new(1e21), NetUSD: new(-1e30), Sells: math.MaxInt32, Wins: 1},
		Week: sharecard.Profit{RealisedUSD: new(1e30), RealisedPct: new(-1e30), NetUSD: new(1e30), Sells: math.MaxInt32, Wins: math.MaxInt32, ExcludedUSD: 1e30},
		Best: &sharecard.Best{Symbol: "Ракета🚀🌕", Chain: "Ethereum", PnLUSD: 1e30, PnLPct: new(1e30)},
		Line: []float64{-math.MaxFloat64, math.MaxFloat64}, LastTradeAt: traded,
	}
}
