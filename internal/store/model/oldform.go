package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Up to schema 8 former images and facts were JSON by the names of Go's types and fields. Such rows stay in databases (facts for ever),
// so that those names are read for ever: nothing here follows a type that is renamed. testdata/c9acfc3 has databases with them.

// oldForm is how the images of one table were written: values are as encoding/json writes them, so that bytes and addresses are base64.
type oldForm struct {
	Table   string
	columns map[string]string // by the name of the field
}

// OldImages are the old forms by what undo.tbl has for them.
var OldImages = map[string]oldForm{
	"tokenRow": {"tokens", pairs("Chain chain Mint mint Name name Symbol symbol HasDecimals has_decimals Decimals decimals " +
		"HasSupply has_supply Supply supply SupplyStrikes supply_strikes FirstBlock first_block FirstSeenAt first_seen_at Pool pool " +
		"Candidate candidate CandidateSince candidate_since HoldersStatus holders_status HoldersReason holders_reason Holders holders " +
		"HoldersStrikes holders_strikes HoldersGained holders_gained GainedAt holders_gained_at SinceCreation since_creation " + oldStamp)},
	"poolRow": {"pools", pairs("Chain chain ID id Protocol protocol Factory factory Token0 token0 Token1 token1 FeePips fee_pips " +
		"TickSpacing tick_spacing Hooks hooks Stable stable CreatedBlock created_block CreatedAt created_at Base base Quote quote " +
		"BaseIs0 base_is0 Untrusted untrusted Reserve0 reserve0 Reserve1 reserve1 SqrtPriceX96 sqrt_price_x96 Liquidity liquidity " +
		"Tick tick Price price Depth depth Locked locked LastTradeAt last_trade_at DayVolumeUSD day_volume_usd DayBuys day_buys " +
		"DaySells day_sells DayReference day_reference DayQuote day_reference_quote " + oldStamp)},
	"ticksRow": {"pool_ticks", pairs("Chain chain Pool pool Ticks ticks")},
	"candleRow": {"candles", pairs("Chain chain Pool pool IntervalS interval_s OpenAt open_at OpenUSD open_usd HighUSD high_usd " +
		"LowUSD low_usd CloseUSD close_usd OpenNative open_native HighNative high_native LowNative low_native CloseNative close_native " +
		"VolumeUSD volume_usd VolumeQuote volume_quote VolumeBase volume_base Buys buys Sells sells LastBlock last_block")},
	"balanceRow": {"balances", pairs("Chain chain Token token Account account Amount amount Excluded excluded")},
	"quoteRow":   {"quote_prices", pairs("Chain chain Asset asset USD usd Pegged pegged DayUSD day_usd " + oldStamp)},
	"launchRow": {"launches", pairs("Chain chain Mint mint Venue venue Creator creator Block block LogIndex log_index " +
		"CreatedAt created_at Tx tx Curve curve Pricing pricing Basis basis FillsUp fills_up Quote quote SaleBase sale_base " +
		"TargetQuote target_quote FeeBps fee_bps VirtualBase virtual_base VirtualQuote virtual_quote RealBase real_base " +
		"RealQuote real_quote Price price Traded traded Progress progress HasProgress has_progress State state " +
		"CompletedAt completed_at GraduatedAt graduated_at GraduatedTx graduated_tx Pool pool Name name Symbol symbol " +
		"Metadata metadata Image image " + oldStamp)},
	"tradeRow": {"trades", pairs("Chain chain Block block LogIndex log_index Time time Tx tx Pool pool Base base Trader trader Sell sell " +
		"BaseAmount base_amount QuoteAmount quote_amount NanoUSD nano_usd CloseUSD close_usd CloseNative close_native " +
		"TraderAmount trader_amount TraderBefore trader_before")},
	"queuedRow":  {"holder_queue", pairs("Chain chain Token token Block block Seq seq Sender sender Recipient recipient Amount amount")},
	"jobRow":     {"holder_jobs", pairs("Chain chain Token token FinalBlock final_block NextBlock next_block Broken broken")},
	"stagingRow": {"holder_staging", pairs("Chain chain Token token Account account Amount amount")},
}

const oldStamp = "CommitNo commit_no ChangedBlock changed_block ChangedAt changed_at"

// pairs makes a map of words: a key, its value, and so on.
func pairs(words string) map[string]string {
	out := map[string]string{}
	list := strings.Fields(words)
	for i := 0; i+1 < len(list); i += 2 {
		out[list[i]] = list[i+1]
	}
	return out
}

// Read fills a row from its image. A column without a value is one that came after the image was written, with 0 in all rows.
func (o oldForm) Read(form *ImageForm, image []byte, row reflect.Value) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(image, &values); err != nil {
		return fmt.Errorf("an image of %s by Go's names: %w", o.Table, err)
	}
	for name, value := range values {
		i := form.find([]byte(o.columns[name]), 0)
		if i < 0 {
			return fmt.Errorf("an image of %s by Go's names has a %q, which no binary wrote", o.Table, name)
		}
		if err := json.Unmarshal(value, row.FieldByIndex(form.fields[i].index).Addr().Interface()); err != nil {
			return fmt.Errorf("%s.%s by Go's names: %w", o.Table, form.fields[i].column, err)
		}
	}
	return nil
}

// The facts' names. Amounts are decimal digits in quotes, addresses are hexadecimal without a kind.
type (
	oldTokenFact struct {
		Token        oldAddress    `json:"Token"`
		Name         string        `json:"Name"`
		Symbol       string        `json:"Symbol"`
		HasDecimals  bool          `json:"HasDecimals"`
		Decimals     uint8         `json:"Decimals"`
		HasSupply    bool          `json:"HasSupply"`
		Supply       DecimalAmount `json:"Supply"`
		FromCreation bool          `json:"FromCreation"`
	}
	oldPoolFact struct {
		Pool   oldAddress `json:"Pool"`
		Known  bool       `json:"Known"`
		Reason string     `json:"Reason"`
		Info   struct {
			Protocol     string        `json:"Protocol"`
			Factory      oldAddress    `json:"Factory"`
			Pool         oldAddress    `json:"Pool"`
			Token0       oldAddress    `json:"Token0"`
			Token1       oldAddress    `json:"Token1"`
			FeePips      uint32        `json:"FeePips"`
			TickSpacing  int32         `json:"TickSpacing"`
			Hooks        oldAddress    `json:"Hooks"`
			Stable       bool          `json:"Stable"`
			SqrtPriceX96 DecimalAmount `json:"SqrtPriceX96"`
			Tick         int32         `json:"Tick"`
		} `json:"Info"`
	}
	oldSupplyFact struct {
		Token  oldAddress    `json:"Token"`
		Supply DecimalAmount `json:"Supply"`
	}
	oldBalanceFact struct {
		Token   oldAddress    `json:"Token"`
		Account oldAddress    `json:"Account"`
		Amount  DecimalAmount `json:"Amount"`
	}
	oldCurveFact struct {
		Curve  oldAddress `json:"Curve"`
		Token  oldAddress `json:"Token"`
		Known  bool       `json:"Known"`
		Reason string     `json:"Reason"`
		Quote  oldAddress `json:"Quote"`
	}
)

// ReadOldFact reads a fact's body by Go's names.
func ReadOldFact(kind string, body []byte) (market.Fact, error) {
	switch kind {
	case "token":
		f, err := ReadBody[oldTokenFact](body)
		return market.TokenFact{
			Token: f.Token.Address, Name: f.Name, Symbol: f.Symbol, HasDecimals: f.HasDecimals, Decimals: f.Decimals,
			HasSupply: f.HasSupply, Supply: f.Supply.Amount, FromCreation: f.FromCreation,
		}, err
	case "pool":
		f, err := ReadBody[oldPoolFact](body)
		i := &f.Info
		return market.PoolFact{Pool: f.Pool.Address, Known: f.Known, Reason: f.Reason, Info: market.PoolCreated{
			Protocol: market.Protocol(i.Protocol), Factory: i.Factory.Address, Pool: i.Pool.Address, Token0: i.Token0.Address,
			Token1: i.Token1.Address, FeePips: i.FeePips, TickSpacing: i.TickSpacing, Hooks: i.Hooks.Address, Stable: i.Stable,
			SqrtPriceX96: i.SqrtPriceX96.Amount, Tick: i.Tick,
		}}, err
	case "supply":
		f, err := ReadBody[oldSupplyFact](body)
		return market.SupplyFact{Token: f.Token.Address, Supply: f.Supply.Amount}, err
	case "balance":
		f, err := ReadBody[oldBalanceFact](body)
		return market.BalanceFact{Token: f.Token.Address, Account: f.Account.Address, Amount: f.Amount.Amount}, err
	case "curve":
		f, err := ReadBody[oldCurveFact](body)
		return market.CurveFact{
			CurveKey: market.CurveKey{Curve: f.Curve.Address, Token: f.Token.Address}, Known: f.Known, Reason: f.Reason, Quote: f.Quote.Address,
		}, err
	default:
		return nil, fmt.Errorf("database: facts: unknown kind %q", kind)
	}
}

// oldAddress is 0x and 40 or 64 digits, or the empty text for none.
type oldAddress struct{ market.Address }

// UnmarshalText reads it.
func (a *oldAddress) UnmarshalText(text []byte) (err error) {
	if len(text) > 0 {
		a.Address, err = market.ParseAddress(string(text))
	}
	return err
}
