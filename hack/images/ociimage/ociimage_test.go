package ociimage_test

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

var then = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func small(t *testing.T, architecture string) v1.Image {
	t.Helper()
	layer, err := ociimage.Layer([]ociimage.Entry{
		{Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		{Path: "/etc/hosts", Mode: 0o644, Content: []byte("127.0.0.1 localhost\n")},
		{Path: "/etc", Mode: fs.ModeDir | 0o755},
	}, then)
	if err != nil {
		t.Fatal(err)
	}
	config := v1.Config{User: "1:1", Entrypoint: []string{"/x"}}
	img, err := ociimage.New(v1.Platform{OS: "linux", Architecture: architecture}, then, config, layer)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestEntriesAreSortedAndOfRoot(t *testing.T) {
	t.Parallel()
	layers, err := small(t, "amd64").Layers()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var got []string
	archive := tar.NewReader(packed)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(then) {
			t.Errorf("%s is %d:%d's, of %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
	want := "drwxr-xr-x etc/, -rw-r--r-- etc/hosts, dtrwxrwxrwx tmp/"
	if list := strings.Join(got, ", "); list != want {
		t.Errorf("the layer holds %s\nwanted         %s", list, want)
	}
}

func TestBadPathsAreRefused(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{{"etc"}, {"/etc/"}, {"/a/../b"}, {"/"}, {""}, {"/a", "/a"}} {
		var entries []ociimage.Entry
		for _, p := range paths {
			entries = append(entries, ociimage.Entry{Path: p})
		}
		if _, err := ociimage.Layer(entries, then); err == nil {
			t.Errorf("a layer of %q was made", paths)
		}
	}
}

func TestSavedImageIsRead(t *testing.T) {
	t.Parallel()
	img := small(t, "arm64")
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := ociimage.Save(path, "small:1", img); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("small:1")
	if err != nil {
		t.Fatal(err)
	}
	read, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(read); err != nil {
		t.Error(err)
	}
	want, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.ConfigName(); err != nil || got != want {
		t.Errorf("the file holds image %s (%v), wanted %s", got, err, want)
	}
	if err := ociimage.Save(path, "Small image", img); err == nil || !strings.Contains(err.Error(), "boardwalk:1.2.3") {
		t.Errorf("a tag with a space: %v", err)
	}
}

func TestLayoutIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "layout")
	if err := os.MkdirAll(filepath.Join(dir, "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ociimage.WriteLayout(dir, "small:1", small(t, "amd64"), small(t, "arm64")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what lay there before: %v", err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	// One entry, an index: crane pushes it as it is, skopeo finds it by the tag.
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsIndex() ||
		manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1" {
		t.Fatalf("the layout lists %+v", manifest.Manifests)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = inner.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if list := strings.Join(platforms, " "); list != "linux/amd64 linux/arm64" {
		t.Errorf("the index is over %s", list)
	}
}
