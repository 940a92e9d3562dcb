package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// pauses are those between attempts to reach the API server: 0.2 s at first, 5 to 7.5 s in the end.
var pauses = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 5 * time.Second}

// object is a pointer to a resource.
type object[T any] interface {
	*T
	metav1.Object
}

// resources are those of one kind, as the API server last told them. They come as plain JSON and are decoded one by one, so
// that one that can't be decoded doesn't take the rest with it.
type resources[T any, P object[T]] struct {
	*line

	kind string
	note func()

	mu     sync.Mutex
	read   bool // all of them were told once
	byName map[string]decoded[T]
}

// decoded is a resource, or why it is none.
type decoded[T any] struct {
	value T
	err   error
}

var _ cache.ReflectorStore = (*resources[v1alpha1.Chain, *v1alpha1.Chain])(nil)

// newResources are followed on a line; note hears of each change.
func newResources[T any, P object[T]](kind string, on *line, note func()) *resources[T, P] {
	return &resources[T, P]{line: on, kind: kind, note: note}
}

// follow follows the API server until ctx ends.
func (r *resources[T, P]) follow(ctx context.Context) {
	like := &unstructured.Unstructured{}
	like.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(r.kind))
	requests := &cache.ListWatch{ListWithContextFunc: r.requestList, WatchFuncWithContext: r.requestWatch}
	cache.NewReflectorWithOptions(requests, like, r, cache.ReflectorOptions{Name: r.plural, Backoff: &pauses}).RunWithContext(ctx)
}

// list gives the resources that are decoded, in the order of their names, and why others aren't; read is false before the API
// server has told them all.
func (r *resources[T, P]) list() (values []T, faults []error, read bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if d := r.byName[name]; d.err != nil {
			faults = append(faults, fmt.Errorf("%s %q can't be decoded: %w: the custom resource definitions may be of another version", r.kind, name, d.err))
		} else {
			values = append(values, d.value)
		}
	}
	return values, faults, r.read
}

func (r *resources[T, P]) decode(u *unstructured.Unstructured) (d decoded[T]) {
	d.err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d.value)
	owners := P(&d.value).GetManagedFields()
	for i := range owners {
		owners[i].FieldsV1 = nil // most of a resource's memory, and nobody asks
	}
	return d
}

// Add is Update.
func (r *resources[T, P]) Add(o any) error { return r.Update(o) }

// Update takes what the API server tells of a resource.
func (r *resources[T, P]) Update(o any) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a resource is a %T", o)
	}
	d := r.decode(u)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName[u.GetName()] = d
	r.note()
	return nil
}

// Delete forgets a resource.
func (r *resources[T, P]) Delete(o any) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a resource is a %T", o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, u.GetName())
	r.note()
	return nil
}

// Replace takes all resources that there are, at the start and after what was missed.
func (r *resources[T, P]) Replace(all []any, _ string) error {
	byName := make(map[string]decoded[T], len(all))
	for _, o := range all {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("a resource is a %T", o)
		}
		byName[u.GetName()] = r.decode(u)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName, r.read = byName, true
	r.note()
	return nil
}

// Resync is for stores that others follow.
func (*resources[T, P]) Resync() error { return nil }
