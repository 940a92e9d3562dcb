package template

import (
	"crypto/sha256"
	"html/template"
	"sync"
)

// keptPictures bounds a generation of finished pictures. One of 96 pixels a side is some 15 KiB.
const keptPictures = 256

// pictureKey names a picture by its encoded bytes and the size that it is drawn at.
type pictureKey struct {
	sum  [sha256.Size]byte
	size int
}

// pictures keeps finished pictures: the same logos and faces come again and again, and to scale one costs more than the
// rest of a document. What was of no use for a whole generation is dropped.
type pictures struct {
	mu         sync.Mutex
	young, old map[pictureKey]template.URL
}

var kept = &pictures{young: make(map[pictureKey]template.URL)}

// dataURL is a picture as a data URL of exactly size by size pixels.
func (p *pictures) dataURL(encoded []byte, size int) (template.URL, error) {
	key := pictureKey{sha256.Sum256(encoded), size}
	if url, ok := p.get(key); ok {
		return url, nil
	}
	url, err := dataURL(encoded, size)
	if err == nil {
		p.put(key, url)
	}
	return url, err
}

func (p *pictures) get(key pictureKey) (template.URL, bool) {
	p.mu.Lock()
	url, ok := p.young[key]
	if !ok {
		url, ok = p.old[key]
	}
	p.mu.Unlock()
	if ok {
		p.put(key, url)
	}
	return url, ok
}

func (p *pictures) put(key pictureKey, url template.URL) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.young[key]; !there && len(p.young) >= keptPictures {
		p.old, p.young = p.young, make(map[pictureKey]template.URL, keptPictures)
	}
	p.young[key] = url
}
