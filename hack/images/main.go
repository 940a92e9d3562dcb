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
	"strconv"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

const usage = `images builds container images of the commit that is checked out.

  go run ./hack/images [-images LIST] [-o DIR] [-platforms LIST] [-tag TAG]

It writes into DIR, of the image with nothing but the program
  boardwalk-oci/             an OCI image layout with one index over all platforms, for
                             skopeo copy --all oci:DIR/boardwalk-oci:TAG docker://...
                             or crane push DIR/boardwalk-oci ...
  boardwalk-OS-ARCH.tar      each platform's image, for docker load or ctr -n k8s.io images import
  boardwalk-OS-ARCH.cdx.json what that image is made of, modules and packages, as CycloneDX
and as boardwalk-renderer-* the renderer's, which has a browser and fonts besides. Its name is TAG's with "-renderer".
  images.yaml                has the digests of all of them, as values of the chart: helm install -f DIR/images.yaml

The same commit gives the same bytes; the renderer's if Debian has the same versions of the packages. That image takes
apt-get and dpkg-deb, and no root: on another system use the Dockerfile, or -images boardwalk.

`

type options struct {
	dir       string
	images    []build.Kind
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
	images := flags.String("images", "boardwalk,boardwalk-renderer", "which of the two to build")
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
	if o.images, err = build.ParseKinds(*images); err != nil {
		return options{}, err
	}
	o.platforms, err = build.ParsePlatforms(*platforms)
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	c, err := build.ReadCheckout(ctx)
	if err != nil {
		return err
	}
	return makeImages(ctx, c, ".", o, out)
}

// makeImages makes the images of a package of the checkout and says what it wrote.
func makeImages(ctx context.Context, c build.Checkout, pkg string, o options, out io.Writer) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	programs := make([][]byte, len(o.platforms))
	for i, p := range o.platforms {
		var err error
		if programs[i], err = build.Compile(ctx, c, pkg, p); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "program at %s for %s: %.1f MB\n", c.Version, p, float64(len(programs[i]))/1e6)
	}
	digests := make(map[string]v1.Hash)
	for _, k := range o.images {
		digest, err := buildKind(ctx, c, k, o, programs, out)
		if err != nil {
			return err
		}
		digests[k.Name] = digest
	}
	return os.WriteFile(filepath.Join(o.dir, "images.yaml"), values(o.tag, digests), 0o644)
}

// values are those of the chart by which pods run these images and no others.
func values(tag string, digests map[string]v1.Hash) []byte {
	version := tag[strings.LastIndex(tag, ":")+1:]
	text := "# The digests of the images that lie beside this file, for helm install -f. A registry keeps them if what is pushed isn't changed on the\n" +
		"# way: crane push, or skopeo copy --all --preserve-digests. Their repositories are yours to name.\n"
	of := func(digest v1.Hash) string {
		return "{tag: " + strconv.Quote(version) + ", digest: " + strconv.Quote(digest.String()) + "}\n"
	}
	if digest, built := digests["boardwalk"]; built {
		text += "image: " + of(digest)
	}
	if digest, built := digests["boardwalk-renderer"]; built {
		text += "renderer:\n  image: " + of(digest)
	}
	return []byte(text)
}

// buildKind writes one image for all platforms, of a program for each, and returns the digest of the index over them.
func buildKind(ctx context.Context, c build.Checkout, k build.Kind, o options, programs [][]byte, out io.Writer) (digest v1.Hash, err error) {
	tag, err := tagOf(k, o.tag)
	if err != nil {
		return digest, err
	}
	images := make([]v1.Image, 0, len(o.platforms))
	for i, p := range o.platforms {
		img, err := k.Image(ctx, c, p, programs[i])
		if err != nil {
			return digest, err
		}
		base := filepath.Join(o.dir, k.Name+"-"+p.OS+"-"+p.Architecture)
		path := base + ".tar"
		if err := ociimage.Save(path, tag, img); err != nil {
			return digest, err
		}
		list, err := build.SBOM(c, k.Name, img)
		if err != nil {
			return digest, err
		}
		if err := os.WriteFile(base+".cdx.json", list, 0o644); err != nil {
			return digest, err
		}
		size, err := ociimage.Size(img)
		if err != nil {
			return digest, err
		}
		_, _ = fmt.Fprintf(out, "%s: %s, %.1f MB compressed\n", path, tag, float64(size)/1e6)
		images = append(images, img)
	}
	dir := filepath.Join(o.dir, k.Name+"-oci")
	if digest, err = ociimage.WriteLayout(dir, tag, images...); err != nil {
		return digest, err
	}
	_, _ = fmt.Fprintf(out, "%s: %s@%s for %d platforms\n", dir, tag, digest, len(images))
	return digest, nil
}

// tagOf puts the suffix onto the name of a tag such as registry.example.com:5000/boardwalk:1.2.3.
func tagOf(k build.Kind, tag string) (string, error) {
	repository, version, found := strings.Cut(tag[strings.LastIndex(tag, "/")+1:], ":")
	if !found {
		return "", fmt.Errorf("-tag %q has no version: write one such as boardwalk:1.2.3", tag)
	}
	return tag[:strings.LastIndex(tag, "/")+1] + repository + k.Suffix + ":" + version, nil
}
