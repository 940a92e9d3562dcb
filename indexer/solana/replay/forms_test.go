package replay

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/idltest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// describedForm has the names that a program's description gives the places of a form.
type describedForm struct {
	program, instruction     string
	subject, owner, from, to string
	tokens                   [][2]string
}

// described are the forms, in their order.
var (
	describedPools = map[market.Protocol][]describedForm{
		market.PumpSwap: {{"pumpswap", "sell", "pool", "user", "user_base_token_account", "user_quote_token_account", [][2]string{{"base_mint", "base_token_program"}, {"quote_mint", "quote_token_program"}}}},
		market.MeteoraDAMMv2: {
			{"damm", "swap", "pool", "payer", "input_token_account", "output_token_account", [][2]string{{"token_a_mint", "token_a_program"}, {"token_b_mint", "token_b_program"}}},
			{"damm", "swap2", "pool", "payer", "input_token_account", "output_token_account", [][2]string{{"token_a_mint", "token_a_program"}, {"token_b_mint", "token_b_program"}}},
		},
		market.RaydiumCPMM: {{
			"cpmm", "swap_base_input", "pool_state", "payer", "input_token_account", "output_token_account",
			[][2]string{{"input_token_mint", "input_token_program"}, {"output_token_mint", "output_token_program"}},
		}},
		market.RaydiumAMMv4: {
			{"ammv4", "swap_base_in", "amm", "user_source_owner", "user_token_source", "user_token_destination", nil},
			{"ammv4", "swap_base_in_v2", "amm", "user_source_owner", "user_token_source", "user_token_destination", nil},
		},
	}
	describedCurves = map[chainconfig.VenueProtocol][]describedForm{
		chainconfig.PumpFun: {
			{"pump", "sell", "mint", "user", "associated_user", "", nil},
			{"pump", "sell_v2", "base_mint", "user", "associated_base_user", "associated_quote_user", [][2]string{{"base_mint", "base_token_program"}, {"quote_mint", "quote_token_program"}}},
		},
		chainconfig.RaydiumLaunchLab: {{
			"launchlab", "sell_exact_in", "base_token_mint", "payer", "user_base_token", "user_quote_token",
			[][2]string{{"base_token_mint", "base_token_program"}, {"quote_token_mint", "quote_token_program"}},
		}},
		chainconfig.MeteoraDBC: {
			{"dbc", "swap", "base_mint", "payer", "input_token_account", "output_token_account", [][2]string{{"base_mint", "token_base_program"}, {"quote_mint", "token_quote_program"}}},
			{"dbc", "swap2", "base_mint", "payer", "input_token_account", "output_token_account", [][2]string{{"base_mint", "token_base_program"}, {"quote_mint", "token_quote_program"}}},
			{
				"dbc", "swap2_with_transfer_hook", "base_mint", "payer", "input_token_account", "output_token_account",
				[][2]string{{"base_mint", "token_base_program"}, {"quote_mint", "token_quote_program"}},
			},
		},
	}
)

// descriptions are the programs' own, and for Raydium's those of others.
func descriptions(t *testing.T) map[string]idltest.Program {
	t.Helper()
	programs, _ := idltest.Encoded(t, 1)
	var raydium map[string]struct {
		Address      string
		Instructions []struct {
			Name          string
			Discriminator []int
			Accounts      []struct{ Name string }
		}
	}
	if err := json.Unmarshal(svm.RaydiumDescriptions, &raydium); err != nil {
		t.Fatal(err)
	}
	for name, p := range raydium {
		out := idltest.Program{Address: p.Address, Accounts: map[string][]string{}, Instructions: map[string][]byte{}}
		for _, in := range p.Instructions {
			for _, n := range in.Discriminator {
				out.Instructions[in.Name] = append(out.Instructions[in.Name], byte(n))
			}
			for _, a := range in.Accounts {
				out.Accounts[in.Name] = append(out.Accounts[in.Name], a.Name)
			}
		}
		programs[name] = out
	}
	return programs
}

// check holds a form against its description.
func (d *describedForm) check(t *testing.T, programs map[string]idltest.Program, f *form) {
	t.Helper()
	p := programs[d.program]
	accounts := p.Accounts[d.instruction]
	at := func(place int) string {
		if place < 0 {
			place += len(accounts)
		}
		if place < 0 || place >= len(accounts) {
			return ""
		}
		return accounts[place]
	}
	if f.begin != string(p.Instructions[d.instruction]) || at(f.subject) != d.subject || at(f.owner) != d.owner || at(f.from) != d.from || f.paysSOL != (d.to == "") || !f.paysSOL && at(f.to) != d.to {
		t.Errorf("%s of %s: %+v of %v", d.instruction, d.program, f, accounts)
	}
	var tokens [][2]string
	for _, places := range f.tokens {
		tokens = append(tokens, [2]string{at(places[0]), at(places[1])})
	}
	if !slices.Equal(tokens, d.tokens) {
		t.Errorf("%s of %s: the tokens are %v", d.instruction, d.program, tokens)
	}
}

// TestForms holds the places of all forms against the programs' own descriptions.
func TestForms(t *testing.T) {
	t.Parallel()
	programs := descriptions(t)
	for protocol, forms := range pools {
		if len(forms) != len(describedPools[protocol]) {
			t.Fatalf("%s has %d forms", protocol, len(forms))
		}
		for i := range forms {
			describedPools[protocol][i].check(t, programs, &forms[i])
		}
	}
	for protocol, c := range curves {
		if len(c.forms) != len(describedCurves[protocol]) {
			t.Fatalf("%s has %d forms", protocol, len(c.forms))
		}
		for i := range c.forms {
			d := describedCurves[protocol][i]
			if d.check(t, programs, &c.forms[i]); programs[d.program].Address != c.program {
				t.Errorf("%s is at %s", protocol, c.program)
			}
		}
	}
}
