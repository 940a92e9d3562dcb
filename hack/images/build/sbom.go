package build

import (
	"archive/tar"
	"bufio"
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/uuid"
)

// SBOM is the list of what an image is made of, as CycloneDX 1.6 in JSON: Go's own library and the modules of the program, and the Debian
// packages. It is read from the finished image. The same image gives the same bytes.
func SBOM(c Checkout, name string, img v1.Image) ([]byte, error) {
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	found, err := inventoryOf(img)
	if err != nil {
		return nil, fmt.Errorf("what %s is made of: %w", name, err)
	}
	components := append(found.modules(), found.packages(config.Architecture)...)
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/boardwalkhq/boardwalk/"+name+"@"+digest.String())).String()
	image := "pkg:oci/" + name + "@" + url.QueryEscape(digest.String()) + "?arch=" + config.Architecture
	bom.Metadata = &cdx.Metadata{
		Timestamp: c.Built.UTC().Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: image, Type: cdx.ComponentTypeContainer, Name: name, Version: c.Version, PackageURL: image,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest.Hex}},
			Properties: &[]cdx.Property{{Name: "org.opencontainers.image.revision", Value: c.Commit}},
		},
	}
	bom.Components = &components
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("write the list of what %s is made of: %w", name, err)
	}
	return out.Bytes(), nil
}

// inventory is what an image says of what it is made of.
type inventory struct {
	program *debug.BuildInfo
	// debian are the control fields of the packages, release the fields of os-release.
	debian  []textproto.MIMEHeader
	release map[string]string
}

func inventoryOf(img v1.Image) (inventory, error) {
	found := inventory{release: make(map[string]string)}
	packed := mutate.Extract(img)
	defer packed.Close()
	for archive := tar.NewReader(packed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := found.note(h.Name, archive); err != nil {
			return found, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	if found.program == nil {
		return found, errors.New("there is no program in it")
	}
	return found, nil
}

// note takes in a file of the image.
func (i *inventory) note(name string, content io.Reader) error {
	switch {
	case name == "boardwalk":
		raw, err := io.ReadAll(content)
		if err == nil {
			i.program, err = buildinfo.Read(bytes.NewReader(raw))
		}
		return err
	case name == "usr/lib/os-release":
		lines := bufio.NewScanner(content)
		for lines.Scan() {
			if key, value, ok := strings.Cut(lines.Text(), "="); ok {
				i.release[key] = strings.Trim(value, `"`)
			}
		}
		return lines.Err()
	case path.Dir(name) == "var/lib/dpkg/status.d":
		fields, err := textproto.NewReader(bufio.NewReader(content)).ReadMIMEHeader()
		if errors.Is(err, io.EOF) { // no empty line follows the fields
			err = nil
		}
		if err == nil && (fields.Get("Package") == "" || fields.Get("Version") == "") {
			err = errors.New("it names no package and version")
		}
		i.debian = append(i.debian, fields)
		return err
	}
	return nil
}

// modules are Go's own library and the modules that the program is compiled of.
func (i *inventory) modules() []cdx.Component {
	modules := []*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(i.program.GoVersion, "go")}}
	for _, m := range i.program.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, m)
	}
	components := make([]cdx.Component, 0, len(modules))
	for _, m := range modules {
		one := component("pkg:golang/"+m.Path+"@"+url.QueryEscape(m.Version), m.Path, m.Version)
		if m.Sum != "" { // a hash of hashes, which no algorithm of the format is
			one.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}
		}
		components = append(components, one)
	}
	return components
}

// packages are those of the distribution.
func (i *inventory) packages(architecture string) []cdx.Component {
	components := make([]cdx.Component, 0, len(i.debian))
	for _, p := range i.debian {
		name, version := p.Get("Package"), p.Get("Version")
		of := p.Get("Architecture")
		if of == "" {
			of = architecture
		}
		one := component("pkg:deb/"+i.release["ID"]+"/"+url.QueryEscape(name)+"@"+url.QueryEscape(version)+
			"?arch="+of+"&distro="+i.release["ID"]+"-"+i.release["VERSION_ID"], name, version)
		one.Supplier = &cdx.OrganizationalEntity{Name: p.Get("Maintainer")}
		// By the source package advisories name what they are about.
		if source, _, _ := strings.Cut(p.Get("Source"), " "); source != "" {
			one.Properties = &[]cdx.Property{{Name: "source", Value: source}}
		}
		components = append(components, one)
	}
	return components
}

func component(purl, name, version string) cdx.Component {
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
}
