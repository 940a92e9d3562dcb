package build

import (
	"io/fs"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

// nonroot is whom the program runs as: no user of any machine, and a number, so that a cluster which forbids root can see
// that it isn't.
const nonroot = "65532:65532"

const (
	passwd = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n"
	group  = "root:x:0:\nnonroot:x:65532:\n"
)

// imageConfig is how the program is started, and the labels that registries and cluster tools show. The Dockerfile says the
// same.
func imageConfig(c Checkout) v1.Config {
	return v1.Config{
		User:       nonroot,
		Entrypoint: []string{"/boardwalk"},
		WorkingDir: "/",
		Env:        []string{"PATH=/", "HOME=/tmp"},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "boardwalk",
			"org.opencontainers.image.description": "A public, read-only API of token markets, from block to JSON",
			"org.opencontainers.image.source":      "https://github.com/boardwalkhq/boardwalk",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.revision":    c.Commit,
			"org.opencontainers.image.created":     c.Built.UTC().Format(time.RFC3339),
			"org.opencontainers.image.version":     c.Version,
		},
	}
}

// image is the program with nothing under it. Certificates of authorities are in the program itself.
func image(c Checkout, p v1.Platform, program []byte) (v1.Image, error) {
	layer, err := programLayer(c, program)
	if err != nil {
		return nil, err
	}
	return ociimage.New(p, c.Built, imageConfig(c), layer)
}

func programLayer(c Checkout, program []byte) (v1.Layer, error) {
	return ociimage.Layer([]ociimage.Entry{
		{Path: "/boardwalk", Mode: 0o755, Content: program},
		{Path: "/etc", Mode: fs.ModeDir | 0o755},
		{Path: "/etc/group", Mode: 0o644, Content: []byte(group)},
		{Path: "/etc/passwd", Mode: 0o644, Content: []byte(passwd)},
		{Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}, c.Built)
}
