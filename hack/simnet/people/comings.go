package people

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// changes are what members do now and then, each of it about once in so many rounds. A round of `make run` takes 20 seconds, so that somebody
// joins late every five minutes, and leaves every ten.
var changes = []struct {
	what   string
	rounds int
	do     func(*People, context.Context) error
}{
	{"a member joins late", 15, (*People).joinLate},
	{"a member leaves", 30, (*People).leave},
	{"a member takes another handle", 60, (*People).rename},
	{"a member hides or shows a wallet", 15, (*People).hideOrShow},
	{"a member deletes a call", 45, (*People).deleteCall},
	{"a member deletes a post", 20, (*People).deletePost},
}

// At most one member in mostAwayOneIn has left at any time, and one in mostGoneOneIn doesn't come back, so that boards stay full however long the world runs.
const mostAwayOneIn, mostGoneOneIn = 6, 10

// Members who come back do so after between shortestLeave and longestLeave, while the intake still has all that it had of them: it erases them after an hour.
// Members who come later than wholeUntil, as when the intake was away, join anew.
const (
	shortestLeave = 5 * time.Minute
	longestLeave  = 40 * time.Minute
	wholeUntil    = 50 * time.Minute
)

// comeAndGo has members come and go, and change what they told of themselves.
func (p *People) comeAndGo(ctx context.Context) error {
	for _, m := range p.members {
		if err := p.settleLeave(ctx, m); err != nil {
			return fmt.Errorf("member %s: %w", m.id, err)
		}
	}
	for _, c := range changes {
		if p.turns.IntN(c.rounds) > 0 {
			continue
		}
		if err := c.do(p, ctx); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return nil
}

// settleLeave tells the intake of a member's leaving where that failed when the member left, and has the member come back in time.
func (p *People) settleLeave(ctx context.Context, m *member) error {
	if m.here || m.leftAt.IsZero() {
		return nil
	}
	if err := p.tellLeave(ctx, m); err != nil {
		return err
	}
	if m.backAt.IsZero() || p.now().Before(m.backAt) {
		return nil
	}
	return p.comeBack(ctx, m)
}

// joinLate has the next of those join who weren't there from the start.
func (p *People) joinLate(ctx context.Context) error {
	for _, m := range p.members {
		if m.late && !m.joined {
			return p.join(ctx, m)
		}
	}
	return nil
}

// leave has a member leave. Two in three come back, and all once one in mostGoneOneIn is gone.
func (p *People) leave(ctx context.Context) error {
	away, gone := 0, 0
	for _, m := range p.members {
		if m.joined && !m.here {
			if away++; m.backAt.IsZero() {
				gone++
			}
		}
	}
	here := p.here()
	if len(here) == 0 || away >= len(p.members)/mostAwayOneIn {
		return nil
	}
	m := oneOf(p.turns, here)
	m.here, m.isLeavingKnown, m.leftAt, m.backAt = false, false, p.now(), time.Time{}
	back := shortestLeave + time.Duration(p.turns.Int64N(int64(longestLeave-shortestLeave)))
	if p.turns.IntN(3) > 0 || gone >= len(p.members)/mostGoneOneIn {
		m.backAt = m.leftAt.Add(back)
	} else {
		p.forgetWritings(m)
	}
	return p.tellLeave(ctx, m)
}

// tellLeave tells the intake that a member has left. The same record may be sent again, so a request without an answer is.
func (p *People) tellLeave(ctx context.Context, m *member) error {
	if m.isLeavingKnown {
		return nil
	}
	err := p.deleteAt(ctx, "/v1/members/"+m.id, m.leftAt)
	m.isLeavingKnown = err == nil
	return err
}

// comeBack has a member return. Until wholeUntil the intake still has all that it had of them. Later they join anew, under another handle where the intake reserves the former one.
func (p *People) comeBack(ctx context.Context, m *member) error {
	if p.now().Sub(m.leftAt) < wholeUntil {
		if err := p.putMember(ctx, m); err != nil {
			return err
		}
		m.here = true
		return nil
	}
	p.forgetWritings(m)
	m.joinedAt = p.now()
	return p.join(ctx, m)
}

// rename gives a member another handle. The intake keeps the former one for the same member.
func (p *People) rename(ctx context.Context) error {
	here := p.here()
	if len(here) == 0 {
		return nil
	}
	m := oneOf(p.turns, here)
	m.nextHandle()
	return p.putMember(ctx, m)
}

// hideOrShow hides a member's wallet that was public, or has it shown.
func (p *People) hideOrShow(ctx context.Context) error {
	here := p.here()
	if len(here) == 0 {
		return nil
	}
	m := oneOf(p.turns, here)
	w := oneOf(p.turns, m.wallets)
	w.public = !w.public
	return p.attestWallet(ctx, m, w)
}

// writing is a call or a post that was written.
type writing struct {
	id string
	by *member
}

// mostKnown is how many of the newest calls, and of the newest posts, may be deleted.
const mostKnown = 200

// known adds what was written to a list of the newest.
func known(list []writing, w writing) []writing {
	list = append(list, w)
	return list[max(0, len(list)-mostKnown):]
}

func (p *People) deleteCall(ctx context.Context) error {
	return p.deleteOneOf(ctx, &p.calls, "/v1/calls/")
}

func (p *People) deletePost(ctx context.Context) error {
	return p.deleteOneOf(ctx, &p.posts, "/v1/posts/")
}

// deleteOneOf has a member who is here delete what they wrote. It is taken off the list first, whatever the intake answers.
func (p *People) deleteOneOf(ctx context.Context, list *[]writing, path string) error {
	var own []int
	for i, w := range *list {
		if w.by.here {
			own = append(own, i)
		}
	}
	if len(own) == 0 {
		return nil
	}
	i := oneOf(p.turns, own)
	id := (*list)[i].id
	*list = slices.Delete(*list, i, i+1)
	return p.deleteAt(ctx, path+id, p.now())
}

// forgetWritings forgets what a member wrote, as the intake does an hour after they have left.
func (p *People) forgetWritings(m *member) {
	isTheirs := func(w writing) bool { return w.by == m }
	p.calls, p.posts = slices.DeleteFunc(p.calls, isTheirs), slices.DeleteFunc(p.posts, isTheirs)
}

// deleteAt deletes a record, with the time of the deletion.
func (p *People) deleteAt(ctx context.Context, path string, at time.Time) error {
	return p.Intake.Do(ctx, http.MethodDelete, path+"?updated_at="+url.QueryEscape(stamp(at)), nil, nil)
}
