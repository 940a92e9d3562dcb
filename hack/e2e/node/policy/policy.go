// Package policy turns NetworkPolicies into rules for nftables. It talks to nobody.
package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Cluster is what policies are about. Of the pods those with an IPv4 address of their own count.
type Cluster struct {
	Pods       []corev1.Pod
	Namespaces []corev1.Namespace
	Policies   []networkingv1.NetworkPolicy
}

// table replaces the one that was there before, at once. Packets of pods pass the node on their way to other pods, and end at
// it on their way to the API server. What the node itself sends is never held up: a kubelet's probes must get through. What
// isn't allowed is dropped without an answer, so that a new pod whose address isn't known for a moment only waits.
const table = `table ip policies {}
delete table ip policies
table ip policies {
  chain forward { type filter hook forward priority filter; ct state established,related accept; jump egress; jump ingress; }
  chain input { type filter hook input priority filter; ct state established,related accept; jump egress; }
`

// Rules are what `nft -f` makes the policies hold with. The same cluster, in whatever order, gives the same rules.
func Rules(c Cluster) (string, error) {
	c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p corev1.Pod) bool { return !routed(&p) })
	slices.SortFunc(c.Pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Status.PodIP, b.Status.PodIP) })
	c.Policies = slices.Clone(c.Policies)
	slices.SortFunc(c.Policies, func(a, b networkingv1.NetworkPolicy) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var chains, ingress, egress strings.Builder
	for i := range c.Pods {
		pod := &c.Pods[i]
		for _, way := range []struct {
			kind        networkingv1.PolicyType
			name, match string
			jumps       *strings.Builder
		}{
			{networkingv1.PolicyTypeIngress, "to", "daddr", &ingress},
			{networkingv1.PolicyTypeEgress, "from", "saddr", &egress},
		} {
			allowed, isolated, err := c.allowed(pod, way.kind)
			if err != nil {
				return "", err
			}
			if !isolated {
				continue
			}
			name := way.name + "_" + strings.ReplaceAll(pod.Status.PodIP, ".", "_")
			fmt.Fprintf(&chains, "  # %s/%s\n  chain %s {\n", pod.Namespace, pod.Name, name)
			for _, rule := range allowed {
				fmt.Fprintf(&chains, "    %s return\n", rule)
			}
			chains.WriteString("    drop\n  }\n")
			fmt.Fprintf(way.jumps, "    ip %s %s jump %s\n", way.match, pod.Status.PodIP, name)
		}
	}
	return table + chains.String() + "  chain egress {\n" + egress.String() + "  }\n  chain ingress {\n" + ingress.String() + "  }\n}\n", nil
}

func routed(p *corev1.Pod) bool {
	address, err := netip.ParseAddr(p.Status.PodIP)
	return err == nil && address.Is4() && !p.Spec.HostNetwork && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

// allowed are the matches of what may reach the pod, or be reached by it. A pod that no policy of the kind selects isn't
// isolated: everything is allowed.
func (c *Cluster) allowed(pod *corev1.Pod, kind networkingv1.PolicyType) (rules []string, isolated bool, err error) {
	for i := range c.Policies {
		p := &c.Policies[i]
		selected, err := selects(&p.Spec.PodSelector, pod.Labels)
		if err != nil {
			return nil, false, fmt.Errorf("network policy %s/%s: %w", p.Namespace, p.Name, err)
		}
		if p.Namespace != pod.Namespace || !selected || !slices.Contains(p.Spec.PolicyTypes, kind) {
			continue
		}
		isolated = true
		var more []string
		if kind == networkingv1.PolicyTypeIngress {
			for _, r := range p.Spec.Ingress {
				var peers []peer
				if peers, err = c.peers(p.Namespace, r.From); err == nil {
					more = append(more, matches("saddr", peers, r.Ports, pod)...)
				}
			}
		} else {
			for _, r := range p.Spec.Egress {
				var peers []peer
				if peers, err = c.peers(p.Namespace, r.To); err == nil {
					more = append(more, matches("daddr", peers, r.Ports, nil)...)
				}
			}
		}
		if err != nil {
			return nil, false, fmt.Errorf("network policy %s/%s: %w", p.Namespace, p.Name, err)
		}
		rules = append(rules, more...)
	}
	slices.Sort(rules)
	return slices.Compact(rules), isolated, nil
}

// peer is the other side: addresses with exceptions, which are a pod's own if pod is there.
type peer struct {
	cidr   string
	except []string
	pod    *corev1.Pod
}

// peers finds the other sides of a rule; none declared is everybody.
func (c *Cluster) peers(namespace string, declared []networkingv1.NetworkPolicyPeer) ([]peer, error) {
	if len(declared) == 0 {
		return []peer{{cidr: "0.0.0.0/0"}}, nil
	}
	var found []peer
	for _, d := range declared {
		if d.IPBlock != nil {
			if prefix, err := netip.ParsePrefix(d.IPBlock.CIDR); err != nil {
				return nil, err
			} else if prefix.Addr().Is4() {
				found = append(found, peer{cidr: d.IPBlock.CIDR, except: d.IPBlock.Except})
			}
			continue
		}
		for i := range c.Pods {
			pod := &c.Pods[i]
			there, err := c.inNamespace(pod, namespace, d.NamespaceSelector)
			if err != nil {
				return nil, err
			}
			selected := true
			if d.PodSelector != nil {
				if selected, err = selects(d.PodSelector, pod.Labels); err != nil {
					return nil, err
				}
			}
			if there && selected {
				found = append(found, peer{cidr: pod.Status.PodIP, pod: pod})
			}
		}
	}
	return found, nil
}

// inNamespace reports whether a pod is in one of the selected namespaces; without a selector that is the policy's own.
func (c *Cluster) inNamespace(pod *corev1.Pod, own string, selector *metav1.LabelSelector) (bool, error) {
	if selector == nil {
		return pod.Namespace == own, nil
	}
	for i := range c.Namespaces {
		if c.Namespaces[i].Name == pod.Namespace {
			return selects(selector, c.Namespaces[i].Labels)
		}
	}
	return false, nil
}

func selects(selector *metav1.LabelSelector, of map[string]string) (bool, error) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return false, err
	}
	return s.Matches(labels.Set(of)), nil
}

// matches crosses the peers with the ports. Names of ports are those of the pod that is reached: target, or the peer.
func matches(direction string, peers []peer, ports []networkingv1.NetworkPolicyPort, target *corev1.Pod) []string {
	var out []string
	for _, p := range peers {
		side := ""
		if p.cidr != "0.0.0.0/0" {
			side = "ip " + direction + " " + p.cidr + " "
		}
		if len(p.except) > 0 {
			side += "ip " + direction + " != { " + strings.Join(p.except, ", ") + " } "
		}
		if len(ports) == 0 {
			out = append(out, strings.TrimSpace(cmp.Or(side, "meta l4proto 0-255")))
			continue
		}
		named := target
		if named == nil {
			named = p.pod
		}
		for i := range ports {
			if port, known := portMatch(&ports[i], named); known {
				out = append(out, side+port)
			}
		}
	}
	return out
}

func portMatch(p *networkingv1.NetworkPolicyPort, named *corev1.Pod) (string, bool) {
	protocol := corev1.ProtocolTCP
	if p.Protocol != nil {
		protocol = *p.Protocol
	}
	proto := strings.ToLower(string(protocol))
	switch {
	case p.Port == nil:
		return "meta l4proto " + proto, true
	case p.Port.Type == intstr.Int && p.EndPort != nil:
		return fmt.Sprintf("%s dport %d-%d", proto, p.Port.IntVal, *p.EndPort), true
	case p.Port.Type == intstr.Int:
		return fmt.Sprintf("%s dport %d", proto, p.Port.IntVal), true
	case named == nil:
		return "", false
	}
	for _, container := range named.Spec.Containers {
		for _, has := range container.Ports {
			if has.Name == p.Port.StrVal && cmp.Or(has.Protocol, corev1.ProtocolTCP) == protocol {
				return fmt.Sprintf("%s dport %d", proto, has.ContainerPort), true
			}
		}
	}
	return "", false
}
