package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// All returns every profile by its name.
func All() map[string]Profile {
	all := map[string]Profile{}
	for _, p := range []Profile{
		plain(), alchemy(), alchemyFree(), quickNode(), infura(), publicEndpoint(), publicBSC(), geth(), reth(), erigon(), hyperEVM(), hyperEVMPublic(), moody(),
		solanaPlain(), solanaPublic(), heliusFree(), helius(), agave(), agaveRestarted(), agaveStorage(), withStream(), withMoodyStream(),
	} {
		all[p.Name] = p
	}
	return all
}

// Named finds the profile that has a name. Its error lists the names that there are.
func Named(name string) (Profile, error) {
	p, ok := All()[name]
	if !ok {
		return p, fmt.Errorf("there is no profile %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(All())), ", "))
	}
	return p, nil
}

// near and far are usual latencies: of a node on the next machine, and of a provider on the internet.
var (
	near = Latency{Least: time.Millisecond, Median: 2 * time.Millisecond, Tail: 20 * time.Millisecond}
	far  = Latency{Least: 15 * time.Millisecond, Median: 40 * time.Millisecond, Tail: 400 * time.Millisecond}
)

var latencyGuessed = Source{"latency", "a guess: no provider could be reached", "L"}
