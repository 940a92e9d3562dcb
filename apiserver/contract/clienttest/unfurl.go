package clienttest

import (
	"encoding/json"
	"testing"
)

// Unfurled is what an unfurler found on a page: the members that open-graph-scraper names them by.
type Unfurled struct {
	Success            bool    `json:"success"`
	Title              string  `json:"ogTitle"`
	Description        string  `json:"ogDescription"`
	Type               string  `json:"ogType"`
	URL                string  `json:"ogUrl"`
	SiteName           string  `json:"ogSiteName"`
	Images             []Image `json:"ogImage"`
	TwitterCard        string  `json:"twitterCard"`
	TwitterTitle       string  `json:"twitterTitle"`
	TwitterDescription string  `json:"twitterDescription"`
	TwitterImages      []Image `json:"twitterImage"`
}

// Image is a picture that a page names. Width and height are texts, as they stand there.
type Image struct {
	URL    string `json:"url"`
	Type   string `json:"type"`
	Width  string `json:"width"`
	Height string `json:"height"`
	Alt    string `json:"alt"`
}

// Unfurl has open-graph-scraper, an npm package that link previews are made with, read the page at an address.
func Unfurl(tb testing.TB, url string) Unfurled {
	tb.Helper()
	out, err := newBench(tb, "unfurl.cjs").node(tb.Context(), "unfurl.cjs", url)
	if err != nil {
		tb.Fatal(err)
	}
	var found Unfurled
	if err := json.Unmarshal(out, &found); err != nil {
		tb.Fatalf("read what open-graph-scraper found: %v\n%s", err, out)
	}
	return found
}
