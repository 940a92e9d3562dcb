package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
	"github.com/boardwalkhq/boardwalk/hack/publish/chart"
	"github.com/boardwalkhq/boardwalk/hack/publish/cosign"
)

// artefact is an image of all platforms or a chart, and what is said of it.
type artefact struct {
	tag     name.Tag
	digest  v1.Hash
	content remote.Taggable
	// manifests are the artefact's own and, of an image, those of its platforms. All are signed.
	manifests []manifest
	image     chart.Image // of an image, as the chart names it
}

// manifest is one that things are said of.
type manifest struct {
	descriptor v1.Descriptor
	sbom       []byte // as CycloneDX; nil for an index, whose images have one each, and for a chart
	statements []cosign.Statement
}

// builder makes the artefacts of a checkout.
type builder struct {
	checkout  build.Checkout
	pkg       string // of the program, ./ for Boardwalk
	id        string // an address that names who builds
	platforms []v1.Platform
	registry  *registry
	version   string
	say       func(format string, arguments ...any)
}

// images builds the images of all kinds, each for all platforms.
func (b *builder) images(ctx context.Context, kinds []build.Kind) ([]artefact, error) {
	programs := make([][]byte, len(b.platforms))
	for i, p := range b.platforms {
		b.say("building the program for %s", p)
		var err error
		if programs[i], err = build.Compile(ctx, b.checkout, b.pkg, p); err != nil {
			return nil, err
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(programs[0]))
	if err != nil {
		return nil, err
	}
	var made []artefact
	for _, k := range kinds {
		b.say("making the image %s", k.Name)
		one, err := b.image(ctx, k, programs, info.GoVersion)
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return made, nil
}

func (b *builder) image(ctx context.Context, k build.Kind, programs [][]byte, goVersion string) (artefact, error) {
	repository, err := b.registry.repository(k.Name)
	if err != nil {
		return artefact{}, err
	}
	a := artefact{tag: repository.Tag(b.version), manifests: make([]manifest, 1)}
	var images []v1.Image
	var lists []*cdx.BOM
	var platforms []string
	for i, p := range b.platforms {
		img, err := k.Image(ctx, b.checkout, p, programs[i])
		if err != nil {
			return artefact{}, err
		}
		m, list, err := describeImage(b.checkout, k.Name, repository, img)
		if err != nil {
			return artefact{}, err
		}
		images, lists, platforms, a.manifests = append(images, img), append(lists, list), append(platforms, p.String()), append(a.manifests, m)
	}
	index, err := ociimage.Index(images)
	if err != nil {
		return artefact{}, err
	}
	if err := a.complete(index); err != nil {
		return artefact{}, err
	}
	a.image = chart.Image{Name: "boardwalk", Values: []string{"image"}, Repository: repository.Name(), Tag: b.version, Digest: a.digest.String()}
	if k.Suffix != "" {
		a.image.Name, a.image.Values = "renderer", []string{"renderer", "image"}
	}
	of, err := materials(lists)
	if err != nil {
		return artefact{}, err
	}
	return a, a.provenance(newProvenance(b.checkout, b.id, goVersion, map[string]any{"image": k.Name, "platforms": platforms}, of))
}

// describeImage lists what the image of a platform is made of.
func describeImage(c build.Checkout, image string, repository name.Repository, img v1.Image) (manifest, *cdx.BOM, error) {
	descriptor, err := partial.Descriptor(img)
	if err != nil {
		return manifest{}, nil, err
	}
	raw, err := build.SBOM(c, image, img)
	if err != nil {
		return manifest{}, nil, err
	}
	var list cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(raw), cdx.BOMFileFormatJSON).Decode(&list); err != nil {
		return manifest{}, nil, err
	}
	said, err := newStatement([]name.Digest{repository.Digest(descriptor.Digest.String())}, cycloneDX, json.RawMessage(raw))
	return manifest{descriptor: *descriptor, sbom: raw, statements: []cosign.Statement{said}}, &list, err
}

// describable is content whose manifest is known.
type describable interface {
	remote.Taggable
	partial.Describable
}

func (a *artefact) complete(content describable) error {
	descriptor, err := partial.Descriptor(content)
	if err != nil {
		return err
	}
	a.content, a.digest, a.manifests[0].descriptor = content, descriptor.Digest, *descriptor
	return nil
}

// provenance says of all manifests where they come from, in one statement.
func (a *artefact) provenance(p provenance) error {
	var of []name.Digest
	for _, m := range a.manifests {
		of = append(of, a.tag.Digest(m.descriptor.Digest.String()))
	}
	said, err := newStatement(of, provenanceV1, p)
	if err != nil {
		return err
	}
	for i := range a.manifests {
		a.manifests[i].statements = append(a.manifests[i].statements, said)
	}
	return nil
}

// readChart reads a chart of the checkout, those of its files that git knows.
func readChart(ctx context.Context, c build.Checkout, called string) (*chart.Chart, error) {
	dir := filepath.Join(c.Root, "charts", called)
	files, err := c.Files(ctx, dir)
	if err != nil {
		return nil, err
	}
	read, err := chart.Read(dir, files)
	if err != nil {
		return nil, fmt.Errorf("the chart %s: %w", called, err)
	}
	return read, nil
}

// chart packs a chart, with images as the defaults of its values; none leave them as they are.
func (b *builder) chart(read *chart.Chart, images []artefact) (artefact, error) {
	var of []resource
	if len(images) > 0 {
		var named []chart.Image
		for _, i := range images {
			named = append(named, i.image)
			of = append(of, resource{URI: i.tag.Context().Name(), Digest: map[string]string{i.digest.Algorithm: i.digest.Hex}})
		}
		if err := read.SetImages(named); err != nil {
			return artefact{}, fmt.Errorf("the chart %s: %w", read.Name(), err)
		}
	}
	repository, err := b.registry.repository("charts/" + read.Name())
	if err != nil {
		return artefact{}, err
	}
	packed, err := read.Artifact(b.checkout.Built)
	if err != nil {
		return artefact{}, fmt.Errorf("the chart %s: %w", read.Name(), err)
	}
	a := artefact{tag: repository.Tag(read.Tag()), manifests: make([]manifest, 1)}
	if err := a.complete(packed); err != nil {
		return artefact{}, err
	}
	return a, a.provenance(newProvenance(b.checkout, b.id, runtime.Version(), map[string]any{"chart": read.Name()}, of))
}

// versionOf is the version that charts install, which has to be one.
func versionOf(charts []*chart.Chart) (string, error) {
	version := charts[0].AppVersion()
	for _, c := range charts {
		if c.AppVersion() != version {
			return "", fmt.Errorf("charts/%s has the appVersion %s and charts/%s %s: give them one", charts[0].Name(), version, c.Name(), c.AppVersion())
		}
	}
	if strings.Contains(version, "+") {
		return "", errors.New("appVersion " + version + " is no tag of an image: a tag has no plus")
	}
	return version, nil
}
