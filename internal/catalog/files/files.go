// Package files reads the manifests of directories, as `boardwalk up -f DIR` runs on them without a cluster. It decodes
// strictly: what an API server would refuse or drop is an error here, with the file and the line.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
)

// maxFileBytes is far above any manifest: nine chains with everything declared have some 20 KiB.
const maxFileBytes = 1 << 20

// Manifests is what directories declare.
type Manifests struct {
	// Chains are in declared order: see Load.
	Chains []Manifest
}

// Manifest is one document of a file.
type Manifest struct {
	File  string
	Line  int
	Chain v1alpha1.Chain
}

func (m *Manifest) where() string { return fmt.Sprintf("%s:%d", m.File, m.Line) }

// Load reads every *.yaml and *.yml of the directories; subdirectories and names with a leading dot are left alone. The
// order of the result is that of file names within a directory and of documents within a file. A chain of a later
// directory replaces the one of an earlier directory with the same spec.id, in its place; others come after.
//
// A directory without a manifest is an error, as are two chains of one directory with the same spec.id or name.
// Whether a chain makes sense is for Resolve to say.
func Load(dirs ...string) (Manifests, error) {
	var all Manifests
	if len(dirs) == 0 {
		return all, errors.New("no directory with manifests is given: name one, such as config/samples")
	}
	var errs []error
	for _, dir := range dirs {
		chains, err := readDir(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all.override(chains)
	}
	if err := errors.Join(errs...); err != nil {
		return Manifests{}, err
	}
	return all, nil
}

func (m *Manifests) override(later []Manifest) {
	for _, c := range later {
		i := slices.IndexFunc(m.Chains, func(o Manifest) bool { return o.Chain.Spec.ID == c.Chain.Spec.ID })
		if i < 0 {
			m.Chains = append(m.Chains, c)
		} else {
			m.Chains[i] = c
		}
	}
}

// Resolve checks all chains and gives the documents of those that run, and the catalog of all. Errors are joined, one
// per field, each after its file.
func (m Manifests) Resolve() ([]*chainconfig.Chain, *catalog.Catalog, error) {
	var (
		running []*chainconfig.Chain
		errs    []error
		chains  = make([]v1alpha1.Chain, len(m.Chains))
	)
	for i := range m.Chains {
		chains[i] = m.Chains[i].Chain
		doc, err := resolve.Chain(&chains[i], "")
		for _, e := range each(err) {
			errs = append(errs, fmt.Errorf("%s: %w", m.Chains[i].File, e))
		}
		if err == nil && !chains[i].Spec.Suspend {
			running = append(running, doc)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	served, err := resolve.Catalog(chains)
	if err != nil {
		return nil, nil, err
	}
	return running, served, nil
}

// each takes joined errors apart, so that every line gets its file.
func each(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func readDir(dir string) ([]Manifest, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the directory of manifests: %w", err)
	}
	var (
		chains []Manifest
		errs   []error
	)
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		found, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, err)
		}
		chains = append(chains, found...)
	}
	if len(errs) == 0 && len(chains) == 0 {
		return nil, fmt.Errorf("no manifest in %s: put a file such as base.yaml there with one document of kind %s per chain; "+
			"config/samples has some to start from", dir, v1alpha1.ChainKind)
	}
	return chains, errors.Join(append(errs, duplicates(chains)...)...)
}

func duplicates(chains []Manifest) (errs []error) {
	ids, names := map[string]*Manifest{}, map[string]*Manifest{}
	for i := range chains {
		c := &chains[i]
		if first, ok := ids[c.Chain.Spec.ID]; ok && c.Chain.Spec.ID != "" {
			errs = append(errs, fmt.Errorf("%s and %s both declare spec.id %q; keep one of them, or put the one that should win "+
				"into a directory that is read later", first.where(), c.where(), c.Chain.Spec.ID))
		}
		ids[c.Chain.Spec.ID] = c
		name := c.Chain.Namespace + "/" + c.Chain.Name
		if first, ok := names[name]; ok {
			errs = append(errs, fmt.Errorf("%s and %s both have metadata.name %q; rename one of them", first.where(), c.where(), c.Chain.Name))
		}
		names[name] = c
	}
	return errs
}

func readFile(path string) ([]Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is no regular file; a manifest must be one", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(raw) > maxFileBytes {
		return nil, fmt.Errorf("%s: is larger than %d bytes; split it into one file per chain", path, maxFileBytes)
	}
	return decode(path, raw)
}
