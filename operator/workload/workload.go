// Package workload builds the Kubernetes objects that run a chain's indexer, from a Chain and its document. It is
// pure: it sends no request.
package workload

import (
	"cmp"
	"fmt"
	"maps"
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
	// LabelInstance has the name of the release whose operator it is.
	LabelInstance = "app.kubernetes.io/instance"
	LabelVersion  = "app.kubernetes.io/version"
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

// AnnotationSettings has the hash of the Settings that a Deployment was made with, as far as they concern pods.
const AnnotationSettings = "boardwalk.dev/settings"

// LabelTrial is on a Job, and its pod, that tries Settings; its value is the beginning of their hash.
const LabelTrial = "boardwalk.dev/trial"

// AnnotationTrial has the hash of the Settings that a Deployment was given to try them, before the others get them.
const AnnotationTrial = "boardwalk.dev/trial"

const (
	// OperationsPort is where an indexer answers /livez, /readyz, /metrics and its state.
	OperationsPort = 8081
	// SecretDir is where the Secrets with the nodes' URLs are mounted.
	SecretDir = ownDir + "/rpc"

	// startupSeconds is how long an indexer may take to start, a migration of the database included.
	startupSeconds = 300

	// ownDir has all that is mounted for the indexer itself.
	ownDir       = "/etc/boardwalk"
	documentDir  = ownDir + "/chain"
	documentFile = "chain.json"
	caDir        = ownDir + "/ca"
	caFile       = "ca.crt"

	documentVolume = "chain"
	databaseVolume = "database"
	caVolume       = "ca"
	rpcVolume      = "rpc-"

	databaseEnv = "BOARDWALK_DB"
	// databaseFileEnv names the file that has the database's address as its Secret has it now.
	databaseFileEnv = "BOARDWALK_DB_FILE"
	databaseDir     = ownDir + "/database"
	databaseFile    = "uri"
	connectionsEnv  = "BOARDWALK_DB_CONNECTIONS"
	// caEnv names the file with further authorities' certificates; main reads it.
	caEnv = "BOARDWALK_CA_FILE"
	// settingsEnv has the hash of the Settings, which the indexer's state repeats.
	settingsEnv = "BOARDWALK_SETTINGS"
	// memoryEnv is what Go's runtime keeps its memory below.
	memoryEnv = "GOMEMLIMIT"
)

// Objects run one indexer. All have the name that ObjectName gives.
type Objects struct {
	Document       *corev1ac.ConfigMapApplyConfiguration
	ServiceAccount *corev1ac.ServiceAccountApplyConfiguration
	Service        *corev1ac.ServiceApplyConfiguration
	// NetworkPolicy is nil where indexers are to have none.
	NetworkPolicy *networkingv1ac.NetworkPolicyApplyConfiguration
	Budget        *policyv1ac.PodDisruptionBudgetApplyConfiguration
	Deployment    *appsv1ac.DeploymentApplyConfiguration
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
	b.labels = s.labels()
	b.labels[LabelChain] = doc.ID
	b.owner = metav1ac.OwnerReference().WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind(v1alpha1.ChainKind).
		WithName(c.Name).WithUID(c.UID).WithController(true)
	out := &Objects{
		Document: corev1ac.ConfigMap(b.name, c.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
			WithData(map[string]string{documentFile: string(document) + "\n"}),
		ServiceAccount: corev1ac.ServiceAccount(b.name, c.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
			WithAutomountServiceAccountToken(false),
		Service:    b.service(),
		Budget:     b.budget(),
		Deployment: b.deployment(),
	}
	if s.hasNetworkPolicy() {
		out.NetworkPolicy = b.networkPolicy()
	}
	return out, nil
}

// MarkTrial marks the Deployment as one on which its settings are tried.
func (o *Objects) MarkTrial() {
	o.Deployment.WithAnnotations(map[string]string{AnnotationTrial: o.Deployment.Annotations[AnnotationSettings]})
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
	annotations := map[string]string{AnnotationDocument: b.hash}
	maps.Copy(annotations, b.settings.Annotations)
	return appsv1ac.Deployment(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithAnnotations(map[string]string{AnnotationSettings: b.settings.Hash()}).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(replicas).WithRevisionHistoryLimit(3).WithProgressDeadlineSeconds(120).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(b.selector())).
			// A chain has one writer: a second pod would only wait for the first one's lease.
			WithStrategy(appsv1ac.DeploymentStrategy().WithType("Recreate")).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(b.podLabels()).WithAnnotations(annotations).WithSpec(b.pod())))
}

func (b *builder) podLabels() map[string]string {
	labels := maps.Clone(b.labels)
	delete(labels, LabelVersion)
	maps.Copy(labels, b.settings.Labels)
	return labels
}

func (b *builder) pod() *corev1ac.PodSpecApplyConfiguration {
	document := corev1ac.Volume().WithName(documentVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(b.name))
	return b.podOf(b.container(), append([]*corev1ac.VolumeApplyConfiguration{document}, b.rpcVolumes()...)...).
		WithServiceAccountName(b.name).WithTerminationGracePeriodSeconds(30)
}

// podOf is a pod of one container with volumes of its own, and what all indexers' pods have.
func (b *builder) podOf(c *corev1ac.ContainerApplyConfiguration, own ...*corev1ac.VolumeApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	pod := corev1ac.PodSpec().
		WithVolumes(own...).
		WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
		WithSecurityContext(b.user().WithRunAsNonRoot(true).WithSeccompProfile(corev1ac.SeccompProfile().WithType("RuntimeDefault"))).
		WithContainers(c).
		WithVolumes(b.databaseVolume()).
		WithVolumes(b.caVolumes()...).
		WithVolumes(pointers(b.settings.Volumes)...).
		WithImagePullSecrets(pointers(b.settings.ImagePullSecrets)...)
	b.place(pod)
	return pod
}

// place says where the pod runs: as its Chain has it, else as all indexers.
func (b *builder) place(pod *corev1ac.PodSpecApplyConfiguration) {
	chain, all := &b.chain.Spec.Indexer, &b.settings.Indexers
	if class := cmp.Or(chain.PriorityClassName, all.PriorityClassName); class != "" {
		pod.WithPriorityClassName(class)
	}
	for k, v := range chain.NodeSelector {
		pod.WithNodeSelector(map[string]string{k: string(v)})
	}
	if len(chain.NodeSelector) == 0 {
		pod.WithNodeSelector(all.NodeSelector)
	}
	for i := range chain.Tolerations {
		pod.WithTolerations(toleration(&chain.Tolerations[i]))
	}
	if len(chain.Tolerations) == 0 {
		pod.WithTolerations(pointers(all.Tolerations)...)
	}
	if all.Affinity != nil {
		pod.WithAffinity(all.Affinity)
	}
	for _, c := range all.TopologySpread {
		if c.LabelSelector == nil { // all indexers, wherever their chains are
			c.LabelSelector = metav1ac.LabelSelector().WithMatchLabels(map[string]string{LabelName: Name, LabelComponent: Indexer})
		}
		pod.WithTopologySpreadConstraints(&c)
	}
}

// pointers gives pointers to the elements of a list. All indexers share the list: nobody may change an element.
func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// user is empty where the cluster chooses it: some refuse a pod that names one (OpenShift).
func (b *builder) user() *corev1ac.PodSecurityContextApplyConfiguration {
	if b.settings.RunAsUser == nil {
		return corev1ac.PodSecurityContext()
	}
	id := *b.settings.RunAsUser
	return corev1ac.PodSecurityContext().WithRunAsUser(id).WithRunAsGroup(id).WithFSGroup(id)
}

func (b *builder) container() *corev1ac.ContainerApplyConfiguration {
	probe := func(path string) *corev1ac.ProbeApplyConfiguration {
		return corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(OperationsPort))).WithTimeoutSeconds(3)
	}
	c := b.program("indexer", "--config="+documentDir+"/"+documentFile, "--document-hash="+b.hash,
		fmt.Sprintf("--operations=:%d", OperationsPort), "--log-json", "--log-level="+cmp.Or(b.settings.LogLevel, "info")).
		WithPorts(corev1ac.ContainerPort().WithName("operations").WithContainerPort(OperationsPort).WithProtocol("TCP")).
		WithStartupProbe(probe("/livez").WithPeriodSeconds(1).WithFailureThreshold(startupSeconds)).
		WithLivenessProbe(probe("/livez").WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithReadinessProbe(probe("/readyz").WithPeriodSeconds(5).WithFailureThreshold(3)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(documentVolume).WithMountPath(documentDir).WithReadOnly(true))
	for _, a := range b.settings.DenyAddresses {
		c.WithArgs("--deny-address=" + a)
	}
	for i, s := range b.secrets() {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName(volumeName(i)).WithMountPath(SecretDir + "/" + s.name).WithReadOnly(true))
	}
	return c
}

// program is a container that runs the indexers' image with what all of them get of the cluster.
func (b *builder) program(args ...string) *corev1ac.ContainerApplyConfiguration {
	requests, limits := requirements(b.chain.Spec.Indexer.Resources, b.settings.Resources)
	c := corev1ac.Container().WithName(Indexer).WithImage(b.settings.Image).WithArgs(args...).
		WithEnv(
			corev1ac.EnvVar().WithName(databaseEnv).WithValueFrom(corev1ac.EnvVarSource().WithSecretKeyRef(
				corev1ac.SecretKeySelector().WithName(b.settings.DatabaseSecret).WithKey(b.settings.DatabaseKey))),
			corev1ac.EnvVar().WithName(databaseFileEnv).WithValue(databaseDir+"/"+databaseFile),
			corev1ac.EnvVar().WithName(settingsEnv).WithValue(b.settings.Hash())).
		WithResources(corev1ac.ResourceRequirements().WithRequests(requests).WithLimits(limits)).
		WithSecurityContext(corev1ac.SecurityContext().WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		// The status repeats what an indexer said last before it ended.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(databaseVolume).WithMountPath(databaseDir).WithReadOnly(true)).
		WithEnv(pointers(b.settings.Env)...).WithEnvFrom(pointers(b.settings.EnvFrom)...).WithVolumeMounts(pointers(b.settings.VolumeMounts)...)
	if b.settings.ImagePullPolicy != "" {
		c.WithImagePullPolicy(b.settings.ImagePullPolicy)
	}
	if n := b.settings.DatabaseConnections; n > 0 {
		c.WithEnv(corev1ac.EnvVar().WithName(connectionsEnv).WithValue(strconv.Itoa(n)))
	}
	if b.settings.CABundle != nil {
		c.WithEnv(corev1ac.EnvVar().WithName(caEnv).WithValue(caDir + "/" + caFile)).
			WithVolumeMounts(corev1ac.VolumeMount().WithName(caVolume).WithMountPath(caDir).WithReadOnly(true))
	}
	ownLimit := slices.ContainsFunc(b.settings.Env, func(e corev1ac.EnvVarApplyConfiguration) bool { return deref(e.Name) == memoryEnv })
	if memory, ok := limits[corev1.ResourceMemory]; ok && memory.Value() >= 10 && !ownLimit { // 0 is no limit
		// The collector works harder before the kernel ends the process.
		c.WithEnv(corev1ac.EnvVar().WithName(memoryEnv).WithValue(strconv.FormatInt(memory.Value()/10*9, 10)))
	}
	return c
}

// databaseVolume is optional: whether the Secret is there is for the environment variable to say.
func (b *builder) databaseVolume() *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(databaseVolume).WithSecret(corev1ac.SecretVolumeSource().WithSecretName(b.settings.DatabaseSecret).
		WithItems(corev1ac.KeyToPath().WithKey(b.settings.DatabaseKey).WithPath(databaseFile)).WithOptional(true))
}

// caVolumes has the further authorities' certificates. It is optional, as the Secrets below: the program says which file is missing.
func (b *builder) caVolumes() []*corev1ac.VolumeApplyConfiguration {
	ca := b.settings.CABundle
	if ca == nil {
		return nil
	}
	v := corev1ac.Volume().WithName(caVolume)
	item := corev1ac.KeyToPath().WithKey(ca.Key).WithPath(caFile)
	if ca.Secret != "" {
		v.WithSecret(corev1ac.SecretVolumeSource().WithSecretName(ca.Secret).WithItems(item).WithOptional(true))
	} else {
		v.WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(ca.ConfigMap).WithItems(item).WithOptional(true))
	}
	return []*corev1ac.VolumeApplyConfiguration{v}
}

func (b *builder) rpcVolumes() (out []*corev1ac.VolumeApplyConfiguration) {
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

func volumeName(i int) string { return fmt.Sprintf("%s%d", rpcVolume, i) }

// secret is a Secret with the keys of it that are used.
type secret struct {
	name string
	keys []string
}

// secrets lists the Secrets of the chain's endpoints, in the order in which they first appear.
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
