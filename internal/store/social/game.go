package social

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// GameState is what the game has taken in.
type GameState struct {
	// Stream is the last number of the stream, and CallChange that of the calls' changes.
	Stream, CallChange int64
	// Chains says up to which time each chain's trades were read; unix seconds.
	Chains map[string]int64
	// Season is the last week whose season is closed.
	Season int64
	Rules  *game.Rules
	// IsApplying says that other rules are being applied to what was counted: some of it is by them.
	IsApplying bool
	// Revision counts the writes of all this.
	Revision int64
}

// ErrGameChanged means that what the game has taken in isn't stored as it was written last: the database has lost something, or another process keeps the game.
var ErrGameChanged = errors.New("the state of the game isn't the one that was written last")

type gameStateRow struct {
	bun.BaseModel `bun:"table:game_state"`

	Program    string `bun:",pk"`
	Stream     int64
	CallChange int64
	Chains     string
	Season     int64
	Rules      string
	IsApplying bool
	Revision   int64
}

type gameDayRow struct {
	bun.BaseModel `bun:"table:game_days"`

	Member int64 `bun:",pk"`
	Day    int64 `bun:",pk"`
	Tokens int64
	Chains int64
	Wins   int64
	XP     int64 `bun:"xp"`
}

type gameMemberRow struct {
	bun.BaseModel `bun:"table:game_members"`

	Member int64 `bun:",pk"`
	XP     int64 `bun:"xp"`
	Week   int64
	WeekXP int64 `bun:"week_xp"`
	Badges string
	// ChangedAt is unix seconds.
	ChangedAt int64
	Change    int64
}

type seasonPlaceRow struct {
	bun.BaseModel `bun:"table:season_places"`

	Week   int64 `bun:",pk"`
	Member int64 `bun:",pk"`
	Place  int64
	Score  int64
}

// gameCounter is the counter of the changes of what members have come to.
const gameCounter = "game"

// GameState gives what the game has taken in; nil before the first time.
func (s Game) GameState(ctx context.Context) (*GameState, error) {
	var row gameStateRow
	err := s.db.Read.NewSelect().Model(&row).Where("program = ?", membersProgram).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is none yet, which is no error
	}
	if err != nil {
		return nil, wrap("read the state of the game", err)
	}
	out := &GameState{
		Stream: row.Stream, CallChange: row.CallChange, Season: row.Season, Rules: &game.Rules{}, IsApplying: row.IsApplying, Revision: row.Revision,
	}
	if err := errors.Join(json.Unmarshal([]byte(row.Chains), &out.Chains), json.Unmarshal([]byte(row.Rules), out.Rules)); err != nil {
		return nil, fmt.Errorf("database: a row of game_state: %w", err)
	}
	return out, nil
}

// GameStanding is what a member has come to in the game.
type GameStanding struct {
	Member member.Number
	game.Standing
	// WeekXP are the XP of the days of Week.
	Week, WeekXP int64
	// ChangedAt is when it changed last; unix seconds. Change numbers the changes of all standings.
	ChangedAt, Change int64
}

// Played is what the game says of a member anew.
type Played struct {
	GameStanding
	// Days lists the days that have changed. A day without anything is deleted.
	Days []PlayedDay
}

// PlayedDay is a day with what it is worth.
type PlayedDay struct {
	game.Day
	XP int64
}

// KeepGame writes, under the lease, what has changed of some members, and what the game has taken in by that. Who was erased meanwhile is left out. The intake
// waits meanwhile, so that a caller writes some hundreds of members at once and no more. now is unix seconds.
func (s Game) KeepGame(ctx context.Context, l *Lease, played []Played, state *GameState, now int64) error {
	return s.keepGame(ctx, l, state, func(tx *database.Transaction) error {
		there, err := notErased(ctx, tx, played)
		if err != nil {
			return err
		}
		last, err := lastGameChange(ctx, tx)
		if err != nil {
			return err
		}
		var rows gameRows
		for i := range played {
			if p := &played[i]; there[p.Member] {
				last++
				if err := rows.add(p, last, now); err != nil {
					return err
				}
			}
		}
		if len(rows.standings) == 0 {
			return nil
		}
		for _, write := range []func() error{
			func() error { return database.Remove(ctx, tx, rows.gone) },
			func() error { return database.Upsert(ctx, tx, rows.days) },
			func() error { return database.Upsert(ctx, tx, rows.standings) },
		} {
			if err := write(); err != nil {
				return err
			}
		}
		return numberStandings(ctx, tx, last)
	})
}

func numberStandings(ctx context.Context, tx *database.Transaction, last int64) error {
	_, err := tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET last = excluded.last", gameCounter, last).Exec(ctx)
	return wrap("number what members have come to", err)
}

// gameRows are the rows of some members: the days that are written and those that are deleted, and what they have come to.
type gameRows struct {
	days, gone []gameDayRow
	standings  []gameMemberRow
}

func (r *gameRows) add(p *Played, change, now int64) error {
	for _, d := range p.Days {
		row := gameDayRow{Member: int64(p.Member), Day: d.Date, Tokens: int64(d.Tokens), Chains: int64(d.Chains), Wins: int64(d.Wins), XP: d.XP}
		if d.IsEmpty() {
			r.gone = append(r.gone, row)
		} else {
			r.days = append(r.days, row)
		}
	}
	badges, err := json.Marshal(p.Badges)
	r.standings = append(r.standings, gameMemberRow{
		Member: int64(p.Member), XP: p.XP, Week: p.Week, WeekXP: p.WeekXP, Badges: string(badges), ChangedAt: now, Change: change,
	})
	return err
}

// keepGame writes something of the game under the lease, and the state of it, which has the next revision then. ErrGameChanged says that the stored one isn't the
// revision before.
func (s *rows) keepGame(ctx context.Context, l *Lease, state *GameState, write func(*database.Transaction) error) error {
	chains, err := json.Marshal(state.Chains)
	if err != nil {
		return err
	}
	rules, err := json.Marshal(state.Rules)
	if err != nil {
		return err
	}
	row := gameStateRow{
		Program: membersProgram, Stream: state.Stream, CallChange: state.CallChange, Chains: string(chains), Season: state.Season, Rules: string(rules),
		IsApplying: state.IsApplying, Revision: state.Revision + 1,
	}
	err = s.write(ctx, func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error) {
		if err := holds(ctx, tx, l); err != nil {
			return last, nil, err
		}
		var stored int64
		if err := tx.NewRaw("SELECT COALESCE(max(revision), 0) FROM game_state WHERE program = ?", membersProgram).Scan(ctx, &stored); err != nil {
			return last, nil, wrap("read the state of the game", err)
		}
		if stored != state.Revision {
			return last, nil, ErrGameChanged
		}
		if err := write(tx); err != nil {
			return last, nil, err
		}
		return last, nil, database.Upsert(ctx, tx, []gameStateRow{row})
	})
	if err == nil {
		state.Revision++
	}
	return err
}

// notErased says which of the members aren't erased.
func notErased(ctx context.Context, tx *database.Transaction, played []Played) (map[member.Number]bool, error) {
	numbers := make([]member.Number, len(played))
	for i := range played {
		numbers[i] = played[i].Member
	}
	there := make(map[member.Number]bool, len(played))
	for some := range slices.Chunk(numbers, database.LoadKeys) {
		var found []int64
		err := tx.NewRaw("SELECT number FROM members WHERE handle_key IS NOT NULL AND number IN (?)", database.Among(tx.Postgres, anys(some))).Scan(ctx, &found)
		if err != nil {
			return nil, wrap("read members", err)
		}
		for _, n := range found {
			there[member.Number(n)] = true
		}
	}
	return there, nil
}

// anys are members as the arguments of a query.
func anys(numbers []member.Number) []any {
	out := make([]any, len(numbers))
	for i, n := range numbers {
		out[i] = int64(n)
	}
	return out
}

func lastGameChange(ctx context.Context, db bun.IDB) (last int64, err error) {
	err = db.NewRaw("SELECT COALESCE(max(last), 0) FROM sequences WHERE stream = ?", gameCounter).Scan(ctx, &last)
	return last, wrap("read the last change of what members have come to", err)
}

// LastGameChange is the number of the last change of what members have come to in the game.
func (s Game) LastGameChange(ctx context.Context) (int64, error) {
	return lastGameChange(ctx, s.db.Read)
}

// GameChanges lists up to limit members whose standing changed after the change with a number, by the numbers of their last changes. Who changed several times
// is there once, so that an empty list means that nothing has changed since.
func (s Game) GameChanges(ctx context.Context, after int64, limit int) ([]GameStanding, error) {
	last, err := s.LastGameChange(ctx) // a change that comes between the two reads must not hide what came before it
	if err != nil || last == after {
		return nil, err
	}
	return s.gameStandings(ctx, s.db.Read.NewSelect().Where("change > ? AND change <= ?", after, last).Order("change").Limit(int64(limit)))
}

// GameStandings gives what some members have come to.
func (s Game) GameStandings(ctx context.Context, members []member.Number) (map[member.Number]GameStanding, error) {
	out := make(map[member.Number]GameStanding, len(members))
	for some := range slices.Chunk(members, database.LoadKeys) {
		list, err := s.gameStandings(ctx, s.db.Read.NewSelect().Where("member IN (?)", database.Among(s.db.IsPostgres(), anys(some))))
		if err != nil {
			return nil, err
		}
		for _, st := range list {
			out[st.Member] = st
		}
	}
	return out, nil
}

func (s *rows) gameStandings(ctx context.Context, q *bun.SelectQuery) ([]GameStanding, error) {
	var rows []gameMemberRow
	if err := q.Model(&rows).Scan(ctx); err != nil {
		return nil, wrap("read what members have come to", err)
	}
	out := make([]GameStanding, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = GameStanding{Member: member.Number(r.Member), Standing: game.Standing{XP: r.XP}, Week: r.Week, WeekXP: r.WeekXP, ChangedAt: r.ChangedAt, Change: r.Change}
		if err := json.Unmarshal([]byte(r.Badges), &out[i].Badges); err != nil {
			return nil, fmt.Errorf("database: a row of game_members: %w", err)
		}
	}
	return out, nil
}

// GameDays gives the days of some members, in their order.
func (s Game) GameDays(ctx context.Context, members []member.Number) (map[member.Number][]game.Day, error) {
	out := make(map[member.Number][]game.Day, len(members))
	for some := range slices.Chunk(members, database.LoadKeys) {
		var rows []gameDayRow
		err := s.db.Read.NewSelect().Model(&rows).Where("member IN (?)", database.Among(s.db.IsPostgres(), anys(some))).Order("member", "day").Scan(ctx)
		if err != nil {
			return nil, wrap("read days of the game", err)
		}
		for _, r := range rows {
			n := member.Number(r.Member)
			out[n] = append(out[n], game.Day{Date: r.Day, Tokens: int(r.Tokens), Chains: int(r.Chains), Wins: int(r.Wins)})
		}
	}
	return out, nil
}

// GameDaysSince lists on which days from one on which members did something.
func (s Game) GameDaysSince(ctx context.Context, date int64) (map[member.Number][]int64, error) {
	var rows []struct{ Member, Day int64 }
	if err := s.db.Read.NewRaw("SELECT member, day FROM game_days WHERE day >= ?", date).Scan(ctx, &rows); err != nil {
		return nil, wrap("read days of the game", err)
	}
	out := map[member.Number][]int64{}
	for _, r := range rows {
		out[member.Number(r.Member)] = append(out[member.Number(r.Member)], r.Day)
	}
	return out, nil
}

// SeasonPlaces gives the places of some members in the seasons that are closed, in the order of the seasons.
func (s Game) SeasonPlaces(ctx context.Context, members []member.Number) (map[member.Number][]game.Place, error) {
	out := map[member.Number][]game.Place{}
	for some := range slices.Chunk(members, database.LoadKeys) {
		var rows []seasonPlaceRow
		err := s.db.Read.NewSelect().Model(&rows).Where("member IN (?)", database.Among(s.db.IsPostgres(), anys(some))).Order("member", "week").Scan(ctx)
		if err != nil {
			return nil, wrap("read how seasons ended", err)
		}
		for _, r := range rows {
			n := member.Number(r.Member)
			out[n] = append(out[n], game.Place{Week: r.Week, Place: int(r.Place), Score: r.Score})
		}
	}
	return out, nil
}

// Score is what a member's days of a season are worth.
type Score struct {
	Member member.Number
	XP     int64
}

// SeasonScores lists up to limit members with the highest scores of a week, the highest first. Who left isn't among them.
func (s Game) SeasonScores(ctx context.Context, week int64, limit int) ([]Score, error) {
	var rows []struct {
		Member int64
		XP     int64
	}
	err := s.db.Read.NewRaw("SELECT d.member, sum(d.xp) AS xp FROM game_days d JOIN members m ON m.number = d.member AND m.left_at = 0 WHERE d.day >= ? AND d.day < ? "+
		"GROUP BY d.member HAVING sum(d.xp) > 0 ORDER BY sum(d.xp) DESC, d.member LIMIT ?", game.FirstDay(week), game.FirstDay(week+1), limit).Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("read the scores of a season", err)
	}
	out := make([]Score, len(rows))
	for i, r := range rows {
		out[i] = Score{member.Number(r.Member), r.XP}
	}
	return out, nil
}

// CloseSeason writes, under the lease, how a season ended, and what the game has taken in by that. Who was erased meanwhile has no place.
func (s Game) CloseSeason(ctx context.Context, l *Lease, week int64, places map[member.Number]game.Place, state *GameState) error {
	return s.keepGame(ctx, l, state, func(tx *database.Transaction) error {
		played := make([]Played, 0, len(places))
		for n := range places {
			played = append(played, Played{GameStanding: GameStanding{Member: n}})
		}
		there, err := notErased(ctx, tx, played)
		if err != nil {
			return err
		}
		var rows []seasonPlaceRow
		for n, p := range places {
			if there[n] {
				rows = append(rows, seasonPlaceRow{Week: week, Member: int64(n), Place: int64(p.Place), Score: p.Score})
			}
		}
		return database.Upsert(ctx, tx, rows)
	})
}

// PlacedIn lists the members with a place in a season.
func (s Game) PlacedIn(ctx context.Context, week int64) ([]member.Number, error) {
	var found []int64
	if err := s.db.Read.NewRaw("SELECT member FROM season_places WHERE week = ? ORDER BY place, member", week).Scan(ctx, &found); err != nil {
		return nil, wrap("read how a season ended", err)
	}
	out := make([]member.Number, len(found))
	for i, n := range found {
		out[i] = member.Number(n)
	}
	return out, nil
}

// GameMembers lists up to limit members above a number, who aren't erased, by their numbers.
func (s Game) GameMembers(ctx context.Context, above member.Number, limit int) ([]member.Number, error) {
	var found []int64
	err := s.db.Read.NewRaw("SELECT number FROM members WHERE number > ? AND handle_key IS NOT NULL ORDER BY number LIMIT ?", int64(above), limit).Scan(ctx, &found)
	if err != nil {
		return nil, wrap("read members", err)
	}
	out := make([]member.Number, len(found))
	for i, n := range found {
		out[i] = member.Number(n)
	}
	return out, nil
}

// CountMembers counts the members who aren't erased.
func (s Registry) CountMembers(ctx context.Context) (n int, err error) {
	err = s.db.Read.NewRaw("SELECT count(*) FROM members WHERE handle_key IS NOT NULL").Scan(ctx, &n)
	return n, wrap("count members", err)
}

// Win is when a call of a member won; unix seconds.
type Win struct {
	Member member.Number
	At     int64
}

// Wins lists when calls of some members won, of those from a time on; unix seconds.
func (s Game) Wins(ctx context.Context, members []member.Number, from int64) ([]Win, error) {
	var out []Win
	for some := range slices.Chunk(members, database.LoadKeys) {
		var rows []struct{ Member, DecidedAt int64 }
		err := s.db.Read.NewRaw("SELECT member, decided_at FROM calls WHERE member IN (?) AND called_at > ? AND outcome = ? AND decided_at >= ?",
			database.Among(s.db.IsPostgres(), anys(some)), from-member.CallSpan-callSlack, string(member.CallWin), from).Scan(ctx, &rows)
		if err != nil {
			return nil, wrap("read calls that won", err)
		}
		for _, r := range rows {
			out = append(out, Win{member.Number(r.Member), r.DecidedAt})
		}
	}
	return out, nil
}

// eraseGame deletes what the game knows of a member. Where there was something, a row stays that says that there isn't any more: readers follow the changes.
func eraseGame(ctx context.Context, tx *database.Transaction, m member.Number) error {
	for _, table := range []string{"game_days", "season_places"} {
		if _, err := tx.NewRaw("DELETE FROM "+table+" WHERE member = ?", int64(m)).Exec(ctx); err != nil {
			return wrap("erase the game of a member who left", err)
		}
	}
	last, err := lastGameChange(ctx, tx)
	if err != nil {
		return err
	}
	res, err := tx.NewRaw("UPDATE game_members SET xp = 0, week = 0, week_xp = 0, badges = '[]', changed_at = 0, change = ? WHERE member = ?", last+1, int64(m)).Exec(ctx)
	if err != nil {
		return wrap("erase the game of a member who left", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	return numberStandings(ctx, tx, last+1)
}
