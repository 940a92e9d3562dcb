package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// What an indexer gets when its Chain says nothing. A busy head needs below 512 MiB; there is no limit of processor time,
// which would slow a backfill down for nobody's good.
var (
	defaultRequests = v1alpha1.Amounts{CPU: "100m", Memory: "256Mi"}
	defaultLimits   = v1alpha1.Amounts{Memory: "1Gi"}
)

// requirements are the declared amounts and, where there are none, the default ones. A default gives way to what is declared:
// what is asked for is never above the limit.
func requirements(declared v1alpha1.Resources) (requests, limits corev1.ResourceList) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	for _, r := range []struct {
		name                      corev1.ResourceName
		request, limit, ask, most v1alpha1.Quantity
	}{
		{corev1.ResourceCPU, declared.Requests.CPU, declared.Limits.CPU, defaultRequests.CPU, defaultLimits.CPU},
		{corev1.ResourceMemory, declared.Requests.Memory, declared.Limits.Memory, defaultRequests.Memory, defaultLimits.Memory},
	} {
		request, asked := quantity(r.request, r.ask)
		limit, limited := quantity(r.limit, r.most)
		if asked && limited && request.Cmp(limit) > 0 {
			if r.request == "" {
				request = limit
			} else {
				limit = request
			}
		}
		if asked {
			requests[r.name] = request
		}
		if limited {
			limits[r.name] = limit
		}
	}
	return requests, limits
}

// quantity is the first that is one.
func quantity(values ...v1alpha1.Quantity) (resource.Quantity, bool) {
	for _, v := range values {
		if q, err := resource.ParseQuantity(string(v)); err == nil {
			q.RoundUp(resource.Milli) // as the API server does
			return q, true
		}
	}
	return resource.Quantity{}, false
}
