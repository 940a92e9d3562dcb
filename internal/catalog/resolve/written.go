package resolve

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// writtenAt is when a resource was last written, but for its status, most of which isn't served. It is zero outside a
// cluster.
func writtenAt(o metav1.Object) time.Time {
	at := o.GetCreationTimestamp().Time
	for _, f := range o.GetManagedFields() {
		if f.Subresource == "" && f.Time != nil {
			at = later(at, f.Time.Time)
		}
	}
	return at
}

// venueWrittenAt is writtenAt, or when the venue last opened or closed somewhere.
func venueWrittenAt(v *v1alpha1.LaunchVenue) time.Time {
	at := writtenAt(v)
	for i := range v.Status.Chains {
		at = later(at, v.Status.Chains[i].LastTransitionTime.Time)
	}
	return at
}

// later gives times in UTC, so that equal ones are deeply equal.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		a = b
	}
	return a.UTC()
}
