package build

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

// readSBOM reads what SBOM says of an image.
func readSBOM(t *testing.T, c Checkout, name string, img v1.Image) *cdx.BOM {
	t.Helper()
	raw, err := SBOM(c, name, img)
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(raw), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	again, err := SBOM(c, name, img)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("the same image gives another list: %v", err)
	}
	return &bom
}

func purls(bom *cdx.BOM) []string {
	var all []string
	for _, c := range *bom.Components {
		all = append(all, c.PackageURL)
	}
	return all
}

func TestAnImageSaysWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	program, err := Compile(t.Context(), c, "./hack/images", amd64)
	if err != nil {
		t.Fatal(err)
	}
	top, err := programLayer(c, program)
	if err != nil {
		t.Fatal(err)
	}
	below, err := ociimage.Layer([]ociimage.Entry{
		{Path: "/usr/lib/os-release", Mode: 0o644, Content: []byte("ID=debian\nVERSION_ID=\"12\"\n")},
		{Path: "/var/lib/dpkg/status.d/libstdc++6", Mode: 0o644, Content: []byte("Package: libstdc++6\nVersion: 1:12.2.0-14+deb12u1\n" +
			"Architecture: amd64\nSource: gcc-12 (12.2.0)\nMaintainer: GCC <gcc@example.org>\nDescription: a library\n of two lines\n")},
		{Path: "/var/lib/dpkg/status.d/fonts-inter", Mode: 0o644, Content: []byte("Package: fonts-inter\nVersion: 4.0\nArchitecture: all\n\n")},
	}, c.Built)
	if err != nil {
		t.Fatal(err)
	}
	img, err := ociimage.New(amd64, c.Built, rendererConfig(c), below, top)
	if err != nil {
		t.Fatal(err)
	}
	bom := readSBOM(t, c, "boardwalk-renderer", img)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if m := bom.Metadata.Component; m.Name != "boardwalk-renderer" || m.Version != "v1.2.3" || (*m.Hashes)[0].Value != digest.Hex ||
		bom.Metadata.Timestamp != "2026-01-02T03:04:05Z" || !strings.HasPrefix(bom.SerialNumber, "urn:uuid:") || bom.SpecVersion != cdx.SpecVersion1_6 {
		t.Errorf("it is about %+v, %s, %s", m, bom.Metadata.Timestamp, bom.SpecVersion)
	}
	got := purls(bom)
	goMod, err := os.ReadFile(filepath.Join(c.Root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(goMod), "\n\tgithub.com/google/go-containerregistry ")
	version, _, _ = strings.Cut(version, "\n")
	for _, want := range []string{
		"pkg:golang/github.com/google/go-containerregistry@" + version,
		"pkg:deb/debian/libstdc%2B%2B6@1%3A12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12", "pkg:deb/debian/fonts-inter@4.0?arch=all&distro=debian-12",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in the list:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, "pkg:golang/stdlib@1.") }) {
		t.Errorf("Go's own library is not in the list:\n%s", strings.Join(got, "\n"))
	}
	for _, one := range *bom.Components {
		if one.Name == "libstdc++6" && (*one.Properties)[0].Value != "gcc-12" {
			t.Errorf("libstdc++6 is of the source %v", *one.Properties)
		}
		if strings.Contains(one.PackageURL, "go-containerregistry@") && !strings.HasPrefix((*one.Properties)[0].Value, "h1:") {
			t.Errorf("the sum of %s is %v", one.Name, *one.Properties)
		}
	}
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("the list is not sorted, or has one twice:\n%s", strings.Join(got, "\n"))
	}
}

func TestAnImageWithoutAProgramHasNoList(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	for _, program := range []string{"", "no program"} {
		img, err := image(c, amd64, []byte(program))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := SBOM(c, "boardwalk", img); err == nil || !strings.Contains(err.Error(), "boardwalk") {
			t.Errorf("%q: %v", program, err)
		}
	}
}
