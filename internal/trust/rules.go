package trust

// The ids of the checks, in the order in which a report has them.
const (
	HoneypotSell   = "honeypot_sell"
	BuyTax         = "buy_tax"
	SellTax        = "sell_tax"
	TransferTax    = "transfer_tax"
	Pausable       = "pausable"
	Blacklist      = "blacklist"
	Mintable       = "mintable"
	SupplyChange   = "supply_change"
	Ownership      = "ownership"
	Proxy          = "proxy"
	CodeKnown      = "code_known"
	SourceVerified = "source_verified"
	LPBurnedLocked = "lp_burned_locked"
	LiquidityDepth = "liquidity_depth"
	Top10Share     = "top10_share"
	BundleShare    = "bundle_share"
	CreatorHolding = "creator_holding"
	CreatorHistory = "creator_history"
	PairAge        = "pair_age"

	// MintAuthority and those below it are of Solana alone.
	MintAuthority   = "mint_authority"
	FreezeAuthority = "freeze_authority"
	Extensions      = "token2022_extensions"
	MetadataMutable = "metadata_mutable"

	// IndependentBuyers and CreatorFunded are of launched tokens, by their trades of the score's window.
	IndependentBuyers = "independent_buyers"
	CreatorFunded     = "creator_funded"
)

// The reasons of an unknown result.
const (
	// RPCCapability: no endpoint simulates calls with state overrides, or on Solana transactions.
	RPCCapability = "rpc_capability"
	// NoPool: there is no market that the token could be bought in.
	NoPool = "no_pool"
	// NoRoute: there is a market, but no pool in which the simulation could get what it takes.
	NoRoute = "no_route"
	// NotIndexed: the index doesn't have what the check needs.
	NotIndexed = "not_indexed"
	// VenueNotSimulated: how to trade with the venue's curve isn't known.
	VenueNotSimulated = "venue_not_simulated"
	// HookNotSimulated: a program decides about the token's transfers, and which accounts it asks for isn't known.
	HookNotSimulated = "hook_not_simulated"
	// NeedsOutsideService: no node can tell.
	NeedsOutsideService = "needs_outside_service"
	// CallFailed: a node was asked and gave no usable answer.
	CallFailed = "call_failed"
	// BuyReverted: the simulated buy itself was refused, so nothing is known of what follows.
	BuyReverted = "buy_reverted"
	// TransferReverted: a transfer was refused where a venue may have meant it so.
	TransferReverted = "transfer_reverted"
	// SellReverted: the simulated sale was refused, so it has no measure.
	SellReverted = "sell_reverted"
	// OwnerUnknown: the contract doesn't say who may use its functions.
	OwnerUnknown = "owner_unknown"
	// NoTemplate: there is no code that the token's could be held against.
	NoTemplate = "no_template"
	// PositionOwnerUnknown: who may take out the pool's liquidity isn't told by the chain's state alone.
	PositionOwnerUnknown = "position_owner_unknown"
	// FundingUnknown: nobody can tell where the coins of any wallet came from that traded the token.
	FundingUnknown = "funding_unknown"
	// NoTrades: nobody traded the token in the score's window, or nobody bought it.
	NoTrades = "no_trades"
	// TradesUnread: the token's trades could not be read.
	TradesUnread = "trades_unread"
)

// Rule is how a check is called and when its measure is bad.
type Rule struct {
	ID, Title string
	// Severity is the worst that the check can come to: that of a pass and of an unknown.
	Severity Severity
	Unit     string
	// Limits are the worst first.
	Limits []Limit
	// Low says that values below a limit are bad, instead of those above it.
	Low bool
}

// Limit is a value beyond which a measure is bad, and how bad.
type Limit struct {
	Value    float64
	Result   Result
	Severity Severity
}

// taxLimits are the limits of every tax, in percent.
var taxLimits = []Limit{{30, Fail, Critical}, {10, Fail, High}}

// Rules are all checks of an EVM token in the order of a report. A value that is a bool says whether what the id names is so. Where the public contract leaves open whether a bad measure
// warns or fails, what a token's maker did fails and what they merely could do warns.
var Rules = []Rule{
	{ID: HoneypotSell, Title: "Honeypot", Severity: Critical, Unit: "bool"},
	{ID: BuyTax, Title: "Buy tax", Severity: Critical, Unit: "pct", Limits: taxLimits},
	{ID: SellTax, Title: "Sell tax", Severity: Critical, Unit: "pct", Limits: taxLimits},
	{ID: TransferTax, Title: "Transfer tax", Severity: Critical, Unit: "pct", Limits: taxLimits},
	{ID: Pausable, Title: "Transfers can be paused", Severity: Critical, Unit: "bool"},
	{ID: Blacklist, Title: "Accounts can be blocked", Severity: Critical, Unit: "bool"},
	{ID: Mintable, Title: "More can be minted", Severity: High, Unit: "bool"},
	// Rounding in a token's own arithmetic is no new supply.
	{ID: SupplyChange, Title: "Supply since launch", Severity: High, Unit: "pct", Limits: []Limit{{0.01, Fail, High}}},
	{ID: Ownership, Title: "Owner", Severity: Medium, Unit: "address"},
	{ID: Proxy, Title: "Code can be replaced", Severity: High, Unit: "bool"},
	{ID: CodeKnown, Title: "Code of the venue's tokens", Severity: Info, Unit: "bool"},
	{ID: SourceVerified, Title: "Source code verified", Severity: Medium, Unit: "bool"},
	{
		ID: LPBurnedLocked, Title: "Liquidity burned or locked", Severity: High, Unit: "pct", Low: true,
		Limits: []Limit{{50, Fail, High}, {95, Warn, High}},
	},
	{ID: LiquidityDepth, Title: "Liquidity", Severity: High, Unit: "usd", Low: true, Limits: []Limit{{1000, Fail, High}}},
	{ID: Top10Share, Title: "Held by the ten largest", Severity: High, Unit: "pct", Limits: []Limit{{70, Fail, High}, {50, Fail, Medium}}},
	{ID: BundleShare, Title: "Bought in the first block", Severity: Medium, Unit: "pct", Limits: []Limit{{20, Fail, Medium}, {10, Warn, Medium}}},
	{ID: CreatorHolding, Title: "Held by the creator", Severity: High, Unit: "pct", Limits: []Limit{{20, Fail, High}, {5, Fail, Medium}}},
	{ID: CreatorHistory, Title: "Creator's other launches", Severity: High},
	{ID: PairAge, Title: "Age of the market", Severity: Medium, Unit: "s", Low: true, Limits: []Limit{{3600, Warn, Medium}}},
}

// SolanaRules are all checks of a token of Solana in the order of a report. Those that both families have are judged alike.
var SolanaRules = []Rule{
	ofBoth(HoneypotSell),
	ofBoth(TransferTax),
	{ID: FreezeAuthority, Title: "Accounts can be frozen", Severity: Critical, Unit: "bool"},
	{ID: MintAuthority, Title: "More can be minted", Severity: High, Unit: "bool"},
	{ID: Extensions, Title: "Powers in the token's extensions", Severity: Critical},
	{ID: MetadataMutable, Title: "Name and picture can be changed", Severity: Low, Unit: "bool"},
	ofBoth(SupplyChange), ofBoth(LPBurnedLocked), ofBoth(LiquidityDepth), ofBoth(Top10Share), ofBoth(BundleShare), ofBoth(CreatorHolding), ofBoth(CreatorHistory), ofBoth(PairAge),
}

// ofBoth is one of Rules.
func ofBoth(id string) Rule {
	for _, r := range Rules {
		if r.ID == id {
			return r
		}
	}
	return Rule{ID: id} // a test holds that each has its title
}

// RuleOf is the rule of a check's id; ok is false where there is none.
func RuleOf(id string) (r Rule, ok bool) {
	for _, list := range [][]Rule{Rules, SolanaRules, BuyerRules} {
		for _, r := range list {
			if r.ID == id {
				return r, true
			}
		}
	}
	return Rule{}, false
}

func (r Rule) check(result Result, severity Severity) Check {
	return Check{ID: r.ID, Title: r.Title, Unit: r.Unit, Result: result, Severity: severity, Evidence: []Evidence{}}
}

// Measure judges a measure by the limits. The threshold is the limit that was crossed, else the mildest.
func (r Rule) Measure(value float64) Check {
	c := r.check(Pass, r.Severity)
	c.Value = value
	for _, l := range r.Limits {
		c.Threshold = l.Value
		if (r.Low && value < l.Value) || (!r.Low && value > l.Value) {
			c.Result, c.Severity = l.Result, l.Severity
			return c
		}
	}
	return c
}

// Judge is a check whose result doesn't follow from a limit. value may be nil.
func (r Rule) Judge(result Result, severity Severity, value any) Check {
	c := r.check(result, severity)
	c.Value = value
	return c
}

// Pass is a check that found nothing bad.
func (r Rule) Pass(value any) Check { return r.Judge(Pass, r.Severity, value) }

// Unknown is a check that could not be made.
func (r Rule) Unknown(reason string) Check {
	c := r.check(Unknown, r.Severity)
	c.UnknownReason = reason
	if len(r.Limits) > 0 {
		c.Threshold = r.Limits[len(r.Limits)-1].Value
	}
	return c
}

// History limits: a creator with many tokens before this one of which next to none got anywhere.
const (
	manyLaunches     = 5
	tooManyLaunches  = 20
	graduatedAtLeast = 0.05
)

// History judges a creator by the launches before this one on bonding curves and how many of those graduated. The value is
// the number of launches before.
func History(r Rule, launches, graduated int64) Check {
	c := r.Pass(float64(launches))
	c.Threshold = float64(manyLaunches)
	if launches < manyLaunches || float64(graduated) >= graduatedAtLeast*float64(launches) {
		return c
	}
	c.Result, c.Severity = Warn, Medium
	if launches >= tooManyLaunches {
		c.Result, c.Severity, c.Threshold = Fail, High, float64(tooManyLaunches)
	}
	return c
}
