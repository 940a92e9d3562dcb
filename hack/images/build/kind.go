// Package build makes Boardwalk's container images of a git checkout, and the lists of what they are made of. Where images go is its callers'
// business.
package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Kind is one of the images.
type Kind struct {
	Name string
	// Suffix follows the name of the image without the browser.
	Suffix string
	make   func(ctx context.Context, c Checkout, p v1.Platform, program []byte) (v1.Image, error)
}

var kinds = []Kind{
	{Name: "boardwalk", make: func(_ context.Context, c Checkout, p v1.Platform, program []byte) (v1.Image, error) {
		return image(c, p, program)
	}},
	{Name: "boardwalk-renderer", Suffix: "-renderer", make: renderer},
}

// Image makes the image of a program that Compile built for the same platform.
func (k Kind) Image(ctx context.Context, c Checkout, p v1.Platform, program []byte) (v1.Image, error) {
	return k.make(ctx, c, p, program)
}

// ParseKinds reads a list of names such as boardwalk,boardwalk-renderer.
func ParseKinds(list string) ([]Kind, error) {
	var wanted []Kind
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
		if i < 0 || slices.ContainsFunc(wanted, func(k Kind) bool { return k.Name == name }) {
			return nil, fmt.Errorf("%q in -images: there are boardwalk and boardwalk-renderer, each once", name)
		}
		wanted = append(wanted, kinds[i])
	}
	return wanted, nil
}
