// Package v1alpha1 has the resources that a platform team writes: Chain and LaunchVenue. Types, defaults and rules live here; what is
// made of them lives in internal/catalog/resolve (plain documents) and in the operator (workloads).
//
// +kubebuilder:object:generate=true
// +groupName=boardwalk.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object paths=.
//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 crd paths=. output:crd:dir=../../config/crd/bases
//go:generate go run github.com/elastic/crd-ref-docs@v0.3.0 --log-level=ERROR --source-path=. --config=../../hack/reference/config.yaml --templates-dir=../../hack/reference/templates --renderer=markdown --output-path=../../docs/reference.md

// GroupVersion is what a manifest has as its apiVersion.
var GroupVersion = schema.GroupVersion{Group: "boardwalk.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme makes the resources known to a client's scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Chain{}, &ChainList{}, &LaunchVenue{}, &LaunchVenueList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
