package workload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// cluster is asked whether it would take what is built.
var cluster *kubetest.Cluster

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if cluster, err = kubetest.Start(context.Background(), kubetest.Options{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer cluster.Stop()
		return m.Run()
	}())
}

var settings = workload.Settings{
	Image: "registry.example/boardwalk:v1", DatabaseSecret: "boardwalk-db", DatabaseKey: "uri",
	Indexers: workload.Indexers{
		ImagePullPolicy: "IfNotPresent", DenyAddresses: []string{"192.0.2.0/24", "2001:db8::7"}, RunAsUser: new(int64(65532)),
		ImagePullSecrets: []corev1ac.LocalObjectReferenceApplyConfiguration{{Name: new("registry")}},
	},
}

func good(t *testing.T) *v1alpha1.Chain {
	t.Helper()
	var c v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.Good), &c); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Namespace, c.UID = "the-base", "markets", types.UID("0b6ba4b4-0000-4000-8000-000000000000")
	return &c
}

func build(t *testing.T, c *v1alpha1.Chain) *workload.Objects {
	t.Helper()
	doc, err := resolve.Chain(c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := workload.Build(c, doc, settings)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// read is an apply configuration as the object that it would become.
func read[T any](t *testing.T, configuration any) *T {
	t.Helper()
	raw, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func pod(t *testing.T, c *v1alpha1.Chain) *corev1.PodSpec {
	t.Helper()
	return &read[appsv1.Deployment](t, build(t, c).Deployment).Spec.Template.Spec
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("%s: %+v; want %+v", what, got, want)
	}
}

func TestAllObjectsBelongToTheChain(t *testing.T) {
	t.Parallel()
	o := build(t, good(t))
	for kind, configuration := range all(o) {
		m := read[metav1.PartialObjectMetadata](t, struct {
			Metadata any `json:"metadata"`
		}{metadata(t, configuration)})
		same(t, kind+" name", m.Name, "boardwalk-indexer-base")
		same(t, kind+" namespace", m.Namespace, "markets")
		same(t, kind+" labels", m.Labels, map[string]string{
			"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/component": "indexer",
			"app.kubernetes.io/managed-by": "boardwalk-operator", "boardwalk.dev/chain": "base",
		})
		yes := true
		same(t, kind+" owner", m.OwnerReferences, []metav1.OwnerReference{{
			APIVersion: "boardwalk.dev/v1alpha1", Kind: "Chain", Name: "the-base", UID: "0b6ba4b4-0000-4000-8000-000000000000", Controller: &yes,
		}})
	}
}

// all are the objects by their resources' names.
func all(o *workload.Objects) map[string]any {
	return map[string]any{
		"configmaps": o.Document, "serviceaccounts": o.ServiceAccount, "services": o.Service, "networkpolicies": o.NetworkPolicy,
		"poddisruptionbudgets": o.Budget, "deployments": o.Deployment,
	}
}

func metadata(t *testing.T, configuration any) any {
	t.Helper()
	raw, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o["metadata"]
}

func TestTheIndexerReadsItsDocument(t *testing.T) {
	t.Parallel()
	c := good(t)
	o := build(t, c)
	document := read[corev1.ConfigMap](t, o.Document).Data["chain.json"]
	var got chainconfig.Chain
	if err := json.Unmarshal([]byte(document), &got); err != nil {
		t.Fatal(err)
	}
	want, err := resolve.Chain(c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	wanted, _, err := want.Encode()
	if err != nil || string(wanted)+"\n" != document {
		t.Errorf("document: %s, %v; want %s", document, err, wanted)
	}
	if again, _, err := got.Encode(); err != nil || string(again)+"\n" != document {
		t.Errorf("read and written again: %s, %v; want %s", again, err, document)
	}

	p := pod(t, c)
	i := p.Containers[0]
	_, hash, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "arguments", i.Args, []string{
		"indexer", "--config=/etc/boardwalk/chain/chain.json", "--document-hash=" + hash, "--operations=:8081", "--log-json", "--log-level=info",
		"--deny-address=192.0.2.0/24", "--deny-address=2001:db8::7",
	})
	same(t, "volume", p.Volumes[0].ConfigMap.Name, "boardwalk-indexer-base")
	same(t, "mounts", i.VolumeMounts, []corev1.VolumeMount{
		{Name: "database", MountPath: "/etc/boardwalk/database", ReadOnly: true}, {Name: p.Volumes[0].Name, MountPath: "/etc/boardwalk/chain", ReadOnly: true},
	})
	same(t, "image", i.Image, settings.Image)
	same(t, "pull policy", i.ImagePullPolicy, corev1.PullIfNotPresent)
	same(t, "pull secrets", p.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "registry"}})
	same(t, "database", i.Env[0], corev1.EnvVar{Name: "BOARDWALK_DB", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "boardwalk-db"}, Key: "uri",
	}}})
	same(t, "database as it is now", i.Env[1], corev1.EnvVar{Name: "BOARDWALK_DB_FILE", Value: "/etc/boardwalk/database/uri"})
	same(t, "its file", p.Volumes[1].Secret, &corev1.SecretVolumeSource{
		SecretName: "boardwalk-db", Items: []corev1.KeyToPath{{Key: "uri", Path: "uri"}}, Optional: new(true),
	})
	for probe, path := range map[*corev1.Probe]string{i.StartupProbe: "/livez", i.LivenessProbe: "/livez", i.ReadinessProbe: "/readyz"} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.IntValue() != workload.OperationsPort {
			t.Errorf("probe %+v; want %s at port %d", probe.HTTPGet, path, workload.OperationsPort)
		}
	}
}

func TestOneIndexerAtATime(t *testing.T) {
	t.Parallel()
	c := good(t)
	o := build(t, c)
	d := read[appsv1.Deployment](t, o.Deployment)
	same(t, "replicas", *d.Spec.Replicas, int32(1))
	same(t, "strategy", d.Spec.Strategy.Type, appsv1.RecreateDeploymentStrategyType)
	selected := map[string]string{"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/component": "indexer", "boardwalk.dev/chain": "base"}
	same(t, "Deployment's pods", d.Spec.Selector.MatchLabels, selected)
	for k, v := range selected {
		same(t, "pod's label "+k, d.Spec.Template.Labels[k], v)
	}
	budget := read[policyv1.PodDisruptionBudget](t, o.Budget)
	same(t, "budget's pods", budget.Spec.Selector.MatchLabels, selected)
	same(t, "that may be gone", budget.Spec.MaxUnavailable.IntValue(), 1)
	service := read[corev1.Service](t, o.Service)
	same(t, "Service's pods", service.Spec.Selector, selected)
	same(t, "Service's address", service.Spec.ClusterIP, corev1.ClusterIPNone)
	same(t, "pods that aren't ready", service.Spec.PublishNotReadyAddresses, true)
	same(t, "Service's port", service.Spec.Ports[0].Port, int32(workload.OperationsPort))

	c.Spec.Suspend = true
	suspended := read[appsv1.Deployment](t, build(t, c).Deployment)
	same(t, "replicas while suspended", *suspended.Spec.Replicas, int32(0))
	same(t, "template while suspended", suspended.Spec.Template, d.Spec.Template)
}

func TestWhoReachesTheIndexerAndWhomItReaches(t *testing.T) {
	t.Parallel()
	p := read[networkingv1.NetworkPolicy](t, build(t, good(t)).NetworkPolicy).Spec
	same(t, "pods", p.PodSelector.MatchLabels["boardwalk.dev/chain"], "base")
	same(t, "directions", p.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress})
	if len(p.Ingress) != 1 || len(p.Ingress[0].Ports) != 1 || p.Ingress[0].Ports[0].Port.IntValue() != workload.OperationsPort {
		t.Fatalf("ingress %+v; want the operations' port alone", p.Ingress)
	}
	from := p.Ingress[0].From
	same(t, "who asks", len(from), 3)
	for i, component := range []string{"operator", "apiserver"} {
		same(t, "the "+component+" of the namespace", from[i], networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/component": component},
		}})
	}
	same(t, "who reads metrics", from[2], networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{"boardwalk.dev/scrape": "true"},
	}})
	var blocked []string
	for _, to := range p.Egress[0].To {
		if to.IPBlock != nil {
			blocked = append(blocked, to.IPBlock.Except...)
		}
	}
	for _, address := range []string{"169.254.169.0/24", "169.254.170.0/24", "100.100.100.200/32", "fd00:ec2::/32"} {
		if !strings.Contains(strings.Join(blocked, " "), address) {
			t.Errorf("%s can be reached: it hands out the node's credentials", address)
		}
	}
}

func TestThePodHasNoRightsThatItDoesNotNeed(t *testing.T) {
	t.Parallel()
	o := build(t, good(t))
	no, yes := false, true
	same(t, "account's token", read[corev1.ServiceAccount](t, o.ServiceAccount).AutomountServiceAccountToken, &no)
	p := pod(t, good(t))
	same(t, "pod's token", p.AutomountServiceAccountToken, &no)
	same(t, "account", p.ServiceAccountName, "boardwalk-indexer-base")
	same(t, "Services in the environment", p.EnableServiceLinks, &no)
	same(t, "not as root", p.SecurityContext.RunAsNonRoot, &yes)
	same(t, "system calls", p.SecurityContext.SeccompProfile, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault})
	same(t, "container", p.Containers[0].SecurityContext, &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	})
}

func TestSecretsAreMountedOnceAndWhereTheDocumentSays(t *testing.T) {
	t.Parallel()
	c := good(t)
	c.Spec.RPC.Endpoints = []v1alpha1.Endpoint{{URL: "https://node.example/rpc"}}
	for _, ref := range []v1alpha1.SecretKeyRef{
		{Name: "alchemy", Key: "url"}, {Name: "infura.io", Key: "url"}, {Name: "alchemy", Key: "fallback"}, {Name: "alchemy", Key: "url"},
	} {
		c.Spec.RPC.Endpoints = append(c.Spec.RPC.Endpoints, v1alpha1.Endpoint{URLFrom: &v1alpha1.URLSource{SecretKeyRef: ref}})
	}
	p := pod(t, c)
	same(t, "volumes", len(p.Volumes), 4)
	yes := true
	same(t, "first Secret", p.Volumes[1].Secret, &corev1.SecretVolumeSource{
		SecretName: "alchemy", Optional: &yes, Items: []corev1.KeyToPath{{Key: "url", Path: "url"}, {Key: "fallback", Path: "fallback"}},
	})
	same(t, "second Secret", p.Volumes[2].Secret, &corev1.SecretVolumeSource{
		SecretName: "infura.io", Optional: &yes, Items: []corev1.KeyToPath{{Key: "url", Path: "url"}},
	})
	doc, err := resolve.Chain(c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Endpoints[1:] {
		if !mounted(p, e.URLFile) {
			t.Errorf("%s is in no volume: %+v", e.URLFile, p.Containers[0].VolumeMounts)
		}
	}
	for _, v := range p.Containers[0].VolumeMounts {
		same(t, "read only: "+v.Name, v.ReadOnly, true)
	}
}

// mounted reports whether a Secret's volume puts a file at the path.
func mounted(p *corev1.PodSpec, path string) bool {
	for _, m := range p.Containers[0].VolumeMounts {
		for i := range p.Volumes {
			if v := &p.Volumes[i]; v.Name == m.Name && v.Secret != nil {
				for _, item := range v.Secret.Items {
					if m.MountPath+"/"+item.Path == path {
						return true
					}
				}
			}
		}
	}
	return false
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	c := good(t)
	p := pod(t, c)
	same(t, "nodes", p.NodeSelector, map[string]string{"kubernetes.io/arch": "amd64"})
	same(t, "taints", p.Tolerations, []corev1.Toleration{
		{Key: "example.com/dedicated", Operator: corev1.TolerationOpEqual, Value: "indexers", Effect: corev1.TaintEffectNoSchedule},
		{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	})
	same(t, "priority", p.PriorityClassName, "boardwalk-indexer")
	c.Spec.Indexer = v1alpha1.Indexer{}
	p = pod(t, c)
	if p.NodeSelector != nil || p.Tolerations != nil || p.PriorityClassName != "" {
		t.Errorf("placed although nothing is said: %+v %+v %q", p.NodeSelector, p.Tolerations, p.PriorityClassName)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	type amounts = v1alpha1.Amounts
	for _, tt := range []struct {
		name             string
		requests, limits amounts
		want             string // requests' cpu and memory, limits' cpu and memory, GOMEMLIMIT
	}{
		{"nothing said", amounts{}, amounts{}, "100m 256Mi - 1Gi 966367638"},
		{"all said", amounts{CPU: "250m", Memory: "256Mi"}, amounts{CPU: "1", Memory: "512Mi"}, "250m 256Mi 1 512Mi 483183819"},
		{"a limit below the default request", amounts{}, amounts{CPU: "50m", Memory: "128Mi"}, "50m 128Mi 50m 128Mi 120795948"},
		{"a request above the default limit", amounts{Memory: "4Gi"}, amounts{}, "100m 4Gi - 4Gi 3865470561"},
		{"finer than the API server keeps", amounts{CPU: "0.0001"}, amounts{}, "1m 256Mi - 1Gi 966367638"},
		{"no limit of memory", amounts{Memory: "0"}, amounts{Memory: "0"}, "100m 0 - 0 -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := good(t)
			c.Spec.Indexer.Resources = v1alpha1.Resources{Requests: tt.requests, Limits: tt.limits}
			i := pod(t, c).Containers[0]
			got := amount(i.Resources.Requests, corev1.ResourceCPU) + " " + amount(i.Resources.Requests, corev1.ResourceMemory) + " " +
				amount(i.Resources.Limits, corev1.ResourceCPU) + " " + amount(i.Resources.Limits, corev1.ResourceMemory) + " " + memoryLimit(&i)
			same(t, tt.name, got, tt.want)
		})
	}
}

func amount(l corev1.ResourceList, name corev1.ResourceName) string {
	if q, ok := l[name]; ok {
		return q.String()
	}
	return "-"
}

func memoryLimit(c *corev1.Container) string {
	for _, e := range c.Env {
		if e.Name == "GOMEMLIMIT" {
			return e.Value
		}
	}
	return "-"
}

// drawAmount is what the schema allows, or nothing.
func drawAmount(t *rapid.T, what string) v1alpha1.Quantity {
	if rapid.Bool().Draw(t, "no "+what) {
		return ""
	}
	q := rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,4})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?`).Draw(t, what)
	return v1alpha1.Quantity(q)
}

func TestWhateverIsDeclaredTheRequestIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	c := good(t)
	rapid.Check(t, func(r *rapid.T) {
		c.Spec.Indexer.Resources = v1alpha1.Resources{
			Requests: v1alpha1.Amounts{CPU: drawAmount(r, "cpu request"), Memory: drawAmount(r, "memory request")},
			Limits:   v1alpha1.Amounts{CPU: drawAmount(r, "cpu limit"), Memory: drawAmount(r, "memory limit")},
		}
		if _, err := resolve.Chain(c, nil, workload.SecretDir); err != nil {
			r.Skip("refused before: a request above its limit")
		}
		declared := c.Spec.Indexer.Resources
		i := pod(t, c).Containers[0]
		for name, limit := range i.Resources.Limits {
			if request := i.Resources.Requests[name]; request.Cmp(limit) > 0 {
				r.Fatalf("%s: %s is asked for, the limit is %s", name, &request, &limit)
			}
		}
		for _, x := range []struct {
			declared v1alpha1.Quantity
			got      corev1.ResourceList
			name     corev1.ResourceName
		}{
			{declared.Requests.CPU, i.Resources.Requests, corev1.ResourceCPU},
			{declared.Requests.Memory, i.Resources.Requests, corev1.ResourceMemory},
			{declared.Limits.CPU, i.Resources.Limits, corev1.ResourceCPU},
			{declared.Limits.Memory, i.Resources.Limits, corev1.ResourceMemory},
		} {
			if x.declared == "" {
				continue
			}
			want := resource.MustParse(string(x.declared))
			want.RoundUp(resource.Milli)
			if got := x.got[x.name]; got.Cmp(want) != 0 {
				r.Fatalf("%s is declared, %s is given", x.declared, &got)
			}
		}
		if limit := memoryLimit(&i); limit != "-" {
			if bytes, err := strconv.ParseInt(limit, 10, 64); err != nil || bytes <= 0 || bytes > i.Resources.Limits.Memory().Value() {
				r.Fatalf("GOMEMLIMIT is %s, the limit %s", limit, i.Resources.Limits.Memory())
			}
		}
	})
}

func TestOnlyAnotherDocumentStartsAnotherPod(t *testing.T) {
	t.Parallel()
	hash := func(change func(c *v1alpha1.Chain)) string {
		c := good(t)
		change(c)
		return read[appsv1.Deployment](t, build(t, c).Deployment).Spec.Template.Annotations["boardwalk.dev/document"]
	}
	first := hash(func(*v1alpha1.Chain) {})
	if first == "" {
		t.Fatal("the pod doesn't say on which document it runs")
	}
	for name, tt := range map[string]struct {
		change  func(c *v1alpha1.Chain)
		another bool
	}{
		"labels":   {func(c *v1alpha1.Chain) { c.Labels = map[string]string{"a": "b"} }, false},
		"order":    {func(c *v1alpha1.Chain) { *c.Spec.Order = 7 }, false},
		"suspend":  {func(c *v1alpha1.Chain) { c.Spec.Suspend = true }, false},
		"maxLag":   {func(c *v1alpha1.Chain) { c.Spec.Indexer.MaxLag.Duration = time.Hour }, false},
		"endpoint": {func(c *v1alpha1.Chain) { c.Spec.RPC.Endpoints[0].URL = "https://other.example" }, true},
		"tracking": {func(c *v1alpha1.Chain) { c.Spec.Tracking.MinLiquidityUSD = "7" }, true},
	} {
		if got := hash(tt.change); (got != first) != tt.another {
			t.Errorf("%s: %s, was %s", name, got, first)
		}
	}
}

func TestEqualChainsHaveEqualObjects(t *testing.T) {
	t.Parallel()
	c := good(t)
	for i := range 15 {
		c.Spec.Indexer.NodeSelector[fmt.Sprintf("example.com/%d", i)] = "x"
	}
	text := func() string {
		raw, err := json.Marshal(all(build(t, c.DeepCopy())))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := c.DeepCopy()
	first := text()
	for range 20 {
		if again := text(); again != first {
			t.Fatalf("%s\nwas %s", again, first)
		}
	}
	same(t, "the Chain", c, before)
}

var paths = map[string]string{
	"configmaps": "/api/v1", "serviceaccounts": "/api/v1", "services": "/api/v1", "networkpolicies": "/apis/networking.k8s.io/v1",
	"poddisruptionbudgets": "/apis/policy/v1", "deployments": "/apis/apps/v1",
}

// restricted is a namespace that takes pods of the restricted Pod Security Standard alone.
func restricted(t *testing.T) (*kubernetes.Clientset, string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := cluster.Namespace(t)
	label := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := client.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	return client, namespace
}

func TestAnAPIServerTakesAllOfIt(t *testing.T) {
	t.Parallel()
	client, namespace := restricted(t)
	plain, placed, secret := good(t), good(t), good(t)
	plain.Spec.Indexer = v1alpha1.Indexer{}
	placed.Spec.Indexer.PriorityClassName = "system-cluster-critical" // one that is there
	secret.Spec.Indexer.PriorityClassName = ""
	secret.Spec.RPC.Endpoints = []v1alpha1.Endpoint{{URLFrom: &v1alpha1.URLSource{SecretKeyRef: v1alpha1.SecretKeyRef{Name: "a.b-c", Key: "_k.ey"}}}}
	for name, c := range map[string]*v1alpha1.Chain{"plain": plain, "placed": placed, "with a Secret": secret} {
		c.Namespace = namespace
		o := build(t, c)
		for kind, configuration := range all(o) {
			raw, err := json.Marshal(configuration)
			if err != nil {
				t.Fatal(err)
			}
			err = client.CoreV1().RESTClient().Patch(types.ApplyPatchType).
				AbsPath(paths[kind], "namespaces", namespace, kind, "boardwalk-indexer-base").
				Param("fieldManager", "test").Param("dryRun", "All").Param("fieldValidation", "Strict").
				Body(raw).Do(t.Context()).Error()
			if err != nil {
				t.Errorf("%s: %s: %v", name, kind, err)
			}
		}
		if name == "placed" {
			continue // its priority class is for kube-system's pods alone
		}
		template := read[appsv1.Deployment](t, o.Deployment).Spec.Template
		template.Spec.ServiceAccountName = "default" // that of the test isn't made
		if err := dryRun(t.Context(), client, namespace, &template); err != nil {
			t.Errorf("%s: pod: %v", name, err)
		}
	}
	// The namespace does refuse what is less strict.
	less := read[appsv1.Deployment](t, build(t, plain).Deployment).Spec.Template
	less.Spec.ServiceAccountName = "default"
	less.Spec.Containers[0].SecurityContext.Capabilities = nil
	if err := dryRun(t.Context(), client, namespace, &less); err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
		t.Errorf("a pod with capabilities: %v", err)
	}
}

func dryRun(ctx context.Context, client *kubernetes.Clientset, namespace string, template *corev1.PodTemplateSpec) error {
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name = "pod"
	_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}
