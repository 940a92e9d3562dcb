// Package services makes the container image of what Boardwalk needs around it in the end-to-end test's cluster: PostgreSQL and an
// EVM node, on the machine's own release of Debian. Nothing of it comes from an image registry.
package services

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/debian"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// Image is the image's name. Its user is 65532, which is in its /etc/passwd: PostgreSQL wants its user to have a name.
const Image = "boardwalk-world:e2e"

// recipe is what mmdebstrap is told, but for the release and its sources. ANVIL stands for the EVM node's path.
var recipe = []string{
	"--mode=root", "--variant=minbase", "--include=postgresql", "--quiet",
	"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
	"--dpkgopt=path-exclude=/usr/share/locale/*", "--dpkgopt=path-exclude=/usr/share/i18n/*",
	// Its own database would be of no use.
	`--essential-hook=mkdir -p "$1/etc/postgresql-common" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"`,
	`--customize-hook=chroot "$1" sh -c 'ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/'`,
	`--customize-hook=chroot "$1" useradd --uid 65532 --user-group --no-create-home --home-dir /tmp nonroot`,
	// Compiling queries is off without it, and it is half of the image.
	`--customize-hook=rm -rf "$1"/usr/lib/*/libLLVM* "$1"/usr/lib/*/libz3* "$1"/usr/lib/postgresql/*/lib/llvmjit* "$1"/usr/lib/postgresql/*/lib/bitcode`,
	`--customize-hook=install -m 0755 "$ANVIL" "$1/usr/local/bin/anvil"`,
}

// Tarball returns the path of a file with the image, as `docker save` would write it. It is made once a week, or when what it is
// made of changed, which takes a minute, and kept in the directory of npmcache.Dir. Several processes may call it at once.
func Tarball(ctx context.Context) (string, error) {
	path, err := tarball(ctx)
	if err != nil {
		return "", fmt.Errorf("make the image %s: %w", Image, err)
	}
	return path, nil
}

func tarball(ctx context.Context) (string, error) {
	sources, err := debian.ReadSources("/etc")
	if err != nil {
		return "", err
	}
	installed, err := toolchain.Install(ctx)
	if err != nil {
		return "", err
	}
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("%w (set BOARDWALK_CACHE to a directory that can be written)", err)
	}
	key, err := cacheKey(time.Now(), sources, installed.Anvil)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "world-"+key+".tar")
	unlock, err := npmcache.Lock(ctx, filepath.Join(cache, "world.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(os.Stderr, "e2e: making the image %s once a week, which takes a minute (kept in %s)\n", Image, cache)
	if err := build(ctx, path, sources, installed.Anvil); err != nil {
		return "", err
	}
	return path, removeOld(cache)
}

// cacheKey changes with everything that the image is made of; with the distribution's updates once a week.
func cacheKey(now time.Time, sources debian.Sources, anvil string) (string, error) {
	hash := sha256.New()
	year, week := now.UTC().ISOWeek()
	fmt.Fprintf(hash, "%d-%d %s %q %q\n", year, week, runtime.GOARCH, sources.String(), recipe)
	file, err := os.Open(anvil)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

func build(ctx context.Context, path string, sources debian.Sources, anvil string) error {
	dir, err := os.MkdirTemp("", "boardwalk-world-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "root.tar")
	files, err := sources.Write(dir)
	if err != nil {
		return err
	}
	if err := debootstrap(ctx, dir, anvil, slices.Concat(recipe, []string{sources.Release, root}, files)); err != nil {
		return err
	}
	layer, err := ociimage.TarLayer(root)
	if err != nil {
		return err
	}
	config := v1.Config{User: "65532:65532", WorkingDir: "/tmp", Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8"}}
	img, err := ociimage.New(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}, time.Unix(0, 0), config, layer)
	if err != nil {
		return err
	}
	return ociimage.Save(path, Image, img)
}

// debootstrap runs mmdebstrap with mounts of its own, so that none is left however it ends.
func debootstrap(ctx context.Context, dir, anvil string, args []string) error {
	program, err := exec.LookPath("mmdebstrap")
	if err != nil {
		return errors.New("mmdebstrap is not on PATH: install it (hack/setup.sh does)")
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "TMPDIR="+dir, "ANVIL="+anvil)
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	command.WaitDelay = 10 * time.Second
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("mmdebstrap: %w\n%s(the packages come from the machine's own apt sources: does apt-get update work?)", err, out)
	}
	return nil
}

// removeOld removes images of earlier weeks. A run that still reads one was started weeks ago.
func removeOld(cache string) error {
	found, err := filepath.Glob(filepath.Join(cache, "world-*.tar"))
	if err != nil {
		return err
	}
	for _, path := range found {
		info, err := os.Stat(path)
		if err == nil && strings.HasPrefix(filepath.Base(path), "world-") && time.Since(info.ModTime()) > 14*24*time.Hour {
			err = os.Remove(path)
		}
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
