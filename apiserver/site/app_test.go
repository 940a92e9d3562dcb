package site

import (
	"strings"
	"testing"
)

func TestApp(t *testing.T) {
	t.Parallel()
	const mint = "0xabc"
	for template, want := range map[string]string{
		"https://app.example":                                 "https://app.example?mint=0xabc&chain=base&ref=otter_7",
		"https://app.example/":                                "https://app.example/?mint=0xabc&chain=base&ref=otter_7",
		"https://app.example/token/{mint}":                    "https://app.example/token/0xabc?chain=base&ref=otter_7",
		"https://app.example/{chain}/{mint}":                  "https://app.example/base/0xabc?ref=otter_7",
		"https://app.example/t?c={chain}&m={mint}":            "https://app.example/t?c=base&m=0xabc&ref=otter_7",
		"http://127.0.0.1:3000/#/{chain}/{mint}":              "http://127.0.0.1:3000/?ref=otter_7#/base/0xabc",
		"https://app.example/?utm=share#{mint}":               "https://app.example/?utm=share&chain=base&ref=otter_7#0xabc",
		"https://app.example/%D0%B6/{mint}?q=%7Bx%7D&{chain}": "https://app.example/%D0%B6/0xabc?q=%7Bx%7D&base&ref=otter_7",
	} {
		s, err := Parse("site.yaml", []byte("app: {label: Otter Trade, url: \""+template+"\"}"))
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		if got := s.App.Link(mint, "base", "otter_7"); got != want || s.App.Label != "Otter Trade" {
			t.Errorf("%s leads to %s, want %s", template, got, want)
		}
		if bare := s.App.Link(mint, "base", ""); strings.Contains(bare, "ref") {
			t.Errorf("%s without a code leads to %s", template, bare)
		}
	}
	for text, want := range map[string]string{
		"app: {label: x}": "app: has no url", "app: {url: 'https://app.example'}": "app: has no label",
		"app: {label: x, url: /token}":                        "app.url",
		"app: {label: x, url: '//app.example/{mint}'}":        "app.url",
		"app: {label: x, url: 'otter://token/{mint}'}":        "app.url",
		"app: {label: x, url: 'https://{chain}.example/'}":    "app.url",
		"app: {label: x, url: 'https://app.example/{ref}'}":   "app.url",
		"app: {label: x, url: 'https://{mint}@app.example/'}": "app.url",
		"app: {label: x, url: 'javascript:alert(1)'}":         "app.url",
		"app: {label: x, url: 'https://app.example', v: 1}":   `no key "v"`,
		"app: 1": "allowed: a mapping",
	} {
		if _, err := Parse("site.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if s, err := Default(); err != nil || s.App != nil {
		t.Errorf("by default the app is %+v, %v", s.App, err)
	}
}
