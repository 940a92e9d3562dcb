package ociimage

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation under which a layout keeps an image's tag.
const refName = "org.opencontainers.image.ref.name"

// Save writes an image to a file that `docker load` and `ctr images import` take. The file is there whole or not at all.
func Save(path, tag string, img v1.Image) error {
	reference, err := parseTag(tag)
	if err != nil {
		return err
	}
	part := path + ".part"
	defer os.Remove(part)
	if err := tarball.WriteToFile(part, reference, img); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(part, path)
}

// WriteLayout makes the directory an OCI image layout with one index over images of several platforms, which it replaces
// as a whole, and returns the index's digest. `skopeo copy --all oci:DIR:TAG` and `crane push DIR` take it. The tag's last part names the index.
func WriteLayout(dir, tag string, images ...v1.Image) (v1.Hash, error) {
	reference, err := parseTag(tag)
	if err != nil {
		return v1.Hash{}, err
	}
	index, err := Index(images)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := writeIndex(dir, reference, index); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// Index is an index of images of several platforms.
func Index(images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		file, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		// The platform is what a node chooses by.
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: file.Platform()}})
	}
	return index, nil
}

func writeIndex(dir string, reference name.Tag, index v1.ImageIndex) error {
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}
	defer os.RemoveAll(part)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	written, err := layout.Write(part, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	annotation := layout.WithAnnotations(map[string]string{refName: reference.TagStr()})
	if err := written.AppendIndex(index, annotation); err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

func parseTag(tag string) (name.Tag, error) {
	reference, err := name.NewTag(tag)
	if err != nil {
		return name.Tag{}, fmt.Errorf("%q is no tag of an image: write one such as boardwalk:1.2.3 (%w)", tag, err)
	}
	return reference, nil
}
