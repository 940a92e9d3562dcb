package docs

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/swaggest/swgui/v5/static"
)

//go:embed web
var web embed.FS

// assetFiles are what pages load. All of them stand under one version, so that a change of any is a change of every
// address, and caches may keep them for good.
type assetFiles struct {
	version string
	files   map[string]file // by name
}

// base is the folder that the pages name.
func (a assetFiles) base() string { return assetsPath + a.version + "/" }

// assets unpacks the viewer once for the process: it has 1.5 MB.
var assets = sync.OnceValues(func() (assetFiles, error) {
	bodies := map[string][]byte{}
	for _, name := range []string{"docs.css", "mark.svg", "reference.js"} {
		body, err := web.ReadFile("web/" + name)
		if err != nil {
			return assetFiles{}, err
		}
		bodies[name] = body
	}
	bundle, err := unpack("swagger-ui-bundle.js.gz")
	if err != nil {
		return assetFiles{}, err
	}
	bodies["swagger-ui-bundle.js"] = bundle
	style, err := unpack("swagger-ui.css.gz")
	if err != nil {
		return assetFiles{}, err
	}
	own, err := web.ReadFile("web/reference.css")
	if err != nil {
		return assetFiles{}, err
	}
	// What stands in no layer wins over what stands in one, however specific: our rules needn't outdo the viewer's.
	bodies["reference.css"] = slices.Concat([]byte("@layer viewer {\n"), style, []byte("\n}\n\n"), own)

	sum := sha256.New()
	out := assetFiles{files: map[string]file{}}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(bodies[name]))
		sum.Write(bodies[name])
		out.files[name] = newFile(name, bodies[name], forGood)
	}
	out.version = hex.EncodeToString(sum.Sum(nil))[:versionDigits]
	return out, nil
})

func unpack(name string) ([]byte, error) {
	f, err := fs.FS(static.FS).Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	const most = 16 << 20
	body, err := io.ReadAll(io.LimitReader(z, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return body, nil
}
