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
	"syscall"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// maxFileBytes is far above any manifest: nine chains with everything declared have some 20 KiB.
const maxFileBytes = 1 << 20

// Manifests has the resources that directories declare.
type Manifests struct {
	// Chains and Venues are in declared order: see Load.
	Chains []Manifest[v1alpha1.Chain]
	Venues []Manifest[v1alpha1.LaunchVenue]
}

// Manifest is one document of a file.
type Manifest[T any] struct {
	File     string
	Line     int
	Resource T
	// sample says that it is one of the samples that the binary carries.
	sample bool
}

func (m *Manifest[T]) where() string { return fmt.Sprintf("%s:%d", m.File, m.Line) }

// Load reads every *.yaml and *.yml of the directories; subdirectories and names with a leading dot are left alone. The
// order of the result is that of file names within a directory and of documents within a file. A chain or venue of a later
// directory replaces the one of an earlier directory with the same spec.id, in its place and, if it says nothing else, with
// its spec.order; others come after.
//
// A directory without a manifest is an error, as are two resources of one kind with the same spec.id in one directory, or with
// the same name in whatever directories; namespaces don't count. Whether a resource makes sense is for Resolve to say.
func Load(dirs ...string) (Manifests, error) {
	if len(dirs) == 0 {
		return Manifests{}, errors.New("no directory with manifests is given: name one, such as config/samples")
	}
	return Manifests{}.replacedBy(dirs)
}

// replacedBy gives the manifests with those of directories in their places and after them, as Load says.
func (m Manifests) replacedBy(dirs []string) (Manifests, error) {
	all := m
	var errs []error
	for _, dir := range dirs {
		found, err := readDir(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all.Chains = override(all.Chains, found.Chains, chainPlace)
		all.Venues = override(all.Venues, found.Venues, venuePlace)
	}
	errs = append(errs, duplicates(all.Chains, chainPlace, byName)...)
	errs = append(errs, duplicates(all.Venues, venuePlace, byName)...)
	if err := errors.Join(errs...); err != nil {
		return Manifests{}, err
	}
	return all, nil
}

// place has the fields of a resource that Load reads.
type place struct {
	id, name string
	order    **int32
}

func chainPlace(c *v1alpha1.Chain) place { return place{c.Spec.ID, c.Name, &c.Spec.Order} }

func venuePlace(v *v1alpha1.LaunchVenue) place { return place{v.Spec.ID, v.Name, &v.Spec.Order} }

func override[T any](all, later []Manifest[T], at func(*T) place) []Manifest[T] {
	for _, m := range later {
		l := at(&m.Resource)
		i := slices.IndexFunc(all, func(o Manifest[T]) bool { return l.id != "" && at(&o.Resource).id == l.id })
		if i < 0 {
			all = append(all, m)
			continue
		}
		if *l.order == nil {
			*l.order = *at(&all[i].Resource).order
		}
		all[i] = m
	}
	return all
}

// Declared has the chains and venues of manifests, checked.
type Declared struct {
	// Running are the documents of the chains that aren't suspended.
	Running []*chainconfig.Chain
	// Chains and Venues are the resources, for whoever decides which venue is open.
	Chains []v1alpha1.Chain
	Venues []v1alpha1.LaunchVenue
}

// Catalog is the catalogue of all chains and venues. Venues are open where their status says so, which manifests don't have.
func (d *Declared) Catalog() (*catalog.Catalog, error) { return resolve.Catalog(d.Chains, d.Venues) }

// Resolve checks all chains and venues. Errors are joined, one per field, each after its file.
func (m Manifests) Resolve() (*Declared, error) {
	out := &Declared{}
	for i := range m.Chains {
		c := m.Chains[i].Resource
		c.Status = v1alpha1.ChainStatus{} // what a cluster's resource was saved with
		out.Chains = append(out.Chains, c)
	}
	for i := range m.Venues {
		v := m.Venues[i].Resource
		v.Status = v1alpha1.LaunchVenueStatus{}
		out.Venues = append(out.Venues, v)
	}
	var errs []error
	add := func(file string, err error) {
		for _, e := range each(err) {
			errs = append(errs, fmt.Errorf("%s: %w", file, e))
		}
	}
	for i := range out.Chains {
		c := &out.Chains[i]
		doc, err := resolve.Chain(c, out.Venues, "")
		if err == nil {
			err = refused(resolve.RefuseChain(c, out.Chains))
		}
		add(m.Chains[i].File, err)
		if !c.Spec.Suspend {
			out.Running = append(out.Running, doc)
		}
	}
	for i := range out.Venues {
		v := &out.Venues[i]
		err := resolve.Venue(v)
		if err == nil {
			err = errors.Join(refused(resolve.RefuseVenue(v, out.Venues)), out.placed(v), out.onlyDefault(v))
		}
		add(m.Venues[i].File, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func refused(no *resolve.Refusal) error {
	if no == nil {
		return nil
	}
	return errors.New(no.Message)
}

// placed refuses a venue on a chain that isn't declared or can't have it. In a cluster, where the chain may come later, this is
// a state of the venue.
func (d *Declared) placed(v *v1alpha1.LaunchVenue) error {
	names := make([]string, len(d.Chains))
	for i := range d.Chains {
		names[i] = d.Chains[i].Name
	}
	family := chainconfig.VenueProtocol(v.Spec.Protocol).Family()
	var errs []error
	for i := range v.Spec.Chains {
		name := v.Spec.Chains[i].Chain
		switch at := slices.Index(names, name); {
		case at < 0:
			errs = append(errs, fmt.Errorf("spec.chains[%d].chain: no Chain has the name %q; declared: %s", i, name, strings.Join(names, ", ")))
		case string(d.Chains[at].Spec.Family) != string(family):
			errs = append(errs, fmt.Errorf("spec.chains[%d].chain: Chain %s is of family %s, and protocol %s is of family %s; leave it out",
				i, name, d.Chains[at].Spec.Family, v.Spec.Protocol, family))
		}
	}
	return errors.Join(errs...)
}

// onlyDefault refuses a second default of a family of chains. In a cluster, the older one is it.
func (d *Declared) onlyDefault(v *v1alpha1.LaunchVenue) error {
	other := resolve.OlderDefault(v, d.Venues)
	if !v.Spec.Default || other == nil {
		return nil
	}
	return fmt.Errorf("spec.default: LaunchVenue %s is the default of family %s too; leave default out of one of them",
		other.Name, resolve.DefaultFamily(v))
}

// each takes joined errors apart, so that every line gets its file.
func each(err error) (all []error) {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			all = append(all, each(e)...)
		}
	default:
		all = append(all, err)
	}
	return all
}

func readDir(dir string) (Manifests, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, syscall.ENOTDIR) {
		return Manifests{}, fmt.Errorf("%s is a file: name the folder that it is in, all of whose manifests are read", dir)
	}
	if err != nil {
		return Manifests{}, fmt.Errorf("read the directory of manifests: %w", err)
	}
	var (
		found Manifests
		errs  []error
	)
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if err := readFile(filepath.Join(dir, e.Name()), &found); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && len(found.Chains)+len(found.Venues) == 0 {
		return found, fmt.Errorf("no manifest in %s: put a file such as base.yaml there with one document of kind %s per chain; "+
			"config/samples has some to start from", dir, v1alpha1.ChainKind)
	}
	errs = append(errs, duplicates(found.Chains, chainPlace, byID)...)
	return found, errors.Join(append(errs, duplicates(found.Venues, venuePlace, byID)...)...)
}

// key is something that no two resources of a kind may share.
type key struct {
	of         func(place) string
	field, fix string
}

var (
	byID = key{
		func(p place) string { return p.id }, "spec.id",
		"keep one of them, or put the one that should win into a directory that is read later",
	}
	byName = key{func(p place) string { return p.name }, "metadata.name", "rename one of them"}
)

func duplicates[T any](all []Manifest[T], at func(*T) place, by key) (errs []error) {
	seen := map[string]*Manifest[T]{}
	for i := range all {
		m := &all[i]
		value := by.of(at(&m.Resource))
		if first, ok := seen[value]; ok && value != "" {
			errs = append(errs, fmt.Errorf("%s and %s both have %s %q; %s", first.where(), m.where(), by.field, value, by.fix))
		}
		seen[value] = m
	}
	return errs
}

func readFile(path string, into *Manifests) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is no regular file; a manifest must be one", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(raw) > maxFileBytes {
		return fmt.Errorf("%s: is larger than %d bytes; split it into one file per chain", path, maxFileBytes)
	}
	return decode(path, raw, into)
}
