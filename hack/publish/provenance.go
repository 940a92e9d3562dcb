package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/hack/publish/cosign"
)

const (
	source         = "https://github.com/boardwalkhq/boardwalk"
	statementV1    = "https://in-toto.io/Statement/v1"
	provenanceV1   = "https://slsa.dev/provenance/v1"
	cycloneDX      = "https://cyclonedx.org/bom"
	buildType      = source + "/blob/main/docs/releasing.md#provenance"
	defaultBuilder = source + "/tree/main/hack/publish"
)

// statement is an in-toto statement: what a predicate says of subjects.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     any        `json:"predicate"`
}

// resource is a thing that has a digest.
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

func newStatement(of []name.Digest, predicateType string, predicate any) (cosign.Statement, error) {
	s := statement{Type: statementV1, PredicateType: predicateType, Predicate: predicate}
	for _, d := range of {
		algorithm, value, _ := strings.Cut(d.DigestStr(), ":")
		s.Subject = append(s.Subject, resource{Name: d.Repository.Name(), Digest: map[string]string{algorithm: value}})
	}
	raw, err := json.Marshal(s)
	return cosign.Statement{PredicateType: predicateType, JSON: raw}, err
}

// provenance is the predicate of SLSA 1: who built something, by what, and of what. It has no time in it, so that the same commit gives the same.
type provenance struct {
	BuildDefinition struct {
		BuildType            string         `json:"buildType"`
		ExternalParameters   map[string]any `json:"externalParameters"`
		InternalParameters   map[string]any `json:"internalParameters"`
		ResolvedDependencies []resource     `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// newProvenance says that an artefact of the checkout was made of its commit and of other things. Parameters are what the caller chose.
func newProvenance(c build.Checkout, builder, goVersion string, parameters map[string]any, of []resource) provenance {
	var p provenance
	commit := resource{URI: "git+" + source, Digest: map[string]string{"gitCommit": c.Commit}}
	p.BuildDefinition.BuildType = buildType
	p.BuildDefinition.ExternalParameters = maps.Clone(parameters)
	p.BuildDefinition.ExternalParameters["source"] = commit
	p.BuildDefinition.InternalParameters = map[string]any{"version": c.Version, "go": goVersion}
	p.BuildDefinition.ResolvedDependencies = append([]resource{commit}, of...)
	p.RunDetails.Builder.ID = builder
	p.RunDetails.Builder.Version = map[string]string{"commit": c.Commit, "go": goVersion}
	return p
}

// materials are what images are made of by their lists, each once. Go's modules have the hashes of go.sum.
func materials(lists []*cdx.BOM) ([]resource, error) {
	all := make(map[string]resource)
	for _, list := range lists {
		for _, c := range *list.Components {
			r := resource{URI: c.PackageURL}
			if c.Properties != nil {
				for _, p := range *c.Properties {
					sum, isSum := strings.CutPrefix(p.Value, "h1:")
					if p.Name != "go.sum" || !isSum {
						continue
					}
					raw, err := base64.StdEncoding.DecodeString(sum)
					if err != nil {
						return nil, fmt.Errorf("the hash of %s: %w", c.PackageURL, err)
					}
					r.Digest = map[string]string{"dirHash": hex.EncodeToString(raw)}
				}
			}
			all[r.URI] = r
		}
	}
	var sorted []resource
	for _, uri := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, all[uri])
	}
	return sorted, nil
}
