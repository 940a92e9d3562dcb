package debian

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTheReleasesOwnSourcesAreTaken(t *testing.T) {
	t.Parallel()
	etc := t.TempDir()
	for path, content := range map[string]string{
		"os-release": "NAME=\"Debian\"\nVERSION_CODENAME=bookworm\n",
		"apt/sources.list": "# a comment\ndeb [arch=amd64 signed-by=/k] http://one.example/debian bookworm main\n" +
			"deb-src http://one.example/debian bookworm main\ndeb http://vendor.example stable main\n",
		"apt/sources.list.d/debian.sources": "Types: deb\nURIs: http://two.example\nSuites: bookworm-security\n\n" +
			"Types: deb\nURIs: http://three.example\nSuites: bookworm\nEnabled: no\n\nTypes: deb-src\nURIs: http://four.example\nSuites: bookworm\n",
		"apt/sources.list.d/vendor.sources":          "Types: deb\nURIs: http://vendor.example\nSuites: nodistro\n",
		"apt/sources.list.d/vendor.sources.disabled": "Types: deb\nURIs: http://off.example\nSuites: bookworm\n",
	} {
		path = filepath.Join(etc, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := ReadSources(etc)
	if err != nil {
		t.Fatal(err)
	}
	if sources.Release != "bookworm" {
		t.Errorf("release %q", sources.Release)
	}
	if want := "deb [arch=amd64 signed-by=/k] http://one.example/debian bookworm main\n"; sources.lines != want {
		t.Errorf("lines:\n%s", sources.lines)
	}
	if want := "Types: deb\nURIs: http://two.example\nSuites: bookworm-security\n\n"; sources.stanzas != want {
		t.Errorf("stanzas:\n%s", sources.stanzas)
	}
	if err := os.WriteFile(filepath.Join(etc, "os-release"), []byte("NAME=other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSources(etc); err == nil || !strings.Contains(err.Error(), "Debian or Ubuntu") {
		t.Errorf("without a release: %v", err)
	}
}
