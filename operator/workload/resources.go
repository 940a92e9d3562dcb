package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// An indexer gets these resources when its Chain says nothing. A busy head needs below 512 MiB; there is no limit of processor time,
// which would slow a backfill down for nobody's good.
var (
	defaultRequests = v1alpha1.Amounts{CPU: "100m", Memory: "256Mi"}
	defaultLimits   = v1alpha1.Amounts{Memory: "1Gi"}
)

// requirements are the amounts that a Chain declares, else those of all indexers, else Boardwalk's own. What is nearer to the chain counts: what
// is asked for is never above the limit.
func requirements(chain, all v1alpha1.Resources) (requests, limits corev1.ResourceList) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	levels := []v1alpha1.Resources{chain, all, {Requests: defaultRequests, Limits: defaultLimits}}
	amounts := map[corev1.ResourceName]func(v1alpha1.Amounts) v1alpha1.Quantity{
		corev1.ResourceCPU:    func(a v1alpha1.Amounts) v1alpha1.Quantity { return a.CPU },
		corev1.ResourceMemory: func(a v1alpha1.Amounts) v1alpha1.Quantity { return a.Memory },
	}
	for name, of := range amounts {
		for _, l := range levels {
			request, asks := quantity(of(l.Requests))
			limit, bounds := quantity(of(l.Limits))
			_, asked := requests[name]
			most, bounded := limits[name]
			if asks && !asked {
				if bounded && request.Cmp(most) > 0 {
					request = most
				}
				requests[name] = request
			}
			if least, asked := requests[name]; bounds && !bounded {
				if asked && least.Cmp(limit) > 0 {
					limit = least
				}
				limits[name] = limit
			}
		}
	}
	return requests, limits
}

// quantity is what a text says, if it says one.
func quantity(text v1alpha1.Quantity) (resource.Quantity, bool) {
	q, err := resource.ParseQuantity(string(text))
	if err != nil {
		return resource.Quantity{}, false
	}
	q.RoundUp(resource.Milli) // as the API server does
	return q, true
}
