package stream

import "sync/atomic"

// Body is an encoded form of something, with what it was made from. Any number of goroutines may use it.
type Body struct{ made atomic.Pointer[madeBody] }

type madeBody struct {
	from any
	body []byte
}

// Get gives the form that is made of from, a comparable value: the last one, if that was made of an equal value, else what encode makes. It must not be
// changed.
func (b *Body) Get(from any, encode func() ([]byte, error)) ([]byte, error) {
	if last := b.made.Load(); last != nil && last.from == from {
		return last.body, nil
	}
	body, err := encode()
	if err != nil {
		return nil, err
	}
	b.made.Store(&madeBody{from, body})
	return body, nil
}
