package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// TestNothingPrivateIsAnswered walks every answer, its headers, and the data of every card for what is nobody's business: members' ids, proofs and
// private wallets, and who has left.
func TestNothingPrivateIsAnswered(t *testing.T) {
	t.Parallel()
	const hiddenWallet, hiddenSignature = "0xd1dde20000000000000000000000000000000001", "0x51617a7e"
	private := []string{"id-of-shown", "id-of-hidden", "id-of-left", "hidden_handle", "left_handle", hiddenWallet[2:], hiddenSignature, "text of a proof"}
	st := seeded(t, "sqlite")
	wallet := func(id member.ID, text string, public bool) member.Record {
		return member.Record{ID: id, Wallet: &member.WalletRecord{
			Family: chainconfig.EVM, Address: address(t, text), Public: public, Names: true, Signed: true, IssuedAt: clock.Unix(),
			Proof: &member.Proof{Text: "text of a proof", Signature: hiddenSignature, CheckedAt: clock.Unix()},
		}}
	}
	writeMembers(
		t, st, 1, member.Record{ID: "id-of-shown", Handle: "shown_handle", JoinedAt: 1}, wallet("id-of-shown", creator, true),
		wallet("id-of-shown", hiddenWallet, false), member.Record{ID: "id-of-hidden", Handle: "hidden_handle", JoinedAt: 1}, wallet("id-of-hidden", trader, false),
		member.Record{ID: "id-of-left", Handle: "left_handle", JoinedAt: 1}, wallet("id-of-left", "0xd1dde20000000000000000000000000000000002", true),
	)
	writeMembers(t, st, 2, member.Record{ID: "id-of-left", Deleted: true})
	c, e, _ := drawing(t, st)
	shown := 0
	hold := func(what, text string) {
		if strings.Contains(text, "shown_handle") {
			shown++
		}
		for _, p := range private {
			if strings.Contains(strings.ToLower(text), p) {
				t.Errorf("%s says %q", what, p)
			}
		}
	}
	for _, target := range operationTargets {
		res, body := c.do(t, http.MethodGet, target, nil)
		if target == "/openapi.json" || strings.HasPrefix(target, "/docs") { // what they name is fields
			continue
		}
		hold(target, fmt.Sprint(res.Header)+string(body))
	}
	for _, card := range e.drawn {
		data, err := json.Marshal(card)
		if err != nil {
			t.Fatal(err)
		}
		hold("the card of "+string(card.Kind()), string(data))
	}
	if shown < 3 {
		t.Errorf("the handle that is public is in %d answers and cards: the walk shows nothing", shown)
	}
}
