package workload_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// An indexer reads nothing of how its chain is called.
func TestAnotherLabelStartsNoPod(t *testing.T) {
	t.Parallel()
	document := func(label string) string {
		c := good(t)
		c.Spec.Label = label
		return read[appsv1.Deployment](t, build(t, c).Deployment).Spec.Template.Annotations["boardwalk.dev/document"]
	}
	same(t, "document that the pod runs on", document("Base Mainnet"), document("Base"))
}

// TestLockersAndFetchingAreSettingsOfTheChain: a team declares a chain's lockers and whether metadata is fetched, and the indexer gets both.
func TestLockersAndFetchingAreSettingsOfTheChain(t *testing.T) {
	t.Parallel()
	c := good(t) // it names a locker and fetches nothing
	o := build(t, c)
	document := read[corev1.ConfigMap](t, o.Document).Data["chain.json"]
	if !strings.Contains(document, `"0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214"`) {
		t.Errorf("the indexer isn't told of the locker: %s", document)
	}
	if !strings.Contains(document, `"fetch_metadata": false`) {
		t.Errorf("the indexer isn't told to leave metadata alone: %s", document)
	}
	c.Spec.Trust, c.Spec.FetchMetadata = v1alpha1.Trust{}, new(true)
	document = read[corev1.ConfigMap](t, build(t, c).Document).Data["chain.json"]
	if strings.Contains(document, "lockers") || strings.Contains(document, "fetch_metadata") {
		t.Errorf("the document has settings at their defaults: %s", document)
	}
}

// withSettings builds the good chain's objects with a file of settings.
func withSettings(t *testing.T, file string, change ...func(c *v1alpha1.Chain)) *workload.Objects {
	t.Helper()
	x, err := workload.ParseIndexers([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	c := good(t)
	for _, f := range change {
		f(c)
	}
	doc, err := resolve.Chain(c, nil, workload.SecretDir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := workload.Build(c, doc, workload.Settings{Image: "boardwalk", DatabaseSecret: "db", DatabaseKey: "uri", Indexers: x})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const everything = `
instance: markets
version: 1.2.3
logLevel: debug
databaseConnections: 12
runAsUser: 10001
imagePullPolicy: Always
imagePullSecrets: [{name: mirror}]
denyAddresses: [192.0.2.0/24, "2001:db8:1::/48", 198.51.100.7]
caBundle: {configMap: company-ca, key: bundle.pem}
podLabels: {example.com/team: markets}
podAnnotations: {example.com/note: indexer}
env:
- {name: HTTPS_PROXY, value: "http://proxy.example.com:3128"}
- {name: GOMEMLIMIT, value: 200MiB}
envFrom: [{secretRef: {name: further, optional: true}}]
volumes: [{name: scratch, emptyDir: {sizeLimit: 64Mi}}]
volumeMounts: [{name: scratch, mountPath: /var/scratch}]
resources: {requests: {cpu: "1", memory: 512Mi}, limits: {memory: 2Gi}}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
topologySpread: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]
priorityClassName: system-cluster-critical
`

// TestSettingsOfAllIndexers sees that the API server takes a pod with all of them, and that each is where Kubernetes looks for it.
func TestSettingsOfAllIndexers(t *testing.T) {
	t.Parallel()
	o := withSettings(t, everything, func(c *v1alpha1.Chain) { c.Spec.Indexer = v1alpha1.Indexer{} })
	d := read[appsv1.Deployment](t, o.Deployment)
	same(t, "labels", d.Labels["app.kubernetes.io/instance"]+" "+d.Labels["app.kubernetes.io/version"], "markets 1.2.3")
	m, p := d.Spec.Template.ObjectMeta, d.Spec.Template.Spec
	same(t, "pod's own label", m.Labels["example.com/team"], "markets")
	same(t, "pod's release", m.Labels["app.kubernetes.io/instance"], "markets")
	same(t, "pod's annotation", m.Annotations["example.com/note"], "indexer")
	same(t, "what selects pods", len(d.Spec.Selector.MatchLabels), 3)
	same(t, "user", *p.SecurityContext.RunAsUser, int64(10001))
	same(t, "pull secrets", p.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "mirror"}})
	same(t, "nodes", p.NodeSelector, map[string]string{"kubernetes.io/os": "linux"})
	same(t, "tolerations", p.Tolerations, []corev1.Toleration{{Key: "dedicated", Operator: "Exists", Effect: "NoSchedule"}})
	same(t, "priority", p.PriorityClassName, "system-cluster-critical")
	same(t, "spread selects", p.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
		map[string]string{"app.kubernetes.io/name": "boardwalk", "app.kubernetes.io/component": "indexer"})
	if p.Affinity == nil {
		t.Error("the pod has no affinity")
	}
	c := p.Containers[0]
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] += e.Value
	}
	same(t, "proxy", env["HTTPS_PROXY"], "http://proxy.example.com:3128")
	same(t, "memory that Go keeps below, as it is set", env["GOMEMLIMIT"], "200MiB")
	same(t, "certificates", env["BOARDWALK_CA_FILE"], "/etc/boardwalk/ca/ca.crt")
	same(t, "connections", env["BOARDWALK_DB_CONNECTIONS"], "12")
	same(t, "further variables", c.EnvFrom[0].SecretRef.Name, "further")
	same(t, "memory", c.Resources.Limits.Memory().String()+" "+c.Resources.Requests.Memory().String(), "2Gi 512Mi")
	same(t, "what is kept of its last words", c.TerminationMessagePolicy, corev1.TerminationMessageFallbackToLogsOnError)
	if !slices.Contains(c.Args, "--log-level=debug") || !slices.Contains(c.Args, "--deny-address=2001:db8:1::/48") {
		t.Errorf("arguments: %v", c.Args)
	}
	volumes := map[string]corev1.Volume{}
	for _, v := range p.Volumes {
		volumes[v.Name] = v
	}
	mounts := map[string]string{}
	for _, m := range c.VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	same(t, "mounts", mounts["scratch"]+" "+mounts["ca"], "/var/scratch /etc/boardwalk/ca")
	same(t, "certificates' key", volumes["ca"].ConfigMap.Items, []corev1.KeyToPath{{Key: "bundle.pem", Path: "ca.crt"}})
	accept(t, o.Deployment)
}

// accept asks the API server whether it takes a Deployment.
func accept(t *testing.T, d *appsv1ac.DeploymentApplyConfiguration) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	d.WithNamespace(cluster.Namespace(t))
	d.OwnerReferences = nil
	options := metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}}
	if _, err := clients.AppsV1().Deployments(*d.Namespace).Apply(t.Context(), d, options); err != nil {
		t.Error(err)
	}
}

// TestAChainComesBeforeAllIndexers: what is in spec.indexer counts for the chain's own indexer.
func TestAChainComesBeforeAllIndexers(t *testing.T) {
	t.Parallel()
	o := withSettings(t, everything, func(c *v1alpha1.Chain) {
		c.Spec.Indexer = v1alpha1.Indexer{
			Resources:         v1alpha1.Resources{Requests: v1alpha1.Amounts{Memory: "4Gi"}},
			NodeSelector:      map[string]v1alpha1.LabelValue{"disk": "fast"},
			Tolerations:       []v1alpha1.Toleration{{Key: "fast", Operator: "Exists"}},
			PriorityClassName: "chains",
		}
	})
	p := read[appsv1.Deployment](t, o.Deployment).Spec.Template.Spec
	same(t, "nodes", p.NodeSelector, map[string]string{"disk": "fast"})
	same(t, "tolerations", p.Tolerations, []corev1.Toleration{{Key: "fast", Operator: "Exists"}})
	same(t, "priority", p.PriorityClassName, "chains")
	r := p.Containers[0].Resources
	same(t, "memory, whose limit gives way", r.Requests.Memory().String()+" "+r.Limits.Memory().String(), "4Gi 4Gi")
	same(t, "CPU", r.Requests.Cpu().String(), "1")
}

// TestWithoutSettingsTheClusterChooses what nobody chose.
func TestWithoutSettingsTheClusterChooses(t *testing.T) {
	t.Parallel()
	o := withSettings(t, "networkPolicy: false\n")
	if o.NetworkPolicy != nil {
		t.Error("the indexer has a network policy, which was switched off")
	}
	p := read[appsv1.Deployment](t, o.Deployment).Spec.Template.Spec
	if s := p.SecurityContext; s.RunAsUser != nil || s.FSGroup != nil {
		t.Errorf("the pod's user is %+v", s)
	}
	a, b := workload.Settings{}, workload.Settings{}
	b.NetworkPolicy = new(false)
	same(t, "hash of settings that differ in a policy", a.Hash(), b.Hash())
	b.LogLevel = "debug"
	if a.Hash() == b.Hash() {
		t.Error("settings with which pods differ have one hash")
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`logLevels: info`:                          `unknown field "logLevels"`,
		`databaseConnections: 9`:                   `databaseConnections: 9 can't be used; allowed: 10 to 10000`,
		`rolloutPercent: 101`:                      `rolloutPercent: 101 can't be used; allowed: 1 to 100`,
		`logLevel: verbose`:                        `logLevel: "verbose" isn't known; allowed: debug, info, warn, error`,
		`imagePullPolicy: Sometimes`:               `imagePullPolicy: "Sometimes" isn't known`,
		`runAsUser: 0`:                             `runAsUser: 0 can't be used; allowed: 1 or more, or leave it out`,
		`denyAddresses: [example.com]`:             `denyAddresses: "example.com" is no address and no CIDR`,
		`denyAddresses: ["fe80::1%eth0"]`:          `is no address and no CIDR`,
		`caBundle: {configMap: a, secret: b}`:      `caBundle: write either configMap or secret, and key`,
		`caBundle: {configMap: a}`:                 `caBundle: write either configMap or secret, and key`,
		`podLabels: {boardwalk.dev/chain: x}`:      `podLabels: boardwalk.dev/chain is Boardwalk's own`,
		`podAnnotations: {boardwalk.dev/a: x}`:     `podAnnotations: boardwalk.dev/a is Boardwalk's own`,
		`env: [{value: x}]`:                        `env[0]: the name is missing`,
		`env: [{name: BOARDWALK_DB, value: x}]`:    `env[0]: BOARDWALK_DB is Boardwalk's own`,
		`env: [{name: A}, {name: A}]`:              `env[1]: A is there twice`,
		`volumes: [{name: chain}]`:                 `volumes[0]: chain is Boardwalk's own`,
		`volumes: [{name: rpc-7}]`:                 `volumes[0]: rpc-7 is Boardwalk's own`,
		`volumeMounts: [{name: a, mountPath: /a}]`: `volumeMounts[0]: there is no volume "a"`,
		"volumes: [{name: a}]\nvolumeMounts: [{name: a, mountPath: /etc/boardwalk/rpc/x}]": `is Boardwalk's own; choose another folder`,
		`resources: {limits: {memory: lots}}`:                                              `resources.limits.memory: "lots" isn't an amount`,
		`resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}`:                            `resources.requests.cpu is above resources.limits.cpu`,
	} {
		if _, err := workload.ParseIndexers([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", file, err, want)
		}
	}
}

// TestWhatSaysNothingIsLeftOut: the API server keeps no empty values, so that an indexer that was applied with one would be applied for ever.
func TestWhatSaysNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	x, err := workload.ParseIndexers([]byte(`
env: [{name: HTTP_PROXY, value: ""}]
volumes: [{name: a, emptyDir: {}}]
volumeMounts: [{name: a, mountPath: /a, readOnly: false, subPath: ""}]
tolerations: [{key: a, operator: Exists, value: ""}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if e, m, o := x.Env[0], x.VolumeMounts[0], x.Tolerations[0]; e.Value != nil || m.ReadOnly != nil || m.SubPath != nil || o.Value != nil || x.Volumes[0].EmptyDir == nil {
		t.Errorf("%+v, %+v and %+v have values that say nothing", e, m, o)
	}
}
