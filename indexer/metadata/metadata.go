// Package metadata fetches what a token says about itself, and its picture, from wherever its creator put them: a
// hostile outside. It connects to public addresses alone, bounds all that it reads, and decodes and encodes pictures again.
// It keeps nothing: a Worker takes jobs from a Queue and hands back what it got.
package metadata

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/metadata/picture"
)

// fetchTime bounds a fetch in all: metadata, picture, redirects and decoding.
const fetchTime = 10 * time.Second

// The gateways that are asked unless others are configured.
var (
	ipfsGateways    = []string{"https://ipfs.io", "https://dweb.link", "https://gateway.pinata.cloud"}
	arweaveGateways = []string{"https://arweave.net", "https://permagate.io"}
)

// Document is what a token's metadata says. Anything may be empty.
type Document struct {
	// ImageURL is a public https URL of the picture; empty when it has none, as a picture in a data: URI.
	ImageURL string
	// Image is the picture as a PNG of at most 256 by 256 pixels and 64 KiB.
	Image []byte
	// Website is an https or http URL, X one of https://x.com/, Telegram one of https://t.me/. All are ASCII, of at most 512 bytes.
	Website, X, Telegram string
	// Description is text in one line of at most 1,000 bytes: no markup is meant, but it isn't escaped.
	Description string
}

// empty reports whether nothing was fetched.
func (d *Document) empty() bool {
	return d.ImageURL == "" && len(d.Image) == 0 && d.Website == "" && d.X == "" && d.Telegram == "" && d.Description == ""
}

// Options set what a fetcher may fetch, and how.
type Options struct {
	Now func() time.Time
	// IPFS and Arweave are the base URLs of gateways, tried in order; nil is a list of well-known ones, and with an empty list
	// such references are unsupported. Gateways are guarded like every other host: they must be public.
	IPFS, Arweave []string
	// Denied are ranges that are refused besides those that aren't public: public addresses that a site uses inside.
	Denied []netip.Prefix
	// Resolver looks names up; nil is the system's name servers.
	Resolver Resolver

	// AllowAddress replaces the rule for addresses, Public, and Ports the ports, 80 and 443. They exist for tests, whose servers
	// are on loopback: with them nothing keeps a token from sending requests into the operator's own network.
	AllowAddress func(netip.Addr) bool
	Ports        []uint16
	// RootCAs vouch for certificates; nil are the system's.
	RootCAs *x509.CertPool
}

// Fetcher fetches documents. It may be used by several goroutines, and by the workers of several chains, which then share its
// politeness towards hosts.
type Fetcher struct {
	now           func() time.Time
	timeout       time.Duration
	ipfs, arweave []*url.URL
	gateway       map[string]bool // by host
	transport     *http.Transport
	hosts         *hosts
	pictures      *picture.Drawer
}

// New checks the options. It opens no connection.
func New(o Options) (*Fetcher, error) {
	f := &Fetcher{now: o.Now, timeout: fetchTime, gateway: map[string]bool{}, hosts: newHosts(o.Now), pictures: picture.New()}
	if o.IPFS == nil {
		o.IPFS = ipfsGateways
	}
	if o.Arweave == nil {
		o.Arweave = arweaveGateways
	}
	var err error
	if f.ipfs, err = f.gateways("IPFS", o.IPFS); err != nil {
		return nil, err
	}
	if f.arweave, err = f.gateways("Arweave", o.Arweave); err != nil {
		return nil, err
	}
	if o.Resolver == nil {
		o.Resolver = &net.Resolver{PreferGo: true} // the C library's would read 0x7f.1 as an address
	}
	if o.AllowAddress == nil {
		o.AllowAddress = Public
	}
	if o.Ports == nil {
		o.Ports = []uint16{80, 443}
	}
	allow := func(a netip.Addr) bool { return o.AllowAddress(a) && !isIn(a, o.Denied) }
	g := newGuard(o.Resolver, allow, o.Ports)
	f.transport = g.transport(&tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12})
	return f, nil
}

func (f *Fetcher) gateways(network string, list []string) ([]*url.URL, error) {
	out := make([]*url.URL, len(list))
	for i, raw := range list {
		u, err := parseURL(raw)
		if err != nil || u.RawQuery != "" {
			return nil, fmt.Errorf("%s gateway %d: it must be a URL of the form https://HOST", network, i+1)
		}
		out[i] = u
		f.gateway[u.Host] = true
	}
	return out, nil
}

// Fetch gets the document that metadata leads to and the picture that image, or else the document, leads to. Each is a URL
// (https, http, ipfs, ar or data), an IPFS content id, or empty; metadata may be the JSON itself. An error is an *Error; the document
// then has what was got in spite of it.
func (f *Fetcher) Fetch(ctx context.Context, metadata, image string) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	var doc Document
	var said description
	var found blob // the metadata, where it is a picture
	var noText, noPicture *Error
	if metadata != "" {
		if found, noText = f.load(ctx, metadata, wantEither); noText == nil && found.format == "" {
			said, noText = describe(found.data)
		}
	}
	doc.Website, doc.X, doc.Telegram, doc.Description = said.website, said.x, said.telegram, said.text
	if found.format != "" {
		noPicture = f.draw(ctx, found, &doc)
	}
	for _, ref := range []string{image, said.picture} {
		if ref == "" || doc.Image != nil {
			continue
		}
		b, err := f.load(ctx, ref, wantPicture)
		if err == nil {
			err = f.draw(ctx, b, &doc)
		}
		noPicture = worse(noPicture, err)
	}
	if doc.Image != nil {
		noPicture = nil
	}
	return doc, joined(noText, noPicture)
}

// draw puts a blob's picture into the document.
func (f *Fetcher) draw(ctx context.Context, b blob, doc *Document) *Error {
	image, err := f.pictures.Redraw(ctx, b.data, b.format)
	if err != nil {
		kinds := map[picture.Reason]Kind{picture.Broken: NotPicture, picture.TooLarge: TooLarge, picture.TooSlow: TooSlow}
		return &Error{Kind: kinds[err.Reason], text: err.Error(), cause: err}
	}
	doc.Image = image
	for _, u := range []*url.URL{b.url, b.final} {
		if u != nil && u.Scheme == "https" && publicHost(u.Hostname()) {
			doc.ImageURL = u.String()
			break
		}
	}
	return nil
}

// firstHost is the host that fetching begins with; empty when it needs none or can't begin.
func (f *Fetcher) firstHost(metadata, image string) string {
	for _, ref := range []string{metadata, image} {
		if p, err := f.placeOf(ref); err == nil && len(p.urls) > 0 {
			return p.urls[0].Hostname()
		}
	}
	return ""
}

// free reports whether a host would be asked at once.
func (f *Fetcher) free(host string) bool { return host == "" || f.hosts.free(host) }
