// Package chart packs a Helm chart as the OCI artifact that helm push makes of it. The same files give the same bytes.
package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/static"
	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/hack/images/ociimage"
)

const (
	configType  = "application/vnd.cncf.helm.config.v1+json"
	contentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// metadata are the fields of Chart.yaml that a registry shows.
type metadata struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	AppVersion  string            `json:"appVersion"`
	Description string            `json:"description"`
	Home        string            `json:"home"`
	Sources     []string          `json:"sources"`
	Annotations map[string]string `json:"annotations"`
	Maintainers []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"maintainers"`
}

// Chart is the content of a chart's directory, by the slash-separated path within it.
type Chart struct {
	files map[string][]byte
	said  metadata
}

// Read takes the chart of those files of its directory that .helmignore leaves in. Names are slash-separated, and relative to the directory.
func Read(dir string, names []string) (*Chart, error) {
	ignored, err := readIgnore(filepath.Join(dir, ".helmignore"))
	if err != nil {
		return nil, err
	}
	c := &Chart{files: make(map[string][]byte)}
	for _, name := range names {
		if ignored.match(name) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(file)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file: a chart has nothing else", file)
		}
		if c.files[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	if c.files["Chart.yaml"] == nil {
		return nil, fmt.Errorf("%s has no Chart.yaml", dir)
	}
	return c, c.readMetadata()
}

func (c *Chart) readMetadata() error {
	c.said = metadata{}
	if err := yaml.Unmarshal(c.files["Chart.yaml"], &c.said); err != nil {
		return fmt.Errorf("read Chart.yaml: %w", err)
	}
	if c.said.Name == "" || c.said.Version == "" || c.said.AppVersion == "" {
		return errors.New("there has to be a name, a version and an appVersion in Chart.yaml")
	}
	return nil
}

// Name is the chart's, by which its repository is called.
func (c *Chart) Name() string { return c.said.Name }

// Tag is the chart's version in a registry, where a tag can't have the plus of a version's build: Helm writes _ for it.
func (c *Chart) Tag() string { return strings.ReplaceAll(c.said.Version, "+", "_") }

// AppVersion is the version of the programs that it installs.
func (c *Chart) AppVersion() string { return c.said.AppVersion }

// Artifact packs the chart. All files are of one time, which is said to be when it was made.
func (c *Chart) Artifact(made time.Time) (*ociimage.Artifact, error) {
	packed, err := c.pack(made)
	if err != nil {
		return nil, err
	}
	config, err := yaml.YAMLToJSON(c.files["Chart.yaml"])
	if err != nil {
		return nil, fmt.Errorf("read Chart.yaml: %w", err)
	}
	return ociimage.NewArtifact("", static.NewLayer(config, configType), static.NewLayer(packed, contentType), nil, c.annotations(made))
}

func (c *Chart) pack(modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		err := archive.WriteHeader(&tar.Header{
			Name: c.said.Name + "/" + name, Mode: 0o644, Size: int64(len(c.files[name])), ModTime: modified.UTC(), Typeflag: tar.TypeReg,
		})
		if err == nil {
			_, err = archive.Write(c.files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// annotations are those that helm push sets.
func (c *Chart) annotations(made time.Time) map[string]string {
	all := make(map[string]string)
	set := func(key, value string) {
		if strings.TrimSpace(value) != "" {
			all["org.opencontainers.image."+key] = value
		}
	}
	set("description", c.said.Description)
	set("url", c.said.Home)
	set("created", made.UTC().Format(time.RFC3339))
	if len(c.said.Sources) > 0 {
		set("source", c.said.Sources[0])
	}
	var authors []string
	for _, m := range c.said.Maintainers {
		author := m.Name
		if m.Email != "" {
			author += " (" + m.Email + ")"
		}
		authors = append(authors, author)
	}
	set("authors", strings.Join(authors, ", "))
	maps.Copy(all, c.said.Annotations)
	set("title", c.said.Name)
	set("version", c.said.Version)
	return all
}

// Image is an image that a chart is made to install: the name of its entry in the annotation artifacthub.io/images, and the path to its repository,
// tag and digest in the values.
type Image struct {
	Name                    string
	Values                  []string
	Repository, Tag, Digest string
}

// SetImages makes images the defaults of the chart. The checkout's files stay as they are.
func (c *Chart) SetImages(images []Image) error {
	values := c.files["values.yaml"]
	for _, i := range images {
		for _, field := range []struct{ key, value string }{{"repository", i.Repository}, {"tag", i.Tag}, {"digest", i.Digest}} {
			var err error
			if values, err = setText(values, append(slices.Clone(i.Values), field.key), field.value); err != nil {
				return fmt.Errorf("values.yaml: %w", err)
			}
		}
	}
	c.files["values.yaml"] = values
	return c.announceImages(images)
}

const imagesKey = "artifacthub.io/images"

// announceImages writes the images into the annotation that Artifact Hub shows and scans them by.
func (c *Chart) announceImages(images []Image) error {
	var whole map[string]any
	if err := yaml.Unmarshal(c.files["Chart.yaml"], &whole); err != nil {
		return fmt.Errorf("read Chart.yaml: %w", err)
	}
	var entries []map[string]any
	if err := yaml.Unmarshal([]byte(c.said.Annotations[imagesKey]), &entries); err != nil {
		return fmt.Errorf("read %s of Chart.yaml: %w", imagesKey, err)
	}
	for _, i := range images {
		at := slices.IndexFunc(entries, func(e map[string]any) bool { return e["name"] == i.Name })
		if at < 0 {
			return fmt.Errorf("%s of Chart.yaml has no image called %s", imagesKey, i.Name)
		}
		entries[at]["image"] = i.Repository + ":" + i.Tag + "@" + i.Digest
		delete(entries[at], "whitelisted") // it can be scanned now
	}
	text, err := yaml.Marshal(entries)
	if err != nil {
		return err
	}
	annotations, ok := whole["annotations"].(map[string]any)
	if !ok {
		return errors.New("annotations of Chart.yaml are no map")
	}
	annotations[imagesKey] = string(text)
	if c.files["Chart.yaml"], err = yaml.Marshal(whole); err != nil {
		return err
	}
	return c.readMetadata()
}
