package ociimage

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// EmptyConfig is the config of an artifact that has none, as the OCI image specification has it.
func EmptyConfig() v1.Layer {
	return static.NewLayer([]byte("{}"), "application/vnd.oci.empty.v1+json")
}

// Artifact is a manifest of blobs that no node runs, such as a chart or a list of what an image is made of.
type Artifact struct {
	Blobs []v1.Layer // the config is the first
	raw   []byte
}

// NewArtifact makes the manifest. The type is empty where the config's media type says it, and the subject is nil where the artifact belongs to
// no other manifest.
func NewArtifact(artifactType string, config, content v1.Layer, subject *v1.Descriptor, annotations map[string]string) (*Artifact, error) {
	a := &Artifact{Blobs: []v1.Layer{config, content}}
	var described [2]v1.Descriptor
	for i, blob := range a.Blobs {
		d, err := partial.Descriptor(blob)
		if err != nil {
			return nil, err
		}
		described[i] = *d
	}
	var err error
	a.raw, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: artifactType,
		Config: described[0], Layers: described[1:], Subject: subject, Annotations: annotations,
	})
	return a, err
}

// RawManifest is the manifest as a registry keeps it.
func (a *Artifact) RawManifest() ([]byte, error) { return a.raw, nil }

// MediaType is the manifest's.
func (a *Artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// Digest is the manifest's.
func (a *Artifact) Digest() (v1.Hash, error) {
	digest, _, err := v1.SHA256(bytes.NewReader(a.raw))
	return digest, err
}

// Size is the manifest's, in bytes.
func (a *Artifact) Size() (int64, error) { return int64(len(a.raw)), nil }
