package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Indexer configures a chain's indexer. Outside a cluster generation, facts and maxLag have an effect, and the other fields have none.
type Indexer struct {
	// Generation is the number of the chain's index that is wanted, 1 to 1000000. If it is above the number of the served index, the indexer makes a new
	// index of the chain beside the served one. Once the new index is at the chain's head, it is served, and the rows of the former one are deleted. To give
	// a new index up before that, write the number of the served one again. Default: 1.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Generation *int64 `json:"generation,omitempty"`
	// Facts says where the next generation gets the facts that logs don't tell: Kept uses the nodes' answers that the served index has kept; Asked asks
	// nodes again, which must have the chain's old states. Default: Kept.
	//
	// +optional
	Facts Facts `json:"facts,omitempty"`
	// MaxLag is the largest delay of the indexer behind its chain, 15s to 24h (for example 5m). At a larger delay the chain isn't ready, and its venues are
	// closed. Default: 2m.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15s') && duration(self) <= duration('24h')",message="indexer.maxLag must be from 15s to 24h"
	// +optional
	MaxLag *metav1.Duration `json:"maxLag,omitempty"`
	// Resources are the CPU and memory of the indexer's container. An amount that is left out comes from the operator's settings for all indexers (chart
	// value indexers.resources), and is the default where these have none. Left out: all amounts come from there.
	//
	// +optional
	Resources Resources `json:"resources,omitzero"`
	// NodeSelector is the list of labels, up to 16, that a node of the cluster must have for the indexer to run on it (for example kubernetes.io/arch:
	// amd64). Left out: the operator's settings for all indexers count (chart value indexers.nodeSelector).
	//
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="a nodeSelector key must be a label's name, such as kubernetes.io/arch"
	// +optional
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// Tolerations let the indexer run on tainted nodes of the cluster, up to 16. Left out: the operator's settings for all indexers count (chart value
	// indexers.tolerations).
	//
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// PriorityClassName is the name of the PriorityClass of the indexer's pod. Left out: the operator's settings for all indexers count (chart value
	// indexers.priorityClassName).
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// Facts says where the next generation of an index gets the facts that logs don't tell: Kept or Asked.
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

// Resources are the CPU and memory that a container requests, and its limits. A default never contradicts a written amount: it is lowered or raised so
// that no request is above its limit.
//
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.cpu) || !has(self.limits.cpu) || quantity(self.requests.cpu).compareTo(quantity(self.limits.cpu)) <= 0",message="resources.requests.cpu is above resources.limits.cpu: lower one or raise the other"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.memory) || !has(self.limits.memory) || quantity(self.requests.memory).compareTo(quantity(self.limits.memory)) <= 0",message="resources.requests.memory is above resources.limits.memory: lower one or raise the other"
type Resources struct {
	// Requests are the CPU and memory that the cluster reserves for the container. Default: 100m of CPU, 256Mi of memory.
	//
	// +optional
	Requests Amounts `json:"requests,omitzero"`
	// Limits are the most CPU and memory that the container may use. Default: no limit of CPU, 1Gi of memory.
	//
	// +optional
	Limits Amounts `json:"limits,omitzero"`
}

// Amounts are an amount of CPU and an amount of memory.
type Amounts struct {
	// CPU is an amount of CPU in cores (for example 500m, which is half a core). The chart value indexers.resources can set another default.
	// Default: 100m in requests, no limit in limits.
	//
	// +optional
	CPU Quantity `json:"cpu,omitempty"`
	// Memory is an amount of memory in bytes (for example 512Mi). The chart value indexers.resources can set another default.
	// Default: 256Mi in requests, 1Gi in limits.
	//
	// +optional
	Memory Quantity `json:"memory,omitempty"`
}

// Quantity is an amount in the notation of Kubernetes, 1 to 16 characters (for example 500m or 512Mi). A plain number is written in quotes (for example
// "1").
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^[0-9]{1,12}(\.[0-9]{1,9})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`
type Quantity string

// LabelValue is the value of a label, up to 63 letters, digits, dots, underscores and hyphens.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Toleration is a taint that the indexer tolerates.
//
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator != 'Exists' || !has(self.value)",message="operator Exists takes no value: leave value out, or write operator: Equal",fieldPath=".value"
// +kubebuilder:validation:XValidation:rule="(has(self.key) && size(self.key) > 0) || (has(self.operator) && self.operator == 'Exists')",message="a toleration needs the taint's key; without one, operator: Exists tolerates every taint",fieldPath=".key"
type Toleration struct {
	// Key is the key of the taint (for example example.com/dedicated). Left out: operator must be Exists, and taints with any key are tolerated.
	//
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^(([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('[^-A-Za-z0-9_./]')`,message="a taint's key is a label's name, such as example.com/dedicated"
	// +optional
	Key string `json:"key,omitempty"`
	// Operator says how the taint is compared: Equal (the taint has this key and this value) or Exists (the taint has this key, with any value).
	// Default: Equal.
	//
	// +kubebuilder:validation:Enum=Equal;Exists
	// +optional
	Operator string `json:"operator,omitempty"`
	// Value is the value of the taint, up to 63 characters, for operator Equal alone. Left out: the value is empty.
	//
	// +optional
	Value LabelValue `json:"value,omitempty"`
	// Effect is the effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Left out: taints with any effect are tolerated.
	//
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	// +optional
	Effect string `json:"effect,omitempty"`
}
