package launches

import (
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/board"
)

// formulaID names the score that the board is ranked by, which the documentation explains.
const formulaID = contract.FormulaIDTractionV2

// boardSorts are the orders by their names.
var boardSorts = map[contract.LaunchSort]boards.Sort{
	contract.LaunchSortRunning: boards.SortRunning, contract.LaunchSortNew: boards.SortNew, contract.LaunchSortTrending: boards.SortTrending,
	contract.LaunchSortProgress: boards.SortProgress, contract.LaunchSortGraduated: boards.SortGraduated,
}

// boardKey selects a page of the board.
type boardKey struct {
	sort, launchpad, chain, before string
	limit                          int64
	// members and inTokens are the versions of what is known of members, and of which tokens they are in. A request may come while only the former has changed.
	members, inTokens int64
}

func (h *Handlers) board(r *serve.Request) (*serve.Answer, error) {
	key := boardKey{
		r.Text("sort"), r.Text("launchpad"), r.Text("chain"), r.Text("before"), r.Number("limit"), r.Seen.Members.Version(), r.Seen.TokenMembers.Version(),
	}
	if key.chain != declared.AllBoardChains && r.Seen.Catalog.Chain(key.chain) == nil {
		return nil, r.UnsupportedChain("chain", key.chain, declared.AllBoardChains)
	}
	if key.launchpad != declared.AllLaunchpads && key.launchpad != declared.OurLaunchpads {
		if legal := r.Seen.Catalog.Launchpads(); !slices.Contains(legal, key.launchpad) {
			return nil, serve.BadParameters(contract.ParameterError{
				In: contract.ParameterErrorInQuery, Name: "launchpad", Reason: "must be one of the allowed values", Allowed: legal,
			})
		}
	}
	q := boards.PageQuery{
		Sort: boardSorts[contract.LaunchSort(key.sort)], Launchpad: key.launchpad, Chain: key.chain, Limit: int(key.limit),
	}
	if key.before != "" {
		after, ok := boards.ParseCursor(key.before, q.Sort)
		if !ok {
			return nil, serve.NewProblem("cursor-invalid", "before is no cursor of sort "+key.sort+".")
		}
		q.After = after
	}
	if r.Seen.Board == nil {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	return h.boards.Get(r.Seen.Board.Version, key, func() (*serve.Answer, error) { return h.boardPage(r, &key, q) })
}

// boardPage puts a page together from cards that are encoded already, but for their age.
func (h *Handlers) boardPage(r *serve.Request, key *boardKey, q boards.PageQuery) (*serve.Answer, error) {
	page := r.Seen.Board.Page(q)
	out := contract.LaunchBoard{
		AsOf: r.AsOf(page.AsOf), Stale: page.Stale, Blocks: contract.Blocks{}, Sort: contract.LaunchSort(key.sort),
		Launchpad: key.launchpad, Chain: key.chain, Gate: h.gate, Formula: contract.Formula{ID: formulaID, Doc: h.Links.Absolute(h.Links.Docs + "/ranking")},
		Launches: []contract.LaunchCard{}, UnknownReasons: contract.UnknownReasons{},
	}
	for _, c := range page.Chains {
		wire.NoteBlock(out.Blocks, c.ID, c.Ranked.Block)
	}
	for i := range page.Cards {
		c := &page.Cards[i]
		wire.NoteBlock(out.Blocks, c.Chain, c.Changed(c.On).Block)
	}
	if page.Next != nil {
		out.NextBefore = new(page.Next.String())
	} else {
		out.UnknownReasons["next_before"] = contract.UnknownReasonNotApplicable
	}
	frame, err := serve.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("launches: encode a page of the board: %w", err)
	}
	cards := make([][]byte, len(page.Cards))
	for i := range page.Cards {
		c := &page.Cards[i]
		if cards[i], err = h.launchCards.Append(nil, c, r.Seen, page.AsOf, q.Sort == boards.SortNew); err != nil {
			return nil, err
		}
	}
	body, err := serve.Splice(frame, `"launches":[]`, cards)
	if err != nil {
		return nil, err
	}
	return serve.NewAnswer(append(body, '\n')), nil
}

// gateBody is the quality bar as the board states it.
func gateBody(g *board.Gate) contract.Gate {
	out := contract.Gate{
		Version: g.Version(), LiquidityUSDMin: wire.Rounded(g.LiquidityUSDMin), LiquidityUSDMinByChain: map[string]float64{},
		Volume24HUSDMin: wire.Rounded(g.Volume24hUSDMin), AgeSMin: g.AgeSMin, AgeSMax: g.AgeSMax, HoldersMin: g.HoldersMin,
		Curve:          contract.GateCurve{ProgressPctMin: wire.Rounded(g.ProgressPctMin), Buyers1HMin: g.Buyers1hMin},
		UnknownHolders: contract.GateUnknownHoldersFail,
	}
	for chain, usd := range g.LiquidityUSDMinByChain {
		out.LiquidityUSDMinByChain[chain] = wire.Rounded(usd)
	}
	return out
}
