package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// Trial tries Settings before indexers that run are given them: a Job pulls the image, gets the database's Secret and all that indexers get of the
// cluster, and looks whether the database is one that an indexer could work with. It changes nothing there.
type Trial struct {
	Job            *batchv1ac.JobApplyConfiguration
	ServiceAccount *corev1ac.ServiceAccountApplyConfiguration
	// NetworkPolicy is nil where indexers are to have none.
	NetworkPolicy *networkingv1ac.NetworkPolicyApplyConfiguration
}

// TrialObjects is the name of the NetworkPolicy and the ServiceAccount of all trials.
const TrialObjects = Name + "-trial"

// A trial's program takes little. The limits are an indexer's.
var trialCPU, trialMemory = resource.MustParse("10m"), resource.MustParse("64Mi")

const (
	// trialSeconds is how long a trial may take. An image that can't be pulled would be tried for ever.
	trialSeconds = 600
	// keptSeconds is how long Kubernetes keeps a trial that has ended. A rollout that takes longer makes another one.
	keptSeconds = 3600
)

// TrialName is the name of the Job that tries Settings with this hash.
func TrialName(hash string) string { return Name + "-trial-" + trialOf(hash) }

func trialOf(hash string) string { return hash[:10] }

// BuildTrial makes the objects of a trial.
func BuildTrial(namespace string, s Settings) *Trial {
	hash := s.Hash()
	b := builder{chain: &v1alpha1.Chain{}, settings: s, name: TrialName(hash)}
	b.chain.Namespace = namespace
	b.labels = s.labels()
	own := map[string]string{LabelTrial: trialOf(hash)}
	pod := b.podOf(b.trialProgram()).WithServiceAccountName(TrialObjects).WithRestartPolicy("Never").WithTerminationGracePeriodSeconds(1)
	template := corev1ac.PodTemplateSpec().WithLabels(b.podLabels()).WithLabels(own).WithAnnotations(s.Annotations).WithSpec(pod)
	out := &Trial{
		ServiceAccount: corev1ac.ServiceAccount(TrialObjects, namespace).WithLabels(b.labels).WithAutomountServiceAccountToken(false),
		Job: batchv1ac.Job(b.name, namespace).WithLabels(b.labels).WithLabels(own).
			WithSpec(batchv1ac.JobSpec().WithBackoffLimit(0).WithActiveDeadlineSeconds(trialSeconds).WithTTLSecondsAfterFinished(keptSeconds).WithTemplate(template)),
	}
	if s.hasNetworkPolicy() {
		// It stays when the Job goes, and is the same for all trials.
		out.NetworkPolicy = networkingv1ac.NetworkPolicy(TrialObjects, namespace).WithLabels(b.labels).
			WithSpec(networkingv1ac.NetworkPolicySpec().
				WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{LabelName: Name, LabelComponent: Indexer}).
					WithMatchExpressions(metav1ac.LabelSelectorRequirement().WithKey(LabelTrial).WithOperator("Exists"))).
				WithPolicyTypes("Ingress", "Egress").WithEgress(outward()))
	}
	return out
}

// trialProgram asks for little: a full cluster has no room for another indexer.
func (b *builder) trialProgram() *corev1ac.ContainerApplyConfiguration {
	c := b.program("migrate", "--try", "--log-json")
	requests := corev1.ResourceList{corev1.ResourceCPU: trialCPU, corev1.ResourceMemory: trialMemory}
	for of, limit := range deref(c.Resources.Limits) {
		if request, ok := requests[of]; ok && limit.Cmp(request) < 0 {
			requests[of] = limit
		}
	}
	c.Resources.WithRequests(requests)
	return c
}
