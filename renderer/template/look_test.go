package template

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/golden"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// lookFile holds sharecard.Version and the hash of what it stands for.
const lookFile = "testdata/look.txt"

// TestTheVersionChangesWithTheLook keeps caches from answering with yesterday's look.
func TestTheVersionChangesWithTheLook(t *testing.T) {
	t.Parallel()
	look := sharecard.Version + " " + hashOfLook(t)
	raw, err := os.ReadFile(lookFile)
	if err != nil && !golden.Update() {
		t.Fatal(err)
	}
	version, hash, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	switch {
	case version+" "+hash == look:
	case version == sharecard.Version:
		t.Errorf("templates, style sheet or figures changed, so that cards look otherwise, but sharecard.Version is still %q: raise it in "+
			"internal/sharecard/card.go, run go test ./renderer/template -update, and look at the golden images", version)
	case !golden.Update():
		t.Errorf("sharecard.Version is %q and %s is of %q: run go test ./renderer/template -update, and look at the golden images",
			sharecard.Version, lookFile, version)
	default:
		golden.Write(t, lookFile, []byte(look+"\n"))
	}
}

// hashOfLook is a hash of the templates and of what they and the code around them make of the golden cards. Pictures are
// left out: their compression is the Go release's.
func hashOfLook(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(files, path)
		_, _ = fmt.Fprintf(h, "%s %d\n%s", path, len(raw), raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pictures := regexp.MustCompile(`data:image/png;base64,[^"]*`)
	cards := drawnCards(t)
	for _, called := range states(cards) {
		_, _ = fmt.Fprintf(h, "%s\n%s", called, pictures.ReplaceAll(document(t, cards[called]), nil))
	}
	return hex.EncodeToString(h.Sum(nil))
}
