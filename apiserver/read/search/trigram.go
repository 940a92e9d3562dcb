package search

import (
	"slices"
	"unicode/utf8"
)

// trigram is three characters in a row of a word that has two spaces put before it and one behind it, 21 bits each.
type trigram uint64

const (
	runeBits = 21
	runeMask = 1<<runeBits - 1
	pad      = trigram(' ')
	// padsBefore and padsBehind are how many trigrams of a word tell where it begins, and where it ends.
	padsBefore, padsBehind = 2, 1
)

// appendTrigrams appends the trigrams of every word of s in their order, with repetitions: one more than the word has
// characters.
func appendTrigrams(dst []trigram, s []byte) []trigram {
	const none = pad<<(2*runeBits) | pad<<runeBits | pad
	const all = 1<<(3*runeBits) - 1
	window := none
	for len(s) > 0 {
		r, width := utf8.DecodeRune(s)
		s = s[width:]
		if classOf(r) != separator {
			window = (window<<runeBits | trigram(r)) & all
			dst = append(dst, window)
			continue
		}
		if window != none {
			dst = append(dst, (window<<runeBits|pad)&all)
			window = none
		}
	}
	if window != none {
		dst = append(dst, (window<<runeBits|pad)&all)
	}
	return dst
}

// inside reports whether t lies within a word. The others tell how words begin and end.
func (t trigram) inside() bool { return t>>(2*runeBits) != pad && t&runeMask != pad }

// open is those of the trigrams of s, which are ts in their order, that any text has that s is a part of: not the ones
// that tell that s begins where a word does, and ends where one does.
func open(ts []trigram, s []byte) []trigram {
	if first, _ := utf8.DecodeRune(s); classOf(first) != separator {
		ts = ts[padsBefore:]
	}
	if last, _ := utf8.DecodeLastRune(s); classOf(last) != separator && len(ts) > 0 {
		ts = ts[:len(ts)-padsBehind]
	}
	return ts
}

// distinct sorts ts and drops repetitions.
func distinct(ts []trigram) []trigram {
	slices.Sort(ts)
	return slices.Compact(ts)
}
