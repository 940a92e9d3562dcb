package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestNothingPrivateIsAnswered walks every answer, its headers, and the data of every card for what is nobody's business: members' ids, proofs and
// private wallets, their transactions and who has left. The stream is walked as well, served by either of the two paths.
func TestNothingPrivateIsAnswered(t *testing.T) {
	t.Parallel()
	const hiddenWallet, hiddenSignature, firstNumber = "0xd1dde20000000000000000000000000000000001", "0x51617a7e", 7_744_110_000
	private := []string{
		"id-of-shown", "id-of-hidden", "id-of-left", "hidden_handle", "left_handle", hiddenWallet[2:], hiddenSignature, "text of a proof", gracesWallet[2:],
		"774411", // with which every member's number begins
	}
	st := seeded(t, "sqlite")
	countMembersFrom(t, st, firstNumber)
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
	x := newTraders(t, st) // grace keeps her wallet private
	x.block(t, []trade{{adasWallet, token, false, 100, 250}, {gracesWallet, token, false, 10, 123.456}, {gracesWallet, token, true, 5, 67.891}})
	private = append(private, txOf(byte(x.last.Number), 1).String()[2:], txOf(byte(x.last.Number), 2).String()[2:], "123.456", "67.891")
	c, e, _ := drawing(t, st)
	eventually(t, "the trades are told", func() bool { ids, _ := idsOf(t, c, ""); return len(ids) == 3 })
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
	for path, address := range map[string]string{"the stream": answering(t, st, nil), "the stream of a connection that can't be taken over": unhijacked(t, c.h)} {
		told := follow(t, address, "?mints=base:"+token, http.Header{"Last-Event-Id": {"0-0-0"}})
		told.news(t, func(e contract.LiveSince) bool { return len(e.Trades) == 3 })
		hold(path, fmt.Sprint(told.res.Header)+told.all.String())
		if text := told.all.String(); !strings.Contains(text, `"Grace"`) || !strings.Contains(text, `"ada"`) {
			t.Errorf("%s tells neither ada nor Grace: the walk shows nothing\n%s", path, text)
		}
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

// TestLeaversAreNamedNowhere: once one answer doesn't name a member who was deleted, none does. The clock stands still, so that nothing is unnamed by growing old.
func TestLeaversAreNamedNowhere(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	x := newTraders(t, st)
	x.block(t, []trade{{adasWallet, token, false, 100, 250}, {adasWallet, token, true, 10, 40}})
	writeMembers(t, st, 2, ofMember(t, "u1", trader, true), ofMember(t, "u1", creator, true))
	c, e, _ := drawing(t, st)
	namesHer := func(text string) bool {
		text = strings.ToLower(text)
		return strings.Contains(text, `"ada"`) || strings.Contains(text, "ada.png") || strings.Contains(text, "@ada")
	}
	pictures := map[string]string{} // of cards that name her, by their targets
	named := func() (list []string) {
		t.Helper()
		for _, target := range append(slices.Clone(operationTargets), "/api/game/profile/ada", "/api/game/ranks?handles=ada") {
			drawn := e.count()
			res, body := c.do(t, http.MethodGet, target, nil)
			text := fmt.Sprint(res.Header) + string(body)
			if target == "/openapi.json" || res.StatusCode == http.StatusNotFound || strings.Contains(text, `"missing":["ada"]`) { // it says that nobody is called so
				continue
			}
			if pictures[target] == string(body) || namesHer(text) {
				list = append(list, target)
			}
			for _, card := range e.drawn[drawn:] {
				data, err := json.Marshal(card)
				if err != nil {
					t.Fatal(err)
				}
				if namesHer(string(data)) {
					pictures[target] = string(body)
					list = append(list, target)
				}
			}
		}
		return list
	}
	eventually(t, "she is known", func() bool { ids, _ := idsOf(t, c, ""); return len(ids) == 2 })
	if list := named(); len(list) < 6 || len(pictures) == 0 {
		t.Errorf("she is named by %q alone, %d of them pictures: the walk shows nothing", list, len(pictures))
	}
	writeMembers(t, st, 3, member.Record{ID: "u1", Deleted: true})
	eventually(t, "the feed doesn't name her", func() bool { ids, _ := idsOf(t, c, ""); return len(ids) == 0 })
	if list := named(); len(list) > 0 {
		t.Errorf("she has left, and is named by %q", list)
	}
}

// countMembersFrom has the numbers of members that are made from now on begin at one which no other figure is likely to have.
func countMembersFrom(t *testing.T, st *store.Store, number int64) {
	t.Helper()
	_, err := st.Inspect.Database().Write.ExecContext(t.Context(), "INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET last = excluded.last", "registry", number)
	if err != nil {
		t.Fatal(err)
	}
}

// unhijacked serves a handler over connections that net/http doesn't give up, and gives their address.
func unhijacked(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flusher, ok := w.(http.Flusher)
		if !ok {
			t.Error("the server can't flush")
		}
		h.ServeHTTP(struct {
			http.ResponseWriter
			http.Flusher
		}{w, flusher}, r)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
