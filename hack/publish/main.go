// Command publish pushes Boardwalk's images and charts to a registry, with lists of what they are made of, where they come from, and signatures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/hack/publish/cosign"
)

const usage = `publish pushes the images and the charts of the commit that is checked out.

  go run ./hack/publish -registry registry.example.com/boardwalk [-key cosign.key] [-platforms LIST] [-builder URI]

Under the version of the charts it writes
  registry.example.com/boardwalk/boardwalk              the image of all programs but the renderer, for all platforms
  registry.example.com/boardwalk/boardwalk-renderer     the renderer's image
  registry.example.com/boardwalk/charts/boardwalk       the chart, which installs these two images by their digests
  registry.example.com/boardwalk/charts/boardwalk-crds  the chart of the resource definitions alone
Each image of a platform has its SBOM beside it, as CycloneDX, and everything has its provenance, as SLSA's (OCI referrers).
With -key, all of them are signed and attested as by cosign.

The tags of the version are written last. A version that is published with other content is refused, and stays as it is. The same commit gives the same content; the renderer's image if Debian has the same versions of the packages.
So the command can be repeated where it was interrupted, or to add signatures.

Credentials are those of docker login. The password of an encrypted key is in the environment variable COSIGN_PASSWORD.
The renderer's image takes apt-get and dpkg-deb, and no root. docs/releasing.md has more, and how users verify all this.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// start reads the options and publishes.
func start(ctx context.Context, args []string, out io.Writer) error {
	r, err := newRun(args, out)
	if err != nil {
		return err
	}
	if r.checkout, err = build.ReadCheckout(ctx); err != nil {
		return err
	}
	return r.publish(ctx)
}

func newRun(args []string, out io.Writer) (*run, error) {
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	path := flags.String("registry", "", "the registry and the path in it to publish below")
	keyFile := flags.String("key", "", "the file of the private key to sign with: cosign's, or ECDSA P-256 in PKCS #8")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "what the images are for")
	id := flags.String("builder", defaultBuilder, "the address that the provenance names as who builds; your CI's own if it publishes")
	plainHTTP := flags.Bool("plain-http", false, "speak to a registry on this machine without TLS")
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no argument, see go run ./hack/publish -help", flags.Arg(0))
	}
	r := &run{builder: builder{
		pkg: ".", id: *id, say: func(format string, arguments ...any) { _, _ = fmt.Fprintf(out, format+"\n", arguments...) },
	}}
	var err error
	if r.registry, err = openRegistry(*path, *plainHTTP, authn.DefaultKeychain); err != nil {
		return nil, err
	}
	if r.platforms, err = build.ParsePlatforms(*platforms); err != nil {
		return nil, err
	}
	if r.kinds, err = build.ParseKinds("boardwalk,boardwalk-renderer"); err != nil {
		return nil, err
	}
	if *keyFile != "" {
		r.key, err = cosign.ReadKey(*keyFile, func() (string, bool) { return os.LookupEnv(cosign.Password) })
	}
	return r, err
}
