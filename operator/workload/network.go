package workload

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
)

// metadataServices has the addresses of the clouds' metadata services, which would hand out the node's credentials. The rest of the link-local network has
// name servers.
var metadataServices = map[string][]string{
	"0.0.0.0/0": {"169.254.169.0/24", "169.254.170.0/24", "100.100.100.200/32"},
	"::/0":      {"fd00:ec2::/32"},
}

// networkPolicy lets in the operator, which asks for the state, the API server, which asks for trust checks, and whoever may
// read metrics. Out it lets everything but the
// clouds' metadata services: chains' nodes may be anywhere, inside the cluster too.
func (b *builder) networkPolicy() *networkingv1ac.NetworkPolicyApplyConfiguration {
	operations := networkingv1ac.NetworkPolicyPort().WithProtocol("TCP").WithPort(intstr.FromInt32(OperationsPort))
	component := func(name string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
		return networkingv1ac.NetworkPolicyPeer().WithPodSelector(
			metav1ac.LabelSelector().WithMatchLabels(map[string]string{LabelName: Name, LabelComponent: name}))
	}
	scrapers := metav1ac.LabelSelector().WithMatchLabels(map[string]string{LabelScrape: "true"})
	return networkingv1ac.NetworkPolicy(b.name, b.chain.Namespace).WithLabels(b.labels).WithOwnerReferences(b.owner).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(b.selector())).
			WithPolicyTypes("Ingress", "Egress").
			WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithPorts(operations).WithFrom(
				component(Operator), component(APIServer),
				networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(scrapers))).
			WithEgress(outward()))
}

// outward lets everything out but to the clouds' metadata services.
func outward() *networkingv1ac.NetworkPolicyEgressRuleApplyConfiguration {
	out := networkingv1ac.NetworkPolicyEgressRule().WithTo(networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()))
	for _, all := range []string{"0.0.0.0/0", "::/0"} {
		out.WithTo(networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(all).WithExcept(metadataServices[all]...)))
	}
	return out
}
