package cards

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Picture is a card as it was drawn. It is never changed.
type Picture struct {
	PNG []byte
	// ETag is a weak validator of PNG.
	ETag string
	// AsOf is the time of the newest data that it shows, in Unix seconds.
	AsOf int64
	// key is the card's.
	key string
}

func newPicture(key string, png []byte, asOf int64) *Picture {
	sum := sha256.Sum256(png)
	return &Picture{PNG: png, ETag: `W/"` + hex.EncodeToString(sum[:16]) + `"`, AsOf: asOf, key: key}
}

// seenAt is the picture of the same data, looked at later.
func (p *Picture) seenAt(asOf int64) *Picture {
	if asOf <= p.AsOf {
		return p
	}
	again := *p
	again.AsOf = asOf
	return &again
}

// pictureCache keeps the last picture of each subject, most bytes of them at most. The picture that nobody has asked for the longest goes first.
type pictureCache struct {
	most int

	mu    sync.Mutex
	bytes int
	order *list.List // of *cachedPicture, the one that was asked for last in front
	by    map[string]*list.Element
}

type cachedPicture struct {
	subject string
	picture *Picture
}

// overhead is about what a picture takes beside its bytes.
const overhead = 512

func newPictureCache(most int) *pictureCache {
	return &pictureCache{most: most, order: list.New(), by: make(map[string]*list.Element)}
}

// get gives nil for a subject of which there is none.
func (s *pictureCache) get(subject string) *Picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.by[subject]
	if !ok {
		return nil
	}
	s.order.MoveToFront(e)
	return of(e).picture
}

func (s *pictureCache) put(subject string, p *Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.by[subject]; ok {
		s.bytes += len(p.PNG) - len(of(e).picture.PNG)
		of(e).picture = p
		s.order.MoveToFront(e)
	} else {
		s.by[subject] = s.order.PushFront(&cachedPicture{subject, p})
		s.bytes += len(p.PNG) + overhead
	}
	for s.bytes > s.most && s.order.Len() > 0 {
		e := s.order.Back()
		s.order.Remove(e)
		delete(s.by, of(e).subject)
		s.bytes -= len(of(e).picture.PNG) + overhead
	}
}

// held is how many pictures there are, and their bytes.
func (s *pictureCache) held() (pictures, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len(), s.bytes
}

// of is what an element of the order is.
func of(e *list.Element) *cachedPicture {
	v, _ := e.Value.(*cachedPicture) // nothing else is in the list
	return v
}
