package chainconfig_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// document is one of a binary of before, whose addresses were texts.
const document = `{"id":"base","family":"EVM","evm_chain_id":8453,"min_trade_usd":1,"block_time":"2s",` +
	`"native":{"symbol":"ETH","wrapped":"0x4200000000000000000000000000000000000006"},` +
	`"quotes":[{"symbol":"USDC","address":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","peg_usd":1,"peg_bound_pct":2}],` +
	`"majors":[{"asset":"ETH","address":"0x4200000000000000000000000000000000000006"}],` +
	`"exchanges":[{"name":"v2","protocol":"UniswapV2","factory":"0x8909dc15e40173ff4699343b6eb8132c65e18ec6","fee_pips":3000},` +
	`{"name":"v4","protocol":"UniswapV4","factory":"0x498581ff718922c3f8e6a244956af099b2652b2b",` +
	`"hooks":["0xe85a59c628f7d27878aceb4bf3b35733630083a9"],"position_manager":"0x7c5f5a4bbd8fd63184577525326123b519429bdc"}],` +
	`"venues":[{"id":"four-meme","protocol":"FourMemeV2","contracts":["0xec4549cadce5da21df6e6422d448034b5233bfbc"]}],` +
	`"endpoints":[{"url":"http://127.0.0.1:8545","weight":1}],"start":{"now":true},` +
	`"tracking":{"min_liquidity_usd":1000,"holders":"Launches"},"retention":{},` +
	`"reorg_blocks":64,"finality_depth":0,"trust":{"lockers":["0x000000000000000000000000000000000000dead"]},` +
	`"platform_fee":{"recipients":["0x00000000000000000000000000000000000000fe"],"routers":["0x00000000000000000000000000000000000000ff"],"bps":80}}`

func load(t *testing.T, text string) (*chainconfig.Chain, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chain.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return chainconfig.Load(path)
}

// TestDocumentsKeepTheirBytes reads a document and writes it again: an operator that writes other bytes rolls every indexer.
func TestDocumentsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	c, err := load(t, document)
	if err != nil {
		t.Fatal(err)
	}
	if c.Native.Wrapped.Kind() != market.EVMAccount || !c.Exchanges[0].PositionManager.IsNone() || c.Exchanges[1].PositionManager.IsNone() {
		t.Errorf("it was read as %+v", c)
	}
	if again, err := json.Marshal(c); err != nil || string(again) != document {
		t.Errorf("written again it is\n%s, %v\nwant\n%s", again, err, document)
	}
}

// TestLoadNamesABadAddress has a document written by hand.
func TestLoadNamesABadAddress(t *testing.T) {
	t.Parallel()
	_, err := load(t, strings.Replace(document, "0x8909dc15e40173ff4699343b6eb8132c65e18ec6", "0x8909", 1))
	if err == nil || !strings.Contains(err.Error(), "chain.json") || !strings.Contains(err.Error(), `"0x8909" is no address`) {
		t.Errorf("a short address: %v", err)
	}
	const missing, zero = "", "0x0000000000000000000000000000000000000000"
	for _, c := range []struct{ address, as, want string }{
		{"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", missing, `the address of quote USDC is ""; allowed: 0x and 40 hexadecimal digits`},
		{"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "So11111111111111111111111111111111111111112", "the address of quote USDC is"},
		{`"wrapped":"0x4200000000000000000000000000000000000006"`, `"wrapped":"` + zero + `"`, "native.wrapped is"},
		{`"asset":"ETH","address":"0x4200000000000000000000000000000000000006"`, `"asset":"ETH"`, "the address of major ETH is"},
		{"0x8909dc15e40173ff4699343b6eb8132c65e18ec6", missing, "the factory of exchange v2 is"},
		{"0xe85a59c628f7d27878aceb4bf3b35733630083a9", missing, "a hook of exchange v4 is"},
		{"0x7c5f5a4bbd8fd63184577525326123b519429bdc", zero, "the position manager of exchange v4 is"},
		{"0xec4549cadce5da21df6e6422d448034b5233bfbc", missing, "a contract of venue four-meme is"},
		{"0x000000000000000000000000000000000000dead", missing, "trust.lockers is"},
		{"0x00000000000000000000000000000000000000fe", zero, "platform_fee.recipients is"},
		{"0x00000000000000000000000000000000000000ff", missing, "platform_fee.routers is"},
	} {
		_, err := load(t, strings.Replace(document, c.address, c.as, 1))
		if err == nil || !strings.Contains(err.Error(), "chain base: "+c.want) {
			t.Errorf("%s as %q: %v; want %s", c.address, c.as, err, c.want)
		}
	}
}
