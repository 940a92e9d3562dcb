package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// plan is what an attacker does to have a token of its own on the board. The search varies it.
type plan struct {
	Venue site `json:"venue"`
	// SeedUSD is bought by one wallet in the block of the launch.
	SeedUSD float64 `json:"seed_usd"`
	// Wallets buy for BuyUSD each, within SpanS of DelayS after the launch; sizes differ by up to the factor e^(±Jitter). Each buys again for AgainUSD
	// every AgainS; NewAnHour more come.
	Wallets   int     `json:"wallets"`
	BuyUSD    float64 `json:"buy_usd"`
	Jitter    float64 `json:"jitter"`
	DelayS    float64 `json:"delay_s"`
	SpanS     float64 `json:"span_s"`
	AgainUSD  float64 `json:"again_usd"`
	AgainS    float64 `json:"again_s"`
	NewAnHour int     `json:"new_an_hour"`
	// SellS is how long after a purchase a wallet sells all that it has; 0 for never.
	SellS float64 `json:"sell_s"`
	// PassOn is the share of each purchase that is passed on to another wallet, which sells it at once: to one of Sellers, or in a Ring to the wallet
	// that bought next.
	PassOn  float64 `json:"pass_on"`
	Sellers int     `json:"sellers"`
	Ring    bool    `json:"ring"`
	// Holders are given a little of the token after the launch, HoldersAnHour more later.
	Holders       int `json:"holders"`
	HoldersAnHour int `json:"holders_an_hour"`
	// WashUSD is traded to and fro after the launch, WashAnHour later on, by WashWallets, in the venue's pool or in a pair of the attacker's own. Without
	// such wallets the creator does it, or on somebody else's launch the wallet that bought first.
	WashUSD     float64 `json:"wash_usd"`
	WashAnHour  float64 `json:"wash_an_hour"`
	WashWallets int     `json:"wash_wallets"`
	// PairUSD is what the pair has. It is taken out after PairInS and comes back after PairOutS, by turns; 0 is never.
	PairUSD  float64 `json:"pair_usd"`
	PairInS  float64 `json:"pair_in_s"`
	PairOutS float64 `json:"pair_out_s"`
	Source   source  `json:"source"`
	Funding  funding `json:"funding"`
	// LeadS is how long before the launch, or before their first purchase, wallets are paid.
	LeadS float64 `json:"lead_s"`
	// Tokens are attacked with the same wallets at the same time.
	Tokens int `json:"tokens"`
}

const (
	mostUSD     = 1_000_000
	mostSeconds = warmS - hour // so that wallets are paid on the chain
	mostWallets = 20_000
	mostTokens  = 8
	mostJitter  = 3
)

// check says what of a plan makes no sense, or is more than the simulation can count.
func (p *plan) check() error {
	for _, v := range variables {
		x, most := *v.of(p), float64(mostUSD)
		switch {
		case strings.HasSuffix(v.name, "_s"):
			most = mostSeconds
		case v.name == "pass_on":
			most = 1
		case v.name == "jitter":
			most = mostJitter
		}
		if math.IsNaN(x) || x < 0 || x > most {
			return fmt.Errorf("%s is %v: it must be from 0 to %v", v.name, x, most)
		}
		if least, ok := leasts[v.name]; ok && x > 0 && x < least {
			return fmt.Errorf("%s is %v: it must be 0, or from %v on", v.name, x, least)
		}
	}
	for _, c := range counts {
		n, least, most := *c.of(p), 0, mostWallets
		if c.name == "tokens" {
			least, most = 1, mostTokens
		}
		if n < least || n > most {
			return fmt.Errorf("%s is %d: it must be from %d to %d", c.name, n, least, most)
		}
	}
	if usd := float64(p.Wallets*p.Tokens) * p.BuyUSD * math.Exp(p.Jitter); usd > mostUSD*100 {
		return fmt.Errorf("wallets, tokens, buy_usd and jitter make purchases of %.0f USD: %d is the most", usd, mostUSD*100)
	}
	return nil
}

// leasts are the smallest values but 0 of some numbers: what happens more often, or in smaller parts, can't be simulated.
var leasts = map[string]float64{"again_s": 10, "sell_s": 1, "pair_in_s": 10, "pair_usd": 100}

// parsePlan reads a plan and holds it against what can be simulated.
func parsePlan(text []byte) (*plan, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	p := plan{Tokens: 1}
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("it must be one JSON object, and nothing after it")
	}
	return &p, p.check()
}

// json is a plan as --plan takes it.
func (p *plan) json() string {
	out, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers alone
	}
	return string(out)
}
