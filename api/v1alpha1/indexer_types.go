package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Indexer says what a chain's indexer does, and what it gets of the cluster. Outside a cluster MaxLag, Generation and Facts have an effect, the other
// fields have none.
type Indexer struct {
	// Generation is which index of the chain is wanted, 1 when it is left out. A number above that of the index that is served has the chain
	// indexed anew beside it; once that is at the head it takes the other's place, whose rows are then deleted. The number that is served, put
	// back before, gives the new one up.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Generation *int64 `json:"generation,omitempty"`
	// Facts says whether the next generation uses what nodes told the index that is served (Kept, the default), or asks them again (Asked), which
	// takes nodes that have the states of that time.
	//
	// +optional
	Facts Facts `json:"facts,omitempty"`
	// MaxLag is how far the indexer may be behind its chain before the chain isn't ready and its venues close: 15s to 24h,
	// 2m when it is left out.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15s') && duration(self) <= duration('24h')",message="indexer.maxLag must be from 15s to 24h"
	// +optional
	MaxLag *metav1.Duration `json:"maxLag,omitempty"`
	// Resources of the indexer's container. What is left out has the operator's default.
	//
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// NodeSelector places the indexer on nodes with these labels.
	//
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a nodeSelector key must be a label's name, such as kubernetes.io/arch"
	// +optional
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// Tolerations let the indexer run on tainted nodes.
	//
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// PriorityClassName of the indexer's pod.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Facts says where the next generation of an index has what logs don't tell.
//
// +kubebuilder:validation:Enum=Kept;Asked
type Facts string

// The choices.
const (
	FactsKept  Facts = "Kept"
	FactsAsked Facts = "Asked"
)

// MaxLag is spec.indexer.maxLag, or the default.
func (c *Chain) MaxLag() time.Duration {
	if c.Spec.Indexer.MaxLag == nil {
		return DefaultMaxLag
	}
	return c.Spec.Indexer.MaxLag.Duration
}

// Resources are what a container asks for and what it may have at most.
//
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.cpu) || !has(self.limits.cpu) || quantity(self.requests.cpu).compareTo(quantity(self.limits.cpu)) <= 0",message="resources.requests.cpu is above resources.limits.cpu: lower one or raise the other"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.memory) || !has(self.limits.memory) || quantity(self.requests.memory).compareTo(quantity(self.limits.memory)) <= 0",message="resources.requests.memory is above resources.limits.memory: lower one or raise the other"
type Resources struct {
	// +optional
	Requests Amounts `json:"requests,omitzero"`
	// +optional
	Limits Amounts `json:"limits,omitzero"`
}

// Amounts are of processor time and memory.
type Amounts struct {
	// CPU in cores, such as 500m.
	//
	// +optional
	CPU Quantity `json:"cpu,omitempty"`
	// Memory in bytes, such as 512Mi.
	//
	// +optional
	Memory Quantity `json:"memory,omitempty"`
}

// Quantity is an amount as Kubernetes writes it, in quotes where it is a plain number: 500m, 512Mi, "1".
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^[0-9]{1,12}(\.[0-9]{1,9})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`
type Quantity string

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Toleration is a taint that the indexer bears.
//
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator != 'Exists' || !has(self.value)",message="operator Exists takes no value: leave value out, or write operator: Equal",fieldPath=".value"
// +kubebuilder:validation:XValidation:rule="(has(self.key) && size(self.key) > 0) || (has(self.operator) && self.operator == 'Exists')",message="a toleration needs the taint's key; without one, operator: Exists bears every taint",fieldPath=".key"
type Toleration struct {
	// Key of the taint; without one, operator Exists bears every taint.
	//
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^(([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('[^-A-Za-z0-9_./]')`,message="a taint's key is a label's name, such as example.com/dedicated"
	// +optional
	Key string `json:"key,omitempty"`
	// Operator is Equal, which compares the value, or Exists.
	//
	// +kubebuilder:validation:Enum=Equal;Exists
	// +optional
	Operator string `json:"operator,omitempty"`
	// +optional
	Value LabelValue `json:"value,omitempty"`
	// Effect of the taint; left out it is every effect.
	//
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	// +optional
	Effect string `json:"effect,omitempty"`
}
