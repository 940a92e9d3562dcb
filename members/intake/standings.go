package intake

import (
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// standing is a member's progress in the game.
type standing struct {
	Member member.ID `json:"member"`
	XP     int64     `json:"xp"`
	Rank   rank      `json:"rank"`
	Badges []badge   `json:"badges"`
	Change int64     `json:"change"`
}

// rank is a rank of the game. Level is its place among them, from 1 on.
type rank struct {
	ID    string `json:"id"`
	Level int    `json:"level"`
	Name  string `json:"name"`
}

// badge is a badge of the game, with the day in UTC on which it was earned, as in 2026-03-04.
type badge struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	EarnedOn string `json:"earned_on"`
}

func (h *handler) getStandings(r *request) (*reply, error) {
	after, limit, err := r.page(mostChanges)
	if err != nil {
		return nil, err
	}
	last, err := h.Standings.LastGameChange(r.Context())
	if err != nil {
		return nil, err
	}
	list, err := h.Standings.GameChanges(r.Context(), after, limit)
	if err != nil {
		return nil, err
	}
	numbers := make([]member.Number, len(list))
	for i := range list {
		numbers[i] = list[i].Member
	}
	ids, err := h.Registry.IDsOf(r.Context(), numbers)
	if err != nil {
		return nil, err
	}
	out := struct {
		Standings []standing `json:"standings"`
		// Last is the number of the last change that there is.
		Last int64 `json:"last"`
	}{make([]standing, len(list)), last}
	for i := range list {
		out.Standings[i] = h.answerStanding(&list[i], ids[list[i].Member])
	}
	return answerJSON(out)
}

func (h *handler) answerStanding(s *social.GameStanding, of member.ID) standing {
	level := h.Rules.Level(s.XP)
	at := &h.Rules.Ranks[level-1]
	out := standing{Member: of, XP: s.XP, Rank: rank{ID: at.ID, Level: level, Name: at.Name}, Badges: make([]badge, 0, len(s.Badges)), Change: s.Change}
	for _, earned := range s.Badges {
		i := slices.IndexFunc(h.Rules.Badges, func(b game.Badge) bool { return b.ID == earned.Badge })
		if i < 0 {
			continue // the rules have changed, and the keeper is about to judge everybody anew
		}
		const day = 24 * 60 * 60
		out.Badges = append(out.Badges, badge{ID: earned.Badge, Name: h.Rules.Badges[i].Name, EarnedOn: time.Unix(earned.Date*day, 0).UTC().Format(time.DateOnly)})
	}
	return out
}
