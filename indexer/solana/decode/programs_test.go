package decode

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/idltest"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The tests of this file build their transactions by hand, from the programs' sources, because nothing else is at hand: there is no IDL and no recording of Raydium's
// CPMM, of a new pool of AMM v4, or of a migration.

func numbersOf(list ...uint64) (out []byte) {
	for _, n := range list {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return out
}

// logged are the lines of a program that logs an event in a call from a message.
func logged(program, event string, body []byte) []string {
	disc := eventNamed(event)
	return []string{
		"Program " + program + " invoke [1]", "Program data: " + base64.StdEncoding.EncodeToString(append(disc[:], body...)), "Program " + program + " success",
	}
}

// balanceOf is a token account's balance, by its place among the transaction's keys.
func balanceOf(place int, mint, owner string, amount uint64) map[string]any {
	return map[string]any{"accountIndex": place, "mint": mint, "owner": owner, "uiTokenAmount": map[string]any{"amount": strconv.FormatUint(amount, 10), "decimals": 6}}
}

func keyBytes(text string) []byte { return key(text).Bytes()[1:] }

// cpmmAccounts are those of a swap.
var cpmmAccounts = []string{
	"payer", "authority", "amm_config", "pool_state", "input_token_account", "output_token_account", "input_vault", "output_vault", "input_token_program",
	"output_token_program", "input_token_mint", "output_token_mint", "observation_state",
}

// cpmmSwap gives 100 of a token for 130 of another. The pool's token accounts have 11 and 22 more than it, which are owed to others.
func cpmmSwap(given, got string) *calls {
	instruction, holder := instructionNamed("swap_base_input"), market.RaydiumCPMMHolder.String()
	return &calls{
		program: cpmmProgram, accounts: cpmmAccounts, named: map[string]string{"input_token_mint": given, "output_token_mint": got}, data: append(instruction[:], numbersOf(100, 1)...),
		logs:     logged(cpmmProgram, "SwapEvent", slices.Concat(keyBytes(accountOf("pool_state")), numbersOf(5000, 7000, 100, 130, 0, 0), []byte{1})),
		before:   []map[string]any{balanceOf(8, given, holder, 5011), balanceOf(9, got, holder, 7022)},
		balances: []map[string]any{balanceOf(8, given, holder, 5111), balanceOf(9, got, holder, 6892)},
	}
}

// cpmmLiquidity is a deposit (kind 0) or a withdrawal (1).
func cpmmLiquidity(name string, kind byte) *calls {
	instruction := instructionNamed(name)
	return &calls{
		program: cpmmProgram, accounts: []string{"owner", "authority", "pool_state"}, data: instruction[:],
		logs: logged(cpmmProgram, "LpChangeEvent", slices.Concat(keyBytes(accountOf("pool_state")), numbersOf(9, 1000, 2000, 100, 200, 3, 4), []byte{kind})),
	}
}

// TestCPMMSwap: a swap is told by its event, in either direction, and by the pool's token accounts where the log is cut off.
func TestCPMMSwap(t *testing.T) {
	d := newDecoder(t, everything())
	small, large := accountOf("input_token_mint"), accountOf("output_token_mint")
	if slices.Compare(keyBytes(small), keyBytes(large)) > 0 {
		small, large = large, small
	}
	pool, payer := key(accountOf("pool_state")), key(accountOf("payer"))
	for name, given := range map[string]string{"the first token": small, "the second token": large} {
		got := small
		if given == small {
			got = large
		}
		c := cpmmSwap(given, got)
		want := []market.Event{
			market.PoolCreated{Protocol: market.RaydiumCPMM, Factory: key(cpmmProgram), Pool: pool, Token0: key(small), Token1: key(large), Seen: true},
			market.Reserves{Pool: pool, Reserve0: amountOf(5100), Reserve1: amountOf(6870)},
			market.Swap{Pool: pool, Sender: payer, Recipient: payer, Amount0: in(amountOf(100)), Amount1: out(amountOf(130))},
		}
		cut := slices.Clone(want)
		cut[1] = market.ReservesMoved{Pool: pool, Change0: in(amountOf(100)), Change1: out(amountOf(130))}
		if given == large {
			want[1] = market.Reserves{Pool: pool, Reserve0: amountOf(6870), Reserve1: amountOf(5100)}
			cut[1] = market.ReservesMoved{Pool: pool, Change0: out(amountOf(130)), Change1: in(amountOf(100))}
			want[2] = market.Swap{Pool: pool, Sender: payer, Recipient: payer, Amount0: out(amountOf(130)), Amount1: in(amountOf(100))}
			cut[2] = want[2]
		}
		if list := eventsOf(decodeOne(t, d, c.raw(t))); !slices.Equal(list, want) {
			t.Errorf("%s is given:\n got %+v\nwant %+v", name, list, want)
		}
		c.logs = []string{"Log truncated"}
		if list := eventsOf(decodeOne(t, d, c.raw(t))); !slices.Equal(list, cut) {
			t.Errorf("%s is given, and the log is cut off:\n got %+v\nwant %+v", name, list, cut)
		}
		c.logs = logged(cpmmProgram, "SwapEvent", slices.Concat(keyBytes(accountOf("another pool")), numbersOf(5000, 7000, 100, 130, 0, 0), []byte{1}))
		if list := eventsOf(decodeOne(t, d, c.raw(t))); list != nil {
			t.Errorf("an event of another pool: %+v", list)
		}
	}
}

// TestCPMMLiquidity: deposits and withdrawals tell the reserves before them.
func TestCPMMLiquidity(t *testing.T) {
	d := newDecoder(t, everything())
	for name, c := range map[string]struct {
		kind byte
		want [2]uint64
	}{"deposit": {0, [2]uint64{1100, 2200}}, "withdraw": {1, [2]uint64{897, 1796}}} {
		call := cpmmLiquidity(name, c.kind)
		want := []market.Event{market.Reserves{Pool: key(accountOf("pool_state")), Reserve0: amountOf(c.want[0]), Reserve1: amountOf(c.want[1])}}
		if list := eventsOf(decodeOne(t, d, call.raw(t))); !slices.Equal(list, want) {
			t.Errorf("%s: %+v, want %+v", name, list, want)
		}
	}
}

// madePool is a call that makes a pool, without the numbers at its end, and what it tells.
type madePool struct {
	calls

	want market.PoolCreated
}

// holding is the call with the token accounts of the pool that it makes, at a place among the transaction's keys and the one after it.
func (m madePool) holding(place int, holder market.Address) madePool {
	m.want.Token0, m.want.Token1 = key(accountOf("token_0_mint")), key(accountOf("token_1_mint"))
	m.balances = append(m.balances, balanceOf(place, accountOf("token_0_mint"), holder.String(), 500), balanceOf(place+1, accountOf("token_1_mint"), holder.String(), 600))
	return m
}

// cpmmMade makes a pool of CPMM, with the pool's account behind some others.
func cpmmMade(name string, before ...string) madePool {
	instruction := instructionNamed(name)
	return madePool{
		calls{
			program: cpmmProgram, data: append(instruction[:], numbersOf(7, 8)...), accounts: append(before,
				"pool_state", "token_0_mint", "token_1_mint", "lp_mint", "creator_token_0", "creator_token_1", "creator_lp_token", "token_0_vault", "token_1_vault"),
			balances: []map[string]any{balanceOf(6+len(before), accountOf("token_0_mint"), accountOf("creator"), 77)},
		},
		market.PoolCreated{Protocol: market.RaydiumCPMM, Factory: key(cpmmProgram), Pool: key(accountOf("pool_state"))},
	}.holding(len(before)+9, market.RaydiumCPMMHolder)
}

// ammMade makes a pool of AMM v4, whose instruction has some accounts between the pool's authority and the token of its shares.
func ammMade(between ...string) madePool {
	accounts := slices.Concat([]string{"token_program", "ata_program", "system_program", "rent", "amm", "authority"}, between, []string{
		"lp_mint", "token_0_mint", "token_1_mint", "coin_vault", "pc_vault", "target_orders", "config", "fee", "market_program", "market", "wallet", "from_0", "from_1",
	})
	if len(between) > 0 {
		accounts = append(accounts, "lp")
	}
	return madePool{
		calls{program: ammProgram, data: []byte{ammInitialize2, 254}, accounts: accounts},
		market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: key(ammProgram), Pool: key(accountOf("amm"))},
	}.holding(len(between)+11, market.RaydiumAMMv4Holder)
}

// madePools are calls that make pools of programs that tell no event of it.
func madePools() map[string]madePool {
	return map[string]madePool{
		"CPMM":                    cpmmMade("initialize", "creator", "amm_config", "authority"),
		"CPMM with a permission":  cpmmMade("initialize_with_permission", "payer", "creator", "amm_config", "authority"),
		"AMM v4":                  ammMade("open_orders"),
		"AMM v4 without a market": ammMade(),
	}
}

// TestMadePools: the making of pools of programs that tell no event of it.
func TestMadePools(t *testing.T) {
	d := newDecoder(t, everything())
	for name, c := range madePools() {
		want := []market.Event{c.want, market.Reserves{Pool: c.want.Pool, Reserve0: amountOf(500), Reserve1: amountOf(600)}}
		begins := c.data
		for opensAt, isOpen := range map[uint64]bool{0: true, 1: true, 2: false, 1<<64 - 1: false} { // the block's time is 1
			c.data = slices.Concat(begins, numbersOf(opensAt, 5, 6))
			list := eventsOf(decodeOne(t, d, c.raw(t)))
			if isOpen && !slices.Equal(list, want) || !isOpen && list != nil {
				t.Errorf("%s that opens at %d:\n got %+v\nwant %+v", name, opensAt, list, want)
			}
		}
		c.data = slices.Concat(begins, numbersOf(1, 5, 6))
		untimed := strings.Replace(string(solanatest.Block(t, market.Header{Time: 1}, 1, c.raw(t))), `"blockTime":1`, `"blockTime":null`, 1)
		if b, err := d.ParseBlock(2, []byte(untimed)); err != nil || eventsOf(b) != nil {
			t.Errorf("%s in a block without a time: %+v, error %v", name, eventsOf(b), err)
		}
		last := strings.Replace(string(solanatest.Block(t, market.Header{Time: 1}, 1, c.raw(t))), `"blockTime":1,`, "", 1)
		if b, err := d.ParseBlock(2, []byte(strings.TrimSuffix(last, "}")+`,"blockTime":1}`)); err != nil || !slices.Equal(eventsOf(b), want) {
			t.Errorf("%s in a block whose time stands last: %+v, error %v", name, eventsOf(b), err)
		}
	}
}

// vaultCall is a call about a pool whose token accounts stand at a place and the one after it, among so many accounts. The pool has 520 and 7 there before the transaction, and 500 and 9
// after it.
func vaultCall(program string, data []byte, pool, place, accounts int) *calls {
	c := &calls{program: program, data: data}
	for i := range accounts {
		c.accounts = append(c.accounts, fmt.Sprintf("account %d", i))
	}
	c.accounts[pool], c.accounts[place], c.accounts[place+1] = "pool", "vault 0", "vault 1"
	holder := market.RaydiumAMMv4Holder.String()
	if program == cpmmProgram {
		holder = market.RaydiumCPMMHolder.String()
	}
	c.before = []map[string]any{balanceOf(place+2, accountOf("token 0"), holder, 520), balanceOf(place+3, accountOf("token 1"), holder, 7)}
	c.balances = []map[string]any{balanceOf(place+2, accountOf("token 0"), holder, 500), balanceOf(place+3, accountOf("token 1"), holder, 9)}
	return c
}

// withForeignVault has another pool's account of a third token at a place before the pool's own, where the program takes any account.
func withForeignVault(c *calls, place int, holder market.Address) *calls {
	c.before = append([]map[string]any{balanceOf(place+2, accountOf("token of another pool"), holder.String(), 1)}, c.before...)
	c.balances = append([]map[string]any{balanceOf(place+2, accountOf("token of another pool"), holder.String(), 1_000_000)}, c.balances...)
	return c
}

// movedVaults are calls about a pool, "pool", that take 20 of its first token and give it 2 of the second one, of which no line of the log tells.
func movedVaults() map[string]*calls {
	deposit, withdraw := instructionNamed("deposit"), instructionNamed("withdraw")
	return map[string]*calls{
		"a CPMM's deposit":                               vaultCall(cpmmProgram, deposit[:], 2, 6, 13),
		"a CPMM's withdrawal":                            vaultCall(cpmmProgram, withdraw[:], 2, 6, 14),
		"a CPMM's deposit beside another pool's account": withForeignVault(vaultCall(cpmmProgram, deposit[:], 2, 6, 13), 4, market.RaydiumCPMMHolder),
		"an AMM v4's deposit":                            vaultCall(ammProgram, []byte{ammDeposit}, 1, 5, 11),
		"an AMM v4's withdrawal":                         vaultCall(ammProgram, []byte{ammWithdraw}, 1, 5, 11),
		"a deposit of the order book's time":             vaultCall(ammProgram, []byte{ammDeposit}, 1, 6, 14),
		"a withdrawal of the order book's time":          vaultCall(ammProgram, []byte{ammWithdraw}, 1, 6, 20),
		"a deposit beside another pool's account":        withForeignVault(vaultCall(ammProgram, []byte{ammDeposit}, 1, 6, 14), 3, market.RaydiumAMMv4Holder),
	}
}

// owedTaken takes out of a pool what it owes.
func owedTaken() *calls { return vaultCall(ammProgram, []byte{ammWithdrawPnL}, 1, 4, 10) }

// TestLiquidityWithoutALog: deposits and withdrawals of which no line of the log tells change a pool's reserves by what they do to its token accounts, whose places don't depend on who
// else has accounts there. When the AMM v4 pays out what it owes, nothing but the reserves is left.
func TestLiquidityWithoutALog(t *testing.T) {
	d, pool := newDecoder(t, everything()), key(accountOf("pool"))
	check := func(name string, c *calls, want market.Event) {
		if list := eventsOf(decodeOne(t, d, c.raw(t))); !slices.Equal(list, []market.Event{want}) {
			t.Errorf("%s: %+v, want %+v", name, list, want)
		}
	}
	for name, c := range movedVaults() {
		check(name, c, market.ReservesMoved{Pool: pool, Change0: out(amountOf(20)), Change1: in(amountOf(2))})
	}
	check("what is owed is taken", owedTaken(), market.Reserves{Pool: pool, Reserve0: amountOf(500), Reserve1: amountOf(9)})
	for name, c := range map[string]*calls{
		"a deposit with too few accounts":  vaultCall(ammProgram, []byte{ammDeposit}, 1, 3, 6),
		"what is owed, with an order book": vaultCall(ammProgram, []byte{ammWithdrawPnL}, 1, 5, 17),
		"a swap with no accounts":          {program: ammProgram, data: []byte{ammSwapBaseIn}},
		"a CPMM's swap with none":          {program: cpmmProgram, data: cpmmSwapIn[:]},
		"accounts of nobody's pool":        vaultCall(cpmmProgram, cpmmDeposit[:], 2, 8, 13),
	} {
		if list := eventsOf(decodeOne(t, d, c.raw(t))); list != nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// swapsBesideOthers are swaps of which no line of the log tells. Some of them have an account of another pool among theirs.
func swapsBesideOthers() map[string]*calls {
	list := map[string]*calls{
		"CPMM":                         withForeignVault(cpmmSwap(accountOf("input_token_mint"), accountOf("output_token_mint")), 5, market.RaydiumCPMMHolder),
		"AMM v4":                       withForeignVault(vaultCall(ammProgram, []byte{ammSwapBaseIn}, 1, 4, 17), 3, market.RaydiumAMMv4Holder),
		"AMM v4 with target orders":    withForeignVault(vaultCall(ammProgram, []byte{ammSwapBaseOut}, 1, 5, 18), 4, market.RaydiumAMMv4Holder),
		"AMM v4 without order book":    vaultCall(ammProgram, []byte{ammSwapBaseInV2}, 1, 3, 8),
		"AMM v4 with more than needed": vaultCall(ammProgram, []byte{ammSwapBaseOutV2}, 1, 3, 9),
	}
	for _, c := range list {
		c.logs = []string{"Log truncated"}
	}
	return list
}

// TestASwapBesideAnotherPoolsAccount: a trader may have the output sent to an account of another pool. The swap is told by the accounts of the pool that traded.
func TestASwapBesideAnotherPoolsAccount(t *testing.T) {
	d := newDecoder(t, everything())
	for name, c := range swapsBesideOthers() {
		list := eventsOf(decodeOne(t, d, c.raw(t)))
		if len(list) != 3 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		r, _ := list[1].(market.ReservesMoved)
		s, _ := list[2].(market.Swap)
		if r.Change0 != s.Amount0 || r.Change1 != s.Amount1 || s.Amount0.Neg == s.Amount1.Neg || s.Amount0.Abs.GtUint64(200) || s.Amount1.Abs.GtUint64(200) {
			t.Errorf("%s: %+v, and the reserves move by %+v", name, s, r)
		}
		owner := map[string]string{"CPMM": "payer", "AMM v4": "account 16", "AMM v4 with target orders": "account 17"}[name]
		if owner == "" {
			owner = "account 7"
		}
		if s.Recipient != key(accountOf(owner)) {
			t.Errorf("%s is of %s", name, s.Recipient)
		}
	}
}

// rayLogged is a call of AMM v4 that logs a line of a kind, with numbers of 64 bits.
func rayLogged(c *calls, kind byte, numbers ...uint64) *calls {
	line := base64.StdEncoding.EncodeToString(append([]byte{kind}, numbersOf(numbers...)...))
	c.logs = []string{"Program " + ammProgram + " invoke [1]", "Program log: ray_log: " + line, "Program " + ammProgram + " success"}
	return c
}

// loggedVaults are calls of AMM v4 whose lines tell that a pool had 700 and 70 before them, and what they move: 30 and 3.
func loggedVaults() map[string]*calls {
	swapped := []uint64{40, 3, 2, 0, 700, 70, 30} // of its second token 3 for 30 of the first, by what comes out
	return map[string]*calls{
		"a swap by the output":                     rayLogged(vaultCall(ammProgram, []byte{ammSwapBaseOut}, 1, 4, 17), 4, swapped...),
		"a swap by the output, with target orders": rayLogged(vaultCall(ammProgram, []byte{ammSwapBaseOut}, 1, 5, 18), 4, swapped...),
		"a swap by the output, without order book": rayLogged(vaultCall(ammProgram, []byte{ammSwapBaseOutV2}, 1, 3, 8), 4, swapped...),
		"a swap by the input, without order book":  rayLogged(vaultCall(ammProgram, []byte{ammSwapBaseInV2}, 1, 3, 8), 3, 30, 1, 2, 0, 700, 70, 3),
		"a deposit":    rayLogged(vaultCall(ammProgram, []byte{ammDeposit}, 1, 5, 11), 1, 40, 40, 0, 700, 70, 9, 0, 0, 0, 0, 30, 3, 5),
		"a withdrawal": rayLogged(vaultCall(ammProgram, []byte{ammWithdraw}, 1, 5, 11), 2, 5, 5, 700, 70, 9, 0, 0, 0, 0, 30, 3),
	}
}

// TestLinesOfTheAMM: where a line of the log tells of a swap, a deposit or a withdrawal, it counts, and not what the transaction did to the pool's token accounts.
func TestLinesOfTheAMM(t *testing.T) {
	d, pool := newDecoder(t, everything()), key(accountOf("pool"))
	thirty, three := in(amountOf(30)), in(amountOf(3))
	for name, c := range loggedVaults() {
		want := market.Reserves{Pool: pool, Reserve0: amountOf(730), Reserve1: amountOf(67)}
		switch name {
		case "a deposit":
			want.Reserve1 = amountOf(73)
		case "a withdrawal":
			want.Reserve0 = amountOf(670)
		}
		list := eventsOf(decodeOne(t, d, c.raw(t)))
		if !slices.Contains(list, market.Event(want)) {
			t.Errorf("%s: %+v, want %+v", name, list, want)
		}
		if isSwap := len(list) == 3; isSwap != strings.HasPrefix(name, "a swap") {
			t.Errorf("%s: %+v", name, list)
		} else if isSwap {
			if swap, _ := list[2].(market.Swap); swap.Amount0 != thirty || swap.Amount1 != three.Negate() {
				t.Errorf("%s: %+v", name, swap)
			}
		}
	}
}

// launchLabMoved are accounts of the instructions that move a full curve of LaunchLab to a pool.
var launchLabMoved = []string{"payer", "base_mint", "quote_mint", "platform_config", "cpswap_program", "cpswap_pool"}

// launchLabMovedToAMM are accounts of the instruction that moves a full curve of LaunchLab to a pool of AMM v4.
var launchLabMovedToAMM = []string{
	"payer", "base_mint", "quote_mint", "openbook_program", "market", "request_queue", "event_queue", "bids", "asks", "market_vault_signer", "market_base_vault", "market_quote_vault",
	"amm_program", "amm_pool",
}

// TestMigrations: instructions that move a full curve's funds to a pool, of which no event tells.
func TestMigrations(t *testing.T) {
	d := newDecoder(t, everything())
	programs, _ := idltest.Encoded(t, 1)
	for name, c := range map[string]struct {
		program  string
		accounts []string
		want     []market.Event
	}{
		"migration_damm_v2": {MeteoraDBC, programs["dbc"].Accounts["migration_damm_v2"], []market.Event{
			market.Graduated{Venue: "dbc", Token: key(accountOf("base_mint")), Pool: key(accountOf("pool"))},
		}},
		"migrate_meteora_damm": {MeteoraDBC, programs["dbc"].Accounts["migrate_meteora_damm"], []market.Event{
			market.Graduated{Venue: "dbc", Token: key(accountOf("token_a_mint")), Pool: key(accountOf("pool"))},
			market.Graduated{Venue: "dbc", Token: key(accountOf("token_b_mint")), Pool: key(accountOf("pool"))},
		}},
		"migrate_to_cpswap": {LaunchLab, launchLabMoved, []market.Event{
			market.Graduated{Venue: "launchlab", Token: key(accountOf("base_mint")), Pool: key(accountOf("cpswap_pool"))},
		}},
		"migrate_to_amm": {LaunchLab, launchLabMovedToAMM, []market.Event{
			market.Graduated{Venue: "launchlab", Token: key(accountOf("base_mint")), Pool: key(accountOf("amm_pool"))},
		}},
		"another": {LaunchLab, launchLabMoved, nil},
	} {
		instruction := instructionNamed(name)
		call := calls{program: c.program, accounts: c.accounts, data: instruction[:]}
		if list := eventsOf(decodeOne(t, d, call.raw(t))); !slices.Equal(list, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, list, c.want)
		}
	}
	for name, disc := range programs["dbc"].Instructions {
		if got := instructionNamed(name); string(got[:]) != string(disc) {
			t.Errorf("instruction %s begins with %x, want %x", name, got, disc)
		}
	}
}
