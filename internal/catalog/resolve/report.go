package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// The patterns of the CRD's schema.
var (
	namePattern    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	labelPattern   = regexp.MustCompile(`^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$`)
	symbolPattern  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,16}$`)
	decimalPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})(\.[0-9]{1,9})?$`)
	objectPattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
)

const (
	// maxInteger is the largest integer that every JSON reader keeps exact.
	maxInteger   = 1<<53 - 1
	maxObject    = 253 // characters in the name of a Kubernetes object
	minRetention = 24 * time.Hour
)

// report collects what is wrong with a manifest.
type report struct {
	errs []error
}

func (r *report) add(path, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

func (r *report) err() error { return errors.Join(r.errs...) }

func (r *report) length(path string, n, most int) {
	if n > most {
		r.add(path, "has %d entries; allowed: up to %d", n, most)
	}
}

func (r *report) name(path, s string) {
	switch {
	case s == "":
		r.add(path, "is missing; allowed: 1 to 32 of a-z, 0-9 and -, a letter or digit at both ends")
	case len(s) > 32 || !namePattern.MatchString(s):
		r.add(path, "%.80q is no name; allowed: 1 to 32 of a-z, 0-9 and -, a letter or digit at both ends", s)
	}
}

// object checks the name of another object; what says of which kind, with its article.
func (r *report) object(path, what, s string) {
	if len(s) > maxObject || !objectPattern.MatchString(s) {
		r.add(path, "%.80q is no name of %s; allowed: 1 to %d of a-z, 0-9, - and ., a letter or digit at both ends", s, what, maxObject)
	}
}

func (r *report) label(path, s string, most int) {
	switch {
	case s == "":
		r.add(path, "is missing: write the name that people read, such as \"BNB Chain\"")
	case len([]rune(s)) > most || !labelPattern.MatchString(s):
		r.add(path, "%.80q is no label; allowed: 1 to %d characters, none of them a control character, no space at either end", s, most)
	}
}

func (r *report) symbol(path string, s v1alpha1.Symbol) {
	switch {
	case s == "":
		r.add(path, "is missing; allowed: 1 to 16 of letters, digits, ., _ and -")
	case !symbolPattern.MatchString(string(s)):
		r.add(path, "%.80q is no symbol; allowed: 1 to 16 of letters, digits, ., _ and -", s)
	}
}

// bounds of a decimal: 0 is allowed unless above0 is set, max always.
type bounds struct {
	above0 bool
	max    float64
}

func (b bounds) String() string {
	if b.above0 {
		return fmt.Sprintf("above 0 and up to %.0f", b.max)
	}
	return fmt.Sprintf("0 to %.0f", b.max)
}

func (r *report) decimal(path string, d v1alpha1.Decimal, b bounds) float64 {
	if d == "" {
		r.add(path, "is missing; write a number in quotes, %s", b)
		return 0
	}
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil || !decimalPattern.MatchString(string(d)) {
		r.add(path, "%.80q is no decimal number; allowed: %s, at most 9 digits after the point, such as \"2.0\"", d, b)
		return 0
	}
	if v > b.max || b.above0 && v == 0 {
		r.add(path, "is %s; allowed: %s", d, b)
	}
	return v
}

// integer gives what an omitted one means, and checks any other.
func (r *report) integer(path string, v *int64, least, most, omitted int64) int64 {
	if v == nil {
		return omitted
	}
	if *v < least || *v > most {
		r.add(path, "is %d; allowed: %d to %d", *v, least, most)
	}
	return *v
}

// natural is integer for what is never below 0.
func (r *report) natural(path string, v *int64, least, most, omitted int64) uint64 {
	n := r.integer(path, v, least, most, omitted)
	if n < 0 {
		return 0
	}
	return uint64(n)
}

func widen(v *int32) *int64 {
	if v == nil {
		return nil
	}
	w := int64(*v)
	return &w
}

func (r *report) retention(path string, d *metav1.Duration) chainconfig.Duration {
	if d == nil {
		return 0
	}
	if d.Duration < minRetention {
		r.add(path, "is %s; allowed: 24h and more, or leave it out to keep for good", d.Duration)
	}
	return chainconfig.Duration(d.Duration)
}

// unique refuses a value that was seen before. Empty ones are refused elsewhere.
type unique struct {
	r    *report
	seen map[string]string
}

func (r *report) unique() unique { return unique{r: r, seen: map[string]string{}} }

func (u unique) see(path, value string) {
	if value == "" {
		return
	}
	if first, ok := u.seen[value]; ok {
		u.r.add(path, "%.80q is already at %s; keep one of them", value, first)
		return
	}
	u.seen[value] = path
}
