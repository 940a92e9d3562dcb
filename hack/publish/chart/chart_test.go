package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

const chartYAML = `apiVersion: v2
name: reef
description: A chart
version: 1.2.0+build.3
appVersion: 1.2.0
home: https://example.com/reef
sources: [https://example.com/reef.git, https://example.com/other.git]
maintainers: [{name: Ada, email: ada@example.com}, {name: Grace}]
annotations:
  org.opencontainers.image.title: no title
  org.opencontainers.image.licenses: Apache-2.0
  artifacthub.io/images: |
    - name: boardwalk
      image: boardwalk:1.2.0
      whitelisted: true
    - name: database
      image: postgres:17
`

const valuesYAML = `# The image.
image:
  repository: boardwalk # yours
  tag: ""   # of the chart
  digest: ""

  pullPolicy: IfNotPresent
renderer:
  image: {repository: "", tag: "", digest: ""}
number: 5
`

var made = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// directory writes a chart's directory and returns it with the names of its files.
func directory(t *testing.T, files map[string]string) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, slices.Collect(maps.Keys(files))
}

func reef(t *testing.T) *Chart {
	t.Helper()
	c, err := Read(directory(t, map[string]string{
		"Chart.yaml": chartYAML, "values.yaml": valuesYAML, "templates/a.yaml": "a: 1\n", "ci/values.yaml": "b: 2\n", "templates/ci/b.yaml": "",
		"templates/a.yaml.orig": "", ".helmignore": "# our own\n*.orig\n\n/ci/\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// unpack reads the files of a packed chart.
func unpack(t *testing.T, c *Chart) (files map[string]string, manifest v1.Manifest, config []byte) {
	t.Helper()
	artifact, err := c.Artifact(made)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := artifact.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	blobs := make([][]byte, len(artifact.Blobs))
	for i, b := range artifact.Blobs {
		content, err := b.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		if blobs[i], err = io.ReadAll(content); err != nil {
			t.Fatal(err)
		}
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(blobs[1]))
	if err != nil {
		t.Fatal(err)
	}
	files = make(map[string]string)
	for archive := tar.NewReader(unzipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, manifest, blobs[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil || !h.ModTime.Equal(made) {
			t.Fatalf("%s of %s: %v", h.Name, h.ModTime, err)
		}
		files[h.Name] = string(content)
	}
}

func TestAChartIsPackedAsHelmDoesIt(t *testing.T) {
	t.Parallel()
	c := reef(t)
	files, manifest, config := unpack(t, c)
	if got, want := slices.Sorted(maps.Keys(files)), []string{
		"reef/.helmignore", "reef/Chart.yaml", "reef/templates/a.yaml", "reef/templates/ci/b.yaml", "reef/values.yaml",
	}; !slices.Equal(got, want) {
		t.Errorf("it has the files %q, wanted %q", got, want)
	}
	if files["reef/values.yaml"] != valuesYAML {
		t.Errorf("the values are\n%s", files["reef/values.yaml"])
	}
	if manifest.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || len(manifest.Layers) != 1 ||
		manifest.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" || manifest.Subject != nil || manifest.ArtifactType != "" {
		t.Errorf("its manifest is %+v", manifest)
	}
	var said map[string]any
	if err := json.Unmarshal(config, &said); err != nil || said["name"] != "reef" || said["apiVersion"] != "v2" {
		t.Errorf("its config is %s, %v", config, err)
	}
	images := manifest.Annotations[imagesKey]
	delete(manifest.Annotations, imagesKey)
	const oci = "org.opencontainers.image."
	if want := map[string]string{
		oci + "title": "reef", oci + "version": "1.2.0+build.3", oci + "description": "A chart", oci + "url": "https://example.com/reef",
		oci + "created": "2026-01-02T03:04:05Z", oci + "source": "https://example.com/reef.git", oci + "authors": "Ada (ada@example.com), Grace",
		oci + "licenses": "Apache-2.0",
	}; !maps.Equal(manifest.Annotations, want) || !strings.Contains(images, "boardwalk:1.2.0") {
		t.Errorf("its annotations are %q", manifest.Annotations)
	}
	if c.Tag() != "1.2.0_build.3" || c.AppVersion() != "1.2.0" {
		t.Errorf("its versions are %s and %s", c.Tag(), c.AppVersion())
	}
	one, err := reef(t).Artifact(made)
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Artifact(made)
	if err != nil {
		t.Fatal(err)
	}
	first, err := one.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := two.Digest(); err != nil || first != second {
		t.Errorf("the same chart is %s and %s, %v", first, second, err)
	}
}

func TestImagesBecomeTheDefaults(t *testing.T) {
	t.Parallel()
	c := reef(t)
	digest := "sha256:" + strings.Repeat("ab", 32)
	if err := c.SetImages([]Image{{Name: "boardwalk", Values: []string{"image"}, Repository: "registry.example.com/b", Tag: "1.20", Digest: digest}}); err != nil {
		t.Fatal(err)
	}
	files, manifest, _ := unpack(t, c)
	want := strings.NewReplacer(`repository: boardwalk #`, `repository: "registry.example.com/b" #`, `tag: ""   #`, `tag: "1.20"   #`, "digest: \"\"\n\n", `digest: "`+digest+"\"\n\n").
		Replace(valuesYAML)
	if files["reef/values.yaml"] != want {
		t.Errorf("the values are\n%s", files["reef/values.yaml"])
	}
	var entries []map[string]any
	if err := yaml.Unmarshal([]byte(manifest.Annotations[imagesKey]), &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || len(entries[0]) != 2 || entries[0]["image"] != "registry.example.com/b:1.20@"+digest || entries[1]["image"] != "postgres:17" {
		t.Errorf("the images are %v", entries)
	}
	var said map[string]any
	if err := yaml.Unmarshal([]byte(files["reef/Chart.yaml"]), &said); err != nil || said["version"] != "1.2.0+build.3" {
		t.Errorf("Chart.yaml is %v, %v", said, err)
	}
	if err := c.SetImages([]Image{{Name: "renderer", Values: []string{"renderer", "image"}}}); err == nil || !strings.Contains(err.Error(), "no image called renderer") {
		t.Errorf("an image that the annotation doesn't have: %v", err)
	}
}

func TestValuesThatCannotBeSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ document, path, want string }{
		{valuesYAML, "image.name", "there is no image.name"},
		{valuesYAML, "number", "number is no text"},
		{valuesYAML, "number.one", "there is no number.one"},
		{"image: 'b'\n", "image", "image is written in a form"},
		{"image: |\n  b\n", "image", "image is written in a form"},
		{"", "image", "it is empty"},
	} {
		if _, err := setText([]byte(c.document), strings.Split(c.path, "."), "x"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q", c.path, err, c.want)
		}
	}
	changed, err := setText([]byte(valuesYAML), []string{"renderer", "image", "tag"}, `a "b"`)
	if err != nil || !strings.Contains(string(changed), `{repository: "", tag: "a \"b\"", digest: ""}`) {
		t.Errorf("%s, %v", changed, err)
	}
}

func TestChartsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"values.yaml": ""}, "has no Chart.yaml"},
		{map[string]string{"Chart.yaml": "name: reef\nversion: 1.0.0\n"}, "a name, a version and an appVersion"},
		{map[string]string{"Chart.yaml": chartYAML, ".helmignore": "!keep\n"}, `"!keep" is neither`},
		{map[string]string{"Chart.yaml": chartYAML, ".helmignore": "a/b\n"}, `"a/b" is neither`},
	} {
		dir, names := directory(t, c.files)
		if _, err := Read(dir, names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, wanted %q", err, c.want)
		}
	}
	dir, names := directory(t, map[string]string{"Chart.yaml": chartYAML})
	if err := os.Symlink("Chart.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, append(names, "link.yaml")); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a link: %v", err)
	}
}
