package place

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// page is docs/place.md with its lines joined.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/place.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// says fails unless the page has a text.
func says(t *testing.T, page, format string, args ...any) {
	t.Helper()
	if text := fmt.Sprintf(format, args...); !strings.Contains(page, text) {
		t.Errorf("docs/place.md doesn't say %q", text)
	}
}

// The page's population and prices are those that are simulated.
func TestThePageHasTheFiguresOfTheSimulation(t *testing.T) {
	t.Parallel()
	text := page(t)
	cells := func(of func(*population) string) string {
		var row strings.Builder
		for i := range populations {
			row.WriteString(" | " + of(&populations[i]))
		}
		return row.String()
	}
	percent := func(v float64) string { return fmt.Sprintf("%.4g %%", 100*v) }
	for name, of := range map[string]func(*population) string{
		"launches a day":                    func(p *population) string { return thousands(p.launchesADay) },
		"traded by anybody but the creator": func(p *population) string { return percent(p.traded) },
		"buyers of a launch": func(p *population) string {
			b := p.buyers
			return fmt.Sprintf("%v %s + %v P(%v, %v, %s)", math.Round((1-b.tail)*1000)/1000, b.body, b.tail, b.from, b.exponent, thousands(b.to))
		},
		"a purchase, USD": func(p *population) string { return p.buyUSD.String() },
		"holding time of those who sell": func(p *population) string {
			return fmt.Sprintf("LN(%s s, %v)", thousands(p.holdS.median), p.holdS.sigma)
		},
		"never sell": func(p *population) string { return percent(p.neverSell) },
		"launches with a sniper in the first two blocks": func(p *population) string { return percent(p.sniped) },
		"launches that are bundled, share of the supply": func(p *population) string { return percent(p.bundled) + ", " + percent(p.bundleSupply) },
		"launches with bots that trade to and fro":       func(p *population) string { return percent(p.washed) },
		"trades by wallets with 15 tokens a day":         func(p *population) string { return percent(p.terminals) },
		"tokens a day of other wallets":                  func(p *population) string { return fmt.Sprint(p.perDay) },
		"wallets that are contracts":                     func(p *population) string { return percent(p.smart) },
	} {
		says(t, text, "| %s%s |", name, cells(of))
	}
	for name, of := range map[string]func(*inputs) string{
		"gas price, gwei":              func(in *inputs) string { return fmt.Sprint(in.gasGwei) },
		"a wallet paid by an exchange": func(in *inputs) string { return fmt.Sprint(in.exchange) },
		"a wallet of thirty days":      func(in *inputs) string { return fmt.Sprint(in.aged) },
		"a rented wallet, a day":       func(in *inputs) string { return fmt.Sprint(in.rented) },
		"interest on capital, a day":   func(in *inputs) string { return fmt.Sprintf("%.2g %%", 100*in.capitalADay) },
	} {
		var row strings.Builder
		for i := range allInputs {
			row.WriteString(" | " + of(&allInputs[i]))
		}
		says(t, text, "| %s%s |", name, row.String())
	}
	says(t, text, "is within an hour of it for %.0f %% (assumed) and within a day for %.0f %%", 100*diesInHour, 100*diesInDay)
	says(t, text, "Snipers hold for LN(%v s, %v)", sniperHold.median, sniperHold.sigma)
	says(t, text, "Wallets are LN(%.0f days, %v) old", walletAge.median/day, walletAge.sigma)
	says(t, text, "%.0f %% get their first coins from one of %d wallets of exchanges, %.0f %% from a bridge", 100*fromExchange, exchangeWallets, 100*fromBridge)
	says(t, text, "Launches with fewer than %d buyers", leastBuyers)
	says(t, text, "The chain's coin is worth %s USD. A swap takes %s units of gas, a transfer %s, one of a token %s", thousands(coinUSD), thousands(gasSwap),
		thousands(gasTransfer), thousands(gasToken))
}

func (l lognormal) String() string { return fmt.Sprintf("LN(%v, %v)", l.median, l.sigma) }

// thousands is a whole number as the page has it.
func thousands(v float64) string {
	text := strconv.Itoa(int(v))
	if n := len(text) - 3; n > 0 {
		return text[:n] + "," + text[n:]
	}
	return text
}

// TestThePageHasWhatRecordedBlocksShow computes the page's figures of two whole blocks.
func TestThePageHasWhatRecordedBlocksShow(t *testing.T) {
	t.Parallel()
	const blocks = "evm-blocks/ethereum-17173049-17173050/"
	type transaction struct {
		Hash  string `json:"hash"`
		From  string `json:"from_address"`
		Nonce int    `json:"nonce"`
	}
	type log struct {
		Tx      string   `json:"transaction_hash"`
		Address string   `json:"address"`
		Data    string   `json:"data"`
		Topics  []string `json:"topics"`
	}
	senders, byTx := map[string]transaction{}, map[string][]log{}
	lines(t, blocks+"expected_transactions.json", func(x transaction) { senders[x.Hash] = x })
	lines(t, blocks+"expected_logs.json", func(l log) { byTx[l.Tx] = append(byTx[l.Tx], l) })
	const (
		swapV2   = "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"
		swapV3   = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
		transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
		weth     = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
	)
	var sizes []float64
	swaps, elsewhere, swappers, young := 0, 0, 0, 0
	for tx, logs := range byTx {
		before := swaps
		for _, s := range logs {
			if s.Topics[0] != swapV2 && s.Topics[0] != swapV3 {
				continue
			}
			swaps++
			if !strings.HasSuffix(s.Topics[2], senders[tx].From[2:]) {
				elsewhere++
			}
			for _, l := range logs {
				if l.Topics[0] == transfer && l.Address == weth && (strings.HasSuffix(l.Topics[1], s.Address[2:]) || strings.HasSuffix(l.Topics[2], s.Address[2:])) {
					amount, _ := new(big.Int).SetString(l.Data[2:], 16)
					sizes = append(sizes, math.Log(float64(new(big.Int).Rsh(amount, 20).Int64())))
					break
				}
			}
		}
		if swaps > before {
			if swappers++; senders[tx].Nonce < 10 {
				young++
			}
		}
	}
	var sum, squares float64
	for _, v := range sizes {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(sizes))
	says(t, page(t), "have %d swaps. The sizes of the %d against the chain's coin have a standard deviation of their logarithm of %.2f", swaps, len(sizes),
		math.Sqrt(squares/n-sum*sum/n/n))
	says(t, page(t), "%d of the %d paid out to another account", elsewhere, swaps)
	says(t, page(t), "%d of %d senders had sent fewer than 10 transactions before", young, swappers)
}

// lines reads a recording with a JSON object on each line.
func lines[T any](t *testing.T, path string, take func(T)) {
	t.Helper()
	file, err := os.Open(recorded.Path(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it is only read
	in := bufio.NewScanner(file)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		take(v)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// A plan that makes no sense is refused with a text that names what is wrong and what is allowed.
func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"venue":"moon"}`:                `venue is "moon": it must be one of curve, pool-half, pool-all`,
		`{"source":"old"}`:                `source is "old": it must be one of fresh, day-old, aged, rented`,
		`{"funding":"x"}`:                 `funding is "x": it must be one of fan-out, chain, disperser, silent-contract, exchanges`,
		`{"wallets":20001}`:               "wallets is 20001: it must be from 0 to 20000",
		`{"buy_usd":-1}`:                  "buy_usd is -1: it must be from 0 to 1e+06",
		`{"pass_on":1.1}`:                 "pass_on is 1.1: it must be from 0 to 1",
		`{"again_s":0.5}`:                 "again_s is 0.5: it must be 0, or from 10 on",
		`{"tokens":9}`:                    "tokens is 9: it must be from 1 to 8",
		`{"tokens":0}`:                    "tokens is 0: it must be from 1 to 8",
		`{"lead_s":1e8}`:                  "lead_s is 1e+08: it must be from 0 to 97200",
		`{"wallets":20000,"buy_usd":1e6}`: "make purchases of 20000000000 USD: 100000000 is the most",
		`{"walets":1}`:                    `unknown field "walets"`,
		`{"wallets":1}{"tokens`:           "one JSON object",
	} {
		if _, err := parsePlan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	whole := plan{Venue: 2, Wallets: 20_000, BuyUSD: 600, AgainS: 10, Source: rented, Funding: inSilence, Ring: true, LeadS: 97_200, Tokens: 8}
	again, err := parsePlan([]byte(whole.json()))
	if err != nil || *again != whole {
		t.Errorf("%s: %+v, %v", whole.json(), again, err)
	}
}
