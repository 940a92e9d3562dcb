package files

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/config/samples"
)

// samplesDir is the folder of the samples in the source tree; errors name it.
const samplesDir = "config/samples"

// Samples gives the sample manifests that the binary carries: those of config/samples.
func Samples() (Manifests, error) {
	var all Manifests
	entries, err := fs.ReadDir(samples.Files, ".")
	if err != nil {
		return all, fmt.Errorf("read the samples: %w", err)
	}
	for _, e := range entries {
		raw, err := samples.Files.ReadFile(e.Name())
		if err != nil {
			return Manifests{}, fmt.Errorf("read the samples: %w", err)
		}
		if err := decode(path.Join(samplesDir, e.Name()), raw, &all); err != nil {
			return Manifests{}, err
		}
	}
	for i := range all.Chains {
		all.Chains[i].sample = true
	}
	for i := range all.Venues {
		all.Venues[i].sample = true
	}
	return all, nil
}

// SampleText gives the text of a sample's file, with its comments; found is false where no sample is a Chain or LaunchVenue of that name.
func SampleText(name string) (text []byte, found bool, err error) {
	all, err := Samples()
	if err != nil {
		return nil, false, err
	}
	file := ""
	for _, c := range all.Chains {
		if c.Resource.Name == name {
			file = c.File
		}
	}
	for _, v := range all.Venues {
		if v.Resource.Name == name {
			file = v.File
		}
	}
	if file == "" {
		return nil, false, nil
	}
	text, err = samples.Files.ReadFile(path.Base(file))
	return text, err == nil, err
}

// SampleChain is a Chain of the samples that is to run.
type SampleChain struct {
	// Name is the resource's.
	Name string
	// URLs are those of its nodes, one at least.
	URLs []string
}

// LoadWithSamples is Load with Chains of the samples before the directories, of which there may be none. The chosen Chains run on the nodes
// that are given. Of the samples' LaunchVenues those stay that are on a declared chain, without the other chains.
func LoadWithSamples(chosen []SampleChain, dirs ...string) (Manifests, error) {
	if len(chosen) == 0 {
		return Load(dirs...)
	}
	all, err := Samples()
	if err != nil {
		return Manifests{}, err
	}
	if all.Chains, err = choose(all.Chains, chosen); err != nil {
		return Manifests{}, err
	}
	sampled := len(all.Chains)
	ids := make([]string, sampled)
	for i, c := range all.Chains {
		ids[i] = c.Resource.Spec.ID
	}
	if all, err = all.replacedBy(dirs); err != nil {
		return Manifests{}, err
	}
	for i, c := range all.Chains[:sampled] {
		if !c.sample {
			return Manifests{}, fmt.Errorf("%s declares the chain %s, which is chosen among the samples too: leave out one of the two", c.where(), ids[i])
		}
	}
	all.dropVenuesElsewhere()
	return all, nil
}

// choose gives the chosen Chains in the samples' order, with their nodes in place of Secrets.
func choose(all []Manifest[v1alpha1.Chain], chosen []SampleChain) ([]Manifest[v1alpha1.Chain], error) {
	for _, want := range chosen {
		if !slices.ContainsFunc(all, func(m Manifest[v1alpha1.Chain]) bool { return m.Resource.Name == want.Name }) {
			return nil, fmt.Errorf("no sample is a Chain %q; there are %s", want.Name, strings.Join(names(all), ", "))
		}
	}
	var out []Manifest[v1alpha1.Chain]
	for _, m := range all {
		i := slices.IndexFunc(chosen, func(want SampleChain) bool { return want.Name == m.Resource.Name })
		if i < 0 {
			continue
		}
		spec := &m.Resource.Spec
		spec.Suspend, spec.RPC.Endpoints = false, nil
		for _, url := range chosen[i].URLs {
			spec.RPC.Endpoints = append(spec.RPC.Endpoints, v1alpha1.Endpoint{URL: url})
		}
		out = append(out, m)
	}
	return out, nil
}

func names(all []Manifest[v1alpha1.Chain]) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.Resource.Name
	}
	return out
}

// dropVenuesElsewhere takes the chains that aren't declared out of the samples' venues, and the venues that are on no other.
func (m *Manifests) dropVenuesElsewhere() {
	declared := names(m.Chains)
	var kept []Manifest[v1alpha1.LaunchVenue]
	for _, v := range m.Venues {
		if v.sample {
			chains := &v.Resource.Spec.Chains
			*chains = slices.DeleteFunc(*chains, func(c v1alpha1.VenueChain) bool { return !slices.Contains(declared, c.Chain) })
			if len(*chains) == 0 {
				continue
			}
		}
		kept = append(kept, v)
	}
	m.Venues = kept
}
