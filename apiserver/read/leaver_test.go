package read

import (
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// TestALeaverIsGoneByTheNextLook: the first look at the database after a member was deleted hides them, and two looks fit in a second. Answers look members up in the directory
// each time, which TestLeaversAreNamedNowhere holds.
func TestALeaverIsGoneByTheNextLook(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	wallet := markettest.Address("0xad00000000000000000000000000000000000001")
	w.Join("ada", wallet)
	v := New(w.Store, catalog.NewLive(readtest.Catalog()), board.DefaultGate(), func() time.Time { return time.Unix(w.Now, 0) }, slog.New(slog.DiscardHandler))
	look := func() bool {
		t.Helper()
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, owned := v.members.Owner(chainconfig.EVM, wallet, "base")
		return owned
	}
	if !look() {
		t.Fatal("who joined isn't known")
	}
	w.Apply(member.Record{ID: "ada", Deleted: true})
	if look() {
		t.Error("who left is named after the next look")
	}
	w.Join("ada", wallet)
	if !look() {
		t.Error("who came back is unknown after the next look")
	}
	if 2*refreshEvery > time.Second {
		t.Errorf("looks are %v apart: a member who is deleted is to be unnamed within a second", refreshEvery)
	}
}
