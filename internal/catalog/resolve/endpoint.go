package resolve

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

const (
	maxURL = 2048
	maxKey = 253 // characters of a key in a Secret
)

// No dot in front, so that a key is never "." or ".." when it becomes a file's name.
var secretKeyPattern = regexp.MustCompile(`^[-_a-zA-Z0-9][-._a-zA-Z0-9]*$`)

// SecretFile is the file below secretDir that holds a Secret's key: whoever mounts Secrets for an indexer mounts each at
// <secretDir>/<its name>.
func SecretFile(secretDir string, ref v1alpha1.SecretKeyRef) string {
	return filepath.Join(secretDir, ref.Name, ref.Key)
}

func resolveEndpoints(r *report, s *v1alpha1.ChainSpec, secretDir string) []chainconfig.Endpoint {
	const path = "spec.rpc.endpoints"
	list := s.RPC.Endpoints
	if len(list) == 0 && !s.Suspend {
		r.add(path, "is empty; add a node's url, or write spec.suspend: true for a chain without one")
	}
	r.length(path, len(list), 8)
	if s.Family == v1alpha1.FamilySolana && len(list) > 0 && !slices.ContainsFunc(list, func(e v1alpha1.Endpoint) bool { return e.Protocol != v1alpha1.YellowstoneGRPC }) {
		r.add(path, "has none of protocol JSONRPC, and those of YellowstoneGRPC can't be asked anything")
	}
	out := make([]chainconfig.Endpoint, 0, len(list))
	for i := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		e := &list[i]
		endpoint := chainconfig.Endpoint{
			Weight:            int(r.integer(at+".weight", widen(e.Weight), 1, 1000, int64(v1alpha1.DefaultWeight))),
			RequestsPerSecond: r.integer(at+".requestsPerSecond", e.RequestsPerSecond, 1, 100_000, 0),
			RequestsPerDay:    r.integer(at+".requestsPerDay", e.RequestsPerDay, 1, 10_000_000_000, 0),

			ComputeUnitsPerDay: r.integer(at+".computeUnitsPerDay", e.ComputeUnitsPerDay, 1, 1_000_000_000_000, 0),
			ComputeUnits:       resolveUnits(r, at+".computeUnits", e),
			Protocol:           resolveProtocol(r, at+".protocol", s.Family, e.Protocol),
		}
		switch {
		case (e.URL == "") == (e.URLFrom == nil):
			r.add(at, "needs exactly one of url and urlFrom.secretKeyRef")
			continue
		case e.URL != "":
			resolveURL(r, at+".url", e.URL)
			endpoint.URL = e.URL
		case secretDir == "":
			resolveSecretRef(r, at+".urlFrom.secretKeyRef", e.URLFrom.SecretKeyRef)
			if !s.Suspend {
				r.add(at+".urlFrom", "a Secret can't be read outside a cluster; write url instead, or spec.suspend: true")
			}
			continue
		default:
			resolveSecretRef(r, at+".urlFrom.secretKeyRef", e.URLFrom.SecretKeyRef)
			endpoint.URLFile = SecretFile(secretDir, e.URLFrom.SecretKeyRef)
		}
		out = append(out, endpoint)
	}
	return out
}

// resolveProtocol is what an endpoint speaks; empty for JSON-RPC.
func resolveProtocol(r *report, path string, family v1alpha1.Family, p v1alpha1.EndpointProtocol) chainconfig.EndpointProtocol {
	switch {
	case p == "" || p == v1alpha1.JSONRPC:
	case p != v1alpha1.YellowstoneGRPC:
		r.add(path, "is %q; allowed are %s and %s", p, v1alpha1.JSONRPC, v1alpha1.YellowstoneGRPC)
	case family != v1alpha1.FamilySolana:
		r.add(path, "is YellowstoneGRPC, which is for family Solana alone; leave it out")
	default:
		return chainconfig.YellowstoneGRPC
	}
	return ""
}

// resolveUnits is what calls count of computeUnitsPerDay, as far as it is written.
func resolveUnits(r *report, path string, e *v1alpha1.Endpoint) map[string]int64 {
	u := e.ComputeUnits
	if u == nil {
		return nil
	}
	if e.ComputeUnitsPerDay == nil {
		r.add(path, "says what calls count of computeUnitsPerDay, which isn't there; write that too, or leave computeUnits out")
	}
	out := map[string]int64{}
	for method, units := range map[string]*v1alpha1.Units{
		"eth_call": u.EthCall, "eth_getLogs": u.EthGetLogs, "eth_getBlockByNumber": u.EthGetBlockByNumber,
		"eth_getBlockReceipts": u.EthGetBlockReceipts, chainconfig.OtherMethods: u.Other,
	} {
		if units != nil {
			out[method] = r.integer(path+"."+method, (*int64)(units), 0, 100_000, 0)
		}
	}
	return out
}

// resolveURL never repeats the URL: providers put keys into it, and messages end in logs.
func resolveURL(r *report, path, text string) {
	u, err := url.Parse(text)
	switch {
	case err == nil && u.User != nil:
		r.add(path, "has a user or password, which everybody sees who may read the resource; put it into a Secret and write urlFrom")
	case !IsNodeURL(text):
		r.add(path, "is no URL of a node; allowed: http:// or https:// with a host, up to %d characters", maxURL)
	}
}

// IsNodeURL reports whether a text is the URL of a node, as the url of an endpoint takes it: http:// or https:// with a host, without a
// user or password.
func IsNodeURL(text string) bool {
	u, err := url.Parse(text)
	lower := strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
	return err == nil && lower && u.User == nil && u.Host != "" && len(text) <= maxURL && !strings.ContainsAny(text, " \t\r\n")
}

func resolveSecretRef(r *report, path string, ref v1alpha1.SecretKeyRef) {
	r.object(path+".name", "a Secret", ref.Name)
	if len(ref.Key) > maxKey || !secretKeyPattern.MatchString(ref.Key) {
		r.add(path+".key", "%.80q is no key of a Secret; allowed: 1 to %d of letters, digits, -, _ and ., no . in front", ref.Key, maxKey)
	}
}
