package metadata

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxDepth bounds how deep JSON may be nested. What launchpads write has three levels.
	maxDepth = 16
	// maxDescription bounds a description in bytes.
	maxDescription = 1000
	// maxEntries bounds how many members of a list of links are looked at.
	maxEntries = 32
)

// description is what JSON says, cleaned. picture is a reference.
type description struct {
	picture, text, website, x, telegram string
}

// field is one of a description's.
type field uint8

const (
	pictureField field = iota
	textField
	websiteField
	xField
	telegramField
	fields // how many there are
)

// keys are what launchpads call the fields, folded, best first. Pictures and texts are looked for at the top alone: further down
// they belong to something else.
var keys = [fields][]string{
	pictureField: {"image", "imageurl", "imageuri", "logo", "logouri", "logourl", "pfp", "pfpurl", "icon", "iconurl", "picture", "avatar"},
	textField:    {"description", "desc", "about", "bio"},
	websiteField: {"website", "websiteurl", "websites", "web", "webpage", "homepage", "site", "externalurl", "externallink"},
	xField:       {"twitter", "x", "twitterurl", "xurl", "twitterlink", "xlink", "twitterhandle", "xhandle", "twitterusername"},
	telegramField: {
		"telegram", "telegramurl", "tg", "telegramlink", "tgurl", "telegramhandle", "telegramgroup",
	},
}

// groups are the members under which links stand together: an object with the keys above, or a list of {platform, url}.
var groups = []string{"extensions", "socials", "social", "links", "sociallinks", "socialmediaurls", "socialmedia", "properties"}

// platforms are the names of links in lists.
var platforms = map[string]field{
	"website": websiteField, "web": websiteField, "site": websiteField, "homepage": websiteField, "home": websiteField,
	"x": xField, "twitter": xField, "xtwitter": xField, "twitterx": xField, "telegram": telegramField, "tg": telegramField,
}

// describe reads a token's metadata. Members of an unexpected type or with unusable content count as absent.
func describe(data []byte) (description, *Error) {
	data = withoutMark(data)
	switch {
	case len(data) > maxJSON:
		return description{}, tooMany(maxJSON)
	case !isObject(data):
		return description{}, newError(NotJSON, "it is no JSON object")
	case deeper(data, maxDepth):
		return description{}, newError(TooLarge, "its JSON has more than "+strconv.Itoa(maxDepth)+" levels")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // any number is one that nobody reads, and none is too large
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		return description{}, newError(NotJSON, "it is no JSON object")
	}
	var said findings
	said.object(fold(top), true)
	return description{
		picture:  first(said[pictureField], pictureRef),
		text:     first(said[textField], func(s string) string { return cleanText(s, maxDescription) }),
		website:  first(said[websiteField], cleanWebsite),
		x:        first(said[xField], cleanX),
		telegram: first(said[telegramField], cleanTelegram),
	}, nil
}

// isObject reports whether data begins like a JSON object.
func isObject(data []byte) bool { return bytes.HasPrefix(withoutMark(data), []byte("{")) }

// withoutMark is data without spaces around it and the byte order mark that some editors put before it.
func withoutMark(data []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

// deeper reports whether JSON has more than limit levels.
func deeper(data []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// fold makes the names of members comparable: imageUrl, image_url and "Image URL" are one. Of equal ones the first in the order
// of their spelling counts, so that the same JSON always says the same.
func fold(o map[string]any) map[string]any {
	out := make(map[string]any, len(o))
	for _, k := range slices.Sorted(maps.Keys(o)) {
		name := foldName(k)
		if v, ok := out[name]; !ok || v == "" || v == nil {
			out[name] = o[k]
		}
	}
	return out
}

func foldName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- ./", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// findings are what was found for each field, best first.
type findings [fields][]string

func (s *findings) add(f field, text string) {
	if text = strings.TrimSpace(text); text != "" {
		s[f] = append(s[f], text)
	}
}

// object looks at the members of an object, and then at its groups.
func (s *findings) object(o map[string]any, top bool) {
	for f := range fields {
		if !top && (f == pictureField || f == textField) {
			continue
		}
		for _, k := range keys[f] {
			s.add(f, textOf(o[k]))
		}
	}
	if !top {
		return
	}
	for _, g := range groups {
		switch v := o[g].(type) {
		case map[string]any:
			s.object(fold(v), false)
		case []any:
			s.list(v)
		}
	}
}

// list looks at a list of links: each {platform, url}, or a URL by itself, whose host then tells what it is.
func (s *findings) list(list []any) {
	for _, e := range list[:min(len(list), maxEntries)] {
		link, platform := "", ""
		switch v := e.(type) {
		case string:
			link = v
		case map[string]any:
			o := fold(v)
			link = textOf(o)
			for _, k := range []string{"platform", "type", "name", "label", "kind", "network"} {
				if p, ok := o[k].(string); ok && platform == "" {
					platform = foldName(p)
				}
			}
		}
		if f, ok := platforms[platform]; ok {
			s.add(f, link)
			continue
		}
		switch {
		case strings.Contains(link, "/") && cleanX(link) != "":
			s.add(xField, link)
		case strings.Contains(link, "/") && cleanTelegram(link) != "":
			s.add(telegramField, link)
		}
	}
}

// textOf is a text, or that of an object's URL, or of a list's first such member.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		o := fold(v)
		for _, k := range []string{"url", "uri", "link", "href", "src", "value", "handle"} {
			if s, ok := o[k].(string); ok && s != "" {
				return s
			}
		}
	case []any:
		for _, e := range v[:min(len(v), maxEntries)] {
			if _, nested := e.([]any); nested {
				continue
			}
			if s := textOf(e); s != "" {
				return s
			}
		}
	}
	return ""
}

// first is the first of the found texts that is of use.
func first(list []string, clean func(string) string) string {
	for _, s := range list {
		if s = clean(s); s != "" {
			return s
		}
	}
	return ""
}

// pictureRef takes any reference: whether it leads to a picture is found out by following it.
func pictureRef(s string) string { return s }

// cleanText makes a text fit to be stored and shown in one line: valid UTF-8, no control characters, nothing that turns the text
// around it to the left, of at most limit bytes.
func cleanText(s string, limit int) string {
	s = strings.ToValidUTF8(s, "")
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			gap = true
			continue
		case unicode.IsControl(r), turns(r), r == '\ufeff', r == utf8.RuneError:
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
		if b.Len() > limit {
			break
		}
	}
	s = b.String()
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return strings.TrimSpace(s)
}

// turns reports whether a character overrides or isolates the direction of text.
func turns(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || ('\u202a' <= r && r <= '\u202e') || ('\u2066' <= r && r <= '\u2069')
}

// unprintable reports whether a character is invisible or steers how others are shown.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == utf8.RuneError
}
