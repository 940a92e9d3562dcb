package cosign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

const (
	payloadType   = "application/vnd.dev.cosign.simplesigning.v1+json"
	envelopeType  = "application/vnd.dsse.envelope.v1+json"
	statementType = "application/vnd.in-toto+json"
	signatureKey  = "dev.cosignproject.cosign/signature"
	predicateKey  = "predicateType"
)

// SignatureTag is the tag under which the signatures of a manifest are kept.
func SignatureTag(of name.Digest) name.Tag { return tag(of, ".sig") }

// AttestationTag is the tag under which the attestations of a manifest are kept.
func AttestationTag(of name.Digest) name.Tag { return tag(of, ".att") }

func tag(of name.Digest, end string) name.Tag {
	return of.Tag(strings.ReplaceAll(of.DigestStr(), ":", "-") + end)
}

// Statement is an in-toto statement.
type Statement struct {
	PredicateType string
	JSON          []byte
}

// Sign adds the key's signature of a manifest to those that SignatureTag has, nil for none. It returns nil if the key's is among them.
func (k *Key) Sign(of name.Digest, present v1.Image) (v1.Image, error) {
	claim, err := payload.Cosign{Image: of}.MarshalJSON()
	if err != nil {
		return nil, err
	}
	layers, err := read(present)
	if err != nil {
		return nil, fmt.Errorf("the signatures that are there: %w", err)
	}
	for _, l := range layers {
		if bytes.Equal(l.content, claim) && k.signed(l.annotations[signatureKey], claim) {
			return nil, nil
		}
	}
	signed, err := k.signer.SignMessage(bytes.NewReader(claim))
	if err != nil {
		return nil, err
	}
	return add(present, claim, payloadType, map[string]string{signatureKey: base64.StdEncoding.EncodeToString(signed)})
}

func (k *Key) signed(encoded string, claim []byte) bool {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && k.signer.VerifySignature(bytes.NewReader(raw), bytes.NewReader(claim)) == nil
}

// Attest adds statements, each in an envelope that the key signs, to those that AttestationTag has, nil for none. It returns nil if all of them are
// there with the key's signature.
func (k *Key) Attest(statements []Statement, present v1.Image) (v1.Image, error) {
	layers, err := read(present)
	if err != nil {
		return nil, fmt.Errorf("the attestations that are there: %w", err)
	}
	var changed v1.Image
	for _, s := range statements {
		if k.attested(layers, s) {
			continue
		}
		envelope, err := dsse.WrapSigner(k.signer, statementType).SignMessage(bytes.NewReader(s.JSON))
		if err != nil {
			return nil, err
		}
		if changed == nil {
			changed = present
		}
		// cosign wants the annotation of the signature on all layers; that of an envelope is in itself.
		annotations := map[string]string{signatureKey: "", predicateKey: s.PredicateType}
		if changed, err = add(changed, envelope, envelopeType, annotations); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

func (k *Key) attested(layers []layer, s Statement) bool {
	for _, l := range layers {
		var envelope struct {
			Payload []byte `json:"payload"`
		}
		if json.Unmarshal(l.content, &envelope) != nil || !bytes.Equal(envelope.Payload, s.JSON) {
			continue
		}
		if dsse.WrapVerifier(k.signer).VerifySignature(bytes.NewReader(l.content), nil) == nil {
			return true
		}
	}
	return false
}

// layer is a signature or an attestation of somebody.
type layer struct {
	content     []byte
	annotations map[string]string
}

// longest is more than any claim or statement has, in bytes: what a registry sends isn't trusted.
const longest = 64 << 20

func read(img v1.Image) ([]layer, error) {
	if img == nil {
		return nil, nil
	}
	manifest, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	var layers []layer
	for _, d := range manifest.Layers {
		found, err := img.LayerByDigest(d.Digest)
		if err != nil {
			return nil, err
		}
		blob, err := found.Compressed() // as it is
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(blob, longest))
		if closing := blob.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer{content: content, annotations: d.Annotations})
	}
	return layers, nil
}

func add(img v1.Image, content []byte, mediaType types.MediaType, annotations map[string]string) (v1.Image, error) {
	if img == nil {
		img = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	}
	return mutate.Append(img, mutate.Addendum{Layer: static.NewLayer(content, mediaType), Annotations: annotations})
}
