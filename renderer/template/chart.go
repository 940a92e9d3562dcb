package template

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/figure"
)

// Size of the band of planks across a card, in pixels.
const (
	bandWidth = 1088
	gap       = 5  // between planks
	headroom  = 10 // above the line, for half its width and the dot at its end
	footing   = 16 // the lowest plank's height below a price
	unlaid    = 40 // the height of planks of which nothing is known
	dotInset  = 10 // of the line's end, so that its dot stays inside
)

// How many planks a band has: one for each hour of a day, for six hours of a week, for 4 % of a curve.
const (
	dayPlanks   = 24
	weekPlanks  = 28
	curvePlanks = 25
)

// calmest is the least span of a price chart as a share of its price: a stablecoin's day is drawn as a calm one.
const calmest = 0.005

// look of a band.
type bandLook string

const (
	bandUnknown bandLook = "unknown" // a row of short planks and Note
	bandPrice   bandLook = "price"   // planks below a line
	bandProfit  bandLook = "profit"  // planks between a line and zero
	bandCurve   bandLook = "curve"   // planks laid along a rising curve, Done of them
)

// band is the drawing across a card. Paths are those of SVG, in pixels.
type band struct {
	Look   bandLook
	Width  int
	Height int
	Dir    figure.Direction
	Planks string // the planks' outline
	Gaps   string // what is cut out between them
	Line   string
	DotX   string
	DotY   string
	Level  string // y of the first price, or of no profit
	Above  string // height of where the line is one of gain
	Lost   string // y of where the line is one of loss
	Below  string // height of what is below it
	Done   string // width of what is laid
	Note   string
}

// point is a place in a band.
type point struct{ x, y float64 }

// priceBand draws the prices of a day. dir is the day's move where it is known.
func priceBand(prices []float64, dir figure.Direction, height int) band {
	if len(prices) < 2 {
		return unknownBand("The last day’s price is not known yet", dayPlanks, height)
	}
	values, most := scaled(prices)
	low, high := extent(values)
	if least := calmest * math.Abs(high); high-low < least {
		middle := (high + low) / 2
		low, high = middle-least/2, middle+least/2
	}
	if most == 0 {
		low, high = -1, 1
	}
	line := plot(values, low, high, headroom, float64(height-footing))
	b := band{Look: bandPrice, Width: bandWidth, Height: height, Dir: dir, Level: pixels(line[0].y)}
	b.draw(line, float64(height), dayPlanks)
	return b
}

// profitBand draws profit summed over a week, around a line for none.
func profitBand(profits []float64, height int) band {
	if len(profits) < 2 {
		return unknownBand("The last 7 days’ profit is not known yet", weekPlanks, height)
	}
	values, most := scaled(profits)
	low, high := extent(append([]float64{0}, values...))
	if most == 0 {
		low, high = -1, 1
	}
	const margin = headroom
	line := plot(values, low, high, margin, float64(height-margin))
	zero := plot([]float64{0, 0}, low, high, margin, float64(height-margin))[0].y
	_, dir := figure.Profit(profits[len(profits)-1])
	// Half a stroke on both sides of zero is neither gain nor loss: a line along it has the colour of none.
	const neutral = 2.5
	b := band{
		Look: bandProfit, Width: bandWidth, Height: height, Dir: dir,
		Level: pixels(zero), Above: pixels(zero + headroom - neutral), Lost: pixels(zero + neutral), Below: pixels(float64(height) - zero),
	}
	if most == 0 { // neither gain nor loss
		b.Above, b.Below = "0", "0"
	}
	b.draw(line, zero, weekPlanks)
	return b
}

// curveBand lays planks along a bonding curve: done per cent of its width. nil is unknown, and none is laid.
func curveBand(done *float64, height int) band {
	b := band{Look: bandCurve, Width: bandWidth, Height: height, Done: "0"}
	if done != nil {
		b.Done = pixels(bandWidth * *done / 100)
	}
	const steepness = 2.2
	var planks strings.Builder
	for i := range curvePlanks {
		left, right := edges(i, curvePlanks)
		rise := math.Pow(float64(i)/(curvePlanks-1), steepness)
		tall := 2*footing + math.Round(float64(height-2*footing)*rise)
		fmt.Fprintf(&planks, "M%d %dh%dv%dh-%dz", left, height, right-left, -int(tall), right-left)
	}
	b.Planks = planks.String()
	return b
}

// edges of a plank, on whole pixels, else each would have another blur.
func edges(i, planks int) (left, right int) {
	pitch := float64(bandWidth+gap) / float64(planks)
	return int(math.Round(pitch * float64(i))), int(math.Round(pitch*float64(i+1))) - gap
}

// unknownBand is what stands for a drawing of which nothing is known.
func unknownBand(note string, planks, height int) band {
	return band{
		Look: bandUnknown, Width: bandWidth, Height: height, Note: note, Dir: figure.Flat,
		Planks: fmt.Sprintf("M0 %dH%dV%dH0Z", height-unlaid, bandWidth, height),
		Gaps:   gaps(planks, height),
	}
}

func (b *band) draw(line []point, base float64, planks int) {
	end := line[len(line)-1]
	b.DotX, b.DotY = pixels(end.x), pixels(end.y)
	b.Line = path(line)
	b.Planks = closed(line, base)
	b.Gaps = gaps(planks, b.Height)
}

// scaled divides values by the largest one, so that no difference of two overflows.
func scaled(values []float64) (out []float64, most float64) {
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	out = make([]float64, len(values))
	if most > 0 {
		for i, v := range values {
			out[i] = v / most
		}
	}
	return out, most
}

func extent(values []float64) (low, high float64) {
	low, high = values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// plot spreads values over the band's width, low at the height bottom and high at top.
func plot(values []float64, low, high, top, bottom float64) []point {
	line := make([]point, len(values))
	for i, v := range values {
		line[i] = point{
			x: (bandWidth - dotInset) * float64(i) / float64(len(values)-1),
			y: bottom - (bottom-top)*(v-low)/(high-low),
		}
	}
	return line
}

func path(line []point) string {
	out := make([]byte, 0, 12*len(line))
	for i, p := range line {
		command := byte('L')
		if i == 0 {
			command = 'M'
		}
		out = append(appendPixels(append(out, command), p.x), ' ')
		out = appendPixels(out, p.y)
	}
	return string(out)
}

// closed is the area between a line and a base. Its right edge is the band's, that the last plank is a whole one.
func closed(line []point, base float64) string {
	last := line[len(line)-1]
	return fmt.Sprintf("%sL%d %sV%sH0Z", path(line), bandWidth, pixels(last.y), pixels(base))
}

func gaps(planks, height int) string {
	var b strings.Builder
	for i := range planks - 1 {
		_, right := edges(i, planks)
		fmt.Fprintf(&b, "M%d 0h%dv%dh-%dz", right, gap, height, gap)
	}
	return b.String()
}

// pixels writes a length to a tenth.
func pixels(x float64) string { return string(appendPixels(nil, x)) }

func appendPixels(to []byte, x float64) []byte {
	return bytes.TrimSuffix(strconv.AppendFloat(to, x, 'f', 1, 64), []byte(".0"))
}
