package template

import (
	"strconv"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
)

// head is the line on top: who or what the card is about.
type head struct {
	Badge badge
	Title name
	Size  textSize
	Tag   *tag // the launch venue
	// Facts stand below the title; the first, the token's name, gives way where space is short.
	Facts []name
}

// tag is a framed label; Own ones are filled.
type tag struct {
	Text name
	Own  bool
}

// hero is one of the two big figures. Unknown says why there is none.
type hero struct {
	Label   string
	Note    name // beside the label
	Text    string
	Dir     figure.Direction
	Size    textSize
	Unknown string
	Move    *moved
	// Below is a second line; nil has none.
	Below []string
}

// moved is a change in per cent beside a figure.
type moved struct {
	Text string
	Dir  figure.Direction
}

// stat is one of the figures at the foot.
type stat struct {
	Label   string
	Note    name
	Prefix  string
	Value   name
	More    string // behind the value, smaller
	Dir     figure.Direction
	Mark    mark
	Faces   []badge
	Unknown string
	Wide    bool // may take more than its share
}

// mark is a sign before a value.
type mark string

const (
	pass mark = "pass"
	fail mark = "fail"
)

// textSize is a step of the type scale; longer texts take a smaller one, so that figures are never cut.
type textSize string

const (
	sizeXL textSize = "xl"
	sizeL  textSize = "l"
	sizeM  textSize = "m"
	sizeS  textSize = "s"
)

// sizeFor gives the largest step on which a text of at most xl, l or m characters fits.
func sizeFor(text string, xl, l, m int) textSize {
	switch n := utf8.RuneCountInString(text); {
	case n <= xl:
		return sizeXL
	case n <= l:
		return sizeL
	case n <= m:
		return sizeM
	default:
		return sizeS
	}
}

// Why a figure is not there.
const (
	unknown   = "not known yet"
	notPriced = "not priced yet"
)

// name is a stranger's text with its language.
type name struct {
	Text string
	Lang string
}

func named(s string) name {
	text := plain.Text(s)
	return name{Text: text, Lang: plain.Language(text)}
}

// isolated sets a stranger's text apart in a sentence of ours, so that its direction changes nothing around it.
func isolated(s string) string { return "\u2068" + s + "\u2069" }

// text makes a value of a figure of ours, which needs no cleaning.
func text(s string) name { return name{Text: s} }

// usdStat is an amount of money at the foot.
func usdStat(label string, usd *float64) stat {
	s := stat{Label: label, Unknown: unknown}
	if usd != nil {
		if v, ok := figure.USD(*usd); ok {
			s.Value, s.Unknown = text(v), ""
		}
	}
	return s
}

func countStat(label string, n *int) stat {
	s := stat{Label: label, Unknown: unknown}
	if n != nil {
		if v, ok := figure.Count(*n); ok {
			s.Value, s.Unknown = text(v), ""
		}
	}
	return s
}

// priceHero is a price as a big figure; xl, l and m are sizeFor's.
func priceHero(usd *float64, xl, l, m int) hero {
	h := hero{Label: "Price", Dir: figure.Flat, Unknown: notPriced}
	if usd != nil {
		if v, ok := figure.Price(*usd); ok {
			h.Text, h.Size, h.Unknown = v, sizeFor(v, xl, l, m), ""
		}
	}
	return h
}

func things(n int, one, more string) string {
	text, _ := figure.Count(n)
	if n == 1 {
		return text + " " + one
	}
	return text + " " + more
}

// listed names the first of several, and how many more there are.
func listed(names []string, shown int) string {
	var text string
	for i, n := range names {
		if i == shown {
			return text + " +" + strconv.Itoa(len(names)-shown)
		}
		if i > 0 {
			text += ", "
		}
		text += isolated(plain.Text(n))
	}
	return text
}
