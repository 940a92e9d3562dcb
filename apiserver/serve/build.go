package serve

import "time"

// Build names the version of the program that runs.
type Build struct {
	// Commit is 40 hexadecimal digits; zeros when the build doesn't know.
	Commit string
	Built  time.Time // zero when the build doesn't know
}

// Short is the commit's first ten digits.
func (b Build) Short() string { return b.Commit[:min(10, len(b.Commit))] }
