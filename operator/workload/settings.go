package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// Settings are what the operator knows and no Chain says.
type Settings struct {
	// Image is the indexers', which is Boardwalk's one.
	Image string
	// DatabaseSecret and DatabaseKey name the Secret's key that has the database's address.
	DatabaseSecret, DatabaseKey string
	Indexers
}

// labels gives the labels of all objects that are made for indexers.
func (s Settings) labels() map[string]string {
	out := map[string]string{LabelName: Name, LabelComponent: Indexer, LabelManagedBy: ManagedBy}
	for name, value := range map[string]string{LabelInstance: s.Instance, LabelVersion: s.Version} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func (s Settings) hasNetworkPolicy() bool { return s.NetworkPolicy == nil || *s.NetworkPolicy }

// Hash tells apart settings with which pods differ.
func (s Settings) Hash() string {
	s.NetworkPolicy, s.RolloutPercent, s.Version = nil, 0, "" // the version is no label of pods
	raw, _ := json.Marshal(s)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// Indexers is what holds for the pods of all indexers, as the operator's file has it (YAML). Where a Chain's spec.indexer says something of
// the same field, that counts for its own indexer.
type Indexers struct {
	// Instance is the label app.kubernetes.io/instance of all objects and pods, Version the label app.kubernetes.io/version of objects alone: another
	// one is no reason to start a pod anew. Empty ones are left out.
	Instance string `json:"instance,omitempty"`
	Version  string `json:"version,omitempty"`
	// DatabaseConnections is how many connections to the database an indexer may have; without it four for each core, twice.
	DatabaseConnections int `json:"databaseConnections,omitempty"`
	// RolloutPercent is how many of all indexers are changed at a time when something is new for all; at least one is.
	// DefaultRolloutPercent without it.
	RolloutPercent int `json:"rolloutPercent,omitempty"`
	// LogLevel is debug, info, warn or error; info without it.
	LogLevel string `json:"logLevel,omitempty"`
	// ImagePullPolicy and ImagePullSecrets are those of the pods; without them they are the cluster's defaults.
	ImagePullPolicy  corev1.PullPolicy                                 `json:"imagePullPolicy,omitempty"`
	ImagePullSecrets []corev1ac.LocalObjectReferenceApplyConfiguration `json:"imagePullSecrets,omitempty"`
	// RunAsUser is the pods' user, their group and that of their files; without it the cluster chooses them.
	RunAsUser *int64 `json:"runAsUser,omitempty"`
	// DenyAddresses are addresses and CIDRs that tokens' metadata is never fetched from.
	DenyAddresses []string `json:"denyAddresses,omitempty"`
	// CABundle has the certificates of certificate authorities that are trusted besides the public ones.
	CABundle *CABundle `json:"caBundle,omitempty"`
	// NetworkPolicy says whether indexers have one each; true without it.
	NetworkPolicy *bool `json:"networkPolicy,omitempty"`
	// Labels and Annotations are further ones of the pods.
	Labels      map[string]string `json:"podLabels,omitempty"`
	Annotations map[string]string `json:"podAnnotations,omitempty"`
	// Env and EnvFrom are further environment variables, as in a container.
	Env     []corev1ac.EnvVarApplyConfiguration        `json:"env,omitempty"`
	EnvFrom []corev1ac.EnvFromSourceApplyConfiguration `json:"envFrom,omitempty"`
	// Volumes and VolumeMounts are further ones, as in a pod and a container.
	Volumes      []corev1ac.VolumeApplyConfiguration      `json:"volumes,omitempty"`
	VolumeMounts []corev1ac.VolumeMountApplyConfiguration `json:"volumeMounts,omitempty"`
	// Resources of the container; what is left out has Boardwalk's default.
	Resources v1alpha1.Resources `json:"resources,omitzero"`
	// Where the pods run, as in a pod.
	NodeSelector      map[string]string                                     `json:"nodeSelector,omitempty"`
	Tolerations       []corev1ac.TolerationApplyConfiguration               `json:"tolerations,omitempty"`
	Affinity          *corev1ac.AffinityApplyConfiguration                  `json:"affinity,omitempty"`
	TopologySpread    []corev1ac.TopologySpreadConstraintApplyConfiguration `json:"topologySpread,omitempty"`
	PriorityClassName string                                                `json:"priorityClassName,omitempty"`
}

// DefaultRolloutPercent is the usual share of indexers that are changed at a time.
const DefaultRolloutPercent = 10

// CABundle is a key with certificates (PEM) of a ConfigMap or of a Secret.
type CABundle struct {
	ConfigMap string `json:"configMap,omitempty"`
	Secret    string `json:"secret,omitempty"`
	Key       string `json:"key"`
}

// ParseIndexers reads the operator's file. Its error says which field is wrong and what is allowed.
func ParseIndexers(file []byte) (Indexers, error) {
	var x Indexers
	if err := yaml.UnmarshalStrict(file, &x); err != nil {
		return Indexers{}, fmt.Errorf("it isn't YAML of the known fields: %w", err)
	}
	if err := x.check(); err != nil {
		return Indexers{}, err
	}
	return x, x.dropZeros()
}

// dropZeros leaves out what says nothing, as the API server does: what is applied would differ from what is there for ever.
func (x *Indexers) dropZeros() error {
	return errors.Join(
		viaCore[[]corev1.EnvVar](&x.Env), viaCore[[]corev1.EnvFromSource](&x.EnvFrom), viaCore[[]corev1.Volume](&x.Volumes),
		viaCore[[]corev1.VolumeMount](&x.VolumeMounts), viaCore[[]corev1.Toleration](&x.Tolerations), viaCore[*corev1.Affinity](&x.Affinity),
		viaCore[[]corev1.TopologySpreadConstraint](&x.TopologySpread),
	)
}

// viaCore makes of a configuration what Kubernetes' own type makes of it.
func viaCore[Core, Configuration any](x *Configuration) error {
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	var core Core
	if err := json.Unmarshal(raw, &core); err != nil {
		return err
	}
	if raw, err = json.Marshal(core); err != nil {
		return err
	}
	var out Configuration
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	*x = out
	return nil
}

var (
	logLevels    = []string{"", "debug", "info", "warn", "error"}
	pullPolicies = []corev1.PullPolicy{"", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	// ownPrefixes begin the labels and annotations that are Boardwalk's.
	ownPrefixes = []string{"app.kubernetes.io/", "boardwalk.dev/"}
	// ownEnv are the environment variables of every indexer.
	ownEnv = []string{databaseEnv, databaseFileEnv, connectionsEnv, caEnv, settingsEnv}
	// ownVolumes are the volumes of every indexer; those of RPC Secrets begin with rpcVolume.
	ownVolumes = []string{documentVolume, databaseVolume, caVolume}
)

func (x *Indexers) check() error {
	if !slices.Contains(logLevels, x.LogLevel) {
		return fmt.Errorf("logLevel: %q isn't known; allowed: debug, info, warn, error", x.LogLevel)
	}
	if !slices.Contains(pullPolicies, x.ImagePullPolicy) {
		return fmt.Errorf("imagePullPolicy: %q isn't known; allowed: Always, IfNotPresent, Never", x.ImagePullPolicy)
	}
	if n := x.DatabaseConnections; n != 0 && (n < 10 || n > 10_000) {
		return fmt.Errorf("databaseConnections: %d can't be used; allowed: 10 to 10000, or leave it out", n)
	}
	if x.RolloutPercent < 0 || x.RolloutPercent > 100 {
		return fmt.Errorf("rolloutPercent: %d can't be used; allowed: 1 to 100, or leave it out for 10", x.RolloutPercent)
	}
	if x.RunAsUser != nil && *x.RunAsUser < 1 {
		return fmt.Errorf("runAsUser: %d can't be used; allowed: 1 or more, or leave it out for the cluster's choice", *x.RunAsUser)
	}
	if err := checkAddresses(x.DenyAddresses); err != nil {
		return err
	}
	if b := x.CABundle; b != nil && ((b.ConfigMap == "") == (b.Secret == "") || b.Key == "") {
		return errors.New("caBundle: write either configMap or secret, and key, which has the certificates")
	}
	for field, labels := range map[string]map[string]string{"podLabels": x.Labels, "podAnnotations": x.Annotations} {
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			if beginsWithAny(name, ownPrefixes) {
				return fmt.Errorf("%s: %s is Boardwalk's own; choose a name that begins with neither of %s", field, name, strings.Join(ownPrefixes, ", "))
			}
		}
	}
	if err := x.checkEnv(); err != nil {
		return err
	}
	if err := x.checkVolumes(); err != nil {
		return err
	}
	return checkAmounts(x.Resources)
}

func checkAddresses(texts []string) error {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if a, e := netip.ParseAddr(text); e == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || p.Addr().Is4In6() {
			return fmt.Errorf("denyAddresses: %q is no address and no CIDR, as in 192.0.2.7 or 2001:db8::/48", text)
		}
	}
	return nil
}

func checkAmounts(r v1alpha1.Resources) error {
	for _, of := range []struct {
		name           string
		request, limit v1alpha1.Quantity
	}{{"cpu", r.Requests.CPU, r.Limits.CPU}, {"memory", r.Requests.Memory, r.Limits.Memory}} {
		for field, text := range map[string]v1alpha1.Quantity{"requests": of.request, "limits": of.limit} {
			if _, is := quantity(text); text != "" && !is {
				return fmt.Errorf("resources.%s.%s: %q isn't an amount; write one as in 500m or 512Mi", field, of.name, text)
			}
		}
		request, asks := quantity(of.request)
		if limit, bounds := quantity(of.limit); asks && bounds && request.Cmp(limit) > 0 {
			return fmt.Errorf("resources.requests.%s is above resources.limits.%s: lower one or raise the other", of.name, of.name)
		}
	}
	return nil
}

func (x *Indexers) checkEnv() error {
	seen := map[string]bool{}
	for i := range x.Env {
		switch name := deref(x.Env[i].Name); {
		case name == "":
			return fmt.Errorf("env[%d]: the name is missing", i)
		case slices.Contains(ownEnv, name):
			return fmt.Errorf("env[%d]: %s is Boardwalk's own; the database's address comes from its Secret, certificates from caBundle", i, name)
		case seen[name]:
			return fmt.Errorf("env[%d]: %s is there twice; leave one out", i, name)
		default:
			seen[name] = true
		}
	}
	return nil
}

func (x *Indexers) checkVolumes() error {
	known := map[string]bool{}
	for i := range x.Volumes {
		switch name := deref(x.Volumes[i].Name); {
		case name == "":
			return fmt.Errorf("volumes[%d]: the name is missing", i)
		case slices.Contains(ownVolumes, name) || strings.HasPrefix(name, rpcVolume):
			return fmt.Errorf("volumes[%d]: %s is Boardwalk's own; choose another name", i, name)
		case known[name]:
			return fmt.Errorf("volumes[%d]: %s is there twice; choose another name", i, name)
		default:
			known[name] = true
		}
	}
	for i := range x.VolumeMounts {
		m := &x.VolumeMounts[i]
		if path := strings.TrimSuffix(deref(m.MountPath), "/"); path == ownDir || strings.HasPrefix(path, ownDir+"/") {
			return fmt.Errorf("volumeMounts[%d]: %s is below %s, which is Boardwalk's own; choose another folder", i, path, ownDir)
		}
		if !known[deref(m.Name)] {
			return fmt.Errorf("volumeMounts[%d]: there is no volume %q; add it to volumes", i, deref(m.Name))
		}
	}
	return nil
}

func beginsWithAny(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

func deref[T any](p *T) (zero T) {
	if p == nil {
		return zero
	}
	return *p
}
