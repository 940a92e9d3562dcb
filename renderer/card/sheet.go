package card

import (
	"strconv"
	"time"
	"unicode/utf8"
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
	Dir     direction
	Size    textSize
	Unknown string
	Move    *moved
	// Below is a second line; nil has none.
	Below []string
}

// moved is a change in per cent beside a figure.
type moved struct {
	Text string
	Dir  direction
}

// stat is one of the figures at the foot.
type stat struct {
	Label   string
	Note    name
	Prefix  string
	Value   name
	More    string // behind the value, smaller
	Dir     direction
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

// text makes a value of a figure of ours, which needs no cleaning.
func text(s string) name { return name{Text: s} }

// usdStat is an amount of money at the foot.
func usdStat(label string, usd *float64) stat {
	s := stat{Label: label, Unknown: unknown}
	if usd != nil {
		if v, ok := dollars(*usd); ok {
			s.Value, s.Unknown = text(v), ""
		}
	}
	return s
}

func countStat(label string, n *int) stat {
	s := stat{Label: label, Unknown: unknown}
	if n != nil {
		if v, ok := count(*n); ok {
			s.Value, s.Unknown = text(v), ""
		}
	}
	return s
}

// priceHero is a price as a big figure; xl, l and m are sizeFor's.
func priceHero(usd *float64, xl, l, m int) hero {
	h := hero{Label: "Price", Dir: flat, Unknown: notPriced}
	if usd != nil {
		if v, ok := price(*usd); ok {
			h.Text, h.Size, h.Unknown = v, sizeFor(v, xl, l, m), ""
		}
	}
	return h
}

// Layouts of a moment, which is in UTC.
const (
	dayLayout    = "2 Jan 2006"
	minuteLayout = dayLayout + ", 15:04 UTC"
)

// mostUnix is the end of the year 9999: later ones have more digits than there is room for.
const mostUnix = 253402300799

// moment is a time in Unix seconds as people read it; 0 gives nothing, as does what can't be meant.
func moment(unix int64, layout string) string {
	if unix <= 0 || unix > mostUnix {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(layout)
}

func things(n int, one, more string) string {
	text, _ := count(n)
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
		text += isolated(clean(n))
	}
	return text
}
