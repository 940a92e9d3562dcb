// Package samples carries the sample manifests of this folder in the binary.
package samples

import "embed"

// Files are the manifests, one resource a file.
//
//go:embed *.yaml
var Files embed.FS
