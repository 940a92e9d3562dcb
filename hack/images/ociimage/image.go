// Package ociimage makes container images of files, with neither a daemon nor a registry. What is in them is its callers'
// business. The same input gives the same bytes.
package ociimage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Entry is a regular file or, with fs.ModeDir in its mode, a directory of an image. It belongs to root. Of the mode the
// permissions and fs.ModeSticky count.
type Entry struct {
	Path    string // absolute, such as /etc/passwd
	Mode    fs.FileMode
	Content []byte
}

// Layer packs entries in the order of their paths, all of one modification time.
func Layer(entries []Entry, modified time.Time) (v1.Layer, error) {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for i, e := range sorted {
		if !path.IsAbs(e.Path) || path.Clean(e.Path) != e.Path || e.Path == "/" {
			return nil, fmt.Errorf("%q is no path in an image: write it absolute and clean, such as /etc/passwd", e.Path)
		}
		if i > 0 && sorted[i-1].Path == e.Path {
			return nil, fmt.Errorf("%s is in the layer twice", e.Path)
		}
		if err := archive.WriteHeader(header(e, modified)); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Path, err)
		}
		if _, err := archive.Write(e.Content); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func header(e Entry, modified time.Time) *tar.Header {
	mode := int64(e.Mode.Perm())
	if e.Mode&fs.ModeSticky != 0 {
		mode |= 0o1000
	}
	h := &tar.Header{Name: strings.TrimPrefix(e.Path, "/"), Mode: mode, ModTime: modified.UTC(), Format: tar.FormatPAX}
	if e.Mode.IsDir() {
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return h
	}
	h.Typeflag, h.Size = tar.TypeReg, int64(len(e.Content))
	return h
}

// TarLayer is the uncompressed archive in a file. It is read again whenever the layer is, so it must stay until the image is
// written. It is compressed fast rather than well.
func TarLayer(file string) (v1.Layer, error) {
	return tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestSpeed))
}

// GzipLayer is the archive in a file that is compressed already. The file must stay until the image is written.
func GzipLayer(file string) (v1.Layer, error) {
	return tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
}

// New is an image of layers, the lowest first.
func New(platform v1.Platform, created time.Time, config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(img, layers...)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = platform.OS, platform.Architecture, platform.Variant
	file.Created = v1.Time{Time: created.UTC()}
	file.Config = config
	return mutate.ConfigFile(img, file)
}

// Size is what a registry keeps and a node downloads of an image: its layers as they are compressed, in bytes.
func Size(img v1.Image) (int64, error) {
	manifest, err := img.Manifest()
	if err != nil {
		return 0, err
	}
	var size int64
	for _, layer := range manifest.Layers {
		size += layer.Size
	}
	return size, nil
}
