package metadata

import (
	"bytes"
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

const (
	// maxURL bounds a URL in bytes.
	maxURL = 2048
	// maxData bounds a data: URI in bytes: a picture in base64, and what is around it.
	maxData = maxPicture/3*4 + 1024
)

// place is where a reference leads: to bytes that it carries itself, or to URLs, to be tried in order.
type place struct {
	inline bool
	data   []byte
	urls   []*url.URL
}

var (
	// contentID is an IPFS content id of version 0, or of version 1 in base32 or base36.
	contentID = regexp.MustCompile(`^(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,120}|k[0-9a-z]{50,120})$`)
	// arweaveID is an Arweave transaction or data item.
	arweaveID = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
)

// placeOf reads a reference in any form that launchpads use.
func (f *Fetcher) placeOf(ref string) (place, *Error) {
	ref = strings.TrimSpace(ref)
	scheme, rest, _ := strings.Cut(ref, ":")
	switch scheme = strings.ToLower(scheme); {
	case strings.HasPrefix(ref, "{"):
		return place{inline: true, data: []byte(ref)}, nil
	case scheme == "data":
		return dataPlace(rest)
	case len(ref) > maxURL:
		return place{}, newError(BadReference, "it has more than "+strconv.Itoa(maxURL)+" bytes")
	case scheme == "https", scheme == "http":
		return f.webPlace(ref)
	case scheme == "ipfs":
		return f.ipfsPlace(strings.TrimLeft(rest, "/"))
	case scheme == "ar":
		return f.arweavePlace(strings.TrimLeft(rest, "/"))
	}
	path := strings.TrimPrefix(strings.TrimLeft(ref, "/"), "ipfs/")
	if id, _, _ := strings.Cut(path, "/"); contentID.MatchString(id) {
		return f.ipfsPlace(path)
	}
	return place{}, newError(BadReference, "it is neither an https, http, ipfs, ar or data URI, nor an IPFS content id, nor JSON")
}

// webPlace is a URL, and where it is one of an IPFS gateway, the same content at our gateways.
func (f *Fetcher) webPlace(ref string) (place, *Error) {
	u, err := parseURL(ref)
	if err != nil {
		return place{}, err
	}
	p := place{urls: []*url.URL{u}}
	if path, ok := strings.CutPrefix(u.Path, "/ipfs/"); ok {
		if same, err := f.ipfsPlace(path); err == nil {
			for _, g := range same.urls {
				if g.Host != u.Host {
					p.urls = append(p.urls, g)
				}
			}
		}
	}
	return p, nil
}

func (f *Fetcher) ipfsPlace(path string) (place, *Error) {
	path = strings.TrimPrefix(path, "ipfs/") // ipfs://ipfs/Qm… is a common slip
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	id, _, _ := strings.Cut(path, "/")
	if !contentID.MatchString(id) {
		return place{}, newError(BadReference, "it has no IPFS content id of a known form")
	}
	return through(f.ipfs, "ipfs", path)
}

func (f *Fetcher) arweavePlace(path string) (place, *Error) {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	id, _, _ := strings.Cut(path, "/")
	if !arweaveID.MatchString(id) {
		return place{}, newError(BadReference, "it has no Arweave id")
	}
	return through(f.arweave, "", path)
}

// through is a path at each of the gateways.
func through(gateways []*url.URL, prefix, path string) (place, *Error) {
	if len(gateways) == 0 {
		return place{}, newError(Unsupported, "no gateway is configured for its network")
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if slices.Contains(strings.Split(path, "/"), "..") || strings.ContainsFunc(path, unprintable) {
		return place{}, newError(BadReference, "its path can't be used")
	}
	var p place
	for _, g := range gateways {
		p.urls = append(p.urls, g.JoinPath(prefix, (&url.URL{Path: path}).EscapedPath()))
	}
	return p, nil
}

// dataPlace decodes a data: URI. What its media type says is left aside: content is told by its first bytes.
func dataPlace(rest string) (place, *Error) {
	if len(rest) > maxData {
		return place{}, newError(TooLarge, "its data URI has more than "+strconv.Itoa(maxData)+" bytes")
	}
	media, text, ok := strings.Cut(rest, ",")
	if !ok {
		return place{}, newError(BadReference, "its data URI has no data")
	}
	if plain, err := url.PathUnescape(text); err == nil { // else it has a bare percent sign, and was never encoded
		text = plain
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(media)), "base64") {
		return place{inline: true, data: []byte(text)}, nil
	}
	text = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return place{}, newError(BadReference, "its data URI is no base64")
	}
	return place{inline: true, data: data}, nil
}

// parseURL reads a URL that may be asked for, and makes it plain: a host in ASCII and small letters, no default port, no fragment.
func parseURL(raw string) (*url.URL, *Error) {
	if len(raw) > maxURL {
		return nil, newError(BadReference, "its URL has more than "+strconv.Itoa(maxURL)+" bytes")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Opaque != "" || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return nil, newError(BadReference, "its URL can't be read; its form is https://HOST/PATH")
	case u.User != nil:
		return nil, newError(BadReference, "its URL has credentials")
	}
	name := u.Hostname()
	if a, err := netip.ParseAddr(name); err == nil && a.Zone() == "" {
		if name = a.String(); a.Is6() {
			name = "[" + name + "]"
		}
	} else if name, err = hostName(name); err != nil {
		return nil, newError(BadReference, "its host is no name")
	}
	if port := u.Port(); port != "" {
		n, ok := portOf(port)
		if !ok {
			return nil, newError(BadReference, "its port is no number from 1 to 65535")
		}
		if usual := map[string]uint16{"https": 443, "http": 80}; n != usual[u.Scheme] {
			name += ":" + strconv.Itoa(int(n))
		}
	}
	u.Host, u.Fragment, u.RawFragment = name, "", ""
	u.RawQuery = plainQuery(u.RawQuery)
	return u, nil
}

func portOf(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && n > 0
}

// plainQuery escapes what has no place in a query and would leave a request's first line ambiguous.
func plainQuery(q string) string {
	var b bytes.Buffer
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}#", c) >= 0 {
			b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

// hostName is a domain name in ASCII and small letters. A name of one label isn't one: it is somebody's neighbour. Neither is one
// that ends in a number, which some resolvers read as an address.
func hostName(s string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		var err error
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return "", errNoName
		}
	}
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if len(name) > 253 || len(labels) < 2 || last[:min(1, len(last))] < "a" {
		return "", errNoName
	}
	for _, l := range labels {
		if !label.MatchString(l) {
			return "", errNoName
		}
	}
	return name, nil
}

var errNoName = newError(BadReference, "it is no domain name")
