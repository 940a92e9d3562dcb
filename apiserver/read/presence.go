package read

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
)

// presence is how many members were present at the last look at the database.
type presence struct {
	online int64
	// counted is when they were counted, and age how long ago that was at the look, both by the database's clock.
	counted time.Time
	age     time.Duration
	// known is false where nobody has counted them yet.
	known bool
}

// staleCount is the age of a count from which on whoever counts must have stopped: it is written every five seconds at least.
const staleCount = 10 * time.Second

// Online is how many members are present.
type Online struct {
	Members int64
	// CountedAt is unix seconds.
	CountedAt int64
	// Stale is true of a count that nobody has renewed.
	Stale bool
}

// Online is how many members are present; nil where nobody has counted them.
func (s *Snapshot) Online(now time.Time) *Online {
	if s.database == nil || !s.database.presence.known {
		return nil
	}
	p := &s.database.presence
	return &Online{Members: p.online, CountedAt: p.counted.Unix(), Stale: p.age+now.Sub(s.database.readAt) > staleCount}
}

func (v *View) readPresence(ctx context.Context) (presence, error) {
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	online, counted, now, known, err := v.looks.Social.Presence.Online(ctx)
	return presence{online: online, counted: time.UnixMilli(counted), age: time.Duration(now-counted) * time.Millisecond, known: known}, err
}

// followMembers takes in who has joined, left, or shows a wallet. The first time that is everybody. Where the members alone can't be read, the markets
// are read all the same, and nobody is named for long of whom nothing new is known. It reports whether they were followed.
func (v *View) followMembers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	err := v.members.Follow(ctx)
	now := v.now()
	if err == nil {
		v.followed, v.unfollowed = now, false
		return true
	}
	if !v.unfollowed {
		v.log.WarnContext(ctx, "members not followed", "err", err.Error())
		v.unfollowed = true
	}
	if now.Sub(v.followed) > namedUnknown {
		v.members.Forget()
	}
	return false
}

const (
	// followTime bounds a look at the members. What it read is kept, so that the next look goes on: of a hundred thousand, all are read in two seconds.
	followTime = figures.LookTime
	// namedUnknown is for how long members are named while the registry can't be read, and the rest of the database can.
	namedUnknown = time.Minute
)
