package funding

// StartNumbers has the payments of a window without any be counted from a number on.
func (w *Window) StartNumbers(n uint32) { w.first = n }

// Held is how much a window holds.
func (w *Window) Held() (payments, accounts, blocks int) {
	return len(w.payments.list()), len(w.newest), len(w.blocks.list())
}

// Queued pushes numbers to a queue, and then drops some from its front, as many each time as is given. It returns what the queue has, and how many dropped numbers are in its memory.
func Queued(pushed int, drops ...int) (list []int, gone int) {
	var q queue[int]
	for n := range pushed {
		q.push(n)
	}
	for _, n := range drops {
		q.drop(n)
	}
	return q.list(), q.gone
}
