package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
	"github.com/boardwalkhq/boardwalk/hack/publish/chart"
	"github.com/boardwalkhq/boardwalk/hack/publish/cosign"
)

// The charts, in the order in which they are tagged: the last one needs all that is before it.
var chartNames = []string{"boardwalk-crds", "boardwalk"}

// run is one publication.
type run struct {
	builder
	kinds []build.Kind
	key   *cosign.Key // nil: nothing is signed
}

// publish makes everything, compares it with what is published, pushes it, and tags it at the end.
func (r *run) publish(ctx context.Context) error {
	if err := checkClean(ctx, r.checkout); err != nil {
		return err
	}
	var charts []*chart.Chart
	for _, called := range chartNames {
		read, err := readChart(ctx, r.checkout, called)
		if err != nil {
			return err
		}
		charts = append(charts, read)
	}
	var err error
	if r.version, err = versionOf(charts); err != nil {
		return err
	}
	if err := r.askForRights(); err != nil {
		return err
	}
	all, err := r.make(ctx, charts)
	if err != nil {
		return err
	}
	return r.release(ctx, all)
}

// release pushes artefacts: manifests, then what belongs to them, then the tags of versions, so that whoever pulls a version gets all of it.
func (r *run) release(ctx context.Context, all []artefact) error {
	missing, err := r.missing(ctx, all)
	if err != nil {
		return err
	}
	for _, a := range all {
		r.say("pushing %s", a.tag.Digest(a.digest.String()))
		if err := r.registry.push(ctx, a.tag.Digest(a.digest.String()), a.content); err != nil {
			return err
		}
	}
	for _, a := range all {
		for _, m := range a.manifests {
			if err := r.attach(ctx, a.tag.Context(), m); err != nil {
				return err
			}
		}
	}
	if len(missing) == 0 {
		r.say("published already: all tags of version %s name these digests", r.version)
		return nil
	}
	// Another publication may have run meanwhile.
	if missing, err = r.missing(ctx, all); err != nil {
		return err
	}
	for _, a := range missing {
		if err := r.registry.push(ctx, a.tag, a.content); err != nil {
			return err
		}
		r.say("tagged %s as %s", a.digest, a.tag)
	}
	return nil
}

func checkClean(ctx context.Context, c build.Checkout) error {
	changes, err := c.Changes(ctx)
	if err != nil || len(changes) == 0 {
		return err
	}
	const shown = 5
	more := ""
	if len(changes) > shown {
		more = fmt.Sprintf("\n  and %d more", len(changes)-shown)
		changes = changes[:shown]
	}
	return errors.New("the checkout differs from its commit: commit the changes, or put them aside with git stash --include-untracked\n  " +
		strings.Join(changes, "\n  ") + more)
}

// askForRights finds out whether everything may be pushed, before it is built.
func (r *run) askForRights() error {
	var paths []string
	for _, k := range r.kinds {
		paths = append(paths, k.Name)
	}
	for _, called := range chartNames {
		paths = append(paths, "charts/"+called)
	}
	for _, path := range paths {
		repository, err := r.registry.repository(path)
		if err != nil {
			return err
		}
		if err := r.registry.mayPush(repository); err != nil {
			return err
		}
	}
	return nil
}

// make builds the images, and packs the charts with the images' digests.
func (r *run) make(ctx context.Context, charts []*chart.Chart) ([]artefact, error) {
	all, err := r.images(ctx, r.kinds)
	if err != nil {
		return nil, err
	}
	images := slices.Clone(all)
	for _, c := range charts {
		var installed []artefact
		if c.Name() == "boardwalk" {
			installed = images
		}
		packed, err := r.chart(c, installed)
		if err != nil {
			return nil, err
		}
		all = append(all, packed)
	}
	return all, nil
}

// missing are the artefacts whose tag isn't there. A tag of another digest is an error: what was published once never changes.
func (r *run) missing(ctx context.Context, all []artefact) ([]artefact, error) {
	var found []artefact
	for _, a := range all {
		present, err := r.registry.digest(ctx, a.tag)
		if err != nil {
			return nil, err
		}
		if present == (v1.Hash{}) {
			found = append(found, a)
			continue
		}
		if present != a.digest {
			return nil, fmt.Errorf("%s is published and is %s, this commit gives %s: a version stays as it is, so raise version and appVersion in "+
				"charts/*/Chart.yaml, or check out the commit that it was published from", a.tag, present, a.digest)
		}
	}
	return found, nil
}

const inToto = "application/vnd.in-toto+json"

// attach puts beside a manifest what is said of it, and signatures where there is a key.
func (r *run) attach(ctx context.Context, repository name.Repository, m manifest) error {
	of := repository.Digest(m.descriptor.Digest.String())
	if m.sbom != nil {
		r.say("attaching the SBOM to %s", of)
		if err := r.refer(ctx, of, m, "application/vnd.cyclonedx+json", m.sbom, cycloneDX); err != nil {
			return err
		}
	}
	for _, s := range m.statements {
		if s.PredicateType != provenanceV1 {
			continue
		}
		r.say("attaching the provenance to %s", of)
		if err := r.refer(ctx, of, m, inToto, s.JSON, s.PredicateType); err != nil {
			return err
		}
	}
	if r.key == nil {
		return nil
	}
	r.say("signing %s", of)
	signatures, err := r.registry.image(ctx, cosign.SignatureTag(of))
	if err != nil {
		return err
	}
	if signatures, err = r.key.Sign(of, signatures); err != nil {
		return fmt.Errorf("sign %s: %w", of, err)
	}
	if err := r.pushIfAny(ctx, cosign.SignatureTag(of), signatures); err != nil {
		return err
	}
	attestations, err := r.registry.image(ctx, cosign.AttestationTag(of))
	if err != nil {
		return err
	}
	if attestations, err = r.key.Attest(m.statements, attestations); err != nil {
		return fmt.Errorf("attest %s: %w", of, err)
	}
	return r.pushIfAny(ctx, cosign.AttestationTag(of), attestations)
}

func (r *run) pushIfAny(ctx context.Context, tag name.Tag, img v1.Image) error {
	if img == nil {
		return nil
	}
	return r.registry.push(ctx, tag, img)
}

// refer pushes a document as a referrer of the OCI distribution specification 1.1.
func (r *run) refer(ctx context.Context, of name.Digest, m manifest, mediaType types.MediaType, content []byte, predicateType string) error {
	subject := v1.Descriptor{MediaType: m.descriptor.MediaType, Digest: m.descriptor.Digest, Size: m.descriptor.Size}
	referrer, err := ociimage.NewArtifact(string(mediaType), ociimage.EmptyConfig(), static.NewLayer(content, mediaType), &subject,
		map[string]string{"in-toto.io/predicate-type": predicateType})
	if err != nil {
		return err
	}
	digest, err := referrer.Digest()
	if err != nil {
		return err
	}
	return r.registry.push(ctx, of.Context().Digest(digest.String()), referrer)
}
