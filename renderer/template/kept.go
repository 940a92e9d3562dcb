package template

import (
	"crypto/sha256"
	"html/template"

	"github.com/boardwalkhq/boardwalk/internal/recent"
)

// keptPictures is how many finished pictures are kept. One of 96 pixels a side is some 15 KiB.
const keptPictures = 512

// pictureKey names a picture by its encoded bytes and the size that it is drawn at.
type pictureKey struct {
	sum  [sha256.Size]byte
	size int
}

// pictures keeps finished pictures: the same logos and faces come again and again, and to scale one costs more than the
// rest of a document.
type pictures struct {
	*recent.Cache[pictureKey, template.URL]
}

var kept = pictures{recent.New[pictureKey, template.URL](keptPictures)}

// dataURL is a picture as a data URL of exactly size by size pixels.
func (p pictures) dataURL(encoded []byte, size int) (template.URL, error) {
	key := pictureKey{sha256.Sum256(encoded), size}
	url, ok := p.Get(key)
	if !ok {
		var err error
		if url, err = dataURL(encoded, size); err != nil {
			return "", err
		}
	}
	p.Put(key, url) // also where it was there: what is in use stays
	return url, nil
}
