// Package workload builds the Kubernetes objects that run a chain's indexer, from a Chain and its document. It is
// pure: it sends no request.
package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Labels of all that belongs to an indexer.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelChain has the chain's id.
	LabelChain = "boardwalk.dev/chain"
	// LabelScrape, "true" on a namespace, lets its pods read the indexers' metrics.
	LabelScrape = "boardwalk.dev/scrape"

	Name      = "boardwalk"
	Indexer   = "indexer"
	Operator  = "operator"
	APIServer = "apiserver"
	ManagedBy = "boardwalk-operator"
)

// AnnotationDocument has the hash of the document that a pod runs on: a new one starts a new pod.
const AnnotationDocument = "boardwalk.dev/document"

// AnnotationSettings has the hash of the Settings that a Deployment was made with, which all indexers share.
const AnnotationSettings = "boardwalk.dev/settings"

const (
	// OperationsPort is where an indexer answers /livez, /readyz, /metrics and its state.
	OperationsPort = 8081
	// SecretDir is where the Secrets with the nodes' URLs are mounted.
	SecretDir = "/etc/boardwalk/rpc" //nolint:gosec // a directory, no credential

	// startupSeconds is how long an indexer may take to start, a migration of the database included.
	startupSeconds = 300

	documentDir  = "/etc/boardwalk/chain"
	documentFile = "chain.json"
)

// Settings are what the operator knows and no resource says.
type Settings struct {
	// Image is the indexers', which is Boardwalk's one.
	Image string
	// PullPolicy and PullSecrets are those of the pods; empty ones are the cluster's defaults.
	PullPolicy  string
	PullSecrets []string
	// DatabaseSecret and DatabaseKey name the Secret's key that has the database's address.
	DatabaseSecret, DatabaseKey string
	// RunAsUser is the pods' user, their group and that of their files; 0 leaves all of them to the cluster.
	RunAsUser int64
	// DeniedAddresses are addresses and CIDRs that tokens' metadata is never fetched from.
	DeniedAddresses []string `json:",omitempty"` // without any, the hash is that of versions that knew none
}

// Hash tells settings apart.
func (s *Settings) Hash() string {
	raw, _ := json.Marshal(s)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// Objects run one indexer. All have the name that ObjectName gives.
type Objects struct {
	Document       *corev1ac.ConfigMapApplyConfiguration
	ServiceAccount *corev1ac.ServiceAccountApplyConfiguration
	Service        *corev1ac.ServiceApplyConfiguration
	NetworkPolicy  *networkingv1ac.NetworkPolicyApplyConfiguration
	Budget         *policyv1ac.PodDisruptionBudgetApplyConfiguration
	Deployment     *appsv1ac.DeploymentApplyConfiguration
}

// ObjectName is the name of the objects of the chain with an id.
func ObjectName(chainID string) string { return Name + "-" + Indexer + "-" + chainID }

// Build makes the objects of a chain that is accepted; doc is its document.
func Build(c *v1alpha1.Chain, doc *chainconfig.Chain, s Settings) (*Objects, error) {
	document, hash, err := doc.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode the document of chain %s: %w", doc.ID, err)
	}
	b := builder{chain: c, settings: s, name: ObjectName(doc.ID), hash: hash}
	b.labels = map[string]string{LabelName: Name, LabelComponent: Indexer, LabelManagedBy: ManagedBy, LabelChain: doc.ID}
	b.owner = metav1ac.OwnerReference().WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind(v1alpha1.ChainKind).
		WithName(c.Name).WithUID(c.UID).WithController(true)
	return &Objects{
		Document: corev1ac.ConfigMap(b.name, c.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
			WithData(map[string]string{documentFile: string(document) + "\n"}),
		ServiceAccount: corev1ac.ServiceAccount(b.name, c.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
			WithAutomountServiceAccountToken(false),
		Service:       b.service(),
		NetworkPolicy: b.networkPolicy(),
		Budget:        b.budget(),
		Deployment:    b.deployment(),
	}, nil
}

type builder struct {
	chain    *v1alpha1.Chain
	settings Settings
	name     string
	hash     string
	labels   map[string]string
	owner    *metav1ac.OwnerReferenceApplyConfiguration
}

// selector is less than all labels: it can't change later.
func (b *builder) selector() map[string]string {
	return map[string]string{LabelName: Name, LabelComponent: Indexer, LabelChain: b.labels[LabelChain]}
}

// service has no address of its own and shows pods that aren't ready too: an indexer whose database is gone can still say so.
func (b *builder) service() *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithSpec(corev1ac.ServiceSpec().WithClusterIP("None").WithPublishNotReadyAddresses(true).WithSelector(b.selector()).
			WithPorts(corev1ac.ServicePort().WithName("operations").WithProtocol("TCP").WithPort(OperationsPort)))
}

// budget lets the one pod be evicted: an indexer goes on where it was, and a node must be drainable.
func (b *builder) budget() *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().WithMaxUnavailable(intstr.FromInt32(1)).WithUnhealthyPodEvictionPolicy("AlwaysAllow").
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(b.selector())))
}

func (b *builder) deployment() *appsv1ac.DeploymentApplyConfiguration {
	replicas := int32(1)
	if b.chain.Spec.Suspend {
		replicas = 0
	}
	return appsv1ac.Deployment(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithAnnotations(map[string]string{AnnotationSettings: b.settings.Hash()}).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(replicas).WithRevisionHistoryLimit(3).WithProgressDeadlineSeconds(120).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(b.selector())).
			// A chain has one writer: a second pod would only wait for the first one's lease.
			WithStrategy(appsv1ac.DeploymentStrategy().WithType("Recreate")).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(b.labels).WithAnnotations(map[string]string{AnnotationDocument: b.hash}).
				WithSpec(b.pod())))
}

func (b *builder) pod() *corev1ac.PodSpecApplyConfiguration {
	placement := &b.chain.Spec.Indexer
	pod := corev1ac.PodSpec().
		WithServiceAccountName(b.name).WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(30).
		WithSecurityContext(b.user().WithRunAsNonRoot(true).WithSeccompProfile(corev1ac.SeccompProfile().WithType("RuntimeDefault"))).
		WithContainers(b.container()).
		WithVolumes(b.volumes()...)
	for _, s := range b.settings.PullSecrets {
		pod.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(s))
	}
	if placement.PriorityClassName != "" {
		pod.WithPriorityClassName(placement.PriorityClassName)
	}
	for k, v := range placement.NodeSelector {
		pod.WithNodeSelector(map[string]string{k: string(v)})
	}
	for i := range placement.Tolerations {
		pod.WithTolerations(toleration(&placement.Tolerations[i]))
	}
	return pod
}

// user is empty where the cluster chooses it: some refuse a pod that names one (OpenShift).
func (b *builder) user() *corev1ac.PodSecurityContextApplyConfiguration {
	id := b.settings.RunAsUser
	if id == 0 {
		return corev1ac.PodSecurityContext()
	}
	return corev1ac.PodSecurityContext().WithRunAsUser(id).WithRunAsGroup(id).WithFSGroup(id)
}

func (b *builder) container() *corev1ac.ContainerApplyConfiguration {
	probe := func(path string) *corev1ac.ProbeApplyConfiguration {
		return corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(OperationsPort))).WithTimeoutSeconds(3)
	}
	requests, limits := requirements(b.chain.Spec.Indexer.Resources)
	c := corev1ac.Container().WithName(Indexer).WithImage(b.settings.Image).
		WithArgs("indexer", "--config="+documentDir+"/"+documentFile, "--document-hash="+b.hash,
			fmt.Sprintf("--operations=:%d", OperationsPort), "--log-json").
		WithEnv(
			corev1ac.EnvVar().WithName("BOARDWALK_DB").WithValueFrom(corev1ac.EnvVarSource().WithSecretKeyRef(
				corev1ac.SecretKeySelector().WithName(b.settings.DatabaseSecret).WithKey(b.settings.DatabaseKey)))).
		WithPorts(corev1ac.ContainerPort().WithName("operations").WithContainerPort(OperationsPort).WithProtocol("TCP")).
		WithStartupProbe(probe("/livez").WithPeriodSeconds(1).WithFailureThreshold(startupSeconds)).
		WithLivenessProbe(probe("/livez").WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithReadinessProbe(probe("/readyz").WithPeriodSeconds(5).WithFailureThreshold(3)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(requests).WithLimits(limits)).
		WithSecurityContext(corev1ac.SecurityContext().WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("chain").WithMountPath(documentDir).WithReadOnly(true))
	for _, a := range b.settings.DeniedAddresses {
		c.WithArgs("--deny-address=" + a)
	}
	if b.settings.PullPolicy != "" {
		c.WithImagePullPolicy(corev1.PullPolicy(b.settings.PullPolicy))
	}
	if memory, ok := limits[corev1.ResourceMemory]; ok && memory.Value() >= 10 { // 0 is no limit
		// The collector works harder before the kernel ends the process.
		c.WithEnv(corev1ac.EnvVar().WithName("GOMEMLIMIT").WithValue(strconv.FormatInt(memory.Value()/10*9, 10)))
	}
	for i, s := range b.secrets() {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(volumeName(i)).WithMountPath(SecretDir + "/" + s.name).WithReadOnly(true))
	}
	return c
}

func (b *builder) volumes() []*corev1ac.VolumeApplyConfiguration {
	out := []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName("chain").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(b.name)),
	}
	for i, s := range b.secrets() {
		// Optional: without it the indexer starts and says which one is missing, where a pod that doesn't start says nothing.
		source := corev1ac.SecretVolumeSource().WithSecretName(s.name).WithOptional(true)
		for _, k := range s.keys {
			source.WithItems(corev1ac.KeyToPath().WithKey(k).WithPath(k))
		}
		out = append(out, corev1ac.Volume().WithName(volumeName(i)).WithSecret(source))
	}
	return out
}

func volumeName(i int) string { return fmt.Sprintf("rpc-%d", i) }

// secret is a Secret with the keys of it that are used.
type secret struct {
	name string
	keys []string
}

// secrets are those of the chain's endpoints, in the order in which they first appear.
func (b *builder) secrets() []secret {
	var out []secret
	for i := range b.chain.Spec.RPC.Endpoints {
		from := b.chain.Spec.RPC.Endpoints[i].URLFrom
		if from == nil {
			continue
		}
		ref := from.SecretKeyRef
		at := slices.IndexFunc(out, func(s secret) bool { return s.name == ref.Name })
		if at < 0 {
			at, out = len(out), append(out, secret{name: ref.Name})
		}
		if !slices.Contains(out[at].keys, ref.Key) {
			out[at].keys = append(out[at].keys, ref.Key)
		}
	}
	return out
}

func toleration(t *v1alpha1.Toleration) *corev1ac.TolerationApplyConfiguration {
	out := corev1ac.Toleration()
	if t.Key != "" {
		out.WithKey(t.Key)
	}
	if t.Operator != "" {
		out.WithOperator(corev1.TolerationOperator(t.Operator))
	}
	if t.Value != "" {
		out.WithValue(string(t.Value))
	}
	if t.Effect != "" {
		out.WithEffect(corev1.TaintEffect(t.Effect))
	}
	return out
}
