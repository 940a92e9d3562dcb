// Command images builds the container images of Boardwalk without a daemon or a registry.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

const usage = `images builds container images of the commit that is checked out.

  go run ./hack/images [-o DIR] [-platforms LIST] [-tag TAG]

It writes into DIR
  boardwalk-oci/             an OCI image layout with one index over all platforms, for
                             skopeo copy --all oci:DIR/boardwalk-oci:TAG docker://...
                             or crane push DIR/boardwalk-oci ...
  boardwalk-OS-ARCH.tar      each platform's image, for docker load or ctr -n k8s.io images import

The same commit gives the same bytes.

`

type options struct {
	dir       string
	platforms []v1.Platform
	tag       string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.StringVar(&o.dir, "o", "dist", "the directory to write into")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "what to build for")
	flags.StringVar(&o.tag, "tag", "boardwalk:dev", "the images' name and tag")
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("%q is no argument, see go run ./hack/images -help", flags.Arg(0))
	}
	var err error
	o.platforms, err = parsePlatforms(*platforms)
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	c, err := readCheckout(ctx)
	if err != nil {
		return err
	}
	return build(ctx, c, ".", o, out)
}

// build makes the images of a package of the checkout and says what it wrote.
func build(ctx context.Context, c checkout, pkg string, o options, out io.Writer) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	images := make([]v1.Image, 0, len(o.platforms))
	for _, p := range o.platforms {
		program, err := compile(ctx, c, pkg, p)
		if err != nil {
			return err
		}
		img, err := image(c, p, program)
		if err != nil {
			return err
		}
		path := filepath.Join(o.dir, "boardwalk-"+p.OS+"-"+p.Architecture+".tar")
		if err := ociimage.Save(path, o.tag, img); err != nil {
			return err
		}
		size, err := ociimage.Size(img)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%s: %s at %s, %.1f MB compressed, program %.1f MB\n",
			path, o.tag, c.version, float64(size)/1e6, float64(len(program))/1e6)
		images = append(images, img)
	}
	dir := filepath.Join(o.dir, "boardwalk-oci")
	if err := ociimage.WriteLayout(dir, o.tag, images...); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s: %s for %d platforms\n", dir, o.tag, len(images))
	return nil
}
