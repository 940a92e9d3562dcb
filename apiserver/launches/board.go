package launches

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// formulaID names the score that the board is ranked by, which the documentation explains.
const formulaID = contract.FormulaIDTractionV1

// boardSorts are the orders by their names.
var boardSorts = map[contract.LaunchSort]boards.Sort{
	contract.LaunchSortRunning: boards.SortRunning, contract.LaunchSortNew: boards.SortNew, contract.LaunchSortTrending: boards.SortTrending,
	contract.LaunchSortProgress: boards.SortProgress, contract.LaunchSortGraduated: boards.SortGraduated,
}

// boardKey selects a page of the board.
type boardKey struct {
	sort, launchpad, chain, before string
	limit                          int64
	// handles is the version of the members' handles.
	handles int64
}

func (h *Handlers) board(r *serve.Request) (*serve.Answer, error) {
	key := boardKey{r.Text("sort"), r.Text("launchpad"), r.Text("chain"), r.Text("before"), r.Number("limit"), r.Seen.Members.Version()}
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
	head, tail, ok := bytes.Cut(frame, noLaunches)
	if !ok {
		return nil, errors.New("launches: a page of the board has no place for launches")
	}
	body := slices.Concat(head, noLaunches[:len(noLaunches)-1])
	for i := range page.Cards {
		c := &page.Cards[i]
		handle := handleOf(r, c.Chain, c.Launch)
		card, err := c.Encoded(q.Sort == boards.SortNew, handle, func() ([]byte, error) { return h.encodeCard(c, handle, q.Sort == boards.SortNew) })
		if err != nil {
			return nil, err
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, cardBeforeAge...)
		body = strconv.AppendInt(body, max(page.AsOf-c.Launch.CreatedAt, 0), 10)
		body = append(body, card...)
	}
	return serve.NewAnswer(append(append(append(body, ']'), tail...), '\n')), nil
}

var (
	noLaunches = []byte(`"launches":[]`)
	// A card begins with its age, which is the one thing in it that time alone changes.
	cardBeforeAge = []byte(`{"age_s":`)
	cardNewborn   = []byte(`{"age_s":0`)
)

// encodeCard is a card's body from after its age on.
func (h *Handlers) encodeCard(c *boards.Shown, handle string, withClones bool) ([]byte, error) {
	card := contract.LaunchCard{LaunchBase: h.launchBase(c, 0), Creator: launchCreator(c.Launch, handle), Graduation: wire.Graduation(c.Launch)}
	if withClones {
		card.Clones = new(int(c.Clones))
	}
	body, err := serve.Marshal(card)
	if err != nil {
		return nil, fmt.Errorf("launches: encode a card: %w", err)
	}
	rest, ok := bytes.CutPrefix(body, cardNewborn)
	if !ok {
		return nil, errors.New("launches: a card doesn't begin with its age")
	}
	return slices.Clone(rest), nil
}

// launchBase is the wire form of what a card and the answer about one launch have in common.
func (h *Handlers) launchBase(c *boards.Shown, ageS int64) contract.LaunchBase {
	l, f := c.Launch, c.Figures(c.On)
	name, symbol := c.Names()
	why := wire.EmptyNotes()
	out := contract.LaunchBase{
		Mint: l.Mint.String(), Chain: c.Chain, Name: name, Symbol: symbol, Launchpad: wire.LaunchpadOf(c.Venue), Own: isOwn(c.Venue),
		CreatedAt: wire.Timestamp(l.CreatedAt), AgeS: ageS, PriceUSD: wire.Number(f.Price),
		Change24HPct: wire.Number(f.Change24hPct), MarketCapUSD: wire.Number(f.FDV), Volume1HUSD: wire.Rounded(c.Hour.VolumeUSD),
		Buyers1H: &c.Hour.Buyers, Sellers1H: &c.Hour.Sellers, Curve: launchCurve(l),
		GatePass: c.Pass, GateFails: c.Fails, Traction: boardTraction(c), Members: wire.Uncounted(),
		Buy: h.buy(c), FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	if f.LiquidityUSD != nil {
		out.LiquidityUSD, out.Volume24HUSD = wire.Rounded(*f.LiquidityUSD), wire.Rounded(*f.VolumeUSD)
	}
	if now, before := f.Price, c.HourAgo(); now != nil && before > 0 {
		change := (*now/before - 1) * 100
		out.Change1HPct = wire.Number(&change)
	}
	if c.Venue.Badge != "" {
		out.Badge = &c.Venue.Badge
	} else {
		why.Unknown["badge"] = contract.UnknownReasonNotApplicable
	}
	price := wire.PriceSource(f)
	why.Note("price_usd", out.PriceUSD != nil, price)
	why.NoteOfSupply("market_cap_usd", out.MarketCapUSD != nil, price, &f)
	why.Note("change_1h_pct", out.Change1HPct != nil, "chain_swaps")
	why.Note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.Note("liquidity_usd", true, wire.LiquiditySource(f))
	for _, name := range []string{"volume_24h_usd", "volume_1h_usd", "buyers_1h", "sellers_1h"} {
		why.Note(name, true, "chain_swaps")
	}
	switch {
	case out.Curve != nil:
		why.Sources["curve"] = wire.CurveState
	case l.HasCurve:
		why.Unknown["curve"] = contract.UnknownReasonUnavailable
	default:
		why.Unknown["curve"] = contract.UnknownReasonNotApplicable
	}
	out.ImageURL = why.Image(c.Metadata, true)
	noteHolders(c, &out)
	return out
}

func isOwn(v declared.Venue) bool { return v.Ownership == declared.OwnVenue }

// handleOf is the handle of who launched a token, if they are a member who shows the wallet; else it is empty.
func handleOf(r *serve.Request, chain string, l *boards.Launched) string {
	return r.Seen.Members.Of(serve.FamilyOf(l.Creator.String()), l.Creator, chain)
}

// launchCreator is who launched a token, with their handle.
func launchCreator(l *boards.Launched, handle string) contract.LaunchCreator {
	out := contract.LaunchCreator{Address: l.Creator.String(), UnknownReasons: contract.UnknownReasons{}}
	if handle == "" {
		out.UnknownReasons["handle"] = contract.UnknownReasonNotApplicable
		return out
	}
	out.Handle = &handle
	return out
}

// launchCurve is nil where there is no curve, and while nothing is known of its progress.
func launchCurve(l *boards.Launched) *contract.LaunchCurve {
	if !l.HasCurve || !l.HasProgress {
		return nil
	}
	out := &contract.LaunchCurve{
		ProgressPct: wire.Rounded(l.Progress), Basis: contract.CurveBasis(l.Basis), RaisedNative: l.Raised.Dec(), UnknownReasons: contract.UnknownReasons{},
	}
	if l.Target.IsZero() {
		out.UnknownReasons["target_native"] = contract.UnknownReasonUnavailable
	} else {
		out.TargetNative = new(l.Target.Dec())
	}
	return out
}

// boardTraction is a card's score, rounded to a tenth.
func boardTraction(c *boards.Shown) *contract.LaunchTraction {
	_, known, status := c.Holders(c.On)
	out := &contract.LaunchTraction{
		Traction: wire.TractionOf(&c.Parts, math.Round(c.Score*10)/10, wire.UnknownHolders(known, c.On.Stale, status)),
	}
	if c.Rank > 0 {
		out.Rank = new(int(c.Rank))
	} else {
		out.UnknownReasons["rank"] = contract.UnknownReasonNotApplicable
	}
	return out
}

// buy says where a token is bought: at its launchpad while it is on an outside curve that the app doesn't trade with. One
// whose launchpad has no page for it leads to its share link.
func (h *Handlers) buy(c *boards.Shown) contract.LaunchBuy {
	l := c.Launch
	outside := c.Venue.Ownership == declared.OutsideVenue
	if !board.BuyExternal(outside, l.HasCurve, l.State, c.Venue.On.TradesInApp) {
		return contract.LaunchBuy{Mode: contract.BuyModeSheet}
	}
	out := contract.LaunchBuy{Mode: contract.BuyModeExternal, URL: strings.ReplaceAll(c.Venue.On.LinkTemplate, "{mint}", l.Mint.String())}
	out.URL = cmp.Or(out.URL, h.Links.Token(l.Mint.String(), c.Chain))
	return out
}

// noteHolders tells the count of holders, or why there is none.
func noteHolders(c *boards.Shown, out *contract.LaunchBase) {
	source := contract.FigureSource("rpc_accounts")
	if serve.FamilyOf(out.Mint) == chainconfig.EVM {
		source, out.HoldersExcluded = "chain_transfers", excludedHolders
	}
	count, known, status := c.Holders(c.On)
	if known {
		out.Holders = &count
		out.FigureSources["holders"] = source
	} else {
		out.HoldersSource = contract.HoldersSource(wire.UnknownHolders(known, c.On.Stale, status))
	}
}

// excludedHolders are the kinds of address that aren't counted on EVM chains. On Solana every owner of a token account is.
var excludedHolders = []contract.LaunchBaseHoldersExcluded{
	contract.LaunchBaseHoldersExcludedPool, contract.LaunchBaseHoldersExcludedLaunchpad, contract.LaunchBaseHoldersExcludedZeroAddress,
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
