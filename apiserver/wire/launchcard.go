package wire

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
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// LaunchCards makes the wire form of launches.
type LaunchCards struct{ Links Links }

var (
	// A card begins with its age, which is the one thing in it that time alone changes.
	cardBeforeAge = []byte(`{"age_s":`)
	cardNewborn   = []byte(`{"age_s":0`)
)

// Append appends the body of a card, as of a time (unix seconds). All but the age is encoded once for each change.
func (w LaunchCards) Append(dst []byte, c *boards.Shown, seen *read.Snapshot, asOf int64, withClones bool) ([]byte, error) {
	handle, in := CreatorHandle(seen.Members, c.Chain, c.Launch), MembersOf(seen.TokenMembers, c.Chain, c.Launch.Mint, MostCardHandles)
	named := append([]string{handle}, in.Handles...)
	if in.Count != nil {
		named = append(named, strconv.Itoa(*in.Count))
	}
	card, err := c.Encoded(withClones, strings.Join(named, "\n"), func() ([]byte, error) { return w.encode(c, handle, in, withClones) })
	if err != nil {
		return nil, err
	}
	dst = append(dst, cardBeforeAge...)
	dst = strconv.AppendInt(dst, max(asOf-c.Launch.CreatedAt, 0), 10)
	return append(dst, card...), nil
}

// encode is a card's body from after its age on.
func (w LaunchCards) encode(c *boards.Shown, handle string, in contract.FamilyHolders, withClones bool) ([]byte, error) {
	card := contract.LaunchCard{LaunchBase: w.Base(c, 0), Creator: LaunchCreator(c.Launch, handle), Graduation: Graduation(c.Launch)}
	card.Members = in
	if withClones {
		card.Clones = new(int(c.Clones))
	}
	body, err := serve.Marshal(card)
	if err != nil {
		return nil, fmt.Errorf("wire: encode a card: %w", err)
	}
	rest, ok := bytes.CutPrefix(body, cardNewborn)
	if !ok {
		return nil, errors.New("wire: a card doesn't begin with its age")
	}
	return slices.Clone(rest), nil
}

// Base is the wire form of what a card and the answer about one launch have in common, but for the members who are in the token.
func (w LaunchCards) Base(c *boards.Shown, ageS int64) contract.LaunchBase {
	l, f := c.Launch, c.Figures(c.On)
	name, symbol := c.Names()
	why := EmptyNotes()
	out := contract.LaunchBase{
		Mint: l.Mint.String(), Chain: c.Chain, Name: name, Symbol: symbol, Launchpad: LaunchpadOf(c.Venue), Own: IsOwn(c.Venue),
		CreatedAt: Timestamp(l.CreatedAt), AgeS: ageS, PriceUSD: Number(f.Price),
		Change24HPct: Number(f.Change24hPct), MarketCapUSD: Number(f.FDV), Volume1HUSD: Rounded(c.Hour.VolumeUSD),
		Buyers1H: &c.Hour.Buyers, Sellers1H: &c.Hour.Sellers, Curve: launchCurve(l),
		GatePass: c.Pass, GateFails: c.Fails, Traction: boardTraction(c), Members: uncounted(),
		Buy: w.buy(c), FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	if f.LiquidityUSD != nil {
		out.LiquidityUSD, out.Volume24HUSD = Rounded(*f.LiquidityUSD), Rounded(*f.VolumeUSD)
	}
	if now, before := f.Price, c.HourAgo(); now != nil && before > 0 {
		change := (*now/before - 1) * 100
		out.Change1HPct = Number(&change)
	}
	if c.Venue.Badge != "" {
		out.Badge = &c.Venue.Badge
	} else {
		why.Unknown["badge"] = contract.UnknownReasonNotApplicable
	}
	price := PriceSource(f)
	why.Note("price_usd", out.PriceUSD != nil, price)
	why.NoteOfSupply("market_cap_usd", out.MarketCapUSD != nil, price, &f)
	why.Note("change_1h_pct", out.Change1HPct != nil, "chain_swaps")
	why.Note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.Note("liquidity_usd", true, LiquiditySource(f))
	for _, name := range []string{"volume_24h_usd", "volume_1h_usd", "buyers_1h", "sellers_1h"} {
		why.Note(name, true, "chain_swaps")
	}
	switch {
	case out.Curve != nil:
		why.Sources["curve"] = CurveState
	case l.HasCurve:
		why.Unknown["curve"] = contract.UnknownReasonUnavailable
	default:
		why.Unknown["curve"] = contract.UnknownReasonNotApplicable
	}
	out.ImageURL = why.Image(c.Metadata, true)
	noteHolders(c, &out)
	return out
}

// IsOwn reports whether a venue is one of the service's own.
func IsOwn(v declared.Venue) bool { return v.Ownership == declared.OwnVenue }

// CreatorHandle is the handle of who launched a token, if they are a member who shows the wallet; else it is empty.
func CreatorHandle(d *members.Directory, chain string, l *boards.Launched) string {
	return d.Of(serve.FamilyOf(l.Creator.String()), l.Creator, chain)
}

// LaunchCreator gives the account that launched a token, with its member's handle.
func LaunchCreator(l *boards.Launched, handle string) contract.LaunchCreator {
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
		ProgressPct: Rounded(l.Progress), Basis: contract.CurveBasis(l.Basis()), RaisedNative: l.Raised.Dec(), UnknownReasons: contract.UnknownReasons{},
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
		Traction: TractionOf(&c.Parts, math.Round(c.Score*10)/10, UnknownHolders(known, c.On.Stale, status), c.KnowsMembers),
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
func (w LaunchCards) buy(c *boards.Shown) contract.LaunchBuy {
	l := c.Launch
	outside := c.Venue.Ownership == declared.OutsideVenue
	if !board.BuyExternal(outside, l.HasCurve, l.State(), c.Venue.On.TradesInApp) {
		return contract.LaunchBuy{Mode: contract.BuyModeSheet}
	}
	out := contract.LaunchBuy{Mode: contract.BuyModeExternal, URL: strings.ReplaceAll(c.Venue.On.LinkTemplate, "{mint}", l.Mint.String())}
	out.URL = cmp.Or(out.URL, w.Links.Token(l.Mint.String(), c.Chain))
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
		out.HoldersSource = contract.HoldersSource(UnknownHolders(known, c.On.Stale, status))
	}
}

// excludedHolders are the kinds of address that aren't counted on EVM chains. On Solana every owner of a token account is.
var excludedHolders = []contract.LaunchBaseHoldersExcluded{
	contract.LaunchBaseHoldersExcludedPool, contract.LaunchBaseHoldersExcludedLaunchpad, contract.LaunchBaseHoldersExcludedZeroAddress,
}
