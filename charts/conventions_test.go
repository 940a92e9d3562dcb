package charts_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
)

// everything renders the values that set all there is.
func everything(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	return render(t, "helm", append([]string{"-f", filepath.Join(chart, "ci", "everything.yaml")}, args...)...)
}

// has says whether a map has all members of another.
func has(m, want map[string]string) bool {
	for k, v := range want {
		if m[k] != v {
			return false
		}
	}
	return true
}

// TestCommonLabelsAndAnnotations: all objects of the chart have them, and all pods the labels. TestSelectorsFind holds selectors to have none.
func TestCommonLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"example.com/cost-centre": "42", "app.kubernetes.io/part-of": "markets"}
	owner := map[string]string{"example.com/owner": "platform"}
	all := everything(t)
	for _, o := range all {
		if further := o.GetName(); further == "boardwalk-further" || further == "boardwalk-text" {
			if o.GetLabels() != nil || o.GetAnnotations() != nil {
				t.Errorf("%s is somebody else's, and gets %v, %v", key(o), o.GetLabels(), o.GetAnnotations())
			}
			continue
		}
		if !has(o.GetLabels(), labels) || !has(o.GetAnnotations(), owner) {
			t.Errorf("%s has the labels %v and the annotations %v, wanted %v and %v among them", key(o), o.GetLabels(), o.GetAnnotations(), labels, owner)
		}
		if pod, ok := template(o); ok && (!has(pod.GetLabels(), labels) || has(pod.GetAnnotations(), owner)) {
			t.Errorf("%s: its pods have the labels %v and annotations %v", key(o), pod.GetLabels(), pod.GetAnnotations())
		}
		claims, _ := at(o, "spec", "volumeClaimTemplates").([]any)
		for _, c := range claims {
			if strings.Contains(fmt.Sprint(c), "example.com/") {
				t.Errorf("%s: a claim can't be changed, and has %v", key(o), c)
			}
		}
	}
	// A label or an annotation of one object or component wins over the common one.
	for kind, note := range map[string]string{"Deployment": "apiserver deployment", "HTTPRoute": "route", "HorizontalPodAutoscaler": "common"} {
		if got := one(t, all, kind, "markets-apiserver").GetAnnotations()["example.com/note"]; got != note {
			t.Errorf("the note of the %s is %q, wanted %q", kind, got, note)
		}
	}
	pod, _ := template(one(t, all, "Deployment", "markets-operator"))
	if team := pod.GetLabels()["example.com/team"]; team != "markets" {
		t.Errorf("the operator's pods are of the team %q, though its podLabels say markets", team)
	}
	x := indexersFile(t, all)
	if want := map[string]string{"example.com/cost-centre": "42", "example.com/team": "markets"}; !maps.Equal(x.Labels, want) {
		t.Errorf("indexers' pods get the labels %v, wanted %v", x.Labels, want)
	}
	if x.Annotations["example.com/owner"] != "" {
		t.Errorf("indexers' pods get the annotations of objects: %v", x.Annotations)
	}
}

// TestImagesOfOneRegistry: it takes the place of a registry, and comes before a name without one.
func TestImagesOfOneRegistry(t *testing.T) {
	t.Parallel()
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		set  string
		want []string
	}{
		"names alone": {"", []string{"r.example.com/m/boardwalk-renderer:0.1.0", "r.example.com/m/boardwalk:0.1.0", "r.example.com/m/library/postgres:17"}},
		"a registry, and a digest": {
			"image.repository=localhost:5000/a/b,image.digest=" + digest + ",renderer.image.repository=localhost/c,database.evaluation.image=postgres:17@" + digest,
			[]string{"r.example.com/m/a/b@" + digest, "r.example.com/m/c:0.1.0", "r.example.com/m/postgres:17@" + digest},
		},
		"a path that is no registry": {
			"image.repository=team/b,renderer.enabled=false,database.evaluation.image=10.0.0.1/pg",
			[]string{"r.example.com/m/pg", "r.example.com/m/team/b:0.1.0"},
		},
	} {
		if got := images(t, render(t, "helm", "--set", "global.imageRegistry=r.example.com/m", "--set", c.set)); !slices.Equal(got, c.want) {
			t.Errorf("%s: the images are %q, wanted %q", name, got, c.want)
		}
	}
}

// images are those of all containers, each once.
func images(t *testing.T, all []*unstructured.Unstructured) []string {
	t.Helper()
	found := map[string]bool{}
	for _, o := range all {
		if pod, ok := template(o); ok {
			for _, c := range containers(t, pod) {
				found[fmt.Sprint(c["image"])] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestPullSecretsOfAnUmbrella are added, whether they are texts or objects, and none is there twice.
func TestPullSecretsOfAnUmbrella(t *testing.T) {
	t.Parallel()
	all := everything(t)
	want := []any{map[string]any{"name": "registry"}, map[string]any{"name": "mirror"}, map[string]any{"name": "everywhere"}}
	for _, o := range all {
		if pod, ok := template(o); ok && !reflect.DeepEqual(at(pod, "spec", "imagePullSecrets"), want) {
			t.Errorf("%s: the pull secrets are %v, wanted %v", key(o), at(pod, "spec", "imagePullSecrets"), want)
		}
	}
	var names []string
	for _, s := range indexersFile(t, all).ImagePullSecrets {
		names = append(names, *s.Name)
	}
	if !slices.Equal(names, []string{"registry", "mirror", "everywhere"}) {
		t.Errorf("indexers get the pull secrets %q", names)
	}
}

// TestExtraObjects: templates in them are rendered, in maps and in texts.
func TestExtraObjects(t *testing.T) {
	t.Parallel()
	all := everything(t)
	if image, _ := at(one(t, all, "ConfigMap", "boardwalk-further"), "data", "image").(string); !strings.HasPrefix(image, "registry.example.com:5000/mirror/markets/boardwalk:v1.2.3@sha256:") {
		t.Errorf("the image in the map is %q", image)
	}
	if port := at(one(t, all, "ConfigMap", "boardwalk-text"), "data", "port"); port != "8000" {
		t.Errorf("the port in the text is %v", port)
	}
}

// TestWhatIsAddedToPrograms: volumes, mounts, containers, strategy and annotations of each, and ServiceAccounts of those that have one.
func TestWhatIsAddedToPrograms(t *testing.T) {
	t.Parallel()
	all := everything(t)
	mount := map[string]any{"name": "scratch", "mountPath": "/var/scratch"}
	for program, strategy := range map[string]map[string]any{
		"operator":  {"rollingUpdate": map[string]any{"maxUnavailable": int64(1), "maxSurge": int64(0)}},
		"apiserver": {"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(0), "maxSurge": "50%"}},
		"members":   {"type": "Recreate"},
	} {
		deployment := one(t, all, "Deployment", "markets-"+program)
		if got := at(deployment, "spec", "strategy"); !reflect.DeepEqual(got, any(strategy)) {
			t.Errorf("the strategy of %s is %v, wanted %v", program, got, strategy)
		}
		pod, _ := template(deployment)
		for _, name := range []string{program, "further"} {
			if mounts, _ := container(t, pod, name).Object["volumeMounts"].([]any); !slices.ContainsFunc(mounts, func(m any) bool { return reflect.DeepEqual(m, any(mount)) }) {
				t.Errorf("the container %s of %s has the mounts %v, wanted %v among them", name, program, mounts, mount)
			}
		}
		volumes, _ := at(pod, "spec", "volumes").([]any)
		if !slices.ContainsFunc(volumes, func(v any) bool { return strings.Contains(fmt.Sprint(v), "sizeLimit:64Mi") }) {
			t.Errorf("the volumes of %s are %v", program, volumes)
		}
		if program == "members" {
			continue
		}
		name := "markets-" + program + "-account"
		if got := at(pod, "spec", "serviceAccountName"); got != name {
			t.Errorf("%s runs as %v, wanted %s", program, got, name)
		}
		if got := one(t, all, "ServiceAccount", name).GetAnnotations()["example.com/role"]; got != program {
			t.Errorf("the annotation of the %s's account is %q", program, got)
		}
	}
	pod, _ := template(one(t, all, "Deployment", "markets-apiserver"))
	if mounts := fmt.Sprint(container(t, pod, "renderer").Object["volumeMounts"]); !strings.Contains(mounts, "/usr/local/share/fonts") {
		t.Errorf("the renderer has the mounts %s", mounts)
	}

	// The rights go to whichever account the pods have, if it is made or not.
	all = render(t, "helm", "--set", "operator.serviceAccount.create=false,operator.serviceAccount.name=theirs")
	subjects := at(one(t, all, "RoleBinding", "boardwalk-operator"), "subjects")
	pod, _ = template(one(t, all, "Deployment", "boardwalk-operator"))
	if account := at(pod, "spec", "serviceAccountName"); account != "theirs" || !strings.Contains(fmt.Sprint(subjects), "name:theirs") {
		t.Errorf("the operator runs as %v, and the rights are those of %v", account, subjects)
	}
}

// TestWaysIn: the fields of the public Service, and that Ingress and HTTPRoute lead to it, whichever its port is.
func TestWaysIn(t *testing.T) {
	t.Parallel()
	all := everything(t)
	service := one(t, all, "Service", "markets-apiserver")
	spec, _ := service.Object["spec"].(map[string]any)
	delete(spec, "selector")
	if want := map[string]any{
		"type": "LoadBalancer", "externalTrafficPolicy": "Local", "loadBalancerClass": "example.com/balancer",
		"loadBalancerSourceRanges": []any{"192.0.2.0/24"}, "ipFamilyPolicy": "PreferDualStack", "ipFamilies": []any{"IPv4"},
		"ports": []any{map[string]any{"name": "http", "port": int64(8000), "nodePort": int64(30080), "targetPort": "http", "appProtocol": "http"}},
	}; !reflect.DeepEqual(spec, want) || service.GetLabels()["example.com/expose"] != "yes" {
		t.Errorf("the Service is %v with the labels %v, wanted %v", spec, service.GetLabels(), want)
	}
	if labels := one(t, all, "Service", "markets-apiserver-operations").GetLabels(); labels["example.com/expose"] != "" {
		t.Errorf("the Service of metrics has the public one's labels: %v", labels)
	}
	route := one(t, all, "HTTPRoute", "markets-apiserver")
	if want := map[string]any{
		"parentRefs": []any{map[string]any{"name": "public", "namespace": "gateways", "sectionName": "https"}}, "hostnames": []any{"api.example.com"},
		"rules": []any{map[string]any{
			"backendRefs": []any{map[string]any{"name": "markets-apiserver", "port": int64(8000)}}, "timeouts": map[string]any{"request": "0s"},
			"filters": []any{map[string]any{"type": "ResponseHeaderModifier", "responseHeaderModifier": map[string]any{
				"set": []any{map[string]any{"name": "x-served-by", "value": "markets"}},
			}}},
		}},
	}; !reflect.DeepEqual(route.Object["spec"], any(want)) || route.GetLabels()["example.com/expose"] != "yes" {
		t.Errorf("the HTTPRoute is %v with the labels %v, wanted %v", route.Object["spec"], route.GetLabels(), want)
	}
	rules, _ := at(one(t, all, "Ingress", "markets-apiserver"), "spec", "rules").([]any)
	for _, rule := range rules {
		text := fmt.Sprint(rule)
		for _, part := range []string{"path:/api pathType:Prefix", "path:/docs pathType:ImplementationSpecific"} {
			if strings.Count(text, part) != 1 || strings.Count(text, "name:http") != 2 {
				t.Errorf("a rule of the Ingress is %s, wanted %q once", text, part)
			}
		}
	}
	if len(rules) != 2 {
		t.Errorf("the Ingress has %d rules", len(rules))
	}
}

// TestAutoscalingCountsTheAPI, not the renderer beside it or further containers.
func TestAutoscalingCountsTheAPI(t *testing.T) {
	t.Parallel()
	target := func(resource string, percent int64) any {
		return map[string]any{"type": "ContainerResource", "containerResource": map[string]any{
			"container": "apiserver", "name": resource, "target": map[string]any{"type": "Utilization", "averageUtilization": percent},
		}}
	}
	further := any(map[string]any{"type": "Pods", "pods": map[string]any{
		"metric": map[string]any{"name": "boardwalk_http_event_streams_open"}, "target": map[string]any{"type": "AverageValue", "averageValue": "100"},
	}})
	for set, want := range map[string][]any{
		"apiserver.replicas=3": {target("cpu", 60), target("memory", 80), further},
		"apiserver.autoscaling.targetCPU=null,apiserver.autoscaling.targetMemory=null": {further},
	} {
		if got := at(one(t, everything(t, "--set", set), "HorizontalPodAutoscaler", "markets-apiserver"), "spec", "metrics"); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("with %s the autoscaler measures %v, wanted %v", set, got, want)
		}
	}
}

// TestServiceMonitorElsewhere: in Prometheus' namespace it still looks into the release's. Relabellings come after the chart's own.
func TestServiceMonitorElsewhere(t *testing.T) {
	t.Parallel()
	monitorElsewhere(t, one(t, everything(t, "--set", "metrics.serviceMonitor.namespace=monitoring"), "ServiceMonitor", "markets"), "endpoints")
}

// TestPodMonitorElsewhere is the same for a PodMonitor.
func TestPodMonitorElsewhere(t *testing.T) {
	t.Parallel()
	all := everything(t, "--set", "metrics.serviceMonitor.enabled=false,metrics.podMonitor.enabled=true,metrics.podMonitor.namespace=monitoring")
	o := one(t, all, "PodMonitor", "markets")
	monitorElsewhere(t, o, "podMetricsEndpoints")
	if o.GetLabels()["release"] != "prometheus" {
		t.Errorf("the PodMonitor has the labels %v", o.GetLabels())
	}
}

func monitorElsewhere(t *testing.T, o *unstructured.Unstructured, list string) {
	t.Helper()
	if got, want := at(o, "spec", "namespaceSelector"), any(map[string]any{"matchNames": []any{"boardwalk"}}); o.GetNamespace() != "monitoring" || !reflect.DeepEqual(got, want) {
		t.Errorf("%s of %q looks into %v, wanted %v", key(o), o.GetNamespace(), got, want)
	}
	endpoints, _ := at(o, "spec", list).([]any)
	for _, e := range endpoints {
		m, _ := e.(map[string]any)
		relabelings, _ := m["relabelings"].([]any)
		if last, want := relabelings[len(relabelings)-1], any(map[string]any{"targetLabel": "cluster", "replacement": "markets"}); len(relabelings) < 2 || !reflect.DeepEqual(last, want) {
			t.Errorf("%v is relabelled by %v, wanted %v as the last", m["port"], relabelings, want)
		}
		if want := any([]any{map[string]any{"sourceLabels": []any{"__name__"}, "regex": "go_gc_.*", "action": "drop"}}); !reflect.DeepEqual(m["metricRelabelings"], want) {
			t.Errorf("samples of %v are relabelled by %v, wanted %v", m["port"], m["metricRelabelings"], want)
		}
		if m["interval"] != "15s" || m["scrapeTimeout"] != "5s" || m["path"] != "/metrics" {
			t.Errorf("%v is collected from %v each %v within %v", m["port"], m["path"], m["interval"], m["scrapeTimeout"])
		}
	}
	if len(endpoints) != 2 {
		t.Errorf("%s has %d endpoints", key(o), len(endpoints))
	}
}

// TestProxyOfEverybodyIsRefused before anything is installed, in the words by which the API server refuses to start.
func TestProxyOfEverybodyIsRefused(t *testing.T) {
	t.Parallel()
	for _, proxy := range []string{"0.0.0.0/0", "::/0", "10.0.0.0/0", "::ffff:0.0.0.0/96", "0:0:0:0:0:FFFF:a00:1/96"} {
		_, want := caller.ParsePrefixes([]string{proxy})
		if want == nil {
			t.Fatalf("the API server trusts %s", proxy)
		}
		for _, helm := range helms {
			_, _, err := run(t.Context(), t, "", "", helm, "template", "boardwalk", chart, "--set", "apiserver.trustedProxies={"+proxy+"}")
			if err == nil || !strings.Contains(err.Error(), "apiserver.trustedProxies: "+want.Error()) {
				t.Errorf("%s and %s: %v, wanted %v", helm, proxy, err, want)
			}
		}
	}
	render(t, "helm", "--set", "apiserver.trustedProxies={10.0.0.0/8,::ffff:10.0.0.0/104,2001:ffff::/96,fd00::7}")
}

// TestNotesTellWhatAnotherDatabaseLacks: the evaluation database's data isn't copied, and where it is afterwards.
func TestNotesTellWhatAnotherDatabaseLacks(t *testing.T) {
	t.Parallel()
	const nothing = "That upgrade copies no data"
	for set, want := range map[string]string{
		"persistence.enabled=true":       "helm rollback boardwalk 1 brings the evaluation database back",
		"persistence.enabled=false":      "The data is lost with the pod",
		"persistence.whenDeleted=Delete": "write Retain first",
	} {
		notes, _, err := run(t.Context(), t, "", "", "helm", "install", "boardwalk", chart, "-n", "boardwalk", "--dry-run=client", "--set", "database.evaluation."+set)
		if err != nil {
			t.Fatal(err)
		}
		_, notes, _ = strings.Cut(notes, "NOTES:")
		if !strings.Contains(notes, nothing) || !strings.Contains(notes, want) {
			t.Errorf("with %s the notes lack %q or %q:\n%s", set, nothing, want, notes)
		}
	}
}
