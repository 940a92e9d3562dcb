package members

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// leavers is how many members leave in a round.
const leavers = 20

// naming are answers that may name a member who trades.
var naming = []string{"/api/feed/trades?filter=new&limit=100", "/api/feed/trades?launches=1", "/api/leaderboard?limit=100", "/api/live/since?trade=0&launch=0&call=0"}

var errNobody = errors.New("the feed names nobody")

// leave has members leave, each the newest whom the feed names, and gives for how long answers named each after the registry had it.
func (m *measurement) leave(ctx context.Context, address string) (named []time.Duration, err error) {
	asked := 0
	names := func(target, what string) (found bool, body string, err error) {
		asked++
		a, err := lab.FetchAs(ctx, address, target, fmt.Sprintf("203.0.%d.%d", 1+asked/250, 1+asked%250)) // none reaches its limit
		if err != nil {
			return false, "", err
		}
		return strings.Contains(string(a.Body), what), string(a.Body), nil
	}
	for range leavers {
		_, body, err := names(naming[0], "")
		if err != nil {
			return nil, err
		}
		handle := handles.FindStringSubmatch(body)
		if handle == nil {
			return nil, errNobody
		}
		gone := []member.Record{{ID: member.ID("u" + handle[1]), Deleted: true, UpdatedAt: 2}}
		if _, written, err := m.Store().Social.Registry.Apply(ctx, gone, true, lab.WorldEnd); err != nil || !written {
			return nil, fmt.Errorf("a member leaves: written is %t: %w", written, err)
		}
		began := lab.Now()
		for is := true; is; {
			is = false
			for _, target := range naming {
				found, _, err := names(target, handle[0])
				if err != nil {
					return nil, err
				}
				is = is || found
			}
			wait.For(ctx, 5*time.Millisecond)
		}
		named = append(named, lab.Now().Sub(began))
	}
	return named, nil
}

// handles finds the handle of a member, and the number in it.
var handles = regexp.MustCompile(`"handle":"member_([0-9]+)"`)
