package policy_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/hack/e2e/node/policy"
)

func pod(namespace, name, ip string) corev1.Pod {
	var p corev1.Pod
	p.Namespace, p.Name, p.Status.PodIP = namespace, name, ip
	p.Labels = map[string]string{"app": name}
	p.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}}}
	return p
}

func cluster(t *testing.T, spec string) policy.Cluster {
	t.Helper()
	var p networkingv1.NetworkPolicy
	p.Namespace, p.Name = "shop", "policy"
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	var watched, shop corev1.Namespace
	watched.Name, watched.Labels, shop.Name = "watch", map[string]string{"scrape": "true"}, "shop"
	onHost, done := pod("shop", "host", "10.88.0.1"), pod("shop", "db", "10.0.0.9")
	onHost.Spec.HostNetwork, done.Status.Phase = true, corev1.PodSucceeded
	return policy.Cluster{
		Pods: []corev1.Pod{
			pod("shop", "web", "10.0.0.2"), pod("shop", "db", "10.0.0.3"), pod("watch", "scraper", "10.0.0.4"), pod("watch", "db", "10.0.0.5"), onHost, done,
		},
		Namespaces: []corev1.Namespace{watched, shop}, Policies: []networkingv1.NetworkPolicy{p},
	}
}

func TestRulesSayWhatThePolicySays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec string
		want string // the chains of pods, without blanks at the lines' beginnings
	}{
		"nobody": {"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]}", "chain to_10_0_0_3 { drop }"},
		"everybody": {
			"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{}]}",
			"chain to_10_0_0_3 { meta l4proto 0-255 return drop }",
		},
		"pods of the namespace": {
			"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: 5432}]}]}",
			"chain to_10_0_0_3 { ip saddr 10.0.0.2 tcp dport 5432 return drop }",
		},
		"pods of other namespaces": {
			"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {scrape: 'true'}}, podSelector: {matchLabels: {app: scraper}}}]}]}",
			"chain to_10_0_0_3 { ip saddr 10.0.0.4 return drop }",
		},
		"a named port of the pod": {
			"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{ports: [{port: web}, {port: other}]}]}",
			"chain to_10_0_0_3 { tcp dport 8080 return drop }",
		},
		"egress to addresses": {
			"{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16, 10.2.0.0/16]}}, {ipBlock: {cidr: '::/0'}}], ports: [{protocol: UDP, port: 53}, {port: 1000, endPort: 2000}]}]}",
			"chain from_10_0_0_2 { ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16, 10.2.0.0/16 } tcp dport 1000-2000 return " +
				"ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16, 10.2.0.0/16 } udp dport 53 return drop }",
		},
		"egress to everywhere, on a named port of whom it reaches": {
			"{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{port: web}]}, {ports: [{protocol: TCP}]}]}",
			"chain from_10_0_0_2 { ip daddr 10.0.0.3 tcp dport 8080 return meta l4proto tcp return drop }",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := cluster(t, c.spec)
			rules, err := policy.Rules(in)
			if err != nil {
				t.Fatal(err)
			}
			_, chains, _ := strings.Cut(rules, "# shop/")
			_, chains, _ = strings.Cut(chains, "\n")
			chains, jumps, _ := strings.Cut(chains, "  chain egress {")
			if got := strings.Join(strings.Fields(chains), " "); got != c.want {
				t.Errorf("rules:\n%s\nwanted:\n%s", got, c.want)
			}
			if n := strings.Count(jumps, "jump"); n != 1 {
				t.Errorf("%d pods are led there:\n%s", n, jumps)
			}
			slices.Reverse(in.Pods)
			if again, err := policy.Rules(in); err != nil || again != rules {
				t.Errorf("in another order: %v\n%s", err, again)
			}
		})
	}
}

func TestWithoutPoliciesEverythingIsAllowed(t *testing.T) {
	t.Parallel()
	in := cluster(t, "{podSelector: {}, policyTypes: [Ingress]}")
	in.Policies = nil
	rules, err := policy.Rules(in)
	if err != nil || strings.Contains(rules, "drop") {
		t.Errorf("%v\n%s", err, rules)
	}
}
