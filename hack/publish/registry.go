package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

// registry is the path in a registry below which everything is published.
type registry struct {
	path      string
	options   []name.Option
	keychain  authn.Keychain
	transport http.RoundTripper
	pusher    *remote.Pusher
	puller    *remote.Puller
}

func openRegistry(path string, plainHTTP bool, keychain authn.Keychain) (*registry, error) {
	r := &registry{path: strings.TrimSuffix(path, "/"), options: []name.Option{name.StrictValidation}, keychain: keychain}
	if path == "" {
		return nil, errors.New("-registry is missing: name a registry and a path in it, such as registry.example.com/boardwalk")
	}
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("-registry %q has a scheme: leave it out, as in registry.example.com/boardwalk", path)
	}
	if plainHTTP {
		r.options = append(r.options, name.Insecure)
	}
	some, err := r.repository("boardwalk")
	if err != nil {
		return nil, fmt.Errorf("-registry %q: %w (write it such as registry.example.com/boardwalk)", path, err)
	}
	if plainHTTP && !isLoopback(some.RegistryStr()) {
		return nil, fmt.Errorf("-plain-http is for a registry on this machine, such as localhost:5000: %s is another, to which passwords would go unencrypted",
			some.RegistryStr())
	}
	r.transport = remote.DefaultTransport
	if !plainHTTP {
		r.transport = encryptedOnly{remote.DefaultTransport}
	}
	options := []remote.Option{remote.WithAuthFromKeychain(keychain), remote.WithTransport(r.transport), remote.WithUserAgent("boardwalk-publish")}
	if r.pusher, err = remote.NewPusher(options...); err != nil {
		return nil, err
	}
	r.puller, err = remote.NewPuller(options...)
	return r, err
}

func isLoopback(host string) bool {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var errPlainHTTP = errors.New("it would go over plain HTTP")

// encryptedOnly refuses plain HTTP. The library tries it by itself with registries at private addresses.
type encryptedOnly struct{ next http.RoundTripper }

func (e encryptedOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errPlainHTTP
	}
	return e.next.RoundTrip(r)
}

func (r *registry) repository(path string) (name.Repository, error) {
	return name.NewRepository(r.path+"/"+path, r.options...)
}

// digest is what a tag names, or nothing if there is no such tag.
func (r *registry) digest(ctx context.Context, tag name.Tag) (v1.Hash, error) {
	found, err := r.puller.Head(ctx, tag)
	if isMissing(err) {
		return v1.Hash{}, nil
	}
	if err != nil {
		return v1.Hash{}, explain(err, tag)
	}
	return found.Digest, nil
}

// image is what a tag names, or nil if there is no such tag.
func (r *registry) image(ctx context.Context, tag name.Tag) (v1.Image, error) {
	found, err := r.puller.Get(ctx, tag)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err, tag)
	}
	return found.Image()
}

func isMissing(err error) bool {
	answer, ok := errors.AsType[*transport.Error](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// mayPush asks the registry to begin an upload, which is taken back.
func (r *registry) mayPush(repository name.Repository) error {
	return explain(remote.CheckPushPermission(repository.Tag("none"), r.keychain, r.transport), repository)
}

// push writes a manifest and all that it refers to.
func (r *registry) push(ctx context.Context, ref name.Reference, content remote.Taggable) error {
	artifact, ok := content.(*ociimage.Artifact)
	if !ok {
		return explain(r.pusher.Push(ctx, ref, content), ref)
	}
	for _, blob := range artifact.Blobs {
		if err := r.pusher.Upload(ctx, ref.Context(), blob); err != nil {
			return explain(err, ref)
		}
	}
	// Put writes the list of referrers too, in registries that don't make it themselves, even where the manifest is there.
	return explain(r.pusher.Put(ctx, ref, artifact), ref)
}

// explain says what to do about an error of a registry.
func explain(err error, about fmt.Stringer) error {
	if err == nil {
		return nil
	}
	host := about.String()
	if i := strings.Index(host, "/"); i > 0 {
		host = host[:i]
	}
	advice := ""
	answer, answered := errors.AsType[*transport.Error](err)
	_, unknownHost := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, unreachable := errors.AsType[*net.OpError](err)
	switch {
	case answered && answer.StatusCode == http.StatusUnauthorized:
		advice = "log in with docker login " + host + ", or write the registry's credentials into the config.json in DOCKER_CONFIG"
	case answered && answer.StatusCode == http.StatusForbidden:
		advice = "the credentials for " + host + " in docker's config.json may not do this: use those of an account that may push to it"
	case unknownHost:
		advice = "no host is called " + host + ": check -registry"
	case untrusted:
		advice = "the certificate of " + host + " is not trusted: put its authority's certificate into a file and name that in SSL_CERT_FILE"
	case noTLS, errors.Is(err, errPlainHTTP), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		advice = host + " has to speak HTTPS; -plain-http is for a registry on this machine"
	case unreachable:
		advice = host + " can't be reached: check -registry and its port"
	default:
		return fmt.Errorf("%s: %w", about, err)
	}
	return fmt.Errorf("%s: %s (%w)", about, advice, err)
}
