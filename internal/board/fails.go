package board

// Fails is a set of failures, two bytes for each of very many tokens; 0 passes.
type Fails uint16

// failings is how many failures there are.
const failings = 9

// failNames are the API's words, in its order, from the lowest bit on.
var failNames = [failings]string{
	"liquidity_usd", "volume_24h_usd", "age_s_min", "age_s_max", "holders", "curve.progress_pct", "curve.buyers_1h", "curve.full", "trust",
}

// namesOf are the names of each set.
var namesOf = func() (all [1 << failings][]string) {
	for set := range all {
		all[set] = []string{}
		for i, name := range failNames {
			if set>>i&1 > 0 {
				all[set] = append(all[set], name)
			}
		}
	}
	return all
}()

// Names are the failures in the API's words, always in the same order; empty, never nil, for none. They are shared and must not
// be changed.
func (f Fails) Names() []string { return namesOf[f] }
