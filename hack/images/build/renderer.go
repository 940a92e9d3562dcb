package build

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/debian"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// part is a layer of the renderer's image: packages and what they need. A part that is below another changes more rarely.
type part struct {
	name     string
	packages []string
	// without is what its packages name as needed and the renderer has no use for: scripts and programs to look at a desktop,
	// with an OpenGL driver and a compiler of their own, and questions at the installation.
	without []string
	// links are what packages would make when they are configured.
	links map[string]string
}

// parts of the renderer's image, below the program. What is no font comes with the browser.
var parts = []part{
	{name: "fonts", packages: []string{"fonts-inter", "fonts-noto-cjk", "fonts-noto-color-emoji", "fonts-noto-core"}},
	{
		name: "browser", packages: []string{"chromium-headless-shell"}, without: []string{"debconf", "x11-utils", "xdg-utils"},
		links: map[string]string{
			"etc/fonts/conf.d/10-hinting-slight.conf": "/usr/share/fontconfig/conf.avail/10-hinting-slight.conf",
			"etc/fonts/conf.d/70-no-bitmaps.conf":     "/usr/share/fontconfig/conf.avail/70-no-bitmaps.conf",
		},
	},
}

// unused are files of the packages that nothing in the image reads. Licences stay.
var unused = []string{
	"usr/bin/*", "usr/sbin/*", "usr/share/bug/*", "usr/share/doc-base/*", "usr/share/gdb/*", "usr/share/lintian/*", "usr/share/locale/*",
	"usr/share/man/*", "usr/share/metainfo/*", "usr/share/pkgconfig/*",
	// The windows of the full browser, its crash reports, and what debugs graphics.
	"usr/lib/chromium/chrome_*", "usr/lib/chromium/libVk*", "usr/lib/chromium/locales/*", "usr/lib/chromium/resources.pak", "usr/lib/chromium/*.TOC",
	// Cards are set without serifs, and these are a third of all fonts.
	"usr/share/fonts/opentype/noto/NotoSerifCJK-*",
}

// leftOut tells whether a file is unused: the pattern matches it or a directory that it is in.
func leftOut(name string) bool {
	if strings.HasPrefix(name, "usr/share/doc/") && path.Base(name) != "copyright" {
		return true
	}
	for p := name; p != "."; p = path.Dir(p) {
		for _, pattern := range unused {
			if matches, err := path.Match(pattern, p); matches && err == nil {
				return true
			}
		}
	}
	return false
}

// rendererConfig differs from the other image's in where the browser is found.
func rendererConfig(c Checkout) v1.Config {
	config := imageConfig(c)
	config.Env = []string{"PATH=/:/usr/lib/chromium", "HOME=/tmp"}
	config.Labels["org.opencontainers.image.title"] = "boardwalk-renderer"
	config.Labels["org.opencontainers.image.description"] = "Boardwalk with a browser and fonts, to draw cards"
	return config
}

// renderer is the program on top of the browser and its fonts.
func renderer(ctx context.Context, c Checkout, p v1.Platform, program []byte) (v1.Image, error) {
	top, err := programLayer(c, program)
	if err != nil {
		return nil, err
	}
	files, err := debianLayers(ctx, p.Architecture, parts)
	if err != nil {
		return nil, fmt.Errorf("the renderer's image for %s: %w", p, err)
	}
	var layers []v1.Layer
	for _, file := range files {
		layer, err := ociimage.GzipLayer(file)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return ociimage.New(p, c.Built, rendererConfig(c), append(layers, top)...)
}

// debianLayers returns compressed archives, one for each part. They are made when the distribution has other versions of the
// packages than before, which takes half a minute and is kept in the directory of npmcache.Dir.
func debianLayers(ctx context.Context, architecture string, parts []part) ([]string, error) {
	cache, err := npmcache.Dir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "debian-"+architecture)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w (set BOARDWALK_CACHE to a directory that can be written)", err)
	}
	unlock, err := npmcache.Lock(ctx, dir+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	sources, err := debian.ReadSources("/etc")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, p := range parts {
		file, err := debianLayer(ctx, dir, architecture, sources, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		files = append(files, file)
	}
	return files, removeOld(dir, files)
}

func debianLayer(ctx context.Context, dir, architecture string, sources debian.Sources, p part) (string, error) {
	repository, err := debian.Open(ctx, filepath.Join(dir, "apt-"+p.name), architecture, sources, p.without)
	if err != nil {
		return "", err
	}
	wanted, err := repository.Resolve(ctx, p.packages)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, p.name+"-"+layerKey(sources, p, wanted)+".tar.gz")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	archives, err := repository.Fetch(ctx, p.packages)
	if err != nil {
		return "", err
	}
	part := file + ".part"
	defer os.Remove(part)
	if err := packFile(ctx, part, archives, sources, p, wanted); err != nil {
		return "", err
	}
	if err := repository.Clean(ctx); err != nil {
		return "", err
	}
	return file, os.Rename(part, file)
}

// layerVersion changes when other bytes are made of the same packages.
const layerVersion = 1

func layerKey(sources debian.Sources, p part, wanted []debian.Package) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%d %q %q %q %q\n", layerVersion, sources.OS, p, unused, wanted)
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// packFile writes the part's layer.
func packFile(ctx context.Context, file, archives string, sources debian.Sources, p part, wanted []debian.Package) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	compressed := gzip.NewWriter(out)
	if err := pack(ctx, compressed, archives, sources, p, wanted); err != nil {
		return err
	}
	return compressed.Close()
}

func pack(ctx context.Context, w io.Writer, archives string, sources debian.Sources, p part, wanted []debian.Package) error {
	packer := debian.NewPacker(w, leftOut)
	for _, d := range wanted {
		if err := packer.Add(ctx, filepath.Join(archives, d.File)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.links)) {
		if err := packer.Link(name, p.links[name]); err != nil {
			return err
		}
	}
	// By it, and by the packages' descriptions, a scanner knows what it looks at.
	if err := packer.File("usr/lib/os-release", []byte(sources.OS)); err != nil {
		return err
	}
	if err := packer.Link("etc/os-release", "../usr/lib/os-release"); err != nil {
		return err
	}
	return packer.Close()
}

// removeOld removes layers of other versions, two weeks after they were made: somebody may still read one.
func removeOld(dir string, current []string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.tar.gz*"))
	if err != nil {
		return err
	}
	for _, file := range found {
		info, err := os.Stat(file)
		if err == nil && !slices.Contains(current, file) && time.Since(info.ModTime()) > 14*24*time.Hour {
			err = os.Remove(file)
		}
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
