// Package template turns a card's data into a complete HTML document of sharecard.Width by sharecard.Height pixels: markup, style, charts
// and pictures in one piece, without scripts and without anything to fetch. It neither runs a browser nor knows of one.
//
// What a card says comes from strangers: names are cleaned here, escaped by html/template, and kept inside their box by the
// style sheet.
package template

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

//go:embed templates
var files embed.FS

// look is the parsed templates and the style sheet with its hash, which the document's policy names.
type look struct {
	pages *template.Template
	style template.CSS
	hash  string
}

var drawn = mustLook(files)

func mustLook(from fs.FS) look {
	style, err := fs.ReadFile(from, "templates/card.css")
	pages := template.Must(template.ParseFS(from, "templates/*.html"))
	sum := sha256.Sum256(style)
	return look{
		pages: template.Must(pages, err),
		style: template.CSS(style), // #nosec G203 -- a file of this package
		hash:  base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// sheet is what the templates draw: one frame for all cards, the bands apart.
type sheet struct {
	Style     template.CSS
	StyleHash string
	Kind      sharecard.Kind
	Head      head
	Heroes    []hero
	Band      band
	Stats     []stat
}

// Document is a card as HTML, in UTF-8. An invalid card gives an error that wraps sharecard.ErrInvalid; equal cards give equal
// bytes. A picture that can't be read is replaced by a monogram and is no error.
func Document(c sharecard.Card) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("card document: %w", err)
	}
	var s sheet
	switch of := c.(type) {
	case *sharecard.Token:
		s = tokenSheet(of)
	case *sharecard.Launch:
		s = launchSheet(of)
	case *sharecard.Trader:
		s = traderSheet(of)
	default:
		return nil, fmt.Errorf("card document: no look for a card of type %T", c)
	}
	s.Kind, s.Style, s.StyleHash = c.Kind(), drawn.style, drawn.hash
	var out bytes.Buffer
	if err := drawn.pages.ExecuteTemplate(&out, "layout.html", s); err != nil {
		return nil, fmt.Errorf("card document: %w", err)
	}
	return out.Bytes(), nil
}
