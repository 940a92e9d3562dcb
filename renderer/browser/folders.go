package browser

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketFolder is the longest path, in bytes, of the folder in which the browser makes its sockets. The kernel allows 107 bytes for
// a socket's path, of which Chromium 156 takes 45 ("/org.chromium.Chromium.XXXXXX/SingletonSocket"); the rest is left for
// the name of one browser's folder and for a later Chromium with a longer name.
const maxSocketFolder = 40

// cacheFolder is where browsers keep what fontconfig found, which is slow to find.
const cacheFolder = "cache"

// folders are where a Supervisor's browsers keep files. Nobody else may use either.
type folders struct {
	// profiles has the browsers' profiles and what they share.
	profiles string
	// sockets has the browsers' temporary files, their sockets among them. It is profiles where the path of that is short enough.
	sockets string
}

// newFolders finds a short path for the sockets of browsers whose profiles are in a folder.
func newFolders(profiles string) (folders, error) {
	if len(profiles) <= maxSocketFolder {
		return folders{profiles: profiles, sockets: profiles}, nil
	}
	// The same name at each start, so that the next start removes what a killed program left.
	name := fmt.Sprintf("boardwalk-%.4x", sha256.Sum256([]byte(profiles)))
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		if sockets := filepath.Join(parent, name); len(sockets) <= maxSocketFolder {
			return folders{profiles: profiles, sockets: sockets}, nil
		}
	}
	return folders{}, fmt.Errorf("browser: no folder for the browser's sockets: with %q in it, the path of one may have %d bytes", name, maxSocketFolder)
}

// all lists the folders, each once.
func (f folders) all() []string {
	if f.sockets == f.profiles {
		return []string{f.profiles}
	}
	return []string{f.profiles, f.sockets}
}

// make makes the folders, empty, and the cache in them, which is the browser's.
func (f folders) make() error {
	if err := f.remove(); err != nil {
		return err
	}
	for _, dir := range f.all() {
		// Mkdir, so that it fails where a stranger has made it. The browser's user passes through it.
		if err := os.Mkdir(dir, 0o711); err != nil { //nolint:gosec // no more than that
			return fmt.Errorf("browser: make a folder for profiles and sockets: %w: set TMPDIR to a folder that this program may write to, "+
				"with a path of at most %d bytes", err, maxSocketFolder-len("/boardwalk-12345678"))
		}
	}
	cache := filepath.Join(f.profiles, cacheFolder)
	if err := os.Mkdir(cache, 0o700); err != nil {
		return fmt.Errorf("browser: make the folder for the fonts' cache: %w", err)
	}
	return give(cache)
}

// remove removes the folders with all that is in them.
func (f folders) remove() error {
	for _, dir := range f.all() {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("browser: remove a folder for profiles and sockets: %w", err)
		}
	}
	return nil
}

// home is where one browser keeps files.
type home struct{ profile, temporary string }

// newHome makes the folders of a browser, which its user may write to.
func (f folders) newHome() (home, error) {
	profile, err := newFolder(f.profiles, "profile-")
	if err != nil {
		return home{}, err
	}
	temporary, err := newFolder(f.sockets, "")
	return home{profile: profile, temporary: temporary}, err
}

// remove removes a browser's folders.
func (h home) remove() error {
	for _, dir := range []string{h.profile, h.temporary} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("browser: remove a browser's folder: %w", err)
		}
	}
	return nil
}

// newFolder makes a folder with a new name for the browser's user.
func newFolder(parent, prefix string) (string, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", fmt.Errorf("browser: make a browser's folder: %w", err)
	}
	return dir, give(dir)
}

// give hands a folder to the browser's user.
func give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		return fmt.Errorf("browser: %w", err)
	}
	return nil
}
