package place

import (
	"fmt"
	"slices"
	"strings"
)

// inputs are the prices of what an attacker needs, in USD. docs/place.md has their sources.
type inputs struct {
	name string
	// gasGwei is the price of a unit of gas.
	gasGwei float64
	// exchange is what it costs to have an exchange pay a wallet, aged what a wallet costs that is thirty days old. A fresh one costs the gas that pays
	// it.
	exchange, aged float64
	// rented is what a day of somebody's own, used wallet costs.
	rented float64
	// capitalADay is the interest on a USD for a day.
	capitalADay float64
}

// allInputs are the cheapest that are offered anywhere, usual ones, and dear ones.
var allInputs = []inputs{
	{name: "cheap", gasGwei: 0.0002, exchange: 0.02, aged: 0.03, rented: 0.1, capitalADay: 0.00009},
	{name: "middle", gasGwei: 0.005, exchange: 0.1, aged: 1, rented: 0.5, capitalADay: 0.00014},
	{name: "dear", gasGwei: 0.15, exchange: 1, aged: 5, rented: 2.5, capitalADay: 0.00099},
}

// Gas that transactions take, in units.
const (
	gasTransfer  = 21_000
	gasSwap      = 130_000
	gasApproval  = 46_000
	gasToken     = 45_500 // of a token's transfer to an account that had none
	gasDisperse  = 37_000 // for each account that is paid by one transaction
	gasLaunch    = 1_500_000
	gasPair      = 2_700_000
	gasLiquidity = 160_000
)

// gasUSD is what units of gas cost.
func (in *inputs) gasUSD(units float64) float64 { return units * in.gasGwei / gwei * coinUSD }

// source is where an attacker's wallets come from.
type source uint8

const (
	fresh source = iota
	dayOld
	aged
	rented
)

var sourceNames = []string{"fresh", "day-old", "aged", "rented"}

// funding is how an attacker's wallets get their coins.
type funding uint8

const (
	// fanOut is one wallet that pays all, inChain each that pays the next, disperse a contract that pays many in one transaction and logs it,
	// inSilence one that logs nothing, fromExchanges withdrawals from exchanges' wallets.
	fanOut funding = iota
	inChain
	disperse
	inSilence
	fromExchanges
)

var fundingNames = []string{"fan-out", "chain", "disperser", "silent-contract", "exchanges"}

func (s source) MarshalText() ([]byte, error)  { return []byte(sourceNames[s]), nil }
func (f funding) MarshalText() ([]byte, error) { return []byte(fundingNames[f]), nil }

func (s *source) UnmarshalText(text []byte) (err error) {
	*s, err = named[source]("source", sourceNames, text)
	return err
}

func (f *funding) UnmarshalText(text []byte) (err error) {
	*f, err = named[funding]("funding", fundingNames, text)
	return err
}

// named is the place of a name in a list.
func named[T ~uint8](of string, names []string, text []byte) (T, error) {
	i := slices.Index(names, string(text))
	if i < 0 {
		return 0, fmt.Errorf("%s is %.40q: it must be one of %s", of, text, strings.Join(names, ", "))
	}
	return T(i), nil
}

// walletUSD is what a wallet costs at once; rent comes on top of it, each day.
func (in *inputs) walletUSD(s source, f funding) float64 {
	usd := 0.0
	if s == aged {
		usd = in.aged
	}
	if f == fromExchanges {
		usd += in.exchange
	}
	return usd
}

// ledger is an attacker's money, in USD.
type ledger struct {
	// out is what left the owner's hands and hasn't come back, tied the same times the seconds since when, up to last.
	out, tied float64
	last      int64
	// gas, wallets and fees are what was paid for those; of a fee all that the attacker doesn't get back as the creator or the owner of a pair.
	gas, wallets, fees float64
}

// move books that money goes out, or comes in where it is below 0.
func (l *ledger) move(usd float64, now int64) {
	if l.last > 0 {
		l.tied += max(0, l.out) * float64(now-l.last)
	}
	l.out, l.last = l.out+usd, now
}

// price is what was paid and didn't come back, with the interest. What strangers lose to the attacker makes no place cheaper: nobody knows beforehand who
// will come.
func (l *ledger) price(in *inputs) float64 {
	return max(l.out, l.spent()) + l.tied/day*in.capitalADay
}

// spent is what never comes back.
func (l *ledger) spent() float64 { return l.gas + l.wallets + l.fees }
