package figure

import "time"

// mostUnix is the end of the year 9999: later ones have more digits than there is room for.
const mostUnix = 253402300799

// Day is the day of a time in Unix seconds, in UTC: 2 Jan 2006. 0 gives nothing, as does what can't be meant.
func Day(unix int64) string { return moment(unix, "2 Jan 2006") }

// Minute is the minute of a time in Unix seconds: 2 Jan 2006, 15:04 UTC. 0 gives nothing, as does what can't be meant.
func Minute(unix int64) string { return moment(unix, "2 Jan 2006, 15:04 UTC") }

// RoundDay rounds down to what Day writes. What can't be meant is 0.
func RoundDay(unix int64) int64 { return roundMoment(unix, day) }

// RoundMinute rounds down to what Minute writes. What can't be meant is 0.
func RoundMinute(unix int64) int64 { return roundMoment(unix, minute) }

func moment(unix int64, layout string) string {
	if !meant(unix) {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(layout)
}

func roundMoment(unix, unit int64) int64 {
	if !meant(unix) {
		return 0
	}
	return max(unix-unix%unit, 1) // 0 would be no moment
}

func meant(unix int64) bool { return unix > 0 && unix <= mostUnix }
