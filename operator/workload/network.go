package workload

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"
)

// metadataServices are those of the clouds, which would hand out the node's credentials. The rest of the link-local network has
// name servers.
var metadataServices = map[string][]string{
	"0.0.0.0/0": {"169.254.169.0/24", "169.254.170.0/24", "100.100.100.200/32"},
	"::/0":      {"fd00:ec2::/32"},
}

// networkPolicy lets in the operator, which asks for the state, and whoever may read metrics. Out it lets everything but the
// clouds' metadata services: chains' nodes may be anywhere, inside the cluster too.
func (b *builder) networkPolicy() *networkingv1.NetworkPolicyApplyConfiguration {
	operations := networkingv1.NetworkPolicyPort().WithProtocol("TCP").WithPort(intstr.FromInt32(OperationsPort))
	operator := metav1.LabelSelector().WithMatchLabels(map[string]string{LabelName: Name, LabelComponent: Operator})
	scrapers := metav1.LabelSelector().WithMatchLabels(map[string]string{LabelScrape: "true"})
	out := networkingv1.NetworkPolicyEgressRule().WithTo(networkingv1.NetworkPolicyPeer().WithNamespaceSelector(metav1.LabelSelector()))
	for _, all := range []string{"0.0.0.0/0", "::/0"} {
		out.WithTo(networkingv1.NetworkPolicyPeer().WithIPBlock(networkingv1.IPBlock().WithCIDR(all).WithExcept(metadataServices[all]...)))
	}
	return networkingv1.NetworkPolicy(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithSpec(networkingv1.NetworkPolicySpec().
			WithPodSelector(metav1.LabelSelector().WithMatchLabels(b.selector())).
			WithPolicyTypes("Ingress", "Egress").
			WithIngress(networkingv1.NetworkPolicyIngressRule().WithPorts(operations).WithFrom(
				networkingv1.NetworkPolicyPeer().WithPodSelector(operator),
				networkingv1.NetworkPolicyPeer().WithNamespaceSelector(scrapers))).
			WithEgress(out))
}
