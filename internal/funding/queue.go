package funding

// queue is a list that is dropped from at its front. What stays isn't moved each time: up to an eighth of its memory is of what was dropped.
type queue[T any] struct {
	all  []T
	gone int
}

func (q *queue[T]) list() []T { return q.all[q.gone:] }

func (q *queue[T]) push(v T) { q.all = append(q.all, v) }

// cut keeps the first n.
func (q *queue[T]) cut(n int) { q.all = q.all[:q.gone+n] }

// drop drops the first n.
func (q *queue[T]) drop(n int) {
	q.gone += n
	if q.gone > len(q.all)/8 {
		q.all = q.all[:copy(q.all, q.list())]
		q.gone = 0
	}
}
